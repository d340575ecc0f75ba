#include "formats/runs/run_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace fathom::runs {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_number(char c) { return is_digit(c) || c == '.' || c == ','; }

// The name without a repetition at its end: the last ".r<digits>", or else everything from the first ".r" on.
std::string_view without_repetition(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  if (end < name.size() && end >= 2 && name.substr(end - 2, 2) == ".r") return name.substr(0, end - 2);
  return name.substr(0, name.find(".r"));
}

}  // namespace

Result<NamedPoint> parse_run_name(std::string_view name) {
  const auto hint = "name runs like app.p8.n100.r1: a prefix, parameters with their values, and the repetition";
  std::string_view part = without_repetition(name);
  if (const auto dot = part.find('.'); dot != std::string_view::npos) {
    // A prefix ends at the first dot, unless what stands before it has a value already and nothing follows.
    if (dot + 1 < part.size()) part = part.substr(dot + 1);
  }
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
      return Error(fmt::format("'{}' is not a value of a parameter in '{}'", number, name)).hint(hint);
    }
    point.names.emplace_back(parameter);
    point.values.push_back(*value);
  }
  if (point.names.empty()) return Error(fmt::format("Could not detect parameter in {}", name)).hint(hint);
  return point;
}

}  // namespace fathom::runs
