// Numbers of several profiles that are put together or compared must be in one unit.
#pragma once

#include <string_view>

#include "profile/profile.hpp"

namespace fathom {

// Tells it when the metric is in another unit than the `unit` of the other profiles: times are converted to that, by
// whoever reads them; other numbers are taken as they are.
Result<void> tell_other_unit(const Profile& profile, MetricId metric, std::string_view unit);

}  // namespace fathom
