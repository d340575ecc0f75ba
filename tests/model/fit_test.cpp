// The modelers on data made here.
#include "model/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <thread>

#include "base/parallel.hpp"
#include "experiment/builder.hpp"
#include "model/least_squares.hpp"
#include "model/multi.hpp"
#include "model/single.hpp"

namespace fathom {
namespace {

ExperimentPtr one_parameter(std::span<const double> x, const std::vector<std::vector<double>>& rows) {
  ExperimentBuilder builder("made", make_work());
  builder.parameter("p");
  const auto metric = builder.metric("time");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto callpath = builder.callpath("f" + std::to_string(i));
    for (std::size_t k = 0; k < x.size(); ++k) {
      builder.add(callpath, metric, builder.point(x.subspan(k, 1)), std::span(&rows[i][k], 1));
    }
  }
  return std::move(builder).finish().value();
}

TEST(Fit, FindsFunctionsThatAreInTheSearchSpace) {
  const std::vector<double> x{4, 8, 16, 32, 64};
  std::vector<std::vector<double>> rows(3);
  for (const double p : x) {
    rows[0].push_back(7);
    rows[1].push_back(2 + 3 * p * std::log2(p));
    rows[2].push_back(1 + 0.5 * p * std::sqrt(p));
  }
  const auto experiment = one_parameter(x, rows);
  const auto options = fit_options("default", 1);
  ASSERT_TRUE(options.ok());
  const auto set = fit(*experiment, *options, make_work());
  ASSERT_TRUE(set.ok());
  EXPECT_TRUE(set->models[0].function.is_constant());
  EXPECT_EQ(set->models[0].function.constant, 7);
  const auto& linear = set->models[1].function.terms.at(0);
  EXPECT_NEAR(linear.coefficient, 3, 1e-9);
  EXPECT_EQ(linear.factors.at(0).power.text(), "1");
  EXPECT_EQ(linear.factors.at(0).log.text(), "1");
  const auto& root = set->models[2].function.terms.at(0);
  EXPECT_NEAR(root.coefficient, 0.5, 1e-9);
  EXPECT_EQ(root.factors.at(0).power.text(), "3/2");
}

TEST(Fit, VectorsAndSingleSeriesAgree) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> noise(0.9, 1.1);
  std::uniform_int_distribution<std::size_t> which(0, 41);
  for (const std::size_t n : {4, 5, 6, 7, 9}) {
    std::vector<double> x;
    for (std::size_t k = 0; k < n; ++k) x.push_back(2.0 + 3.0 * static_cast<double>(k * k));
    std::vector<std::vector<double>> rows(37);
    std::vector<const double*> pointers;
    for (auto& row : rows) {
      const Block block = standard_blocks()[which(random)];
      for (const double p : x) row.push_back((5 + 0.1 * block_value(block, p)) * noise(random));
      pointers.push_back(row.data());
    }
    for (const bool cross : {true, false}) {
      for (const bool rss : {true, false}) {
        SingleOptions options;
        options.use_crossvalidation = cross;
        options.compare_with_rss = rss;
        options.minimum_term_contribution = 0.2;
        const auto modeler = make_basic(options, x, 0);
        std::vector<Model> models(rows.size());
        modeler->fit(pointers, models);
        const BlockTable table(x, basic_space(options, x).blocks);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const LineFit single = basic_fit(table, rows[i], options);
          EXPECT_EQ(models[i].function.is_constant(), !single.has_term);
          EXPECT_EQ(models[i].function.constant, single.constant);
          EXPECT_EQ(models[i].quality.smape, single.quality.smape);
        }
      }
    }
  }
}

TEST(Fit, DoesNotDependOnTheNumberOfThreads) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> noise(0.95, 1.05);
  const std::vector<double> x{2, 4, 8, 16, 32, 64};
  std::vector<std::vector<double>> rows(1000);
  for (auto& row : rows) {
    for (const double p : x) row.push_back((10 + p) * noise(random));
  }
  const auto experiment = one_parameter(x, rows);
  for (const char* modeler : {"basic", "refining", "segmented", "robust"}) {
    const auto options = fit_options(modeler, 1);
    ASSERT_TRUE(options.ok());
    const auto one = [&] {
      const Execution single(1);
      const ExecutionScope scope(single);
      return fit(*experiment, *options, make_work());
    }();
    const auto all = fit(*experiment, *options, make_work());
    ASSERT_TRUE(one.ok() && all.ok());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(one->models[i].function.constant, all->models[i].function.constant);
      EXPECT_EQ(one->models[i].quality.rss, all->models[i].quality.rss);
    }
  }
}

