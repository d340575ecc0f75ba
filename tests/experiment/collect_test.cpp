#include "experiment/collect.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "profile/expression/derive.hpp"
#include "profile/memory_profile.hpp"

namespace fathom {
namespace {

using Values = std::map<std::string, std::vector<double>>;  // of the metric time, by call path

RunAtPoint run(double p, const Values& values, const std::string& metric = "time") {
  RunAtPoint run;
  run.point = {p};
  run.name = "app.p" + std::to_string(static_cast<int>(p)) + "/profile.cubex";
  for (const auto& [path, list] : values) run.values.push_back({metric, path, list});
  return run;
}

// Means by call path, one per point.
Values means(const Experiment& e) {
  Values out;
  for (const Series& s : e.series()) {
    for (std::size_t k = 0; k < e.points_of(s).size(); ++k) {
      out[e.callpaths()[s.callpath].name].push_back(e.means()[s.first + k]);
    }
  }
  return out;
}

Result<ExperimentPtr> collected(std::vector<RunAtPoint> runs, const CollectOptions& options = {},
                                const Work& work = make_work()) {
  return collect("runs", {"p"}, std::move(runs), options, work);
}

// `f` is not there at p=2.
std::vector<RunAtPoint> unequal_runs() {
  return {run(2, {{"main", {1, 3}}, {"main->g", {10, 10}}}),
          run(1, {{"main", {2, 4}}, {"main->f", {5, 7}}, {"main->f->h", {1, 1}}, {"main->g", {20, 20}}})};
}

TEST(Collect, LeavesOutWhatIsNotEverywhere) {
  const Work work = make_work();
  const auto e = collected(unequal_runs(), {}, work);
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(means(**e), (Values{{"main", {3, 2}}, {"main->g", {20, 10}}}));
  ASSERT_EQ(work->diagnostics.all().size(), 1u);
  EXPECT_EQ(work->diagnostics.all()[0].id, "runs.incomplete_removed");
  EXPECT_NE(work->diagnostics.all()[0].text.find("2 pairs"), std::string::npos);
}

TEST(Collect, AnotherUnitIsTold) {
  for (const auto& [unit, told] : {std::pair("usec", true), {"s", false}, {"", false}}) {
    const Work work = make_work();
    std::vector<RunAtPoint> runs = {run(1, {{"main", {1}}}), run(2, {{"main", {2}}})};
    runs[0].units = {{"time", "sec"}, {"visits", "occ"}};
    runs[1].units = {{"time", unit}, {"visits", "many"}};  // of visits there are no values
    ASSERT_TRUE(collected(std::move(runs), {}, work).ok());
    const auto said = work->diagnostics.all();
    ASSERT_EQ(said.size(), told ? 1u : 0u) << unit;
    for (const Diagnostic& one : said) EXPECT_EQ(one.id, "runs.other_unit");
  }
}

// The sum over locations of a minimum means nothing: the smallest of them is the run's.
TEST(Collect, StrongScalingCombinesExtremes) {
  using Combine = RunValues::Combine;
  for (const auto& [combine, expected] :
       {std::pair(Combine::sum, 12.0), {Combine::minimum, 2.0}, {Combine::maximum, 7.0}}) {
    std::vector<RunAtPoint> runs = {run(1, {{"main", {3, 2, 7}}}), run(2, {{"main", {3, 2, 7}}})};
    for (RunAtPoint& each : runs) each.values[0].combine = combine;
    CollectOptions options;
    options.scaling = Scaling::strong;
    const auto e = collected(runs, options);
    ASSERT_TRUE(e.ok());
    EXPECT_EQ(means(**e), (Values{{"main", {expected, expected}}}));
    EXPECT_EQ(find_tag((*e)->metrics()[0].tags, kExtremeTag) != nullptr, combine != Combine::sum);
  }
}

TEST(Collect, MergesWhatIsNotEverywhereIntoTheCallPathAbove) {
  CollectOptions options;
  options.missing = CollectOptions::Missing::merge;
  const Work work = make_work();
  const auto e = collected(unequal_runs(), options, work);
  ASSERT_TRUE(e.ok());
  // main at p=1: 2 + 5 + 1 and 4 + 7 + 1.
  EXPECT_EQ(means(**e), (Values{{"main", {10, 2}}, {"main->g", {20, 10}}}));
  EXPECT_TRUE(work->diagnostics.all().empty());
}

// What is inclusive holds what lies below it already.
TEST(Collect, InclusiveValuesAreNotMergedTwice) {
  CollectOptions options;
  options.missing = CollectOptions::Missing::merge;
  options.inclusive = true;
  const auto e = collected({run(1, {{"main", {30}}, {"main->f", {12}}}), run(2, {{"main", {20}}})}, options);
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(means(**e), (Values{{"main", {30, 20}}}));
}

TEST(Collect, MergedExtremesStayExtremes) {
  using Combine = RunValues::Combine;
  CollectOptions options;
  options.missing = CollectOptions::Missing::merge;
  for (const auto& [combine, expected] : {std::pair(Combine::minimum, 2.0), {Combine::maximum, 6.0}}) {
    std::vector<RunAtPoint> runs = {run(1, {{"main", {4, 4}}, {"main->f", {2, 6}}}), run(2, {{"main", {5, 5}}})};
    for (RunAtPoint& each : runs) {
      for (RunValues& values : each.values) values.combine = combine;
    }
    const auto e = collected(runs, options);
    ASSERT_TRUE(e.ok());
    EXPECT_EQ(means(**e), (Values{{"main", {(expected + 4) / 2, 5}}}));  // of the locations: 2 and 4, or 4 and 6
  }
}

TEST(Collect, KeepsWhatIsNotEverywhereWhenAsked) {
  CollectOptions options;
  options.missing = CollectOptions::Missing::keep;
  const auto e = collected(unequal_runs(), options);
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(means(**e), (Values{{"main", {3, 2}}, {"main->f", {6}}, {"main->f->h", {1}}, {"main->g", {20, 10}}}));
}

// solve has two sizes in both runs, opt one, and rare two of which one is not in every run; helper is called by solve
// of one size only.
std::vector<RunAtPoint> runs_with_sizes() {
  std::vector<RunAtPoint> runs;
  for (const double p : {1.0, 2.0}) {
    for (const double size : {7.0, 10.0, 100.0}) {
      RunAtPoint& at = runs.emplace_back();
      at.point = {p, size};
      at.name = "app.p" + std::to_string(static_cast<int>(p));
      if (size == 7) {
        at.values.push_back({"time", "opt", {1}});
        if (p == 1) at.values.push_back({"time", "opt->rare", {3}});
        continue;
      }
      at.values.push_back({"time", "solve", {size * p}});
      if (size == 10) at.values.push_back({"time", "solve->helper", {2}});
      if (size == 100) at.values.push_back({"time", "opt->rare", {4}});
    }
  }
  return runs;
}

// Values of the parameter that other call paths have are none that this one lacks.
TEST(Collect, CallPathsAreCompleteAtTheirOwnValuesOfAParameter) {
  CollectOptions options;
  options.parameters_from = {"size"};
  const Work work = make_work();
  const auto e = collect("runs", {"p", "size"}, runs_with_sizes(), options, work);
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(means(**e), (Values{{"opt", {1, 1}}, {"solve", {10, 100, 20, 200}}, {"solve->helper", {2, 2}}}));
  EXPECT_TRUE(validate(**e, false).ok());
  ASSERT_EQ(work->diagnostics.all().size(), 1u);
  const std::string text = work->diagnostics.all()[0].text;
  EXPECT_NE(text.find("1 pairs of call path and metric do not occur in every run with each of their values of size"),
            std::string::npos)
      << text;
}

TEST(Collect, MergesWhatIsNotAtAllOfItsOwnValuesOfAParameter) {
  CollectOptions options;
  options.parameters_from = {"size"};
  options.missing = CollectOptions::Missing::merge;
  const auto e = collect("runs", {"p", "size"}, runs_with_sizes(), options, make_work());
  ASSERT_TRUE(e.ok());
  // rare joins opt at all of its points: 1 + 3 at (1, 7), and 4 at size 100.
  EXPECT_EQ(means(**e), (Values{{"opt", {4, 4, 1, 4}}, {"solve", {10, 100, 20, 200}}, {"solve->helper", {2, 2}}}));
}

TEST(Collect, DropsCallPathsThatAreSmallEverywhere) {
  CollectOptions options;
  options.small = SmallKernels{0.1, "time", ""};
  const std::vector<RunAtPoint> runs = {
      run(1, {{"main", {50}}, {"main->a", {9}}, {"main->b", {1}}, {"main->c", {40}}}),
      run(2, {{"main", {70}}, {"main->a", {20}}, {"main->b", {2}}, {"main->c", {8}}})};
  auto e = collected(runs, options);
  ASSERT_TRUE(e.ok());
  // Totals are 100 and 100: a is large at 2, c at 1, b nowhere.
  EXPECT_EQ(means(**e), (Values{{"main", {50, 70}}, {"main->a", {9, 20}}, {"main->c", {40, 8}}}));
  options.small->root = "main->a";
  e = collected(runs, options);
  ASSERT_TRUE(e.ok());
  EXPECT_EQ((*e)->series().size(), 4u);  // b is 1/9 and 1/10 of a
  options.small->metric = "times";
  e = collected(runs, options);
  ASSERT_FALSE(e.ok());
  EXPECT_NE(e.error().text().find("did you mean 'time'"), std::string::npos) << e.error().text();
}

TEST(Collect, Scalings) {
  const std::vector<RunAtPoint> runs = {run(1, {{"main", {0, 4}}}), run(1, {{"main", {0, 8}}}),
                                        run(2, {{"main", {0, 0}}})};
  CollectOptions options;
  EXPECT_EQ(means(**collected(runs, options)), (Values{{"main", {3, 0}}}));
  options.scaling = Scaling::weak_threaded;
  EXPECT_EQ(means(**collected(runs, options)), (Values{{"main", {6, 0}}}));
  options.scaling = Scaling::strong;
  const auto e = collected(runs, options);
  EXPECT_EQ(means(**e), (Values{{"main", {6, 0}}}));
  EXPECT_EQ((*e)->repetitions()[0], 2u);
  EXPECT_EQ((*e)->scaling(), Scaling::strong);
}

TEST(Collect, RunsOfOnePointHaveTheSameNumberOfLocations) {
  const std::vector<RunAtPoint> runs = {run(1, {{"main", {1, 1}}}), run(1, {{"main", {1, 1, 1}}})};
  const auto e = collected(runs);
  ASSERT_FALSE(e.ok());
  EXPECT_NE(e.error().text().find("has 3 locations"), std::string::npos) << e.error().text();
  EXPECT_NE(e.error().hint().find("--scaling strong"), std::string::npos);
  CollectOptions strong;
  strong.scaling = Scaling::strong;
  EXPECT_TRUE(collected(runs, strong).ok());
  // A minimum of nothing on a location is no location less.
  EXPECT_TRUE(collected({run(1, {{"a", {1}}, {"main", {1, 1}}}), run(1, {{"a", {1, 2}}, {"main", {1, 1}}})}).ok());
}

// Only what an unsigned counter may hold is a negative number that went wrong; a large amount is one.
TEST(Collect, CountersBelowZeroAreToldAndLargeAmountsStay) {
  test::MemoryProfile made;
  const MetricId flops = made.metric("flops");
  const MetricId counter = made.metric("counter", ValueKind::u64);
  made.context("main");
  made.values<double>(flops, "main", {3e19, 1e300});
  made.values<std::uint64_t>(counter, "main", {~std::uint64_t{0} - 4, 7});
  LeftOut left_out;
  const auto values = values_of_run(*made.build(), {}, left_out);
  ASSERT_TRUE(values.ok());
  Values got;
  for (const RunValues& v : *values) got[v.metric] = v.values;
  EXPECT_EQ(got, (Values{{"flops", {3e19, 1e300}}, {"counter", {0, 7}}}));
  EXPECT_EQ(left_out.wrapped, 1U);
}

// A path repeats all that is above it: 3,000 calls in each other need 3000 * 3001 / 2 times a name and an arrow.
TEST(Collect, PathsOfALongChainOfCallsCountAgainstTheMemoryLimit) {
  test::MemoryProfile made;
  const MetricId time = made.metric("time");
  std::string path = "f";
  made.context(path);
  for (int i = 1; i < 3000; ++i) made.context(path += "/f");
  made.values<double>(time, path, {1, 2});
  const ProfilePtr profile = made.build();
  const std::uint64_t bytes = 3000ULL * 3001 / 2 * 3 - 2ULL * 3000;
  const auto collected_with = [&](std::uint64_t memory) {
    Profile limited = *profile;
    limited.work = make_work(false, memory);
    LeftOut left_out;
    return values_of_run(limited, {}, left_out);
  };
  const auto refused = collected_with(bytes - 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("the text of the call paths needs"), std::string::npos)
      << refused.error().text();
  EXPECT_TRUE(collected_with(bytes + (1 << 20)).ok());
}

std::set<std::string> metrics_of(const std::vector<RunValues>& values) {
  std::set<std::string> names;
  for (const RunValues& v : values) names.insert(v.metric);
  return names;
}

TEST(Collect, HiddenMetricsAreToldAndTakenWhereNothingElseIs) {
  using Names = std::set<std::string>;
  for (const bool all_hidden : {false, true}) {
    test::MemoryProfile made;
    const MetricId time = made.metric("time");
    made.defs().metrics.back().hidden = all_hidden;
    const MetricId samples = made.metric("samples");
    made.defs().metrics.back().hidden = true;
    made.metric("nothing");
    made.defs().metrics.back().hidden = true;
    made.metric("summary");
    made.defs().metrics.back().scopes.clear();
    made.context("main");
    made.values<double>(time, "main", {1, 2});
    made.values<double>(samples, "main", {3, 0});
    const ProfilePtr profile = made.build();
    LeftOut left_out;
    auto values = values_of_run(*profile, {}, left_out);
    ASSERT_TRUE(values.ok());
    EXPECT_EQ(metrics_of(*values), all_hidden ? Names({"time", "samples"}) : Names({"time"}));
    EXPECT_EQ(left_out.hidden, all_hidden ? std::vector<std::string>() : std::vector<std::string>{"samples"});
    CollectOptions options;
    options.metrics = {"samples"};
    LeftOut again;
    values = values_of_run(*profile, options, again);
    ASSERT_TRUE(values.ok());
    EXPECT_EQ(metrics_of(*values), Names({"samples"}));
    EXPECT_TRUE(again.hidden.empty());
  }
}

TEST(Collect, MetricsThatAreNotTakenHaveTheirReason) {
  test::MemoryProfile made;
  const MetricId time = made.metric("time");
  made.metric("empty");
  made.metric("lost");
  made.defs().metrics.back().unusable = "its file is lost";
  made.metric("summary");
  made.defs().metrics.back().scopes.clear();
  made.metric("off");
  made.defs().metrics.back().switched_off = true;
  made.context("main");
  made.values<double>(time, "main", {1, 2});
  const ProfilePtr profile = made.build();
  using Reasons = std::map<std::string, std::string>;
  Reasons reasons = {
      {"lost", "its file is lost"}, {"off", "declared void"}, {"summary", "no values of single threads are stored"}};
  LeftOut left_out;
  ASSERT_TRUE(values_of_run(*profile, {}, left_out).ok());
  EXPECT_EQ(left_out.metrics, std::vector<std::string>{"empty"});
  EXPECT_EQ(left_out.others, reasons);
  CollectOptions options;
  options.parameters_from = {"size"};
  LeftOut without;
  ASSERT_TRUE(values_of_run(*profile, options, without).ok());
  reasons["time"] = "no call path with values has the parameter size";
  EXPECT_EQ(without.metrics, std::vector<std::string>{"empty"});
  EXPECT_EQ(without.others, reasons);
}

TEST(Collect, StrongScalingTakesRatiosOfSums) {
  test::MemoryProfile made;
  const MetricId time = made.metric("time");
  const MetricId visits = made.metric("visits", ValueKind::u64);
  made.context("main");
  made.values<double>(time, "main", {6, 2});
  made.values<std::uint64_t>(visits, "main", {1, 3});
  const auto profile = with_derived(made.build(), "per_visit = time / visits");
  ASSERT_TRUE(profile.ok());
  CollectOptions options;
  options.scaling = Scaling::strong;
  LeftOut left_out;
  const auto values = values_of_run(**profile, options, left_out);
  ASSERT_TRUE(values.ok());
  Values got;
  for (const RunValues& v : *values) got[v.metric] = v.values;
  EXPECT_EQ(got, (Values{{"time", {6, 2}}, {"visits", {1, 3}}, {"per_visit", {2}}}));  // (6 + 2) / (1 + 3)
}

// The whole of complex numbers is the modulus of their sum, not the sum of their moduli: |3 + 4i| and not 3 + 4.
TEST(Collect, StrongScalingCombinesCompositesByTheirRules) {
  test::MemoryProfile made;
  const MetricId wave = made.metric("wave", ValueKind::complex);
  made.context("main");
  made.values<double>(wave, "main", {3, 0, 0, 4});
  CollectOptions options;
  options.scaling = Scaling::strong;
  LeftOut left_out;
  const auto values = values_of_run(*made.build(), options, left_out);
  ASSERT_TRUE(values.ok());
  ASSERT_EQ(values->size(), 1u);
  EXPECT_EQ((*values)[0].values, std::vector<double>{5});
}

// solve is called with two sizes; below it, and with the size of its caller, kernel.
ProfilePtr with_parameters() {
  Definitions defs;
  test::MemoryProfile made({"0"});
  const MetricId time = made.metric("time");
  made.context("main");
  const ProfilePtr names = made.build();
  auto profile = std::make_shared<Profile>(*names);
  auto with = std::make_shared<Definitions>(names->defs());
  for (const char* name : {"solve", "operator->"}) {
    Region region;
    region.name = name;
    with->regions.push_back(region);
  }
  ContextTreeBuilder builder;
  const auto main = builder.add(ContextTreeBuilder::kRoot, RegionId(0), 0);
  for (const double size : {10.0, 1000.0}) {
    const auto solve = builder.add(main, RegionId(1), builder.size());
    builder.details(solve).parameters.push_back({"size", size});
    builder.add(solve, RegionId(2), builder.size());
  }
  with->contexts = std::move(builder).build();
  auto source = std::make_shared<test::MemorySource>();
  source->value_size = {8};
  for (std::uint32_t i = 0; i < 5; ++i) {
    const double value = i + 1;
    auto& row = source->rows[{time.value, i}];
    row.resize(8);
    std::memcpy(row.data(), &value, 8);
  }
  profile->definitions = with;
  profile->values = source;
  return profile;
}

TEST(Collect, ParametersOfCallPathsArePartOfTheirNames) {
  LeftOut left_out;
  const auto values = values_of_run(*with_parameters(), {}, left_out);
  ASSERT_TRUE(values.ok());
  Values got;
  for (const RunValues& v : *values) got[v.callpath] = v.values;
  EXPECT_EQ(got, (Values{{"main", {1}},
                         {"main->solve (size=10)", {2}},
                         {"main->solve (size=10)->operator- >", {3}},
                         {"main->solve (size=1000)", {4}},
                         {"main->solve (size=1000)->operator- >", {5}}}));
}

TEST(Collect, ParametersOfCallPathsCanBeParametersOfTheExperiment) {
  LeftOut left_out;
  CollectOptions options;
  options.parameters_from = {"size"};
  const auto values = values_of_run(*with_parameters(), options, left_out);
  ASSERT_TRUE(values.ok());
  std::map<std::pair<std::string, double>, double> got;
  for (const RunValues& v : *values) got[{v.callpath, v.parameters.at(0)}] = v.values.at(0);
  EXPECT_EQ(got, (std::map<std::pair<std::string, double>, double>{{{"main->solve", 10}, 2},
                                                                   {{"main->solve->operator- >", 10}, 3},
                                                                   {{"main->solve", 1000}, 4},
                                                                   {{"main->solve->operator- >", 1000}, 5}}));
  EXPECT_EQ(left_out.without_parameters, 1U);  // main
}

// Calls that differ in another parameter are others, not repetitions.
TEST(Collect, ParametersThatAreNotTakenStayInTheName) {
  auto profile = std::make_shared<Profile>(*with_parameters());
  auto defs = std::make_shared<Definitions>(profile->defs());
  ContextTreeBuilder builder;
  const auto main = builder.add(ContextTreeBuilder::kRoot, RegionId(0), 0);
  builder.details(main).parameters.push_back({"size", 5.0});
  for (const char* mode : {"a", "b"}) {
    const auto solve = builder.add(main, RegionId(1), builder.size());
    builder.details(solve).parameters.push_back({"size", 10.0});
    builder.details(solve).parameters.push_back({"mode", std::string(mode)});
  }
  const auto unknown = builder.add(main, RegionId(2), builder.size());
  builder.details(unknown).parameters.push_back({"size", std::string("large")});
  defs->contexts = std::move(builder).build();
  profile->definitions = defs;
  LeftOut left_out;
  CollectOptions options;
  options.parameters_from = {"size"};
  const auto values = values_of_run(*profile, options, left_out);
  ASSERT_TRUE(values.ok());
  Values got;
  for (const RunValues& v : *values) got[v.callpath] = {v.parameters.at(0), v.values.at(0)};
  EXPECT_EQ(got, (Values{{"main", {5, 1}}, {"main->solve (mode=a)", {10, 2}}, {"main->solve (mode=b)", {10, 3}}}));
  EXPECT_EQ(left_out.without_parameters, 1U);  // its own size is no number, and it has not its caller's
}

}  // namespace
}  // namespace fathom
