#include "formats/runs/run_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "formats/holdings.hpp"
#include "formats/registry.hpp"
#include "formats/runs/run_names.hpp"
#include "formats/runs/run_points.hpp"
#include "formats/runs/runs_format.hpp"
#include "io/directory.hpp"

namespace fathom::runs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLookedAt = 200;  // entries, for recognition
constexpr std::size_t kAll = static_cast<std::size_t>(-1);
constexpr std::size_t kDeepest = 4;  // directories in directories

std::vector<fs::path> entries(const fs::path& directory, std::size_t most) {
  std::vector<fs::path> list;
  std::error_code status;
  for (fs::directory_iterator it(directory, status), end; !status && it != end && list.size() < most;
       it.increment(status)) {
    const fs::path name = it->path().filename();
    if (!name.string().starts_with('.') && !is_litter(name)) list.push_back(it->path());
  }
  std::sort(list.begin(), list.end());
  return list;
}

// One run can be made of what this format reads.
bool gives_runs(const Format& format) {
  if (&format == &runs::format()) return false;
  const auto& reads = format.can.reads;
  const auto has = [&](Level level) { return std::find(reads.begin(), reads.end(), level) != reads.end(); };
  return format.collect != nullptr || has(Level::profile) || has(Level::trace);
}

// A format by a file's name and which of its endings that is; the first one is what the format is opened by.
struct Ending {
  const Format* format = nullptr;
  std::size_t rank = 0;  // of the format, then of the ending
  std::size_t size = 0;
};
Ending ending_of(const std::string& name) {
  Ending best;
  std::size_t rank = 0;
  for (const Format* format : all_formats()) {
    if (!gives_runs(*format)) continue;
    for (const std::string_view ending : split(format->extensions, ' ')) {
      ++rank;
      if (ending.empty()) continue;
      for (const std::string& full : {std::string(ending), std::string(ending) + ".gz"}) {
        if (name.ends_with(full) && full.size() > best.size) best = {format, rank, full.size()};
      }
    }
  }
  return best;
}

const Format* format_at(const fs::path& path, const Work& work, Confidence least = Confidence::likely) {
  const auto source = Source::at(path, work);
  if (!source) return nullptr;
  // This format itself is not asked: it would ask for everything below once more, on every level.
  const auto found = recognise(*source, gives_runs);
  return !found.empty() && found.front().match.confidence >= least ? found.front().format : nullptr;
}

// Of files of several kinds the first counts: an ending of a format, in the order of the registry. Pipes and links to
// nothing are no reason to take a kind before others.
std::vector<fs::path> of_one_kind(const std::vector<fs::path>& files) {
  std::map<std::size_t, std::vector<fs::path>> by_rank;
  for (const fs::path& file : files) {
    if (const Ending ending = ending_of(file.filename().string()); ending.format != nullptr) {
      by_rank[ending.rank].push_back(file);
    }
  }
  const auto has_file = [](const auto& kind) {
    std::error_code status;
    return std::any_of(kind.second.begin(), kind.second.end(),
                       [&](const fs::path& file) { return fs::is_regular_file(file, status); });
  };
  const auto first = std::find_if(by_rank.begin(), by_rank.end(), has_file);
  if (first != by_rank.end()) return first->second;
  return by_rank.empty() ? std::vector<fs::path>() : by_rank.begin()->second;
}

std::vector<fs::path> files_in(const fs::path& directory, std::size_t most) {
  std::vector<fs::path> files;
  std::error_code status;
  for (fs::path& path : entries(directory, most)) {
    // Also a pipe or a link to nothing with the name of a run: whoever opens it says why it cannot be read.
    if (!fs::is_directory(path, status)) files.push_back(std::move(path));
  }
  return files;
}

// Links may lead back to where they are.
std::vector<fs::path> directories_in(const fs::path& directory, std::size_t most) {
  std::vector<fs::path> directories;
  std::error_code status;
  for (fs::path& path : entries(directory, most)) {
    if (fs::is_directory(path, status) && !fs::is_symlink(path, status)) directories.push_back(std::move(path));
  }
  return directories;
}

