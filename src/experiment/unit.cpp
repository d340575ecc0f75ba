#include "experiment/unit.hpp"

#include "base/text.hpp"
#include "io/json_scanner.hpp"

namespace fathom {
namespace {

constexpr std::string_view kUnit = "unit";
constexpr std::string_view kDescription = "description";

void set(Tags& tags, std::string_view key, std::string_view text) {
  if (text.empty() || find_tag(tags, key) != nullptr) return;
  tags.emplace_back(key, json_quote(text));
}

std::string get(const Named& metric, std::string_view key) {
  const std::string* text = find_tag(metric.tags, key);
  if (text == nullptr || text->size() < 2 || text->front() != '"') return {};
  return json_unescape(std::string_view(*text).substr(1, text->size() - 2)).value_or("");
}

}  // namespace

void set_unit(Tags& metric, std::string_view unit) { set(metric, kUnit, unit); }
std::string unit_of(const Named& metric) { return get(metric, kUnit); }
void set_description(Tags& metric, std::string_view description) { set(metric, kDescription, description); }
std::string description_of(const Named& metric) { return get(metric, kDescription); }

}  // namespace fathom
