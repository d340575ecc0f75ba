// The tables that `stats --by` prints, from the numbers that were counted.
#include <fmt/format.h>

#include "formats/dumpi/statistics.hpp"
#include "formats/dumpi/transfer.hpp"

namespace fathom::dumpi {

namespace {

using Row = std::vector<std::string>;

// The table of columns that the user chose has no name here: choosing columns asks for it.
constexpr std::array<std::string_view, 11> kTables = {"kind",     "rank",     "rank-call",  "rank-size",
                                                      "size",     "counter",  "bin",        "bin-call",
                                                      "bin-peer", "bin-size", "bin-counter"};

template <class Number>
std::string text(Number number) {
  return std::to_string(number);
}

Row joined(Row row, const Row& more) {
  row.insert(row.end(), more.begin(), more.end());
  return row;
}

// When calls were made, by the wall clock. Active is the time between the first and the last call, without what lies
// between the pieces of a bin.
const Row kActiveColumns = {"first_s", "last_s", "active_s"};
Row active_cells(const Gauge& wall) {
  return {seconds_text(wall.first), seconds_text(wall.last), seconds_text(wall.inside + wall.outside)};
}

const Row kClockColumns =
    joined(kActiveColumns, {"calls", "cpu_s", "cpu_outside_s", "wall_s", "wall_outside_s", "sent", "received"});
Row clock_cells(const Sums& all, const Gauge& wall, const Gauge& cpu) {
  return joined(active_cells(wall),
                {text(all.count), seconds_text(all.cpu_ns), seconds_text(cpu.outside), seconds_text(all.wall_ns),
                 seconds_text(wall.outside), text(all.sent), text(all.received)});
}

const Row kCallColumns = {"call", "count", "wall_s", "cpu_s", "sent", "received", "bytes"};
Row call_cells(std::size_t id, const Sums& sums) {
  return {std::string(functions()[id].name),
          text(sums.count),
          seconds_text(sums.wall_ns),
          seconds_text(sums.cpu_ns),
          text(sums.sent),
          text(sums.received),
          text(sums.sent + sums.received + sums.io)};
}

const Row kSizeColumns = {"from_bytes", "to_bytes", "sends", "receives"};
Row size_cells(std::size_t size_class, const SizeCount& counts) {
  const std::uint64_t from = size_class == 0 ? 0 : std::uint64_t{1} << (size_class - 1);
  const std::uint64_t to = size_class == 0 ? 0 : from + (from - 1);
  return {text(from), text(to), text(counts.sends), text(counts.receives)};
}

const Row kCounterColumns = {"counter", "inside", "outside"};
void add_counters(StatisticsTable& table, const Row& key, const std::vector<Gauge>& counters,
                  const std::vector<std::string>& labels) {
  for (std::size_t n = 0; n < counters.size(); ++n) {
    table.rows.push_back(
        joined(key, {n < labels.size() ? labels[n] : text(n), text(counters[n].inside), text(counters[n].outside)}));
  }
}

Sums all_calls(const RankNumbers& rank) {
  Sums all;
  for (const Sums& sums : rank.functions) all.add(sums);
  return all;
}

// Point-to-point, collective, one-sided and file operations: how many calls and bytes.
StatisticsTable kinds(const std::vector<RankNumbers>& numbers) {
  struct Kind {
    std::string_view name;
    Sums sums;
  };
  std::array<Kind, 5> found = {
      Kind{"point-to-point", {}}, {"collective", {}}, {"one-sided", {}}, {"file", {}}, {"other", {}}};
  for (const RankNumbers& rank : numbers) {
    for (std::size_t id = 0; id < kIds; ++id) {
      const Role role = role_of(static_cast<std::uint16_t>(id));
      const std::size_t kind = role == Role::collective                    ? 1
                               : role == Role::rma                         ? 2
                               : role == Role::io                          ? 3
                               : role == Role::other || role == Role::wait ? 4
                                                                           : 0;
      found[kind].sums.add(rank.functions[id]);
    }
  }
  StatisticsTable table{"kinds", {"kind", "calls", "wall_s", "cpu_s", "sent", "received", "file_bytes"}, {}};
  for (const Kind& kind : found) {
    if (kind.sums.count == 0) continue;
    table.rows.push_back({std::string(kind.name), text(kind.sums.count), seconds_text(kind.sums.wall_ns),
                          seconds_text(kind.sums.cpu_ns), text(kind.sums.sent), text(kind.sums.received),
                          text(kind.sums.io)});
  }
  return table;
}

StatisticsTable per_rank(std::string_view name, const RankSet& set, const std::vector<RankNumbers>& numbers) {
  StatisticsTable table;
  if (name == "rank") {
    table = {"ranks", joined({"rank"}, kClockColumns), {}};
  } else if (name == "rank-call") {
    table = {"rank_calls", joined({"rank"}, kCallColumns), {}};
  } else if (name == "rank-size") {
    table = {"rank_sizes", joined({"rank"}, kSizeColumns), {}};
  } else {
    table = {"counters", joined({"rank"}, kCounterColumns), {}};
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const RankNumbers& rank = numbers[i];
    const Row key = {text(set.files()[i].rank)};
    const Sums all = all_calls(rank);
    if (all.count == 0) continue;
    if (name == "rank") {
      table.rows.push_back(joined(key, clock_cells(all, rank.wall, rank.cpu)));
    } else if (name == "rank-call") {
      for (std::size_t id = 0; id < kIds; ++id) {
        if (rank.functions[id].count > 0) table.rows.push_back(joined(key, call_cells(id, rank.functions[id])));
      }
    } else if (name == "rank-size") {
      for (std::size_t n = 0; n < kSizeClasses; ++n) {
        if (rank.sizes[n].sends + rank.sizes[n].receives > 0) {
          table.rows.push_back(joined(key, size_cells(n, rank.sizes[n])));
        }
      }
    } else {
      add_counters(table, key, rank.counters, set.files()[i].file.sections().counters);
    }
  }
  return table;
}

StatisticsTable all_sizes(const std::vector<RankNumbers>& numbers) {
  StatisticsTable table{"sizes", kSizeColumns, {}};
  for (std::size_t n = 0; n < kSizeClasses; ++n) {
    SizeCount sum;
    for (const RankNumbers& rank : numbers) {
      sum.sends += rank.sizes[n].sends;
      sum.receives += rank.sizes[n].receives;
    }
    if (sum.sends + sum.receives > 0) table.rows.push_back(size_cells(n, sum));
  }
  return table;
}

StatisticsTable chosen_columns(const RankSet& set, const std::vector<RankNumbers>& numbers,
                               const StatisticsRequest& request) {
  ColumnTitles titles(request.columns);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    titles.see(numbers[i].columns, set.files()[i].file.sections().counters);
  }
  StatisticsTable table{"columns", joined(joined({"rank"}, kActiveColumns), titles.titles()), {}};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (all_calls(numbers[i]).count == 0) continue;
    Row cells = joined({text(set.files()[i].rank)}, active_cells(numbers[i].wall));
    titles.append_cells(numbers[i].columns, numbers[i].wall, numbers[i].cpu, cells);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// Where the pieces of a bin begin and end on a rank, and how many there are.
struct Extent {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::uint64_t pieces = 0;
};
std::map<std::uint64_t, Extent> extents(const std::vector<Interval>& pieces) {
  std::map<std::uint64_t, Extent> found;
  for (const Interval& piece : pieces) {
    auto [it, is_new] = found.try_emplace(piece.bin, Extent{piece.from_ns, piece.to_ns, 0});
    it->second.to_ns = piece.to_ns;
    ++it->second.pieces;
  }
  return found;
}

// Rows are ordered by cut, bin and rank; the cut has a column when there are several.
StatisticsTable per_bin(std::string_view name, const RankSet& set, const std::vector<RankNumbers>& numbers,
                        const StatisticsRequest& request) {
  const bool several = request.cuts.size() > 1;
  Row key = several ? Row{"bins", "bin"} : Row{"bin"};
  key = joined(key, {"from_s", "to_s", "rank"});
  ColumnTitles titles(request.columns);
  StatisticsTable table;
  if (name == "bin-columns") {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      for (const auto& [at, found] : numbers[i].bins) {
        titles.see(found.columns, set.files()[i].file.sections().counters);
      }
    }
    table = {"columns", joined(joined(joined(key, {"intervals"}), kActiveColumns), titles.titles()), {}};
  } else if (name == "bin") {
    table = {"bins", joined(joined(key, {"intervals"}), kClockColumns), {}};
  } else if (name == "bin-call") {
    table = {"bin_calls", joined(key, kCallColumns), {}};
  } else if (name == "bin-peer") {
    table = {"bin_matrix", joined(key, {"dst", "messages", "bytes"}), {}};
  } else if (name == "bin-size") {
    table = {"bin_sizes", joined(key, kSizeColumns), {}};
  } else {
    table = {"bin_counters", joined(key, kCounterColumns), {}};
  }
  struct Line {
    std::size_t cut;
    std::uint64_t bin;
    std::size_t file;
    const BinNumbers* numbers;
    auto operator<=>(const Line&) const = default;
  };
  std::vector<Line> lines;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (const auto& [at, found] : numbers[i].bins) lines.push_back({at.first, at.second, i, &found});
  }
  std::sort(lines.begin(), lines.end());
  // One list of pieces may serve all ranks.
  std::vector<std::vector<std::map<std::uint64_t, Extent>>> all_extents(request.cuts.size());
  for (std::size_t cut = 0; cut < request.cuts.size(); ++cut) {
    for (const auto& pieces : request.cuts[cut].ranks) all_extents[cut].push_back(extents(pieces));
  }
  for (const Line& line : lines) {
    const auto& of_ranks = all_extents[line.cut];
    const Extent& extent = (of_ranks.size() == 1 ? of_ranks[0] : of_ranks[line.file]).at(line.bin);
    Row cells = several ? Row{text(line.cut)} : Row{};
    cells = joined(cells, {text(line.bin), seconds_text(extent.from_ns), seconds_text(extent.to_ns),
                           text(set.files()[line.file].rank)});
    const BinNumbers& bin = *line.numbers;
    if (name == "bin-columns") {
      cells = joined(joined(cells, {text(extent.pieces)}), active_cells(bin.wall));
      titles.append_cells(bin.columns, bin.wall, bin.cpu, cells);
      table.rows.push_back(std::move(cells));
    } else if (name == "bin") {
      cells.push_back(text(extent.pieces));
      table.rows.push_back(joined(cells, clock_cells(bin.all, bin.wall, bin.cpu)));
    } else if (name == "bin-call") {
      for (const auto& [id, sums] : bin.calls) table.rows.push_back(joined(cells, call_cells(id, sums)));
    } else if (name == "bin-peer") {
      for (const auto& [peer, messages] : bin.peers) {
        table.rows.push_back(joined(cells, {text(peer), text(messages.count), text(messages.bytes)}));
      }
    } else if (name == "bin-size") {
      for (const auto& [size, counts] : bin.sizes) table.rows.push_back(joined(cells, size_cells(size, counts)));
    } else {
      add_counters(table, cells, bin.counters, set.files()[line.file].file.sections().counters);
    }
  }
  return table;
}

}  // namespace

std::span<const std::string_view> table_names() { return kTables; }

StatisticsTable make_table(std::string_view name, const RankSet& set, const std::vector<RankNumbers>& numbers,
                           const StatisticsRequest& request) {
  if (name == "kind") return kinds(numbers);
  if (name == "size") return all_sizes(numbers);
  if (name == "columns") return chosen_columns(set, numbers, request);
  if (name.starts_with("bin")) return per_bin(name, set, numbers, request);
  return per_rank(name, set, numbers);
}

}  // namespace fathom::dumpi
