// What curves and heat maps have in common.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
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
  std::vector<double> measured;  // preferred as ticks
  int ticks = 6;
};
// Frame, ticks, numbers and names of both axes.
std::string axes(const Box& box, const PlotAxis& x, const PlotAxis& y, const AxisLabels& x_labels,
                 const AxisLabels& y_labels, bool grid);

// The distinct values of a parameter.
std::vector<double> measured_values(const Experiment& experiment, std::size_t parameter);
// The metric's name with its unit where that is known.
std::string metric_label(const Experiment& experiment, std::uint32_t metric);
// The function as SVG text content: four digits, exponents raised.
std::string function_label(const Function& function, std::span<const std::string> parameters);
// As SVG text content; of a long call path the end, which tells more than its beginning.
std::string path_label(std::string_view path, std::size_t width);

// Models of one metric over one and over two parameters.
using Reach = std::optional<std::vector<double>>;
std::string curves(const Experiment& experiment, std::span<const Model* const> models, const Predictor& predictor,
                   Measure measure, const Reach& reach);
std::string heat_maps(const Experiment& experiment, std::span<const Model* const> models, Measure measure,
                      const Reach& reach);

}  // namespace fathom::plot
