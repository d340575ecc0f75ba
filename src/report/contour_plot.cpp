// Lines of equal value: every cell between four corners contributes the piece of the line that crosses it.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "report/plot_parts.hpp"

namespace fathom::plot {

namespace {

using Point = std::pair<double, double>;

// Where a level lies on an edge, as coordinates in corners; values are compared on the axis of the colours.
std::optional<Point> crossing(const Point& a, double value_a, const Point& b, double value_b, double level) {
  if ((value_a < level) == (value_b < level)) return std::nullopt;
  const double f = (level - value_a) / (value_b - value_a);
  return Point{a.first + (b.first - a.first) * f, a.second + (b.second - a.second) * f};
}

}  // namespace

std::string contour_lines(const Box& box, const Field& corners, const PlotAxis& colour, const TickNames& names,
                          const std::vector<Mark>& marks) {
  std::string out = "<g class=\"contours\">\n";
  std::vector<Point> labels = marks;  // numbers cover neither them nor each other
  const double w = (box.right - box.left) / (corners.columns - 1);
  const double h = (box.bottom - box.top) / (corners.rows - 1);
  for (const double t : colour.ticks(10)) {
    const double level = colour.share(t);
    std::string path;
    std::vector<Point> middles;
    for (int r = 0; r + 1 < corners.rows; ++r) {
      for (int c = 0; c + 1 < corners.columns; ++c) {
        const std::array<Point, 4> at{Point{c, r}, Point{c + 1, r}, Point{c + 1, r + 1}, Point{c, r + 1}};
        std::array<double, 4> value{};
        bool known = true;
        for (std::size_t i = 0; i < 4; ++i) {
          value[i] = colour.share(corners.at(static_cast<int>(at[i].second), static_cast<int>(at[i].first)));
          known = known && std::isfinite(value[i]);
        }
        if (!known) continue;
        std::vector<Point> ends;
        for (std::size_t i = 0; i < 4; ++i) {
          if (const auto p = crossing(at[i], value[i], at[(i + 1) % 4], value[(i + 1) % 4], level)) {
            ends.emplace_back(box.left + p->first * w, box.bottom - p->second * h);
          }
        }
        for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
          path += fmt::format("M{:.1f},{:.1f}L{:.1f},{:.1f}", ends[i].first, ends[i].second, ends[i + 1].first,
                              ends[i + 1].second);
          middles.emplace_back((ends[i].first + ends[i + 1].first) / 2, (ends[i].second + ends[i + 1].second) / 2);
        }
      }
    }
    if (path.empty()) continue;
    out += fmt::format("<path class=\"contour\" d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"/>\n", path,
                       heat_colour(level * 0.9, Palette::rising));
    // The number goes where the line is farthest from the edges and from the other numbers.
    const Point* best = nullptr;
    double room = 18;
    for (const Point& p : middles) {
      double nearest = std::min(std::min(p.first - box.left, box.right - p.first) / 2,
                                std::min(p.second - box.top, box.bottom - p.second));
      for (const Point& other : labels) {
        nearest = std::min(nearest, std::hypot((p.first - other.first) / 2, p.second - other.second));
      }
      if (nearest > room) {
        room = nearest;
        best = &p;
      }
    }
    if (best == nullptr) continue;
    labels.push_back(*best);
    out += fmt::format(
        "<text class=\"contour-label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"11\" "
        "stroke=\"white\" stroke-width=\"4\" paint-order=\"stroke\" fill=\"#222\">{}</text>\n",
        best->first, best->second + 4, names.text(t));
  }
  return out + "</g>\n";
}

}  // namespace fathom::plot
