#pragma once

#include <filesystem>

#include "formats/dataset.hpp"

namespace fathom::pprof {

// One sample per context and location with a value of its own; packed with gzip unless the name ends in .pb.
Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options);

}  // namespace fathom::pprof
