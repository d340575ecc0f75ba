#pragma once

#include <filesystem>

#include "formats/dataset.hpp"

namespace fathom::callgrind {

// Self costs per function and inclusive costs per call, all locations together.
Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options);

}  // namespace fathom::callgrind
