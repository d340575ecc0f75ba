// Timestamps of all clocks of a trace on one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::perfetto {

inline constexpr std::uint64_t kMonotonic = 3;
inline constexpr std::uint64_t kBoottime = 6;

// Clocks drift against each other, so that every snapshot that has two of them ties them anew: for a time the last tie
// before it holds. Clocks may be tied to the common one over others.
class Clocks {
 public:
  // A ClockSnapshot of a sequence.
  void take(std::string_view message, std::uint32_t sequence);
  // Nothing = the clock is not tied to any other.
  std::optional<std::int64_t> convert(std::uint64_t clock, std::uint32_t sequence, std::uint64_t time);

 private:
  using Key = std::pair<std::uint64_t, std::uint32_t>;
  // From a time of one clock on, what is to be added for that of another.
  struct Tie {
    std::int64_t from = 0;
    std::int64_t offset = 0;
  };
  using Ties = std::vector<Tie>;  // by time
  struct Clock {
    std::uint64_t multiplier = 1;
    bool incremental = false;
    std::uint64_t last = 0;  // of an incremental one, in its own units
    std::map<Key, Ties> neighbours;
    std::vector<const Ties*> route;  // to the common clock, as it was found after that many snapshots
    std::uint64_t route_found = 0;
  };
  // Those of a sequence are told apart by it.
  static Key key(std::uint64_t clock, std::uint32_t sequence) {
    return {clock, clock >= 64 && clock < 128 ? sequence : 0};
  }
  [[nodiscard]] std::vector<const Ties*> find_route(const Key& from) const;

  std::map<Key, Clock> clocks_;
  std::uint64_t snapshots_ = 0;
  std::optional<Key> first_;  // where no snapshot has the common clock, the first that any has
};

}  // namespace fathom::perfetto
