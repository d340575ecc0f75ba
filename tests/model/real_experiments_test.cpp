// How large the constants of real programs are beside what grows, as docs/modeling.md says: by the models that the
// reference gives, on the reference's statistics.
#include <gtest/gtest.h>

#include "model/ranking.hpp"
#include "model/reference.hpp"

namespace fathom {
namespace {

// Of every model of a time that grows: the constant over the growing part at the largest point, in order.
std::vector<double> constants_of(const std::filesystem::path& expected) {
  const reference::Json json = reference::read_json(reference::folder() / expected);
  const auto experiment = reference::experiment_of(json["experiment"]);
  const auto options = fit_options("default", experiment->parameters().size());
  const auto set = fit(*experiment, *options, make_work());
  const std::vector<double> largest = largest_point(*experiment);
  std::vector<double> shares;
  for (const auto& model : set->models) {
    if (!experiment->metrics()[experiment->series()[model.series].metric].name.ends_with("time")) continue;
    const double grown = model.function(largest) - model.function.constant;
    if (grown > 0 && !model.function.terms.empty()) shares.push_back(std::max(model.function.constant, 0.0) / grown);
  }
  std::sort(shares.begin(), shares.end());
  return shares;
}

std::size_t below(const std::vector<double>& shares, double limit) {
  return static_cast<std::size_t>(std::lower_bound(shares.begin(), shares.end(), limit) - shares.begin());
}

TEST(RealExperiments, KernelsOverTheirSizeHaveSmallConstants) {
  if (!std::filesystem::exists(reference::folder())) GTEST_SKIP() << "no shared sets";
  const auto shares = constants_of("extra-p/lulesh_with_tags.expected.json.gz");
  ASSERT_EQ(shares.size(), 51U);
  EXPECT_EQ(below(shares, 0.07), 48U);
  EXPECT_LT(shares.back(), 0.21);
}

TEST(RealExperiments, SolversOverProcessesHaveLargeOnes) {
  if (!std::filesystem::exists(reference::folder())) GTEST_SKIP() << "no shared sets";
  const auto one = constants_of("expected/cubeset__single_parameter.weak.json.gz");
  const auto three = constants_of("expected/cubeset__multi_parameter.weak.json.gz");
  ASSERT_EQ(one.size(), 10U);
  ASSERT_EQ(three.size(), 11U);
  EXPECT_EQ(below(one, 1. / 3), 5U);
  EXPECT_EQ(below(one, 3), 10U);
  EXPECT_EQ(below(three, 1. / 3), 4U);
  EXPECT_EQ(below(three, 3), 11U);
}

}  // namespace
}  // namespace fathom
