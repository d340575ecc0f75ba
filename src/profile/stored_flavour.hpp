// Which flavours of a metric need no computing.
#pragma once

#include <optional>

#include "profile/compute.hpp"

namespace fathom {

// The stored flavour that the one asked for simply is, so that it can be scanned as it is; nothing when it has to be
// computed, an error when it follows from nothing that is stored.
Result<std::optional<StoredMetric>> stored_as_asked(const Profile& profile, MetricId metric, const Flavour& flavour);

// Why values in this flavour cannot be had, or "".
std::string why_unavailable(const Profile& profile, MetricId metric, const Flavour& flavour);

}  // namespace fathom
