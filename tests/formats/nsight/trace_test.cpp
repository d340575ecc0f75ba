// The trace of an Nsight Systems database against sums that sqlite3 gives for the same file.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "formats/slice_traces.hpp"

namespace fathom::nsight {
namespace {

TEST(NsightTrace, HasWhatTheTablesHave) {
  const auto path = std::filesystem::path(FATHOM_SHARED_DATA) / "elsewhere" / "nsight" / "saxpy_mpi_cuda.sqlite.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no shared data";
  auto dataset = open_dataset(path, make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  const auto sums = test::sums_of(**trace);
  const auto expect = [&](const std::string& name, std::uint64_t count, std::int64_t total) {
    ASSERT_EQ(sums.names.count(name), 1U) << name;
    EXPECT_EQ(sums.names.at(name).count, count) << name;
    EXPECT_EQ(sums.names.at(name).total_ns, total) << name;
  };
  expect("saxpy(double *, double *, double *, double, int)", 5, 88573480);
  expect("[CUDA memcpy HtoD]", 10, 186001123);
  expect("[CUDA memcpy DtoH]", 5, 98698477);
  // The records of backtraces (cudaMemcpy beside cudaMemcpy_v3020) repeat calls.
  expect("cudaMemcpy_v3020", 15, 374336827);
  expect("cudaHostRegister_v4000", 9, 316427763);
  expect("cuModuleGetLoadingMode", 1, 1213);
  EXPECT_EQ(sums.names.count("cudaMemcpy"), 0U);
  expect("MPI_Send", 10, 136342959);
  expect("MPI_Recv", 5, 107721088);
  expect("MPI_Init", 1, 645678983);
  expect("saxpy", 5, 231248);
  // The stream of the GPU, from its first activity to its last.
  bool stream = false;
  const SystemTree& system = (*trace)->definitions().system;
  std::int64_t copied = 0;
  for (std::size_t i = 0; i < (*trace)->location_count(); ++i) {
    if (system.location(LocationId(i)).type != "stream") continue;
    stream = true;
    EXPECT_EQ((*trace)->location_span(LocationId(i))->from_ns, 887857742);
    EXPECT_EQ((*trace)->location_span(LocationId(i))->to_ns, 1985185585);
    EXPECT_EQ(system.nodes[system.group_of(LocationId(i)).index()].rank, 0);
    auto events = (*trace)->open(LocationId(i), {});
    EventCursor cursor(std::move(*events));
    while (const Event* event = cursor.next()) copied += event->kind == EventKind::marker ? event->bytes : 0;
  }
  EXPECT_TRUE(stream);
  EXPECT_EQ(copied, 2621440000 + 1310720000);
}

TEST(NsightTrace, KernelsKnowTheirLaunch) {
  const auto path = std::filesystem::path(FATHOM_SHARED_DATA) / "elsewhere" / "nsight" / "saxpy_mpi_cuda.sqlite.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no shared data";
  auto dataset = open_dataset(path, make_work());
  ASSERT_TRUE(dataset.ok());
  auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok());
  std::map<std::uint64_t, std::string> calls;  // by record
  std::map<std::string, int> launched;
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < (*trace)->location_count(); ++i) {
      EventCursor cursor(std::move(*(*trace)->open(LocationId(i), {})));
      while (const Event* event = cursor.next()) {
        if (pass == 0 && event->kind == EventKind::enter) calls[event->record] = (*trace)->name(*event);
        if (pass == 1 && event->kind == EventKind::marker && event->origin != Event::kNoRecord) {
          ++launched[std::string((*trace)->name(*event)) + " by " + calls[event->origin]];
        }
      }
    }
  }
  // sqlite3 joins as many by correlationId.
  EXPECT_EQ(launched, (std::map<std::string, int>{{"launch by cudaLaunchKernel_v7000", 5},
                                                  {"[CUDA memcpy HtoD] by cudaMemcpy_v3020", 10},
                                                  {"[CUDA memcpy DtoH] by cudaMemcpy_v3020", 5}}));
}

