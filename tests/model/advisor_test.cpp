#include "model/advisor.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "base/execution.hpp"
#include "experiment/builder.hpp"
#include "formats/extrap/expected.hpp"
#include "formats/registry.hpp"
#include "model/fit.hpp"

namespace fathom {
namespace {

using extrap::testing::close;
using extrap::testing::data;
using extrap::testing::Json;

// The reference's own models of an input (default modeler, mean), so that suggestions are judged apart from the fit.
ModelSet reference_models(const Experiment& e, const std::string& input) {
  std::string file = input;
  for (std::size_t at = 0; (at = file.find('/', at)) != std::string::npos;) file.replace(at, 1, "__");
  const Json runs = extrap::testing::load_json(data("expected/" + file + ".json.gz"))["models"];
  const auto run = std::find_if(runs.begin(), runs.end(),
                                [](const Json& r) { return r["measure"] == "mean" && r["options"].empty(); });
  EXPECT_NE(run, runs.end());
  ModelSet set;
  for (const auto& result : (*run)["results"]) {
    Model model;
    model.series = static_cast<std::uint32_t>(set.models.size());
    const Series& series = e.series()[model.series];
    EXPECT_EQ(e.callpaths()[series.callpath].name, result["callpath"].get<std::string>());
    model.function.constant = result["model"]["c0"].get<double>();
    for (const auto& term : result["model"]["terms"]) {
      Term own;
      own.coefficient = term["c"].get<double>();
      for (const auto& pair : term["f"]) {
        Factor factor;
        factor.parameter = pair[0].get<std::uint32_t>();
        for (const auto& simple : pair[1]) {
          // "3/2" or "2"
          const auto text = simple[1].get<std::string>();
          const auto slash = text.find('/');
          const std::int64_t below = slash == std::string::npos ? 1 : std::stoll(text.substr(slash + 1));
          (simple[0] == "p" ? factor.power : factor.log) = Exponent::fraction(std::stoll(text), below);
        }
        own.factors.push_back(std::move(factor));
      }
      model.function.terms.push_back(std::move(own));
    }
    set.models.push_back(std::move(model));
  }
  return set;
}

TEST(Advisor, AsTheReference) {
  if (!extrap::testing::have_data()) GTEST_SKIP() << "no reference data";
  const Json cases = extrap::testing::load_json(data("mpa/expected.json.gz"));
  std::size_t compared = 0;
  for (const auto& one : cases) {
    SCOPED_TRACE(one["input"].get<std::string>());
    const Work work = make_work();
    auto dataset = open_dataset(data("inputs") / one["input"].get<std::string>(), work);
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    auto experiment = (*dataset)->experiment();
    ASSERT_TRUE(experiment.ok());
    const Experiment& e = **experiment;
    const ModelSet models = reference_models(e, one["input"]);
    for (const auto& run : one["runs"]) {
      AdvisorOptions options;
      options.budget = run["budget"].get<double>();
      options.process_parameter = run["process_parameter"].get<std::uint32_t>();
      const auto advice = advise(e, models, options, make_work());
      ASSERT_TRUE(advice.ok()) << advice.error().text();
      EXPECT_EQ(to_string(advice->mode), one["mode"].get<std::string>());
      EXPECT_EQ(advice->values, one["value_series"].get<std::vector<std::vector<double>>>());
      EXPECT_EQ(advice->extended, one["extended_series"].get<std::vector<std::vector<double>>>());
      for (std::size_t p = 0; p < advice->steps.size(); ++p) {
        EXPECT_EQ(advice->steps[p].factor, one["step"][p][0] == "*");
        EXPECT_TRUE(close(advice->steps[p].size, one["step"][p][1].get<double>()));
      }
      EXPECT_TRUE(close(advice->current_cost, run["current_cost"].get<double>()));
      if (advice->mode == AdviceMode::gpr) {
        // Random there: ours must keep to the budget and be the same every time.
        double cost = advice->current_cost;
        for (const Suggestion& s : advice->suggestions) cost += s.cost;
        EXPECT_TRUE(advice->suggestions.empty() || cost <= options.budget);
        continue;
      }
      std::vector<std::vector<double>> suggested;
      for (const Suggestion& s : advice->suggestions) suggested.push_back(s.point);
      EXPECT_EQ(suggested, run["suggested"].get<std::vector<std::vector<double>>>()) << run["budget"];
      ++compared;
    }
    if (HasFailure()) break;
  }
  EXPECT_GE(compared, 40u);
}

// What many points say about each other takes the square of them in memory, and the cube in time.
TEST(Advisor, ManyPointsCountAndAreGivenUpOnRequest) {
  ExperimentBuilder builder("made", make_work());
  builder.parameter("p");
  const auto metric = builder.metric("time");
  const auto callpath = builder.callpath("main");
  for (int k = 1; k <= 5000; ++k) {
    const double x = k;
    const double y = 5 + x + k % 3;
    builder.add(callpath, metric, builder.point({&x, 1}), {&y, 1});
  }
  const auto experiment = std::move(builder).finish().value();
  const auto models = fit(*experiment, FitOptions{}, make_work()).value();
  AdvisorOptions options;
  options.budget = 1e12;
  const auto refused = advise(*experiment, models, options, make_work(false, std::uint64_t{64} << 20));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("memory"), std::string::npos);
  const auto cancel = std::make_shared<std::atomic<bool>>(true);
  const Execution execution(1, cancel);
  const ExecutionScope scope(execution);
  const auto stopped = advise(*experiment, models, options, make_work());
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().kind(), ErrorKind::cancelled);
}

}  // namespace
}  // namespace fathom
