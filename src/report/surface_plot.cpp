// A model over two parameters as a landscape: a parallel projection from above, drawn from the back to the front.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "report/plot_parts.hpp"

namespace fathom::plot {

namespace {

using Point = std::pair<double, double>;

// x runs to the right and towards the reader, y to the right and away, height upwards; all between 0 and 1.
class Projection {
 public:
  explicit Projection(const Box& box)
      : left_(box.left),
        bottom_(box.bottom + 8),
        half_((box.right - box.left) / 2),
        depth_((box.bottom - box.top) * 0.2),
        height_((box.bottom - box.top) * 0.62) {}
  [[nodiscard]] Point at(double x, double y, double z) const {
    return {left_ + (x + y) * half_, bottom_ - depth_ + (x - y) * depth_ - std::clamp(z, 0.0, 1.0) * height_};
  }

 private:
  double left_, bottom_, half_, depth_, height_;
};

std::string coordinates(const Point& p) { return fmt::format("{:.1f},{:.1f} ", p.first, p.second); }

}  // namespace

std::string landscape(const Box& box, const Field& corners, const PlotAxis& x, const PlotAxis& y,
                      const PlotAxis& colour, Palette palette, const std::vector<StandingPoint>& points,
                      const AxisLabels& x_labels, const AxisLabels& y_labels) {
  const Projection project(box);
  std::string out = "<g class=\"landscape\">\n";
  const auto line = [&](const Point& a, const Point& b, std::string_view style) {
    out += fmt::format("<path d=\"M{}L{}\" fill=\"none\" {}/>\n", coordinates(a), coordinates(b), style);
  };
  constexpr std::string_view kEdge = "stroke=\"#333\"";
  constexpr std::string_view kFaint = "stroke=\"#ccc\"";
  line(project.at(0, 0, 0), project.at(1, 0, 0), kEdge);
  line(project.at(1, 0, 0), project.at(1, 1, 0), kEdge);
  line(project.at(0, 0, 0), project.at(0, 1, 0), kFaint);
  line(project.at(0, 1, 0), project.at(1, 1, 0), kFaint);
  line(project.at(0, 1, 0), project.at(0, 1, 1), kFaint);
  line(project.at(0, 0, 0), project.at(0, 0, 1), kFaint);
  line(project.at(1, 1, 0), project.at(1, 1, 1), kFaint);
  const double length = std::hypot((box.right - box.left) / 2, 60);
  const auto tick = [&](const Point& p, double dx, double dy, std::string_view anchor, const std::string& text,
                        std::string_view name) {
    line(p, {p.first + dx / 3, p.second + dy / 3}, kEdge);
    out += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", name,
                       p.first + dx / 2, p.second + dy, anchor, text);
  };
  for (const auto [t, named] : ticks(x, x_labels, length)) {
    if (named && x.share(t) <= 1) tick(project.at(x.share(t), 0, 0), -6, 16, "middle", plot_number(t), "x-tick");
  }
  for (const auto [t, named] : ticks(y, y_labels, length)) {
    if (named && y.share(t) <= 1) tick(project.at(1, y.share(t), 0), 20, 15, "start", plot_number(t), "y-tick");
  }
  const Point x_name = project.at(0.5, 0, 0);
  const Point y_name = project.at(1, 0.5, 0);
  out += fmt::format("<text class=\"x-name\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                     x_name.first - 18, x_name.second + 36, label_text(x_labels.name));
  out += fmt::format("<text class=\"y-name\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", y_name.first + 34,
                     y_name.second + 36, label_text(y_labels.name));
  // Far cells first: those with a large y and a small x.
  const int columns = corners.columns - 1;
  const int rows = corners.rows - 1;
  for (int r = rows - 1; r >= 0; --r) {
    for (int c = 0; c < columns; ++c) {
      std::array<Point, 4> quad{};
      double sum = 0;
      bool known = true;
      constexpr std::array<std::pair<int, int>, 4> kAround{{{0, 0}, {0, 1}, {1, 1}, {1, 0}}};
      for (std::size_t i = 0; i < 4; ++i) {
        const auto [dr, dc] = kAround[i];
        const double share = colour.share(corners.at(r + dr, c + dc));
        known = known && std::isfinite(share);
        sum += std::isfinite(share) ? share : 0;
        quad[i] = project.at(static_cast<double>(c + dc) / columns, static_cast<double>(r + dr) / rows, share);
      }
      if (!known) continue;
      out +=
          fmt::format("<path class=\"facet\" d=\"M{}L{}L{}L{}Z\" fill=\"{}\" stroke=\"white\" stroke-width=\"0.5\"/>",
                      coordinates(quad[0]), coordinates(quad[1]), coordinates(quad[2]), coordinates(quad[3]),
                      heat_colour(sum / 4, palette));
    }
    out += "\n";
  }
  for (const StandingPoint& p : points) {
    const double share = colour.share(p.value);
    if (!std::isfinite(share)) continue;
    const Point head = project.at(x.share(p.x), y.share(p.y), share);
    out += fmt::format(
        "<circle class=\"mean\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\" stroke=\"#222\" stroke-width=\"1\"/>\n",
        head.first, head.second, heat_colour(share, palette));
  }
  return out + "</g>\n";
}

}  // namespace fathom::plot
