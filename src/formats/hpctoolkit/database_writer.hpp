// Writes a profile (and its trace of samples) as a database directory.
#pragma once

#include <array>
#include <filesystem>
#include <string_view>

#include "formats/dataset.hpp"
#include "formats/hpctoolkit/sparse.hpp"
#include "profile/profile.hpp"
#include "trace/trace.hpp"

namespace fathom::hpctoolkit {

// A directory with one of these is a database.
inline constexpr std::array<std::string_view, 2> kDatabaseMarks = {"meta.db", "experiment.xml"};

// The directory appears whole or not at all; an older database at the target is replaced, anything else is not.
Result<void> write_database(const Profile& profile, const Trace* trace, const std::filesystem::path& sources,
                            Generation generation, const std::filesystem::path& target);
Result<void> write_database(Dataset& dataset, Generation generation, const std::filesystem::path& target);

}  // namespace fathom::hpctoolkit