// Directories in a directory that are datasets.
std::vector<fs::path> datasets_in(const fs::path& directory, std::size_t most, const Work& work) {
  std::vector<fs::path> datasets;
  std::error_code status;
  for (fs::path& path : entries(directory, most)) {
    if (fs::is_directory(path, status) && format_at(path, work) != nullptr) datasets.push_back(std::move(path));
  }
  return datasets;
}

// A directory that may not be looked into: a run all the same, and whoever opens it says why it cannot be read.
bool is_closed(const fs::path& directory) {
  std::error_code status;
  const fs::directory_iterator look(directory, status);
  return status == std::errc::permission_denied;
}

// The runs in a point directory: it is a dataset itself, or it holds files or directories that are, or directories with
// runs in them. Each has the names of all directories that lead to it. Directories without any go to `without`.
std::vector<Member> runs_in(const fs::path& directory, const std::string& name, const Work& work,
                            std::vector<Member>& without, std::size_t deepest = kDeepest) {
  const auto named = [&](std::vector<fs::path> paths) {
    std::vector<Member> members;
    for (fs::path& path : paths) members.push_back({std::move(path), name});
    return members;
  };
  if (is_closed(directory)) return named({directory});
  std::vector<fs::path> files = of_one_kind(files_in(directory, kAll));
  // A name promises nothing; what is there decides.
  const auto sound = [&](const fs::path& file) { return format_at(file, work) != nullptr; };
  if (std::any_of(files.begin(), files.end(), sound)) return named(std::move(files));
  if (format_at(directory, work, Confidence::certain) != nullptr) return named({directory});
  // What holds several datasets may look like one.
  if (auto datasets = datasets_in(directory, kAll, work); !datasets.empty()) return named(std::move(datasets));
  if (format_at(directory, work) != nullptr) return named({directory});
  for (const fs::path& file : files_in(directory, kAll)) {
    if (ending_of(file.filename().string()).format == nullptr && format_at(file, work) != nullptr) return named({file});
  }
  // Files with the right name that no format recognises: damaged; whoever opens them says why.
  std::vector<Member> members = named(std::move(files));
  if (members.empty() && deepest > 0) {
    for (const fs::path& inner : directories_in(directory, kAll)) {
      for (Member& member : runs_in(inner, name + '/' + inner.filename().string(), work, without, deepest - 1)) {
        members.push_back(std::move(member));
      }
    }
  }
  if (members.empty()) without.push_back({directory, name});
  return members;
}

std::vector<Member> members_below(const fs::path& directory, const Work& work, std::vector<Member>& without) {
  std::vector<fs::path> directories;
  std::error_code status;
  for (fs::path& path : entries(directory, kAll)) {
    if (fs::is_directory(path, status)) directories.push_back(std::move(path));
  }
  std::vector<std::vector<Member>> found(directories.size());
  std::vector<std::vector<Member>> nothing(directories.size());
  (void)parallel_for(directories.size(), [&](std::size_t i) -> Result<void> {
    found[i] = runs_in(directories[i], directories[i].filename().string(), work, nothing[i]);
    return {};
  });
  for (std::vector<Member>& some : nothing) {
    for (Member& member : some) without.push_back(std::move(member));
  }
  std::vector<Member> members;
  for (std::vector<Member>& some : found) {
    for (Member& member : some) members.push_back(std::move(member));
  }
  return members;
}

// Files that carry their point in their own names.
std::vector<Member> members_by_name(const fs::path& directory) {
  std::vector<Member> members;
  for (fs::path& file : of_one_kind(files_in(directory, kAll))) {
    const std::string name = file.filename().string();
    members.push_back({std::move(file), name.substr(0, name.size() - ending_of(name).size)});
  }
  return members;
}

// Runs of one kind only: formats differ in what they measure and in how they are collected.
Result<void> keep_one_format(std::vector<Member>& members, const fs::path& where, const Work& work) {
  std::vector<std::size_t> ranks;
  for (const Member& member : members) {
    const Ending ending = ending_of(member.path.filename().string());
    ranks.push_back(ending.format != nullptr ? ending.rank : kAll);
  }
  const std::size_t first = *std::min_element(ranks.begin(), ranks.end());
  std::vector<Member> kept;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (ranks[i] == first || is_closed(members[i].path)) kept.push_back(std::move(members[i]));
  }
  const std::size_t others = members.size() - kept.size();
  members = std::move(kept);
  if (others == 0) return {};
  return work->diagnostics.add("runs.other_formats", Severity::warning, Place::in(where.string()),
                               "a run is of another format than the others; left out", others);
}

