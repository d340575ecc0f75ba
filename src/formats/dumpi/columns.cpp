#include "formats/dumpi/columns.hpp"

#include <fmt/format.h>

#include <array>

namespace fathom::dumpi {

std::optional<ColumnKind> column_kind(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames = {"count", "time", "sent", "recvd", "exchange", "lump", "perfctr"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<ColumnKind>(i);
  }
  return std::nullopt;
}

void count_columns(const std::vector<Column>& columns, const Call& call, const Contribution& added,
                   const Interval* piece, std::vector<ColumnNumbers>& numbers) {
  if (columns.empty()) return;
  if (numbers.size() < columns.size()) numbers.resize(columns.size());
  for (std::size_t n = 0; n < columns.size(); ++n) {
    if (!columns[n].calls[call.id]) continue;
    ColumnNumbers& column = numbers[n];
    switch (columns[n].kind) {
      case ColumnKind::time:
        if (call.has_wall()) column.wall.add(call.wall_start_ns, call.wall_stop_ns, piece);
        if (call.has_cpu()) column.cpu.add(call.cpu_start_ns, call.cpu_stop_ns, piece);
        break;
      case ColumnKind::exchange:
        if (!added.sends || added.peer < 0) break;
        column.peers[added.peer].add(added.sums.sent);
        break;
      case ColumnKind::lump:
        // What collectives move counts as well, each direction where there is anything.
        if (added.sends || (added.collective && added.sums.sent > 0)) {
          ++column.sizes[lump_class(added.sums.sent)].sends;
        }
        if (added.receives || (added.collective && added.sums.received > 0)) {
          ++column.sizes[lump_class(added.sums.received)].receives;
        }
        break;
      case ColumnKind::counters:
        add_counters(column.counters, call, piece);
        break;
      default:
        column.sums.add(added.sums);
    }
  }
}

void ColumnTitles::see(const std::vector<ColumnNumbers>& row, const std::vector<std::string>& counters) {
  for (std::size_t n = 0; n < row.size(); ++n) {
    Found& found = found_[n];
    for (const auto& [peer, messages] : row[n].peers) found.peers.insert(peer);
    for (const auto& [size, counts] : row[n].sizes) found.sizes.insert(size);
    // Ranks of one run have the same counters.
    for (std::size_t c = found.counters.size(); c < row[n].counters.size(); ++c) {
      found.counters.push_back(c < counters.size() ? counters[c] : fmt::format("counter_{}", c));
    }
  }
}

std::vector<ColumnSpec> ColumnTitles::titles() const {
  std::vector<ColumnSpec> titles;
  for (std::size_t n = 0; n < columns_.size(); ++n) {
    const Found& found = found_[n];
    const auto add = [&](std::string_view name, ColumnType type = ColumnType::int64, std::string_view unit = "") {
      const std::string title = fmt::format("{}({})", name, columns_[n].text);
      titles.push_back({title, type, std::string(unit), title});
    };
    switch (columns_[n].kind) {
      case ColumnKind::count:
        add("calls", ColumnType::uint64, "occ");
        break;
      case ColumnKind::time:
        for (const auto* name : {"cpu_s", "cpu_outside_s", "wall_s", "wall_outside_s"}) {
          add(name, ColumnType::seconds, "s");
        }
        break;
      case ColumnKind::sent:
        add("sent", ColumnType::int64, "bytes");
        break;
      case ColumnKind::received:
        add("received", ColumnType::int64, "bytes");
        break;
      case ColumnKind::exchange:
        for (const auto peer : found.peers) {
          add(fmt::format("sent_to_{}", peer), ColumnType::int64, "bytes");
        }
        break;
      case ColumnKind::lump:
        for (const auto* direction : {"sends", "receives"}) {
          for (const auto size : found.sizes) {
            add(fmt::format("{}_up_to_{}_bytes", direction, size == 0 ? 0 : std::uint64_t{1} << (size - 1)),
                ColumnType::uint64, "occ");
          }
        }
        break;
      case ColumnKind::counters:
        for (const std::string& name : found.counters) {
          add(name);
          add(name + "_outside");
        }
        break;
    }
  }
  return titles;
}

void ColumnTitles::append_cells(const std::vector<ColumnNumbers>& row, const Gauge& wall, const Gauge& cpu,
                                std::vector<TableBuilder::Cell>& cells) const {
  static const ColumnNumbers kNothing;
  const auto add = [&](auto number) { cells.emplace_back(number); };
  for (std::size_t n = 0; n < columns_.size(); ++n) {
    const ColumnNumbers& numbers = n < row.size() ? row[n] : kNothing;
    switch (columns_[n].kind) {
      case ColumnKind::count:
        add(numbers.sums.count);
        break;
      case ColumnKind::time:
        // What is not inside is outside, before the first and after the last of the calls, too.
        for (const std::int64_t ns : {numbers.cpu.inside, cpu.inside + cpu.outside - numbers.cpu.inside,
                                      numbers.wall.inside, wall.inside + wall.outside - numbers.wall.inside}) {
          add(ns);
        }
        break;
      case ColumnKind::sent:
        add(numbers.sums.sent);
        break;
      case ColumnKind::received:
        add(numbers.sums.received);
        break;
      case ColumnKind::exchange:
        for (const auto peer : found_[n].peers) {
          const auto it = numbers.peers.find(peer);
          add(it == numbers.peers.end() ? std::int64_t{0} : it->second.bytes.value());
        }
        break;
      case ColumnKind::lump:
        for (const bool sends : {true, false}) {
          for (const auto size : found_[n].sizes) {
            const auto it = numbers.sizes.find(size);
            add(it == numbers.sizes.end() ? std::uint64_t{0} : sends ? it->second.sends : it->second.receives);
          }
        }
        break;
      case ColumnKind::counters:
        for (std::size_t c = 0; c < found_[n].counters.size(); ++c) {
          const Gauge gauge = c < numbers.counters.size() ? numbers.counters[c] : Gauge{};
          add(gauge.inside);
          add(gauge.outside);
        }
        break;
    }
  }
}

}  // namespace fathom::dumpi
