#include "profile/other_unit.hpp"

#include <fmt/format.h>

#include "base/time_unit.hpp"

namespace fathom {

Result<void> tell_other_unit(const Profile& profile, MetricId metric, std::string_view unit) {
  const Metric& info = profile.defs().metric(metric);
  if (same_unit(info.unit, unit)) return {};
  return profile.work->diagnostics.warn(
      "profile.other_unit", Place::in(profile.name),
      fmt::format("metric '{}' is in '{}' here and in '{}' in another profile; its numbers are taken as they are",
                  info.name, info.unit, unit));
}

}  // namespace fathom
