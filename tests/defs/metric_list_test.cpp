#include "defs/metric_list.hpp"

#include <gtest/gtest.h>

#include "defs/definitions.hpp"

namespace fathom {
namespace {

Metric named(std::string name) {
  Metric metric;
  metric.name = std::move(name);
  return metric;
}

TEST(MetricList, FindsTheFirstOfAName) {
  MetricList list;
  EXPECT_FALSE(list.find("time").valid());
  list.push_back(named("time"));
  list.push_back(named("visits"));
  list.push_back(named("time"));
  EXPECT_EQ(list.find("time"), MetricId(0));
  EXPECT_EQ(list.find("visits"), MetricId(1));
  EXPECT_FALSE(list.find("tim").valid());
  EXPECT_FALSE(list.find("").valid());
}

TEST(MetricList, StaysRightWhileItGrows) {
  MetricList list;
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_FALSE(list.find(std::to_string(i)).valid());
    list.push_back(named(std::to_string(i)));
    EXPECT_EQ(list.find(std::to_string(i)), MetricId(i));
  }
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(list.find(std::to_string(i)), MetricId(i));
}

TEST(MetricList, CopiesAreTheirOwn) {
  Definitions defs;
  defs.metrics = {named("a"), named("b")};
  Definitions copy = defs;
  copy.metrics.push_back(named("c"));
  EXPECT_EQ(copy.find_metric("c"), MetricId(2));
  EXPECT_FALSE(defs.find_metric("c").valid());
  copy.metrics.clear();
  EXPECT_FALSE(copy.find_metric("a").valid());
  copy.metrics.push_back(named("b"));
  EXPECT_EQ(copy.find_metric("b"), MetricId(0));
  EXPECT_EQ(defs.find_metric("b"), MetricId(1));
  const Definitions moved = std::move(defs);
  EXPECT_EQ(moved.find_metric("b"), MetricId(1));
}

}  // namespace
}  // namespace fathom
