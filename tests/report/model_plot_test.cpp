// Figures: what is in them, where it lies, and that the band is the documented interval.
#include "report/model_plot.hpp"

#include <expat.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "experiment/builder.hpp"
#include "model/fit.hpp"
#include "report/plot_axis.hpp"

namespace fathom {
namespace {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // with that of the elements inside
};

// Every element of a document, in order; fails the test when it is not well-formed.
std::vector<Element> parse(const std::string& svg) {
  struct State {
    std::vector<Element> all;
    std::vector<std::size_t> open;
  } state;
  XML_Parser parser = XML_ParserCreate(nullptr);
  XML_SetUserData(parser, &state);
  XML_SetElementHandler(
      parser,
      [](void* data, const char* name, const char** attributes) {
        auto& s = *static_cast<State*>(data);
        Element element{name, {}, {}};
        for (; *attributes != nullptr; attributes += 2) element.attributes[attributes[0]] = attributes[1];
        s.open.push_back(s.all.size());
        s.all.push_back(std::move(element));
      },
      [](void* data, const char*) { static_cast<State*>(data)->open.pop_back(); });
  XML_SetCharacterDataHandler(parser, [](void* data, const char* text, int size) {
    auto& s = *static_cast<State*>(data);
    for (const auto i : s.open) s.all[i].text.append(text, static_cast<std::size_t>(size));
  });
  EXPECT_NE(XML_Parse(parser, svg.data(), static_cast<int>(svg.size()), 1), XML_STATUS_ERROR)
      << XML_ErrorString(XML_GetErrorCode(parser));
  XML_ParserFree(parser);
  return state.all;
}

std::vector<Element> of_class(const std::vector<Element>& all, const std::string& name) {
  std::vector<Element> out;
  for (const auto& element : all) {
    const auto found = element.attributes.find("class");
    if (found != element.attributes.end() && found->second == name) out.push_back(element);
  }
  return out;
}

ExperimentPtr one_parameter(int callpaths) {
  ExperimentBuilder builder("made", make_work());
  builder.parameter("p");
  const auto metric = builder.metric("time");
  for (int c = 0; c < callpaths; ++c) {
    const auto callpath = builder.callpath("main->f<" + std::to_string(c) + ">");
    for (const double x : {4., 8., 16., 32., 64.}) {
      const double f = (10 + 3 * x) * (c + 1);
      builder.add(callpath, metric, builder.point(std::span(&x, 1)), std::vector<double>{f * 0.98, f * 1.01, f * 1.01});
    }
  }
  return std::move(builder).finish().value();
}

struct Fitted {
  ModelSet set;
  Predictor predictor;
};
Fitted fitted(const Experiment& e) {
  const auto options = fit_options("default", e.parameters().size());
  return {*fit(e, *options, make_work()), Predictor(e, *options)};
}

TEST(CurvePlot, ShowsPointsRepetitionsModelsBandsAndNames) {
  const auto e = one_parameter(2);
  const Fitted f = fitted(*e);
  const auto figure = plot_models(*e, f.set, f.predictor);
  ASSERT_TRUE(figure.ok());
  EXPECT_EQ(figure->note, "");
  const auto all = parse(figure->svg);
  EXPECT_EQ(of_class(all, "mean").size(), 2 * 5 + 2U);  // and one in each line of the legend
  EXPECT_EQ(of_class(all, "run").size(), 2 * 5 * 3U);
  EXPECT_EQ(of_class(all, "model").size(), 2U);
  EXPECT_EQ(of_class(all, "band").size(), 2U);
  ASSERT_EQ(of_class(all, "x-name").size(), 1U);
  EXPECT_EQ(of_class(all, "x-name")[0].text, "p");
  EXPECT_EQ(of_class(all, "y-name")[0].text, "time");
  // A doubling series on a logarithmic axis: its values are the ticks.
  std::vector<std::string> ticks;
  for (const auto& tick : of_class(all, "x-tick")) ticks.push_back(tick.text);
  EXPECT_EQ(ticks, (std::vector<std::string>{"4", "8", "16", "32", "64"}));
  const auto legend = of_class(all, "legend");
  ASSERT_EQ(legend.size(), 3U);
  EXPECT_NE(legend[0].text.find("main->f<1>"), std::string::npos);  // the larger one first
  EXPECT_NE(legend[2].text.find("95 % prediction interval"), std::string::npos);
}

TEST(CurvePlot, TheBandIsThePredictionInterval) {
  const auto e = one_parameter(1);
  const Fitted f = fitted(*e);
  const auto all = parse(plot_models(*e, f.set, f.predictor)->svg);
  const std::string path = of_class(all, "band")[0].attributes.at("d");
  // First point of the band: upper end at the left edge. Its height relative to two ticks gives the value.
  double x = 0;
  double y = 0;
  ASSERT_EQ(std::sscanf(path.c_str(), "M%lf,%lf", &x, &y), 2);
  const auto ticks = of_class(all, "y-tick");
  ASSERT_GE(ticks.size(), 2U);
  const auto tick = [&](std::size_t i) {
    return std::pair(std::stod(ticks[i].text), std::stod(ticks[i].attributes.at("y")) - 4.5);
  };
  const auto [v0, y0] = tick(0);
  const auto [v1, y1] = tick(ticks.size() - 1);
  const double value = v0 + (y - y0) / (y1 - y0) * (v1 - v0);
  Range range;
  range.add(4);
  range.add(64);
  PlotAxis axis(range, 8);
  axis.widen(0.03);
  const double left = axis.low();
  EXPECT_NEAR(value, f.predictor(f.set.models[0], std::span(&left, 1)).prediction.high, 0.5);
}

TEST(CurvePlot, BeyondTheMeasuredRangeTheLineIsDashed) {
  const auto e = one_parameter(1);
  const Fitted f = fitted(*e);
  EXPECT_TRUE(of_class(parse(plot_models(*e, f.set, f.predictor)->svg), "extrapolation").size() <= 1);
  const auto all = parse(plot_models(*e, f.set, f.predictor, std::vector<double>{1024})->svg);
  ASSERT_EQ(of_class(all, "extrapolation").size(), 1U);
  const auto ticks = of_class(all, "x-tick");
  EXPECT_EQ(ticks.back().text, "1024");
}

TEST(CurvePlot, SaysWhatItLeavesOut) {
  const auto e = one_parameter(8);
  const Fitted f = fitted(*e);
  const auto figure = plot_models(*e, f.set, f.predictor);
  EXPECT_NE(figure->note.find("6 largest of 8"), std::string::npos);
  EXPECT_EQ(of_class(parse(figure->svg), "model").size(), 6U);
}

ExperimentPtr two_parameters(int callpaths, std::size_t parameters = 2) {
  ExperimentBuilder builder("made", make_work());
  for (std::size_t p = 0; p < parameters; ++p) builder.parameter(std::string(1, "pnm"[p]));
  const auto metric = builder.metric("time");
  for (int c = 0; c < callpaths; ++c) {
    const auto callpath = builder.callpath("f" + std::to_string(c));
    for (const double x : {4., 8., 16., 32., 64.}) {
      for (const double y : {10., 20., 30., 40., 50.}) {
        std::vector<double> point{x, y};
        point.resize(parameters, 1);
        builder.add(callpath, metric, builder.point(point), std::vector<double>{1 + c + x * y});
      }
    }
  }
  return std::move(builder).finish().value();
}

TEST(HeatMap, HasAPanelPerModelWithPointsAndAScale) {
  const auto e = two_parameters(3);
  const Fitted f = fitted(*e);
  const auto figure = plot_models(*e, f.set, f.predictor);
  ASSERT_TRUE(figure.ok());
  const auto all = parse(figure->svg);
  EXPECT_EQ(of_class(all, "panel").size(), 3U);
  EXPECT_EQ(of_class(all, "mean").size(), 3 * 25U);
  EXPECT_EQ(of_class(all, "colour-bar").size(), 3U);
  EXPECT_GE(of_class(all, "colour-tick").size(), 6U);
  EXPECT_EQ(of_class(all, "colour-name")[0].text, "time");
  EXPECT_EQ(of_class(all, "x-name")[0].text, "p");
  EXPECT_EQ(of_class(all, "y-name")[0].text, "n");
  EXPECT_EQ(of_class(all, "title")[0].text, "f2");
}

TEST(HeatMap, MeasurementsOfAGoodModelHaveTheColourOfTheSurface) {
  const auto e = two_parameters(1);
  const Fitted f = fitted(*e);
  const auto all = parse(plot_models(*e, f.set, f.predictor)->svg);
  const auto points = of_class(all, "mean");
  // The smallest and the largest value lie at opposite ends of the colours: dark blue and yellow.
  EXPECT_EQ(points.front().attributes.at("fill").substr(1, 1), "4");
  EXPECT_GT(std::stoi(points.back().attributes.at("fill").substr(1, 2), nullptr, 16), 150);
}

TEST(Plots, AreRefusedForThreeParametersAndForNothing) {
  const auto e = two_parameters(1, 3);
  const Fitted f = fitted(*e);
  const auto refused = plot_models(*e, f.set, f.predictor);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("one or two parameters"), std::string::npos);
  EXPECT_FALSE(plot_models(*e, ModelSet{}, f.predictor).ok());
}

