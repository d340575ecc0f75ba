// The index of a timeline as a file: trees of blocks one behind the other, then what says where they are. It is mapped
// when it is used, so that memory does not grow with it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "io/blob.hpp"
#include "trace/summary/block_tree.hpp"

namespace fathom::summary {

inline constexpr const char* kIndexExtension = ".fathom-index";

// One row of a timeline before it is drawn: a location's activity, or one of its channels.
struct TimelineRow {
  std::vector<std::uint32_t> global;  // number in the timeline's contexts of each that the location has met
  BlockTree tree;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = -1;  // before first_ns: nothing there has a time
  bool whole = false;         // read to its end; otherwise what is known so far
};
using RowPtr = std::shared_ptr<const TimelineRow>;

struct StoredIndex {
  std::vector<RowPtr> rows;
  std::vector<Contexts::Node> contexts;
  std::uint64_t events = 0;
};

// What the file was made from is in `key` (32 characters): another key is another index. Anything that does not fit
// together is an error, whatever the bytes are.
Result<StoredIndex> read_index(const std::filesystem::path& path, std::string_view key, std::size_t rows);
// Appears whole or not at all, readable by its owner alone. The result is what read_index gives.
Result<StoredIndex> write_index(const std::filesystem::path& path, std::string_view key, const StoredIndex& index);
// The directory for indexes: $XDG_CACHE_HOME/fathom or ~/.cache/fathom; empty = there is no home.
std::filesystem::path index_directory();
// Makes room: indexes that were used longest ago go until the rest has no more than `most` bytes. `keep` stays.
void prune_indexes(const std::filesystem::path& directory, std::uint64_t most, const std::filesystem::path& keep);

}  // namespace fathom::summary
