// Derived metrics stay expressions through every operation and through a file, and give what their operands there say.
#include <gtest/gtest.h>

#include "../../profile/memory_profile.hpp"
#include "../../temporary_directory.hpp"
#include "formats/cube/from_profile.hpp"
#include "formats/registry.hpp"
#include "profile/algebra/reshape.hpp"
#include "profile/compute.hpp"
#include "profile/cubepl/cubepl.hpp"

namespace fathom {
namespace {

using cubepl::with_cubepl;

// `per_visit` is worked out on sums, `scaled` per cell with a hidden helper that its text defines.
ProfilePtr sample(const std::string& process = "rank 0") {
  test::MemoryProfile make({"0", "1"}, process);
  const MetricId time = make.metric("time");
  const MetricId visits = make.metric("visits", ValueKind::u64);
  make.context("main");
  make.context("main/foo");
  make.context("main/foo/bar");
  make.values<double>(time, "main", {1, 2});
  make.values<double>(time, "main/foo", {4, 8});
  make.values<double>(time, "main/foo/bar", {16, 32});
  make.values<std::uint64_t>(visits, "main", {1, 1});
  make.values<std::uint64_t>(visits, "main/foo", {2, 2});
  make.values<std::uint64_t>(visits, "main/foo/bar", {4, 8});
  auto profile = make.build();
  for (const DerivedMetric& metric :
       {DerivedMetric{"per_visit", "metric::time()/metric::visits()", Derivation::post, "sec", "time"},
        DerivedMetric{"scaled",
                      "{ cube::metric::prederived::helper(e) << metric::time()*2 >>; return metric::helper(e)*5; }",
                      Derivation::pre_exclusive, "", ""}}) {
    auto more = with_cubepl(profile, metric);
    EXPECT_TRUE(more.ok()) << more.error().text();
    profile = *more;
  }
  return profile;
}

double sum_at_roots(const Profile& profile, const std::string& name) {
  const Definitions& defs = profile.defs();
  const MetricId id = defs.find_metric(name);
  if (!id.valid()) return -999;
  double sum = 0;
  for (const ContextId root : defs.contexts.roots()) {
    const auto cells = compute(profile, id, {{Flavour::Kind::inclusive, {}}, {root}, all_locations(defs), true});
    if (!cells.ok()) return -998;
    sum += cells->scalar(0, 0);
  }
  return sum;
}

// With one root everything follows from the sums of time and visits.
void expect_derived(const ProfilePtr& profile, double time, double visits) {
  const Definitions& defs = profile->defs();
  ASSERT_TRUE(defs.find_metric("per_visit").valid() && defs.find_metric("scaled").valid());
  EXPECT_TRUE(defs.metric(defs.find_metric("per_visit")).derived());
  EXPECT_TRUE(defs.metric(defs.find_metric("helper")).hidden);
  EXPECT_DOUBLE_EQ(sum_at_roots(*profile, "time"), time);
  EXPECT_DOUBLE_EQ(sum_at_roots(*profile, "visits"), visits);
  EXPECT_DOUBLE_EQ(sum_at_roots(*profile, "per_visit"), visits == 0 ? 0 : time / visits);
  EXPECT_DOUBLE_EQ(sum_at_roots(*profile, "scaled"), 10 * time);
}

ProfilePtr must(Result<ProfilePtr> result) {
  EXPECT_TRUE(result.ok()) << result.error().text();
  return result.ok() ? *result : sample();
}

TEST(DerivedAlgebra, ExpressionsGoThroughEveryOperation) {
  const ProfilePtr a = sample();
  algebra::CanonizeOptions lower_case;
  lower_case.lower_case = true;
  expect_derived(a, 63, 18);
  expect_derived(must(algebra::diff(a, sample())), 0, 0);
  expect_derived(must(algebra::merge({a, sample()})), 63, 18);
  expect_derived(must(algebra::mean({a, sample()})), 63, 18);
  expect_derived(must(algebra::join_locations({a, sample("rank 1")})), 126, 36);
  expect_derived(must(algebra::cut(a, {{"foo"}, {}})), 60, 16);
  expect_derived(must(algebra::cut(a, {{}, {"foo"}})), 63, 18);
  expect_derived(must(algebra::clean(a)), 63, 18);
  expect_derived(must(algebra::store_as(a, Scope::inclusive)), 63, 18);
  expect_derived(must(algebra::canonize(a, lower_case)), 63, 18);
  expect_derived(must(algebra::partition(a, {{0, 0}})), 63, 18);
  const auto common = algebra::common_call_tree({a, sample()});
  ASSERT_TRUE(common.ok());
  for (const ProfilePtr& each : *common) expect_derived(each, 63, 18);
}

TEST(DerivedAlgebra, LocationsSideBySideKeepTheirValues) {
  const ProfilePtr joined = must(algebra::join_locations({sample(), sample("rank 1")}));
  ASSERT_EQ(joined->defs().system.location_count(), 4u);
  const auto cells = compute(*joined, joined->defs().find_metric("per_visit"),
                             {{Flavour::Kind::exclusive, {}}, {ContextId(2)}, {0, 4}, false});
  ASSERT_TRUE(cells.ok());
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(cells->scalar(0, i), 4) << i;
}

TEST(DerivedAlgebra, ExpressionsComeBackFromAFile) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "out.cubex";
  const ProfilePtr made = must(algebra::join_locations({sample(), sample("rank 1")}));
  const auto written = cube::write_profile(*made, path, {});
  ASSERT_TRUE(written.ok()) << written.error().text();
  const auto dataset = open_dataset(path, make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto back = (*dataset)->profile();
  ASSERT_TRUE(back.ok());
  expect_derived(*back, 126, 36);
  EXPECT_EQ((*back)->defs().metric((*back)->defs().find_metric("per_visit")).parent,
            (*back)->defs().find_metric("time"));
  // And again without going through the level: hidden metrics stay.
  const auto again = folder.path() / "again.cubex";
  const auto rewritten = (*dataset)->rewrite(again, {});
  ASSERT_TRUE(rewritten.ok() && *rewritten);
  const auto third = open_dataset(again, make_work());
  ASSERT_TRUE(third.ok());
  expect_derived(must((*third)->profile()), 126, 36);
}

TEST(DerivedAlgebra, OwnOperatorsAndInitComeBackFromAFile) {
  auto defs = std::make_shared<Definitions>(sample()->defs());
  auto profile = std::make_shared<Profile>(*sample());
  Metric metric;
  metric.name = metric.display_name = "longest";
  metric.derivation = Derivation::pre_exclusive;
  metric.convertible = false;
  defs->metrics.push_back(metric);
  const MetricId id(defs->metrics.size() - 1);
  cubepl::Source source;
  source.value = "metric::time() + ${offset}";
  source.init = {"{ global(offset); ${i}=0; while (${i} < 5) { ${i}=${i}+1; }; ${offset}=${i}; return 0; }"};
  source.plus = "max(arg1, arg2)";
  source.aggregate = "max(arg1, arg2)";
  ASSERT_TRUE(cubepl::add_programs(*defs, *profile, {{id, source}}).ok());
  profile->definitions = defs;
  EXPECT_EQ(sum_at_roots(*profile, "longest"), 37);
  const TemporaryDirectory folder;
  const auto path = folder.path() / "out.cubex";
  ASSERT_TRUE(cube::write_profile(*must(algebra::clean(profile)), path, {}).ok());
  const auto dataset = open_dataset(path, make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const ProfilePtr back = must((*dataset)->profile());
  EXPECT_EQ(sum_at_roots(*back, "longest"), 37);
  EXPECT_FALSE(back->defs().metric(back->defs().find_metric("longest")).convertible);
}

TEST(CubeClustering, IsNamedAsNotSupported) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "clustered.cubex";
  Profile profile = *sample();
  auto defs = std::make_shared<Definitions>(profile.defs());
  defs->attributes.emplace_back("CLUSTERING", "ON");
  defs->attributes.emplace_back("CLUSTER ITERATION COUNT", "2");
  profile.definitions = defs;
  ASSERT_TRUE(cube::write_profile(profile, path, {}).ok());
  const Work work = make_work();
  const auto dataset = open_dataset(path, work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  bool named = false;
  for (const Diagnostic& one : work->diagnostics.all()) {
    named = named || (one.id == "cube.clustering" && one.text.find("not supported") != std::string::npos);
  }
  EXPECT_TRUE(named);
  expect_derived(must((*dataset)->profile()), 63, 18);
  EXPECT_FALSE(open_dataset(path, make_work(true)).ok());  // --strict
}

}  // namespace
}  // namespace fathom
