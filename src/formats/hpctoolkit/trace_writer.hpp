// trace.db from the samples of a trace.
#pragma once

#include <filesystem>

#include "formats/hpctoolkit/sparse.hpp"
#include "trace/trace.hpp"

namespace fathom::hpctoolkit {

// Contexts of the samples are those of the database that is written: numbered from 1. Events of other kinds are left
// out and counted.
Result<void> write_trace(const Trace& trace, Generation generation, const std::filesystem::path& directory,
                         const Work& work);

}  // namespace fathom::hpctoolkit
