#include "report/format_string.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "base/text.hpp"
#include "experiment/experiment.hpp"

namespace fathom {

Result<std::string> expand(std::string_view format, const Resolve& resolve) {
  const auto unbalanced = [] {
    return Error::usage("Unbalanced brackets!").hint("write {{ and }} for braces that are no placeholder");
  };
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    if (c != '{' && c != '}') {
      out += c;
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == c) {
      out += c;
      ++i;
      continue;
    }
    if (c == '}') return unbalanced();
    std::size_t end = i;
    int depth = 0;
    for (; end < format.size(); ++end) {
      if (format[end] == '{') ++depth;
      if (format[end] == '}' && --depth == 0) break;
    }
    if (end == format.size()) return unbalanced();
    Placeholder p;
    for (std::size_t k = i + 1; k < end; ++k) {
      if (format[k] == '\\' && k + 1 < end && (format[k + 1] == 'n' || format[k + 1] == 't')) {
        p.text += format[++k] == 'n' ? '\n' : '\t';
      } else {
        p.text += format[k];
      }
    }
    const auto colon = p.text.find(':');
    p.name = std::string(trim(std::string_view(p.text).substr(0, colon)));
    if (colon != std::string::npos) p.rest = p.text.substr(colon + 1);
    FATHOM_TRY(const std::string value, resolve(p));
    out += value;
    i = end;
  }
  return out;
}

Result<ListOptions> list_options(std::string_view text) {
  ListOptions options;
  // Inside another placeholder's format the quotes may be escaped as a whole: \'sep\'.
  std::string plain;
  if (const auto first = text.find('\''); first != std::string_view::npos && first > 0 && text[first - 1] == '\\') {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\' || i + 1 == text.size() || text[i + 1] != '\'') plain += text[i];
    }
    text = plain;
  }
  std::string_view rest = trim(text);
  while (!rest.empty()) {
    if (rest.front() == ';') {
      rest = trim(rest.substr(1));
      continue;
    }
    const auto quote = rest.find('\'');
    const auto colon = rest.find(':');
    if (quote == std::string_view::npos || colon > quote) {
      return Error::usage(fmt::format("malformed options: {}", text)).hint("write sep:'...'; format:'...'");
    }
    const std::string_view key = trim(rest.substr(0, colon));
    std::string value;
    std::size_t i = quote + 1;
    int depth = 0;  // apostrophes inside braces belong to the inner placeholder
    for (; i < rest.size(); ++i) {
      if (rest[i] == '\\' && i + 1 < rest.size() && rest[i + 1] == '\'' && depth == 0) {
        value += '\'';
        ++i;
        continue;
      }
      if (rest[i] == '\'' && depth == 0) break;
      if (rest[i] == '{') ++depth;
      if (rest[i] == '}') --depth;
      value += rest[i];
    }
    if (i == rest.size()) return Error::usage(fmt::format("a quote is never closed in: {}", text));
    if (key == "sep") {
      options.separator = value;
    } else if (key == "format") {
      options.format = value;
    } else {
      return Error::usage(fmt::format("unknown option '{}'", key)).hint("there are sep and format");
    }
    rest = trim(rest.substr(i + 1));
  }
  return options;
}

Result<std::string> python_format(double value, std::string_view spec) {
  if (spec.empty()) return python_number(value);
  const bool percent = spec.back() == '%';
  std::string own(percent ? spec.substr(0, spec.size() - 1) : spec);
  if (percent) {
    own += 'f';
    value *= 100;
  }
  try {
    std::string text = fmt::format(fmt::runtime("{:" + own + "}"), value);
    return percent ? text + "%" : text;
  } catch (const fmt::format_error&) {
    return Error::usage(fmt::format("'{}' is not a format for a number", spec)).hint("as in Python: .2f, 10.3g, E, %");
  }
}

std::optional<std::string> printf_format(double value, const std::string& format) {
  // The format comes from a file: exactly one conversion, flags and small numbers only.
  std::size_t conversions = 0;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    if (i + 1 < format.size() && format[i + 1] == '%') {
      ++i;
      continue;
    }
    ++conversions;
    std::size_t digits = 0;
    for (++i; i < format.size() && std::string_view("0123456789.+- #").find(format[i]) != std::string_view::npos; ++i) {
      ++digits;
    }
    if (digits > 8 || i == format.size() || std::string_view("eEfFgG").find(format[i]) == std::string_view::npos) {
      return std::nullopt;
    }
  }
  if (conversions != 1 || format.size() > 64) return std::nullopt;
  char text[512];
  const int length = std::snprintf(text, sizeof(text), format.c_str(), value);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof(text)) return std::nullopt;
  return std::string(text);
}

}  // namespace fathom
