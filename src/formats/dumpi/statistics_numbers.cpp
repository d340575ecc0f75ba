#include "formats/dumpi/statistics_numbers.hpp"

#include <algorithm>
#include <bit>

namespace fathom::dumpi {

std::size_t size_class(std::int64_t bytes) {
  return bytes <= 0 ? 0 : static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes)));
}

std::size_t lump_class(std::int64_t bytes) {
  return bytes <= 0 ? 0 : 1 + static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes) - 1));
}

void add_counters(std::vector<Gauge>& counters, const Call& call, const Interval* piece) {
  if (counters.size() < call.counter_count) counters.resize(call.counter_count);
  for (std::size_t n = 0; n < call.counter_count; ++n) counters[n].add(call.counter_in(n), call.counter_out(n), piece);
}

void Sums::add(const Sums& other) {
  count += other.count;
  wall_ns += other.wall_ns;
  cpu_ns += other.cpu_ns;
  sent += other.sent;
  received += other.received;
  io += other.io;
}

void Gauge::append(const Gauge& later) {
  if (!later.any) return;
  if (!any) {
    *this = later;
    return;
  }
  if (later.first_piece == last_piece) outside += later.first - last;
  inside += later.inside;
  outside += later.outside;
  last = later.last;
  last_piece = later.last_piece;
}

namespace {

void append(std::vector<Gauge>& gauges, const std::vector<Gauge>& later) {
  gauges.resize(std::max(gauges.size(), later.size()));
  for (std::size_t n = 0; n < later.size(); ++n) gauges[n].append(later[n]);
}

void append(std::map<std::int32_t, Messages>& peers, const std::map<std::int32_t, Messages>& later) {
  for (const auto& [peer, messages] : later) {
    peers[peer].count += messages.count;
    peers[peer].bytes += messages.bytes;
  }
}

void add(SizeCount& to, const SizeCount& other) {
  to.sends += other.sends;
  to.receives += other.receives;
}

void append(std::vector<ColumnNumbers>& columns, const std::vector<ColumnNumbers>& later) {
  columns.resize(std::max(columns.size(), later.size()));
  for (std::size_t n = 0; n < later.size(); ++n) columns[n].append(later[n]);
}

}  // namespace

void ColumnNumbers::append(const ColumnNumbers& later) {
  sums.add(later.sums);
  wall.append(later.wall);
  cpu.append(later.cpu);
  dumpi::append(counters, later.counters);
  dumpi::append(peers, later.peers);
  for (const auto& [size, counts] : later.sizes) add(sizes[size], counts);
}

void BinNumbers::append(const BinNumbers& later) {
  all.add(later.all);
  wall.append(later.wall);
  cpu.append(later.cpu);
  dumpi::append(counters, later.counters);
  for (const auto& [id, sums] : later.calls) calls[id].add(sums);
  dumpi::append(peers, later.peers);
  dumpi::append(fetched, later.fetched);
  for (const auto& [size, counts] : later.sizes) add(sizes[size], counts);
  dumpi::append(columns, later.columns);
}

void RankNumbers::append(const RankNumbers& later) {
  for (std::size_t id = 0; id < kIds; ++id) functions[id].add(later.functions[id]);
  dumpi::append(peers, later.peers);
  dumpi::append(fetched, later.fetched);
  for (std::size_t n = 0; n < kSizeClasses; ++n) add(sizes[n], later.sizes[n]);
  wall.append(later.wall);
  cpu.append(later.cpu);
  dumpi::append(counters, later.counters);
  dumpi::append(columns, later.columns);
  for (const auto& [key, numbers] : later.bins) bins[key].append(numbers);
}

}  // namespace fathom::dumpi
