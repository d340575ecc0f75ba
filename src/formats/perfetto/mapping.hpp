// Packets of a Perfetto trace into a store: tracks are rows, track events slices and points.
#pragma once

#include <array>
#include <map>
#include <unordered_map>

#include "base/name_table.hpp"
#include "formats/perfetto/clocks.hpp"
#include "formats/perfetto/counters.hpp"
#include "formats/perfetto/perfetto_trace.hpp"
#include "formats/perfetto/plain_packet.hpp"
#include "formats/perfetto/proto.hpp"
#include "formats/perfetto/sequence.hpp"
#include "formats/perfetto/track_event.hpp"
#include "formats/perfetto/tracks.hpp"

namespace fathom::perfetto {

class PerfettoMapping {
 public:
  explicit PerfettoMapping(PerfettoTrace& trace)
      : trace_(trace), store_(trace.store_), counters_(tracks_, trace.store_) {}

  // A whole trace, or one that was packed inside a packet.
  Result<void> take_trace(const Blob& blob, int depth);
  Result<void> finish();

 private:
  struct Packet {
    std::uint32_t sequence = 0;
    std::optional<std::uint64_t> time, clock;
    std::string_view track_event;
    std::uint64_t number = 0;
  };
  // When and where something happens: its row, time and the number of its packet.
  struct Moment {
    std::uint64_t track = 0;
    std::int64_t time = 0;
    std::uint64_t number = 0;
  };

  // Packets (mapping.cpp).
  Result<void> take_packets(std::span<const PlainPacket> packets, int depth);
  Result<void> take_packet(std::string_view packet, int depth);
  Result<void> take_compressed(std::string_view packed, int depth);
  Result<void> note() const;

  // Events (event_mapping.cpp).
  void take_event(const Packet& packet, Sequence& sequence);
  // False = it is not that plain after all, and nothing has happened.
  bool take_plain(const PlainPacket& packet);
  std::optional<std::int64_t> time_of(const TrackEvent& event, const Packet& packet, Sequence& sequence);
  std::uint64_t track_of(const TrackEvent& event, const Packet& packet, const Sequence& sequence);
  static std::uint64_t default_track(std::uint32_t number, const Sequence& sequence);
  std::uint32_t known_row(std::uint64_t track);
  Sequence& sequence_of(std::uint32_t number) {
    if (last_sequence_ == nullptr || last_number_ != number) {
      last_sequence_ = &sequences_[number];
      last_number_ = number;
    }
    return *last_sequence_;
  }
  void extra_counters(const TrackEvent& event, Sequence& sequence, const Moment& at);
  void state(std::string_view name, const Moment& at);
  void flows(const TrackEvent& event, std::uint32_t row, const Moment& at);
  Event marked(std::string_view name, const Moment& at);
  // An end of a message or a part in a collective, as our own writer has them.
  bool communication(const TrackEvent& event, std::string_view name, const Sequence& sequence, std::uint32_t row,
                     const Moment& at);
  std::string_view name_of(const TrackEvent& event, const Sequence& sequence);
  std::string_view category_of(const TrackEvent& event, const Sequence& sequence) const;
  std::uint32_t region(const TrackEvent& event, const Sequence& sequence);
  std::uint32_t region(std::string_view name, std::string_view category);
  std::uint32_t interned_region(const TrackEvent& event, Sequence& sequence);

  // Events of old versions (legacy_mapping.cpp).
  void legacy(const TrackEvent& event, Sequence& sequence, const Moment& at);
  void legacy_counters(const TrackEvent& event, const Sequence& sequence, std::uint32_t row, const Moment& at);

  // Marks of programs in the kernel's buffer (ftrace_mapping.cpp).
  void take_ftrace(std::string_view bundle, const Packet& packet);
  bool take_mark(std::string_view text, std::int64_t thread, Moment at);

  PerfettoTrace& trace_;
  SliceStore& store_;
  Tracks tracks_;
  Clocks clocks_;
  CounterPoints counters_;
  std::unordered_map<std::uint32_t, Sequence> sequences_;
  Sequence* last_sequence_ = nullptr;  // the one that was asked for last, and its number
  std::uint32_t last_number_ = 0;
  struct KnownRow {
    std::uint64_t track = 0;
    std::uint32_t row = UINT32_MAX;
  };
  static constexpr unsigned kKnownRowBits = 8;
  std::array<KnownRow, 1 << kKnownRowBits> known_rows_;
  NameTable regions_, markers_, communicators_, channels_;
  std::vector<NameTable> states_;                                     // by channel
  TrackEvent event_;                                                  // reused: nothing is allocated per event
  std::map<std::uint32_t, std::uint64_t> others_;                     // packets that are no track events, by field
  std::unordered_map<std::int64_t, std::int64_t> process_of_thread_;  // as marks in the kernel's buffer tell them
  std::uint64_t ftrace_unused_ = 0;                                   // events in bundles that have marks
  std::uint64_t malformed_ = 0, unknown_clock_ = 0, no_time_ = 0, unknown_name_ = 0, dropped_ = 0;
};

// Tracks that no descriptor numbers: of sequences with an old thread descriptor, and of what floats between threads.
inline constexpr std::uint64_t kSequenceTracks = 0xF000'0000'0000'0000u;
inline constexpr std::uint64_t kFloatingTrack = kSequenceTracks - 1;
inline constexpr std::int64_t kLatest = INT64_MAX - 16;

}  // namespace fathom::perfetto
