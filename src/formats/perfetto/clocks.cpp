#include "formats/perfetto/clocks.hpp"

#include <vector>

#include "formats/perfetto/proto.hpp"

namespace fathom::perfetto {

namespace {

// Wraps around: a time that large is damage anyway.
std::int64_t nanoseconds(std::uint64_t time, std::uint64_t multiplier) {
  return static_cast<std::int64_t>(time * multiplier);
}

}  // namespace

void Clocks::take(std::string_view message, std::uint32_t sequence) {
  struct Reading {
    std::uint64_t id = 0, time = 0, multiplier = 1;
    bool incremental = false;
  };
  std::vector<Reading> readings;
  FieldCursor cursor(message);
  for (Field field; cursor.next(field);) {
    if (field.number != 1 || field.wire != Wire::bytes) continue;
    Reading one;
    FieldCursor inner(field.bytes);
    for (Field part; inner.next(part);) {
      if (part.number == 1) one.id = part.value;
      if (part.number == 2) one.time = part.value;
      if (part.number == 3) one.incremental = part.value != 0;
      if (part.number == 4 && part.value != 0) one.multiplier = part.value;
    }
    readings.push_back(one);
  }
  // The time of the snapshot on the common clock: as that says itself, or as one does that is tied already.
  std::optional<std::int64_t> common;
  for (const Reading& one : readings) {
    if (one.id == kBoottime) common = nanoseconds(one.time, one.multiplier);
  }
  for (const Reading& one : readings) {
    if (common) break;
    if (const auto found = clocks_.find(key(one.id, sequence)); found != clocks_.end() && !found->second.incremental) {
      common = static_cast<std::int64_t>(static_cast<std::uint64_t>(nanoseconds(one.time, found->second.multiplier)) +
                                         static_cast<std::uint64_t>(found->second.offset));
    }
  }
  if (!common && !readings.empty()) common = nanoseconds(readings.front().time, readings.front().multiplier);
  for (const Reading& one : readings) {
    if (one.id == kBoottime) continue;
    Clock& clock = clocks_[key(one.id, sequence)];
    clock.multiplier = one.multiplier;
    clock.incremental = one.incremental;
    clock.last = one.time;
    clock.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(*common) -
                                             static_cast<std::uint64_t>(nanoseconds(one.time, one.multiplier)));
  }
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
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(nanoseconds(time, one.multiplier)) +
                                   static_cast<std::uint64_t>(one.offset));
}

}  // namespace fathom::perfetto
