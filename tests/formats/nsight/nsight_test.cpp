#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "formats/extrap/expected.hpp"
#include "formats/nsight/call_paths.hpp"
#include "formats/registry.hpp"
#include "temporary_directory.hpp"

namespace fathom::nsight {
namespace {

using extrap::testing::close;
using extrap::testing::data;
using extrap::testing::Json;
using extrap::testing::number;

void run(sqlite3* handle, const std::string& sql) {
  char* message = nullptr;
  ASSERT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message << " in " << sql;
}

// The bytes of a database that the statements make.
std::string database_of(const std::string& sql) {
  sqlite3* handle = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &handle), SQLITE_OK);
  run(handle, sql);
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(handle, "main", &size, 0);
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(handle);
  return out;
}

const std::string kSchema =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT, nameId INT,"
    " callchainId INT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, correlationId INT, shortName INT, gridX INT, gridY "
    "INT,"
    " gridZ INT, blockX INT, blockY INT, blockZ INT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, correlationId INT, copyKind INT, srcKind INT,"
    " dstKind INT, bytes INT);";
const std::string kNames =
    "INSERT INTO StringIds VALUES (1,'cudaLaunchKernel_v7000'),(2,'cudaMemcpy_v3020'),(3,'step'),"
    "(4,'cudaMalloc_v3020');";
// main [0,1000] with solve [100,600] inside, which launches 'step' and copies; main allocates.
const std::string kMarked =
    "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, domainId INT, uint32Value INT,"
    " globalTid INT);"
    "INSERT INTO NVTX_EVENTS VALUES (0,NULL,75,'de.tu-darmstadt.parallel.extra_prof',7,NULL,1),"
    "(0,1000,59,'main',7,0,1),(100,600,59,'main->solve',7,1,1),"
    "(150,160,59,'someone else''s',8,0,1),(400,500,59,'main->elsewhere',7,1,2);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,30,1,50,4,NULL),(200,210,1,51,1,NULL),(300,350,1,52,2,NULL),"
    "(2000,2010,1,53,1,NULL);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (220,420,51,3,2,1,1,32,1,1),(2020,2030,53,3,2,1,1,32,1,1);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (310,345,52,1,0,2,4096);";

ExperimentPtr read(const std::string& bytes, bool once = false) {
  const Work work = make_work();
  if (once) {
    EXPECT_TRUE(set_reading_option(*work, "count-gpu-calls-once", "true").ok());
  }
  auto dataset = open_source(Source::of(Blob::own("x.sqlite", bytes)), work);
  EXPECT_TRUE(dataset.ok()) << dataset.error().text();
  if (!dataset.ok()) return nullptr;
  EXPECT_EQ((*dataset)->format().name, "nsight");
  return *(*dataset)->experiment();
}

// Means in nanoseconds (or bytes) by "callpath" or "callpath|metric".
std::map<std::string, double> values(const Experiment& e) {
  std::map<std::string, double> out;
  for (const Series& s : e.series()) {
    const std::string& metric = e.metrics()[s.metric].name;
    const double mean = e.means()[s.first];
    out[e.callpaths()[s.callpath].name + (metric == "time" ? "" : "|" + metric)] =
        metric == "time" ? std::round(mean * 1e12) / 1e3 : mean;
  }
  return out;
}

