// Functions as texts: plain, Python, LaTeX, and the machine interface's JSON.
#include <fmt/format.h>

#include <cmath>

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
  std::string out = "{\"constant\":" + json_number(function.constant) + ",\"compound\":[";
  bool first_term = true;
  for (const Term& term : function.terms) {
    out += first_term ? "" : ",";
    first_term = false;
    out += "{\"coefficient\":" + json_number(term.coefficient) + ",\"factors\":[";
    bool first = true;
    for (const Factor& f : term.factors) {
      out += first ? "" : ",";
      first = false;
      out += "{\"parameter\":" + json_quote(parameter_name(parameters, f.parameter)) +
             ",\"exponent\":" + json_quote(f.power.zero() ? "0" : f.power.text()) +
             ",\"log\":" + json_quote(f.log.zero() ? "0" : f.log.text());
      if (!f.segments.empty()) out += ",\"segments\":" + segments_json(f.segments, parameters);
      out += "}";
    }
    out += "]}";
  }
  return out + "]}";
}

std::string segments_json(std::span<const Segment> segments, std::span<const std::string> parameters) {
  std::string out = "[";
  for (const Segment& s : segments) {
    if (out.size() > 1) out += ",";
    out += "{\"from\":" + (std::isinf(s.from) ? "null" : json_number(s.from)) +
           ",\"to\":" + (std::isinf(s.to) ? "null" : json_number(s.to)) +
           ",\"terms\":" + terms_json(s.function, parameters) + "}";
  }
  return out + "]";
}

}  // namespace fathom
