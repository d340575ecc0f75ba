#include "experiment/usual_metric.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/time_unit.hpp"
#include "experiment/collect.hpp"
#include "experiment/unit.hpp"

namespace fathom {

namespace {

bool is_called_time(const Named& metric) { return equal_ignoring_case(metric.name, "time"); }

}  // namespace

bool is_extreme(const Named& metric) { return find_tag(metric.tags, kExtremeTag) != nullptr; }

bool is_time(const Named& metric) { return is_called_time(metric) || seconds_per(unit_of(metric)) > 0; }

std::optional<std::uint32_t> usual_metric(const Experiment& e, const std::vector<std::uint32_t>& there) {
  // The first one of the experiment, however its models are ranked.
  std::vector<std::uint32_t> metrics = there;
  std::sort(metrics.begin(), metrics.end());
  const auto find = [&](const auto& wanted) -> std::optional<std::uint32_t> {
    const auto found = std::find_if(metrics.begin(), metrics.end(), [&](std::uint32_t m) {
      return !is_extreme(e.metrics()[m]) && wanted(e.metrics()[m]);
    });
    return found == metrics.end() ? std::nullopt : std::optional(*found);
  };
  for (const auto& found : {find(is_called_time), find(is_time), find([](const Named&) { return true; })}) {
    if (found) return found;
  }
  return metrics.empty() ? std::nullopt : std::optional(metrics.front());
}

}  // namespace fathom
