// Writes a profile (and its trace of samples) as a database directory.
#pragma once

#include <filesystem>

#include "formats/dataset.hpp"
#include "formats/hpctoolkit/sparse.hpp"
#include "profile/profile.hpp"
#include "trace/trace.hpp"

namespace fathom::hpctoolkit {

// True for the files of a database of either generation, by their path in its directory. Sources that were copied along
// are the user's.
bool is_database_file(const std::filesystem::path& relative);

// The directory appears whole or not at all. In one that exists the files of an older database are replaced, everything
// else stays as it is, and without the option "force" of the work there may be nothing else.
Result<void> write_database(const Profile& profile, const Trace* trace, const std::filesystem::path& sources,
                            Generation generation, const std::filesystem::path& target);
Result<void> write_database(Dataset& dataset, Generation generation, const std::filesystem::path& target);

}  // namespace fathom::hpctoolkit
