#include "profile/source_lines.hpp"

#include <gtest/gtest.h>

#include "profile/expression/derive.hpp"
#include "profile/memory_profile.hpp"

namespace fathom {
namespace {

// The smallest value of a file is no sum of those of its lines, and a ratio of sums no sum of ratios.
TEST(SourceLines, ExtremesAndRatiosDoNotAddUp) {
  test::MemoryProfile made({"0"});
  const MetricId least = made.metric("least", ValueKind::min_f64);
  const MetricId time = made.metric("time");
  const MetricId visits = made.metric("visits");
  made.context("main", "main.c");
  made.context("main/fib", "main.c");
  for (std::size_t i = 0; i < 2; ++i) made.defs().regions[i].begin_line = static_cast<std::int64_t>(i) + 1;
  made.values<double>(least, "main", {3});
  made.values<double>(least, "main/fib", {5});
  made.values<double>(time, "main", {10});
  made.values<double>(time, "main/fib", {2});
  made.values<double>(visits, "main", {1});
  made.values<double>(visits, "main/fib", {3});
  const auto profile = with_derived(made.build(), "each = time / visits");
  ASSERT_TRUE(profile.ok());
  const auto of_least = source_lines(**profile, {least, {}, {}});
  ASSERT_TRUE(of_least.ok());
  EXPECT_EQ((*of_least)[0].total, 3);
  EXPECT_EQ((*of_least)[0].inclusive, 3);
  EXPECT_EQ((*of_least)[0].lines.at(2).own, 5);
  const auto each = source_lines(**profile, {(*profile)->defs().find_metric("each"), {}, {}});
  ASSERT_TRUE(each.ok());
  EXPECT_EQ((*each)[0].total, 3);
  EXPECT_EQ((*each)[0].lines.at(1).own, 10);
  EXPECT_EQ((*each)[0].lines.at(1).inclusive, 3);
}

// main (main.c:1) calls fib (fib.c:5), which calls itself and log (main.c:9).
TEST(SourceLines, InclusiveValuesCountRecursionOnce) {
  test::MemoryProfile made;
  const MetricId time = made.metric("time");
  made.context("main", "main.c");
  made.context("main/fib", "fib.c");
  made.context("main/fib/fib");
  made.context("main/fib/fib/log", "main.c");
  const std::int64_t lines[] = {1, 5, 9};
  for (std::size_t i = 0; i < 3; ++i) made.defs().regions[i].begin_line = lines[i];
  made.values<double>(time, "main", {1, 0});
  made.values<double>(time, "main/fib", {2, 0});
  made.values<double>(time, "main/fib/fib", {4, 0});
  made.values<double>(time, "main/fib/fib/log", {8, 16});
  const ProfilePtr profile = made.build();
  const auto files = source_lines(*profile, {time, {}, {}});
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 2U);
  const SourceLines& main = (*files)[0];
  EXPECT_EQ(main.file, "main.c");
  EXPECT_EQ(main.total, 25);
  EXPECT_EQ(main.inclusive, 31);  // log lies below main
  EXPECT_EQ(main.lines.at(1).own, 1);
  EXPECT_EQ(main.lines.at(1).inclusive, 31);
  EXPECT_EQ(main.lines.at(9).own, 24);
  EXPECT_EQ(main.lines.at(9).inclusive, 24);
  const SourceLines& fib = (*files)[1];
  EXPECT_EQ(fib.total, 6);
  EXPECT_EQ(fib.inclusive, 30);
  EXPECT_EQ(fib.lines.at(5).own, 6);
  EXPECT_EQ(fib.lines.at(5).inclusive, 30);  // 36 if the inner call counted again
}

}  // namespace
}  // namespace fathom
