// Options of reading, as the formats declare them, on commands that read experiments.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "cli/options.hpp"
#include "formats/dataset.hpp"

namespace fathom::cli {

class Session;

class ReadingOptions {
 public:
  // --NAME for every option that a format declares whose runs are, or become, an experiment.
  void declare(Options& options);
  // Before anything is opened: readers find them in the work.
  Result<void> apply(WorkContext& work) const;
  // A warning for each that was given and that the format has no use for. Runs may be of any format.
  void tell_unused(Session& session, const Dataset& dataset) const;

 private:
  struct Given {
    const OptionDeclaration* option = nullptr;
    bool flag = false;
    std::string text;
    std::vector<std::string> list;
  };
  std::deque<Given> given_;  // the parser writes into them: they stay where they are
};

// One path: an experiment or a directory of runs. Several: the runs.
Result<DatasetPtr> open_experiment(Session& session, const std::vector<std::string>& paths);

}  // namespace fathom::cli
