// Experiments written as Extra-P text, JSON and JSON Lines.
#pragma once

#include "formats/format.hpp"

namespace fathom::extrap {

Result<void> write_text(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options);
Result<void> write_json(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options);
Result<void> write_json_lines(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options);

}  // namespace fathom::extrap