TEST(Nsight, MarkedRanges) {
  const auto e = read(database_of(kSchema + kNames + kMarked), true);
  ASSERT_NE(e, nullptr);
  const std::map<std::string, double> expected = {
      {"main", 1000 - 500 - 100 - 20},  // ranges of both threads and the allocation lie one level below
      {"main->solve", 500},             // only API calls below it: it keeps its time
      {"main->elsewhere", 100},
      {"main->solve->GPU IDLE", 500 - 180},  // the kernel runs until 420, from 400 on beside the later range
      {"main->elsewhere->GPU IDLE", 100 - 20},
      {"[Uncorrelated]->step->GPU step", 10},  // its call lies outside of all ranges
      {"[Uncorrelated]->step->GPU step->OVERLAP", 0},
      {"main->cudaMalloc_v3020", 20},
      {"main->solve->cudaLaunchKernel_v7000->step", 10},
      {"main->solve->cudaLaunchKernel_v7000->step->GPU step", 200},
      {"main->solve->cudaLaunchKernel_v7000->step->GPU step->OVERLAP", 0},
      {"main->solve->cudaMemcpy_v3020", 50 - 35},
      {"main->solve->cudaMemcpy_v3020->BLOCKING HOST_TO_DEVICE", 0},
      {"main->solve->cudaMemcpy_v3020->BLOCKING HOST_TO_DEVICE|bytes_transferred", 4096},
      {"main->solve->cudaMemcpy_v3020->BLOCKING HOST_TO_DEVICE->OVERLAP", 35},
      {"main->solve->cudaMemcpy_v3020->BLOCKING HOST_TO_DEVICE->OVERLAP->step", 35},
  };
  EXPECT_EQ(values(*e), expected);
}

TEST(Nsight, ExtraPCountsCallsWithoutOverlapTwice) {
  const auto once = values(*read(database_of(kSchema + kNames + kMarked), true));
  const auto as_extra_p = values(*read(database_of(kSchema + kNames + kMarked)));
  EXPECT_EQ(as_extra_p.at("main->cudaMalloc_v3020"), 2 * once.at("main->cudaMalloc_v3020"));
  EXPECT_EQ(as_extra_p.at("main->solve"), once.at("main->solve"));
}

TEST(Nsight, StacksOfCalls) {
  const auto e = read(database_of(kSchema + kNames +
                                  "CREATE TABLE CUDA_CALLCHAINS(id INT, symbol INT, unresolved INT, stackDepth INT);"
                                  "INSERT INTO StringIds VALUES (10,'main'),(11,'a->b'),(12,'0x7f00');"
                                  "INSERT INTO CUDA_CALLCHAINS VALUES (6,11,NULL,0),(6,10,NULL,2),(6,12,1,1);"
                                  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,30,1,50,4,5),(40,45,1,51,1,NULL);"
                                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50,60,51,3,1,1,1,1,1,1);"));
  ASSERT_NE(e, nullptr);
  const auto found = values(*e);
  EXPECT_TRUE(found.contains("main->a- >b->cudaMalloc_v3020"));
  EXPECT_EQ(found.at("cudaLaunchKernel_v7000->step->GPU step"), 10);  // without a stack: the call alone
}

TEST(Nsight, OneLaunchOfSeveralKernelsCountsOnce) {
  const auto found = values(*read(database_of(kSchema + kNames +
                                              "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,30,1,1,1,NULL);"
                                              "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50,60,1,3,1,1,1,1,1,1),"
                                              "(100,105,1,3,1,1,1,1,1,1);")));
  EXPECT_EQ(found.at("cudaLaunchKernel_v7000->step"), 20);
  EXPECT_EQ(found.at("cudaLaunchKernel_v7000->step->GPU step"), 15);
}

