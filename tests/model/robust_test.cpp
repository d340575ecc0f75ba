// The robust modeler: known functions under noise, and the figures of the study on the shared sets.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "base/special.hpp"
#include "model/growth.hpp"
#include "model/predict.hpp"
#include "model/reference.hpp"
#include "model/robust_groups.hpp"
#include "model/search_space.hpp"

namespace fathom {
namespace {

using reference::Json;

TEST(Special, KnownValues) {
  EXPECT_NEAR(digamma(1), -0.57721566490153286, 1e-10);
  EXPECT_NEAR(trigamma(1), 1.6449340668482264, 1e-10);
  EXPECT_NEAR(inverse_trigamma(trigamma(3.5)), 3.5, 1e-6);
  EXPECT_NEAR(StudentDistribution(4).cdf(2.7764451051977987), 0.975, 1e-12);  // of a table
  const StudentDistribution student(7);
  EXPECT_NEAR(student.cdf(0), 0.5, 1e-12);
  EXPECT_NEAR(student.density(1), (student.cdf(1 + 1e-5) - student.cdf(1 - 1e-5)) / 2e-5, 1e-9);
}

struct Score {
  std::size_t cases = 0, exact = 0, covered = 0;
  std::vector<double> errors;
  [[nodiscard]] double exact_percent() const { return 100.0 * static_cast<double>(exact) / static_cast<double>(cases); }
  [[nodiscard]] double covered_percent() const {
    return 100.0 * static_cast<double>(covered) / static_cast<double>(cases);
  }
};

Exponent exponent_of(const std::string& text) {
  const auto slash = text.find('/');
  const auto above = std::strtoll(text.c_str(), nullptr, 10);
  return Exponent::fraction(above,
                            slash == std::string::npos ? 1 : std::strtoll(text.c_str() + slash + 1, nullptr, 10));
}

Growth true_growth(const Json& function, std::uint32_t parameter) {
  Growth best;
  for (const auto& term : function["terms"]) {
    for (const auto& factor : term["f"]) {
      if (factor[0].get<std::uint32_t>() != parameter) continue;
      Growth growth;
      for (const auto& part : factor[1]) {
        (part[0] == "p" ? growth.power : growth.log) = exponent_of(part[1].get<std::string>());
      }
      if (grows_faster(growth, best)) best = growth;
    }
  }
  return best;
}

void judge(const std::string& name, bool intervals, Score& score) {
  const Json json = reference::read_json(reference::folder() / "synthetic" / "expected" / (name + ".expected.json.gz"));
  const auto experiment = reference::read_synthetic(json["input"].get<std::string>());
  const auto options = fit_options("robust", experiment->parameters().size());
  ASSERT_TRUE(options.ok());
  const auto set = fit(*experiment, *options, make_work());
  ASSERT_TRUE(set.ok());
  const Predictor predictor(*experiment, *options);
  const auto at = json["models"][0]["predict_at"];
  for (const auto& model : set->models) {
    const auto& series = experiment->series()[model.series];
    const Json& truth = json["true_functions"][experiment->callpaths()[series.callpath].name];
    bool exact = true;
    for (std::uint32_t p = 0; p < experiment->parameters().size(); ++p) {
      exact = exact && leading_growth(model.function, p) == true_growth(truth, p);
    }
    ++score.cases;
    if (exact) ++score.exact;
    const double value = truth["at"][2].get<double>();
    const auto point = reference::numbers(at[2]);
    score.errors.push_back(100 * std::fabs(model.function(point) / value - 1));
    if (!intervals) continue;
    const Forecast forecast = predictor(model, point);
    EXPECT_EQ(forecast.value, model.function(point));
    if (value >= forecast.confidence.low * (1 - 1e-9) && value <= forecast.confidence.high * (1 + 1e-9)) {
      ++score.covered;
    }
    EXPECT_LE(forecast.prediction.low, forecast.confidence.low * (1 + 1e-9));
    EXPECT_GE(forecast.prediction.high, forecast.confidence.high * (1 - 1e-9));
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

constexpr const char* kNoise[] = {"00", "02", "05", "10", "20"};

TEST(Robust, OneParameterSharedSets) {
  if (!std::filesystem::exists(reference::folder())) GTEST_SKIP() << "no shared sets";
  // Share of exact leading terms: the reference's and what the method reached in the study (less half a point of
  // rounding in its table).
  constexpr double kReference[] = {99.0, 84.8, 76.2, 63.8, 42.8};
  constexpr double kStudy[] = {100, 87, 86, 80, 72};
  constexpr double kErrorAt16[] = {1e-9, 0.209, 0.629, 1.19, 6.32};
  for (std::size_t i = 0; i < 5; ++i) {
    Score score;
    for (int set = 0; set < 4; ++set) {
      judge("1p_noise" + std::string(kNoise[i]) + "_set" + std::to_string(set), true, score);
    }
    EXPECT_EQ(score.cases, 400U);
    std::printf("1p %s %%: exact %.1f, e16 %.3g, covered %.1f\n", kNoise[i], score.exact_percent(),
                median(score.errors), score.covered_percent());
    EXPECT_GT(score.exact_percent(), kReference[i]);
    EXPECT_GE(score.exact_percent(), kStudy[i]);
    EXPECT_LE(median(score.errors), kErrorAt16[i]);
    EXPECT_GE(score.covered_percent(), 93);
  }
}

TEST(Robust, SeveralParametersSharedSets) {
  if (!std::filesystem::exists(reference::folder())) GTEST_SKIP() << "no shared sets";
  struct Set {
    const char* name;
    double reference[5];
    double error[5];  // median at 16 times, of the reference
  };
  const Set sets[] = {
      {"2p full", {92.5, 62.5, 55, 27.5, 22.5}, {1e-9, 0.17, 0.53, 7.74, 14.8}},
      {"2p sparse", {97.5, 55, 35, 22.5, 5}, {1e-9, 0.261, 1.44, 11, 19.6}},
      {"3p full", {80, 50, 70, 30, 10}, {1e-9, 0.101, 0.257, 1.45, 23.3}},
      {"3p sparse", {90, 40, 30, 20, 10}, {1e-9, 0.567, 26.9, 25.1, 53.7}},
  };
  for (const auto& set : sets) {
    const std::string name = set.name;
    for (std::size_t i = 0; i < 5; ++i) {
      Score score;
      judge(name.substr(0, 2) + "_noise" + kNoise[i] + "_" + name.substr(3), false, score);
      std::printf("%s %s %%: exact %.1f, e16 %.3g\n", set.name, kNoise[i], score.exact_percent(), median(score.errors));
      EXPECT_GE(score.exact_percent(), set.reference[i]) << name << " " << kNoise[i];
      EXPECT_LE(median(score.errors), set.error[i]) << name << " " << kNoise[i];
    }
  }
}

ExperimentPtr noisy(double (*f)(double), std::size_t paths, double level) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, level);
  ExperimentBuilder builder("made", make_work());
  builder.parameter("p");
  const auto metric = builder.metric("time");
  for (std::size_t c = 0; c < paths; ++c) {
    const auto callpath = builder.callpath("f" + std::to_string(c));
    for (const double x : {2., 4., 8., 16., 32., 64.}) {
      std::vector<double> values;
      for (int r = 0; r < 5; ++r) values.push_back(f(x) * (1 + noise(random)));
      builder.add(callpath, metric, builder.point(std::span(&x, 1)), values);
    }
  }
  return std::move(builder).finish().value();
}

TEST(Robust, FindsTermsUnderNoise) {
  const auto experiment = noisy([](double x) { return 10 + 3 * x * std::log2(x); }, 40, 0.02);
  const auto options = fit_options("robust", 1);
  const auto set = fit(*experiment, *options, make_work());
  ASSERT_TRUE(set.ok());
  std::size_t right = 0;
  const Growth linear_log{Exponent::fraction(1), Exponent::fraction(1)};
  for (const auto& model : set->models) right += leading_growth(model.function, 0) == linear_log ? 1 : 0;
  EXPECT_GE(right, 36U);
}

TEST(Robust, UsesNegativeExponentsForFallingData) {
  const auto experiment = noisy([](double x) { return 1 + 100 / x; }, 1, 0.01);
  const auto options = fit_options("robust", 1);
  const auto set = fit(*experiment, *options, make_work());
  ASSERT_TRUE(set.ok());
  ASSERT_EQ(set->models[0].function.terms.size(), 1U);
  const double far = 1024;
  EXPECT_NEAR(set->models[0].function(std::span(&far, 1)), 1.1, 0.4);
}

TEST(Robust, ValuesThatAreNotPositiveGetTheBasicModel) {
  const auto experiment = noisy([](double x) { return x - 4; }, 1, 0.001);
  const auto robust = fit(*experiment, *fit_options("robust", 1), make_work());
  const auto basic = fit(*experiment, *fit_options("basic", 1), make_work());
  ASSERT_TRUE(robust.ok() && basic.ok());
  EXPECT_EQ(robust->models[0].function.constant, basic->models[0].function.constant);
}

// Of any modeler: they come from the mixture over all functions that fit.
TEST(Predictor, IntervalsOfEveryModelerWiden) {
  const auto experiment = noisy([](double x) { return 10 + 3 * x; }, 3, 0.02);
  const auto options = fit_options("basic", 1);
  const auto set = fit(*experiment, *options, make_work());
  ASSERT_TRUE(set.ok());
  const Predictor predictor(*experiment, *options);
  const double near = 32;
  const double far = 2048;
  for (const auto& model : set->models) {
    const auto inside = predictor(model, std::span(&near, 1));
    const auto outside = predictor(model, std::span(&far, 1));
    EXPECT_LT(inside.confidence.low, inside.value);
    EXPECT_GT(inside.confidence.high, inside.value);
    EXPECT_LE(inside.prediction.low, inside.confidence.low);
    EXPECT_GE(inside.prediction.high, inside.confidence.high);
    EXPECT_GT(std::log(outside.confidence.high / outside.confidence.low),
              std::log(inside.confidence.high / inside.confidence.low));
    const auto& series = experiment->series()[model.series];
    EXPECT_GT(uncertainty(outside), uncertainty(inside));
    EXPECT_EQ(extrapolation(*experiment, series, std::span(&near, 1)), 1);
    EXPECT_EQ(extrapolation(*experiment, series, std::span(&far, 1)), 32);
  }
}

// Of many series a choice speaks for the noise of all: whoever asks about one gets the same as who asks about all.
TEST(Predictor, AskedAboutFewOfMany) {
  const auto experiment = noisy([](double x) { return 10 + 3 * x; }, 2 * kMostPooled + 7, 0.02);
  const auto options = fit_options("basic", 1);
  const auto set = fit(*experiment, *options, make_work());
  ASSERT_TRUE(set.ok());
  const std::array few = {&set->models[1], &set->models[2], &set->models.back()};
  const Predictor of_all(*experiment, *options);
  const Predictor of_few(*experiment, *options, few);
  const double far = 2048;
  for (const Model* model : few) {
    const auto expected = of_all(*model, std::span(&far, 1));
    const auto found = of_few(*model, std::span(&far, 1));
    EXPECT_LT(found.confidence.low, found.confidence.high);
    EXPECT_EQ(found.confidence.low, expected.confidence.low);
    EXPECT_EQ(found.confidence.high, expected.confidence.high);
    EXPECT_EQ(found.prediction.high, expected.prediction.high);
  }
}

// 3 + 2 p^(1/2) under 5 % noise, 16 times outside: the intervals of `basic` hold the truth nearly as often as they say
// (95 %), where those of a fit that takes its terms for granted did so in 43 to 76 % of the cases.
TEST(Predictor, BasicIntervalsHoldTheTruth) {
  const auto truth = [](double x) { return 3 + 2 * std::sqrt(x); };
  const auto experiment = noisy(truth, 200, 0.05);
  const auto options = fit_options("basic", 1);
  const auto set = fit(*experiment, *options, make_work());
  ASSERT_TRUE(set.ok());
  const Predictor predictor(*experiment, *options);
  const double far = 16 * 64;
  std::size_t covered = 0;
  for (const auto& model : set->models) {
    const auto forecast = predictor(model, std::span(&far, 1));
    covered += forecast.confidence.low <= truth(far) && truth(far) <= forecast.confidence.high ? 1 : 0;
  }
  EXPECT_GE(covered, 170U);
}

// The forty terms that the noise of a constant does not refute must not outweigh it by their number.
TEST(Predictor, ConstantsAreKnownFarOutside) {
  const auto experiment = noisy([](double) { return 10.0; }, 40, 0.004);
  for (const char* modeler : {"basic", "robust"}) {
    const auto options = fit_options(modeler, 1);
    const auto set = fit(*experiment, *options, make_work());
    ASSERT_TRUE(set.ok());
    const Predictor predictor(*experiment, *options);
    const double far = 16 * 64;
    std::size_t known = 0;
    for (const auto& model : set->models) known += uncertainty(predictor(model, std::span(&far, 1))) < 2 ? 1 : 0;
    EXPECT_GE(known, 30U) << modeler;
  }
}

// Nor with several parameters, on few points: there the lower limits lay above every sixth constant (under this noise).
TEST(Predictor, ConstantsOverSeveralParametersAreInside) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(0, 0.0577);
  ExperimentBuilder builder("made", make_work());
  builder.parameter("p");
  builder.parameter("n");
  const auto metric = builder.metric("time");
  std::vector<std::vector<double>> points = {{8, 20}};
  for (const double p : {4., 8., 16., 32., 64.}) points.push_back({p, 10});
  for (const double n : {20., 30., 40., 50.}) points.push_back({4, n});
  for (int c = 0; c < 100; ++c) {
    for (const auto& point : points) {
      std::vector<double> values;
      for (int r = 0; r < 5; ++r) values.push_back(10 * (1 + noise(random)));
      builder.add(builder.callpath("f" + std::to_string(c)), metric, builder.point(point), values);
    }
  }
  const auto experiment = std::move(builder).finish().value();
  const auto options = fit_options("multi-parameter", 2);
  const auto set = fit(*experiment, *options, make_work());
  ASSERT_TRUE(set.ok());
  const Predictor predictor(*experiment, *options);
  const std::vector<double> far = {16 * 64, 16 * 50};
  std::size_t covered = 0;
  for (const auto& model : set->models) {
    const Interval interval = predictor(model, far).prediction;
    covered += interval.low <= 10 && 10 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, 93U);
}

TEST(Fit, ValuesThatAreNoNumbersAreTold) {
  ExperimentBuilder builder("made", make_work());
  builder.parameter("p");
  const auto metric = builder.metric("time");
  for (const double x : {1., 2., 4., 8., 16.}) {
    const double value = x == 4 ? std::numeric_limits<double>::quiet_NaN() : x;
    builder.add(builder.callpath("f"), metric, builder.point(std::span(&x, 1)), std::span(&value, 1));
  }
  const auto experiment = std::move(builder).finish().value();
  const Work work = make_work();
  ASSERT_TRUE(fit(*experiment, *fit_options("basic", 1), work).ok());
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].id, "model.not_finite");
}

}  // namespace
}  // namespace fathom
