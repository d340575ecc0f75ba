#include "formats/perfetto/counters.hpp"

#include <bit>

namespace fathom::perfetto {

namespace {

// Wraps around instead of overflowing.
std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

std::uint32_t CounterPoints::of_track(std::uint64_t track, bool is_double) {
  const auto [found, fresh] = by_track_[is_double ? 1 : 0].try_emplace(track, static_cast<std::uint32_t>(all_.size()));
  if (fresh) all_.push_back({track, {}, is_double, !tracks_.track(track).is_counter, 0});
  return found->second;
}

std::uint32_t CounterPoints::named(std::string_view name, bool is_double) {
  const auto [found, fresh] =
      by_name_[is_double ? 1 : 0].try_emplace(std::string(name), static_cast<std::uint32_t>(all_.size()));
  if (fresh) all_.push_back({0, name.empty() ? "counter" : std::string(name), is_double, false, 0});
  return found->second;
}

void CounterPoints::point(std::uint32_t row, std::uint32_t counter, std::int64_t time, std::uint64_t record,
                          std::int64_t bits) {
  Event event;
  event.kind = EventKind::counter;
  event.time_ns = time;
  event.record = record;
  event.name = counter;
  event.value = bits;
  store_.point(row, event);
}

void CounterPoints::add(Sequence& sequence, std::uint64_t track, std::int64_t time, std::uint64_t record,
                        std::int64_t value) {
  const std::uint32_t counter = of_track(track, false);
  if (!all_[counter].described_late) {
    const CounterTrack& how = tracks_.track(track).counter;
    value = times(value, how.multiplier);
    if (how.incremental) {
      std::int64_t& sum = sequence.sums[track];
      sum = value = plus(sum, value);
    }
  }
  point(tracks_.row_beside(track), counter, time, record, value);
}

void CounterPoints::add(std::uint64_t track, std::int64_t time, std::uint64_t record, double value) {
  const std::uint32_t counter = of_track(track, true);
  if (!all_[counter].described_late) value *= static_cast<double>(tracks_.track(track).counter.multiplier);
  point(tracks_.row_beside(track), counter, time, record, std::bit_cast<std::int64_t>(value));
}

void CounterPoints::add(std::string_view name, std::uint32_t row, std::int64_t time, std::uint64_t record,
                        std::int64_t value) {
  point(row, named(name, false), time, record, value);
}

void CounterPoints::add(std::string_view name, std::uint32_t row, std::int64_t time, std::uint64_t record,
                        double value) {
  point(row, named(name, true), time, record, std::bit_cast<std::int64_t>(value));
}

std::vector<Metric> CounterPoints::finish() {
  std::vector<Metric> metrics;
  NameTable names;
  std::vector<std::uint32_t> numbers;
  for (const Counter& one : all_) {
    const Track* const track = one.name.empty() ? &tracks_.track(one.track) : nullptr;
    std::string name = track != nullptr ? track->name : one.name;
    if (name.empty()) name = "counter";
    if (const std::uint32_t known = names.find(name);
        known != NameTable::kNone && metrics[known].type.is_double() != one.is_double) {
      name += one.is_double ? " (real)" : " (whole)";
    }
    const std::uint32_t number = names.add(name);
    if (number == metrics.size()) {
      Metric made;
      made.name = made.display_name = name;
      if (track != nullptr) made.unit = track->counter.unit;
      made.type = {one.is_double ? ValueKind::f64 : ValueKind::i64, 0};
      made.file_id = number;
      metrics.push_back(std::move(made));
    }
    numbers.push_back(number);
  }
  for (Event& event : store_.points()) {
    if (event.kind != EventKind::counter) continue;
    Counter& one = all_[event.name];
    event.name = numbers[event.name];
    if (!one.described_late) continue;
    const CounterTrack& how = tracks_.track(one.track).counter;
    if (one.is_double) {
      event.value =
          std::bit_cast<std::int64_t>(std::bit_cast<double>(event.value) * static_cast<double>(how.multiplier));
    } else {
      event.value = times(event.value, how.multiplier);
      if (how.incremental) event.value = one.sum = plus(one.sum, event.value);
    }
  }
  return metrics;
}

}  // namespace fathom::perfetto
