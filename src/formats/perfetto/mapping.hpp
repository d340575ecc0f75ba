// Packets of a Perfetto trace into a store: tracks are rows, track events slices and points.
#pragma once

#include <functional>
#include <map>
#include <unordered_map>

#include "base/name_table.hpp"
#include "formats/perfetto/clocks.hpp"
#include "formats/perfetto/perfetto_trace.hpp"
#include "formats/perfetto/proto.hpp"
#include "formats/perfetto/tracks.hpp"

namespace fathom::perfetto {

class PerfettoMapping {
 public:
  explicit PerfettoMapping(PerfettoTrace& trace) : trace_(trace), store_(trace.store_) {}

  // A whole trace, or one that was packed inside a packet.
  Result<void> take_trace(const Blob& blob, int depth);
  Result<void> finish();

 private:
  struct Defaults {
    std::optional<std::uint64_t> clock, track;
    std::vector<std::uint64_t> counters, double_counters;
  };
  // What packets of a sequence build on.
  struct Sequence {
    std::unordered_map<std::uint64_t, std::string> names, categories, annotation_names, strings;
    std::unordered_map<std::uint64_t, std::uint32_t> regions;  // of names, as far as used
    Defaults defaults;
    std::unordered_map<std::uint64_t, std::int64_t> sums;  // of incremental counters, by track
    bool has_thread = false;
    std::int64_t time_us = 0, thread_time_us = 0, instructions = 0;  // old: what deltas add to
    void clear();
  };
  struct Packet {
    std::uint32_t sequence = 0;
    std::optional<std::uint64_t> time, clock;
    std::string_view track_event;
    std::uint64_t number = 0;
  };
  struct Legacy {
    char phase = 0;
    std::int64_t duration_us = 0;
    std::optional<std::uint64_t> id;
    std::string_view scope;
    std::uint64_t name = 0;
  };
  struct TrackEvent {
    std::uint64_t type = 0;
    std::optional<std::uint64_t> track;
    std::string_view name;
    std::uint64_t name_iid = 0;
    bool has_name = false;
    std::vector<std::string_view> annotations;
    std::vector<std::uint64_t> counters, double_counters, flows, last_flows;
    std::vector<std::int64_t> values;
    std::vector<double> double_values;
    std::optional<std::int64_t> value;
    std::optional<double> double_value;
    std::optional<Legacy> legacy;
    std::string_view category;
    std::uint64_t category_iid = 0;
    std::optional<std::int64_t> delta_us, absolute_us, thread_delta_us, thread_absolute_us, instructions_delta,
        instructions_absolute;
    void clear();
  };

  Result<void> take_packet(std::string_view packet, int depth);
  void take_interned(std::string_view message, Sequence& sequence);
  void take_defaults(std::string_view message, Sequence& sequence);
  bool parse(std::string_view message, TrackEvent& out) const;
  static Legacy parse_legacy(std::string_view message);
  void take_event(const Packet& packet, Sequence& sequence);
  void legacy(const TrackEvent& event, Sequence& sequence, std::uint64_t track, std::int64_t time,
              std::uint64_t number);
  void counters(const TrackEvent& event, Sequence& sequence, std::uint64_t track, std::int64_t time,
                std::uint64_t number);
  void counter(Sequence& sequence, std::uint64_t track, std::int64_t time, std::uint64_t number, std::int64_t value);
  void double_counter(std::uint64_t track, std::int64_t time, std::uint64_t number, double value);
  void thread_counter(std::string_view name, std::uint64_t track, std::int64_t time, std::uint64_t number,
                      std::int64_t value);
  void state(std::uint64_t track, std::string_view name, std::int64_t time, std::uint64_t number);
  void flows(const TrackEvent& event, std::uint32_t row, std::int64_t time, std::uint64_t number);
  void marker(std::uint32_t row, std::string_view name, std::int64_t time, std::uint64_t number,
              std::uint64_t origin = Event::kNoRecord);
  // An end of a message or a part in a collective, as our own writer has them.
  bool communication(const TrackEvent& event, std::string_view name, const Sequence& sequence, std::uint32_t row,
                     std::int64_t time, std::uint64_t number);
  std::string_view name_of(const TrackEvent& event, const Sequence& sequence);
  std::uint32_t region(const TrackEvent& event, Sequence& sequence);
  std::uint32_t metric(std::string_view name, const CounterTrack& counter, bool is_double);
  Result<void> note() const;

  PerfettoTrace& trace_;
  SliceStore& store_;
  Tracks tracks_;
  Clocks clocks_;
  std::unordered_map<std::uint32_t, Sequence> sequences_;
  NameTable regions_, markers_, metrics_, communicators_, channels_;
  std::vector<Metric> metric_list_;
  std::vector<NameTable> states_;                           // by channel
  std::unordered_map<std::uint64_t, std::uint64_t> flows_;  // last record of each
  TrackEvent event_;                                        // reused: nothing is allocated per event
  std::map<std::uint32_t, std::uint64_t> others_;           // packets that are no track events, by field
  std::uint64_t malformed_ = 0, unknown_clock_ = 0, no_time_ = 0, unknown_name_ = 0, zstd_ = 0;
};

// "key=value" of the debug annotations of a track event: categories and arguments, with interned names looked up.
struct AnnotationNames {
  const std::unordered_map<std::uint64_t, std::string>* names = nullptr;
  const std::unordered_map<std::uint64_t, std::string>* strings = nullptr;
};
// Calls take(name, value as text) for each.
void each_annotation(std::string_view message, const AnnotationNames& interned,
                     const std::function<void(std::string_view, const std::string&)>& take, int depth = 0);

}  // namespace fathom::perfetto
