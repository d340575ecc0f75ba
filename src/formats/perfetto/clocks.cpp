#include "formats/perfetto/clocks.hpp"

#include <algorithm>

#include "formats/perfetto/proto.hpp"

namespace fathom::perfetto {

namespace {

// A snapshot has a handful of clocks; each is tied to each other.
constexpr std::size_t kMostClocks = 64;

// Wraps around: a time that large is damage anyway.
std::int64_t nanoseconds(std::uint64_t time, std::uint64_t multiplier) {
  return static_cast<std::int64_t>(time * multiplier);
}
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

}  // namespace

void Clocks::take(std::string_view message, std::uint32_t sequence) {
  std::vector<std::pair<Key, std::int64_t>> readings;
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number != 1 || field.wire != Wire::bytes || readings.size() == kMostClocks) continue;
    std::uint64_t id = 0;
    Clock read;
    FieldCursor inner(field.bytes);
    for (Field part; inner.next(part);) {
      if (part.number == 1) id = part.value;
      if (part.number == 2) read.last = part.value;
      if (part.number == 3) read.incremental = part.value != 0;
      if (part.number == 4 && part.value != 0) read.multiplier = part.value;
    }
    Clock& clock = clocks_[key(id, sequence)];
    clock.multiplier = read.multiplier;
    clock.incremental = read.incremental;
    clock.last = read.last;
    readings.emplace_back(key(id, sequence), nanoseconds(read.last, read.multiplier));
  }
  if (!first_ && !readings.empty()) first_ = readings.front().first;
  for (const auto& [one, time] : readings) {
    for (const auto& [other, other_time] : readings) {
      if (one == other) continue;
      Ties& ties = clocks_[one].neighbours[other];
      const Tie tie{time, minus(other_time, time)};
      ties.insert(
          std::upper_bound(ties.begin(), ties.end(), tie, [](const Tie& a, const Tie& b) { return a.from < b.from; }),
          tie);
    }
  }
  ++snapshots_;
}

// The fewest steps from clock to clock.
std::vector<const Clocks::Ties*> Clocks::find_route(const Key& from) const {
  const Key boottime = key(kBoottime, 0);
  const Key goal = clocks_.count(boottime) > 0 || !first_ ? boottime : *first_;
  std::map<Key, Key> came_from{{from, from}};
  std::vector<Key> reached{from};
  for (std::size_t i = 0; i < reached.size() && came_from.count(goal) == 0; ++i) {
    for (const auto& [next, ties] : clocks_.at(reached[i]).neighbours) {
      if (came_from.emplace(next, reached[i]).second) reached.push_back(next);
    }
  }
  std::vector<const Ties*> route;
  if (came_from.count(goal) == 0) return route;
  for (Key at = goal; at != from; at = came_from.at(at)) {
    route.push_back(&clocks_.at(came_from.at(at)).neighbours.at(at));
  }
  std::reverse(route.begin(), route.end());
  return route;
}

std::optional<std::int64_t> Clocks::convert(std::uint64_t clock, std::uint32_t sequence, std::uint64_t time) {
  if (clock == kBoottime) return static_cast<std::int64_t>(time);
  const auto found = clocks_.find(key(clock, sequence));
  if (found == clocks_.end()) return std::nullopt;
  Clock& one = found->second;
  if (one.incremental) {
    one.last += time;
    time = one.last;
  }
  if (one.route_found != snapshots_) {
    one.route = find_route(found->first);
    one.route_found = snapshots_;
  }
  std::int64_t made = nanoseconds(time, one.multiplier);
  for (const Ties* ties : one.route) {
    auto behind = std::upper_bound(ties->begin(), ties->end(), made,
                                   [](std::int64_t at, const Tie& tie) { return at < tie.from; });
    if (behind != ties->begin()) --behind;
    made = plus(made, behind->offset);
  }
  return made;
}

}  // namespace fathom::perfetto
