// Several clocks, files of wrong ranks, meshes, and receives whose tag only the order tells.
#include "formats/dumpi/clocks.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "formats/dumpi/check.hpp"
#include "formats/dumpi/dumpi_trace.hpp"
#include "formats/dumpi/trace_maker.hpp"
#include "formats/registry.hpp"

namespace fathom::dumpi {
namespace {

constexpr int kWorld = 2;
constexpr int kInt = 9;
constexpr std::int64_t kSecond = 1'000'000'000;

class DumpiClocks : public DumpiRun {
 protected:
  // Two ranks that leave MPI_Init together and exchange a message; the second host booted `ahead` seconds earlier.
  static std::vector<TraceMaker> two_hosts(std::int64_t ahead) {
    std::vector<TraceMaker> ranks(2);
    for (int r = 0; r < 2; ++r) {
      TraceMaker& rank = ranks[static_cast<std::size_t>(r)];
      const std::int64_t zero = (10 + (r == 1 ? ahead : 0)) * kSecond;
      rank.sections.header.host = r == 0 ? "a" : "b";
      rank.at(zero, 1000).call("MPI_Init");
      rank.call("MPI_Comm_rank", {{"comm", kWorld}, {"rank", r}});
      rank.call("MPI_Comm_size", {{"comm", kWorld}, {"size", 2}});
      rank.at(zero + kSecond, 1000);
      if (r == 0) {
        rank.send("MPI_Send", 1, kInt, 1, 5, kWorld);
      } else {
        rank.recv(1, kInt, 0, 5, kWorld, got(4, 0, 5));
      }
      rank.at(zero + 2 * kSecond, 1000).call("MPI_Finalize");
    }
    return ranks;
  }
  static std::int64_t length(const std::shared_ptr<RankSet>& set) {
    const auto trace = DumpiTrace::make(set);
    EXPECT_TRUE(trace.ok());
    const auto span = (*trace)->known_span();
    return span->to_ns - span->from_ns;
  }
};

TEST_F(DumpiClocks, HostsMeetAtTheEndOfInit) {
  const auto set = run(two_hosts(5000));
  EXPECT_EQ(length(set), 2 * kSecond + 1000);
  EXPECT_EQ(noticed_times("dumpi.clocks"), 1);
  // What is stored stays what it was.
  EXPECT_EQ(set->files()[1].file.wall_bias(), kWallBias);
  EXPECT_TRUE(check_set(set).ok());
  EXPECT_EQ(noticed_times("dumpi.impossible_order"), 0);
}

// Traces that were cut in front have no MPI_Init: nothing can be aligned, but that is said wherever times are shown.
TEST_F(DumpiClocks, TimesFarApartWithoutInitAreTold) {
  for (const std::int64_t ahead : {0, 5000}) {
    std::vector<TraceMaker> ranks(2);
    for (int r = 0; r < 2; ++r) {
      TraceMaker& rank = ranks[static_cast<std::size_t>(r)];
      const std::int64_t zero = (10 + r * ahead) * kSecond;
      rank.at(zero, 1000).call("MPI_Barrier", {{"comm", kWorld}});
      rank.at(zero + 2 * kSecond, 1000).call("MPI_Barrier", {{"comm", kWorld}});
    }
    const auto set = run(ranks);
    EXPECT_EQ(length(set), (2 + ahead) * kSecond + 1000);
    EXPECT_EQ(noticed_times("dumpi.clock_unknown"), ahead == 0 ? 0 : 1);
  }
}

// A part of a run has the clocks of the run only as long as MPI_Init is in it.
TEST_F(DumpiClocks, WindowsOfSeveralClocksKeepInitOrSayThatItIsMissing) {
  for (const char* keep : {"definitions", ""}) {
    const auto set = run(two_hosts(5000));
    WriteOptions options;
    options.options = {{"from", "1011"}};  // behind MPI_Init
    if (*keep != '\0') options.options.emplace_back("keep", keep);
    const auto filter = Filter::from_options(options);
    ASSERT_TRUE(filter.ok());
    ASSERT_TRUE(rewrite_set(*set, *filter, folder_ / "new.meta", true).ok());
    EXPECT_EQ(noticed_times("dumpi.clock_unknown"), *keep == '\0' ? 1 : 0);
    const auto part = open("new.meta");
    ASSERT_TRUE(part.ok());
    EXPECT_EQ(length(*part), (*keep == '\0' ? 5001 : 2) * kSecond + 1000);
  }
}

TEST_F(DumpiClocks, ClocksThatAgreeAreLeftAlone) {
  const auto set = run(two_hosts(0));
  EXPECT_EQ(length(set), 2 * kSecond + 1000);
  EXPECT_TRUE(noticed().empty());
}

TEST_F(DumpiClocks, RawTimesOnRequest) {
  (void)run(two_hosts(5000));
  const Work work = make_work();
  ASSERT_TRUE(set_reading_option(*work, "clock", "raw").ok());
  auto source = Source::at(folder_ / "run.meta", work);
  ASSERT_TRUE(source.ok());
  auto set = RankSet::open(*source, work);
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(length(*set), 5002 * kSecond + 1000);
}

// A message that arrives before it is sent is told when clocks are off by less than what is brought together.
TEST_F(DumpiClocks, ImpossibleOrdersAreTold) {
  std::vector<TraceMaker> ranks(2);
  ranks[0].at(0).call("MPI_Init");
  ranks[1].at(0).call("MPI_Init");
  ranks[0].at(2'000'000, 1000).send("MPI_Send", 1, kInt, 1, 5, kWorld);
  ranks[1].at(1'000'000, 1000).recv(1, kInt, 0, 5, kWorld, got(4, 0, 5));
  EXPECT_TRUE(check_set(run(ranks)).ok());
  EXPECT_EQ(noticed_times("dumpi.impossible_order"), 1);
}

TEST_F(DumpiClocks, FilesOfWrongRanksAreTold) {
  auto ranks = two_hosts(0);
  std::swap(ranks[0], ranks[1]);
  const auto set = run(ranks);
  ASSERT_TRUE(set->scans().ok());
  EXPECT_EQ(noticed_times("dumpi.wrong_rank"), 2);
}

TEST_F(DumpiClocks, FilesOfAnotherRunAreTold) {
  auto ranks = two_hosts(0);
  ranks.push_back(ranks[0]);  // of a run of two
  ranks[2].sections.header.start_time += 86400;
  const auto set = run(ranks);
  ASSERT_TRUE(set->scans().ok());
  EXPECT_EQ(noticed_times("dumpi.wrong_rank"), 1);
  EXPECT_EQ(noticed_times("dumpi.wrong_size"), 1);
  EXPECT_EQ(noticed_times("dumpi.other_run"), 1);
}

// A number of ranks that no run has is not taken, and the files are not blamed for it.
TEST_F(DumpiClocks, ANumberOfRanksThatIsNotBelievedAccusesNobody) {
  ASSERT_NE(run(two_hosts(0)), nullptr);
  write("run.meta", "numprocs=10000000\nfileprefix=run\n");
  const auto opened = open("run.meta");
  ASSERT_TRUE(opened.ok());
  ASSERT_TRUE((*opened)->scans().ok());
  EXPECT_EQ(noticed_times("dumpi.metafile_numprocs"), 1);
  EXPECT_EQ(noticed_times("dumpi.wrong_size"), 0);
}

TEST_F(DumpiClocks, MeshesAreTopologies) {
  auto ranks = two_hosts(0);
  for (int r = 0; r < 2; ++r) {
    ranks[static_cast<std::size_t>(r)].sections.header.mesh_size = {4, 2};
    ranks[static_cast<std::size_t>(r)].sections.header.mesh_position = {r + 1, r};
  }
  const auto trace = DumpiTrace::make(run(ranks));
  ASSERT_TRUE(trace.ok());
  const auto& topologies = (*trace)->definitions().system.topologies;
  ASSERT_EQ(topologies.size(), 1U);
  ASSERT_EQ(topologies[0].dimensions.size(), 2U);
  EXPECT_EQ(topologies[0].dimensions[0].size, 4U);
  ASSERT_EQ(topologies[0].coordinates.size(), 2U);
  EXPECT_EQ(topologies[0].coordinates[1].at, (std::vector<std::uint64_t>{2, 1}));
}

// Without statuses the order of messages between two ranks says which receive of any tag got which. Tags 1, 2, 1 are
// sent; the receives are any, tag 1, any: the first takes the first, the second the next of tag 1, the last the rest.
TEST_F(DumpiClocks, ReceivesOfAnyTagMatchInOrder) {
  constexpr int kAny = -1;
  std::vector<TraceMaker> ranks(2);
  constexpr std::uint8_t kNoStatuses = kMaskCpu | kMaskWall | kMaskThread;
  for (const int tag : {1, 2, 1}) ranks[0].send("MPI_Send", tag * 10, kInt, 1, tag, kWorld);  // 0 1 2
  ranks[1].mask(kNoStatuses);
  for (const int tag : {kAny, 1, kAny}) ranks[1].recv(100, kInt, 0, tag, kWorld, {});  // 0 1 2
  const auto trace = DumpiTrace::make(run(ranks));
  ASSERT_TRUE(trace.ok());
  std::vector<std::tuple<std::uint64_t, std::uint64_t, std::int32_t>> found;
  ASSERT_TRUE((*trace)
                  ->messages({},
                             [&](const Message& message) {
                               found.emplace_back(message.send_record, message.recv_record, message.tag);
                               return true;
                             })
                  .ok());
  std::sort(found.begin(), found.end());
  using Found = decltype(found);
  EXPECT_EQ(found, (Found{{0, 0, 1}, {1, 2, 2}, {2, 1, 1}}));
  EXPECT_EQ(noticed_times("trace.unmatched_send"), 0);
}

}  // namespace
}  // namespace fathom::dumpi
