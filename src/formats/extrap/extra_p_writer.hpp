// Writes .extra-p archives.
#pragma once

#include <filesystem>

#include "base/option.hpp"
#include "formats/format.hpp"
#include "model/model.hpp"

namespace fathom::extrap {

Result<void> write_extra_p(const Experiment& experiment, const ModelSets& models, const std::filesystem::path& target,
                           bool keep_values);
inline constexpr Option<bool> kKeepValues{"keep-values", "", "save the single values, not only their statistics"};
// From any dataset with an experiment.
Result<void> write_extra_p_dataset(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options);

}  // namespace fathom::extrap
