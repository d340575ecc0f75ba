// Growth classes, and which growth the noise can feign.
#include "model/growth.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "experiment/builder.hpp"
#include "model/fit.hpp"

namespace fathom {
namespace {

Factor factor(std::uint32_t parameter, Exponent power, Exponent log) { return {parameter, power, log, {}}; }
const Exponent kZero{};
const Exponent kOne = Exponent::fraction(1);
const Exponent kHalf = Exponent::fraction(1, 2);
const Growth kLog{kZero, kOne};

TEST(Growth, IsThatOfTheFastestTerm) {
  const Function f{1, {{2, {factor(0, kHalf, kZero)}}, {3, {factor(0, kHalf, kOne), factor(1, kOne, kZero)}}}, {}};
  EXPECT_EQ(leading_growth(f, 0), (Growth{kHalf, kOne}));
  EXPECT_EQ(leading_growth(f, 1), (Growth{kOne, kZero}));
  EXPECT_TRUE(leading_growth(Function{1, {}, {}}, 0).constant());
  EXPECT_EQ(leading_growth(f, 0).text("p"), "p^(1/2) * log2(p)");
}

TEST(Function, IsWhatPowersAndLogarithmsSay) {
  // Asked again and again, in any order, also on both sides of zero.
  std::mt19937 random(5);
  const std::vector<double> coordinates = {2, 4, 8, 16, 1000, 0.5, 0.0, -0.0, -2, 1e-300, 1e300};
  const std::vector<double> exponents = {0.25, 1.0 / 3, 0.5, 1, 1.5, 2, 3, -1, -0.5};
  for (int i = 0; i < 20'000; ++i) {
    const double x = coordinates[random() % coordinates.size()];
    const double power = exponents[random() % exponents.size()];
    const double log = exponents[random() % exponents.size()];
    const Term term{3, {factor(0, Exponent::decimal(power), Exponent::decimal(log))}};
    const double expected = 3 * std::pow(x, power) * std::pow(std::log2(x), log);
    const double found = evaluate(term, std::span(&x, 1));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(found)) << x << ' ' << power << ' ' << log;
    } else {
      ASSERT_EQ(found, expected) << x << ' ' << power << ' ' << log;
    }
  }
}

TEST(Growth, NegativeTermsCountOnlyWhereAsked) {
  const Function f{1, {{-2, {factor(0, kOne, kZero)}}, {1, {factor(0, kZero, kOne)}}}, {}};
  EXPECT_EQ(leading_growth(f, 0), (Growth{kOne, kZero}));
  EXPECT_EQ(leading_growth(f, 0, Terms::positive), kLog);
}

TEST(Growth, ShrinkingIsSlowerThanConstant) {
  const Function f{1, {{100, {factor(0, Exponent::fraction(-1), kZero)}}}, {}};
  EXPECT_EQ(leading_growth(f, 0).power.value, -1);
  EXPECT_TRUE(grows_faster(Growth{}, leading_growth(f, 0)));
}

TEST(Growth, OfASegmentedFunctionIsThatOfItsLastPiece) {
  Function f;
  f.segments.resize(2);
  f.segments[0].to = 8;
  f.segments[0].function = {1, {{1, {factor(0, kOne, kZero)}}}, {}};
  f.segments[1].from = 8;
  f.segments[1].function = {1, {{1, {factor(0, kHalf, kZero)}}}, {}};
  EXPECT_EQ(leading_growth(f, 0), (Growth{kHalf, kZero}));
}

// 200 call paths of five points and five repetitions.
template <class F>
std::pair<std::size_t, std::size_t> judged(const F& truth, double noise) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, noise);
  ExperimentBuilder builder("made", make_work());
  builder.parameter("p");
  const auto metric = builder.metric("time");
  for (int c = 0; c < 200; ++c) {
    const auto callpath = builder.callpath("f" + std::to_string(c));
    for (const double x : {4., 8., 16., 32., 64.}) {
      std::vector<double> values;
      for (int r = 0; r < 5; ++r) values.push_back(truth(x) * (1 + normal(random)));
      builder.add(callpath, metric, builder.point(std::span(&x, 1)), values);
    }
  }
  const auto experiment = std::move(builder).finish().value();
  const auto set = fit(*experiment, *fit_options("default", 1), make_work());
  EXPECT_TRUE(set.ok());
  std::size_t faster = 0;
  std::size_t sure = 0;
  for (const Model& model : set->models) {
    if (!grows_faster(leading_growth(model.function, 0, Terms::positive), kLog)) continue;
    ++faster;
    if (!within(kLog, *experiment, model.series, model.function, Measure::mean, 0)) ++sure;
  }
  return {faster, sure};
}

TEST(Growth, ANoisyConstantIsNotSaidToGrow) {
  const auto [faster, sure] = judged([](double) { return 24.0; }, 0.02);
  EXPECT_GT(faster, 10U);  // the modeler follows the noise
  EXPECT_LE(sure, 8U);     // the judgement does not
}

TEST(Growth, RealGrowthIsRecognised) {
  const auto [faster, sure] = judged([](double x) { return 5 + 0.1 * x; }, 0.02);
  EXPECT_GT(faster, 190U);
  EXPECT_GT(sure, 190U);
}

TEST(Growth, TheAllowedFunctionIsTheBestOfItsKind) {
  ExperimentBuilder builder("made", make_work());
  builder.parameter("p");
  const auto metric = builder.metric("time");
  const auto callpath = builder.callpath("main");
  for (const double x : {4., 8., 16., 32., 64.}) {
    const double f = 3 + 2 * std::log2(x);
    const std::vector<double> values{f * 0.98, f, f * 1.02};
    builder.add(callpath, metric, builder.point(std::span(&x, 1)), values);
  }
  const auto experiment = std::move(builder).finish().value();
  Model model;
  model.function = {4.5, {{0.95, {factor(0, Exponent::fraction(1, 3), kZero)}}}, {}};
  const auto tamed = within(kLog, *experiment, model.series, model.function, Measure::mean, 0);
  if (tamed) {
    EXPECT_NEAR(tamed->constant, 3, 1e-9);
    ASSERT_EQ(tamed->terms.size(), 1U);
    EXPECT_NEAR(tamed->terms[0].coefficient, 2, 1e-9);
  } else {
    ADD_FAILURE() << "the data follow log2(p) exactly";
  }
}

}  // namespace
}  // namespace fathom
