// meta.db of a profile, and the taxonomy of its metrics beside it.
#pragma once

#include <filesystem>
#include <vector>

#include "formats/hpctoolkit/scope_values.hpp"

namespace fathom::hpctoolkit {

Result<void> write_meta(const Profile& profile, const std::vector<MetricPlan>& plans,
                        const std::filesystem::path& directory);

}  // namespace fathom::hpctoolkit
