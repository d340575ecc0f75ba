// Experiments in Extra-P's text form: for dump and for the text writer.
#include <fmt/format.h>

#include "formats/experiment_dataset.hpp"

namespace fathom {
namespace {

std::string shortest(double value) {
  std::string text = python_number(value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

}  // namespace

std::string text_spelling(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
    if (!blank) text += c;
    if (blank && !text.empty() && text.back() != ' ') text += ' ';
  }
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

Result<void> write_experiment_text(const Experiment& e, const TextSink& sink) {
  std::string out = "PARAMETER";
  for (const std::string& parameter : e.parameters()) out += " " + text_spelling(parameter);
  out += "\nPOINTS";
  const bool brackets = e.parameters().size() > 1;
  for (std::size_t i = 0; i < e.point_count(); ++i) {
    out += brackets ? " (" : " ";
    bool first = true;
    for (const double x : e.point(i)) {
      if (!first) out += ' ';
      first = false;
      out += shortest(x);
    }
    if (brackets) out += ")";
  }
  out += "\n";
  std::uint32_t metric = 0xFFFFFFFF;
  std::vector<std::int64_t> at(e.point_count(), -1);
  for (const Series& s : e.series()) {
    if (s.metric != metric) {
      metric = s.metric;
      out += "\nMETRIC " + text_spelling(e.metrics()[metric].name) + "\n";
    }
    out += "\nREGION " + text_spelling(e.callpaths()[s.callpath].name) + "\n";
    const auto points = e.points_of(s);
    at.assign(e.point_count(), -1);
    for (std::size_t k = 0; k < points.size(); ++k) at[points[k]] = static_cast<std::int64_t>(s.first + k);
    for (const std::int64_t m : at) {
      // The form has no way to leave a point out: what was not measured is not a number.
      if (m < 0) {
        out += "DATA nan\n";
        continue;
      }
      out += "DATA";
      const auto values = e.values_that_tell_all(static_cast<std::size_t>(m));
      if (values.empty()) out += " " + shortest(e.means()[static_cast<std::size_t>(m)]);
      for (const double v : values) out += " " + shortest(v);
      out += "\n";
    }
    if (out.size() > (1 << 16)) {
      if (!sink(out)) return {};
      out.clear();
    }
  }
  sink(out);
  return {};
}

}  // namespace fathom
