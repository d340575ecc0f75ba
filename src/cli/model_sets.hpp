// The sets of models that a file holds: listed, chosen, renamed, left out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "model/fit.hpp"

namespace fathom::cli {

struct ModelSetChoice {
  void declare(Options& options);
  // What is said of stored sets needs --stored: without it models are made anew, and nothing of it would be done.
  [[nodiscard]] Result<void> check(bool stored) const;
  // --rename-set and --delete-set, which change what is saved.
  Result<void> change(ModelSets& sets, bool saved) const;
  // The set that was named becomes the only one; without a name the first is shown, and the others are named unless all
  // are printed.
  Result<void> choose(Session& session, ModelSets& sets, bool all_printed) const;

  bool list = false;
  std::optional<std::string> name;
  std::vector<std::string> rename;
  std::vector<std::string> remove;
};

// An error where there are none.
Result<ModelSets> stored_model_sets(Dataset& dataset);
// Names and sizes in the form that was asked for.
Result<int> list_model_sets(Session& session, Dataset& dataset);

}  // namespace fathom::cli
