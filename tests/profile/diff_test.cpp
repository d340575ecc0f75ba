#include "profile/diff/diff.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "profile/expression/derive.hpp"
#include "profile/inspect/inspect.hpp"
#include "profile/memory_profile.hpp"

namespace fathom {
namespace {

// By integrating the density of Student's t numerically: p = 0.0213, 0.102, 1.
TEST(Diff, ChangesBeyondTheScatterAreSignificant) {
  EXPECT_EQ(is_significant(std::vector{10.0, 11.0, 12.0}, std::vector{14.0, 15.0, 13.0}), true);
  EXPECT_EQ(is_significant(std::vector{10.0, 11.0, 12.0}, std::vector{12.0, 15.0, 13.0}), false);
  EXPECT_EQ(is_significant(std::vector{1.0, 2.0, 3.0, 4.0}, std::vector{1.5, 2.5, 3.5}), false);
}

TEST(Diff, OneRunAgainstSeveralIsJudgedByTheirSpread) {
  // Mean 11, deviation 1: the 95 % interval of one more run is 11 ± 4.303 * sqrt(4/3), that is 6.03 to 15.97.
  const std::vector<double> several{10, 11, 12};
  EXPECT_EQ(is_significant(several, std::vector{15.9}), false);
  EXPECT_EQ(is_significant(several, std::vector{16.1}), true);
  EXPECT_EQ(is_significant(std::vector{5.9}, several), true);
}

TEST(Diff, WithoutRepetitionsNothingIsKnownAboutTheScatter) {
  EXPECT_EQ(is_significant(std::vector{1.0}, std::vector{2.0}), std::nullopt);
  EXPECT_EQ(is_significant({}, std::vector{2.0, 3.0}), std::nullopt);
  EXPECT_EQ(is_significant(std::vector{1.0, 1.0}, std::vector{1.0, 1.0}), false);
  EXPECT_EQ(is_significant(std::vector{1.0, 1.0}, std::vector{2.0, 2.0}), true);
}

struct Row {
  double before, after;
  bool operator==(const Row&) const = default;
};
// Values by name; -1 = not there.
std::map<std::string, Row> rows_of(const MetricChanges& changes) {
  std::map<std::string, Row> out;
  for (const BeforeAfter& row : changes.rows) {
    out[row.name] = {row.before.empty() ? -1 : row.before[0], row.after.empty() ? -1 : row.after[0]};
  }
  return out;
}

ProfilePtr profile(const std::string& parent, const std::string& function, double value, std::int64_t line = 7) {
  test::MemoryProfile made({"0"});
  const MetricId time = made.metric("time");
  made.context("main", "main.c");
  if (parent != "main") made.context(parent, "other.c");
  made.context(parent + "/" + function, "solve.c");
  made.values<double>(time, "main", {1});
  made.values<double>(time, parent + "/" + function, {value});
  for (Region& region : made.defs().regions) {
    if (region.name == function) region.begin_line = line;
  }
  return made.build();
}

TEST(Diff, MovedCodeIsTheSameByNameAndRenamedCodeByLine) {
  const std::vector before{profile("main", "solve", 2)};
  const std::vector moved{profile("main/step", "solve", 3)};
  const std::vector renamed{profile("main", "solve2", 4)};
  using Rows = std::map<std::string, Row>;
  auto by_name = diff(before, moved, "time", {MatchBy::name, false});
  ASSERT_TRUE(by_name.ok());
  EXPECT_EQ(rows_of(*by_name), (Rows{{"main", {1, 1}}, {"solve", {2, 3}}, {"step", {-1, 0}}}));
  EXPECT_EQ(by_name->total.before, std::vector{3.0});
  EXPECT_EQ(by_name->total.after, std::vector{4.0});
  auto by_path = diff(before, moved, "time", {MatchBy::path, false});
  ASSERT_TRUE(by_path.ok());
  EXPECT_EQ(
      rows_of(*by_path),
      (Rows{{"main", {1, 1}}, {"main->solve", {2, -1}}, {"main->step", {-1, 0}}, {"main->step->solve", {-1, 3}}}));
  auto by_line = diff(before, renamed, "time", {MatchBy::line, false});
  ASSERT_TRUE(by_line.ok());
  EXPECT_EQ(rows_of(*by_line), (Rows{{"main", {1, 1}}, {"solve", {2, 4}}}));
  const auto unknown = diff(before, renamed, "tme", {});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().text().find("did you mean 'time'"), std::string::npos);
}

TEST(Diff, TheTableHasTheLargestChangeFirst) {
  const std::vector before{profile("main", "solve", 2)};
  const std::vector after{profile("main", "other", 8, 9)};
  const Table table = changes_table({*diff(before, after, "time", {})});
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.column("path").text(0), "other");
  EXPECT_TRUE(table.column("before").is_null(0));
  EXPECT_TRUE(std::isinf(table.column("relative").real(0)));
  EXPECT_EQ(table.column("path").text(1), "solve");
  EXPECT_EQ(table.column("relative").real(1), -1);
  EXPECT_TRUE(table.column("significant").is_null(1));
}

