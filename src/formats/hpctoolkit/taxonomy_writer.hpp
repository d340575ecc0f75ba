// metrics/default.yaml of a database that is written: the statistics of every metric, and derived metrics.
#pragma once

#include <string>
#include <vector>

#include "formats/hpctoolkit/scope_values.hpp"

namespace fathom::hpctoolkit {

Result<std::string> taxonomy_text(const Profile& profile, const std::vector<MetricPlan>& plans);

}  // namespace fathom::hpctoolkit
