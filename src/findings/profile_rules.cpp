#include "findings/profile_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/time_unit.hpp"
#include "profile/inspect/inspect.hpp"

namespace fathom {

Error no_total(const Profile& profile, MetricId time, double total) {
  return Error(fmt::format("the sum of '{}' is {}: nothing is a share of it", profile.defs().metric(time).name, total),
               Place::in(profile.name))
      .hint("'fathom tree PATH' shows where its values are no numbers");
}

Result<ProfileRules> ProfileRules::over(ProfilePtr profile, MetricId time) {
  ProfileRules rules{profile, profile->defs(), time};
  FATHOM_TRY(const Value total, metric_total(*profile, time, {}));
  rules.total = total.scalar();
  if (!std::isfinite(rules.total)) return no_total(*profile, time, rules.total);
  ViewInput input;
  input.metric = time;
  FATHOM_TRY(rules.flat, flat_profile(*profile, input, GroupBy::region));
  rules.group_of = inspect::region_groups(rules.defs);
  return rules;
}

Result<void> each_part(const Profile& profile, MetricId time,
                       const std::function<void(std::uint32_t first, const Cells& cells)>& body) {
  constexpr std::size_t kCells = std::size_t{1} << 22;
  const auto locations = static_cast<std::uint32_t>(profile.defs().system.location_count());
  const std::size_t contexts = profile.defs().contexts.size();
  if (contexts == 0) return {};
  const auto width =
      static_cast<std::uint32_t>(std::clamp<std::size_t>(kCells / contexts, 1, std::max<std::uint32_t>(locations, 1)));
  for (std::uint32_t begin = 0; begin < locations; begin += width) {
    Selection selection;
    selection.flavour.kind = Flavour::Kind::own;
    selection.locations = {begin, std::min(locations, begin + width)};
    FATHOM_TRY(const Cells cells, compute(profile, time, selection));
    body(begin, cells);
  }
  return {};
}

std::string percent_text(double part) { return fmt::format("{:.3g} %", part * 100); }

Finding& ProfileRules::add(std::string kind, double lost) {
  Finding& finding = findings.emplace_back();
  finding.kind = std::move(kind);
  finding.lost_s = lost;
  finding.severity = lost / total;
  finding.level = level_of(finding.severity);
  return finding;
}

std::string ProfileRules::amount(double value) const { return readable(value, defs.metric(time).unit); }

std::string ProfileRules::lost_text(const Finding& finding) const {
  const Metric& metric = defs.metric(time);
  return fmt::format("{} ({} of all {})", amount(finding.lost_s), percent_text(finding.severity),
                     seconds_per(metric.unit) > 0 ? "time" : metric.name);
}

bool ProfileRules::is_library(RegionId region) const {
  const std::string& group = group_of[region.index()];
  return group == "MPI" || (group == "OMP" && is_openmp_runtime(defs.region(region)));
}

bool is_openmp_runtime(const Region& region) {
  for (const std::string& text : {to_lower(region.role), to_lower(region.name)}) {
    if (text.find("sblock") != std::string::npos) return false;  // what is done under a lock
    for (const std::string_view word : {"barrier", "critical", "taskwait", "task create", "ordered", "lock", "flush",
                                        "atomic", "management", "wrapper"}) {
      if (text.find(word) != std::string::npos) return true;
    }
  }
  return false;
}

LocationShares ProfileRules::largest(const std::vector<double>& by_location) const {
  std::vector<std::size_t> order;
  double all = 0;
  for (std::size_t l = 0; l < by_location.size(); ++l) {
    if (!(by_location[l] > 0)) continue;
    order.push_back(l);
    all += by_location[l];
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return by_location[a] > by_location[b]; });
  LocationShares out;
  for (const std::size_t l : order) {
    if (out.list.size() == LocationShares::kMost) {
      ++out.more;
      continue;
    }
    const SystemNodeId group = defs.system.group_of(LocationId(l));
    const auto rank = group.valid() ? defs.system.nodes[group.index()].rank : std::nullopt;
    out.list.push_back({static_cast<std::int32_t>(rank.value_or(-1)), defs.system.location_label(LocationId(l)),
                        by_location[l], by_location[l] / all});
  }
  return out;
}

}  // namespace fathom
