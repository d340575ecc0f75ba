#include "profile/algebra/algebra.hpp"

#include <gtest/gtest.h>

#include <array>

#include "memory_profile.hpp"
#include "profile/algebra/reshape.hpp"
#include "profile/compute.hpp"
#include "profile/cubepl/cubepl.hpp"
#include "profile/diff/diff.hpp"
#include "profile/expression/derive.hpp"

namespace fathom {
namespace {

ProfilePtr first() {
  test::MemoryProfile make;
  const MetricId time = make.metric("time");
  const MetricId visits = make.metric("visits", ValueKind::u64);
  const MetricId least = make.metric("least", ValueKind::min_f64);
  make.context("main");
  make.context("main/foo");
  make.context("main/foo/bar");
  make.values<double>(time, "main", {1, 2});
  make.values<double>(time, "main/foo", {3, 4});
  make.values<double>(time, "main/foo/bar", {5, 6});
  make.values<std::uint64_t>(visits, "main/foo", {1, 7});
  make.values<double>(least, "main", {3, 4});
  return make.build();
}

ProfilePtr second() {
  test::MemoryProfile make;
  const MetricId visits = make.metric("visits", ValueKind::u64);
  const MetricId time = make.metric("time");
  const MetricId least = make.metric("least", ValueKind::min_f64);
  make.metric("extra");
  make.context("main");
  make.context("main/baz");
  make.context("main/foo");
  make.values<double>(time, "main", {10, 20});
  make.values<double>(time, "main/baz", {30, 40});
  make.values<std::uint64_t>(visits, "main/foo", {2, 2});
  make.values<double>(least, "main", {5, 2});
  return make.build();
}

double value(const Result<ProfilePtr>& profile, const std::string& metric, const std::string& path,
             std::uint32_t location, Flavour::Kind flavour = Flavour::Kind::exclusive) {
  if (!profile.ok()) return -999;
  const Definitions& defs = (*profile)->defs();
  for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
    if (defs.path(ContextId(i)) != path) continue;
    const auto cells =
        compute(**profile, defs.find_metric(metric), {{flavour, {}}, {ContextId(i)}, {location, location + 1}, false});
    return cells.ok() ? cells->scalar(0, 0) : -998;
  }
  return -997;
}

TEST(Algebra, ExclusiveExtremesSurviveStoringAsInclusive) {
  test::MemoryProfile make;
  const MetricId time = make.metric("time");
  const MetricId least = make.metric("least", ValueKind::min_f64);
  const MetricId most = make.metric("most", ValueKind::max_f64);
  make.context("main");
  make.context("main/foo");
  for (const MetricId id : {time, least, most}) {
    make.values<double>(id, "main", {3, 4});
    make.values<double>(id, "main/foo", {2, 5});
  }
  const auto stored = algebra::store_as(make.build(), Scope::inclusive);
  ASSERT_TRUE(stored.ok()) << stored.error().text();
  EXPECT_EQ((*stored)->defs().metric(time).stored_as(Scope::inclusive), 0);
  for (const char* name : {"time", "least", "most"}) {
    EXPECT_EQ(value(stored, name, "main", 0), 3) << name;
    EXPECT_EQ(value(stored, name, "main", 1), 4) << name;
    EXPECT_EQ(value(stored, name, "main->foo", 0), 2) << name;
  }
  EXPECT_EQ(value(stored, "least", "main", 0, Flavour::Kind::inclusive), 2);
  EXPECT_EQ(value(stored, "most", "main", 1, Flavour::Kind::inclusive), 5);
}

TEST(Algebra, DiffMatchesTreesByNames) {
  const auto diff = algebra::diff(first(), second());
  ASSERT_TRUE(diff.ok()) << diff.error().text();
  EXPECT_EQ(value(diff, "time", "main", 0), -9);
  EXPECT_EQ(value(diff, "time", "main->baz", 1), -40);
  EXPECT_EQ(value(diff, "time", "main->foo->bar", 1), 6);
  EXPECT_EQ(value(diff, "visits", "main->foo", 0), -1);
  EXPECT_EQ(value(diff, "visits", "main->foo", 1), 5);
  EXPECT_EQ(value(diff, "least", "main", 0), -2);
  EXPECT_EQ((*diff)->defs().metric(MetricId(1)).type.kind, ValueKind::i64);
  for (std::size_t i = 0; i < (*diff)->defs().contexts.size(); ++i) {
    EXPECT_EQ((*diff)->defs().contexts[ContextId(i)].file_id, i);
  }
}

TEST(Algebra, MergeTakesTheLastAndMeanTheAverage) {
  const auto merged = algebra::merge({first(), second()});
  EXPECT_EQ(value(merged, "time", "main", 1), 20);
  EXPECT_EQ(value(merged, "time", "main->foo", 0), 0);  // the second covers it, with nothing
  EXPECT_EQ(value(merged, "time", "main->foo->bar", 0), 5);
  const auto mean = algebra::mean({first(), second()});
  EXPECT_EQ(value(mean, "time", "main", 0), 5.5);
  EXPECT_EQ(value(mean, "visits", "main->foo", 1), 4.5);
  EXPECT_EQ(value(mean, "least", "main", 0), 3);
  EXPECT_EQ(value(mean, "least", "main", 1), 2);
}

TEST(Algebra, TimesInOtherUnitsAreConverted) {
  const auto made = [](const char* unit, ValueKind kind) {
    test::MemoryProfile make({"0"});
    const MetricId time = make.metric("time", kind);
    make.defs().metrics[time.index()].unit = unit;
    make.context("main");
    if (kind == ValueKind::u64) {
      make.values<std::uint64_t>(time, "main", {3000});
    } else {
      make.values<double>(time, "main", {5});
    }
    return make.build();
  };
  const std::vector both = {made("s", ValueKind::f64), made("ms", ValueKind::u64)};
  EXPECT_EQ(value(algebra::merge(both), "time", "main", 0), 3);
  EXPECT_EQ(value(algebra::mean(both), "time", "main", 0), 4);
  EXPECT_EQ(value(algebra::diff(both[0], both[1]), "time", "main", 0), 2);
  EXPECT_EQ(value(algebra::diff(both[1], both[0]), "time", "main", 0), -2000);
}

// A name that stands for a number in one profile and for a pair of them in the other: the first decides.
TEST(Algebra, ValuesOfAnotherKindTakeNoPartAndAreTold) {
  const auto made = [](ValueKind kind) {
    test::MemoryProfile make({"0"});
    const MetricId odd = make.metric("odd", kind);
    make.context("main");
    make.values<double>(odd, "main", {3, 4});
    return make.build();
  };
  for (const auto& [a, b, kept] :
       {std::tuple(ValueKind::f64, ValueKind::complex, 3.0), {ValueKind::complex, ValueKind::f64, 5.0}}) {
    const ProfilePtr second = made(b);
    const auto merged = algebra::merge({made(a), second});
    EXPECT_EQ(value(merged, "odd", "main", 0), kept);
    const auto said = second->work->diagnostics.all();
    ASSERT_EQ(said.size(), 1u);
    EXPECT_EQ(said[0].id, "profile.other_type");
    EXPECT_EQ(said[0].severity, Severity::data_loss);
  }
}

std::vector<std::string> said_about(const ProfilePtr& profile) {
  std::vector<std::string> out;
  for (const Diagnostic& diagnostic : profile->work->diagnostics.all()) {
    if (diagnostic.severity != Severity::info) out.push_back(diagnostic.id);
  }
  return out;
}

TEST(Algebra, AnotherUnitIsTold) {
  const auto in = [](const std::string& unit) {
    test::MemoryProfile make;
    const MetricId time = make.metric("time");
    make.defs().metrics[0].unit = unit;
    make.context("main");
    make.values<double>(time, "main", {1, 2});
    return make.build();
  };
  for (const auto& [other, told] :
       {std::pair("occ", true), {"s", false}, {"", false}, {" Sec", false}, {"usec", false}}) {
    const ProfilePtr second = in(other);
    ASSERT_TRUE(algebra::mean({in("sec"), second}).ok());
    EXPECT_EQ(said_about(second).size(), told ? 1u : 0u) << other;
    const ProfilePtr after = in(other);
    ASSERT_TRUE(diff(std::vector{in("sec")}, std::vector{after}, "time", {}).ok());
    EXPECT_EQ(said_about(after).size(), told ? 1u : 0u) << other;
  }
}

TEST(Algebra, MeansOfWhatSomeDidNotMeasureAreTold) {
  const ProfilePtr without = first();
  const auto mean = algebra::mean({second(), without});
  EXPECT_EQ(said_about(without), std::vector<std::string>{"profile.metric_missing"});  // extra
  EXPECT_EQ(value(mean, "time", "main", 0), 5.5);
}

// What was counted cannot be less than nothing: 1 event less 3 were 4294967294.
TEST(Algebra, AtomicValuesHaveNoDifference) {
  test::MemoryProfile make({"0"});
  const MetricId events = make.metric("events", ValueKind::atomic);
  const MetricId time = make.metric("time");
  make.context("main");
  std::array<std::byte, 36> one{};
  one[0] = std::byte{1};
  make.values<std::array<std::byte, 36>>(events, "main", {one});
  make.values<double>(time, "main", {7});
  const ProfilePtr profile = make.build();
  const auto difference = algebra::diff(profile, first());
  ASSERT_TRUE(difference.ok());
  const Metric& left = (*difference)->defs().metric((*difference)->defs().find_metric("events"));
  EXPECT_TRUE(left.scopes.empty());
  EXPECT_EQ(value(difference, "time", "main", 0), 6);
  EXPECT_EQ(said_about(profile), std::vector<std::string>{"profile.no_difference"});
}

TEST(Algebra, StoredValuesOfWhatIsDerivedElsewhereAreTold) {
  const auto derived = with_derived(first(), "extra = time * 2");
  const auto other = with_derived(first(), "extra = time * 3");
  ASSERT_TRUE(derived.ok() && other.ok());
  const ProfilePtr stored = second();
  ASSERT_TRUE(algebra::merge({*derived, stored}).ok());
  EXPECT_EQ(said_about(stored), std::vector<std::string>{"profile.other_type"});
  ASSERT_TRUE(algebra::merge({*derived, *derived}).ok());
  EXPECT_EQ(said_about(*derived), std::vector<std::string>());
  ASSERT_TRUE(algebra::merge({*derived, *other}).ok());
  EXPECT_EQ(said_about(*other), std::vector<std::string>{"profile.other_expression"});
}

TEST(Algebra, ExpressionsThatNameOtherCallPathsAfterwardsAreTold) {
  const auto naming = [](const std::string& name, const ProfilePtr& in) {
    const std::vector<std::string> definition = {name + " = metric::call::time(1, e)"};
    auto out = cubepl::with_cubepl(in, definition);
    EXPECT_TRUE(out.ok());
    return *out;
  };
  const ProfilePtr a = naming("a", first());
  const ProfilePtr same = naming("b", first());
  ASSERT_TRUE(algebra::merge({a, same}).ok());
  EXPECT_EQ(said_about(same), std::vector<std::string>());
  const ProfilePtr other = naming("b", second());  // where 1 is baz
  ASSERT_TRUE(algebra::merge({a, other}).ok());
  EXPECT_EQ(said_about(other), std::vector<std::string>{"profile.other_callpath_ids"});
  EXPECT_EQ(said_about(a), std::vector<std::string>());
}

TEST(Algebra, JoinPutsLocationsSideBySide) {
  const auto joined = algebra::join_locations({first(), second()});
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ((*joined)->defs().system.location_count(), 4u);
  EXPECT_EQ(value(joined, "time", "main", 1), 2);
  EXPECT_EQ(value(joined, "time", "main", 2), 10);
  EXPECT_EQ(value(joined, "time", "main->foo->bar", 3), 0);
}

TEST(Algebra, PrunedValuesStayWithTheParent) {
  const auto pruned = algebra::cut(first(), {{}, {"foo"}});
  ASSERT_TRUE(pruned.ok());
  EXPECT_EQ((*pruned)->defs().contexts.size(), 1u);
  EXPECT_EQ(value(pruned, "time", "main", 0), 9);
  const auto rooted = algebra::cut(first(), {{"f*"}, {}});
  ASSERT_TRUE(rooted.ok());
  EXPECT_EQ(value(rooted, "time", "foo", 1, Flavour::Kind::inclusive), 10);
  const auto below = algebra::subtree(first(), ContextId(1));
  EXPECT_EQ(value(below, "time", "foo->bar", 1), 6);
}

TEST(Algebra, ValuesOfRootsThatVanishAreTold) {
  const ProfilePtr profile = first();
  const auto without = algebra::cut(profile, {.elide = {"main"}});
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(value(without, "time", "foo", 0, Flavour::Kind::inclusive), 8);
  EXPECT_EQ(said_about(profile), std::vector<std::string>{"profile.no_caller"});
  const ProfilePtr other = first();
  ASSERT_TRUE(algebra::cut(other, {.roots = {"foo"}, .prune = {"bar"}}).ok());
  EXPECT_EQ(said_about(other), std::vector<std::string>());
}

TEST(Algebra, CollapsedRecursionIsOneWithTheOutermostCall) {
  // main calls f; f calls h, itself, and g, which calls f again; each f calls h.
  test::MemoryProfile make({"0"});
  const MetricId own = make.metric("own");
  const MetricId whole = make.metric("whole", ValueKind::f64, Scope::inclusive);
  const std::vector<std::pair<std::string, std::pair<double, double>>> calls = {
      {"main", {1, 255}},       {"main/f", {2, 254}},    {"main/f/h", {4, 4}},      {"main/f/f", {8, 24}},
      {"main/f/f/h", {16, 16}}, {"main/f/g", {32, 224}}, {"main/f/g/f", {64, 192}}, {"main/f/g/f/h", {128, 128}}};
  for (const auto& [path, values] : calls) make.context(path);
  for (const auto& [path, values] : calls) {
    make.values<double>(own, path, {values.first});
    make.values<double>(whole, path, {values.second});
  }
  algebra::CutOptions options;
  options.collapse = {"f"};
  const auto collapsed = algebra::cut(make.build(), options);
  ASSERT_TRUE(collapsed.ok());
  EXPECT_EQ((*collapsed)->defs().contexts.size(), 4u);  // main, f, h, g
  for (const std::string metric : {"own", "whole"}) {
    EXPECT_EQ(value(collapsed, metric, "main->f", 0), 2 + 8 + 64) << metric;
    EXPECT_EQ(value(collapsed, metric, "main->f->h", 0), 4 + 16 + 128) << metric;
    EXPECT_EQ(value(collapsed, metric, "main->f->g", 0), 32) << metric;
    EXPECT_EQ(value(collapsed, metric, "main->f->g", 0, Flavour::Kind::inclusive), 32) << metric;
    EXPECT_EQ(value(collapsed, metric, "main->f", 0, Flavour::Kind::inclusive), 254) << metric;
    EXPECT_EQ(value(collapsed, metric, "main", 0, Flavour::Kind::inclusive), 255) << metric;
  }
}

TEST(Algebra, DerivedMetricsGoAlong) {
  const auto derived = with_derived(first(), "double_time = time * 2");
  ASSERT_TRUE(derived.ok());
  const auto diff = algebra::diff(*derived, second());
  EXPECT_EQ(value(diff, "double_time", "main", 0), -18);
}

TEST(Algebra, UnequalSystemsNeedAWord) {
  test::MemoryProfile make({"0"}, "rank 7");
  make.metric("time");
  make.context("main");
  const ProfilePtr other = make.build();
  const auto strict = algebra::diff(first(), other);
  ASSERT_FALSE(strict.ok());
  EXPECT_NE(strict.error().hint().find("collapse"), std::string::npos);
  const auto collapsed = algebra::diff(first(), other, {algebra::SystemMatch::collapse});
  ASSERT_TRUE(collapsed.ok());
  EXPECT_EQ((*collapsed)->defs().system.location_count(), 3u);
}

}  // namespace
}  // namespace fathom
