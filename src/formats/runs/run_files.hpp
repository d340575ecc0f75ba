// Which files and directories below a directory are runs, and at which point each was made.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "formats/format.hpp"

namespace fathom::runs {

struct Member {
  std::filesystem::path path;
  // The name that says the point; empty where a list does. Of directories in directories all names, with '/' between.
  std::string run;
};

// The list of runs that a directory may hold instead of names that say it all: path, then one column per parameter.
inline constexpr std::string_view kListName = "runs.csv";

struct RunList {
  std::vector<Member> members;
  // One point per member, from the list or from the names.
  std::vector<std::string> parameters;
  std::vector<std::vector<double>> points;
};

// What a directory holds: runs.csv, or directories with a run in each (files of one format of the registry, or a
// dataset that is a directory) at some depth, or files named like runs. Parameters that never change are no parameters.
Result<RunList> list_runs(const std::filesystem::path& directory, const Work& work);
// Runs named one by one.
Result<RunList> list_runs(const std::vector<std::filesystem::path>& paths, const Work& work);

// Whether a directory looks like that, without opening what is in it.
Match recognise_runs(const Source& source);

}  // namespace fathom::runs
