// Figures: what is in them, where it lies, and that the band is the documented interval.
#include "report/model_plot.hpp"

#include <expat.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "experiment/builder.hpp"
#include "experiment/unit.hpp"
#include "model/fit.hpp"
#include "report/plot_axis.hpp"
#include "report/plot_image.hpp"
#include "temporary_directory.hpp"

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
  const auto figure = plot_models(*e, f.set, &f.predictor);
  ASSERT_TRUE(figure.ok());
  EXPECT_EQ(figure->note, "");
  const auto all = parse(figure->svg);
  EXPECT_EQ(of_class(all, "mean").size(), 2 * 5U);
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
  // Names stand beside the ends of the curves.
  const auto labels = of_class(all, "label");
  ASSERT_EQ(labels.size(), 2U);
  EXPECT_NE(labels[0].text.find("main › f<1>"), std::string::npos);  // the larger one first
  const auto legend = of_class(all, "legend");
  ASSERT_EQ(legend.size(), 1U);
  EXPECT_NE(legend[0].text.find("95 % prediction interval"), std::string::npos);
}

TEST(CurvePlot, TheBandIsThePredictionInterval) {
  const auto e = one_parameter(1);
  const Fitted f = fitted(*e);
  const auto all = parse(plot_models(*e, f.set, &f.predictor)->svg);
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
  EXPECT_TRUE(of_class(parse(plot_models(*e, f.set, &f.predictor)->svg), "extrapolation").size() <= 1);
  const auto all = parse(plot_models(*e, f.set, &f.predictor, {{std::nullopt, {1024}}, true, ""})->svg);
  ASSERT_EQ(of_class(all, "extrapolation").size(), 1U);
  // Between the data and the target every power of ten has its tick, and its number where that fits.
  std::vector<std::string> ticks;
  for (const auto& tick : of_class(all, "x-tick")) ticks.push_back(tick.text);
  EXPECT_EQ(ticks, (std::vector<std::string>{"4", "8", "16", "32", "64", "100", "1024"}));
}

TEST(CurvePlot, SaysWhatItLeavesOut) {
  const auto e = one_parameter(8);
  const Fitted f = fitted(*e);
  const auto figure = plot_models(*e, f.set, &f.predictor);
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
  const auto figure = plot_models(*e, f.set, &f.predictor);
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
  const auto all = parse(plot_models(*e, f.set, &f.predictor)->svg);
  const auto points = of_class(all, "mean");
  // The smallest and the largest value lie at opposite ends of the colours: dark blue and yellow.
  EXPECT_EQ(points.front().attributes.at("fill").substr(1, 1), "4");
  EXPECT_GT(std::stoi(points.back().attributes.at("fill").substr(1, 2), nullptr, 16), 150);
}

// Five call paths whose ends lie close together cannot be named beside them: there is a legend, with six markers.
TEST(CurvePlot, NamesThatDoNotFitBesideTheirCurvesGoToALegend) {
  ExperimentBuilder builder("made", make_work());
  builder.parameter("p");
  const auto metric = builder.metric("time");
  for (int c = 0; c < 6; ++c) {
    const auto callpath = builder.callpath("f" + std::to_string(c));
    for (const double x : {4., 8., 16., 32., 64.}) {
      builder.add(callpath, metric, builder.point(std::span(&x, 1)),
                  std::vector<double>{(10 + 3 * x) * (1 + c * 1e-3)});
    }
  }
  const auto e = std::move(builder).finish().value();
  const Fitted f = fitted(*e);
  const auto all = parse(plot_models(*e, f.set, &f.predictor)->svg);
  EXPECT_EQ(of_class(all, "label").size(), 0U);
  EXPECT_GE(of_class(all, "legend").size(), 6U);
  // Markers of the legend: the elements of that class after the last point; no two series share their shape.
  std::set<std::string> shapes;
  const auto means = of_class(all, "mean");
  ASSERT_EQ(means.size(), 6 * 5 + 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    const Element& mark = means[means.size() - 6 + i];
    std::string shape = mark.name;
    if (const auto d = mark.attributes.find("d"); d != mark.attributes.end()) {
      shape += d->second.substr(d->second.find_first_of("lh"));
    }
    shapes.insert(shape);
  }
  EXPECT_EQ(shapes.size(), 6U);
}

