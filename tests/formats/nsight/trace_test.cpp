// The trace of an Nsight Systems database against sums that sqlite3 gives for the same file.
#include <gtest/gtest.h>

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

TEST(NsightTrace, TheExampleIsATraceToo) {
  auto dataset = open_dataset(FATHOM_SOURCE_DIR "/examples/gpu.sqlite", make_work());
  ASSERT_TRUE(dataset.ok());
  auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_GT(test::sums_of(**trace).slices, 0U);
}

}  // namespace
}  // namespace fathom::nsight
