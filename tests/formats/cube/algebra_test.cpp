// The profile algebra against the results of the official tools.
#include "profile/algebra/algebra.hpp"

#include <gtest/gtest.h>

#include "dump_csv.hpp"
#include "profile/algebra/reshape.hpp"
#include "profile/cubepl/cubepl.hpp"

namespace fathom {
namespace {

using test::compare_with_dump;

class CubeAlgebra : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(test::shared_cube() / "algebra")) GTEST_SKIP() << "no shared data";
  }
  static ProfilePtr in(const std::string& name) {
    return test::open_profile(test::shared_cube() / "algebra/in" / (name + ".cubex"));
  }
  static void expect(const Result<ProfilePtr>& result, const std::string& name,
                     const std::set<std::string>& leave_out = {}) {
    ASSERT_TRUE(result.ok()) << result.error().text();
    const auto out = test::shared_cube() / "algebra/out";
    SCOPED_TRACE(name);
    EXPECT_GT(
        compare_with_dump(**result, test::read_text(out / (name + ".incl.csv")), Flavour::Kind::inclusive, leave_out),
        0u);
    EXPECT_GT(
        compare_with_dump(**result, test::read_text(out / (name + ".excl.csv")), Flavour::Kind::exclusive, leave_out),
        0u);
  }
};

TEST_F(CubeAlgebra, Diff) {
  expect(algebra::diff(in("a"), in("b")), "diff_ab", {"min_time", "max_time"});
  expect(algebra::diff(in("n"), in("r2")), "diff_n_r2");
}

TEST_F(CubeAlgebra, DiffOfUnequalSystems) {
  const auto strict = algebra::diff(in("c"), in("t"));
  ASSERT_FALSE(strict.ok());
  EXPECT_NE(strict.error().text().find("incompatible"), std::string::npos);
  expect(algebra::diff(in("c"), in("t"), {algebra::SystemMatch::collapse}), "diff_ct_C", {"min_time", "max_time"});
}

TEST_F(CubeAlgebra, Merge) {
  expect(algebra::merge({in("a"), in("b")}), "merge_ab");
  expect(algebra::merge({in("n"), in("r2")}), "merge_n_r2");
}

TEST_F(CubeAlgebra, Mean) {
  // The official tool truncates integers; those are compared with the exact mean below.
  const std::vector<ProfilePtr> inputs{in("f1"), in("f2"), in("f3"), in("f4"), in("f5")};
  expect(algebra::mean(inputs), "mean5", {"visits"});
  const auto mean = algebra::mean(inputs);
  ASSERT_TRUE(mean.ok());
  const auto total = [](const Profile& profile) {
    const MetricId visits = profile.defs().find_metric("visits");
    const auto cells =
        compute(profile, visits,
                {{Flavour::Kind::inclusive, {}}, profile.defs().contexts.roots(), all_locations(profile.defs()), true});
    double sum = 0;
    for (std::size_t i = 0; cells.ok() && i < cells->rows(); ++i) sum += cells->scalar(i, 0);
    return sum;
  };
  double sum = 0;
  for (const ProfilePtr& input : inputs) sum += total(*input);
  EXPECT_DOUBLE_EQ(total(**mean), sum / 5);
}

