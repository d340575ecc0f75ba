// The events of one location, decoded from the mapped file.
#pragma once

#include <unordered_map>

#include "formats/otf2/clock.hpp"
#include "formats/otf2/otf2_trace.hpp"
#include "formats/otf2/pending_table.hpp"
#include "trace/window_index.hpp"

namespace fathom::otf2 {

class Otf2Stream final : public CopyableStream {
 public:
  Otf2Stream(const Otf2Trace& trace, LocationId location, Blob blob);
  Result<std::size_t> next(std::span<Event> out) override;
  [[nodiscard]] std::unique_ptr<CopyableStream> copy() const override { return std::make_unique<Otf2Stream>(*this); }
  [[nodiscard]] std::uint64_t bytes() const override;

 private:
  struct Frame {
    std::uint32_t region;
    std::int64_t time_ns;
  };
  using Stack = std::vector<Frame>;  // innermost last

  // What a chunk is worth: found before it is decoded.
  struct Survey {
    bool ordered = true;
    std::uint64_t last = 0;  // ticks
    bool any = false;
  };
  Survey survey(std::uint64_t chunk) const;
  [[nodiscard]] std::optional<std::uint64_t> first_time(std::uint64_t chunk) const;

  Result<bool> next_chunk();
  // Decodes into `out` until it is full or the chunk ends.
  template <bool little>
  Result<std::size_t> decode(std::span<Event> out);
  Result<std::size_t> decode_any(std::span<Event> out);
  enum class Outcome : std::uint8_t { event, nothing, bad };
  // A record with a length, but metrics.
  template <bool little>
  Outcome decode_record(std::uint8_t type, const std::byte* begin, const std::byte* end, Event& event);
  template <bool little>
  Outcome decode_message(std::uint8_t type, const std::byte* begin, const std::byte* end, Event& event);
  template <bool little>
  Outcome decode_thread(std::uint8_t type, const std::byte* begin, const std::byte* end, Event& event);
  template <bool little>
  Outcome decode_one_sided(std::uint8_t type, const std::byte* begin, const std::byte* end, Event& event);
  template <bool little>
  Outcome decode_io(std::uint8_t type, const std::byte* begin, const std::byte* end, Event& event);
  // Several events; those for which there is no room go to further_.
  template <bool little>
  bool decode_metric(const std::byte* begin, const std::byte* end, Event*& to, const Event* stop, Event event);
  Result<std::size_t> pull(std::span<Event> out);
  Result<std::size_t> next_sorted(std::span<Event> out);
  Outcome complete(PendingTable& table, std::uint64_t key, Event& event);
  std::size_t last_words(std::span<Event> out);

  void set_time(std::uint64_t ticks);
  void leave(std::uint32_t region);
  [[nodiscard]] std::uint32_t current_region() const { return stack_.empty() ? Event::kNoName : stack_.back().region; }
  [[nodiscard]] std::int64_t entered_ns() const { return stack_.empty() ? time_ns_ : stack_.back().time_ns; }
  void switch_task(std::int64_t task);
  void end_task(std::int64_t task);
  [[nodiscard]] std::int32_t peer(std::uint32_t comm, std::uint32_t rank);
  [[nodiscard]] std::int32_t root(std::uint32_t comm, std::uint32_t rank);
  std::int64_t length(std::uint64_t bytes);
  Result<void> damage(std::uint64_t offset, std::string what);
  Result<void> finish();

  const Otf2Trace& trace_;
  const Mapping& map_;
  const LocalDefinitions& local_;
  LocationId location_;
  Blob blob_;
  std::uint64_t chunk_size_;
  Translation regions_, comms_, metrics_, contexts_;
  ClockCorrection correction_;
  TickClock clock_;
  std::int32_t rank_;

  const std::byte* bytes_ = nullptr;
  const std::byte* at_ = nullptr;
  const std::byte* chunk_end_ = nullptr;
  const std::byte* limit_ = nullptr;  // of the mapped bytes
  std::uint64_t chunk_ = 0;           // where the next one begins
  bool little_ = true;
  bool done_ = false;
  bool broken_ = false;  // damage ended the last chunk that was read
  std::uint64_t ticks_ = 0;
  std::int64_t time_ns_ = 0;
  std::uint64_t attributes_ = Event::kNoRecord;  // offset of a list that belongs to the next event

  Stack stack_;
  std::int64_t task_ = 0;
  std::unordered_map<std::int64_t, Stack> suspended_;  // stacks of tasks that do not run
  std::uint64_t collective_ = Event::kNoRecord;        // begun last
  PendingTable requests_;
  PendingTable operations_;      // of I/O and one-sided communication
  std::optional<Event> silent_;  // the last record that is no event: a begin whose end will tell
  std::uint64_t last_record_ = Event::kNoRecord;
  std::vector<Event> further_;  // events of a record for which there was no room
  std::size_t further_taken_ = 0;

  bool sorting_ = false;
  std::vector<Event> waiting_;
  std::size_t waiting_taken_ = 0;
  std::size_t waiting_ready_ = 0;
  std::int64_t released_ns_ = std::numeric_limits<std::int64_t>::min();

  // Told at the end.
  std::uint64_t late_ = 0;
  std::uint64_t undefined_regions_ = 0;
  std::uint32_t undefined_region_ = 0;  // the first of them
  std::uint64_t bad_ranks_ = 0;
  std::uint64_t bad_lengths_ = 0;
  std::uint64_t unknown_ = 0;
  std::uint8_t unknown_type_ = 0;
  bool finished_ = false;
};

}  // namespace fathom::otf2
