// Models over one parameter: measurements with their repetitions, the curve, and where single runs are expected.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "experiment/unit.hpp"
#include "report/plot_parts.hpp"

namespace fathom::plot {

namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 500;
constexpr Box kBox{88, 20, 736, 436};
constexpr double kLegendLine = 21;
constexpr int kSteps = 160;
constexpr std::size_t kNameWidth = 40;
// Names beside the ends of the curves: two lines each, not too far from where the curve ends.
constexpr double kLabelHeight = 31;
constexpr double kFarthestLabel = 70;
constexpr double kWidestLabel = 270;
constexpr double kFunctionSize = 11;
// Readable in print and for colour-blind readers (Okabe and Ito).
constexpr std::array kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};

struct Curve {
  const Model* model;
  std::vector<double> x, y, low, high;
};

Curve sample(const Model& model, const Predictor* predictor, const PlotAxis& axis) {
  Curve curve{&model, {}, {}, {}, {}};
  std::vector<std::vector<double>> points;
  for (int i = 0; i <= kSteps; ++i) points.push_back({axis.value(static_cast<double>(i) / kSteps)});
  std::vector<Forecast> forecasts;
  if (predictor != nullptr) {
    forecasts = predictor->at(model, points);
  } else {
    for (const auto& point : points) forecasts.push_back({model.function(point), {}, {}});
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    curve.x.push_back(points[i][0]);
    curve.y.push_back(forecasts[i].value);
    curve.low.push_back(forecasts[i].prediction.low);
    curve.high.push_back(forecasts[i].prediction.high);
  }
  return curve;
}

std::string marker(std::size_t number, double x, double y, double size, std::string_view style) {
  const auto path = [&](const std::string& d) { return fmt::format("<path class=\"mean\" d=\"{}\" {}/>", d, style); };
  switch (number % 6) {
    case 0:
      return fmt::format("<circle class=\"mean\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" {}/>", x, y, size, style);
    case 1:
      return fmt::format("<rect class=\"mean\" x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{2:.1f}\" {3}/>",
                         x - size * 0.9, y - size * 0.9, size * 1.8, style);
    case 2:  // triangle
      return path(fmt::format("M{:.1f},{:.1f} l{:.1f},{:.1f} h{:.1f} z", x, y - size * 1.2, size * 1.2, size * 2.1,
                              -size * 2.4));
    case 3:  // diamond
      return path(fmt::format("M{0:.1f},{1:.1f} l{2:.1f},{2:.1f} l{3:.1f},{2:.1f} l{3:.1f},{3:.1f} z", x,
                              y - size * 1.3, size * 1.3, -size * 1.3));
    case 4:  // triangle on its tip
      return path(fmt::format("M{:.1f},{:.1f} l{:.1f},{:.1f} h{:.1f} z", x, y + size * 1.2, size * 1.2, -size * 2.1,
                              -size * 2.4));
    default: {  // plus
      const double w = size * 0.75;
      return path(
          fmt::format("M{0:.1f},{1:.1f} h{2:.1f} v{2:.1f} h{2:.1f} v{2:.1f} h{3:.1f} v{2:.1f} h{3:.1f} v{3:.1f} "
                      "h{3:.1f} v{3:.1f} h{2:.1f} z",
                      x - w / 2, y - w * 1.5, w, -w));
    }
  }
}

class CurvePlot {
 public:
  CurvePlot(const Experiment& experiment, Measure measure, const PlotAxis& x, const PlotAxis& y)
      : experiment_(experiment), measure_(measure), x_(x), y_(y) {}

  // Between the ends of the interval, as far as they are known; ends outside the figure are cut there.
  [[nodiscard]] std::string band(const Curve& curve, std::string_view colour) const {
    std::string out;
    std::string there;
    std::string back;
    const auto flush = [&] {
      if (!there.empty()) {
        out +=
            fmt::format("<path class=\"band\" d=\"{}{}Z\" fill=\"{}\" fill-opacity=\"0.16\"/>\n", there, back, colour);
      }
      there.clear();
      back.clear();
    };
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (!std::isfinite(curve.low[i]) || !std::isfinite(curve.high[i])) {
        flush();
        continue;
      }
      const double x = x_.at(curve.x[i]);
      there += fmt::format("{}{:.1f},{:.1f} ", there.empty() ? "M" : "L", x, height(curve.high[i]));
      back = fmt::format("L{:.1f},{:.1f} ", x, height(curve.low[i])) + back;
    }
    flush();
    return out;
  }

  // Pieces between which a segmented model has no value are lines of their own; dashed outside the measured range.
  [[nodiscard]] std::string line(const Curve& curve, std::string_view colour) const {
    const auto measured = measured_values(experiment_, 0);
    std::string solid;
    std::string dashed;
    bool drawing = false;
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (!std::isfinite(curve.y[i]) || (y_.logarithmic() && !(curve.y[i] > 0))) {
        drawing = false;
        continue;
      }
      const std::string at = fmt::format("{:.1f},{:.1f} ", x_.at(curve.x[i]), height(curve.y[i]));
      std::string& path = curve.x[i] > measured.back() ? dashed : solid;
      if (&path == &dashed && dashed.empty() && drawing) {
        // Continues where the solid line ends.
        dashed = "M" + solid.substr(solid.find_last_of("ML") + 1);
      }
      path += (drawing ? "L" : "M") + at;
      drawing = true;
    }
    std::string out;
    if (!solid.empty()) {
      out += fmt::format("<path class=\"model\" d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", solid,
                         colour);
    }
    if (!dashed.empty()) {
      out += fmt::format(
          "<path class=\"extrapolation\" d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" "
          "stroke-dasharray=\"6 4\"/>\n",
          dashed, colour);
    }
    return out;
  }

  // The height of a curve where the figure ends; NaN when it has no value there.
  [[nodiscard]] double end(const Curve& curve) const {
    const double last = curve.y.back();
    return std::isfinite(last) && !(y_.logarithmic() && !(last > 0)) ? height(last) : NAN;
  }

  [[nodiscard]] std::string points(const Model& model, std::size_t number, std::string_view colour) const {
    std::string out;
    const Series& series = experiment_.series()[model.series];
    const auto points = experiment_.points_of(series);
    const auto figures = experiment_.measure(measure_);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double x = x_.at(experiment_.point(points[k])[0]);
      const std::size_t m = series.first + k;
      const auto runs = experiment_.repetition_means(m);
      for (const double run : runs) {
        if (!std::isfinite(run) || (y_.logarithmic() && !(run > 0))) continue;
        out += fmt::format(
            "<circle class=\"run\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\" fill=\"{}\" "
            "fill-opacity=\"0.45\"/>",
            x, height(run), colour);
      }
      if (runs.empty() && experiment_.minima()[m] < experiment_.maxima()[m]) {
        out += fmt::format(
            "<line class=\"runs\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
            "stroke=\"{3}\"/>",
            x, height(experiment_.minima()[m]), height(experiment_.maxima()[m]), colour);
      }
      if (!std::isfinite(figures[m]) || (y_.logarithmic() && !(figures[m] > 0))) continue;
      out += marker(number, x, height(figures[m]), 4.5,
                    fmt::format("fill=\"{}\" stroke=\"white\" stroke-width=\"1\"", colour)) +
             "\n";
    }
    return out;
  }

 private:
  [[nodiscard]] double height(double value) const {
    if (y_.logarithmic() && !(value > y_.low())) return kBox.bottom;
    return std::clamp(y_.at(value), kBox.top, kBox.bottom);
  }

  const Experiment& experiment_;
  Measure measure_;
  const PlotAxis& x_;
  const PlotAxis& y_;
};

