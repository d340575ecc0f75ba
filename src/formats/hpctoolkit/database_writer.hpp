// Writes a profile (and its trace of samples) as a database directory.
#pragma once

#include <filesystem>

#include "formats/dataset.hpp"
#include "formats/hpctoolkit/sparse.hpp"
#include "profile/profile.hpp"
#include "trace/trace.hpp"

namespace fathom::hpctoolkit {

// The directory appears whole or not at all; an older database at the target is replaced, anything else is not.
Result<void> write_database(const Profile& profile, const Trace* trace, const std::filesystem::path& sources,
                            Generation generation, const std::filesystem::path& target);
Result<void> write_database(Dataset& dataset, Generation generation, const std::filesystem::path& target);

}  // namespace fathom::hpctoolkit
