#include "findings/dataset_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/team.hpp"
#include "findings/experiment_report.hpp"
#include "findings/gpu_rules.hpp"
#include "findings/pair_report.hpp"
#include "findings/profile_report.hpp"
#include "findings/run_efficiency.hpp"
#include "findings/thread_rules.hpp"
#include "findings/trace_report.hpp"
#include "formats/format.hpp"
#include "formats/runs/runs_format.hpp"
#include "io/directory.hpp"
#include "profile/reduce/reduce.hpp"
#include "profile/selection.hpp"
#include "trace/analysis/analysis.hpp"

namespace fathom {

namespace {

constexpr std::string_view kOutsideRegions = "compute";  // in reduced profiles

bool has(const Dataset& dataset, Level level) {
  const auto levels = dataset.levels();
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

Result<Report> of_profile(const ProfilePtr& profile) {
  FATHOM_TRY(const MetricId cost, guess_cost(*profile));
  return profile_report(profile, cost);
}

// What a trace tells of threads and GPUs, beside the profile of the same run.
Result<void> add_threads(const Trace& trace, const Work& work, Report& report) {
  auto threads = analysis::thread_efficiencies(trace, work);
  if (threads) {
    report.threads = *threads;
    report.runtime_s = threads->runtime * 1e-9;
    for (Finding& finding : thread_findings(*threads)) report.findings.push_back(std::move(finding));
  } else if (threads.error().kind() != ErrorKind::usage) {
    return std::move(threads).error();
  }
  FATHOM_TRY(auto gpu, idle_gpus(trace));
  if (gpu) {
    // The order in time says it better than sums do.
    std::erase_if(report.findings, [](const Finding& finding) { return finding.kind == "gpu_idle"; });
    report.findings.push_back(std::move(*gpu));
  }
  report.finish();
  return {};
}

// Without messages nobody can be seen to wait for another; what the threads do can be.
Result<Report> of_trace_without_messages(const ReportInput& input) {
  const TeamScope alone(nullptr);  // the others have left when the calls were brought together
  ReduceOptions options;
  options.name = input.path;
  FATHOM_TRY(const ProfilePtr profile, reduce(*input.trace, options, input.work));
  FATHOM_TRY(Report report, of_profile(profile));
  // What threads do outside of all regions nobody knows: most of them sleep.
  std::erase_if(report.findings, [](const Finding& finding) { return finding.where.region == kOutsideRegions; });
  FATHOM_CHECK(add_threads(*input.trace, input.work, report));
  report.why_no_waits = "the trace has no MPI calls with times";
  return report;
}

Result<Report> of_runs(const ReportInput& input) {
  const TeamScope alone(nullptr);  // the others have left when the experiment was made
  FATHOM_TRY(auto runs, run_efficiencies(input.path, input.work));
  Report report = runs.empty() ? Report{} : scaling_report(std::move(runs));
  FATHOM_TRY(Report models, experiment_report(*input.experiment, input.work));
  for (Finding& finding : models.findings) report.findings.push_back(std::move(finding));
  report.finish();
  return report;
}

Result<Report> report_of(const ReportInput& input) {
  if (input.experiment) {
    return input.format == runs::format().name ? of_runs(input) : experiment_report(*input.experiment, input.work);
  }
  if (input.profile) {
    FATHOM_TRY(Report report, of_profile(input.profile));
    if (input.trace) FATHOM_CHECK(add_threads(*input.trace, input.work, report));
    return report;
  }
  auto analysed = analysis::analyse(*input.trace, input.work);
  if (analysed) return trace_report(**analysed);
  if (analysed.error().kind() != ErrorKind::usage) return std::move(analysed).error();
  return of_trace_without_messages(input);
}

// One of the two that are compared: a run, or repetitions of it.
struct Side {
  std::vector<ProfilePtr> profiles;
  std::string format;
};

// The files of the ranks of a trace are no runs of their own where the file that holds them together is there, too.
bool is_rank_of_another(const std::filesystem::path& entry, const std::vector<std::filesystem::path>& all) {
  return entry.extension() == ".bin" && std::any_of(all.begin(), all.end(), [&](const std::filesystem::path& other) {
           return other.extension() == ".meta" && entry.stem().string().starts_with(other.stem().string() + "-");
         });
}

// Every run that a directory holds. What is no run may stand beside them; what looks like one and cannot be read is
// told.
Result<Side> all_runs_of(const std::filesystem::path& directory, const OpenDataset& open) {
  FATHOM_TRY(std::vector<std::filesystem::path> entries, list_directory(directory));
  std::sort(entries.begin(), entries.end());
  Side side;
  Work work;
  std::vector<std::pair<std::filesystem::path, Error>> failed;
  std::vector<std::filesystem::path> endings;
  for (const std::filesystem::path& entry : entries) {
    if (is_rank_of_another(entry, entries)) continue;
    auto run = open(entry);
    if (!run) {
      failed.emplace_back(entry, std::move(run).error());
      continue;
    }
    if (has(**run, Level::experiment)) continue;
    FATHOM_TRY(auto profile, (*run)->profile());
    side.profiles.push_back(std::move(profile));
    side.format = (*run)->format().name;
    work = (*run)->work();
    endings.push_back(entry.extension());
  }
  if (side.profiles.empty()) return Error("this directory holds no runs", Place::in(directory.string()));
  for (const auto& [entry, error] : failed) {
    if (std::find(endings.begin(), endings.end(), entry.extension()) == endings.end()) continue;
    FATHOM_CHECK(work->diagnostics.warn("runs.unreadable", Place::in(entry.string()),
                                        fmt::format("left out, since it cannot be read: {}", error.what())));
  }
  return side;
}

Result<Side> side_of(const std::filesystem::path& path, const OpenDataset& open) {
  auto opened = open(path);
  if (opened && !has(**opened, Level::experiment)) {
    FATHOM_TRY(auto profile, (*opened)->profile());
    return Side{{std::move(profile)}, std::string((*opened)->format().name)};
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return all_runs_of(path, open);
  if (!opened) return std::move(opened).error();
  return Error::usage(path.string() + " is an experiment: profiles and traces can be compared");
}

}  // namespace

bool is_reported_together(const Dataset& dataset) {
  if (has(dataset, Level::profile)) return false;
  return has(dataset, Level::trace) || dataset.format().name == runs::format().name;
}

Result<ReportInput> report_input(Dataset& dataset) {
  ReportInput input;
  input.path = dataset.path().string();
  input.format = dataset.format().name;
  input.work = dataset.work();
  if (!has(dataset, Level::profile) && !has(dataset, Level::trace)) {
    FATHOM_TRY(input.experiment, dataset.experiment());
    return input;
  }
  if (has(dataset, Level::profile)) {
    FATHOM_TRY(input.profile, dataset.profile());
  }
  if (has(dataset, Level::trace)) {
    FATHOM_TRY(input.trace, dataset.trace());
  }
  return input;
}

Result<Report> make_report(const ReportInput& input) {
  FATHOM_TRY(Report report, report_of(input));
  report.path = input.path;
  report.format = input.format;
  return report;
}

Result<Report> make_report(const std::filesystem::path& before, const std::filesystem::path& after,
                           const OpenDataset& open) {
  FATHOM_TRY(const auto a, side_of(before, open));
  FATHOM_TRY(const auto b, side_of(after, open));
  FATHOM_TRY(Report report, pair_report(a.profiles, b.profiles));
  report.path = after.string();
  report.format = b.format;
  return report;
}

}  // namespace fathom
