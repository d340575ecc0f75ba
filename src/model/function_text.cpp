// Functions as texts: plain, Python, LaTeX, and the machine interface's JSON.
#include <fmt/format.h>

#include <cmath>

#include "base/json.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "model/model.hpp"

namespace fathom {
namespace {

std::string parameter_name(std::span<const std::string> parameters, std::uint32_t index) {
  return index < parameters.size() ? parameters[index] : fmt::format("p{}", index);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// A coefficient for LaTeX: three decimals times a power of ten.
std::string latex_number(double value) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{:.3f}", value);
  const int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  const double scaled = std::round(value / std::pow(10, exponent) * 1e10) / 1e10;
  if (exponent == 0) return fmt::format("{:.3f}", scaled);
  // U+2212, the minus sign of formulas
  const std::string power = fmt::format("10^{{{}{}}}", exponent < 0 ? "\u2212" : "", std::abs(exponent));
  if (scaled == 1) return power;
  return fmt::format("{:.3f}\\times{}", scaled, power);
}

struct Writer {
  std::span<const std::string> parameters;
  FunctionForm form;

  [[nodiscard]] const char* times() const { return form == FunctionForm::plain ? " * " : "*"; }
  [[nodiscard]] const char* plus() const { return form == FunctionForm::plain ? " + " : "+"; }
  [[nodiscard]] const char* power() const { return form == FunctionForm::plain ? "^" : "**"; }

  [[nodiscard]] std::string factor(const Factor& f) const {
    const std::string name = parameter_name(parameters, f.parameter);
    if (!f.segments.empty()) return pieces(f.segments, name);
    std::string out;
    if (!f.power.zero()) out += name + power() + "(" + f.power.text() + ")";
    if (!f.log.zero()) {
      if (!out.empty()) out += times();
      out += "log2(" + name + ")" + power() + "(" + f.log.text() + ")";
    }
    return out;
  }

  [[nodiscard]] std::string pieces(std::span<const Segment> segments, const std::string& name) const {
    std::string out = "{";
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (i > 0) out += "; ";
      out += sum(segments[i].function) + " for " + bound(segments[i], name);
    }
    return out + "}";
  }

  [[nodiscard]] static std::string bound(const Segment& s, const std::string& name) {
    if (std::isinf(s.from)) return name + "<=" + python_number(s.to);
    return name + ">=" + python_number(s.from);
  }

  // The factors of a term without its coefficient.
  [[nodiscard]] std::string factors(const Term& term) const {
    std::string out;
    for (const Factor& f : term.factors) {
      const std::string text = factor(f);
      if (text.empty()) continue;
      if (!out.empty()) out += times();
      out += text;
    }
    return out;
  }

  [[nodiscard]] std::string sum(const Function& f) const {
    std::string out;
    if (f.constant != 0 || f.terms.empty()) out = python_number(f.constant);
    for (const Term& term : f.terms) {
      if (!out.empty()) out += plus();
      const std::string rest = factors(term);
      if (rest.empty() || term.coefficient != 1) out += python_number(term.coefficient);
      if (!rest.empty() && term.coefficient != 1) out += times();
      out += rest;
    }
    if (form == FunctionForm::python) replace_all(out, "+-", "-");
    return out;
  }

  [[nodiscard]] std::string latex(const Function& f) const {
    if (f.terms.empty()) return python_number(f.constant);
    std::string out = latex_number(f.constant);
    for (const Term& term : f.terms) {
      std::string body = factors(term);
      for (const Factor& factor : term.factors) {
        const std::string name = parameter_name(parameters, factor.parameter);
        replace_all(body, "log2(" + name + ")", "\\log_2{" + name + "}");
      }
      replace_all(body, "**", "^");
      replace_all(body, "*", "\\cdot ");
      replace_all(body, "(", "{");
      replace_all(body, ")", "}");
      std::string text = latex_number(term.coefficient);
      if (!body.empty()) text += "\\cdot " + body;
      if (!text.starts_with('-')) out += "+";
      out += text;
    }
    return "$" + out + "$";
  }

  [[nodiscard]] std::string one(const Function& f) const { return form == FunctionForm::latex ? latex(f) : sum(f); }
};

void put_segments(JsonWriter& json, std::span<const Segment> segments, std::span<const std::string> parameters);

void put_terms(JsonWriter& json, const Function& function, std::span<const std::string> parameters) {
  json.begin_object().member("constant", function.constant).key("compound").begin_array();
  for (const Term& term : function.terms) {
    json.begin_object().member("coefficient", term.coefficient).key("factors").begin_array();
    for (const Factor& f : term.factors) {
      json.begin_object()
          .member("parameter", parameter_name(parameters, f.parameter))
          .member("exponent", f.power.zero() ? "0" : f.power.text())
          .member("log", f.log.zero() ? "0" : f.log.text());
      if (!f.segments.empty()) put_segments(json.key("segments"), f.segments, parameters);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

// A bound that is not there is null.
void put_bound(JsonWriter& json, double bound) {
  if (std::isinf(bound)) {
    json.value(nullptr);
  } else {
    json.value(bound);
  }
}

void put_segments(JsonWriter& json, std::span<const Segment> segments, std::span<const std::string> parameters) {
  json.begin_array();
  for (const Segment& s : segments) {
    put_bound(json.begin_object().key("from"), s.from);
    put_bound(json.key("to"), s.to);
    put_terms(json.key("terms"), s.function, parameters);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::vector<std::string> texts(const Function& function, std::span<const std::string> parameters, FunctionForm form) {
  const Writer writer{parameters, form};
  if (function.segments.empty()) return {writer.one(function)};
  const std::string name = parameter_name(parameters, 0);
  std::vector<std::string> out;
  for (const Segment& s : function.segments) {
    const std::string bound = Writer::bound(s, name);
    out.push_back(writer.one(s.function) + " for " + (form == FunctionForm::latex ? "$" + bound + "$" : bound));
  }
  return out;
}

std::string text(const Function& function, std::span<const std::string> parameters, FunctionForm form) {
  const Writer writer{parameters, form};
  if (function.segments.empty()) return writer.one(function);
  if (form == FunctionForm::python && function.segments.size() == 2) {
    const std::string name = parameter_name(parameters, 0);
    const Segment& low = function.segments[0];
    const Segment& high = function.segments[1];
    std::string out =
        writer.one(low.function) + " if " + Writer::bound(low, name) + " else" + writer.one(high.function);
    if (low.to != high.from) out += " if " + Writer::bound(high, name) + " else math.nan";
    return out;
  }
  std::string out;
  for (const std::string& piece : texts(function, parameters, form)) out += (out.empty() ? "" : "\n") + piece;
  return out;
}

std::string terms_json(const Function& function, std::span<const std::string> parameters) {
  Output out;
  JsonWriter json(out, JsonLayout::compact);
  put_terms(json, function, parameters);
  return out.text();
}

std::string segments_json(std::span<const Segment> segments, std::span<const std::string> parameters) {
  Output out;
  JsonWriter json(out, JsonLayout::compact);
  put_segments(json, segments, parameters);
  return out.text();
}

}  // namespace fathom
