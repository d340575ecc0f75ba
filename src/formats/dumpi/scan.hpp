// One quick pass over a stream: where its records begin, what it holds, and the few records that later ones need to be
// understood. Everything else is done from here, in parallel and from any chunk.
#pragma once

#include <set>

#include "formats/dumpi/file.hpp"

namespace fathom::dumpi {

// Seconds are stored modulo 65536; a jump back by half of that is taken as a roll-over.
class Rollover {
 public:
  // Fills the absolute times of a call; calls must come in stream order.
  void apply(Call& call, std::int64_t cpu_bias_ns, std::int64_t wall_bias_ns) {
    if (call.has_wall()) one(call.wall, wall_bias_ns, wall_, call.wall_start_ns, call.wall_stop_ns);
    if (call.has_cpu()) one(call.cpu, cpu_bias_ns, cpu_, call.cpu_start_ns, call.cpu_stop_ns);
  }

 private:
  struct State {
    std::int64_t rolled_s = 0;
    std::int32_t last_s = 0;
  };
  static void one(const Clock& clock, std::int64_t bias_ns, State& state, std::int64_t& start, std::int64_t& stop) {
    constexpr std::int32_t kHalf = 32768;
    if (clock.start_s < state.last_s - kHalf) [[unlikely]]
      state.rolled_s += 65536;
    // A record of before the roll-over that was written late (another thread).
    constexpr std::int32_t kLate = 65536 - 8192;
    const bool before = clock.start_s > state.last_s + kLate && state.rolled_s > 0;
    const std::int64_t rolled = before ? state.rolled_s - 65536 : state.rolled_s;
    if (!before) state.last_s = clock.start_s;
    start = bias_ns + (rolled + clock.start_s) * 1'000'000'000 + clock.start_ns;
    const std::int64_t extra = clock.stop_s < clock.start_s - kHalf ? 65536 : 0;
    stop = bias_ns + (rolled + extra + clock.stop_s) * 1'000'000'000 + clock.stop_ns;
  }
  State wall_, cpu_;
};

// A place in the stream where decoding can begin.
struct Chunk {
  std::uint64_t offset = 0;
  std::uint64_t first = 0;  // number of its first record
  std::uint64_t records = 0;
  std::uint64_t end = 0;  // offset behind its last record
  Rollover rollover;      // as it stands before the first record
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

// An early end of the stream is noted in `damage` and in the diagnostics.
Result<ScanResult> scan(const File& file, const Work& work);

// Reads calls in order from a chunk on; the inner loop of everything. `body(call)` returns false to stop.
template <class Body>
void for_each_call(const File& file, const Chunk& chunk, Body&& body) {
  const std::byte* p = file.at(chunk.offset);
  const std::byte* const end = file.at(chunk.end);
  const std::byte* const base = file.at(0);
  const std::int64_t cpu_bias = std::int64_t{file.cpu_bias()} * 1'000'000'000;
  const std::int64_t wall_bias = std::int64_t{file.wall_bias()} * 1'000'000'000;
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
