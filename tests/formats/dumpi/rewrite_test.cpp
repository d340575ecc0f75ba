// Filters on rewrite: what is kept, what the footer says, and that the result is a whole trace.
#include <gtest/gtest.h>

#include "formats/dumpi/check.hpp"
#include "formats/dumpi/statistics.hpp"
#include "formats/dumpi/trace_maker.hpp"
#include "io/file.hpp"

namespace fathom::dumpi {
namespace {

namespace fs = std::filesystem;

constexpr int kWorld = 2;
constexpr int kInt = 9;
constexpr std::int64_t kSecond = 1'000'000'000;

class DumpiRewrite : public DumpiRun {
 protected:
  // Calls at full seconds from 1 on.
  static TraceMaker rank(int r) {
    TraceMaker made;
    made.sections.counters = {"CYCLES"};
    made.sections.addresses = {{4096, "ANNOTATION: here"}};
    made.counters({{1, 2}});
    made.at(1 * kSecond).call("MPI_Init", {{"argv", texts({"a.out"})}});
    made.at(2 * kSecond).call("MPI_Comm_dup", {{"oldcomm", kWorld}, {"newcomm", 4}});
    made.at(3 * kSecond).call("Function_enter", {{"fn", 4096}});
    made.at(3 * kSecond + 200).call("Function_exit", {{"fn", 4096}});
    made.at(4 * kSecond);
    if (r == 0) {
      made.send("MPI_Send", 3, kInt, 1, 0, 4);
    } else {
      made.recv(3, kInt, 0, 0, 4, got(12, 0, 0));
    }
    made.at(5 * kSecond).call("MPI_Waitall", {{"requests", list({1, 1})}, {"statuses", statuses({{}, {}})}});
    made.at(6 * kSecond).call("MPI_Finalize");
    return made;
  }
  static Filter filter(std::vector<std::pair<std::string, std::string>> options) {
    WriteOptions given;
    given.options = std::move(options);
    auto found = Filter::from_options(given);
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().text());
    return found.ok() ? *found : Filter{};
  }
  // Rewrites the run, opens the result and checks that it is sound.
  std::shared_ptr<RankSet> rewritten(const std::shared_ptr<RankSet>& set, const Filter& how,
                                     const std::string& target = "new.meta") {
    EXPECT_TRUE(rewrite_set(*set, how, folder_ / target).ok());
    auto opened = open(target);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().text());
    if (!opened.ok()) return nullptr;
    auto scans = (*opened)->scans();
    EXPECT_TRUE(scans.ok());
    for (std::size_t i = 0; i < (*scans)->size(); ++i) {
      const ScanResult& scan = (**scans)[i];
      EXPECT_FALSE(scan.damage.has_value());
      EXPECT_TRUE(scan.end_mark);
      const Footer& footer = (*opened)->files()[i].file.sections().footer;
      std::uint64_t total = 0;
      for (std::size_t id = 0; id < kFunctions; ++id) {
        EXPECT_EQ(footer.called[id] - footer.ignored[id], scan.per_function[id]) << functions()[id].name;
        total += scan.per_function[id];
      }
      EXPECT_EQ(footer.called[kAllFunctions] - footer.ignored[kAllFunctions], total);
    }
    return *opened;
  }
  static std::vector<std::string> names(const std::shared_ptr<RankSet>& set, std::size_t file = 0) {
    std::vector<std::string> found;
    auto scans = set->scans();
    for (const Chunk& chunk : (**scans)[file].chunks) {
      for_each_call(set->files()[file].file, chunk, [&](const Call& call) {
        found.emplace_back(call.name());
        return true;
      });
    }
    return found;
  }
  using Names = std::vector<std::string>;
};

TEST_F(DumpiRewrite, WithoutFiltersTheSetIsTheSame) {
  const auto set = run({rank(0), rank(1)});
  const auto got = rewritten(set, {});
  ASSERT_EQ(got->files().size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(got->files()[i].file.hold()->text() == set->files()[i].file.hold()->text());
  }
  EXPECT_EQ(*got->metafile()->find("fileprefix"), "new");
  EXPECT_EQ(*got->metafile()->find("numprocs"), "2");
  EXPECT_TRUE(noticed().empty());
}