// A database with these tables, as text.
std::string database_of(const char* sql) {
  sqlite3* handle = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(handle, "main", &size, 0);
  std::string text(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(handle);
  return text;
}

TEST(NsightTrace, CopiesAreNamedByTheirKind) {
  const std::string text = database_of(
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (4,'cudaFree');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT, nameId INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0,5,16777217,1,4);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, correlationId INT, shortName INT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, contextId INT, streamId INT,"
      " correlationId INT, globalPid INT, copyKind INT, bytes INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (10,12,0,1,7,0,16777216,8,1),(20,23,0,1,7,0,16777216,11,1),"
      "(30,34,0,1,7,0,16777216,12,1),(40,45,0,1,7,0,16777216,99,1);");
  auto dataset = open_source(Source::of(Blob::own("x.sqlite", text)), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  const auto sums = test::sums_of(**trace);
  EXPECT_EQ(sums.names.at("[CUDA memcpy DtoD]").total_ns, 2);
  EXPECT_EQ(sums.names.at("[CUDA Unified Memory memcpy HtoD]").total_ns, 3);
  EXPECT_EQ(sums.names.at("[CUDA Unified Memory memcpy DtoH]").total_ns, 4);
  EXPECT_EQ(sums.names.at("[CUDA memcpy kind 99]").total_ns, 5);
}

// A run on the CPU alone leaves no tables of CUDA.
TEST(NsightTrace, ReportsWithoutAGpu) {
  const std::string text = database_of(
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (4,'poll');"
      "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
      "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION','2023.3.1.92');"
      "CREATE TABLE OSRT_API(start INT, end INT, globalTid INT, correlationId INT, nameId INT);"
      "INSERT INTO OSRT_API VALUES (10,15,16777217,1,4);");
  auto dataset = open_source(Source::of(Blob::own("x.sqlite", text)), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  EXPECT_EQ((*dataset)->version(), "2023.3.1.92");
  auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_EQ(test::sums_of(**trace).names.at("poll").total_ns, 5);
}

// What the GPU does at a time as one graph, and a call whose name is lost.
TEST(NsightTrace, GraphsAndLostNames) {
  const std::string text = database_of(
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (4,'cudaGraphLaunch');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT, nameId INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0,5,16777217,1,4),(6,7,16777217,2,99);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INT, end INT, deviceId INT, contextId INT, streamId INT,"
      " correlationId INT, globalPid INT, graphId INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (10,110,0,1,7,1,16777216,3);");
  const Work work = make_work();
  auto dataset = open_source(Source::of(Blob::own("x.sqlite", text)), work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  const auto sums = test::sums_of(**trace);
  EXPECT_EQ(sums.names.at("[CUDA graph 3]").total_ns, 100);
  EXPECT_EQ(sums.names.at("launch").instants, 1U);
  ASSERT_EQ(work->diagnostics.size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].id, "nsight.unknown_name");
}

// Names of categories, threads and domains say what they have to say; what nobody knows is told.
TEST(NsightTrace, NvtxEventsOfUnknownKindsAreTold) {
  const std::string text = database_of(
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
      "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, globalTid INT, domainId INT);"
      "INSERT INTO NVTX_EVENTS VALUES (0,NULL,75,'mine',16777217,1),(10,15,59,'step',16777217,1),"
      "(0,NULL,33,'kind',16777217,1),(20,25,111,'new',16777217,1),(30,35,112,'newer',16777217,1);");
  const Work work = make_work();
  auto dataset = open_source(Source::of(Blob::own("x.sqlite", text)), work, "nsight");
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_EQ(test::sums_of(**trace).slices, 1U);
  std::string told;
  for (const Diagnostic& one : work->diagnostics.all()) told += one.id == "nsight.nvtx_kind" ? one.text : "";
  EXPECT_EQ(told, "2 NVTX events of unknown kinds are left out");
}

TEST(NsightTrace, SamplesOfThreads) {
  // Chains in no order; depth 0 is where the thread was. One sample has no chain.
  const std::string text = database_of(
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringIds VALUES (1,'main'),(2,'solve'),(3,'/bin/a'),(4,'cudaFree');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT,"
      " nameId INT); INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0,5,16777217,1,4);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, correlationId INT, shortName INT);"
      "CREATE TABLE COMPOSITE_EVENTS(id INT, start INT, globalTid INT, cpuCycles INT);"
      "INSERT INTO COMPOSITE_EVENTS VALUES (7,100,16777217,1),(8,200,16777217,1),(9,300,16777217,1);"
      "CREATE TABLE VULKAN_API(start INT, end INT); INSERT INTO VULKAN_API VALUES (1,2),(3,4);"
      "CREATE TABLE SAMPLING_CALLCHAINS(id INT, symbol INT, module INT, stackDepth INT);"
      "INSERT INTO SAMPLING_CALLCHAINS VALUES (8,1,3,0),(7,1,3,1),(7,2,3,0);");
  const Work work = make_work();
  auto dataset = open_source(Source::of(Blob::own("x.sqlite", text)), work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  std::vector<std::string> found;
  EventCursor cursor(std::move(*(*trace)->open(LocationId(0), {})));
  while (const Event* event = cursor.next()) {
    if (event->kind == EventKind::sample) {
      found.push_back(std::to_string(event->time_ns) + " " + (*trace)->definitions().path(event->context()));
    }
  }
  EXPECT_EQ(found, (std::vector<std::string>{"100 main->solve", "200 main"}));
  EXPECT_EQ((*trace)->definitions().regions[1].module, "/bin/a");
  ASSERT_EQ(work->diagnostics.all().size(), 2U);
  EXPECT_EQ(work->diagnostics.all()[0].text, "1 samples without a call chain are left out");
  EXPECT_EQ(work->diagnostics.all()[1].text, "tables with rows that are not used: VULKAN_API (2)");
}

TEST(NsightTrace, TheExampleIsATraceToo) {
  auto dataset = open_dataset(FATHOM_SOURCE_DIR "/examples/gpu.sqlite", make_work());
  ASSERT_TRUE(dataset.ok());
  auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_GT(test::sums_of(**trace).slices, 0U);
}

}  // namespace
}  // namespace fathom::nsight
