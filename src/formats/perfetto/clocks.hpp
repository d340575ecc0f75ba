// Timestamps of all clocks of a trace on one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace fathom::perfetto {

inline constexpr std::uint64_t kMonotonic = 3;
inline constexpr std::uint64_t kBoottime = 6;

class Clocks {
 public:
  // A ClockSnapshot of a sequence.
  void take(std::string_view message, std::uint32_t sequence);
  // Nothing = the clock is not tied to any other.
  std::optional<std::int64_t> convert(std::uint64_t clock, std::uint32_t sequence, std::uint64_t time);

 private:
  struct Clock {
    std::int64_t offset = 0;  // to be added
    std::uint64_t multiplier = 1;
    bool incremental = false;
    std::uint64_t last = 0;  // of an incremental one, in its own units
  };
  // Those of a sequence are told apart by it.
  static std::pair<std::uint64_t, std::uint32_t> key(std::uint64_t clock, std::uint32_t sequence) {
    return {clock, clock >= 64 && clock < 128 ? sequence : 0};
  }
  std::map<std::pair<std::uint64_t, std::uint32_t>, Clock> clocks_;
};

}  // namespace fathom::perfetto
