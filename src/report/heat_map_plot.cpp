// Models over two parameters: a heat map each, with the measurements in the same colours.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "report/plot_parts.hpp"

namespace fathom::plot {

namespace {

constexpr double kPanelWidth = 560;
constexpr double kPanelHeight = 440;
constexpr Box kPanel{84, 56, 440, 376};
constexpr double kBarLeft = 464;
constexpr double kBarWidth = 16;
constexpr int kCells = 64;
constexpr int kShades = 128;  // neighbours of one shade are drawn as one
constexpr std::size_t kNameWidth = 56;

// From dark blue over green to yellow; even steps look even, also in grey.
std::string heat_colour(double share) {
  static constexpr double kStops[][3] = {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
  const double t = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0) * 4;
  const int i = std::min(3, static_cast<int>(t));
  const double f = t - i;
  const auto mix = [&](int c) { return static_cast<int>(kStops[i][c] + (kStops[i + 1][c] - kStops[i][c]) * f); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2));
}

PlotAxis parameter_axis(const Experiment& e, std::size_t parameter, const Reach& reach) {
  Range range;
  for (const double value : measured_values(e, parameter)) range.add(value);
  if (reach) range.add((*reach)[parameter]);
  return PlotAxis(range, kLogFrom);  // nothing beyond the data: many functions end or turn negative there
}

std::string surface(const Box& box, const std::vector<double>& grid, const PlotAxis& colour) {
  std::string out = "<g class=\"surface\" shape-rendering=\"crispEdges\">\n";
  const double w = (box.right - box.left) / kCells;
  const double h = (box.bottom - box.top) / kCells;
  for (int r = 0; r < kCells; ++r) {
    const auto shade = [&](int c) {
      const double value = grid[static_cast<std::size_t>(r * kCells + c)];
      if (!std::isfinite(value)) return -1;
      return static_cast<int>(std::clamp(colour.share(value), 0.0, 1.0) * (kShades - 1) + 0.5);
    };
    for (int c = 0; c < kCells;) {
      int end = c + 1;
      while (end < kCells && shade(end) == shade(c)) ++end;
      if (shade(c) >= 0) {
        // Each reaches a little under those drawn after it: rounding must leave no gaps.
        constexpr double kOverlap = 0.6;
        const double x = box.left + c * w;
        const double y = box.bottom - (r + 1) * h;
        out += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>", x, y,
                           std::min((end - c) * w + kOverlap, box.right - x), std::min(h + kOverlap, box.bottom - y),
                           heat_colour(static_cast<double>(shade(c)) / (kShades - 1)));
      }
      c = end;
    }
    out += "\n";
  }
  return out + "</g>\n";
}

std::string colour_bar(const Box& box, PlotAxis colour, const std::string& name) {
  std::string out = "<g class=\"colour-bar\">\n";
  colour.place(box.bottom, box.top);
  constexpr int kSteps = 64;
  const double h = (box.bottom - box.top) / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.2f}\" width=\"{:.1f}\" height=\"{:.2f}\" fill=\"{}\" "
        "shape-rendering=\"crispEdges\"/>",
        box.left, box.bottom - (i + 1) * h, box.right - box.left, h, heat_colour((i + 0.5) / kSteps));
  }
  out += fmt::format(
      "\n<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" stroke=\"#333\"/>\n",
      box.left, box.top, box.right - box.left, box.bottom - box.top);
  for (const double t : colour.ticks(6)) {
    out += fmt::format("<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#333\"/>", box.right,
                       box.right + 4, colour.at(t));
    out += fmt::format("<text class=\"colour-tick\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", box.right + 8,
                       colour.at(t) + 4.5, plot_number(t));
  }
  out += fmt::format("<text class=\"colour-name\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                     (box.left + box.right) / 2 + 16, box.top - 10, xml_escape(name));
  return out + "</g>\n";
}

std::string panel(const Experiment& e, const Model& model, Measure measure, const Reach& reach) {
  PlotAxis x = parameter_axis(e, 0, reach);
  PlotAxis y = parameter_axis(e, 1, reach);
  x.place(kPanel.left, kPanel.right);
  y.place(kPanel.bottom, kPanel.top);
  const Series& s = e.series()[model.series];
  const auto figures = e.measure(measure);
  Range values;
  std::vector<double> grid;
  for (int r = 0; r < kCells; ++r) {
    for (int c = 0; c < kCells; ++c) {
      grid.push_back(model.function(std::array{x.value((c + 0.5) / kCells), y.value((r + 0.5) / kCells)}));
      values.add(grid.back());
    }
  }
  const auto points = e.points_of(s);
  for (std::size_t k = 0; k < points.size(); ++k) values.add(figures[s.first + k]);
  const PlotAxis colour(values, kLogValuesFrom);
  std::string out = surface(kPanel, grid, colour);
  out += axes(kPanel, x, y, {e.parameters()[0], measured_values(e, 0), 6},
              {e.parameters()[1], measured_values(e, 1), 6}, false);
  // A point whose colour differs from the surface is one that the model misses.
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto p = e.point(points[k]);
    if (!std::isfinite(figures[s.first + k])) continue;
    out += fmt::format(
        "<circle class=\"mean\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\" stroke=\"white\" "
        "stroke-width=\"1.5\"/>\n",
        x.at(p[0]), y.at(p[1]), heat_colour(colour.share(figures[s.first + k])));
  }
  out += colour_bar({kBarLeft, kPanel.top, kBarLeft + kBarWidth, kPanel.bottom}, colour, metric_label(e, s.metric));
  out += fmt::format("<text class=\"title\" x=\"{}\" y=\"18\" font-weight=\"bold\">{}</text>\n", kPanel.left,
                     path_label(e.callpaths()[s.callpath].name, kNameWidth));
  out += fmt::format("<text class=\"function\" x=\"{}\" y=\"38\">{}</text>\n", kPanel.left,
                     function_label(model.function, e.parameters()));
  return out;
}

}  // namespace

std::string heat_maps(const Experiment& e, std::span<const Model* const> models, Measure measure, const Reach& reach) {
  const std::size_t columns = models.size() > 1 ? 2 : 1;
  std::string body;
  for (std::size_t n = 0; n < models.size(); ++n) {
    body +=
        fmt::format("<g class=\"panel\" transform=\"translate({},{})\">\n",
                    kPanelWidth * static_cast<double>(n % columns), kPanelHeight * static_cast<double>(n / columns));
    body += panel(e, *models[n], measure, reach) + "</g>\n";
  }
  const auto rows = static_cast<double>((models.size() + columns - 1) / columns);
  return document(kPanelWidth * static_cast<double>(columns), kPanelHeight * rows, body);
}

}  // namespace fathom::plot
