// The profile algebra against the results of the official tools.
#include "profile/algebra/algebra.hpp"

#include <gtest/gtest.h>

#include "dump_csv.hpp"

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

}  // namespace
}  // namespace fathom
