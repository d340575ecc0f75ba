// One quick pass over a stream: where its records begin, what it holds, and the few records that later ones need to be
// understood. Everything else is done from here, in parallel and from any chunk.
#pragma once

#include <algorithm>
#include <limits>

#include "formats/dumpi/file.hpp"
#include "trace/event.hpp"

namespace fathom::dumpi {

// Seconds are stored modulo 65536; a jump back by half of that is taken as a roll-over.
class Rollover {
 public:
  // Fills the absolute times of a call; calls must come in stream order.
  void apply(Call& call, std::int64_t cpu_bias_ns, std::int64_t wall_bias_ns) {
    if (call.has_wall()) one(call.wall, wall_bias_ns, wall_, call.wall_start_ns, call.wall_stop_ns);
    if (call.has_cpu()) one(call.cpu, cpu_bias_ns, cpu_, call.cpu_start_ns, call.cpu_stop_ns);
  }
  // The same for a record that is passed over: only its seconds are looked at.
  struct Seconds {
    std::int64_t start = 0;
    std::int64_t stop = 0;
  };
  struct Passed {
    Seconds wall, cpu;  // behind the bias; meaningless without the bit of the mask
  };
  Passed pass(const std::byte* record) {
    Passed passed;
    const auto mask = static_cast<std::uint8_t>(record[2]);
    const std::byte* p = record + 3 + ((mask & kMaskThread) != 0 ? 2 : 0);
    if ((mask & kMaskCpu) != 0) {
      passed.cpu = seconds(detail::load<std::uint16_t>(p), detail::load<std::uint16_t>(p + 6), cpu_);
      p += 12;
    }
    if ((mask & kMaskWall) != 0) {
      passed.wall = seconds(detail::load<std::uint16_t>(p), detail::load<std::uint16_t>(p + 6), wall_);
    }
    return passed;
  }

 private:
  struct State {
    std::int64_t rolled_s = 0;
    std::int32_t last_s = 0;
  };
  static Seconds seconds(std::int32_t start, std::int32_t stop, State& state) {
    constexpr std::int32_t kHalf = 32768;
    if (start < state.last_s - kHalf) [[unlikely]]
      state.rolled_s += 65536;
    // A record of before the roll-over that was written late (another thread).
    constexpr std::int32_t kLate = 65536 - 8192;
    const bool before = start > state.last_s + kLate && state.rolled_s > 0;
    const std::int64_t rolled = before ? state.rolled_s - 65536 : state.rolled_s;
    if (!before) state.last_s = start;
    const std::int64_t extra = stop < start - kHalf ? 65536 : 0;
    return {rolled + start, rolled + extra + stop};
  }
  static void one(const Clock& clock, std::int64_t bias_ns, State& state, std::int64_t& start, std::int64_t& stop) {
    const Seconds absolute = seconds(clock.start_s, clock.stop_s, state);
    start = bias_ns + absolute.start * 1'000'000'000 + clock.start_ns;
    stop = bias_ns + absolute.stop * 1'000'000'000 + clock.stop_ns;
  }
  State wall_, cpu_;
};

// Bounds of the times of a few records, in whole seconds behind the bias of the clock.
struct TimeBounds {
  std::int64_t first_s = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_s = std::numeric_limits<std::int64_t>::min();
  bool all_timed = true;  // false = some records have no such time

  void add(Rollover::Seconds seconds) {
    first_s = std::min(first_s, seconds.start);
    last_s = std::max(last_s, std::max(seconds.start, seconds.stop));
  }
  // Nanoseconds are 32 bits wide and may exceed a second.
  static constexpr std::int64_t kSlack_s = 5;
  // Whether no record touches the window.
  [[nodiscard]] bool ends_before(std::int64_t from_ns, std::int64_t bias_s) const {
    return all_timed && (bias_s + last_s + kSlack_s) * 1'000'000'000 < from_ns;
  }
  [[nodiscard]] bool begins_at_or_after(std::int64_t to_ns, std::int64_t bias_s) const {
    return all_timed && (bias_s + first_s) * 1'000'000'000 >= to_ns;
  }
};

// A place in the stream where decoding can begin.
struct Chunk {
  std::uint64_t offset = 0;
  std::uint64_t first = 0;  // number of its first record
  std::uint64_t records = 0;
  std::uint64_t end = 0;  // offset behind its last record
  Rollover rollover;      // as it stands before the first record
  TimeBounds wall, cpu;
};

struct ScanResult {
  std::uint64_t records = 0;
  std::uint64_t end = 0;  // offset behind the last whole record
  std::vector<Chunk> chunks;
  std::array<std::uint64_t, kIds> per_function{};
  std::vector<std::uint16_t> threads;  // in ascending order
  bool any_wall = false;
  bool any_cpu = false;
  bool end_mark = false;
  std::vector<std::uint64_t> notable;  // offsets of records that define communicators, groups, datatypes, windows
  std::vector<std::uint64_t> notable_number;
  std::optional<Error> damage;  // why the stream ends before its end mark
};

// Calls whose effects later calls depend on.
bool is_notable(std::uint16_t id);

// First start and last stop of the stream on the wall clock, or on the CPU's where it is the only one.
std::optional<TimeWindow> exact_span(const File& file, const ScanResult& scan);
// From the earlier beginning to the later end.
std::optional<TimeWindow> joined(const std::optional<TimeWindow>& a, const std::optional<TimeWindow>& b);

// An early end of the stream is noted in `damage` and in the diagnostics.
Result<ScanResult> scan(const File& file, const Work& work);

// Reads calls in order from a chunk on; the inner loop of everything. `body(call)` returns false to stop.
template <class Body>
void for_each_call(const File& file, const Chunk& chunk, Body&& body) {
  const std::byte* p = file.at(chunk.offset);
  const std::byte* const end = file.at(chunk.end);
  const std::byte* const base = file.at(0);
  const std::int64_t cpu_bias = std::int64_t{file.cpu_bias()} * 1'000'000'000;
  const std::int64_t wall_bias = file.wall_zero_ns();
  Rollover rollover = chunk.rollover;
  Call call;
  std::uint64_t number = chunk.first;
  while (p < end) {
    if (file.decoder().decode(p, end, call) != Decoder::Outcome::ok) return;
    call.number = number++;
    call.offset = static_cast<std::uint64_t>(p - base);
    rollover.apply(call, cpu_bias, wall_bias);
    p += call.size;
    if (!body(static_cast<const Call&>(call))) return;
  }
}

}  // namespace fathom::dumpi
