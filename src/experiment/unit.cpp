#include "experiment/unit.hpp"

#include "base/text.hpp"
#include "io/json_scanner.hpp"

namespace fathom {
namespace {

constexpr std::string_view kTag = "unit";

}  // namespace

void set_unit(Tags& metric, std::string_view unit) {
  if (unit.empty() || find_tag(metric, kTag) != nullptr) return;
  metric.emplace_back(kTag, json_quote(unit));
}

std::string unit_of(const Named& metric) {
  const std::string* text = find_tag(metric.tags, kTag);
  if (text == nullptr || text->size() < 2 || text->front() != '"') return {};
  return json_unescape(std::string_view(*text).substr(1, text->size() - 2)).value_or("");
}

}  // namespace fathom
