#include "profile/views.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "memory_profile.hpp"
#include "profile/expression/derive.hpp"
#include "profile/statistics.hpp"

namespace fathom {
namespace {

// main calls foo, foo calls itself and bar, main calls bar.
ProfilePtr sample() {
  test::MemoryProfile make;
  const MetricId time = make.metric("time");
  const MetricId visits = make.metric("visits", ValueKind::u64);
  make.context("main", "a.c");
  make.context("main/foo", "b.c");
  make.context("main/foo/foo");
  make.context("main/foo/bar", "b.c");
  make.context("main/bar");
  make.values<double>(time, "main", {1, 1});
  make.values<double>(time, "main/foo", {2, 0});
  make.values<double>(time, "main/foo/foo", {4, 0});
  make.values<double>(time, "main/foo/bar", {8, 2});
  make.values<double>(time, "main/bar", {16, 0});
  make.values<std::uint64_t>(visits, "main/foo", {3, 1});
  return make.build();
}

std::size_t row_of(const FlatProfile& flat, const std::string& name) {
  for (std::size_t i = 0; i < flat.rows.size(); ++i) {
    if (flat.rows[i].name == name) return i;
  }
  ADD_FAILURE() << "no row " << name;
  return 0;
}

TEST(Views, FlatProfileByRegionCountsRecursionOnce) {
  const auto flat = flat_profile(*sample(), {MetricId(0), {}, {}}, GroupBy::region);
  ASSERT_TRUE(flat.ok());
  ASSERT_EQ(flat->rows.size(), 3u);
  const std::size_t foo = row_of(*flat, "foo");
  EXPECT_EQ(flat->exclusive.scalar(foo, 0), 6);
  EXPECT_EQ(flat->inclusive.scalar(foo, 0), 16);
  EXPECT_EQ(flat->inclusive_sum.scalar(foo, 0), 20);
  EXPECT_EQ(flat->rows[foo].contexts, 2u);
  const std::size_t bar = row_of(*flat, "bar");
  EXPECT_EQ(flat->exclusive.scalar(bar, 0), 26);
  EXPECT_EQ(flat->ranking(false).front(), bar);
  EXPECT_EQ(flat->ranking(true).front(), row_of(*flat, "main"));
}

// A chain of calls from the callees up has as many nodes as callers, each context again: the budget counts them.
TEST(Views, ManyCallersKeepToTheBudget) {
  test::MemoryProfile make;
  const MetricId time = make.metric("time");
  std::string path = "f0";
  make.context(path);
  for (int i = 1; i < 2000; ++i) make.context(path += fmt::format("/f{}", i));
  make.values<double>(time, path, {1, 1});
  const ProfilePtr profile = make.build();
  ASSERT_TRUE(bottom_up(*profile, {time, {}, {}}).ok());
  const_cast<Profile&>(*profile).work = make_work(false, std::uint64_t{8} << 20);
  const auto refused = bottom_up(*profile, {time, {}, {}});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().what().find("from the callees up"), std::string::npos) << refused.error().text();
  EXPECT_TRUE(bottom_up(*profile, {time, {}, {}}, 2).ok());
}

TEST(Views, FlatProfileByFileLocationAndContext) {
  const ProfilePtr profile = sample();
  const auto files = flat_profile(*profile, {MetricId(0), {}, {}}, GroupBy::file);
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(files->exclusive.scalar(row_of(*files, "b.c"), 0), 32);
  const auto locations = flat_profile(*profile, {MetricId(0), {}, {}}, GroupBy::location);
  ASSERT_TRUE(locations.ok());
  ASSERT_EQ(locations->rows.size(), 2u);
  EXPECT_EQ(locations->inclusive.scalar(0, 0), 31);
  EXPECT_EQ(locations->exclusive.scalar(1, 0), 3);
  const auto contexts = flat_profile(*profile, {MetricId(0), {LocationId(0U)}, {}}, GroupBy::context);
  ASSERT_TRUE(contexts.ok());
  EXPECT_EQ(contexts->exclusive.scalar(row_of(*contexts, "main->foo->bar"), 0), 8);
}

// Whole paths of a recursion would be quadratic: the middle is left out, as in tables.
TEST(Views, PathsOfDeepContextsLeaveOutTheirMiddle) {
  test::MemoryProfile make;
  const MetricId time = make.metric("time");
  std::string path = "f";
  for (int depth = 0; depth < 400; ++depth) {
    make.context(path);
    make.values<double>(time, path, {1, 1});
    path += "/f";
  }
  const auto flat = flat_profile(*make.build(), {time, {}, {}}, GroupBy::context);
  ASSERT_TRUE(flat.ok());
  ASSERT_EQ(flat->rows.size(), 400U);
  EXPECT_NE(flat->rows.back().name.find("levels)"), std::string::npos);
  EXPECT_LT(flat->rows.back().name.size(), 1000U);
}

TEST(Views, FiltersKeepRegionsByPattern) {
  const ProfilePtr profile = sample();
  const auto flat = flat_profile(*profile, {MetricId(0), {}, region_filter(profile->defs(), {"*o*", "bar"}, {"main"})},
                                 GroupBy::region);
  ASSERT_TRUE(flat.ok());
  EXPECT_EQ(flat->rows.size(), 2u);
  const auto tree = top_down(*profile, {MetricId(0), {}, region_filter(profile->defs(), {"foo"})});
  ASSERT_TRUE(tree.ok());
  ASSERT_EQ(tree->nodes.size(), 3u);  // main, foo, foo
  EXPECT_EQ(tree->inclusive.scalar(1, 0), 16);
  EXPECT_EQ(tree->nodes[2].parent, 1u);
}

TEST(Views, BottomUpSplitsARegionByItsCallers) {
  const auto view = bottom_up(*sample(), {MetricId(0), {}, {}});
  ASSERT_TRUE(view.ok());
  double roots = 0;
  for (const std::uint32_t root : view->roots()) roots += view->exclusive.scalar(root, 0);
  EXPECT_EQ(roots, 34);
  for (const std::uint32_t root : view->roots()) {
    if (view->nodes[root].region != RegionId(2)) continue;  // bar
    const auto callers = view->children(root);
    ASSERT_EQ(callers.size(), 2u);
    EXPECT_EQ(view->exclusive.scalar(callers[0], 0), 10);  // from foo
    EXPECT_EQ(view->exclusive.scalar(callers[1], 0), 16);  // from main
  }
}

TEST(Views, HotPathFollowsTheLargestChild) {
  const auto view = top_down(*sample(), {MetricId(0), {}, {}});
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(hot_path(*view, 0.4), (std::vector<std::uint32_t>{0, 1, 3}));
  EXPECT_EQ(hot_path(*view, 0.5), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(metric_total(*sample(), MetricId(0), {LocationId(0U), LocationId(1U)})->scalar(), 34);
}

TEST(Views, RatiosOfGroupsAreRatiosOfSums) {
  const auto profile = with_derived(sample(), "per = time / visits");
  ASSERT_TRUE(profile.ok());
  const auto flat = flat_profile(**profile, {MetricId(2), {}, {}}, GroupBy::region);
  ASSERT_TRUE(flat.ok()) << flat.error().text();
  EXPECT_DOUBLE_EQ(flat->exclusive.scalar(row_of(*flat, "foo"), 0), 6.0 / 4);
}

TEST(Statistics, OfAPopulation) {
  const double values[] = {4, 1, 3, 2};
  const Statistics s = statistics_of(values);
  EXPECT_EQ(s.count, 4u);
  EXPECT_EQ(s.minimum, 1);
  EXPECT_EQ(s.at_minimum, 1u);
  EXPECT_EQ(s.maximum, 4);
  EXPECT_EQ(s.median, 2.5);
  EXPECT_EQ(s.mean, 2.5);
  EXPECT_DOUBLE_EQ(s.deviation * s.deviation, 1.25);
  EXPECT_DOUBLE_EQ(s.variance, 5.0 / 3);
  EXPECT_DOUBLE_EQ(s.imbalance, 1.5 / 4);
  EXPECT_EQ(statistics_of({}).count, 0u);
}

TEST(Statistics, AValueThatIsNoNumberLeavesNoSum) {
  test::MemoryProfile make({"0", "1"});
  const MetricId time = make.metric("time");
  make.context("main");
  make.values<double>(time, "main", {3, std::numeric_limits<double>::quiet_NaN()});
  const auto rows = location_statistics(*make.build(), time, {}, {}, {0, 2});
  ASSERT_TRUE(rows.ok());
  EXPECT_TRUE(std::isnan(rows->at(0).sum) && std::isnan(rows->at(0).mean) && std::isnan(rows->at(0).imbalance));
  EXPECT_EQ(rows->at(0).maximum, 3);
}

TEST(Views, WhatIsNoNumberIsOnNoHotPath) {
  test::MemoryProfile make({"0"});
  const MetricId time = make.metric("time");
  for (const char* path : {"a", "b"}) make.context(path);
  make.values<double>(time, "a", {std::numeric_limits<double>::quiet_NaN()});
  make.values<double>(time, "b", {3});
  const auto view = top_down(*make.build(), {time, {}, {}});
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(hot_path(*view), std::vector<std::uint32_t>{1});
}

TEST(Statistics, OverLocationsAndSystemNodes) {
  const ProfilePtr profile = sample();
  const auto rows = location_statistics(*profile, MetricId(0), {Flavour::Kind::inclusive, {}}, {ContextId(0)}, {0, 2});
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(rows->at(0).maximum, 31);
  EXPECT_EQ(rows->at(0).minimum, 3);
  const auto processes = system_nodes(profile->defs().system, "process");
  ASSERT_EQ(processes.size(), 1u);
  const auto sums = sums_over_system(*profile, MetricId(0), {Flavour::Kind::inclusive, {}}, {ContextId(1)}, processes);
  ASSERT_TRUE(sums.ok());
  EXPECT_EQ(sums->scalar(0, 0), 16);
}

// A hundred thousand nodes with a process each: to look through the tree for each of them would take for ever.
TEST(Statistics, LocationsOfManyNodes) {
  constexpr std::size_t kNodes = 100'000;
  SystemTree system;
  SystemNode machine;
  machine.type = "machine";
  const SystemNodeId all = system.add(machine);
  std::vector<SystemNodeId> nodes;
  for (std::size_t i = 0; i < kNodes; ++i) {
    SystemNode node;
    node.type = "node";
    node.parent = all;
    nodes.push_back(system.add(node));
  }
  for (std::size_t i = 0; i < 2 * kNodes; ++i) {
    SystemNode location;
    location.kind = SystemKind::location;
    location.parent = nodes[kNodes - 1 - i % kNodes];
    system.add_location(location);
  }
  const auto found = locations_below(system, nodes);
  ASSERT_EQ(found.size(), kNodes);
  for (const std::size_t i : {std::size_t{0}, kNodes / 3, kNodes - 1}) {
    EXPECT_EQ(found[i], locations_below(system, nodes[i])) << i;
  }
  EXPECT_EQ(locations_below(system, std::vector{all, nodes[7], all})[2], locations_below(system, all));
}

// main of a.c; foo and bar of b.c, which foo calls inside it, so that 16 of foo hold the bar below it.
TEST(Views, ByModule) {
  const ProfilePtr profile = sample();
  const auto view = by_module(*profile, {MetricId(0), {}, {}});
  ASSERT_TRUE(view.ok());
  const auto find = [&](const std::string& name) -> std::uint32_t {
    for (std::uint32_t i = 0; i < view->nodes.size(); ++i) {
      const auto& node = view->nodes[i];
      if ((node.region.valid() ? profile->defs().region(node.region).name : node.label) == name) return i;
    }
    ADD_FAILURE() << "no node " << name;
    return 0;
  };
  const std::uint32_t file = find("b.c");
  EXPECT_EQ(view->nodes[file].depth, 1U);
  EXPECT_EQ(view->nodes[find("foo")].parent, file);
  EXPECT_EQ(view->nodes[find("foo")].depth, 2U);
  EXPECT_EQ(view->exclusive.scalar(file, 0), 32);
  EXPECT_EQ(view->inclusive.scalar(file, 0), 32);  // the outermost of its contexts: foo and the bar of main
  EXPECT_EQ(view->exclusive.scalar(find("foo"), 0), 6);
  EXPECT_EQ(view->inclusive.scalar(find("foo"), 0), 16);
  EXPECT_EQ(view->inclusive.scalar(0, 0), 34);  // the one module
  const auto second = by_module(*profile, {MetricId(0), {LocationId(1U)}, {}});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->inclusive.scalar(0, 0), 3);
}

TEST(Views, HotPathFromANodeWithAThreshold) {
  const auto view = top_down(*sample(), {MetricId(0), {}, {}});
  ASSERT_TRUE(view.ok());
  // main (34) > foo (16), bar (16): below one half.
  EXPECT_EQ(hot_path(*view).size(), 1U);
  EXPECT_EQ(hot_path(*view, 0.4), (std::vector<std::uint32_t>{0, 1, 3}));
  EXPECT_EQ(hot_path(*view, 0.5, {1}), (std::vector<std::uint32_t>{1, 3}));
}

}  // namespace
}  // namespace fathom
