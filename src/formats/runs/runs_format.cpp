#include "formats/runs/runs_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "experiment/collect.hpp"
#include "formats/experiment_dataset.hpp"
#include "formats/registry.hpp"
#include "formats/runs/run_names.hpp"

namespace fathom::runs {
namespace {

namespace fs = std::filesystem;

// What a point directory may hold; of several kinds the first counts.
constexpr std::string_view kMemberEndings[] = {".cubex", ".sqlite", ".extra-prof.msgpack"};
// What must be converted before it can be read, and how.
constexpr std::pair<std::string_view, const char*> kUnconverted[] = {
    {".nsys-rep", "convert the reports first: nsys export --type sqlite REPORT.nsys-rep"},
    {".qdrep", "convert the reports first: nsys export --type sqlite REPORT.qdrep"},
    {".qdstrm", "convert the reports first: nsys import, then nsys export --type sqlite"},
    {".ncu-rep", "reports of Nsight Compute are not read; record with Nsight Systems and export as SQLite"},
};
constexpr std::size_t kLookedAt = 200;  // entries, for recognition

struct Member {
  fs::path path;
  std::string run;  // the name that says the point
};

std::vector<fs::path> entries(const fs::path& directory, std::size_t most) {
  std::vector<fs::path> list;
  std::error_code status;
  for (fs::directory_iterator it(directory, status), end; !status && it != end && list.size() < most;
       it.increment(status)) {
    if (!it->path().filename().string().starts_with('.')) list.push_back(it->path());
  }
  std::sort(list.begin(), list.end());
  return list;
}

std::vector<fs::path> files_with(const fs::path& directory, std::string_view ending, std::size_t most) {
  std::vector<fs::path> list;
  std::error_code status;
  for (const fs::path& path : entries(directory, most)) {
    if (path.filename().string().ends_with(ending) && fs::is_regular_file(path, status)) list.push_back(path);
  }
  return list;
}

// The files of every point directory, all with one ending.
std::vector<Member> members_with(const fs::path& directory, std::string_view ending, std::size_t most) {
  std::vector<Member> members;
  std::error_code status;
  for (const fs::path& run : entries(directory, most)) {
    if (!fs::is_directory(run, status)) continue;
    for (fs::path& file : files_with(run, ending, most)) members.push_back({std::move(file), run.filename().string()});
  }
  return members;
}

// Files that carry their point in their own names.
std::vector<Member> flat_members(const fs::path& directory, std::string_view ending) {
  std::vector<Member> members;
  for (fs::path& file : files_with(directory, ending, static_cast<std::size_t>(-1))) {
    const std::string name = file.filename().string();
    members.push_back({std::move(file), name.substr(0, name.size() - ending.size())});
  }
  return members;
}

// Point directories that are datasets themselves: traces, databases.
std::vector<Member> directory_members(const fs::path& directory, const Work& work) {
  std::vector<Member> members;
  std::error_code status;
  for (const fs::path& run : entries(directory, static_cast<std::size_t>(-1))) {
    if (!fs::is_directory(run, status) || !parse_run_name(run.filename().string())) continue;
    const auto source = Source::at(run, work);
    if (!source) continue;
    for (const Recognition& r : recognise(*source)) {
      if (r.format == &format() || r.match.confidence < Confidence::likely) continue;
      members.push_back({run, run.filename().string()});
      break;
    }
  }
  return members;
}

struct Points {
  std::vector<std::string> parameters;
  std::vector<std::vector<double>> of_member;
};

std::string list_text(const std::vector<std::string>& names) {
  std::string out = "[";
  for (const std::string& n : names) out += (out.size() > 1 ? ", '" : "'") + n + "'";
  return out + "]";
}

// One point per member. Parameters that never change are no parameters.
Result<Points> points_of(const std::vector<Member>& members, const std::string& where, const Work& work) {
  Points points;
  for (const Member& m : members) {
    auto point = parse_run_name(m.run);
    if (!point) return std::move(point).error().where(Place::in(m.path.parent_path().string()));
    if (points.of_member.empty()) {
      points.parameters = point->names;
      if (point->names.front() == "scorep-") {
        FATHOM_CHECK(work->diagnostics.warn("runs.default_names", Place::in(where),
                                            "no parameter names were detected: these are Score-P's default names"));
      }
    } else if (point->names != points.parameters) {
      return Error(fmt::format("Parameters must be the same and in the same order: {} is not {}.",
                               list_text(points.parameters), list_text(point->names)),
                   Place::in(m.path.parent_path().string()))
          .hint(fmt::format("rename '{}', or move it elsewhere", m.run));
    }
    points.of_member.push_back(std::move(point->values));
  }
  for (std::size_t p = points.parameters.size(); p-- > 0;) {
    const bool varies = std::any_of(points.of_member.begin(), points.of_member.end(),
                                    [&](const auto& values) { return values[p] != points.of_member.front()[p]; });
    if (varies) continue;
    points.parameters.erase(points.parameters.begin() + static_cast<std::ptrdiff_t>(p));
    for (auto& values : points.of_member) values.erase(values.begin() + static_cast<std::ptrdiff_t>(p));
  }
  if (points.parameters.empty()) {
    return Error("Could not detect any parameter names.", Place::in(where))
        .hint("name runs like app.p8.n100.r1; at least one value must differ between them");
  }
  return points;
}

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

// Metrics that were asked for by name must be in some run.
Result<void> all_found(const std::vector<std::string>& wanted, const std::vector<RunAtPoint>& runs,
                       const std::vector<std::vector<std::string>>& skipped) {
  std::set<std::string_view> found;
  for (const RunAtPoint& run : runs) {
    for (const RunValues& v : run.values) found.insert(v.metric);
  }
  for (const auto& list : skipped) found.insert(list.begin(), list.end());
  for (const std::string& metric : wanted) {
    if (found.contains(metric)) continue;
    return Error::usage(fmt::format("no run has a metric '{}'", metric))
        .hint("'fathom info --metrics' lists the metrics of a run");
  }
  return {};
}

Result<ExperimentPtr> collect_profiles(const std::string& name, const std::vector<Member>& members, Points points,
                                       const Work& work) {
  FATHOM_TRY(const CollectOptions options, collect_options(work));
  std::vector<RunAtPoint> runs(members.size());
  std::vector<std::vector<std::string>> skipped(members.size());
  std::vector<Budget::Reservation> memory(members.size());
  Progress progress("reading runs", members.size());
  FATHOM_CHECK(parallel_for(members.size(), [&](std::size_t i) -> Result<void> {
    FATHOM_TRY(const DatasetPtr dataset, open_dataset(members[i].path, work));
    auto profile = dataset->profile();
    if (!profile) return std::move(profile).error();
    runs[i].point = std::move(points.of_member[i]);
    runs[i].name = members[i].path.string();
    auto values = values_of_run(**profile, options, skipped[i]);
    if (!values) return std::move(values).error().where(Place::in(runs[i].name));
    runs[i].values = std::move(*values);
    std::uint64_t bytes = 0;
    for (const RunValues& v : runs[i].values) {
      bytes += sizeof v + v.metric.size() + v.callpath.size() + v.values.size() * sizeof(double);
    }
    auto reserved = work->budget.reserve(bytes, "the values of the run");
    if (!reserved) return std::move(reserved).error().where(Place::in(runs[i].name));
    memory[i] = std::move(*reserved);
    for (const Metric& metric : (*profile)->defs().metrics) runs[i].units.emplace(metric.name, metric.unit);
    progress.advance();
    return {};
  }));
  FATHOM_CHECK(all_found(options.metrics, runs, skipped));
  std::set<std::string> without_data;
  for (const auto& list : skipped) without_data.insert(list.begin(), list.end());
  if (!without_data.empty()) {
    work->diagnostics.info("runs.empty_metrics", Place::in(name),
                           fmt::format("The following metrics were skipped because they contained no data: {}",
                                       fmt::join(without_data, ", ")));
  }
  return collect(name, points.parameters, std::move(runs), options, work);
}

Result<DatasetPtr> make_dataset(const fs::path& path, const std::vector<Member>& members, const Work& work) {
  FATHOM_TRY(Points points, points_of(members, path.string(), work));
  FATHOM_TRY(const Source first, Source::at(members.front().path, work));
  const auto recognised = recognise(first);
  const CollectRuns own = recognised.empty() ? nullptr : recognised.front().format->collect;
  ExperimentPtr experiment;
  if (own != nullptr) {
    FATHOM_TRY(const Scaling scaling, scaling_option(work));
    std::vector<RunFile> files;
    for (std::size_t i = 0; i < members.size(); ++i) files.push_back({members[i].path, std::move(points.of_member[i])});
    std::stable_sort(files.begin(), files.end(), [](const RunFile& a, const RunFile& b) { return a.point < b.point; });
    FATHOM_TRY(experiment, own(path.string(), points.parameters, files, scaling, work));
  } else {
    FATHOM_TRY(experiment, collect_profiles(path.string(), members, std::move(points), work));
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

Match recognise_directory(const Source& source) {
  if (!source.is_directory()) return {};
  for (const std::string_view ending : kMemberEndings) {
    std::set<std::string> runs;
    const auto members = members_with(source.path(), ending, kLookedAt);
    for (const Member& m : members) {
      if (parse_run_name(m.run)) runs.insert(m.run);
    }
    if (runs.size() >= 2) {
      return {Confidence::certain, fmt::format("directories named after parameters, with *{} in them", ending)};
    }
    // Names that say no point are explained when it is opened.
    if (!members.empty()) return {Confidence::maybe, fmt::format("a directory with *{} in it", ending)};
  }
  for (const auto& [ending, hint] : kUnconverted) {
    if (!members_with(source.path(), ending, kLookedAt).empty()) {
      return {Confidence::maybe, fmt::format("a directory with *{} in it", ending)};
    }
  }
  std::size_t named = 0;
  for (const fs::path& path : entries(source.path(), kLookedAt)) {
    std::string name = path.filename().string();
    for (const std::string_view ending : kMemberEndings) {
      if (name.ends_with(ending)) name.resize(name.size() - ending.size());
    }
    if (name.find(".r") != std::string::npos && parse_run_name(name)) ++named;
  }
  if (named >= 2) return {Confidence::likely, "entries named after parameters and repetitions"};
  return {};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  if (!source.is_directory()) {
    return Error(fmt::format("Cube file path must point to a directory: {}", source.path().string()));
  }
  for (const std::string_view ending : kMemberEndings) {
    const auto members = members_with(source.path(), ending, static_cast<std::size_t>(-1));
    if (!members.empty()) return make_dataset(source.path(), members, work);
  }
  for (const std::string_view ending : kMemberEndings) {
    const auto members = flat_members(source.path(), ending);
    if (members.size() > 1) return make_dataset(source.path(), members, work);
  }
  const auto members = directory_members(source.path(), work);
  if (!members.empty()) return make_dataset(source.path(), members, work);
  for (const auto& [ending, hint] : kUnconverted) {
    if (members_with(source.path(), ending, kLookedAt).empty()) continue;
    return Error(fmt::format("No sqlite or ncu-rep files were found in: {}", source.path().string())).hint(hint);
  }
  return Error(fmt::format("No cube files were found in: {}", source.path().string()))
      .hint(
          "a directory of runs holds one directory per run, named like app.p8.n100.r1, with a .cubex, .sqlite or "
          ".extra-prof.msgpack file in each");
}

}  // namespace

const Format& format() {
  static const Format kFormat = {"runs", "directory of runs", "", {{Level::experiment}, {}}, recognise_directory, open,
                                 nullptr};
  return kFormat;
}

Result<DatasetPtr> open_members(const std::vector<fs::path>& paths, const Work& work) {
  std::vector<Member> members;
  std::error_code status;
  for (const fs::path& path : paths) {
    const std::string name = (path.has_filename() ? path : path.parent_path()).filename().string();
    if (!fs::is_directory(path, status)) {
      members.push_back({path, path.stem().string()});
      continue;
    }
    bool found = false;
    for (const std::string_view ending : kMemberEndings) {
      for (fs::path& file : files_with(path, ending, static_cast<std::size_t>(-1))) {
        members.push_back({std::move(file), name});
        found = true;
      }
      if (found) break;
    }
    if (!found) members.push_back({path, name});
  }
  if (members.empty()) return Error::usage("no runs are given");
  return make_dataset(paths.front().parent_path(), members, work);
}

}  // namespace fathom::runs
