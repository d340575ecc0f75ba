// Writes .extra-p archives.
#pragma once

#include <filesystem>

#include "formats/format.hpp"
#include "model/model.hpp"

namespace fathom::extrap {

Result<void> write_extra_p(const Experiment& experiment, const ModelSets& models, const std::filesystem::path& target,
                           bool keep_values);
// From any dataset with an experiment; --option keep_values=true keeps the raw values.
Result<void> write_extra_p_dataset(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options);

}  // namespace fathom::extrap
