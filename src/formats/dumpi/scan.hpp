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
    if (call.has_wall()) {
      const Times times = wall_.place(call.wall);
      call.wall_start_ns = wall_bias_ns + times.start_ns;
      call.wall_stop_ns = wall_bias_ns + times.stop_ns;
    }
    if (call.has_cpu()) {
      const Times times = cpu_.place(call.cpu);
      call.cpu_start_ns = cpu_bias_ns + times.start_ns;
      call.cpu_stop_ns = cpu_bias_ns + times.stop_ns;
    }
  }
  // The same for a record that is passed over.
  struct Times {
    std::int64_t start_ns = 0;
    std::int64_t stop_ns = 0;
  };
  struct Passed {
    Times wall, cpu;  // behind the bias; meaningless without the bit of the mask
  };
  Passed pass(const std::byte* record) {
    Passed passed;
    const auto mask = static_cast<std::uint8_t>(record[2]);
    const std::byte* p = record + 3 + ((mask & kMaskThread) != 0 ? 2 : 0);
    if ((mask & kMaskCpu) != 0) {
      passed.cpu = cpu_.place(Decoder::clock(p));
      p += 12;
    }
    if ((mask & kMaskWall) != 0) passed.wall = wall_.place(Decoder::clock(p));
    return passed;
  }

 private:
  struct State {
    std::int64_t rolled_s = 0;
    std::int32_t last_s = 0;

    Times place(const Clock& clock) {
      constexpr std::int32_t kHalf = 32768;
      const std::int32_t start = clock.start_s;
      const std::int32_t stop = clock.stop_s;
      if (start < last_s - kHalf) [[unlikely]]
        rolled_s += 65536;
      // A record of before the roll-over that was written late (another thread).
      constexpr std::int32_t kLate = 65536 - 8192;
      const bool before = start > last_s + kLate && rolled_s > 0;
      const std::int64_t rolled = before ? rolled_s - 65536 : rolled_s;
      if (!before) last_s = start;
      const std::int64_t extra = stop < start - kHalf ? 65536 : 0;
      return {(rolled + start) * 1'000'000'000 + clock.start_ns,
              (rolled + extra + stop) * 1'000'000'000 + clock.stop_ns};
    }
  };
  State wall_, cpu_;
};

// Bounds of the times of a few records, behind the bias of the clock.
struct TimeBounds {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  bool all_timed = true;  // false = some records have no such time

  void add(Rollover::Times times) {
    first_ns = std::min(first_ns, times.start_ns);
    last_ns = std::max(last_ns, std::max(times.start_ns, times.stop_ns));
  }
  // Whether no record touches the window.
  [[nodiscard]] bool ends_before(std::int64_t from_ns, std::int64_t bias_ns) const {
    return all_timed && bias_ns + last_ns < from_ns;
  }
  [[nodiscard]] bool begins_at_or_after(std::int64_t to_ns, std::int64_t bias_ns) const {
    return all_timed && bias_ns + first_ns >= to_ns;
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
  // On the clock of the events no call of a thread begins before the one in front of it has returned.
  bool in_order = true;
  bool end_mark = false;
  bool any_source = false;             // something is received from anybody, or from nobody
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
  const auto held = file.hold();
  const std::byte* const base = held->bytes().data();
  const std::byte* p = base + chunk.offset;
  const std::byte* const end = base + chunk.end;
  const std::int64_t cpu_bias = file.cpu_zero_ns();
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
