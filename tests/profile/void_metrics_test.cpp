#include "profile/export/void_metrics.hpp"

#include <gtest/gtest.h>

#include "memory_profile.hpp"
#include "profile/algebra/algebra.hpp"
#include "profile/algebra/reshape.hpp"
#include "profile/compute.hpp"

namespace fathom {
namespace {

// time; void ones with three values that are not zero, with zeros only and with nothing.
ProfilePtr with_void_metrics(bool off = true) {
  test::MemoryProfile make;
  const MetricId time = make.metric("time");
  const MetricId stored = make.metric("stored");
  const MetricId zeros = make.metric("zeros");
  make.metric("empty");
  for (std::size_t i = 1; i < 4; ++i) make.defs().metrics[i].switched_off = off;
  make.context("main");
  make.context("main/foo");
  make.values<double>(time, "main", {1, 2});
  make.values<double>(stored, "main", {3, 0});
  make.values<double>(stored, "main/foo", {4, 5});
  make.values<double>(zeros, "main", {0, 0});
  return make.build();
}

std::vector<MetricId> all_metrics() { return {MetricId(0), MetricId(1), MetricId(2), MetricId(3)}; }

double stored_at_main(const ProfilePtr& profile) {
  const Selection raw{.flavour = {}, .contexts = {}, .locations = {0, 1}, .aggregate = false, .void_values = true};
  return compute(*profile, profile->defs().find_metric("stored"), raw)->scalar(0, 0);
}

TEST(VoidMetrics, WhatTheyStoreIsLeftOutAndCounted) {
  const ProfilePtr profile = with_void_metrics();
  const auto others = without_void_metrics(*profile, all_metrics(), "the format");
  ASSERT_TRUE(others.ok());
  EXPECT_EQ(*others, std::vector<MetricId>{MetricId(0)});
  const auto said = profile->work->diagnostics.all();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].id, "convert.void_metric_left_out");
  EXPECT_EQ(said[0].severity, Severity::data_loss);
  EXPECT_EQ(said[0].count, 1u);
  EXPECT_NE(said[0].text.find("(1 left out: stored; 3 values)"), std::string::npos) << said[0].text;
}

TEST(VoidMetrics, WithoutValuesNothingIsLost) {
  const ProfilePtr profile = with_void_metrics();
  const auto others = without_void_metrics(*profile, {MetricId(0), MetricId(2), MetricId(3)}, "the format");
  ASSERT_TRUE(others.ok());
  EXPECT_EQ(others->size(), 1u);
  EXPECT_EQ(profile->work->diagnostics.size(), 0u);
}

TEST(VoidMetrics, StrictRefuses) {
  Profile profile = *with_void_metrics();
  profile.work = make_work(true);
  EXPECT_FALSE(without_void_metrics(profile, all_metrics(), "the format").ok());
}

// Beside the same metric that is not void they count as zero; where all are void their values go along.
TEST(VoidMetrics, AlgebraKeepsWhatTheyStore) {
  const auto cleaned = algebra::clean(with_void_metrics());
  ASSERT_TRUE(cleaned.ok());
  EXPECT_TRUE((*cleaned)->defs().metric(MetricId(1)).switched_off);
  EXPECT_EQ(stored_at_main(*cleaned), 3);
  const auto mean = algebra::mean({with_void_metrics(), with_void_metrics()});
  ASSERT_TRUE(mean.ok());
  EXPECT_EQ(stored_at_main(*mean), 3);
  const auto mixed = algebra::mean({with_void_metrics(), with_void_metrics(false)});
  ASSERT_TRUE(mixed.ok());
  EXPECT_FALSE((*mixed)->defs().metric(MetricId(1)).switched_off);
  EXPECT_EQ(stored_at_main(*mixed), 1.5);
}

}  // namespace
}  // namespace fathom
