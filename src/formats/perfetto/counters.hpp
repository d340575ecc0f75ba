// Values of counters. What a counter is called and how its values are to be taken may be told after the first of them.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/name_table.hpp"
#include "formats/perfetto/sequence.hpp"
#include "formats/perfetto/tracks.hpp"
#include "trace/slice_store.hpp"

namespace fathom::perfetto {

class CounterPoints {
 public:
  CounterPoints(Tracks& tracks, SliceStore& store) : tracks_(tracks), store_(store) {}

  // On a track of counters.
  void add(Sequence& sequence, std::uint64_t track, std::int64_t time, std::uint64_t record, std::int64_t value);
  void add(std::uint64_t track, std::int64_t time, std::uint64_t record, double value);
  // By its name, on a row.
  void add(std::string_view name, std::uint32_t row, std::int64_t time, std::uint64_t record, std::int64_t value);
  void add(std::string_view name, std::uint32_t row, std::int64_t time, std::uint64_t record, double value);

  // Metrics for all that was counted; the points get their numbers, and those that came before their descriptor their
  // values.
  std::vector<Metric> finish();

 private:
  struct Counter {
    std::uint64_t track = 0;
    std::string name;  // empty: that of the track
    bool is_double = false;
    bool described_late = false;  // values stay as they are until the end
    std::int64_t sum = 0;
  };
  std::uint32_t of_track(std::uint64_t track, bool is_double);
  std::uint32_t named(std::string_view name, bool is_double);
  void point(std::uint32_t row, std::uint32_t counter, std::int64_t time, std::uint64_t record, std::int64_t bits);

  Tracks& tracks_;
  SliceStore& store_;
  std::vector<Counter> all_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_track_[2];  // whole and real ones
  std::unordered_map<std::string, std::uint32_t> by_name_[2];
};

}  // namespace fathom::perfetto
