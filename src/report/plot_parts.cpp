#include "report/plot_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "experiment/unit.hpp"

namespace fathom::plot {

namespace {

// The zero-width space brings the following text back to the line.
std::string raised(std::string_view text) {
  return fmt::format("<tspan dy=\"-5\" font-size=\"75%\">{}</tspan><tspan dy=\"5\">&#8203;</tspan>", text);
}

std::string coefficient_label(double value) {
  std::string text = plot_number(std::isfinite(value) && value != 0 ? std::stod(fmt::format("{:.4g}", value)) : value);
  if (text.ends_with("</tspan>")) text += "<tspan dy=\"5\">&#8203;</tspan>";
  return text;
}

std::string power_label(const std::string& base, const Exponent& exponent) {
  return exponent.value == 1 ? base : base + raised(exponent.text());
}

std::string term_label(const Term& term, std::span<const std::string> parameters) {
  std::string out = coefficient_label(term.coefficient);
  for (const Factor& factor : term.factors) {
    const std::string name = xml_escape(parameters[factor.parameter]);
    if (!factor.segments.empty()) out += "·f(" + name + ")";
    if (!factor.power.zero()) out += "·" + power_label(name, factor.power);
    if (!factor.log.zero()) out += "·" + power_label("log₂(" + name + ")", factor.log);
  }
  return out;
}

}  // namespace

std::string document(double width, double height, std::string_view body) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" "
      "font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
      width, height, body);
}

std::string axes(const Box& box, const PlotAxis& x, const PlotAxis& y, const AxisLabels& x_labels,
                 const AxisLabels& y_labels, bool grid) {
  std::string out = "<g class=\"axes\">\n";
  const auto line = [&](double x1, double y1, double x2, double y2, std::string_view colour) {
    out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>", x1, y1, x2, y2,
                       colour);
  };
  for (const double t : x.ticks(x_labels.ticks, x_labels.measured)) {
    if (grid) line(x.at(t), box.top, x.at(t), box.bottom, "#e4e4e4");
    line(x.at(t), box.bottom, x.at(t), box.bottom + 5, "#333");
    out += fmt::format("<text class=\"x-tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x.at(t),
                       box.bottom + 20, plot_number(t));
  }
  for (const double t : y.ticks(y_labels.ticks, y_labels.measured)) {
    if (grid) line(box.left, y.at(t), box.right, y.at(t), "#e4e4e4");
    line(box.left - 5, y.at(t), box.left, y.at(t), "#333");
    out += fmt::format("<text class=\"y-tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", box.left - 9,
                       y.at(t) + 4.5, plot_number(t));
  }
  out += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" stroke=\"#333\"/>\n", box.left,
      box.top, box.right - box.left, box.bottom - box.top);
  out += fmt::format("<text class=\"x-name\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                     (box.left + box.right) / 2, box.bottom + 42, xml_escape(x_labels.name));
  out += fmt::format(
      "<text class=\"y-name\" transform=\"translate({:.1f},{:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      box.left - 58, (box.top + box.bottom) / 2, xml_escape(y_labels.name));
  return out + "</g>\n";
}

std::vector<double> measured_values(const Experiment& experiment, std::size_t parameter) {
  std::vector<double> values;
  for (std::size_t i = 0; i < experiment.point_count(); ++i) values.push_back(experiment.point(i)[parameter]);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::string metric_label(const Experiment& experiment, std::uint32_t metric) {
  const Named& named = experiment.metrics()[metric];
  const std::string name = named.name.empty() ? "value" : named.name;
  const std::string unit = unit_of(named);
  return unit.empty() ? name : name + " [" + unit + "]";
}

std::string function_label(const Function& function, std::span<const std::string> parameters) {
  std::string out;
  if (!function.segments.empty()) {
    for (const Segment& s : function.segments) {
      out += (out.empty() ? "" : "; ") + function_label(s.function, parameters);
      if (std::isfinite(s.to)) out += " up to " + plot_number(s.to);
      if (std::isfinite(s.from)) out += " from " + plot_number(s.from);
    }
    return out;
  }
  if (function.constant != 0 || function.terms.empty()) out = coefficient_label(function.constant);
  for (const Term& term : function.terms) {
    const std::string text = term_label({std::fabs(term.coefficient), term.factors}, parameters);
    out += out.empty() ? (term.coefficient < 0 ? "−" : "") : (term.coefficient < 0 ? " − " : " + ");
    out += text;
  }
  return out;
}

std::string path_label(std::string_view path, std::size_t width) {
  if (path.size() <= width) return xml_escape(path);
  std::string_view end = path.substr(path.size() - width);
  while (!end.empty() && (static_cast<unsigned char>(end.front()) & 0xC0) == 0x80) end.remove_prefix(1);  // UTF-8
  if (const auto arrow = end.find("->"); arrow != std::string_view::npos && arrow < width / 2) end.remove_prefix(arrow);
  return "…" + xml_escape(end);
}

}  // namespace fathom::plot
