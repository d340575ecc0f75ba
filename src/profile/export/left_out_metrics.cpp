#include "profile/export/left_out_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace fathom {

void LeftOutMetrics::add(const Metric& metric, std::string_view why) {
  auto found = std::find_if(by_reason_.begin(), by_reason_.end(), [&](const auto& one) { return one.first == why; });
  if (found == by_reason_.end()) {
    by_reason_.emplace_back(why, std::vector<std::string>());
    found = by_reason_.end() - 1;
  }
  found->second.push_back(metric.name);
}

Result<void> LeftOutMetrics::tell(const Profile& profile, std::string_view id) const {
  std::size_t count = 0;
  std::string all;
  for (const auto& [why, names] : by_reason_) {
    count += names.size();
    all += fmt::format("{}{} ({})", all.empty() ? "" : "; ", some_of(names), why);
  }
  if (count == 0) return {};
  const auto& [why, names] = by_reason_.front();
  return profile.work->diagnostics.add(id, Severity::warning, Place::in(profile.name),
                                       count == 1 ? fmt::format("metric '{}' is left out: {}", names.front(), why)
                                                  : fmt::format("metrics are left out: {}", all),
                                       count);
}

}  // namespace fathom
