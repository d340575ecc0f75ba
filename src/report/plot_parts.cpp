#include "report/plot_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/visible.hpp"

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
  std::string text = exponent.text();
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return exponent.value == 1 ? base : base + raised(text);
}

std::string term_label(const Term& term, std::span<const std::string> parameters) {
  std::string out = coefficient_label(term.coefficient);
  for (const Factor& factor : term.factors) {
    const std::string name = label_text(parameters[factor.parameter]);
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

std::vector<Tick> ticks(const PlotAxis& axis, const AxisLabels& labels, double length) {
  std::vector<Tick> out;
  std::vector<double> wanted = axis.ticks(labels.ticks, labels.measured);
  if (!axis.logarithmic() || labels.measured.empty() || !labels.reach || wanted.empty()) {
    for (const double value : wanted) out.push_back({value, true});
    return out;
  }
  const double last = wanted.back();
  const double reach = *labels.reach;
  if (reach > last) wanted.push_back(reach);
  // The ends first: they matter most when there is not room for all.
  std::vector<double> order = {reach, last};
  order.insert(order.end(), wanted.begin(), wanted.end());
  for (double t = std::pow(10, std::ceil(std::log10(last))); t < reach; t *= 10) {
    order.push_back(t);
    wanted.push_back(t);
  }
  std::vector<double> named;
  constexpr double kGap = 7;
  constexpr double kDigit = 7.4;
  const auto half = [&](double v) { return kDigit * static_cast<double>(plot_number_width(v)) / 2; };
  for (const double value : order) {
    const bool free = std::none_of(named.begin(), named.end(), [&](double other) {
      return std::fabs(axis.share(value) - axis.share(other)) * length < half(value) + half(other) + kGap;
    });
    if (free) named.push_back(value);
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  for (const double value : wanted) {
    out.push_back({value, std::find(named.begin(), named.end(), value) != named.end()});
  }
  return out;
}

std::string axes(const Box& box, const PlotAxis& x, const PlotAxis& y, const AxisLabels& x_labels,
                 const AxisLabels& y_labels, bool grid) {
  std::string out = "<g class=\"axes\">\n";
  const auto line = [&](double x1, double y1, double x2, double y2, std::string_view colour) {
    out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>", x1, y1, x2, y2,
                       colour);
  };
  const TickNames x_names(x, x_labels.name, x_labels.unit);
  const TickNames y_names(y, y_labels.name, y_labels.unit);
  for (const auto [t, named] : ticks(x, x_labels, box.right - box.left)) {
    if (grid) line(x.at(t), box.top, x.at(t), box.bottom, "#e4e4e4");
    line(x.at(t), box.bottom, x.at(t), box.bottom + (named ? 5 : 3), "#333");
    if (!named) continue;
    out += fmt::format("<text class=\"x-tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x.at(t),
                       box.bottom + 20, x_names.text(t));
  }
  for (const auto [t, named] : ticks(y, y_labels, box.bottom - box.top)) {
    if (grid) line(box.left, y.at(t), box.right, y.at(t), "#e4e4e4");
    line(box.left - (named ? 5 : 3), y.at(t), box.left, y.at(t), "#333");
    if (!named) continue;
    out += fmt::format("<text class=\"y-tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", box.left - 9,
                       y.at(t) + 4.5, y_names.text(t));
  }
  out += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" stroke=\"#333\"/>\n", box.left,
      box.top, box.right - box.left, box.bottom - box.top);
  out += fmt::format("<text class=\"x-name\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                     (box.left + box.right) / 2, box.bottom + 42, label_text(x_names.name()));
  out += fmt::format(
      "<text class=\"y-name\" transform=\"translate({:.1f},{:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      box.left - 62, (box.top + box.bottom) / 2, label_text(y_names.name()));
  return out + "</g>\n";
}

std::vector<double> measured_values(const Experiment& experiment, std::size_t parameter) {
  std::vector<double> values;
  for (std::size_t i = 0; i < experiment.point_count(); ++i) values.push_back(experiment.point(i)[parameter]);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::string metric_name(const Experiment& experiment, std::uint32_t metric) {
  const std::string& name = experiment.metrics()[metric].name;
  return name.empty() ? "value" : name;
}

std::string label_text(std::string_view name) { return xml_escape(visible(name)); }

std::string visible_text(std::string_view content) {
  std::string out;
  for (std::size_t i = 0; i < content.size(); ++i) {
    if (content[i] == '<') {
      i = std::min(content.find('>', i), content.size());
    } else if (content[i] == '&') {
      if (!content.substr(i).starts_with("&#8203;")) out += '&';
      i = std::min(content.find(';', i), content.size());
    } else {
      out += content[i];
    }
  }
  return out;
}

double text_width(std::string_view text, double font_size) {
  constexpr double kEm = 0.58;  // of an average character
  return kEm * font_size * static_cast<double>(display_width(text));
}

std::string heat_colour(double share, Palette palette) {
  static constexpr double kRising[][3] = {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
  static constexpr double kAround[][3] = {
      {33, 102, 172}, {146, 197, 222}, {247, 247, 247}, {244, 165, 130}, {178, 24, 43}};
  const auto& stops = palette == Palette::rising ? kRising : kAround;
  const double t = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0) * 4;
  const int i = std::min(3, static_cast<int>(t));
  const double f = t - i;
  const auto mix = [&](int c) { return static_cast<int>(stops[i][c] + (stops[i + 1][c] - stops[i][c]) * f); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2));
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
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= path.size();) {
    const std::size_t arrow = std::min(path.find("->", from), path.size());
    parts.push_back(path.substr(from, arrow - from));
    from = arrow + 2;
  }
  std::string out(parts.back());
  if (display_width(out) > width) return label_text(shorten_name(out, width));
  for (std::size_t i = parts.size() - 1; i-- > 0;) {
    const std::string longer = std::string(parts[i]) + " › " + out;
    if (display_width(longer) + (i > 0 ? 4 : 0) > width) return "… › " + label_text(out);
    out = longer;
  }
  return label_text(out);
}

}  // namespace fathom::plot
