// Models over two parameters, and planes of models over more: maps, contours and landscapes with the measurements in
// the same colours.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "experiment/unit.hpp"
#include "report/plot_parts.hpp"

namespace fathom::plot {

namespace {

constexpr double kPanelWidth = 580;
constexpr double kPanelHeight = 440;
constexpr Box kPanel{88, 58, 444, 378};
constexpr double kBarLeft = 468;
constexpr double kBarWidth = 16;
constexpr int kCells = 64;
constexpr int kShades = 128;  // neighbours of one shade are drawn as one
constexpr int kCorners = 25;  // of a landscape, in each direction
constexpr std::size_t kNameWidth = 56;

PlotAxis parameter_axis(const Drawing& drawing, std::size_t parameter) {
  Range range;
  for (const double value : measured_values(drawing.experiment, parameter)) range.add(value);
  if (drawing.reach) range.add((*drawing.reach)[parameter]);
  return PlotAxis(range, kLogFrom);  // nothing beyond the data: many functions end or turn negative there
}

AxisLabels parameter_labels(const Drawing& drawing, std::size_t parameter) {
  AxisLabels labels{drawing.experiment.parameters()[parameter], "", measured_values(drawing.experiment, parameter),
                    std::nullopt, 6};
  if (drawing.reach && (*drawing.reach)[parameter] > labels.measured.back()) {
    labels.reach = (*drawing.reach)[parameter];
  }
  return labels;
}

// `inside`: values in the middle of cells; otherwise at the corners, ends included.
Field field(const Model& model, const Plane& plane, const PlotAxis& x, const PlotAxis& y, int size, bool inside) {
  Field out{size, size, {}};
  std::vector<double> point = plane.at;
  const auto share = [&](int i) { return inside ? (i + 0.5) / size : static_cast<double>(i) / (size - 1); };
  for (int r = 0; r < size; ++r) {
    for (int c = 0; c < size; ++c) {
      point[0] = x.value(share(c));
      point[1] = y.value(share(r));
      out.values.push_back(model.function(point));
    }
  }
  return out;
}

std::string surface(const Box& box, const Field& cells, const PlotAxis& colour, Palette palette) {
  std::string out = "<g class=\"surface\" shape-rendering=\"crispEdges\">\n";
  const double w = (box.right - box.left) / cells.columns;
  const double h = (box.bottom - box.top) / cells.rows;
  for (int r = 0; r < cells.rows; ++r) {
    const auto shade = [&](int c) {
      const double value = cells.at(r, c);
      if (!std::isfinite(value)) return -1;
      return static_cast<int>(std::clamp(colour.share(value), 0.0, 1.0) * (kShades - 1) + 0.5);
    };
    for (int c = 0; c < cells.columns;) {
      int end = c + 1;
      while (end < cells.columns && shade(end) == shade(c)) ++end;
      if (shade(c) >= 0) {
        // Each reaches a little under those drawn after it: rounding must leave no gaps.
        constexpr double kOverlap = 0.6;
        const double x = box.left + c * w;
        const double y = box.bottom - (r + 1) * h;
        out += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>", x, y,
                           std::min((end - c) * w + kOverlap, box.right - x), std::min(h + kOverlap, box.bottom - y),
                           heat_colour(static_cast<double>(shade(c)) / (kShades - 1), palette));
      }
      c = end;
    }
    out += "\n";
  }
  return out + "</g>\n";
}

std::string colour_bar(const Box& box, PlotAxis colour, Palette palette, const TickNames& names) {
  std::string out = "<g class=\"colour-bar\">\n";
  colour.place(box.bottom, box.top);
  constexpr int kSteps = 64;
  const double h = (box.bottom - box.top) / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.2f}\" width=\"{:.1f}\" height=\"{:.2f}\" fill=\"{}\" "
        "shape-rendering=\"crispEdges\"/>",
        box.left, box.bottom - (i + 1) * h, box.right - box.left, h, heat_colour((i + 0.5) / kSteps, palette));
  }
  out += fmt::format(
      "\n<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" stroke=\"#333\"/>\n",
      box.left, box.top, box.right - box.left, box.bottom - box.top);
  for (const double t : colour.ticks(6)) {
    out += fmt::format("<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#333\"/>", box.right,
                       box.right + 4, colour.at(t));
    out += fmt::format("<text class=\"colour-tick\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", box.right + 8,
                       colour.at(t) + 4.5, names.text(t));
  }
  out += fmt::format("<text class=\"colour-name\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                     (box.left + box.right) / 2 + 16, box.top - 10, label_text(names.name()));
  return out + "</g>\n";
}

// The measurements that lie in a plane.
std::vector<StandingPoint> points_of(const Drawing& drawing, const Model& model, const Plane& plane) {
  const Experiment& e = drawing.experiment;
  const Series& s = e.series()[model.series];
  const auto figures = e.measure(drawing.measure);
  const auto points = e.points_of(s);
  std::vector<StandingPoint> out;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto p = e.point(points[k]);
    bool there = std::isfinite(figures[s.first + k]);
    for (std::size_t i = 2; i < p.size(); ++i) there = there && p[i] == plane.at[i];
    if (there) out.push_back({p[0], p[1], figures[s.first + k]});
  }
  return out;
}

