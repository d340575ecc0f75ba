#include "formats/runs/runs_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "experiment/collect.hpp"
#include "formats/experiment_dataset.hpp"
#include "formats/registry.hpp"
#include "formats/runs/run_files.hpp"

namespace fathom::runs {
namespace {

namespace fs = std::filesystem;

Result<Scaling> scaling_option(const Work& work) {
  std::string text = work->option("scaling", "weak");
  std::replace(text.begin(), text.end(), '-', '_');
  for (const Scaling s : {Scaling::weak, Scaling::weak_threaded, Scaling::strong}) {
    if (text == to_string(s)) return s;
  }
  return Error::usage(fmt::format("unknown scaling '{}'", text)).hint("weak, weak_threaded or strong");
}

Result<CollectOptions> collect_options(const Work& work) {
  CollectOptions options;
  FATHOM_TRY(options.scaling, scaling_option(work));
  options.inclusive = work->flag("use-inclusive-measurements");
  options.lines = work->flag("with-lines");
  const std::string parameters = work->option("parameters-from");
  for (const std::string_view parameter : split(parameters, '\n')) {
    if (!parameter.empty()) options.parameters_from.emplace_back(parameter);
  }
  if (work->flag("allow-incomplete")) options.missing = CollectOptions::Missing::keep;
  if (work->flag("merge-missing")) options.missing = CollectOptions::Missing::merge;
  const std::string metrics = work->option("read-metrics");
  for (const std::string_view metric : split(metrics, '\n')) {
    if (!metric.empty()) options.metrics.emplace_back(metric);
  }
  if (const std::string ratio = work->option("drop-below"); !ratio.empty()) {
    const auto value = parse_double(ratio);
    if (!value || !(*value >= 0 && *value < 1)) {
      return Error::usage(fmt::format("'{}' is no share of the total", ratio)).hint("--drop-below takes 0.01, say");
    }
    options.small = SmallKernels{*value, work->option("drop-metric", "time"), work->option("drop-root")};
  }
  return options;
}

// What reading one run gave.
struct ReadRun {
  std::vector<RunValues> values;
  LeftOut left_out;
  std::map<std::string, std::string> units;
  std::map<std::string, std::string> descriptions;
  std::vector<Diagnostic> diagnostics;
  Budget::Reservation memory;
  std::optional<Error> error;
};

// Metrics that were asked for by name must be in some run.
Result<void> all_found(const std::vector<std::string>& wanted, const std::vector<ReadRun>& runs) {
  std::set<std::string_view> found;
  for (const ReadRun& run : runs) {
    for (const RunValues& v : run.values) found.insert(v.metric);
    found.insert(run.left_out.metrics.begin(), run.left_out.metrics.end());
  }
  for (const std::string& metric : wanted) {
    if (found.contains(metric)) continue;
    return Error::usage(fmt::format("no run has a metric '{}'", metric))
        .hint("'fathom info --metrics' lists the metrics of a run");
  }
  return {};
}

Result<void> read_run(const fs::path& path, const CollectOptions& options, const Work& work, ReadRun& run) {
  // Notes of its own: what all runs have to say is said once.
  const Work own = make_work(work->diagnostics.strict(), work->budget.limit());
  own->options = work->options;
  const auto read = [&]() -> Result<void> {
    FATHOM_TRY(const DatasetPtr dataset, open_dataset(path, own));
    FATHOM_TRY(const ProfilePtr profile, dataset->profile());
    FATHOM_TRY(run.values, values_of_run(*profile, options, run.left_out));
    for (const Metric& metric : profile->defs().metrics) {
      run.units.emplace(metric.name, metric.unit);
      run.descriptions.emplace(metric.name, metric.description);
    }
    return {};
  };
  auto done = read();
  run.diagnostics = own->diagnostics.all();
  if (!done) return std::move(done).error().where(Place::in(path.string()));
  std::uint64_t bytes = 0;
  for (const RunValues& v : run.values) {
    bytes += sizeof v + v.metric.size() + v.callpath.size() + (v.values.size() + v.parameters.size()) * sizeof(double);
  }
  auto reserved = work->budget.reserve(bytes, "the values of the run");
  if (!reserved) return std::move(reserved).error().where(Place::in(path.string()));
  run.memory = std::move(*reserved);
  return {};
}

// The same remark about many runs is one remark.
Result<void> pass_on_diagnostics(const std::vector<ReadRun>& runs, const Work& work) {
  struct Remark {
    const Diagnostic* first = nullptr;
    std::uint64_t count = 0;
    std::size_t runs = 0;
  };
  std::map<std::string, Remark> remarks;
  std::vector<std::string> order;
  for (const ReadRun& run : runs) {
    std::set<std::string> here;
    for (const Diagnostic& diagnostic : run.diagnostics) {
      Remark& remark = remarks[diagnostic.id];
      if (remark.first == nullptr) {
        remark.first = &diagnostic;
        order.push_back(diagnostic.id);
      }
      remark.count += diagnostic.count;
      if (here.insert(diagnostic.id).second) ++remark.runs;
    }
  }
  for (const std::string& id : order) {
    const Remark& remark = remarks[id];
    const std::string others = remark.runs > 1 ? fmt::format(" (the same in {} other runs)", remark.runs - 1) : "";
    FATHOM_CHECK(work->diagnostics.add(id, remark.first->severity, remark.first->place, remark.first->text + others,
                                       remark.count));
  }
  return {};
}

// A run that cannot be read is named and left out; nothing is left of none.
Result<void> report_unreadable(const RunList& list, const std::vector<ReadRun>& runs, const std::string& name,
                               const Work& work) {
  std::size_t bad = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].error) continue;
    ++bad;
    if (bad == runs.size()) return *runs[i].error;
    Place place = runs[i].error->place();
    if (place.file.empty()) place = Place::in(list.members[i].path.string());
    FATHOM_CHECK(work->diagnostics.lost("runs.unreadable", std::move(place),
                                        fmt::format("this run is left out: {}", runs[i].error->what())));
  }
  if (bad == runs.size()) return Error("none of the runs can be read", Place::in(name));
  return {};
}