// As Extra-P 4.2.5 has it.
TEST(Fit, RefiningHonoursTheLeastContributionOfATerm) {
  const std::vector<double> x{2, 4, 8, 16, 32, 64};
  const auto experiment = one_parameter(x, {{87, 88, 87, 87, 88, 89}});
  const auto model_with = [&](std::string contribution) {
    const std::vector<std::string> texts{"minimum_term_contribution=" + contribution};
    return fit(*experiment, *fit_options("refining", 1, Measure::mean, texts), make_work())->models.at(0);
  };
  const Model small = model_with("0.0005");
  EXPECT_EQ(small.function.terms.at(0).factors.at(0).log.text(), "2");
  EXPECT_NEAR(small.quality.smape, 0.4648396701522, 1e-9);
  const Model large = model_with("0.1");
  EXPECT_TRUE(large.function.terms.at(0).factors.at(0).log.zero());
  EXPECT_NEAR(large.function.terms.at(0).coefficient, 0.028429282160625423, 1e-9);
  EXPECT_NEAR(large.quality.smape, 0.5654049642052648, 1e-9);
}

// Leaving out each of many points takes long: who is asked to stop stops in the middle of a series.
TEST(Fit, StopsInTheMiddleOfALongSeries) {
  std::vector<double> x(100000);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k + 1);
  std::vector<double> y = x;
  for (std::size_t k = 0; k < y.size(); k += 2) y[k] *= 1.1;
  const auto experiment = one_parameter(x, {y});
  for (const char* modeler : {"basic", "refining", "segmented"}) {
    const auto cancel = std::make_shared<std::atomic<bool>>(false);
    const Execution execution(1, cancel);
    const ExecutionScope scope(execution);
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      *cancel = true;
    });
    const auto set = fit(*experiment, *fit_options(modeler, 1), make_work());
    stopper.join();
    ASSERT_FALSE(set.ok()) << modeler;
    EXPECT_EQ(set.error().kind(), ErrorKind::cancelled);
  }
}

// Of many points, fits on all but one follow from sums: the same as those that are made from the others.
TEST(Fit, LeavingOutEachOfManyPointsIsWhatTheOthersSay) {
  std::mt19937_64 random(23);
  std::uniform_real_distribution<double> noise(0.8, 1.2);
  const SingleOptions options;
  for (const bool outlier : {false, true}) {
    std::vector<double> x;
    for (std::size_t k = 0; k < 300; ++k) x.push_back(static_cast<double>(k + 1));
    if (outlier) x.back() = 1e7;
    std::vector<double> y;
    for (const double p : x) y.push_back((3 + 0.5 * p) * noise(random));
    const BlockTable table(x, basic_space(options, x).blocks);
    ASSERT_TRUE(table.long_work());
    for (std::size_t b = 0; b < table.size(); ++b) {
      double smape = 0;
      double rss = 0;
      std::vector<double> t(x.size() - 1), w0(t.size()), w1(t.size()), others(t.size());
      for (std::size_t left = 0; left < x.size(); ++left) {
        for (std::size_t k = 0, at = 0; k < x.size(); ++k) {
          if (k == left) continue;
          t[at] = table.t(b)[k];
          others[at++] = y[k];
        }
        line_inverse(t, w0, w1);
        double c0 = 0;
        double c1 = 0;
        for (std::size_t k = 0; k < t.size(); ++k) {
          c0 += w0[k] * others[k];
          c1 += w1[k] * others[k];
        }
        if (std::fabs(c0 / *std::min_element(others.begin(), others.end())) < 0.0005) c0 = 0;
        const double predicted = c0 + c1 * table.t(b)[left];
        rss += (predicted - y[left]) * (predicted - y[left]);
        smape +=
            200 * std::fabs(predicted - y[left]) / (std::fabs(predicted) + y[left]) / static_cast<double>(x.size());
      }
      const LineFit fit = block_fit(table, b, y, options, 1);
      EXPECT_NEAR(fit.quality.smape / smape, 1, 1e-7) << b;
      EXPECT_NEAR(fit.quality.rss / rss, 1, 1e-7) << b;
    }
  }
}

// The square of them, for each term, would be minutes.
TEST(Fit, VeryManyPointsTakeTimeAndMemoryByTheirNumber) {
  std::vector<double> x(30000);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k + 1);
  std::vector<double> y;
  for (const double p : x) y.push_back(5 + 2 * p + (static_cast<std::uint64_t>(p) % 3 == 0 ? 0.1 : 0));
  const auto experiment = one_parameter(x, {y});
  for (const char* modeler : {"basic", "refining", "segmented"}) {
    const auto set = fit(*experiment, *fit_options(modeler, 1), make_work());
    ASSERT_TRUE(set.ok()) << modeler;
    const Function& function = set->models[0].function;
    ASSERT_EQ(function.terms.size(), 1U) << modeler;
    EXPECT_NEAR(function.terms[0].coefficient, 2, 1e-6) << modeler;
    EXPECT_EQ(function.terms[0].factors.at(0).power.text(), "1") << modeler;
  }
  EXPECT_NE(fit(*experiment, FitOptions{}, make_work(false, 32 << 20)).error().text().find("memory"),
            std::string::npos);
}

