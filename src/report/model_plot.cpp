#include "report/model_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace fathom {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 480;
constexpr double kLeft = 80;
constexpr double kRight = 24;
constexpr double kTop = 24;
constexpr double kBottom = 60;
constexpr std::size_t kMostModels = 6;
// Readable in print and for colour-blind readers (Okabe and Ito).
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};

struct Range {
  double low = INFINITY;
  double high = -INFINITY;
  void add(double v) {
    if (!std::isfinite(v)) return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  [[nodiscard]] double size() const { return high > low ? high - low : 1; }
};

// Steps of 1, 2 or 5 times a power of ten, about `count` of them.
std::vector<double> ticks(const Range& range, int count) {
  const double rough = range.size() / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double step = rough / power < 1.5   ? power
                      : rough / power < 3.5 ? 2 * power
                      : rough / power < 7.5 ? 5 * power
                                            : 10 * power;
  std::vector<double> list;
  for (double t = std::ceil(range.low / step) * step; t <= range.high + step * 1e-9 && list.size() < 50; t += step) {
    list.push_back(std::fabs(t) < step * 1e-9 ? 0 : t);
  }
  return list;
}

struct Frame {
  Range x;
  Range y;
  [[nodiscard]] double px(double v) const { return kLeft + (v - x.low) / x.size() * (kWidth - kLeft - kRight); }
  [[nodiscard]] double py(double v) const {
    return kHeight - kBottom - (v - y.low) / y.size() * (kHeight - kTop - kBottom);
  }

  [[nodiscard]] std::string axes(const std::string& x_name, const std::string& y_name, bool grid) const {
    std::string out;
    for (const double t : ticks(x, 8)) {
      out += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#444\"/>", px(t),
                         kHeight - kBottom, kHeight - kBottom + 5);
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}</text>\n", px(t),
                         kHeight - kBottom + 20, t);
    }
    for (const double t : ticks(y, 6)) {
      if (grid) {
        out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>", kLeft,
                           py(t), kWidth - kRight, py(t));
      }
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n", kLeft - 8, py(t) + 4, t);
    }
    out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#444\"/>\n", kLeft,
                       kTop, kWidth - kLeft - kRight, kHeight - kTop - kBottom);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>\n",
                       (kLeft + kWidth - kRight) / 2, kHeight - 18, xml_escape(x_name));
    out += fmt::format(
        "<text transform=\"translate(18,{:.1f}) rotate(-90)\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>\n",
        (kTop + kHeight - kBottom) / 2, xml_escape(y_name));
    return out;
  }
};

std::string document(const std::string& body, double extra_height = 0) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
             "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" "
             "fill=\"white\"/>\n",
             kWidth, kHeight + extra_height) +
         body + "</svg>\n";
}

std::string label(const Experiment& e, const Model& model) {
  const Series& s = e.series()[model.series];
  return e.callpaths()[s.callpath].name + ": " + text(model.function, e.parameters());
}

std::string curves(const Experiment& e, std::span<const Model> models) {
  Frame frame;
  frame.y.add(0);
  for (std::size_t i = 0; i < e.point_count(); ++i) frame.x.add(e.point(i)[0]);
  frame.x.high += frame.x.size() * 0.05;
  constexpr int kSteps = 200;
  const auto at = [&](int i) { return frame.x.low + frame.x.size() * i / kSteps; };
  for (const Model& m : models) {
    const Series& s = e.series()[m.series];
    for (std::size_t k = 0; k < e.points_of(s).size(); ++k) frame.y.add(e.maxima()[s.first + k]);
    for (int i = 0; i <= kSteps; ++i) frame.y.add(m.function(std::array{at(i)}));
  }
  frame.y.high += frame.y.size() * 0.05;
  const std::string metric = e.metrics()[e.series()[models.front().series].metric].name;
  std::string body = frame.axes(e.parameters()[0], metric.empty() ? "value" : metric, true);
  for (std::size_t n = 0; n < models.size(); ++n) {
    const Model& m = models[n];
    const Series& s = e.series()[m.series];
    // Pieces between which a segmented model has no value are lines of their own.
    std::string path;
    bool drawing = false;
    for (int i = 0; i <= kSteps; ++i) {
      const double y = m.function(std::array{at(i)});
      if (!std::isfinite(y)) {
        drawing = false;
        continue;
      }
      path += fmt::format("{}{:.2f},{:.2f} ", drawing ? "L" : "M", frame.px(at(i)), frame.py(y));
      drawing = true;
    }
    body += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, kColours[n]);
    const auto points = e.points_of(s);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double x = frame.px(e.point(points[k])[0]);
      const std::size_t i = s.first + k;
      if (!std::isfinite(e.means()[i])) continue;
      body += fmt::format("<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:.2f}\" y2=\"{2:.2f}\" stroke=\"{3}\"/>", x,
                          frame.py(e.minima()[i]), frame.py(e.maxima()[i]), kColours[n]);
      body += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"4\" fill=\"{}\"/>\n", x, frame.py(e.means()[i]),
                          kColours[n]);
    }
    const double y = kHeight + 6 + 20 * static_cast<double>(n);
    body += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"{3}\" stroke-width=\"2\"/>", kLeft,
                        kLeft + 24, y, kColours[n]);
    std::string legend = label(e, m);
    std::replace(legend.begin(), legend.end(), '\n', ';');
    body += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", kLeft + 32, y + 4, xml_escape(fit(legend, 90)));
  }
  return document(body, 20 * static_cast<double>(models.size()) + 10);
}