TEST(CurvePlot, TimesHaveTheUnitThatSuitsTheirSize) {
  const auto made = [](double size, double growth) {
    ExperimentBuilder builder("made", make_work());
    builder.parameter("p");
    const auto metric = builder.metric("time");
    set_unit(builder.metric_tags(metric), "s");
    for (const double x : {4., 8., 16., 32., 64.}) {
      builder.add(builder.callpath("f"), metric, builder.point(std::span(&x, 1)),
                  std::vector<double>{size * std::pow(x, growth)});
    }
    return std::move(builder).finish().value();
  };
  const auto linear = made(2e-5, 0.5);
  const Fitted f = fitted(*linear);
  const auto all = parse(plot_models(*linear, f.set, &f.predictor)->svg);
  EXPECT_EQ(of_class(all, "y-name")[0].text, "time [µs]");
  for (const auto& tick : of_class(all, "y-tick")) EXPECT_EQ(tick.text.find("10−"), std::string::npos) << tick.text;
  const auto logarithmic = made(2e-5, 2);
  const Fitted g = fitted(*logarithmic);
  const auto both = parse(plot_models(*logarithmic, g.set, &g.predictor)->svg);
  EXPECT_EQ(of_class(both, "y-name")[0].text, "time");
  const auto ticks = of_class(both, "y-tick");
  EXPECT_TRUE(std::any_of(ticks.begin(), ticks.end(), [](const Element& t) { return t.text == "1 ms"; }));
}

// The table counts growth that may be noise as the expected one; the figure draws the same function.
TEST(CurvePlot, AgreesWithTheTableAboutGrowthThatMayBeNoise) {
  ExperimentBuilder builder("made", make_work());
  builder.parameter("p");
  const auto metric = builder.metric("time");
  const double scatter[] = {1.00, 0.97, 1.02, 0.99, 1.04};
  std::size_t i = 0;
  for (const double x : {4., 8., 16., 32., 64.}) {
    const double f = 10 * scatter[i++];
    builder.add(builder.callpath("flat"), metric, builder.point(std::span(&x, 1)),
                std::vector<double>{f * 0.95, f, f * 1.05});
  }
  const auto e = std::move(builder).finish().value();
  ModelSet set;
  Model model;
  model.function.constant = 9.9;
  model.function.terms.push_back({1e-5, {{0, Exponent::fraction(2), {}, {}}}});  // p^2: from noise alone
  set.models.push_back(model);
  const Predictor predictor(*e, *fit_options("default", 1));
  const RankingOptions far{std::nullopt, {65536}};
  const auto ranking = rank_models(*e, set, far);
  ASSERT_TRUE(ranking.ok());
  ASSERT_TRUE(ranking->models[0].tamed());
  const auto all = parse(plot_models(*e, set, &predictor, {far, true, ""})->svg);
  // Raw, the model would be 43,000 at the target; as it counts it stays near ten.
  double top = 0;
  for (const auto& tick : of_class(all, "y-tick")) top = std::max(top, std::stod(tick.text));
  EXPECT_LT(top, 100);
  EXPECT_NE(of_class(all, "label")[0].text.find("(?)"), std::string::npos);
}

TEST(Planes, ThreeParametersAreDrawnAsSlices) {
  ExperimentBuilder builder("made", make_work());
  for (const char* name : {"p", "n", "m"}) builder.parameter(name);
  const auto metric = builder.metric("time");
  for (const double x : {4., 8., 16., 32., 64.}) {
    for (const double y : {10., 20., 30., 40., 50.}) {
      for (const double z : {1., 2., 3., 4., 5.}) {
        const std::vector<double> point{x, y, z};
        builder.add(builder.callpath("f"), metric, builder.point(point), std::vector<double>{x * y * z});
      }
    }
  }
  const auto e = std::move(builder).finish().value();
  const Fitted f = fitted(*e);
  const auto figure = plot_models(*e, f.set, &f.predictor);
  ASSERT_TRUE(figure.ok());
  const auto all = parse(figure->svg);
  const auto titles = of_class(all, "title");
  ASSERT_EQ(titles.size(), 3U);
  EXPECT_EQ(titles[0].text, "f,  m = 1");
  EXPECT_EQ(titles[2].text, "f,  m = 5");
  EXPECT_EQ(of_class(all, "mean").size(), 3 * 25U);  // only those that lie in the slice
}