// Both processes count their calls from 1: what a GPU did belongs to the call of its own process, so that launches and
// kernels add up to what the database holds.
TEST(Nsight, ProcessesNumberTheirCallsAlike) {
  const std::string tables =
      "INSERT INTO StringIds VALUES (10,'main'),(11,'solve');"
      "CREATE TABLE CUDA_CALLCHAINS(id INT, symbol INT, unresolved INT, stackDepth INT);"
      "INSERT INTO CUDA_CALLCHAINS VALUES (1,10,NULL,0),(2,11,NULL,0);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,30,(5<<24)+5,1,1,1),(40,47,(6<<24)+6,1,1,2);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50,60,1,3,1,1,1,1,1,1),(100,105,1,3,1,1,1,1,1,1);";
  const std::string processes =
      "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD globalPid INT;"
      "ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY ADD globalPid INT;"
      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = (CASE start WHEN 50 THEN 5 ELSE 6 END) << 24;";
  const auto found = values(*read(database_of(kSchema + kNames + tables + processes)));
  EXPECT_EQ(found.at("main->cudaLaunchKernel_v7000->step"), 20);
  EXPECT_EQ(found.at("main->cudaLaunchKernel_v7000->step->GPU step"), 10);
  EXPECT_EQ(found.at("solve->cudaLaunchKernel_v7000->step"), 7);
  EXPECT_EQ(found.at("solve->cudaLaunchKernel_v7000->step->GPU step"), 5);
  // An export that does not say whose kernels they are.
  const auto together = values(*read(database_of(kSchema + kNames + tables)));
  EXPECT_EQ(together.at("main->cudaLaunchKernel_v7000->step->GPU step"), 15);
}

// Where that cannot be told it is said, and the time of every call still counts once.
TEST(Nsight, ProcessesThatCannotBeToldApart) {
  const std::string bytes =
      database_of(kSchema + kNames +
                  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,30,(5<<24)+5,1,4,NULL),"
                  "(40,47,(6<<24)+6,1,1,NULL),(100,180,(6<<24)+6,2,2,NULL),(200,209,(5<<24)+5,2,4,NULL);"
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50,60,1,3,1,1,1,1,1,1),(205,208,99,3,1,1,1,1,1,1);");
  const Work work = make_work();
  auto dataset = open_source(Source::of(Blob::own("x.sqlite", bytes)), work);
  ASSERT_TRUE(dataset.ok());
  const auto found = values(**(*dataset)->experiment());
  // The kernel counts with the allocation, which has its number.
  EXPECT_EQ(found.at("cudaMalloc_v3020->step"), 20);
  EXPECT_EQ(found.at("cudaMalloc_v3020"), 9);
  EXPECT_EQ(found.at("cudaLaunchKernel_v7000") + found.at("cudaMemcpy_v3020"), 7 + 80);
  ASSERT_EQ(work->diagnostics.all().size(), 1u);
  EXPECT_EQ(work->diagnostics.all()[0].id, "nsight.mixed_processes");
}

// Two copies that one call made at the same time: it waited no longer than it lasted.
TEST(Nsight, ACallWaitsNoLongerThanItLasts) {
  const auto e = read(database_of(kSchema + kNames +
                                  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,30,1,1,2,NULL);"
                                  "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (12,28,1,1,0,2,64),"
                                  "(13,29,1,2,2,0,64);"));
  ASSERT_NE(e, nullptr);
  const auto found = values(*e);
  EXPECT_EQ(found.at("cudaMemcpy_v3020"), 0);
  EXPECT_EQ(found.at("cudaMemcpy_v3020->BLOCKING HOST_TO_DEVICE"), 16);
  EXPECT_EQ(found.at("cudaMemcpy_v3020->BLOCKING DEVICE_TO_HOST"), 16);
}