TEST_F(CubeAlgebra, Cut) {
  expect(algebra::cut(in("r2"), {{"func_1"}, {}}), "cut_r");
  expect(algebra::cut(in("r2"), {{}, {"func_1"}}), "cut_p");
  const auto wrong = algebra::cut(in("r2"), {{"func_11"}, {}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().kind(), ErrorKind::usage);
}

TEST_F(CubeAlgebra, CleanAndStoredFlavours) {
  expect(algebra::clean(in("t")), "clean_t");
  expect(algebra::store_as(in("n"), Scope::exclusive), "exclusified_excl");
  const auto inclusive = algebra::store_as(in("n"), Scope::inclusive);
  expect(inclusive, "exclusified_excl");
  EXPECT_EQ((*inclusive)->defs().metric(MetricId(0)).stored_as(Scope::inclusive), 0);
}

TEST_F(CubeAlgebra, CommonCallTree) {
  const auto pruned = algebra::cut(in("r2"), {{}, {"func_1"}});
  ASSERT_TRUE(pruned.ok());
  const auto common = algebra::common_call_tree({in("n"), *pruned});
  ASSERT_TRUE(common.ok()) << common.error().text();
  expect(common->at(0), "n1_commoncalltree");
  expect(common->at(1), "cut_p_commoncalltree");
}

// The reference breaks the tree here: only what does not depend on it is compared.
TEST_F(CubeAlgebra, DeriveAndCanonizeKeepTheTree) {
  const auto out = test::shared_cube() / "algebra/out";
  algebra::CanonizeOptions options;
  options.lower_case = options.drop_files = options.drop_lines = true;
  const auto canon = algebra::canonize(in("pa"), options);
  ASSERT_TRUE(canon.ok());
  EXPECT_EQ((*canon)->defs().regions[0].begin_line, 0);
  EXPECT_TRUE((*canon)->defs().regions[0].file.empty());
  const auto derived =
      cubepl::with_cubepl(in("r2"), {"kenobi", "metric::time()/metric::visits(e)", Derivation::post, "", ""});
  ASSERT_TRUE(derived.ok());
  for (const auto& [profile, name] : {std::pair(*canon, "canon"), std::pair(*derived, "derive_post")}) {
    std::set<std::string> depends_incl;
    std::set<std::string> depends_excl;
    for (const Metric& metric : profile->defs().metrics) {
      if (metric.stored_as(Scope::exclusive) >= 0 || metric.derived()) depends_incl.insert(metric.name);
      if (metric.stored_as(Scope::inclusive) >= 0 || metric.derived()) depends_excl.insert(metric.name);
    }
    SCOPED_TRACE(name);
    const std::string file = name;
    std::size_t compared = test::compare_with_dump(*profile, test::read_text(out / (file + ".incl.csv")),
                                                   Flavour::Kind::inclusive, depends_incl);
    compared += test::compare_with_dump(*profile, test::read_text(out / (file + ".excl.csv")), Flavour::Kind::exclusive,
                                        depends_excl);
    EXPECT_GT(compared, 0u);
  }
}

TEST_F(CubeAlgebra, PartitionKeepsTheRanksAskedFor) {
  const ProfilePtr input = in("n");
  const auto ranks = algebra::parse_ranks("1-");
  ASSERT_TRUE(ranks.ok());
  const auto part = algebra::partition(input, *ranks);
  ASSERT_TRUE(part.ok()) << part.error().text();
  const Definitions& defs = (*part)->defs();
  const Selection all{{Flavour::Kind::inclusive, {}}, {}, all_locations(defs), false};
  for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
    const auto before = compute(*input, MetricId(m), all);
    const auto after = compute(**part, MetricId(m), all);
    ASSERT_TRUE(before.ok() && after.ok());
    for (std::size_t row = 0; row < before->rows(); ++row) {
      for (std::size_t l = 0; l < before->columns(); ++l) {
        const SystemNode& group = input->defs().system.nodes[input->defs().system.group_of(LocationId(l)).index()];
        EXPECT_DOUBLE_EQ(after->scalar(row, l), group.rank == 0 ? 0 : before->scalar(row, l));
      }
    }
  }
  std::size_t marked = 0;
  for (const SystemNode& node : defs.system.nodes) marked += node.name.ends_with(" <VOID>") ? 1 : 0;
  EXPECT_EQ(marked, 1u);
  EXPECT_FALSE(algebra::parse_ranks("3-1").ok());
}

TEST_F(CubeAlgebra, MaterialisedMetricsHaveTheSameValues) {
  const auto derived =
      cubepl::with_cubepl(in("r2"), {"twice", "2*metric::visits()", Derivation::pre_exclusive, "", ""});
  ASSERT_TRUE(derived.ok());
  const auto stored = algebra::materialise(*derived);
  ASSERT_TRUE(stored.ok());
  const Definitions& defs = (*stored)->defs();
  EXPECT_FALSE(defs.metric(MetricId(2)).derived());
  const Selection all{{Flavour::Kind::inclusive, {}}, {}, all_locations(defs), true};
  const auto a = compute(**derived, MetricId(2), all);
  const auto b = compute(**stored, MetricId(2), all);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_GT(a->scalar(0, 0), 0);
  for (std::size_t row = 0; row < a->rows(); ++row) EXPECT_EQ(a->scalar(row, 0), b->scalar(row, 0));
}

}  // namespace
}  // namespace fathom
