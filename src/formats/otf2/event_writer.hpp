// Events of one location into an OTF2 event writer. Part of the writer; needs the library.
#pragma once

#include <otf2/otf2.h>

#include <optional>
#include <unordered_map>

#include "formats/otf2/writer_plan.hpp"

namespace fathom::otf2 {

template <class T>
std::vector<ChannelId> activity_channels(const T& trace) {
  if constexpr (requires { trace.activity_channels(); }) {
    return {trace.activity_channels().begin(), trace.activity_channels().end()};
  } else {
    return {};
  }
}

// Numbers that definitions and events agree on.
struct WriterIds {
  explicit WriterIds(const Trace& trace);

  // What the name of a region says, by region.
  struct RegionFacts {
    std::optional<std::uint8_t> operation;  // collective
    bool sends_later = false;
    bool receives_later = false;
  };
  std::vector<RegionFacts> facts;

  std::uint32_t unknown_region = 0;                           // after those of the trace
  std::vector<std::map<std::int64_t, std::uint32_t>> states;  // by channel: regions of its values, where it has them
  std::vector<std::uint32_t> other_state;                     // by channel: of a value without a name
  std::uint32_t regions = 0;                                  // how many there are
  std::uint32_t first_channel_metric = 0;                     // metrics of the trace come before
  std::vector<std::int64_t> no_value;                         // by channel: what stands for an empty one
};

struct WrittenLocation {
  std::uint64_t events = 0;  // records
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  bool any = false;
  std::uint64_t resumed = 0;     // regions that go on behind the end of one they cross: one call more
  std::uint64_t cpu_times = 0;   // of regions, which have no place there
  std::uint64_t timeless = 0;    // events that got the time of the one before
  std::uint64_t backwards = 0;   // events that were late
  std::uint64_t lost_peers = 0;  // messages whose peer is not in their communicator
  std::uint64_t null_peers = 0;  // messages to and from nobody
  std::uint64_t unknown_operations = 0;
  std::uint64_t nameless = 0;  // left out: of a channel, metric or marker that is not defined
  std::uint64_t details = 0;   // markers that tell more than a parameter can
  // Sums over messages that are equal when every send has its receive.
  std::uint64_t sends = 0;
  std::uint64_t receives = 0;
};

class EventWriter {
 public:
  EventWriter(const Trace& trace, const WriterPlan& plan, const WriterIds& ids, LocationId location,
              OTF2_EvtWriter* out, std::int64_t zero_ns, std::int64_t start_ns);

  Result<WrittenLocation> write();

 private:
  // Where an operation began, for the record that ends it.
  enum class Begun : std::uint8_t { send, receive, one_sided, io };
  struct Operation {
    Begun kind;
    std::uint32_t handle;
  };

  void take(const Event& event);
  void write_event(const Event& event);
  void write_region(const Event& event);
  void write_send(const Event& event);
  void write_receive(const Event& event);
  void write_collective(const Event& event);
  void write_complete(const Event& event);
  void write_state(const Event& event);
  void write_counter(const Event& event);
  void write_marker(const Event& event);
  // What a marker means; false = there is no record for it.
  bool write_one_sided(const Event& event, MarkerMeaning meaning, std::uint64_t time);
  bool write_io(const Event& event, MarkerMeaning meaning, std::uint64_t time);
  bool write_thread(const Event& event, MarkerMeaning meaning, std::uint64_t time);
  void flush_held(bool with_begin);
  [[nodiscard]] std::uint64_t time_of(const Event& event);
  [[nodiscard]] std::uint32_t comm_of(const Event& event) const;
  [[nodiscard]] std::uint32_t rank_in(std::uint32_t comm, std::int32_t rank);
  [[nodiscard]] std::uint32_t region_of(std::uint32_t name) const;
  [[nodiscard]] const WriterIds::RegionFacts& facts_of(std::uint32_t name) const { return ids_.facts[region_of(name)]; }
  void check(OTF2_ErrorCode code);
  void metric(std::uint32_t number, OTF2_Type type, OTF2_MetricValue value, std::uint64_t time);

  const Trace& trace_;
  const WriterPlan& plan_;
  const WriterIds& ids_;
  LocationId location_;
  OTF2_EvtWriter* out_;
  std::int64_t zero_ns_;  // what is written as 0
  std::int64_t now_ns_;
  std::int32_t rank_;
  WrittenLocation made_;
  bool begun_collective_ = false;
  std::vector<Event> held_;  // since the enter of a collective call, until it is clear that it is one
  std::unordered_map<std::uint64_t, Operation> begun_;  // by record
  std::vector<std::uint32_t> open_states_;              // by channel: region that is open
  std::optional<OTF2_ErrorCode> failed_;
};

}  // namespace fathom::otf2