// Two kernels on a GPU that holds 64 threads: each wants all of them.
TEST(Nsight, ConcurrentKernelsShareTheGpu) {
  const auto e = read(database_of(
      kSchema + kNames +
      "CREATE TABLE TARGET_INFO_GPU(smCount INT, threadsPerWarp INT, maxWarpsPerSm INT, computeMajor INT);"
      "INSERT INTO TARGET_INFO_GPU VALUES (0,0,0,0),(1,32,2,8);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0,5,1,1,1,NULL),(5,10,1,2,1,NULL);"
      "INSERT INTO StringIds VALUES (5,'other');"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100,200,1,3,100,1,1,32,1,1),(150,250,2,5,100,1,1,32,1,1);"));
  const auto found = values(*e);
  EXPECT_EQ(found.at("cudaLaunchKernel_v7000->step->GPU step"), 75);
  EXPECT_EQ(found.at("cudaLaunchKernel_v7000->step->GPU step->OVERLAP"), 25);
  EXPECT_EQ(found.at("cudaLaunchKernel_v7000->other->GPU other"), 75);
}

// Without markers the times of calls and of what the GPU did add up to what is recorded.
TEST(Nsight, EveryCallOfAStackCountsOnce) {
  const auto e = read(database_of(
      kSchema + kNames +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INT, end INT, correlationId INT, syncType INT);"
      "CREATE TABLE CUDA_CALLCHAINS(id INT, symbol INT, unresolved INT, stackDepth INT);"
      "INSERT INTO StringIds VALUES (6,'cudaEventRecord_v3020'),(7,'cudaMalloc'),(10,'main'),(11,'a->b'),"
      "(12,'cudaStreamSynchronize_v3020');"
      "INSERT INTO CUDA_CALLCHAINS VALUES (1,10,NULL,0);"
      // An allocation twice: with its stack, and inside of that again, as newer exports have it.
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,40,1,50,7,0),(11,39,1,50,4,NULL),"
      "(100,107,1,51,6,NULL),"   // the GPU does nothing for it
      "(200,250,1,52,2,NULL),"   // a copy that goes on, and that is a wait, too
      "(600,611,1,53,12,NULL);"  // a wait for nothing
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (240,300,52,1,0,2,4096);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (210,249,52,3),(601,610,53,3);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (700,720,99,11,1,1,1,1,1,1);"));  // of a call before the record
  ASSERT_NE(e, nullptr);
  const auto found = values(*e);
  EXPECT_EQ(found.at("main->cudaMalloc"), 30);
  EXPECT_FALSE(found.contains("cudaMalloc_v3020"));
  EXPECT_EQ(found.at("cudaEventRecord_v3020"), 7);
  EXPECT_EQ(found.at("cudaMemcpy_v3020"), 50 - 10);
  EXPECT_EQ(found.at("cudaMemcpy_v3020->BLOCKING HOST_TO_DEVICE"), 60);
  EXPECT_EQ(found.at("cudaMemcpy_v3020->STREAM_SYNCHRONIZE"), 0);
  EXPECT_EQ(found.at("cudaMemcpy_v3020->STREAM_SYNCHRONIZE->WAIT"), 39);
  EXPECT_EQ(found.at("cudaStreamSynchronize_v3020->STREAM_SYNCHRONIZE"), 11);
  EXPECT_EQ(found.at("[Uncorrelated]->a- >b->GPU a- >b"), 20);
}

// Chains that begin with 1 as calls say: that no frame of one has a name does not make it a chain that is not there.
TEST(Nsight, ChainsWithoutNamesAreChains) {
  const auto e = read(database_of(kSchema + kNames +
                                  "CREATE TABLE CUDA_CALLCHAINS(id INT, symbol INT, unresolved INT, stackDepth INT);"
                                  "INSERT INTO StringIds VALUES (6,'cudaEventRecord_v3020'),(10,'main'),(11,'other');"
                                  "INSERT INTO CUDA_CALLCHAINS VALUES (1,10,NULL,0),(2,11,NULL,0),(3,11,1,0);"
                                  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,20,1,50,6,1),(30,50,1,51,6,3),"
                                  "(60,90,1,52,6,3);"));
  ASSERT_NE(e, nullptr);
  const auto found = values(*e);
  EXPECT_EQ(found.at("main->cudaEventRecord_v3020"), 10);
  EXPECT_EQ(found.at("cudaEventRecord_v3020"), 20 + 30);
}

