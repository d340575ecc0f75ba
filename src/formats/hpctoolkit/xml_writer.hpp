// experiment.xml 4.0 of a profile.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "formats/hpctoolkit/scope_values.hpp"
#include "trace/trace.hpp"

namespace fathom::hpctoolkit {

Result<void> write_xml(const Profile& profile, const std::vector<MetricPlan>& plans, std::optional<TimeWindow> trace,
                       const std::filesystem::path& directory);

}  // namespace fathom::hpctoolkit