struct Entry {
  std::string name;      // SVG text content
  std::string function;  // likewise
  double width;          // of the wider of both
  std::size_t series;    // its colour and marker
  double end;            // where the curve ends in the figure
  double y = 0;          // where the name goes
};

std::string legend(const Entry& entry, std::size_t line) {
  const double y = kHeight + kLegendLine * static_cast<double>(line);
  const char* colour = kColours[entry.series];
  std::string out = fmt::format(
      "<g class=\"legend\"><line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"{3}\" stroke-width=\"2\"/>",
      kBox.left, kBox.left + 28, y, colour);
  out += marker(entry.series, kBox.left + 14, y, 4.5, fmt::format("fill=\"{}\" stroke=\"white\"", colour));
  return out +
         fmt::format(
             "<text x=\"{}\" y=\"{}\"><tspan font-weight=\"bold\">{}</tspan><tspan dx=\"10\">{}</tspan></text></g>\n",
             kBox.left + 38, y + 4.5, entry.name, entry.function);
}

// Names go beside the ends of their curves when each finds room not far from there.
bool place_labels(std::vector<Entry>& entries) {
  std::vector<Entry*> order;
  for (Entry& entry : entries) {
    if (!std::isfinite(entry.end) || entry.width > kWidestLabel) return false;
    order.push_back(&entry);
  }
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) { return a->end < b->end; });
  // Down from the top, then up from the bottom: each keeps its distance from the next.
  double free = kBox.top + kLabelHeight / 2;
  for (Entry* entry : order) {
    entry->y = std::max(entry->end, free);
    free = entry->y + kLabelHeight;
  }
  free = kBox.bottom - kLabelHeight / 2 + 10;
  for (auto entry = order.rbegin(); entry != order.rend(); ++entry) {
    (*entry)->y = std::min((*entry)->y, free);
    free = (*entry)->y - kLabelHeight;
  }
  return std::all_of(entries.begin(), entries.end(),
                     [](const Entry& e) { return std::fabs(e.y - e.end) <= kFarthestLabel && e.y >= kBox.top; });
}