std::string with_dots(std::string name) {
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

// Directories that are named like the runs and hold none: of a measurement that failed, say. What lies in a directory
// that is named like a run is part of it, whatever it is called.
Result<void> report_without_runs(const std::vector<Member>& without, const RunList& list, const Work& work) {
  if (without.empty()) return {};
  std::vector<std::string> names;
  for (const Member& member : list.members) names.push_back(with_dots(member.run));
  const FirstPart first = first_part_of(names);
  const auto parameters = parse_run_name(names.front(), first);
  if (!parameters) return {};
  const auto is_run = [&](std::string_view name) {
    const auto point = parse_run_name(with_dots(std::string(name)), first);
    return point.ok() && point->names == parameters->names;
  };
  for (const Member& member : without) {
    if (!is_run(member.run)) continue;
    bool inside = false;
    for (auto cut = member.run.find('/'); cut != std::string::npos; cut = member.run.find('/', cut + 1)) {
      inside = inside || is_run(std::string_view(member.run).substr(0, cut));
    }
    if (inside) continue;
    FATHOM_CHECK(work->diagnostics.lost("runs.unreadable", Place::in(member.path.string()),
                                        "this run is left out: its directory holds no profile or trace"));
  }
  return {};
}

Result<RunList> with_points(std::vector<Member> members, const std::vector<Member>& without, const fs::path& where,
                            const Work& work) {
  FATHOM_CHECK(keep_one_format(members, where, work));
  RunList list;
  list.members = std::move(members);
  // Runs may say themselves where they were made. Names count first only where they are meant to say it: in most names
  // of files numbers are dates and jobs.
  RunList by_attributes = list;
  const bool meant = std::any_of(list.members.begin(), list.members.end(), [](const Member& member) {
    return member.run.find('.') != std::string::npos;  // app.p8.n100.r1
  });
  if (!meant) {
    FATHOM_TRY(const bool told, points_by_attributes(by_attributes, work));
    if (told) return by_attributes;
    by_attributes = list;
  }
  auto named = points_by_name(list, where, work);
  if (!named.ok() || list.parameters.empty()) {
    FATHOM_TRY(const bool found, points_by_attributes(by_attributes, work));
    if (found) return by_attributes;
  }
  FATHOM_CHECK(std::move(named));
  FATHOM_CHECK(report_without_runs(without, list, work));
  return list;
}

}  // namespace

Result<RunList> list_runs(const fs::path& directory, const Work& work) {
  std::error_code status;
  if (fs::exists(directory / kListName, status)) return points_by_list(directory, work);
  std::vector<Member> without;
  auto members = members_below(directory, work, without);
  if (!members.empty()) return with_points(std::move(members), without, directory, work);
  members = members_by_name(directory);
  if (members.size() > 1) return with_points(std::move(members), {}, directory, work);
  for (const fs::path& run : entries(directory, kLookedAt)) {
    for (const fs::path& file : files_in(run, kLookedAt)) {
      const std::string_view hint = conversion_hint(file.filename().string());
      if (hint.empty()) continue;
      return Error(fmt::format("No sqlite or ncu-rep files were found in: {}", directory.string()))
          .hint(std::string(hint));
    }
  }
  return Error(fmt::format("No cube files were found in: {}", directory.string()))
      .hint(
          "a directory of runs holds one directory per run, named like app.p8.n100.r1, with a profile or trace of any "
          "format in each; or a list runs.csv: path, then one column per parameter");
}

