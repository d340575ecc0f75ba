#include "cli/experiment_options.hpp"

#include "cli/session.hpp"
#include "formats/runs/runs_format.hpp"

namespace fathom::cli {

void declare_experiment_options(Options& options, ExperimentOptions& target) {
  options
      .choice("--scaling", target.scaling, {"weak", "weak_threaded", "strong"},
              "how the locations of a run become a value; default weak")
      .flag("--use-inclusive-measurements", target.inclusive, "inclusive instead of exclusive values of runs")
      .flag("--keep-values", target.keep_values, "save the single values, not only their statistics")
      .flag("--allow-incomplete", target.allow_incomplete, "accept call paths that were not measured at every point");
}

void apply_experiment_options(const ExperimentOptions& options, WorkContext& work) {
  if (!options.scaling.empty()) work.options["scaling"] = options.scaling;
  if (options.inclusive) work.options["use-inclusive-measurements"] = "true";
  if (options.keep_values) work.options["keep-values"] = "true";
  if (options.allow_incomplete) work.options["allow-incomplete"] = "true";
}

Result<DatasetPtr> open_experiment(Session& session, const std::vector<std::string>& paths) {
  if (paths.size() == 1) return session.open(paths.front());
  std::vector<std::filesystem::path> members(paths.begin(), paths.end());
  return runs::open_members(members, session.work());
}

}  // namespace fathom::cli
