// Runs of more ranks than files may be open at a time.
#include <gtest/gtest.h>

#include <fstream>

#include "formats/dumpi/dumpi_trace.hpp"
#include "formats/dumpi/trace_maker.hpp"
#include "io/mapped_file.hpp"

namespace fathom::dumpi {
namespace {

constexpr int kRanks = 300;
constexpr int kWorld = 2;
constexpr int kInt = 9;

class DumpiManyFiles : public DumpiRun {
 protected:
  void SetUp() override {
    DumpiRun::SetUp();
    before_ = keep_files_open(4);
  }
  void TearDown() override {
    keep_files_open(before_);
    DumpiRun::TearDown();
  }
  int mapped() const {
    std::ifstream maps("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);) {
      count += line.find(folder_.string()) != std::string::npos ? 1 : 0;
    }
    return count;
  }
  std::size_t before_ = 0;
};

TEST_F(DumpiManyFiles, AllStreamsAreReadInTurnsWithFewOfThemOpen) {
  std::vector<TraceMaker> ranks(kRanks);
  for (int r = 0; r < kRanks; ++r) {
    auto& rank = ranks[static_cast<std::size_t>(r)];
    rank.call("MPI_Init", {{"argv", texts({"a.out"})}});
    // Files of some pages: small ones need no mapping.
    for (int n = 0; n < 300; ++n) rank.send("MPI_Send", r, kInt, (r + 1) % kRanks, n, kWorld);
    rank.call("MPI_Finalize");
  }
  const auto set = run(ranks);
  ASSERT_TRUE(set != nullptr);
  EXPECT_LE(mapped(), 4);
  auto trace = DumpiTrace::make(set);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  ASSERT_EQ((*trace)->location_count(), std::size_t{kRanks});
  std::vector<std::unique_ptr<EventStream>> streams;
  for (std::size_t i = 0; i < kRanks; ++i) {
    auto stream = (*trace)->open(LocationId(i), {});
    ASSERT_TRUE(stream.ok());
    streams.push_back(*std::move(stream));
  }
  std::vector<std::int64_t> sent(kRanks, 0);
  std::vector<Event> events(64);
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < kRanks; ++i) {
      const auto count = streams[i]->next(events);
      ASSERT_TRUE(count.ok());
      for (std::size_t n = 0; n < *count; ++n) {
        if (events[n].kind == EventKind::send) sent[i] += events[n].bytes;
      }
      more = more || *count > 0;
    }
    EXPECT_LE(mapped(), 4);
  }
  for (std::size_t i = 0; i < kRanks; ++i) EXPECT_EQ(sent[i], static_cast<std::int64_t>(300 * 4 * i)) << i;
  EXPECT_FALSE(lost_input().has_value());
}

}  // namespace
}  // namespace fathom::dumpi
