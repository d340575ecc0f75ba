#include "formats/runs/run_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace fathom::runs {
namespace {

constexpr const char* kHint =
    "name runs like app.p8.n100.r1: a prefix, parameters with their values, and the repetition";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_number(char c) { return is_digit(c) || c == '.' || c == ','; }

// [name number]...; nothing when it is not of that form.
Result<NamedPoint> parse_part(std::string_view part, std::string_view name) {
  NamedPoint point;
  std::size_t at = 0;
  while (at < part.size()) {
    const std::size_t begin = at;
    while (at < part.size() && !in_number(part[at])) ++at;
    const std::string_view parameter = part.substr(begin, at - begin);
    const std::size_t digits = at;
    while (at < part.size() && in_number(part[at])) ++at;
    if (at == digits) break;  // a name without a number at the end
    std::string number(part.substr(digits, at - digits));
    std::replace(number.begin(), number.end(), ',', '.');
    number.erase(number.find_last_not_of('.') + 1);
    const auto value = parse_double(number);
    if (!value || parameter.empty()) {
      return Error(fmt::format("'{}' is not a value of a parameter in '{}'", number, name)).hint(kHint);
    }
    point.names.emplace_back(parameter);
    point.values.push_back(*value);
  }
  if (point.names.empty()) return Error(fmt::format("Could not detect parameter in {}", name)).hint(kHint);
  return point;
}

// Without the prefix, which ends at the first dot.
std::string_view without_prefix(std::string_view part) {
  const auto dot = part.find('.');
  return dot == std::string_view::npos ? part : part.substr(dot + 1);
}

// Whether the name ends with ".r<digits>".
bool is_numbered(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  return end < name.size() && name.substr(0, end).ends_with(".r");
}

// Where the repetition starts; the end when there is none. It is the last ".r<digits>"; or else what follows the first
// ".r", ".run" or ".rep", unless that would leave nothing ("app.run4"). Other words with r are parameters
// ("app.n10.ranks4").
std::size_t repetition(std::string_view name) {
  if (is_numbered(name)) return name.rfind(".r");
  for (auto at = name.find(".r"); at != std::string_view::npos; at = name.find(".r", at + 1)) {
    const std::string_view rest = name.substr(at + 2);
    if (rest.empty() || !std::isalpha(static_cast<unsigned char>(rest.front())) || rest.starts_with("un") ||
        rest.starts_with("ep")) {
      return at;
    }
  }
  return name.size();
}

}  // namespace

Result<NamedPoint> parse_run_name(std::string_view name, FirstPart first) {
  const std::size_t end = repetition(name);
  const auto part = [&](std::string_view text) { return first == FirstPart::parameter ? text : without_prefix(text); };
  auto point = parse_part(part(name.substr(0, end)), name);
  if (point || end == name.size() || is_numbered(name)) return point;
  auto whole = parse_part(part(name), name);
  return whole ? std::move(whole) : std::move(point);
}

NameFrame frame_of(std::string_view name, FirstPart first) {
  std::size_t end = repetition(name);
  const auto parameters = [&] {
    const std::string_view run = name.substr(0, end);
    return first == FirstPart::parameter ? run : without_prefix(run);
  };
  if (!parse_part(parameters(), name)) end = name.size();
  const std::string_view part = parameters();
  NameFrame frame;
  for (const char c : name.substr(0, end - part.size())) {
    if (!is_digit(c)) {
      frame.prefix += c;
    } else if (!frame.prefix.ends_with('#')) {
      frame.prefix += '#';
    }
  }
  std::size_t value_ends = part.size();
  while (value_ends > 0 && !in_number(part[value_ends - 1])) --value_ends;
  // ".r12", ".run12", ".rep-12"
  std::size_t at = end;
  while (at < name.size() && !is_digit(name[at])) ++at;
  while (at < name.size() && is_digit(name[at])) ++at;
  frame.behind = fmt::format("{}/{}", part.substr(value_ends), name.substr(at));
  return frame;
}

FirstPart first_part_of(const std::vector<std::string>& names) {
  std::vector<std::string> parameters;
  std::vector<double> values;
  bool varies = false;
  for (const std::string& name : names) {
    const auto dot = name.find('.');
    const std::string_view first = std::string_view(name).substr(0, dot);
    // All of it must be names and numbers, and more must follow it than the repetition.
    if (dot == std::string::npos || first.empty() || !is_digit(first.back())) return FirstPart::prefix;
    const auto point = parse_part(first, name);
    const auto rest = parse_run_name(name);
    if (!point || !rest || rest->names == point->names) return FirstPart::prefix;
    if (parameters.empty()) {
      parameters = point->names;
      values = point->values;
    }
    if (point->names != parameters) return FirstPart::prefix;
    varies = varies || point->values != values;
  }
  return varies ? FirstPart::parameter : FirstPart::prefix;
}

}  // namespace fathom::runs