TEST_F(DumpiRewrite, Functions) {
  const auto set = run({rank(0), rank(1)});
  EXPECT_EQ(names(rewritten(set, filter({{"functions", "MPI_Send, MPI_W*"}}))), (Names{"MPI_Send", "MPI_Waitall"}));
  EXPECT_EQ(names(rewritten(set, filter({{"without", "MPI_Init,Function_*,MPI_Comm_???"}}))),
            (Names{"MPI_Send", "MPI_Waitall", "MPI_Finalize"}));
  // In the order in which they are given.
  EXPECT_EQ(
      names(rewritten(set, filter({{"functions", "MPI_*"}, {"without", "MPI_Init"}, {"drop", "user-functions"}}))),
      (Names{"MPI_Comm_dup", "MPI_Send", "MPI_Waitall", "MPI_Finalize"}));
  WriteOptions unknown;
  unknown.options = {{"functions", "MPI_Sned"}};
  EXPECT_FALSE(Filter::from_options(unknown).ok());
}

TEST_F(DumpiRewrite, TimeWindow) {
  const auto set = run({rank(0), rank(1)});
  // From inclusive, to exclusive; seconds on the trace's clock.
  EXPECT_EQ(names(rewritten(set, filter({{"from", "1004"}, {"to", "1006"}}))), (Names{"MPI_Send", "MPI_Waitall"}));
  EXPECT_EQ(names(rewritten(set, filter({{"from", "1003.0000002"}, {"to", "1004000ms"}}))), (Names{"Function_exit"}));
  const auto nothing = rewritten(set, filter({{"from", "2000"}}));
  EXPECT_TRUE(names(nothing).empty());
  EXPECT_EQ(nothing->files()[0].file.sections().footer.ignored[ids::kSend], 1U);
  // What the rest is understood by may stay.
  const auto got = rewritten(set, filter({{"from", "1004"}, {"to", "1005"}, {"keep", "definitions"}}));
  EXPECT_EQ(names(got), (Names{"MPI_Comm_dup", "MPI_Send"}));
  auto numbers = statistics(*got, {});
  ASSERT_TRUE(numbers.ok());
  ASSERT_EQ(numbers->matrix.size(), 1U);
  EXPECT_EQ(numbers->matrix[0].dst, 1);
}

TEST_F(DumpiRewrite, Ranks) {
  const auto set = run({rank(0), rank(1), rank(1), rank(1)});
  const auto got = rewritten(set, filter({{"ranks", "0,2-3"}}));
  ASSERT_EQ(got->files().size(), 3U);
  EXPECT_EQ(got->files()[1].rank, 2U);
  // The run had four ranks, whatever is left of it.
  EXPECT_EQ(got->world_size(), 4U);
  EXPECT_FALSE(fs::exists(folder_ / "new-0001.bin"));
  EXPECT_EQ(noticed(), (Names{"dumpi.missing_ranks"}));
  EXPECT_FALSE(rewrite_set(*set, filter({{"ranks", "9"}}), folder_ / "none.meta").ok());
  for (const char* bad : {"x", "3-1", "", "1-"}) {
    WriteOptions options;
    options.options = {{"ranks", bad}};
    EXPECT_FALSE(Filter::from_options(options).ok()) << bad;
  }
  // The last rank that there can be, and ranges of any size: neither counted up to nor kept one by one.
  const Filter most = filter({{"ranks", "2-4294967295"}});
  EXPECT_FALSE(most.wants_rank(1));
  EXPECT_TRUE(most.wants_rank(2));
  EXPECT_TRUE(most.wants_rank(4294967295));
}

