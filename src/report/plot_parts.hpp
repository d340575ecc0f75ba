// What curves and heat maps have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/predict.hpp"
#include "report/plot_axis.hpp"

namespace fathom::plot {

struct Box {
  double left, top, right, bottom;
};

// Values that span this many times get a logarithmic axis.
inline constexpr double kLogFrom = 8;
inline constexpr double kLogValuesFrom = 30;

// A whole SVG document.
std::string document(double width, double height, std::string_view body);

struct AxisLabels {
  std::string name;
  std::string unit;
  std::vector<double> measured;  // preferred as ticks
  std::optional<double> reach;   // beyond them, to be named as well, with the powers of ten on the way
  int ticks = 6;
};
// Frame, ticks, numbers and names of both axes.
std::string axes(const Box& box, const PlotAxis& x, const PlotAxis& y, const AxisLabels& x_labels,
                 const AxisLabels& y_labels, bool grid);
// Where the ticks of an axis of `length` are; named ones keep the room that their numbers need.
struct Tick {
  double value;
  bool named;
};
std::vector<Tick> ticks(const PlotAxis& axis, const AxisLabels& labels, double length);

// The distinct values of a parameter.
std::vector<double> measured_values(const Experiment& experiment, std::size_t parameter);
// The metric's name, or "value".
std::string metric_name(const Experiment& experiment, std::uint32_t metric);
// The function as SVG text content: four digits, exponents raised.
std::string function_label(const Function& function, std::span<const std::string> parameters);
// "main › solve" as SVG text content; of a long call path the end, which tells more than its beginning.
std::string path_label(std::string_view path, std::size_t width);

// A name of the data as part of the SVG; control characters are shown, as everywhere.
std::string label_text(std::string_view name);
// What is seen of SVG text content: no elements, one character per entity, none for the zero-width space.
std::string visible_text(std::string_view content);
// About how wide a text is in the figures' font, in their units.
double text_width(std::string_view text, double font_size = 13);

// From dark blue over green to yellow; even steps look even, also in grey. Differences: from blue over white to red.
enum class Palette : std::uint8_t { rising, around_zero };
std::string heat_colour(double share, Palette palette);

// What a figure of models is made of.
struct Drawing {
  const Experiment& experiment;
  std::vector<Model> models;  // functions as they are to be drawn, largest first
  std::vector<bool> unsure;   // growth may be noise: drawn as what is expected
  Measure measure;
  std::optional<std::vector<double>> reach;
  const Predictor* predictor;  // null: no intervals
};
// Over one parameter.
std::string curves(const Drawing& drawing);

// Over two parameters: a plane of the first two, the others held fast.
struct Plane {
  std::vector<double> at;  // one coordinate per parameter; the first two do not count
  std::string title;       // "n = 100"; "" when there are two parameters
};
enum class Shape : std::uint8_t { map, contour, surface };
// A row of panels per model, one panel per plane, all of a row on one scale of colours.
std::string planes(const Drawing& drawing, const std::vector<Plane>& planes, Shape shape);

// Values over a plane, as cells (maps) or corners (contours, surfaces).
struct Field {
  int columns;
  int rows;
  std::vector<double> values;  // row by row from low to high
  [[nodiscard]] double at(int row, int column) const {
    return values[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)];
  }
};
// Lines of equal value with their numbers, which keep away from `marks`, for corners that lie evenly over the box.
using Mark = std::pair<double, double>;
std::string contour_lines(const Box& box, const Field& corners, const PlotAxis& colour, const TickNames& names,
                          const std::vector<Mark>& marks);
// The corners as a landscape seen from above, with axes; `points` stand on stems.
struct StandingPoint {
  double x, y, value;
};
std::string landscape(const Box& box, const Field& corners, const PlotAxis& x, const PlotAxis& y,
                      const PlotAxis& colour, Palette palette, const std::vector<StandingPoint>& points,
                      const AxisLabels& x_labels, const AxisLabels& y_labels);

}  // namespace fathom::plot