std::string direct_label(const Entry& entry) {
  const double x = kBox.right + 26;
  std::string out = "<g class=\"label\">";
  out += fmt::format("<path d=\"M{:.1f},{:.1f} L{:.1f},{:.1f}\" stroke=\"{}\" fill=\"none\"/>", kBox.right + 2,
                     entry.end, x - 4, entry.y, kColours[entry.series]);
  out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-weight=\"bold\" fill=\"{}\">{}</text>", x, entry.y,
                     kColours[entry.series], entry.name);
  return out + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" fill=\"#444\">{}</text></g>\n", x,
                           entry.y + 14, kFunctionSize, entry.function);
}

struct Scales {
  PlotAxis x;
  PlotAxis y;
  bool any_band;
};

Scales scales(const Drawing& drawing, std::vector<Curve>& sampled) {
  const Experiment& e = drawing.experiment;
  Range xs;
  for (const double value : measured_values(e, 0)) xs.add(value);
  if (drawing.reach) xs.add((*drawing.reach)[0]);
  PlotAxis x(xs, kLogFrom);
  x.widen(0.03);
  x.place(kBox.left, kBox.right);
  Range ys;
  bool positive = true;
  bool any_band = false;
  const auto include = [&](double value) {
    ys.add(value);
    positive = positive && !(value <= 0);
  };
  for (const Model& model : drawing.models) {
    const Curve& curve = sampled.emplace_back(sample(model, drawing.predictor, x));
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      include(curve.y[i]);
      any_band = any_band || std::isfinite(curve.low[i]);
      // Intervals far wider than what is known do not set the scale.
      if (curve.high[i] < 3 * curve.y[i]) ys.add(curve.high[i]);
      if (curve.low[i] > curve.y[i] / 3) ys.add(curve.low[i]);
    }
    const Series& series = e.series()[model.series];
    for (std::size_t k = 0; k < e.points_of(series).size(); ++k) {
      include(e.minima()[series.first + k]);
      include(e.maxima()[series.first + k]);
    }
  }
  PlotAxis y(ys, positive ? kLogValuesFrom : INFINITY);
  y.start_at_zero();
  y.widen(0.04);
  y.place(kBox.bottom, kBox.top);
  return {x, y, any_band};
}

}  // namespace

std::string curves(const Drawing& drawing) {
  const Experiment& e = drawing.experiment;
  std::vector<Curve> sampled;
  const auto [x, y, any_band] = scales(drawing, sampled);
  const auto measured = measured_values(e, 0);
  AxisLabels x_labels{e.parameters()[0], "", measured, std::nullopt, 8};
  if (drawing.reach && (*drawing.reach)[0] > measured.back()) x_labels.reach = (*drawing.reach)[0];
  const std::uint32_t metric = e.series()[drawing.models.front().series].metric;
  std::string body =
      axes(kBox, x, y, x_labels, {metric_name(e, metric), unit_of(e.metrics()[metric]), {}, std::nullopt, 7}, true);
  const CurvePlot plot(e, drawing.measure, x, y);
  for (std::size_t n = 0; n < sampled.size(); ++n) body += plot.band(sampled[n], kColours[n]);
  std::vector<Entry> entries;
  bool any_unsure = false;
  for (std::size_t n = 0; n < sampled.size(); ++n) {
    const Model& model = drawing.models[n];
    body += plot.line(sampled[n], kColours[n]) + plot.points(model, n, kColours[n]);
    Entry entry{path_label(e.callpaths()[e.series()[model.series].callpath].name, kNameWidth),
                function_label(model.function, e.parameters()), 0, n, plot.end(sampled[n])};
    if (drawing.unsure[n]) entry.function += " (?)";
    any_unsure = any_unsure || drawing.unsure[n];
    entry.width =
        std::max(text_width(visible_text(entry.name)), text_width(visible_text(entry.function), kFunctionSize));
    entries.push_back(std::move(entry));
  }
  double width = kWidth;
  double height = kHeight;
  if (place_labels(entries)) {
    double widest = 0;
    for (const Entry& entry : entries) {
      body += direct_label(entry);
      widest = std::max(widest, entry.width);
    }
    width = kBox.right + 26 + widest + 14;
  } else {
    for (std::size_t n = 0; n < entries.size(); ++n) body += legend(entries[n], n);
    height = kHeight + kLegendLine * static_cast<double>(entries.size());
  }
  const auto remark = [&](std::string_view sign, std::string_view text) {
    body += fmt::format("<g class=\"legend\">{}<text x=\"{}\" y=\"{}\">{}</text></g>\n", sign, kBox.left + 38,
                        height + 4.5, text);
    height += kLegendLine;
  };
  if (any_band) {
    remark(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"28\" height=\"10\" fill=\"#777\" fill-opacity=\"0.25\"/>",
                       kBox.left, height - 5),
           "95 % prediction interval: where single runs are expected");
  }
  if (any_unsure) {
    remark(fmt::format("<text x=\"{}\" y=\"{}\">(?)</text>", kBox.left + 5, height + 4.5),
           "faster growth may be noise: drawn as the growth that is expected");
  }
  return document(width, height, body);
}

}  // namespace fathom::plot
