#include "cli/experiment_options.hpp"

#include "cli/session.hpp"
#include "formats/runs/runs_format.hpp"

namespace fathom::cli {

void declare_experiment_options(Options& options, ExperimentOptions& target) {
  options
      .choice("--scaling", target.scaling, {"weak", "weak_threaded", "weak-threaded", "strong"},
              "runs: how the locations of a run become a value; default weak")
      .values("--read-metric", "M", target.metrics, "runs: only this metric, also one that is part of another")
      .flag("--use-inclusive-measurements", target.inclusive, "runs: inclusive instead of exclusive values")
      .flag("--with-lines", target.lines, "runs: loops and lines as call paths, not as part of their function")
      .values("--parameter-from", "KEY", target.parameters_from,
              "runs: this parameter of call paths (Cube) is a parameter of the experiment; repeatable")
      .flag("--allow-incomplete", target.allow_incomplete, "accept call paths that were not measured at every point")
      .flag("--merge-missing", target.merge_missing,
            "runs: add call paths that are not in every run to the one above, instead of leaving them out")
      .value("--drop-below", "SHARE", &target.drop_below,
             "runs: leave out call paths below this share of the total at every point (0.01, say)")
      .value("--drop-metric", "M", &target.drop_metric, "the metric by which --drop-below judges; default time")
      .value("--drop-root", "C", &target.drop_root, "the call path whose total counts; default the first one")
      .value("--multiply-by", "P", &target.multiply_by,
             "multiply all values by this parameter (strong scaling: time of all processes)")
      .flag("--sum-gpu-threads", target.sum_gpu_threads, "Extra-Prof: add GPU times of a rank's threads up")
      .flag("--concurrent-threads", target.concurrent_threads,
            "Extra-Prof: keep what is below a call path although it takes longer than the call path itself")
      .flag("--count-gpu-calls-once", target.count_gpu_calls_once,
            "Nsight: count each call once, where Extra-P counts some again");
}

void declare_keep_values(Options& options, ExperimentOptions& target) {
  options.flag("--keep-values", target.keep_values, "save the single values, not only their statistics");
}

void apply_experiment_options(const ExperimentOptions& options, WorkContext& work) {
  const auto text = [&](const char* name, const std::string& value) {
    if (!value.empty()) work.options[name] = value;
  };
  const auto flag = [&](const char* name, bool given) {
    if (given) work.options[name] = "true";
  };
  text("scaling", options.scaling);
  for (const std::string& metric : options.metrics) work.options["read-metrics"] += metric + '\n';
  flag("use-inclusive-measurements", options.inclusive);
  flag("with-lines", options.lines);
  for (const std::string& key : options.parameters_from) work.options["parameters-from"] += key + '\n';
  flag("allow-incomplete", options.allow_incomplete);
  flag("merge-missing", options.merge_missing);
  text("drop-below", options.drop_below);
  text("drop-metric", options.drop_metric);
  text("drop-root", options.drop_root);
  text("multiply-by", options.multiply_by);
  flag("sum-gpu-threads", options.sum_gpu_threads);
  flag("concurrent-threads", options.concurrent_threads);
  flag("count-gpu-calls-once", options.count_gpu_calls_once);
  flag("keep-values", options.keep_values);
}

Result<DatasetPtr> open_experiment(Session& session, const std::vector<std::string>& paths) {
  if (paths.size() == 1) return session.open(paths.front());
  std::vector<std::filesystem::path> members(paths.begin(), paths.end());
  return runs::open_members(members, session.work());
}

}  // namespace fathom::cli