struct Colours {
  PlotAxis axis;
  Palette palette;
};

// One scale for all planes of a model.
Colours colours(const Drawing& drawing, const Model& model, const std::vector<Plane>& planes, const PlotAxis& x,
                const PlotAxis& y) {
  Range values;
  for (const Plane& plane : planes) {
    for (const double value : field(model, plane, x, y, kCells, true).values) values.add(value);
    for (const StandingPoint& point : points_of(drawing, model, plane)) values.add(point.value);
  }
  const bool signs = !values.empty() && values.low < 0 && values.high > 0;
  if (signs) {
    const double most = std::max(-values.low, values.high);
    values.add(most);
    values.add(-most);
  }
  return {PlotAxis(values, kLogValuesFrom), signs ? Palette::around_zero : Palette::rising};
}

std::string panel(const Drawing& drawing, std::size_t number, const Plane& plane, const Colours& scale, Shape shape) {
  const Experiment& e = drawing.experiment;
  const Model& model = drawing.models[number];
  PlotAxis x = parameter_axis(drawing, 0);
  PlotAxis y = parameter_axis(drawing, 1);
  x.place(kPanel.left, kPanel.right);
  y.place(kPanel.bottom, kPanel.top);
  const Series& s = e.series()[model.series];
  const TickNames names(scale.axis, metric_name(e, s.metric), unit_of(e.metrics()[s.metric]));
  const auto points = points_of(drawing, model, plane);
  const AxisLabels x_labels = parameter_labels(drawing, 0);
  const AxisLabels y_labels = parameter_labels(drawing, 1);
  std::string out;
  if (shape == Shape::surface) {
    out += landscape(kPanel, field(model, plane, x, y, kCorners, false), x, y, scale.axis, scale.palette, points,
                     x_labels, y_labels);
  } else {
    if (shape == Shape::map) {
      out += surface(kPanel, field(model, plane, x, y, kCells, true), scale.axis, scale.palette);
    } else {
      std::vector<Mark> marks;
      for (const StandingPoint& p : points) marks.emplace_back(x.at(p.x), y.at(p.y));
      out += contour_lines(kPanel, field(model, plane, x, y, kCells, false), scale.axis, names, marks);
    }
    out += axes(kPanel, x, y, x_labels, y_labels, false);
    // A point whose colour differs from the surface is one that the model misses.
    for (const StandingPoint& p : points) {
      out += fmt::format(
          "<circle class=\"mean\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\" stroke=\"white\" "
          "stroke-width=\"1.5\"/>\n",
          x.at(p.x), y.at(p.y), heat_colour(scale.axis.share(p.value), scale.palette));
    }
  }
  out += colour_bar({kBarLeft, kPanel.top, kBarLeft + kBarWidth, kPanel.bottom}, scale.axis, scale.palette, names);
  out += fmt::format("<text class=\"title\" x=\"{}\" y=\"18\" font-weight=\"bold\">{}{}</text>\n", kPanel.left,
                     path_label(e.callpaths()[s.callpath].name, kNameWidth),
                     plane.title.empty() ? "" : ",  " + label_text(plane.title));
  const std::string function = function_label(model.function, e.parameters()) + (drawing.unsure[number] ? " (?)" : "");
  constexpr double kRoom = kPanel.right - kPanel.left + 10;
  const double size = std::clamp(13 * kRoom / text_width(visible_text(function)), 7.0, 13.0);
  out += fmt::format("<text class=\"function\" x=\"{}\" y=\"38\" font-size=\"{:.1f}\">{}</text>\n", kPanel.left, size,
                     function);
  return out;
}

}  // namespace

std::string planes(const Drawing& drawing, const std::vector<Plane>& planes, Shape shape) {
  // Slices of a model side by side; models without slices two in a row.
  const std::size_t count = drawing.models.size() * planes.size();
  const std::size_t columns = planes.size() > 1 ? planes.size() : std::min<std::size_t>(count, 2);
  std::string body;
  std::size_t n = 0;
  for (std::size_t m = 0; m < drawing.models.size(); ++m) {
    const PlotAxis x = parameter_axis(drawing, 0);
    const PlotAxis y = parameter_axis(drawing, 1);
    const Colours scale = colours(drawing, drawing.models[m], planes, x, y);
    for (const Plane& plane : planes) {
      body +=
          fmt::format("<g class=\"panel\" transform=\"translate({},{})\">\n",
                      kPanelWidth * static_cast<double>(n % columns), kPanelHeight * static_cast<double>(n / columns));
      body += panel(drawing, m, plane, scale, shape) + "</g>\n";
      ++n;
    }
  }
  const auto rows = static_cast<double>((count + columns - 1) / columns);
  return document(kPanelWidth * static_cast<double>(columns), kPanelHeight * rows, body);
}

}  // namespace fathom::plot
