// The index of a timeline as a file: trees of blocks one behind the other, then what says where they are. It is mapped
// when it is used, so that memory does not grow with it. Blocks that it does not hold are read again from the trace.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "io/blob.hpp"
#include "trace/summary/block_tree.hpp"

namespace fathom::summary {

inline constexpr const char* kIndexExtension = ".fathom-index";

// One row of a timeline before it is drawn: a location's activity, or one of its channels.
struct TimelineRow {
  std::vector<std::uint32_t> global;  // number in the timeline's contexts of each that the location has met
  BlockTree tree;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = -1;   // before first_ns: nothing there has a time
  bool whole = false;          // read to its end; otherwise what is known so far
  bool in_time_order = false;  // its samples are (SampleRecords)
};
using RowPtr = std::shared_ptr<const TimelineRow>;

// Where an index is kept.
struct IndexPlace {
  std::filesystem::path file;                          // empty: nowhere, it is made anew each time
  std::string key = std::string(32, '0');              // what it is made from (Fingerprint)
  std::uint64_t most_bytes = std::uint64_t{10} << 30;  // of all in that directory
  std::uint64_t least_transitions = 0;                 // what has fewer is made anew each time, at once
};

struct StoredIndex {
  std::vector<RowPtr> rows;
  std::vector<Contexts::Node> contexts;
  std::uint64_t events = 0;
};

// What the file was made from is in `key` (32 characters): another key is another index. Anything that does not fit
// together is an error, whatever the bytes are, and so is a file of another version. The trace must outlive the rows.
Result<StoredIndex> read_index(const std::filesystem::path& path, std::string_view key, const Trace& trace);
// Appears whole or not at all, readable by its owner alone. The result is what read_index gives.
Result<StoredIndex> write_index(const std::filesystem::path& path, std::string_view key, const StoredIndex& index,
                                const Trace& trace);
// The parts of such a file for who writes it in pieces: head, rows' bytes from kIndexHead on, directory.
inline constexpr std::uint64_t kIndexHead = 64;
// What the directory says of a row, but for its place and the numbers of its contexts.
struct RowEntry {
  std::int64_t first_ns = 0;
  std::int64_t last_ns = -1;
  std::uint64_t length = 0;
  BlockTree::Layout layout;
  std::int64_t end_ns = 0;
  std::uint64_t transitions = 0;
  std::uint32_t nodes = 0;  // checksum
  bool in_time_order = false;
};
RowEntry entry_of(const TimelineRow& row);
class IndexDirectory {
 public:
  IndexDirectory(std::uint64_t events, std::span<const Contexts::Node> contexts, std::uint64_t rows);
  void add(const RowEntry& row, std::uint64_t at, std::span<const std::uint32_t> global);
  [[nodiscard]] const std::string& text() const { return text_; }
  // `at`: where the directory begins.
  [[nodiscard]] std::string head(std::string_view key, std::uint64_t at) const;

 private:
  std::string text_;
};
// The directory that a file is put into, where it is not there yet: for its owner alone.
void make_index_directory(const std::filesystem::path& file);

// Memory for making one, out of the budget: a part of what there is, the rest is for answers. What does not fit goes to
// files.
struct IndexMemory {
  Budget::Reservation reserved;
  std::shared_ptr<ArrayPool> pool;
};
Result<IndexMemory> index_memory(const Work& work);

// The directory for indexes: $XDG_CACHE_HOME/fathom or ~/.cache/fathom; empty = there is no home.
std::filesystem::path index_directory();
// Makes room: indexes that were used longest ago go until the rest has no more than `most` bytes. `keep` stays.
void prune_indexes(const std::filesystem::path& directory, std::uint64_t most, const std::filesystem::path& keep);

}  // namespace fathom::summary