// What of a copy lies inside of its call is told by the record that its time is taken from, whichever comes first.
TEST(Nsight, TheRecordThatCountsIsTheOneThatWaits) {
  const auto e = read(database_of(kSchema + kNames +
                                  "CREATE TABLE CUDA_CALLCHAINS(id INT, symbol INT, unresolved INT, stackDepth INT);"
                                  "INSERT INTO StringIds VALUES (10,'main'),(12,'cudaMemcpy');"
                                  "INSERT INTO CUDA_CALLCHAINS VALUES (1,10,NULL,0);"
                                  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (205,245,1,52,2,NULL),"
                                  "(200,250,1,52,12,0);"
                                  "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (220,300,52,1,0,2,4096);"));
  ASSERT_NE(e, nullptr);
  const auto found = values(*e);
  EXPECT_EQ(found.at("main->cudaMemcpy"), 50 - 30);
  EXPECT_EQ(found.at("main->cudaMemcpy->BLOCKING HOST_TO_DEVICE"), 80);
}

// What Extra-P stored has one path for a call with two records: only the other call is left out.
TEST(Nsight, SecondRecordsOfCallsAreNotLeftOut) {
  const Work work = make_work();
  const std::string bytes = database_of(
      kSchema + kNames +
      "CREATE TABLE EXTRAP_FORMAT(version INT); INSERT INTO EXTRAP_FORMAT VALUES (1);"
      "CREATE TABLE EXTRAP_RESOLVED_CALLPATHS(correlationId INT, callpath TEXT, stackDepth INT, duration INT);"
      "INSERT INTO EXTRAP_RESOLVED_CALLPATHS VALUES (51,'main->cudaLaunchKernel_v7000',1,30),"
      "(52,'main->cudaMemcpy_v3020',1,40);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,40,1,51,1,0),(12,38,1,51,1,NULL),(50,90,1,52,2,0),"
      "(52,88,1,52,2,NULL);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100,150,51,3,1,1,1,1,1,1);");
  auto dataset = open_source(Source::of(Blob::own("x.sqlite", bytes)), work);
  ASSERT_TRUE(dataset.ok());
  ASSERT_TRUE((*dataset)->experiment().ok());
  ASSERT_EQ(work->diagnostics.all().size(), 1u);
  EXPECT_EQ(work->diagnostics.all()[0].id, "nsight.calls_left_out");
  EXPECT_EQ(work->diagnostics.all()[0].count, 1u);
}

// Many runs are not in vain because one was not written to its end.
TEST(Nsight, ADamagedRunIsNamedAndLeftOut) {
  const TemporaryDirectory folder;
  const std::string whole =
      database_of(kSchema + kNames + "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,40,1,50,4,NULL);");
  for (const char* name : {"app.n1.r1", "app.n1.r2", "app.n2.r1"}) {
    std::filesystem::create_directory(folder.path() / name);
    const bool damaged = std::string_view(name) == "app.n1.r2";
    std::ofstream(folder.path() / name / "a.sqlite", std::ios::binary) << (damaged ? whole.substr(0, 2000) : whole);
  }
  const Work work = make_work();
  const auto dataset = open_dataset(folder.path(), work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto experiment = (*dataset)->experiment();
  ASSERT_TRUE(experiment.ok()) << experiment.error().text();
  ASSERT_EQ((*experiment)->means().size(), 2U);
  for (const double mean : (*experiment)->means()) EXPECT_DOUBLE_EQ(mean, 30e-9);
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].id, "runs.unreadable");
  EXPECT_NE(work->diagnostics.all()[0].place.file.find("app.n1.r2"), std::string::npos);
  const auto strict = open_dataset(folder.path(), make_work(true));
  EXPECT_FALSE(strict.ok() && (*strict)->experiment().ok());
}