TEST(Planes, ContoursLieWhereTheValuesAre) {
  const auto e = two_parameters(1);
  const Fitted f = fitted(*e);
  const auto all = parse(plot_models(*e, f.set, &f.predictor, {{}, false, "contour"})->svg);
  const auto lines = of_class(all, "contour");
  ASSERT_GE(lines.size(), 3U);
  ASSERT_GE(of_class(all, "contour-label").size(), 2U);
  EXPECT_EQ(of_class(all, "surface").size(), 0U);
  // x * y is constant along hyperbolas: from the first to the last piece of a line x grows while y falls (in the
  // figure: grows downwards, so that the line runs from the upper left to the lower right).
  const std::string d = lines[lines.size() / 2].attributes.at("d");
  double x0 = 1e9, y0 = 0, x1 = -1, y1 = 0;
  for (std::size_t at = d.find_first_of("ML"); at != std::string::npos; at = d.find_first_of("ML", at + 1)) {
    double x = 0, y = 0;
    ASSERT_EQ(std::sscanf(d.c_str() + at + 1, "%lf,%lf", &x, &y), 2);
    if (x < x0) x0 = x, y0 = y;
    if (x > x1) x1 = x, y1 = y;
  }
  EXPECT_LT(y0, y1);
}

TEST(Planes, TheLandscapeRisesWithTheValues) {
  const auto e = two_parameters(1);
  const Fitted f = fitted(*e);
  const auto all = parse(plot_models(*e, f.set, &f.predictor, {{}, false, "surface"})->svg);
  EXPECT_EQ(of_class(all, "facet").size(), 24 * 24U);
  const auto points = of_class(all, "mean");
  ASSERT_EQ(points.size(), 25U);
  // The first point has the smallest value, the last the largest; without height they would lie at one level.
  EXPECT_GT(std::stod(points.front().attributes.at("cy")), std::stod(points.back().attributes.at("cy")) + 100);
  EXPECT_FALSE(plot_models(*e, f.set, &f.predictor, {{}, false, "pie"}).ok());
}

TEST(Planes, DifferencesOfBothSignsHaveColoursAroundZero) {
  const auto e = two_parameters(1);
  Fitted f = fitted(*e);
  f.set.models[0].function.constant -= 1000;
  const auto all = parse(plot_models(*e, f.set, nullptr)->svg);
  std::vector<double> ticks;
  bool minus = false;
  for (const auto& tick : of_class(all, "colour-tick")) minus = minus || tick.text.starts_with("−");
  EXPECT_TRUE(minus);
}

TEST(Plots, AreRefusedForNothing) {
  const auto e = two_parameters(1);
  const Fitted f = fitted(*e);
  EXPECT_FALSE(plot_models(*e, ModelSet{}, &f.predictor).ok());
}

TEST(PlotImage, IsWhatTheEndingSays) {
  const TemporaryDirectory folder;
  const auto e = one_parameter(2);
  const Fitted f = fitted(*e);
  const std::string svg = plot_models(*e, f.set, &f.predictor)->svg;
  EXPECT_FALSE(check_figure_name(folder.path() / "x.jpeg").ok());
  EXPECT_FALSE(write_figure(folder.path() / "x", svg).ok());
  ASSERT_TRUE(write_figure(folder.path() / "x.svg", svg).ok());
  if (!check_figure_name(folder.path() / "x.png").ok()) GTEST_SKIP() << "librsvg is not installed";
  const auto start = [&](const char* name) {
    std::ifstream in(folder.path() / name, std::ios::binary);
    std::string bytes(8, ' ');
    in.read(bytes.data(), 8);
    return bytes;
  };
  ASSERT_TRUE(write_figure(folder.path() / "x.png", svg).ok());
  EXPECT_EQ(start("x.png"), "\x89PNG\r\n\x1a\n");
  ASSERT_TRUE(write_figure(folder.path() / "x.pdf", svg).ok());
  EXPECT_EQ(start("x.pdf").substr(0, 5), "%PDF-");
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
  EXPECT_EQ(plot_number(-3), "−3");
  EXPECT_NE(plot_number(1e-6).find(">−6<"), std::string::npos);
}

}  // namespace
}  // namespace fathom
