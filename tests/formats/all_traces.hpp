// Every trace that there is to test with: the examples, and the shared data where they are.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/registry.hpp"
#include "trace/trace.hpp"

namespace fathom::test {

namespace detail {

inline bool is_trace(const std::filesystem::path& path) {
  const auto source = Source::at(path, make_work());
  if (!source.ok()) return false;
  const auto found = recognise(*source);
  if (found.empty() || found.front().match.confidence < Confidence::likely) return false;
  const auto& reads = found.front().format->can.reads;
  return std::find(reads.begin(), reads.end(), Level::trace) != reads.end();
}

inline void collect(const std::filesystem::path& directory, std::vector<std::filesystem::path>& out) {
  std::vector<std::filesystem::path> entries;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  const bool has_meta =
      std::any_of(entries.begin(), entries.end(), [](const auto& p) { return p.extension() == ".meta"; });
  for (const auto& path : entries) {
    const std::string name = path.filename().string();
    if (name == "malformed" || name == "cube" || name == "extrap" || name == "elsewhere") continue;
    if (std::filesystem::is_directory(path)) {
      if (is_trace(path)) {
        out.push_back(path);
        // Views that were made from it are traces of their own.
        const auto views = path / "expected" / "native-emu";
        if (std::filesystem::is_directory(views)) collect(views, out);
      } else {
        collect(path, out);
      }
      continue;
    }
    const std::string ending = path.extension().string();
    const bool rank_file = ending == ".bin" || name.ends_with(".bin.gz");
    if (ending == ".meta" || ending == ".prv" || ending == ".otf2" || (rank_file && !has_meta)) {
      if (is_trace(path)) out.push_back(path);
    }
  }
}

}  // namespace detail

inline std::vector<std::filesystem::path> all_traces() {
  std::vector<std::filesystem::path> out;
  for (const char* root : {FATHOM_SOURCE_DIR "/examples", FATHOM_SHARED_DATA}) {
    if (std::filesystem::is_directory(root)) detail::collect(root, out);
  }
  return out;
}

// Opens it; null where it cannot be read, which other tests look at.
inline std::shared_ptr<const Trace> open_trace(const std::filesystem::path& path, DatasetPtr& dataset) {
  auto opened = open_dataset(path, make_work());
  if (!opened.ok()) return nullptr;
  dataset = std::move(*opened);
  const auto levels = dataset->levels();
  if (std::find(levels.begin(), levels.end(), Level::trace) == levels.end()) return nullptr;
  auto trace = dataset->trace();
  return trace.ok() ? *trace : nullptr;
}

}  // namespace fathom::test
