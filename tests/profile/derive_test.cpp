#include "profile/expression/derive.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "memory_profile.hpp"
#include "profile/compute.hpp"

namespace fathom {
namespace {

ProfilePtr sample() {
  test::MemoryProfile make;
  const MetricId time = make.metric("time");
  const MetricId visits = make.metric("visits", ValueKind::u64);
  make.metric("odd name (sec)");
  make.context("main");
  make.context("main/foo");
  make.context("main/bar");
  make.values<double>(time, "main", {1, 2});
  make.values<double>(time, "main/foo", {4, 0});
  make.values<double>(time, "main/bar", {0, 5});
  make.values<std::uint64_t>(visits, "main", {1, 1});
  make.values<std::uint64_t>(visits, "main/foo", {2, 0});
  make.values<std::uint64_t>(visits, "main/bar", {0, 10});
  return make.build();
}

Result<Cells> values(const ProfilePtr& profile, Flavour::Kind flavour, bool aggregate) {
  const MetricId id(profile->defs().metrics.size() - 1);
  return compute(*profile, id, {{flavour, {}}, {}, all_locations(profile->defs()), aggregate});
}

double constant(const std::string& text) {
  const auto profile = with_derived(sample(), {"x", text, Derivation::post, "", ""});
  if (!profile.ok()) return -12345;
  const auto cells = values(*profile, Flavour::Kind::exclusive, true);
  return cells.ok() ? cells->scalar(0, 0) : -12345;
}

TEST(Derive, ArithmeticHasTheUsualPrecedence) {
  EXPECT_EQ(constant("1+2*3"), 7);
  EXPECT_EQ(constant("2^3^2"), 512);
  EXPECT_EQ(constant("-2^2"), -4);
  EXPECT_EQ(constant("2^-1"), 0.5);
  EXPECT_EQ(constant("2*-3"), -6);
  EXPECT_EQ(constant("8/4/2"), 1);
  EXPECT_EQ(constant("|3-5| + 1e1"), 12);
  EXPECT_EQ(constant("min(3, 1, 2) + max(1, 2)"), 3);
  EXPECT_EQ(constant("3 > 2 and not 1 > 2"), 1);
  EXPECT_EQ(constant("choose(1 < 2, 7, 8)"), 7);
  EXPECT_EQ(constant("0/0"), 0);
  EXPECT_TRUE(std::isnan(constant("1/0")));
  EXPECT_EQ(constant("mean(1, 2, 6)"), 3);
}

TEST(Derive, RatiosAreTakenOfSums) {
  const auto profile = with_derived(sample(), "per_visit = time / visits");
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  const auto inclusive = values(*profile, Flavour::Kind::inclusive, true);
  ASSERT_TRUE(inclusive.ok()) << inclusive.error().text();
  EXPECT_DOUBLE_EQ(inclusive->scalar(0, 0), 12.0 / 14);
  EXPECT_DOUBLE_EQ(inclusive->scalar(2, 0), 0.5);
  const auto exclusive = values(*profile, Flavour::Kind::exclusive, false);
  ASSERT_TRUE(exclusive.ok());
  EXPECT_DOUBLE_EQ(exclusive->scalar(0, 1), 2);
  EXPECT_DOUBLE_EQ(exclusive->scalar(1, 1), 0);  // 0/0
}

TEST(Derive, PreDerivedValuesAddUp) {
  const auto profile = with_derived(sample(), {"square", "time ^ 2", Derivation::pre_exclusive, "", ""});
  ASSERT_TRUE(profile.ok());
  const auto total = values(*profile, Flavour::Kind::inclusive, true);
  ASSERT_TRUE(total.ok()) << total.error().text();
  EXPECT_DOUBLE_EQ(total->scalar(0, 0), 1 + 4 + 16 + 25);
  const auto inclusive = with_derived(sample(), {"square", "time ^ 2", Derivation::pre_inclusive, "", ""});
  const auto exclusive = values(*inclusive, Flavour::Kind::exclusive, false);
  ASSERT_TRUE(exclusive.ok());
  EXPECT_DOUBLE_EQ(exclusive->scalar(0, 0), 25 - 16);  // main: 5^2 minus foo's 4^2
}

TEST(Derive, FlavoursAndTheWholeSystemCanBeNamed) {
  const auto profile = with_derived(sample(), "share = inclusive(time) / total(time)");
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  const auto cells = values(*profile, Flavour::Kind::exclusive, false);
  ASSERT_TRUE(cells.ok());
  EXPECT_DOUBLE_EQ(cells->scalar(0, 0), 5.0 / 3);  // inclusive 5 over exclusive 1 + 2
}

TEST(Derive, DerivedMetricsMayUseDerivedOnes) {
  auto profile = with_derived(sample(), "a = time * 2");
  profile = with_derived(*profile, "b = a + a");
  ASSERT_TRUE(profile.ok());
  const auto cells = values(*profile, Flavour::Kind::inclusive, true);
  ASSERT_TRUE(cells.ok());
  EXPECT_DOUBLE_EQ(cells->scalar(0, 0), 48);
}

TEST(Derive, ErrorsPointAtTheCharacter) {
  const auto text = [](const char* definition) {
    const auto result = with_derived(sample(), definition);
    return result.ok() ? std::string("accepted") : result.error().text();
  };
  EXPECT_NE(text("x = time / visit").find("character 8"), std::string::npos);
  EXPECT_NE(text("x = time / visit").find("did you mean 'visits'"), std::string::npos);
  EXPECT_NE(text("x = (time").find("expected ')'"), std::string::npos);
  EXPECT_NE(text("x = time time").find("expected an operator"), std::string::npos);
  EXPECT_NE(text("x = foo(1)").find("no function 'foo'"), std::string::npos);
  EXPECT_NE(text("time = 1").find("already"), std::string::npos);
  EXPECT_NE(text("just words").find("name = expression"), std::string::npos);
  EXPECT_NE(text(("x = " + std::string(100000, '(')).c_str()).find("nested too deeply"), std::string::npos);
  EXPECT_EQ(text("x = 'odd name (sec)' + time"), "accepted");
}

// time: main 1, 2; foo 4, 0; bar 0, 5.
TEST(Derive, StatisticsOverLocations) {
  const auto over = [](const std::string& text, Flavour::Kind flavour, std::size_t context, bool aggregate = true,
                       std::size_t column = 0) {
    const auto profile = with_derived(sample(), {"x", text, Derivation::post, "", ""});
    if (!profile.ok()) return -12345.0;
    const auto cells = values(*profile, flavour, aggregate);
    return cells.ok() ? cells->scalar(context, column) : -12345.0;
  };
  const auto exclusive = Flavour::Kind::exclusive;
  const auto inclusive = Flavour::Kind::inclusive;
  EXPECT_EQ(over("time / count(time)", inclusive, 0), 6);  // 5 and 7
  EXPECT_EQ(over("highest(time) - lowest(time)", inclusive, 0), 2);
  EXPECT_EQ(over("squares(time)", inclusive, 0), 74);
  EXPECT_EQ(over("count(time)", exclusive, 1), 1);
  EXPECT_EQ(over("lowest(time)", exclusive, 1), 4);  // zeros have no part in it
  EXPECT_EQ(over("highest(visits)", exclusive, 2), 10);
  EXPECT_EQ(over("count(time)", exclusive, 1, false, 1), 0);
  EXPECT_EQ(over("highest(time)", exclusive, 0, false, 1), 2);
  EXPECT_EQ(over("highest(1)", exclusive, 0), -12345);
}

// Work that is counted, not timed: ten thousand metrics are added to one copy of the definitions, and the list of
// metrics moves as often as a growing array does.
TEST(Derive, ManyMetricsAreAddedToOneCopy) {
  constexpr int kMany = 10'000;
  ExtendedProfile extended(*sample());
  const Definitions* const copy = &extended.defs();
  const std::size_t before = copy->metrics.size();
  std::set<const Metric*> places;
  for (int i = 0; i < kMany; ++i) {
    const std::string used = i % 2 == 0 ? "time" : "m" + std::to_string(i - 1);
    const auto added = extended.derive({"m" + std::to_string(i), used + " * 2", Derivation::post, "", ""});
    ASSERT_TRUE(added.ok()) << added.error().text();
    ASSERT_EQ(&extended.defs(), copy);
    places.insert(&*copy->metrics.begin());
  }
  EXPECT_LE(places.size(), 16U) << "doubling from three to ten thousand takes twelve steps";
  const ProfilePtr profile = std::move(extended).finish();
  EXPECT_EQ(&profile->defs(), copy) << "not copied at the end either";
  EXPECT_EQ(profile->defs().metrics.size(), before + kMany);
  EXPECT_EQ(profile->programs.size(), std::size_t{kMany});
  std::set<std::uint64_t> ids;
  for (const Metric& metric : profile->defs().metrics) ids.insert(metric.file_id);
  EXPECT_EQ(ids.size(), before + kMany) << "ids of a file are all different";
}

TEST(Derive, AListOfDefinitionsIsThatOfOneAfterTheOther) {
  const std::vector<std::string> definitions = {"a = time * 2", "b = a + visits", "c = a / b"};
  ProfilePtr one = sample();
  for (const std::string& definition : definitions) one = *with_derived(one, std::string_view(definition));
  const auto all = with_derived(sample(), definitions);
  ASSERT_TRUE(all.ok());
  ASSERT_EQ((*all)->defs().metrics.size(), one->defs().metrics.size());
  for (std::size_t i = 0; i < one->defs().metrics.size(); ++i) {
    EXPECT_EQ((*all)->defs().metrics[i].name, one->defs().metrics[i].name);
    EXPECT_EQ((*all)->defs().metrics[i].file_id, one->defs().metrics[i].file_id);
  }
  const std::vector<std::string> wrong = {"a = time * 2", "a = time"};
  EXPECT_FALSE(with_derived(sample(), wrong).ok());
}

}  // namespace
}  // namespace fathom