// From dark blue over green to yellow; even steps look even.
std::string heat_colour(double t) {
  static constexpr double kStops[][3] = {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
  t = std::clamp(std::isfinite(t) ? t : 0.0, 0.0, 1.0) * 4;
  const int i = std::min(3, static_cast<int>(t));
  const double f = t - i;
  const auto mix = [&](int c) { return static_cast<int>(kStops[i][c] + (kStops[i + 1][c] - kStops[i][c]) * f); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2));
}

std::string heat_map(const Experiment& e, const Model& model) {
  Frame frame;
  for (std::size_t i = 0; i < e.point_count(); ++i) {
    frame.x.add(e.point(i)[0]);
    frame.y.add(e.point(i)[1]);
  }
  constexpr int kCells = 60;
  Range values;
  std::vector<double> grid;
  for (int r = 0; r < kCells; ++r) {
    for (int c = 0; c < kCells; ++c) {
      const double v = model.function(std::array{frame.x.low + frame.x.size() * (c + 0.5) / kCells,
                                                 frame.y.low + frame.y.size() * (r + 0.5) / kCells});
      grid.push_back(v);
      values.add(v);
    }
  }
  std::string body;
  const double w = (kWidth - kLeft - kRight) / kCells;
  const double h = (kHeight - kTop - kBottom) / kCells;
  for (int r = 0; r < kCells; ++r) {
    for (int c = 0; c < kCells; ++c) {
      body += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>",
                          kLeft + c * w, kHeight - kBottom - (r + 1) * h, w + 0.3, h + 0.3,
                          heat_colour((grid[static_cast<std::size_t>(r * kCells + c)] - values.low) / values.size()));
    }
    body += "\n";
  }
  body += frame.axes(e.parameters()[0], e.parameters()[1], false);
  const Series& s = e.series()[model.series];
  const auto points = e.points_of(s);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto p = e.point(points[k]);
    // A point whose colour differs from the surface is one that the model misses.
    body +=
        fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"6\" fill=\"{}\" stroke=\"white\" stroke-width=\"1.5\"/>\n",
                    frame.px(p[0]), frame.py(p[1]), heat_colour((e.means()[s.first + k] - values.low) / values.size()));
  }
  body +=
      fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", kLeft, kHeight + 12, xml_escape(fit(label(e, model), 105)));
  body += fmt::format("<text x=\"{}\" y=\"{}\">{}: {:.4g} (dark) to {:.4g} (bright)</text>\n", kLeft, kHeight + 32,
                      xml_escape(e.metrics()[s.metric].name), values.low, values.high);
  return document(body, 44);
}

}  // namespace

Result<std::string> plot_models(const Experiment& e, const ModelSet& set) {
  if (set.models.empty()) return Error::usage("there is no model to draw");
  if (e.parameters().size() == 1) {
    // One metric in one figure: the others have other units.
    const std::uint32_t metric = e.series()[set.models.front().series].metric;
    std::vector<Model> models;
    for (const Model& m : set.models) {
      if (e.series()[m.series].metric == metric && models.size() < kMostModels) models.push_back(m);
    }
    return curves(e, models);
  }
  if (e.parameters().size() == 2) return heat_map(e, set.models.front());
  return Error::usage(fmt::format("plots have one or two parameters; this experiment has {}", e.parameters().size()));
}

}  // namespace fathom
