#include "formats/runs/runs_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/share_out.hpp"
#include "base/text.hpp"
#include "experiment/collect.hpp"
#include "formats/experiment_dataset.hpp"
#include "formats/reading_options.hpp"
#include "formats/registry.hpp"
#include "formats/runs/run_files.hpp"
#include "formats/sound_runs.hpp"
#include "io/directory.hpp"
#include "io/opened_files.hpp"

namespace fathom {

template <class Pack>
static void pack_fields(Pack& pack, RunValues& run) {
  pack(run.metric, run.callpath, run.values, run.parameters, run.combine);
}

namespace runs {
namespace {

namespace fs = std::filesystem;

constexpr Option<std::vector<std::string>> kReadMetric{"read-metric", "M",
                                                       "only this metric, also one that is part of another"};
constexpr Option<bool> kWithLines{"with-lines", "", "loops and lines as call paths, not as part of their function"};
constexpr Option<std::vector<std::string>> kParameterFrom{
    "parameter-from", "KEY", "this parameter of call paths (Cube) is a parameter of the experiment; repeatable"};
constexpr Option<bool> kMergeMissing{
    "merge-missing", "", "add call paths that are not in every run to the one above, instead of leaving them out"};
constexpr Option<double> kDropBelow{"drop-below", "SHARE",
                                    "leave out call paths below this share of the total at every point (0.01, say)"};
constexpr Option<std::string> kDropMetric{"drop-metric", "M", "the metric by which --drop-below judges; default time"};
constexpr Option<std::string> kDropRoot{"drop-root", "C", "the call path whose total counts; default the first one"};
// Not for users: a run is being read. Lists of runs may name themselves, or each other.
constexpr Option<bool> kInARun{"in-a-run", "", ""};

Result<Scaling> scaling_option(const Work& work) {
  std::string text = work->options.get(kScaling).value_or("weak");
  std::replace(text.begin(), text.end(), '-', '_');
  for (const Scaling s : {Scaling::weak, Scaling::weak_threaded, Scaling::strong}) {
    if (text == to_string(s)) return s;
  }
  return Error::usage(fmt::format("unknown scaling '{}'", text)).hint("weak, weak_threaded or strong");
}

Result<CollectOptions> collect_options(const Work& work) {
  CollectOptions options;
  FATHOM_TRY(options.scaling, scaling_option(work));
  options.inclusive = work->options.flag(kInclusive);
  options.lines = work->options.flag(kWithLines);
  if (auto parameters = work->options.get(kParameterFrom)) options.parameters_from = *std::move(parameters);
  if (work->options.flag(kAllowIncomplete)) options.missing = CollectOptions::Missing::keep;
  if (work->options.flag(kMergeMissing)) options.missing = CollectOptions::Missing::merge;
  if (auto metrics = work->options.get(kReadMetric)) options.metrics = *std::move(metrics);
  if (const auto share = work->options.get(kDropBelow)) {
    if (!(*share >= 0 && *share < 1)) {
      return Error::usage(fmt::format("'{}' is no share of the total", *share)).hint("--drop-below takes 0.01, say");
    }
    options.small =
        SmallKernels{*share, work->options.get(kDropMetric).value_or("time"), work->options.text(kDropRoot)};
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

template <class Pack>
void pack_fields(Pack& pack, ReadRun& run) {
  pack(run.values, run.left_out.metrics, run.left_out.others, run.left_out.hidden, run.left_out.without_parameters,
       run.left_out.wrapped, run.units, run.descriptions, run.diagnostics, run.error);
}

// How much there is to read of each run, for dealing them out: looked up once for all processes.
Result<std::vector<std::uint64_t>> run_sizes(const RunList& list) {
  FATHOM_CHECK(team().assemble("sizes of runs"));
  std::vector<std::uint64_t> sizes(list.members.size(), 1);
  if (team().alone()) return sizes;
  if (team().first()) {
    const TeamScope alone(nullptr);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::error_code status;
      const fs::path& path = list.members[i].path;
      const auto add = [&](const fs::path& file) {
        const std::uintmax_t size = fs::file_size(file, status);
        if (!status) sizes[i] += size;
      };
      if (!fs::is_directory(path, status)) {
        add(path);
      } else if (const auto entries = list_directory(path)) {
        for (const fs::path& entry : *entries) add(entry);
      }
    }
  }
  FATHOM_TRY(const Parcel told, team().broadcast(packed(sizes)));
  return unpacked<std::vector<std::uint64_t>>(told);
}

// Metrics that were asked for by name must be in some run.
Result<void> all_found(const std::vector<std::string>& wanted, const std::vector<ReadRun>& runs) {
  std::set<std::string_view> found;
  for (const ReadRun& run : runs) {
    for (const RunValues& v : run.values) found.insert(v.metric);
    found.insert(run.left_out.metrics.begin(), run.left_out.metrics.end());
    for (const auto& [metric, why] : run.left_out.others) found.insert(metric);
  }
  for (const std::string& metric : wanted) {
    if (found.contains(metric)) continue;
    return Error::usage(fmt::format("no run has a metric '{}'", metric))
        .hint("'fathom info --metrics' lists the metrics of a run");
  }
  return {};
}

Result<void> read_run(const fs::path& path, const CollectOptions& options, const Work& work, ReadRun& run) {
  // Notes of its own: what all runs have to say is said once. The memory is that of all.
  const Work own = make_work(work->diagnostics.strict());
  own->budget = work->budget;
  own->options = work->options;
  own->options.set(kInARun, true);
  const auto read = [&]() -> Result<void> {
    FATHOM_TRY(const DatasetPtr dataset, open_dataset(path, own));
    FATHOM_TRY(const ProfilePtr profile, dataset->profile());
    CollectOptions of_format = options;
    of_format.equal_paths_repeat = dataset->format().equal_paths_repeat;
    FATHOM_TRY(run.values, values_of_run(*profile, of_format, run.left_out));
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
  std::vector<fs::path> paths;
  std::vector<std::optional<Error>> errors;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    paths.push_back(list.members[i].path);
    errors.push_back(runs[i].error);
  }
  return leave_out_unreadable(paths, errors, name, work);
}

Result<void> report_left_out(const std::vector<ReadRun>& runs, const std::string& name, const CollectOptions& options,
                             const Work& work) {
  std::set<std::string> without_data;
  std::set<std::string> hidden;
  std::map<std::string, std::set<std::string>> by_reason;
  std::uint64_t without_parameters = 0;
  std::uint64_t wrapped = 0;
  for (const ReadRun& run : runs) {
    without_data.insert(run.left_out.metrics.begin(), run.left_out.metrics.end());
    hidden.insert(run.left_out.hidden.begin(), run.left_out.hidden.end());
    for (const auto& [metric, why] : run.left_out.others) by_reason[why].insert(metric);
    without_parameters += run.left_out.without_parameters;
    wrapped += run.left_out.wrapped;
  }
  if (wrapped > 0) {
    FATHOM_CHECK(work->diagnostics.add("runs.wrapped_counters", Severity::warning, Place::in(name),
                                       "a counter below zero is stored as a number near 2^64; taken as 0", wrapped));
  }
  if (!without_data.empty()) {
    work->diagnostics.info("runs.empty_metrics", Place::in(name),
                           fmt::format("The following metrics were skipped because they contained no data: {}",
                                       fmt::join(without_data, ", ")));
  }
  const auto some = [](const std::set<std::string>& names) {
    return some_of(std::vector<std::string>(names.begin(), names.end()));
  };
  if (!by_reason.empty()) {
    std::string all;
    for (const auto& [why, metrics] : by_reason) {
      all += fmt::format("{}{} ({})", all.empty() ? "" : "; ", some(metrics), why);
    }
    work->diagnostics.info("runs.metrics_left_out", Place::in(name), fmt::format("metrics are left out: {}", all));
  }
  if (!hidden.empty()) {
    work->diagnostics.info(
        "runs.hidden_metrics", Place::in(name),
        fmt::format("{} with values {} hidden by the files and left out: {} (--read-metric takes {})",
                    hidden.size() == 1 ? "1 metric" : fmt::format("{} metrics", hidden.size()),
                    hidden.size() == 1 ? "is" : "are", some(hidden), hidden.size() == 1 ? "it" : "them"));
  }
  if (without_parameters == 0) return {};
  return work->diagnostics.add(
      "runs.without_parameter", Severity::warning, Place::in(name),
      fmt::format("a call path has no parameter {}; left out", fmt::join(options.parameters_from, " and ")),
      without_parameters);
}

Result<ExperimentPtr> collect_profiles(const std::string& name, RunList list, const Work& work) {
  FATHOM_TRY(const CollectOptions options, collect_options(work));
  FATHOM_TRY(const std::vector<std::uint64_t> sizes, run_sizes(list));
  const auto bytes = [&](std::size_t i) { return sizes[i]; };
  const auto read = [&](std::size_t i, ReadRun& run) -> Result<void> {
    auto done = read_run(list.members[i].path, options, work, run);
    if (done) return {};
    if (done.error().kind() == ErrorKind::cancelled) return std::move(done).error();
    run.values.clear();
    run.error = std::move(done).error();
    return {};
  };
  FATHOM_TRY(std::vector<ReadRun> runs,
             share_out<ReadRun>("reading runs", list.members.size(), bytes, Holder::first, read));
  // Beside others there may have been too little memory for a run: alone it is read again, so that the outcome does not
  // depend on how many are read at a time.
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].error) continue;
    const TeamScope alone(nullptr);
    runs[i] = {};
    FATHOM_CHECK(read(i, runs[i]));
  }
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
  // Each is opened by one process of a team.
  for (const Member& member : list.members) expect_input(member.path);
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
  const auto valid = validate(*experiment, work->options.flag(kAllowIncomplete));
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
  if (work->options.flag(kInARun)) {
    return Error("is a directory of runs itself, where one run is expected", Place::in(source.path().string()));
  }
  FATHOM_TRY(RunList list, list_runs(source.path(), work));
  return make_dataset(source.path(), std::move(list), work);
}

}  // namespace

const Format& format() {
  static const Format kFormat = {
      .name = "runs",
      .title = "directory of runs",
      .extensions = "",
      .can = {{Level::experiment}, {}},
      .recognise = recognise_runs,
      .open = open,
      .options = {.reading = {&kScaling, &kReadMetric, &kInclusive, &kWithLines, &kParameterFrom, &kAllowIncomplete,
                              &kMergeMissing, &kDropBelow, &kDropMetric, &kDropRoot, &kMultiplyBy, &kWaits}}};
  return kFormat;
}

Result<DatasetPtr> open_members(const std::vector<fs::path>& paths, const Work& work) {
  FATHOM_TRY(RunList list, list_runs(paths, work));
  return make_dataset(paths.front().parent_path(), std::move(list), work);
}

}  // namespace runs
}  // namespace fathom
