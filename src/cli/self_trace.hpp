// What the program did itself, as a file that Perfetto, Chrome and Fathom open.
#pragma once

#include <filesystem>

#include "base/result.hpp"
#include "base/self_profile.hpp"

namespace fathom::cli {

Result<void> write_self_trace(const SelfProfile& profile, const std::filesystem::path& target);

}  // namespace fathom::cli