TEST(PlotAxis, TicksAreRoundAndInside) {
  Range range;
  range.add(0.3);
  range.add(9.7);
  const PlotAxis linear(range, INFINITY);
  EXPECT_FALSE(linear.logarithmic());
  EXPECT_EQ(linear.ticks(5), (std::vector<double>{2, 4, 6, 8}));
  const PlotAxis log(range, 8);
  EXPECT_TRUE(log.logarithmic());
  EXPECT_EQ(log.ticks(6), (std::vector<double>{0.5, 1, 2, 5}));
  EXPECT_NEAR(log.value(log.share(3)), 3, 1e-12);
}

TEST(PlotAxis, EqualValuesStillMakeAnAxis) {
  Range range;
  range.add(7);
  const PlotAxis axis(range, 8);
  EXPECT_LT(axis.low(), 7);
  EXPECT_GT(axis.high(), 7);
}

TEST(PlotNumber, LargeAndSmallOnesArePowers) {
  EXPECT_EQ(plot_number(250), "250");
  EXPECT_EQ(plot_number(0.25), "0.25");
  EXPECT_NE(plot_number(2.5e6).find("2.5×10"), std::string::npos);
  EXPECT_EQ(plot_number(1e6).substr(0, 3), "10<");
}

}  // namespace
}  // namespace fathom
