// Which models are called scalability bugs, at which target, with which words.
#include "model/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "experiment/builder.hpp"
#include "model/fit.hpp"

namespace fathom {
namespace {

struct Ranked {
  ExperimentPtr experiment;
  ModelSet set;
};

// A constant, a logarithm and a line over p; all exact.
Ranked three_shapes() {
  ExperimentBuilder builder("made", make_work());
  builder.parameter("p");
  const auto metric = builder.metric("time");
  for (const double x : {4., 8., 16., 32., 64.}) {
    const auto point = builder.point(std::span(&x, 1));
    const auto add = [&](const char* name, double value) {
      builder.add(builder.callpath(name), metric, point, std::span(&value, 1));
    };
    add("flat", 50);
    add("tree", 6 + 4 * std::log2(x));
    add("line", 6 + 0.5 * x);
  }
  Ranked out{std::move(builder).finish().value(), {}};
  out.set = *fit(*out.experiment, *fit_options("default", 1), make_work());
  return out;
}

const RankedModel& named(const Ranked& data, const Ranking& ranking, const std::string& name) {
  for (const RankedModel& r : ranking.models) {
    if (data.experiment->callpaths()[data.experiment->series()[r.model->series].callpath].name == name) return r;
  }
  ADD_FAILURE() << "no " << name;
  return ranking.models.front();
}

TEST(Ranking, TheTargetIsSixteenTimesTheLargestScale) {
  const Ranked data = three_shapes();
  const auto ranking = rank_models(*data.experiment, data.set, {});
  ASSERT_TRUE(ranking.ok());
  EXPECT_EQ(ranking->largest, std::vector<double>{64});
  EXPECT_EQ(ranking->target, std::vector<double>{1024});
}

// Strong scaling adds the costs of all locations up: what scales perfectly stays constant, a logarithm is a loss.
TEST(Ranking, StrongScalingExpectsAConstant) {
  ExperimentBuilder builder("made", make_work());
  builder.parameter("p");
  builder.set_scaling(Scaling::strong);
  const auto metric = builder.metric("time");
  for (const double x : {4., 8., 16., 32., 64.}) {
    const auto point = builder.point(std::span(&x, 1));
    const double flat = 50;
    const double tree = 6 + 4 * std::log2(x);
    builder.add(builder.callpath("flat"), metric, point, std::span(&flat, 1));
    builder.add(builder.callpath("tree"), metric, point, std::span(&tree, 1));
  }
  Ranked data{std::move(builder).finish().value(), {}};
  data.set = *fit(*data.experiment, *fit_options("default", 1), make_work());
  const auto ranking = rank_models(*data.experiment, data.set, {});
  ASSERT_TRUE(ranking.ok());
  EXPECT_FALSE(named(data, *ranking, "flat").bug);
  EXPECT_TRUE(named(data, *ranking, "tree").bug);
}

TEST(Ranking, SharesAddUpAndFollowTheModels) {
  const Ranked data = three_shapes();
  const auto ranking = rank_models(*data.experiment, data.set, {});
  ASSERT_TRUE(ranking.ok());
  // At 64: 50 + 30 + 38; at 1024: 50 + 46 + 518.
  EXPECT_NEAR(named(data, *ranking, "line").share_now, 38.0 / 118, 1e-9);
  EXPECT_NEAR(named(data, *ranking, "line").share_then, 518.0 / 614, 1e-9);
  double now = 0;
  double then = 0;
  for (const auto& r : ranking->models) {
    now += r.share_now;
    then += r.share_then;
  }
  EXPECT_NEAR(now, 1, 1e-12);
  EXPECT_NEAR(then, 1, 1e-12);
}

// 100 / p is no shape of the modeler: the model is below zero where 3.1 of 4.1 s were measured.
TEST(Ranking, WhereAModelIsBelowZeroWhatWasMeasuredCounts) {
  ExperimentBuilder builder("made", make_work());
  builder.parameter("p");
  const auto metric = builder.metric("time");
  for (const double x : {2., 4., 8., 16., 32.}) {
    const auto point = builder.point(std::span(&x, 1));
    const double scales = 100 / x;
    const double flat = 1;
    builder.add(builder.callpath("scales"), metric, point, std::span(&scales, 1));
    builder.add(builder.callpath("flat"), metric, point, std::span(&flat, 1));
  }
  Ranked data{std::move(builder).finish().value(), {}};
  data.set = *fit(*data.experiment, *fit_options("default", 1), make_work());
  const auto ranking = rank_models(*data.experiment, data.set, {});
  ASSERT_TRUE(ranking.ok());
  const RankedModel& scales = named(data, *ranking, "scales");
  ASSERT_LT(scales.model->function(ranking->largest), 0);
  EXPECT_NEAR(scales.share_now, 3.125 / 4.125, 1e-9);
}

TEST(Ranking, WhatGrowsFasterThanExpectedIsABugAndComesFirst) {
  const Ranked data = three_shapes();
  const auto ranking = rank_models(*data.experiment, data.set, {});
  ASSERT_TRUE(ranking.ok());
  const RankedModel& line = named(data, *ranking, "line");
  EXPECT_TRUE(line.bug);
  EXPECT_EQ(&line, &ranking->models.front());
  EXPECT_EQ(line.explanation,
            "'time' of line grows like p, faster than log2(p): from 38 (32.2%) at p=64 to 518 (84.4%) at p=1024.");
  EXPECT_FALSE(named(data, *ranking, "tree").bug);
  EXPECT_FALSE(named(data, *ranking, "flat").bug);
}

TEST(Ranking, TheExpectationDecides) {
  const Ranked data = three_shapes();
  RankingOptions options;
  options.expect = "1";
  const auto strict = rank_models(*data.experiment, data.set, options);
  ASSERT_TRUE(strict.ok());
  EXPECT_TRUE(named(data, *strict, "tree").bug);
  EXPECT_NE(named(data, *strict, "tree").explanation.find("faster than a constant"), std::string::npos);
  options.expect = "p";
  const auto lenient = rank_models(*data.experiment, data.set, options);
  ASSERT_TRUE(lenient.ok());
  EXPECT_FALSE(named(data, *lenient, "line").bug);
}

TEST(Ranking, WhatStaysSmallAtTheTargetIsNoBug) {
  const Ranked data = three_shapes();
  RankingOptions options;
  options.at = {64};  // nothing grows on the way there
  const auto ranking = rank_models(*data.experiment, data.set, options);
  ASSERT_TRUE(ranking.ok());
  for (const auto& r : ranking->models) EXPECT_FALSE(r.bug);
}

TEST(Ranking, GrowthThatMayBeNoiseIsUnsureAndDoesNotCountAtTheTarget) {
  ExperimentBuilder builder("made", make_work());
  builder.parameter("p");
  const auto metric = builder.metric("time");
  const double wobble[] = {0.99, 1.00, 0.995, 1.00, 1.01};
  int k = 0;
  for (const double x : {4., 8., 16., 32., 64.}) {
    const auto point = builder.point(std::span(&x, 1));
    const double flat = 20 * wobble[k++];
    builder.add(builder.callpath("flat"), metric, point, std::vector<double>{flat * 0.98, flat, flat * 1.02});
    const double line = 1 + 0.1 * x;
    builder.add(builder.callpath("line"), metric, point, std::vector<double>{line * 0.98, line, line * 1.02});
  }
  Ranked data{std::move(builder).finish().value(), {}};
  data.set = *fit(*data.experiment, *fit_options("default", 1), make_work());
  // What the modeler may make of the wobble.
  data.set.models[0].function.constant = 19.9;
  data.set.models[0].function.terms = {{1e-6, {{0, Exponent::fraction(3), Exponent{}, {}}}}};
  const auto ranking = rank_models(*data.experiment, data.set, {});
  ASSERT_TRUE(ranking.ok());
  const RankedModel& flat = named(data, *ranking, "flat");
  EXPECT_FALSE(flat.bug);
  EXPECT_TRUE(flat.unsure);
  EXPECT_LT(flat.then, 30);  // the cubic would give 1094
  EXPECT_NE(flat.explanation.find("scatter too much to rule out log2(p)"), std::string::npos);
  EXPECT_TRUE(named(data, *ranking, "line").bug);
}

TEST(Expectation, ReadsProductsAndRefusesTheRest) {
  const std::vector<std::string> names{"p", "n"};
  const auto growth = parse_expectation("p^(1/2) * log2(n)^2", names);
  ASSERT_TRUE(growth.ok());
  EXPECT_EQ((*growth)[0], (Growth{Exponent::fraction(1, 2), Exponent{}}));
  EXPECT_EQ((*growth)[1], (Growth{Exponent{}, Exponent::fraction(2)}));
  EXPECT_FALSE(parse_expectation("q", names).ok());
  EXPECT_FALSE(parse_expectation("p^^2", names).ok());
  EXPECT_FALSE(parse_expectation("log2(p", names).ok());
}

TEST(Points, ReadNamesInAnyOrderAndTakeTheRestFromElsewhere) {
  const std::vector<std::string> names{"p", "n"};
  EXPECT_EQ(*parse_point("n=5,p=3", names), (std::vector<double>{3, 5}));
  EXPECT_EQ(*parse_point("n=5", names, std::vector<double>{7, 8}), (std::vector<double>{7, 5}));
  EXPECT_FALSE(parse_point("n=5", names).ok());
  EXPECT_FALSE(parse_point("n=x,p=1", names).ok());
  EXPECT_FALSE(parse_point("n=nan,p=1", names).ok());
  EXPECT_FALSE(parse_point("n=5,p=inf", names).ok());
  EXPECT_FALSE(parse_point("n=5,p=1,n=6", names).ok());
  EXPECT_FALSE(parse_point("n=5,n=6", names, std::vector<double>{7, 8}).ok());
}

}  // namespace
}  // namespace fathom