Result<void> report_left_out(const std::vector<ReadRun>& runs, const std::string& name, const CollectOptions& options,
                             const Work& work) {
  std::set<std::string> without_data;
  std::uint64_t without_parameters = 0;
  for (const ReadRun& run : runs) {
    without_data.insert(run.left_out.metrics.begin(), run.left_out.metrics.end());
    without_parameters += run.left_out.without_parameters;
  }
  if (!without_data.empty()) {
    work->diagnostics.info("runs.empty_metrics", Place::in(name),
                           fmt::format("The following metrics were skipped because they contained no data: {}",
                                       fmt::join(without_data, ", ")));
  }
  if (without_parameters == 0) return {};
  return work->diagnostics.add(
      "runs.without_parameter", Severity::warning, Place::in(name),
      fmt::format("a call path has no parameter {}; left out", fmt::join(options.parameters_from, " and ")),
      without_parameters);
}

Result<ExperimentPtr> collect_profiles(const std::string& name, RunList list, const Work& work) {
  FATHOM_TRY(const CollectOptions options, collect_options(work));
  std::vector<ReadRun> runs(list.members.size());
  Progress progress("reading runs", runs.size());
  FATHOM_CHECK(parallel_for(runs.size(), [&](std::size_t i) -> Result<void> {
    auto done = read_run(list.members[i].path, options, work, runs[i]);
    progress.advance();
    if (done) return {};
    if (done.error().kind() == ErrorKind::cancelled) return std::move(done).error();
    runs[i].values.clear();
    runs[i].error = std::move(done).error();
    return {};
  }));
  FATHOM_CHECK(report_unreadable(list, runs, name, work));
  FATHOM_CHECK(pass_on_diagnostics(runs, work));
  FATHOM_CHECK(all_found(options.metrics, runs));
  FATHOM_CHECK(report_left_out(runs, name, options, work));

  std::vector<std::string> parameters = std::move(list.parameters);
  parameters.insert(parameters.end(), options.parameters_from.begin(), options.parameters_from.end());
  if (parameters.empty()) {
    return Error("Could not detect any parameter names.", Place::in(name))
        .hint("name runs like app.p8.n100.r1; at least one value must differ between them");
  }
  // A run whose call paths have parameters of their own is several points.
  std::vector<RunAtPoint> at_points;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].error) continue;
    std::map<std::vector<double>, std::vector<RunValues>> groups;
    for (RunValues& values : runs[i].values) groups[values.parameters].push_back(std::move(values));
    if (groups.empty()) groups.try_emplace(std::vector<double>(options.parameters_from.size()));
    for (auto& [extra, values] : groups) {
      RunAtPoint& at = at_points.emplace_back();
      at.point = list.points[i];
      at.point.insert(at.point.end(), extra.begin(), extra.end());
      at.values = std::move(values);
      at.name = list.members[i].path.string();
      at.units = runs[i].units;
      at.descriptions = runs[i].descriptions;
    }
  }
  return collect(name, parameters, std::move(at_points), options, work);
}