// 2^62 and one more are the same double.
TEST(Diff, IntegersAreComparedExactly) {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 62;
  const auto counted = [](std::uint64_t first, std::uint64_t second) {
    test::MemoryProfile made({"0", "1"});
    const MetricId visits = made.metric("visits", ValueKind::u64);
    made.context("main");
    made.values<std::uint64_t>(visits, "main", {first, second});
    return made.build();
  };
  const std::vector before{counted(kLarge, kLarge)};
  const std::vector after{counted(kLarge, kLarge + 1)};
  const auto changes = diff(before, after, "visits", {});
  ASSERT_TRUE(changes.ok());
  for (const Table& table : {changes_table({*changes}), totals_table({*changes})}) {
    ASSERT_EQ(table.rows(), 1U);
    EXPECT_EQ(table.column("change").real(0), 1);
    EXPECT_EQ(table.column("relative").real(0), std::ldexp(1.0, -63));
    EXPECT_EQ(exact_or_rounded(table, "before", 0).values<Int128>()[0], Int128{kLarge} * 2);
    EXPECT_EQ(exact_or_rounded(table, "after", 0).values<Int128>()[0], Int128{kLarge} * 2 + 1);
    EXPECT_EQ(exact_or_rounded(table, "change", 0).values<Int128>()[0], 1);
  }
  // Means of repetitions are no integers; their difference is still that of the sums.
  const std::vector twice{before[0], after[0]};
  const Table table = changes_table({*diff(before, twice, "visits", {})});
  EXPECT_EQ(table.column("change").real(0), 0.5);
  EXPECT_EQ(exact_or_rounded(table, "change", 0).type(), ColumnType::float64);
}

// Two instances of a template are one row where lines count; of their minima and ratios there is no sum.
TEST(Diff, RowsOfOneKeyAreWorkedOutTogether) {
  test::MemoryProfile made({"0", "1"});
  const MetricId time = made.metric("time");
  const MetricId visits = made.metric("visits");
  const MetricId shortest = made.metric("shortest", ValueKind::min_f64);
  double value = 1;
  for (const char* path : {"main", "main/f<int>", "main/f<double>"}) {
    made.context(path, "x.cpp");
    made.values<double>(time, path, {4 * value, 6 * value});
    made.values<double>(visits, path, {1, value});
    made.values<double>(shortest, path, {9 - value, 8 - value});
    ++value;
  }
  for (Region& region : made.defs().regions) region.begin_line = region.name == "main" ? 1 : 7;
  const std::vector<ProfilePtr> runs{with_derived(made.build(), "per = time / visits").value()};
  const auto of = [&](const char* metric, bool inclusive) {
    const auto changes = diff(runs, runs, metric, {MatchBy::line, inclusive});
    EXPECT_TRUE(changes.ok());
    return rows_of(*changes);
  };
  EXPECT_EQ(of("time", false), (std::map<std::string, Row>{{"main", {10, 10}}, {"f<int>", {50, 50}}}));
  EXPECT_EQ(of("shortest", false), (std::map<std::string, Row>{{"main", {7, 7}}, {"f<int>", {5, 5}}}));
  EXPECT_EQ(of("shortest", true), (std::map<std::string, Row>{{"main", {5, 5}}, {"f<int>", {5, 5}}}));
  const double ratio = 50.0 / 7;  // (8 + 12 + 12 + 18) / (1 + 2 + 1 + 3)
  EXPECT_EQ(of("per", false), (std::map<std::string, Row>{{"main", {5, 5}}, {"f<int>", {ratio, ratio}}}));
}

// The same time, once in seconds and once in milliseconds: nothing has changed.
TEST(Diff, TimesInOtherUnitsAreConverted) {
  const auto timed = [](const char* unit, ValueKind kind, double scale) {
    test::MemoryProfile made({"0"});
    const MetricId time = made.metric("time", kind);
    made.defs().metrics[time.index()].unit = unit;
    made.context("main");
    if (kind == ValueKind::u64) {
      made.values<std::uint64_t>(time, "main", {static_cast<std::uint64_t>(3 * scale)});
    } else {
      made.values<double>(time, "main", {3 * scale});
    }
    return made.build();
  };
  const std::vector before{timed("sec", ValueKind::f64, 1)};
  for (const ValueKind kind : {ValueKind::f64, ValueKind::u64}) {
    const auto changes = diff(before, std::vector{timed("milliseconds", kind, 1000)}, "time", {});
    ASSERT_TRUE(changes.ok());
    EXPECT_EQ(rows_of(*changes), (std::map<std::string, Row>{{"main", {3, 3}}}));
    EXPECT_EQ(changes->total.after, std::vector{3.0});
    EXPECT_EQ(changes->unit, "sec");
  }
  // Equal numbers are no equal times.
  for (const std::vector<std::string>& names : {std::vector<std::string>(), {"time"}}) {
    const auto same = inspect::compare(*before[0], *timed("seconds", ValueKind::f64, 1), 0, names);
    ASSERT_TRUE(same.ok());
    EXPECT_TRUE(same->equal());
    const auto other = inspect::compare(*before[0], *timed("ms", ValueKind::f64, 1), 0, names);
    ASSERT_TRUE(other.ok());
    EXPECT_FALSE(other->equal());
  }
}

}  // namespace
}  // namespace fathom