TEST_F(DumpiRewrite, DroppedParts) {
  const auto set = run({rank(0), rank(1)});
  const auto got = rewritten(set, filter({{"drop", "cpu,counters,statuses"}}));
  auto scans = got->scans();
  EXPECT_FALSE((**scans)[0].any_cpu);
  EXPECT_TRUE((**scans)[0].any_wall);
  EXPECT_TRUE(got->files()[0].file.sections().counters.empty());
  EXPECT_EQ(names(got), names(set));
  for_each_call(got->files()[1].file, (**scans)[1].chunks[0], [&](const Call& call) {
    EXPECT_EQ(call.mask, kMaskWall | kMaskThread);
    if (call.id == ids::kRecv) {
      EXPECT_FALSE(call.present(5));
      EXPECT_EQ(call.integer(4), 4);  // the communicator behind which the status was
    }
    if (call.id == ids::kWaitall) {
      EXPECT_EQ(call.values(1).size(), 2U);
    }
    return true;
  });
}

TEST_F(DumpiRewrite, ACutTraceBecomesAWholeOne) {
  // Cut in the middle of the last record.
  std::string bytes = rank(0).cut();
  bytes.resize(bytes.size() - 3);
  write("run-0000.bin", bytes);
  auto set = open("run-0000.bin");
  ASSERT_TRUE(set.ok());
  const auto got = rewritten(*set, {}, "whole.bin");
  ASSERT_NE(got, nullptr);
  EXPECT_EQ(names(got).size(), 6U);  // all but Finalize
  const Footer& footer = got->files()[0].file.sections().footer;
  EXPECT_EQ(footer.called[kAllFunctions], 4U);
  EXPECT_EQ(footer.ignored[kAllFunctions], 0U);
  EXPECT_TRUE(check_set(got).ok());
  // Together with a filter.
  EXPECT_EQ(names(rewritten(*set, filter({{"without", "MPI_Send"}}), "less.bin")).size(), 5U);
}

TEST_F(DumpiRewrite, IntoADirectoryUnderTheOldName) {
  const auto set = run({rank(0), rank(1)});
  fs::create_directories(folder_ / "there");
  ASSERT_TRUE(rewrite_set(*set, {}, folder_ / "there").ok());
  EXPECT_TRUE(fs::exists(folder_ / "there" / "run.meta"));
  EXPECT_TRUE(fs::exists(folder_ / "there" / "run-0001.bin"));
  auto one = open("run-0001.bin");
  ASSERT_TRUE(one.ok());
  ASSERT_TRUE(rewrite_set(**one, {}, folder_ / "other/").ok());
  EXPECT_TRUE(fs::exists(folder_ / "other" / "run-0001.bin"));
}

TEST_F(DumpiRewrite, RanksOfALargerRunOfThatNameNeedForce) {
  const auto set = run({rank(0), rank(1)});
  ASSERT_TRUE(rewrite_set(*set, {}, folder_ / "again.meta").ok());
  const Filter fewer = filter({{"ranks", "0"}});
  const auto refused = rewrite_set(*set, fewer, folder_ / "again.meta");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("again-0001.bin"), std::string::npos);
  EXPECT_TRUE(fs::exists(folder_ / "again-0001.bin"));
  ASSERT_TRUE(rewrite_set(*set, fewer, folder_ / "again.meta", true).ok());
  EXPECT_FALSE(fs::exists(folder_ / "again-0001.bin"));
  EXPECT_TRUE(fs::exists(folder_ / "again-0000.bin"));
}

TEST_F(DumpiRewrite, OnlyCpuTimes) {
  TraceMaker made;
  made.mask(kMaskCpu | kMaskThread);
  for (int n = 1; n < 5; ++n) made.at(n * kSecond).call("MPI_Barrier", {{"comm", kWorld}});
  write("run-0000.bin", made.finish());
  auto set = open("run-0000.bin");
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(names(rewritten(*set, filter({{"from", "102"}, {"to", "104"}}), "new-0000.bin")).size(), 2U);
  StatisticsOptions options;
  options.from_ns = (kCpuBias + 3) * kSecond;
  auto numbers = statistics(**set, options);
  ASSERT_TRUE(numbers.ok());
  EXPECT_EQ(numbers->calls.at(0).count, 2U);
}

}  // namespace
}  // namespace fathom::dumpi
