// What is more than noise between repetitions of two versions.
#include "findings/pair_report.hpp"

#include <gtest/gtest.h>

#include <random>

#include "profile/memory_profile.hpp"

namespace fathom {
namespace {

constexpr int kRegions = 12;

// A run whose regions take 10 s each, but for noise and what is changed.
ProfilePtr run(std::mt19937& random, double noise, int slower = -1, double factor = 1, double calls = 100) {
  test::MemoryProfile make({"0"});
  const MetricId time = make.metric("time");
  const MetricId visits = make.metric("visits");
  std::normal_distribution<double> normal(0, 1);
  for (int i = 0; i < kRegions; ++i) {
    const std::string name = "f" + std::to_string(i);
    make.context(name);
    make.values<double>(time, name, {10 * (1 + noise * normal(random)) * (i == slower ? factor : 1)});
    make.values<double>(visits, name, {i == slower ? calls : 100.0});
  }
  return make.build();
}

std::vector<ProfilePtr> runs(std::mt19937& random, std::size_t count, double noise, int slower = -1,
                             double factor = 1) {
  std::vector<ProfilePtr> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(run(random, noise, slower, factor));
  return out;
}

// The noise is larger than the 5 % that count for single runs: with repetitions it is known. A few repetitions may
// agree by chance, which alone would give ten wrong findings in a hundred regions; the noise of the other regions
// prevents it.
TEST(Pair, NoiseIsNoRegression) {
  std::mt19937 random(1);
  std::size_t wrong = 0;
  std::size_t looked_at = 0;
  for (const std::size_t count : {2U, 3U, 5U}) {
    for (int i = 0; i < 40; ++i) {
      const auto report = pair_report(runs(random, count, 0.08), runs(random, count, 0.08));
      ASSERT_TRUE(report.ok()) << report.error().text();
      wrong += report->findings.size();
      looked_at += kRegions;
    }
  }
  EXPECT_LT(static_cast<double>(wrong), 0.01 * static_cast<double>(looked_at));
  const auto single = pair_report(runs(random, 1, 0.08), runs(random, 1, 0.08));
  ASSERT_TRUE(single.ok());
  EXPECT_GT(single->findings.size(), 1U);
}

TEST(Pair, WhatIsSlowerBeyondTheNoiseIsFound) {
  std::mt19937 random(2);
  int found = 0;
  constexpr int kTries = 40;
  for (int i = 0; i < kTries; ++i) {
    // 15 % more with 2 % noise: seven times the deviation of a mean of three.
    const auto report = pair_report(runs(random, 3, 0.02), runs(random, 3, 0.02, 4, 1.15));
    ASSERT_TRUE(report.ok());
    for (const Finding& finding : report->findings) {
      if (finding.kind != "regression" || finding.where.region != "f4") continue;
      ++found;
      EXPECT_NEAR(finding.lost_s, 1.5, 1);
      EXPECT_NE(finding.text.find("each call takes"), std::string::npos) << finding.text;
      EXPECT_NE(finding.text.find("uncertainty"), std::string::npos) << finding.text;
    }
  }
  EXPECT_GE(found, kTries * 8 / 10);
}

TEST(Pair, SingleRunsGoByShares) {
  std::mt19937 random(3);
  const auto slower = pair_report({run(random, 0)}, {run(random, 0, 2, 1.5, 150)});
  ASSERT_TRUE(slower.ok());
  ASSERT_EQ(slower->findings.size(), 1U);
  EXPECT_EQ(slower->findings[0].kind, "regression");
  EXPECT_NEAR(slower->findings[0].severity, 5.0 / 120, 1e-9);
  EXPECT_EQ(slower->findings[0].text, "f2 took 10 and takes 15 now, because it is called 1.5 times as often.");
  const auto faster = pair_report({run(random, 0, 2, 1.5)}, {run(random, 0)});
  ASSERT_TRUE(faster.ok());
  ASSERT_EQ(faster->findings.size(), 1U);
  EXPECT_EQ(faster->findings[0].kind, "improvement");
  EXPECT_EQ(faster->findings[0].level, FindingLevel::note);
}

TEST(Pair, TimesInOtherUnitsAreConverted) {
  const auto timed = [](const char* unit, double value) {
    test::MemoryProfile make({"0"});
    const MetricId time = make.metric("time");
    make.defs().metrics[time.index()].unit = unit;
    make.context("f");
    make.values<double>(time, "f", {value});
    return make.build();
  };
  const auto same = pair_report({timed("s", 3)}, {timed("ms", 3000)});
  ASSERT_TRUE(same.ok());
  EXPECT_TRUE(same->findings.empty());
  const auto slower = pair_report({timed("s", 3)}, {timed("ms", 6000)});
  ASSERT_TRUE(slower.ok());
  ASSERT_EQ(slower->findings.size(), 1U);
  EXPECT_EQ(slower->findings[0].severity, 1);
}

TEST(Pair, ARunWithoutTheMetricIsNamed) {
  std::mt19937 random(4);
  test::MemoryProfile other({"0"});
  other.metric("bytes");
  other.context("f0");
  const auto report = pair_report({run(random, 0)}, {other.build()});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().text().find("has no metric 'time'"), std::string::npos);
}

}  // namespace
}  // namespace fathom
