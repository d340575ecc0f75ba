// Tracks of a trace: what descriptors say of them, and which rows and places they become.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "defs/definitions.hpp"
#include "trace/stored_trace.hpp"

namespace fathom::perfetto {

struct CounterTrack {
  std::string unit;
  std::int64_t multiplier = 1;
  bool incremental = false;
};

struct Track {
  std::uint64_t uuid = 0;
  std::uint64_t parent = 0;
  std::string name;
  std::optional<std::int64_t> pid;  // of a process or thread
  std::optional<std::int64_t> tid;
  bool is_process = false;
  bool is_thread = false;
  bool is_counter = false;
  std::int32_t rank = 0;  // among its siblings
  CounterTrack counter;
  std::uint32_t row = UINT32_MAX;
};

class Tracks {
 public:
  // A TrackDescriptor; false = it has no uuid.
  bool describe(std::string_view message);
  // Old descriptors: names of processes and threads.
  void describe_process(std::string_view message);  // ProcessDescriptor
  void describe_thread(std::string_view message, std::uint64_t sequence_track);
  void describe_tree(std::string_view message);  // ProcessTree

  Track& track(std::uint64_t uuid);
  // The track of a thread that is named by its numbers, made when there is none.
  std::uint64_t of_thread(std::int64_t process, std::int64_t thread);
  // The row for events on a track, made when it is first asked for.
  std::uint32_t row(std::uint64_t uuid);
  // The row for things that belong to a track but are no slices: counters and states are shown with their parent.
  std::uint32_t row_beside(std::uint64_t uuid);
  [[nodiscard]] std::uint32_t rows() const { return static_cast<std::uint32_t>(row_tracks_.size()); }

  // Puts the places of all rows into the tree; rows in the order of locations.
  std::vector<std::pair<std::uint32_t, SystemNode>> places(SystemTree& tree) const;

 private:
  [[nodiscard]] const Track* find(std::uint64_t uuid) const {
    const auto found = tracks_.find(uuid);
    return found == tracks_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const Track* process_of(const Track& track) const;

  std::unordered_map<std::uint64_t, Track> tracks_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> thread_tracks_;  // by process and thread
  std::vector<std::uint64_t> row_tracks_;                                         // by row
  std::map<std::int64_t, std::string> process_names_;                             // by pid
  std::map<std::int64_t, std::string> thread_names_;                              // by tid
};

}  // namespace fathom::perfetto