TEST(Nsight, WaitsAndTheirOverlap) {
  const auto e =
      read(database_of(kSchema + kNames +
                       "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INT, end INT, correlationId INT,"
                       " syncType INT);"
                       "INSERT INTO StringIds VALUES (6,'cudaStreamSynchronize_v3020');"
                       "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0,5,1,1,1,NULL),(50,205,1,2,6,NULL);"
                       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (40,200,1,3,1,1,1,1,1,1);"
                       "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (52,202,2,3),(300,310,99,1);"),
           true);
  const auto found = values(*e);
  const std::string path = "cudaStreamSynchronize_v3020->STREAM_SYNCHRONIZE";
  EXPECT_EQ(found.at(path), 155 - 148);
  EXPECT_EQ(found.at(path + "->WAIT"), 150);
  EXPECT_EQ(found.at(path + "->OVERLAP"), 148);
  EXPECT_EQ(found.at(path + "->OVERLAP->step"), 148);
  // A wait that no recorded call asked for is all that is known of it.
  EXPECT_EQ(found.at("[Uncorrelated]->EVENT_SYNCHRONIZE->WAIT"), 10);
  EXPECT_EQ(found.at("[Uncorrelated]->EVENT_SYNCHRONIZE"), 0);
  EXPECT_EQ(found.size(), 9u);  // and the kernel's three
}

TEST(Nsight, PathsOfSymbolPointers) {
  const std::unordered_map<std::string, std::string> symbols = {{"1f0", "main"}, {"2a0", "solve"}};
  EXPECT_EQ(decode_path("\x1f"
                        "1f0\x1f"
                        "2a0",
                        symbols),
            "main->solve");
  EXPECT_EQ(decode_path("\x1f"
                        "1f0\x1f"
                        "2a0\x1f->cudaFree",
                        symbols),
            "main->solve->cudaFree");
  EXPECT_EQ(decode_path("\x1f"
                        "1f0\x1f"
                        "999",
                        symbols),
            "main->999");
  EXPECT_EQ(decode_path("main->solve", symbols), "main->solve");
  const auto e = read(database_of(
      kSchema +
      "INSERT INTO StringIds VALUES (1,'EXTRA_PROF_SYMBOLS'),(2,'EP'||char(31)||'1f0'||char(31)||'a->b'),"
      "(3,'EXTRA_PROF_SYMBOLS_END');"
      "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, domainId INT, uint32Value INT,"
      " globalTid INT);"
      "INSERT INTO NVTX_EVENTS VALUES (0,NULL,75,'de.tu-darmstadt.parallel.extra_prof',7,NULL,1),"
      "(0,1000,59,char(31)||'1f0',7,0,1);"));
  EXPECT_EQ(values(*e), (std::map<std::string, double>{{"a- >b", 1000}}));
}

TEST(Nsight, ForeignAndDamagedDatabases) {
  const auto refused = [](const std::string& bytes) {
    auto dataset = open_source(Source::of(Blob::own("x.sqlite", bytes)), make_work(), "nsight");
    if (!dataset.ok()) return dataset.error().text();
    const auto experiment = (*dataset)->experiment();
    return experiment.ok() ? std::string() : experiment.error().text();
  };
  EXPECT_NE(refused(database_of("CREATE TABLE people(name TEXT);")).find("without a table of Nsight Systems"),
            std::string::npos);
  EXPECT_NE(refused(database_of("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(begin INT);")).find("no column 'start'"),
            std::string::npos);
  EXPECT_NE(refused("not a database").find("is no SQLite database"), std::string::npos);
  // A view in the place of a table is not run.
  EXPECT_NE(refused(database_of("CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n)"
                                " SELECT i AS start FROM n;"))
                .find("without a table"),
            std::string::npos);
  const std::string whole = database_of(kSchema + kNames + kMarked);
  for (std::size_t n = 0; n < whole.size(); n += 97) (void)refused(whole.substr(0, n));
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string bad = whole;
    for (int k = 0; k < 3; ++k) bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
    (void)refused(bad);
  }
  // Times that cannot be are left out and said.
  const Work work = make_work();
  auto dataset = open_source(
      Source::of(Blob::own("x", database_of(kSchema + kNames + kMarked +
                                            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (9,3,51,3,1,1,1,1,1,1),"
                                            "(-9223372036854775808,9223372036854775807,51,3,1,1,1,1,1,1);"))),
      work);
  ASSERT_TRUE(dataset.ok());
  EXPECT_TRUE(work->diagnostics.all().empty());  // the experiment is not made before somebody asks for it
  ASSERT_TRUE((*dataset)->experiment().ok());
  ASSERT_EQ(work->diagnostics.all().size(), 2u);
  EXPECT_EQ(work->diagnostics.all()[0].id, "nsight.time");
  EXPECT_EQ(work->diagnostics.all()[0].count, 2u);
  EXPECT_EQ(work->diagnostics.all()[1].id, "nsight.calls_left_out");
  EXPECT_EQ(work->diagnostics.all()[1].count, 2u);  // the call outside of all ranges and its kernel
}

