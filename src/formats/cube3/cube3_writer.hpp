// Any profile as a Cube 3 document.
#pragma once

#include <filesystem>

#include "formats/dataset.hpp"

namespace fathom::cube3 {

// Cube 3 holds plain numbers over machine, node, process and thread. What it has no place for (derived metrics,
// minima and other composites, accelerators, attributes and parameters of parts) is left out with a warning.
// A target that ends in .gz, or `compress`, is packed.
Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options);

}  // namespace fathom::cube3
