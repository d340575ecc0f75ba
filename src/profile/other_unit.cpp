#include "profile/other_unit.hpp"

#include <fmt/format.h>

#include "base/time_unit.hpp"

namespace fathom {

Result<void> tell_other_unit(const Profile& profile, MetricId metric, std::string_view unit) {
  const Metric& info = profile.defs().metric(metric);
  if (same_unit(info.unit, unit)) return {};
  const bool converted = other_time_unit(info.unit, unit) && form_of(info.type) != Form::packed;
  return profile.work->diagnostics.add(
      "profile.other_unit", converted ? Severity::info : Severity::warning, Place::in(profile.name),
      fmt::format("metric '{}' is in '{}' here and in '{}' in another profile; its numbers are {}", info.name,
                  info.unit, unit, converted ? "converted" : "taken as they are"));
}

}  // namespace fathom
