#include "findings/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/time_unit.hpp"

namespace fathom {

namespace {
constexpr double kWarning = 0.02;
constexpr double kProblem = 0.10;
constexpr double kSmallest = 0.001;
}  // namespace

std::string_view to_string(FindingLevel level) {
  return level == FindingLevel::note ? "note" : level == FindingLevel::warning ? "warning" : "problem";
}

FindingLevel level_of(double severity) {
  return severity < kWarning ? FindingLevel::note : severity < kProblem ? FindingLevel::warning : FindingLevel::problem;
}

void Report::finish() {
  std::erase_if(findings, [](const Finding& finding) { return !(finding.severity >= kSmallest); });
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity > b.severity : a.kind < b.kind;
  });
}

void Report::count_in(std::string_view metric, std::string_view unit) {
  const double second = seconds_per(unit);
  if (second == 1) return;
  if (second == 0) {
    counted = {std::string(metric), std::string(unit)};
    for (Finding& finding : findings) finding.unit = unit;
    return;
  }
  const auto scale = [second](auto& list) {
    for (auto& one : list) one.s *= second;
  };
  if (location_time_s) *location_time_s *= second;
  for (Finding& finding : findings) {
    finding.lost_s *= second;
    scale(finding.culprits.list);
    scale(finding.victims.list);
    scale(finding.where.regions);
    scale(finding.where.callpaths);
    for (auto& [name, value] : finding.evidence) {
      if (auto* list = std::get_if<std::vector<NamedSeconds>>(&value)) scale(*list);
      if (auto* number = std::get_if<double>(&value); number != nullptr && name.ends_with("_s")) *number *= second;
    }
  }
}

std::string ranks_text(const LocationShares& locations) {
  std::vector<std::string> names;
  bool ranks = true;
  std::set<std::string> seen;
  for (const LocationShare& share : locations.list) {
    ranks = ranks && share.rank >= 0;
    std::string name = share.location.empty() ? fmt::format("{}", share.rank) : share.location;
    if (seen.insert(name).second) names.push_back(std::move(name));
  }
  if (names.empty()) return "many ranks";
  const std::string what = ranks ? "rank" : "location";
  if (names.size() == 1 && locations.more == 0) return fmt::format("{} {}", what, names[0]);
  constexpr std::size_t kShown = 4;
  const std::size_t all = names.size() + locations.more;
  const std::size_t shown = all <= kShown ? names.size() : kShown - 1;
  std::string out = what + "s ";
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == shown && shown == all;
    out += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", names[i]);
  }
  if (shown < all) out += fmt::format(" and {} others", all - shown);
  return out;
}

}  // namespace fathom