Result<RunList> list_runs(const std::vector<fs::path>& paths, const Work& work) {
  std::vector<Member> members;
  std::error_code status;
  for (const fs::path& path : paths) {
    const std::string name = (path.has_filename() ? path : path.parent_path()).filename().string();
    if (!fs::is_directory(path, status)) {
      const Ending ending = ending_of(name);
      members.push_back(
          {path, ending.format != nullptr ? name.substr(0, name.size() - ending.size) : path.stem().string()});
      continue;
    }
    std::vector<Member> without;
    auto found = runs_in(path, name, work, without);
    // Asked for by name: whoever opens it says why it cannot be read.
    if (found.empty()) found.push_back({path, name});
    for (Member& one : found) members.push_back(std::move(one));
  }
  if (members.empty()) return Error::usage("no runs are given");
  return with_points(std::move(members), {}, paths.front().parent_path(), work);
}

// Files of profiles in directories below others, until there are two. How much is looked at is bounded.
static void look_below(const fs::path& directory, std::size_t deepest, std::size_t& left,
                       std::vector<fs::path>& found) {
  for (const fs::path& inner : directories_in(directory, kLookedAt)) {
    if (left == 0 || found.size() > 1) return;
    --left;
    for (fs::path& file : of_one_kind(files_in(inner, kLookedAt))) {
      // Traces would have to be read as a whole.
      const auto& reads = ending_of(file.filename().string()).format->can.reads;
      if (std::find(reads.begin(), reads.end(), Level::trace) == reads.end()) found.push_back(std::move(file));
    }
    if (deepest > 0) look_below(inner, deepest - 1, left, found);
  }
}

Match recognise_runs(const Source& source) {
  if (!source.is_directory()) return {};
  if (source.has(kListName)) return {Confidence::certain, "a directory with a list of runs, runs.csv"};
  const Work work = make_work();
  std::error_code status;
  std::map<std::vector<std::string>, std::set<std::string>> by_parameters;  // runs that name the same ones
  const Format* unnamed = nullptr;
  std::size_t repeated = 0;
  for (const fs::path& path : entries(source.path(), kLookedAt)) {
    std::string name = path.filename().string();
    const bool directory = fs::is_directory(path, status);
    const Format* format = nullptr;
    if (directory) {
      const auto files = of_one_kind(files_in(path, kLookedAt));
      format = files.empty() ? format_at(path, work) : ending_of(files.front().filename().string()).format;
      // A name alone is not enough where nothing else says that these are runs.
      if (unnamed == nullptr && format != nullptr && !files.empty()) unnamed = format_at(files.front(), work);
    } else if (const Ending ending = ending_of(name); ending.format != nullptr) {
      format = ending.format;
      name.resize(name.size() - ending.size);
    }
    const auto point = parse_run_name(name);
    if (!point) continue;
    if (format == nullptr && directory) {
      const auto datasets = datasets_in(path, kLookedAt, work);
      if (!datasets.empty()) format = format_at(datasets.front(), work);
    }
    if (name.find(".r") != std::string::npos) ++repeated;
    if (format != nullptr && directory) by_parameters[point->names].insert(name);
  }
  for (const auto& [names, runs] : by_parameters) {
    if (runs.size() < 2) continue;
    return {Confidence::certain, fmt::format("directories named after the parameter{} {}", names.size() > 1 ? "s" : "",
                                             fmt::join(names, ", "))};
  }
  // Names that say no point are explained when it is opened.
  if (unnamed != nullptr) return {Confidence::maybe, fmt::format("a directory with {} data in it", unnamed->name)};
  for (const fs::path& run : entries(source.path(), kLookedAt)) {
    for (const fs::path& file : files_in(run, kLookedAt)) {
      if (!conversion_hint(file.filename().string()).empty()) {
        return {Confidence::maybe, fmt::format("a directory with *{} in it", file.extension().string())};
      }
    }
  }
  if (repeated >= 2) return {Confidence::likely, "entries named after parameters and repetitions"};
  // Profiles side by side that say themselves which run they are.
  const auto files = of_one_kind(files_in(source.path(), kLookedAt));
  if (files.size() >= 2 && names_its_point(files.front(), work)) {
    return {Confidence::maybe, "profiles that name the parameters of their runs"};
  }
  std::size_t left = kLookedAt;
  std::vector<fs::path> below;
  look_below(source.path(), kDeepest, left, below);
  if (below.size() >= 2 && names_its_point(below.front(), work)) {
    return {Confidence::maybe, "directories of profiles that name the parameters of their runs"};
  }
  return {};
}

}  // namespace fathom::runs