TEST(Fit, WarnsAboutFewPointsAndCoordinatesBelowOne) {
  const std::vector<double> x{0.5, 1, 2, 4};
  const auto experiment = one_parameter(x, {{1, 2, 3, 4.5}});
  const auto work = make_work();
  ASSERT_TRUE(fit(*experiment, FitOptions{}, work).ok());
  const auto noted = work->diagnostics.all();
  ASSERT_EQ(noted.size(), 2U);
  EXPECT_FALSE(fit(*experiment, FitOptions{}, make_work(true)).ok());
}

TEST(FitOptions, NamesAndMistakes) {
  const std::vector<std::string> texts{"allow_log_terms=OFF", "poly_exponents=0,1,2.5", "compare_with_RSS=yes"};
  const auto options = fit_options("Basic", 1, Measure::median, texts);
  ASSERT_TRUE(options.ok());
  EXPECT_FALSE(options->single.allow_log_terms);
  EXPECT_TRUE(options->single.compare_with_rss);
  EXPECT_EQ(search_space(options->single).size(), 2U);  // 1 and 2.5; zero alone is no term
  const std::vector<std::string> inner{"single_parameter_modeler=Refining", "sp.use_crossvalidation=false"};
  const auto multi = fit_options("default", 2, Measure::mean, inner);
  ASSERT_TRUE(multi.ok());
  EXPECT_EQ(multi->inner, Modeler::refining);
  EXPECT_FALSE(multi->single.use_crossvalidation);
  EXPECT_EQ(fit_options("refining", 2).error().kind(), ErrorKind::usage);
  EXPECT_EQ(fit_options("multi-parameter", 1).error().kind(), ErrorKind::usage);
  const std::vector<std::string> wrong{"allow_log_term=1"};
  const auto error = fit_options("basic", 1, Measure::mean, wrong);
  ASSERT_FALSE(error.ok());
  EXPECT_NE(error.error().text().find("allow_log_terms"), std::string::npos);
}

TEST(LeastSquares, DropsWhatIsBelowTheCutOff) {
  // With t this large the constant column vanishes: the solution of smallest norm has next to no constant.
  const std::vector<double> t{1e16, 2e16, 3e16, 5e16};
  std::vector<double> w0(4);
  std::vector<double> w1(4);
  ASSERT_TRUE(line_inverse(t, w0, w1));
  double c0 = 0;
  double c1 = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    c0 += w0[k] * (5 + 2 * t[k]);
    c1 += w1[k] * (5 + 2 * t[k]);
  }
  EXPECT_LT(std::fabs(c0), 1e-10);
  EXPECT_NEAR(c1, 2, 1e-12);
  const std::vector<double> infinite{1, HUGE_VAL, 2, 3};
  EXPECT_FALSE(line_inverse(infinite, w0, w1));
}

TEST(LeastSquares, SolvesSeveralColumns) {
  const std::vector<double> one{1, 1, 1, 1, 1};
  const std::vector<double> a{1, 2, 3, 4, 5};
  const std::vector<double> b{1, 4, 9, 16, 26};
  std::vector<double> y(5);
  for (std::size_t k = 0; k < 5; ++k) y[k] = 3 - 2 * a[k] + 0.5 * b[k];
  LeastSquares solver;
  const std::vector<const double*> columns{one.data(), a.data(), b.data()};
  const auto solution = solver.solve(columns, y);
  EXPECT_NEAR(solution[0], 3, 1e-10);
  EXPECT_NEAR(solution[1], -2, 1e-10);
  EXPECT_NEAR(solution[2], 0.5, 1e-10);
  // The same column twice: the smallest solution shares the coefficient.
  for (std::size_t k = 0; k < 5; ++k) y[k] = 4 * a[k];
  const std::vector<const double*> twice{a.data(), a.data()};
  const auto shared = solver.solve(twice, y);
  EXPECT_NEAR(shared[0], 2, 1e-10);
  EXPECT_NEAR(shared[1], 2, 1e-10);
}

TEST(PointSelection, LongestLinesAndSmallest) {
  // Lines of x at y = 1 (3 points) and y = 2 (2 points).
  const std::vector<double> points{1, 1, 2, 1, 3, 1, 1, 2, 2, 2};
  const auto longest = select_series(points, 2, 0, PointSelection::automatic);
  EXPECT_EQ(longest.x, (std::vector<double>{1, 2, 3}));
  EXPECT_TRUE(longest.incomplete);
  EXPECT_EQ(longest.rows[0], (std::vector<std::uint32_t>{0}));
  const auto smallest = select_series(points, 2, 1, PointSelection::smallest);
  EXPECT_EQ(smallest.x, (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace fathom