TEST(Nsight, WriteAheadMode) {
  std::string bytes = database_of(kSchema + kNames + kMarked);
  const auto before = values(*read(bytes));
  bytes[18] = bytes[19] = 2;
  EXPECT_EQ(values(*read(bytes)), before);
}

// Rows that are in the log alone are not read; that is said.
TEST(Nsight, RowsThatAreInTheLogAlone) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "x.sqlite";
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open((directory.path() / "made.sqlite").c_str(), &handle), SQLITE_OK);
  run(handle,
      "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;" + kSchema + kNames +
          "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,30,1,1,4,NULL); PRAGMA wal_checkpoint(TRUNCATE);");
  std::filesystem::copy_file(directory.path() / "made.sqlite-wal", directory.path() / "x.sqlite-wal");  // empty
  std::filesystem::copy_file(directory.path() / "made.sqlite", path);
  const auto diagnosed = [&] {
    const Work work = make_work();
    const auto dataset = open_dataset(path, work);
    EXPECT_TRUE(dataset.ok());
    if (dataset.ok()) {
      EXPECT_EQ(values(**(*dataset)->experiment()).at("cudaMalloc_v3020"), 20);
    }
    return work->diagnostics.all();
  };
  EXPECT_TRUE(diagnosed().empty());
  run(handle, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100,130,1,2,4,NULL)");
  const auto all = std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy_file(directory.path() / "made.sqlite-wal", directory.path() / "x.sqlite-wal", all);
  sqlite3_close(handle);
  ASSERT_EQ(diagnosed().size(), 1u);
  EXPECT_EQ(diagnosed()[0].id, "nsight.changes_beside");
}

// The databases of the reference's example, unpacked; Extra-P has left its own tables in them.
std::filesystem::path example(const TemporaryDirectory& directory) {
  const std::string archive = data("gpu/nsight_concurrent_example.tar.gz").string();
  EXPECT_EQ(std::system(("tar -xzf '" + archive + "' -C '" + directory.path().string() + "'").c_str()), 0);
  return directory.path() / "concurrent_example";
}