Result<DatasetPtr> make_dataset(const fs::path& path, RunList list, const Work& work) {
  // What the first sound run says.
  CollectRuns own = nullptr;
  for (const Member& member : list.members) {
    const auto source = Source::at(member.path, work);
    const auto recognised = source.ok() ? recognise(*source) : std::vector<Recognition>();
    if (recognised.empty()) continue;
    own = recognised.front().format->collect;
    break;
  }
  ExperimentPtr experiment;
  if (own != nullptr) {
    if (list.parameters.empty()) {
      return Error("Could not detect any parameter names.", Place::in(path.string()))
          .hint("name runs like app.p8.n100.r1; at least one value must differ between them");
    }
    FATHOM_TRY(const Scaling scaling, scaling_option(work));
    std::vector<RunFile> files;
    for (std::size_t i = 0; i < list.members.size(); ++i) {
      files.push_back({list.members[i].path, std::move(list.points[i])});
    }
    std::stable_sort(files.begin(), files.end(), [](const RunFile& a, const RunFile& b) { return a.point < b.point; });
    FATHOM_TRY(experiment, own(path.string(), list.parameters, files, scaling, work));
  } else {
    FATHOM_TRY(experiment, collect_profiles(path.string(), std::move(list), work));
  }
  auto dataset = std::make_unique<ExperimentDataset>(format(), path, work, experiment);
  const auto valid = validate(*experiment, work->flag("allow-incomplete"));
  if (own != nullptr && !valid.ok() && validate(*experiment, true).ok()) {
    // Formats with rules of their own have judged already which incomplete call paths stay.
    FATHOM_CHECK(work->diagnostics.warn("runs.incomplete", Place::in(path.string()), valid.error().what()));
    dataset->use_as_it_is();
  }
  return DatasetPtr(std::move(dataset));
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  if (!source.is_directory()) {
    return Error(fmt::format("Cube file path must point to a directory: {}", source.path().string()));
  }
  FATHOM_TRY(RunList list, list_runs(source.path(), work));
  return make_dataset(source.path(), std::move(list), work);
}

}  // namespace

const Format& format() {
  static const Format kFormat = {"runs", "directory of runs", "", {{Level::experiment}, {}}, recognise_runs, open,
                                 nullptr};
  return kFormat;
}

Result<DatasetPtr> open_members(const std::vector<fs::path>& paths, const Work& work) {
  FATHOM_TRY(RunList list, list_runs(paths, work));
  return make_dataset(paths.front().parent_path(), std::move(list), work);
}

}  // namespace fathom::runs