TEST(Nsight, DirectoryOfTheReference) {
  if (!extrap::testing::have_data()) GTEST_SKIP() << "no reference data";
  const TemporaryDirectory directory;
  auto dataset = open_dataset(example(directory), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto experiment = (*dataset)->experiment();
  ASSERT_TRUE(experiment.ok()) << experiment.error().text();
  const Experiment& e = **experiment;
  const Json expected =
      extrap::testing::load_json(data("gpu/nsight_concurrent_example.expected.json.gz"))["experiment"];
  std::vector<std::string> callpaths;
  for (const Named& c : e.callpaths()) callpaths.push_back(c.name);
  EXPECT_EQ(callpaths, expected["callpaths"].get<std::vector<std::string>>());
  for (const Named& c : e.callpaths()) {
    Json tags = Json::object();
    for (const auto& [key, value] : c.tags) tags[key] = Json::parse(value);
    EXPECT_EQ(tags, expected["tags"].value(c.name, Json::object())) << c.name;
  }
  // In each file the reference gives one copy far more overlap than it has, which makes its time negative; no rule was
  // found by which it does that.
  const std::set<std::pair<std::string, double>> kGrandTotals = {
      {"main->test_max_par->phase->memcpyHD3->cudaMemcpyAsync_v3020->HOST_TO_DEVICE", 1},
      {"main->test_max_par->phase->memcpyHD3->cudaMemcpyAsync_v3020->HOST_TO_DEVICE", 2},
      {"main->test_max_par->phase->memcpyHD3->cudaMemcpyAsync_v3020->HOST_TO_DEVICE", 4},
      {"main->test_copies->phase->memcpyHD1->cudaMemcpyAsync_v3020->HOST_TO_DEVICE", 8},
      {"main->test_max_par->phase->memcpyHD4->cudaMemcpyAsync_v3020->HOST_TO_DEVICE", 16},
  };
  ASSERT_EQ(e.series().size(), expected["measurements"].size());
  std::size_t excused = 0;
  for (std::size_t s = 0; s < e.series().size(); ++s) {
    const Series& series = e.series()[s];
    const auto& own = expected["measurements"][s];
    const std::string& path = e.callpaths()[series.callpath].name;
    ASSERT_EQ(path, own["callpath"].get<std::string>());
    ASSERT_EQ(e.metrics()[series.metric].name, own["metric"].get<std::string>());
    ASSERT_EQ(e.points_of(series).size(), own["points"].size()) << path;
    for (std::size_t k = 0; k < own["points"].size(); ++k) {
      const auto& row = own["points"][k];
      const double at = number(row[0][0]);
      ASSERT_EQ(e.point(e.points_of(series)[k])[0], at);
      const bool is_total = path.ends_with("->OVERLAP");
      const std::string copy = is_total ? path.substr(0, path.size() - 9) : path;
      if (own["metric"] == "time" && kGrandTotals.contains({copy, at})) {
        if (!is_total) {
          EXPECT_LT(number(row[1]), 0);
        }
        ++excused;
        continue;
      }
      const std::size_t m = series.first + k;
      const double found[] = {e.means()[m], e.medians()[m], e.minima()[m], e.maxima()[m]};
      for (std::size_t i = 0; i < 4; ++i) {
        ASSERT_TRUE(close(found[i], number(row[i + 1]), 1e-9, 1e-15)) << path << ' ' << at << ' ' << found[i];
      }
      ASSERT_EQ(e.repetitions()[m], number(row[6])) << path << ' ' << at;
    }
  }
  EXPECT_EQ(excused, 2 * kGrandTotals.size());
}

// Without what Extra-P stored in it, a database gives the same: call paths, exclusive times and idle times are our own.
TEST(Nsight, SameWithoutExtraPsTables) {
  if (!extrap::testing::have_data()) GTEST_SKIP() << "no reference data";
  const TemporaryDirectory directory;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(example(directory))) {
    if (entry.path().extension() != ".sqlite") continue;
    const auto open = [&] { return open_dataset(entry.path(), make_work()); };
    const auto before = values(**(*open())->experiment());
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(entry.path().c_str(), &handle), SQLITE_OK);
    for (const char* view : {"EXTRAP_CONCURRENT_KERNELS", "EXTRAP_OVERLAP_ACTIVITIES", "EXTRAP_GPU_ACTIVITIES",
                             "EXTRAP_GPU_INFO", "EXTRAP_FORMAT"}) {
      run(handle, std::string("DROP VIEW ") + view);
    }
    run(handle, "DROP TABLE EXTRAP_RESOLVED_CALLPATHS; DROP TABLE EXTRAP_GPU_IDLE;");
    sqlite3_close(handle);
    EXPECT_EQ(values(**(*open())->experiment()), before) << entry.path();
    ASSERT_GT(before.size(), 300u);
  }
}

}  // namespace
}  // namespace fathom::nsight
