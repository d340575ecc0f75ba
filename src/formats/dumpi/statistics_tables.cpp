// The tables that `stats --by` prints, from the numbers that were counted.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "formats/dumpi/statistics.hpp"
#include "formats/dumpi/transfer.hpp"

namespace fathom::dumpi {

namespace {

using Row = std::vector<TableBuilder::Cell>;
using Specs = std::vector<ColumnSpec>;

// The table of columns that the user chose has no name here: choosing columns asks for it.
constexpr std::array<std::string_view, 12> kTables = {"kind",     "rank",     "rank-call",   "rank-size",
                                                      "size",     "counter",  "bin",         "bin-call",
                                                      "bin-peer", "bin-size", "bin-counter", "bin-total"};

template <class List>
List joined(List list, const std::type_identity_t<List>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

// Kinds of columns.
ColumnSpec number(const char* name) { return {name, ColumnType::int64}; }
ColumnSpec count(const char* name) { return {name, ColumnType::uint64, "occ"}; }
ColumnSpec bytes(const char* name) { return {name, ColumnType::int64, "bytes"}; }
ColumnSpec duration(const char* name) { return {name, ColumnType::seconds, "s"}; }
ColumnSpec text(const char* name) { return {name, ColumnType::text}; }

// When calls were made, by the wall clock. Active is the time between the first and the last call, without what lies
// between the pieces of a bin.
const Specs kActiveColumns = {duration("first_s"), duration("last_s"), duration("active_s")};
Row active_cells(const Gauge& wall) { return {wall.first, wall.last, wall.inside + wall.outside}; }

const Specs kClockColumns =
    joined(kActiveColumns, {count("calls"), duration("cpu_s"), duration("cpu_outside_s"), duration("wall_s"),
                            duration("wall_outside_s"), bytes("sent"), bytes("received")});
Row clock_cells(const Sums& all, const Gauge& wall, const Gauge& cpu) {
  return joined(active_cells(wall),
                {all.count, all.cpu_ns, cpu.outside, all.wall_ns, wall.outside, all.sent, all.received});
}

const Specs kCallColumns = {text("call"),  count("count"),    duration("wall_s"), duration("cpu_s"),
                            bytes("sent"), bytes("received"), bytes("bytes")};
Row call_cells(std::size_t id, const Sums& sums) {
  return {functions()[id].name,
          sums.count,
          sums.wall_ns,
          sums.cpu_ns,
          sums.sent,
          sums.received,
          sums.sent + sums.received + sums.io};
}

const Specs kSizeColumns = {bytes("from_bytes"), bytes("to_bytes"), count("sends"), count("receives")};
Row size_cells(std::size_t size_class, const SizeCount& counts) {
  const std::uint64_t from = size_class == 0 ? 0 : std::uint64_t{1} << (size_class - 1);
  const std::uint64_t to = size_class == 0 ? 0 : from + (from - 1);
  return {from, to, counts.sends, counts.receives};
}

const Specs kCounterColumns = {text("counter"), number("inside"), number("outside")};
void add_counters(TableBuilder& table, const Row& key, const std::vector<Gauge>& counters,
                  const std::vector<std::string>& labels) {
  for (std::size_t n = 0; n < counters.size(); ++n) {
    const std::string label = n < labels.size() ? labels[n] : std::to_string(n);
    table.add(joined(key, {std::string_view(label), counters[n].inside, counters[n].outside}));
  }
}

Sums all_calls(const RankNumbers& rank) {
  Sums all;
  for (const Sums& sums : rank.functions) all.add(sums);
  return all;
}

// Point-to-point, collective, one-sided and file operations: how many calls and bytes.
Table kinds(const std::vector<RankNumbers>& numbers) {
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
  TableBuilder table({"kinds",
                      {text("kind"), count("calls"), duration("wall_s"), duration("cpu_s"), bytes("sent"),
                       bytes("received"), bytes("file_bytes")}});
  for (const Kind& kind : found) {
    if (kind.sums.count == 0) continue;
    table.row(kind.name, kind.sums.count, kind.sums.wall_ns, kind.sums.cpu_ns, kind.sums.sent, kind.sums.received,
              kind.sums.io);
  }
  return std::move(table).finish();
}

Table per_rank(std::string_view name, const RankSet& set, const std::vector<RankNumbers>& numbers) {
  const Specs rank_column = {number("rank")};
  TableBuilder table(name == "rank"        ? Schema{"ranks", joined(rank_column, kClockColumns)}
                     : name == "rank-call" ? Schema{"rank_calls", joined(rank_column, kCallColumns)}
                     : name == "rank-size" ? Schema{"rank_sizes", joined(rank_column, kSizeColumns)}
                                           : Schema{"counters", joined(rank_column, kCounterColumns)});
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const RankNumbers& rank = numbers[i];
    const Row key = {std::int64_t{set.files()[i].rank}};
    const Sums all = all_calls(rank);
    if (all.count == 0) continue;
    if (name == "rank") {
      table.add(joined(key, clock_cells(all, rank.wall, rank.cpu)));
    } else if (name == "rank-call") {
      for (std::size_t id = 0; id < kIds; ++id) {
        if (rank.functions[id].count > 0) table.add(joined(key, call_cells(id, rank.functions[id])));
      }
    } else if (name == "rank-size") {
      for (std::size_t n = 0; n < kSizeClasses; ++n) {
        if (rank.sizes[n].sends + rank.sizes[n].receives > 0) {
          table.add(joined(key, size_cells(n, rank.sizes[n])));
        }
      }
    } else {
      add_counters(table, key, rank.counters, set.files()[i].file.sections().counters);
    }
  }
  return std::move(table).finish();
}

Table all_sizes(const std::vector<RankNumbers>& numbers) {
  TableBuilder table({"sizes", kSizeColumns});
  for (std::size_t n = 0; n < kSizeClasses; ++n) {
    SizeCount sum;
    for (const RankNumbers& rank : numbers) {
      sum.sends += rank.sizes[n].sends;
      sum.receives += rank.sizes[n].receives;
    }
    if (sum.sends + sum.receives > 0) table.add(size_cells(n, sum));
  }
  return std::move(table).finish();
}

Table chosen_columns(const RankSet& set, const std::vector<RankNumbers>& numbers, const StatisticsRequest& request) {
  ColumnTitles titles(request.columns);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    titles.see(numbers[i].columns, set.files()[i].file.sections().counters);
  }
  TableBuilder table({"columns", joined(joined(Specs{number("rank")}, kActiveColumns), titles.titles())});
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (all_calls(numbers[i]).count == 0) continue;
    Row cells = joined(Row{std::int64_t{set.files()[i].rank}}, active_cells(numbers[i].wall));
    titles.append_cells(numbers[i].columns, numbers[i].wall, numbers[i].cpu, cells);
    table.add(cells);
  }
  return std::move(table).finish();
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
Table per_bin(std::string_view name, const RankSet& set, const std::vector<RankNumbers>& numbers,
              const StatisticsRequest& request) {
  const bool several = request.cuts.size() > 1;
  Specs key = several ? Specs{number("bins"), number("bin")} : Specs{number("bin")};
  key = joined(key, {duration("from_s"), duration("to_s"), number("rank")});
  ColumnTitles titles(request.columns);
  Schema schema;
  if (name == "bin-columns") {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      for (const auto& [at, found] : numbers[i].bins) {
        titles.see(found.columns, set.files()[i].file.sections().counters);
      }
    }
    schema = {"columns", joined(joined(joined(key, {count("intervals")}), kActiveColumns), titles.titles())};
  } else if (name == "bin") {
    schema = {"bins", joined(joined(key, {count("intervals")}), kClockColumns)};
  } else if (name == "bin-call") {
    schema = {"bin_calls", joined(key, kCallColumns)};
  } else if (name == "bin-peer") {
    schema = {"bin_matrix", joined(key, {number("dst"), count("messages"), bytes("bytes")})};
  } else if (name == "bin-size") {
    schema = {"bin_sizes", joined(key, kSizeColumns)};
  } else {
    schema = {"bin_counters", joined(key, kCounterColumns)};
  }
  TableBuilder table(std::move(schema));
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
  // Cut, bin, from, to, sender, receiver: two ranks may tell of the same pair.
  std::map<std::tuple<std::size_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>, Messages>
      matrix;
  for (const Line& line : lines) {
    const auto& of_ranks = all_extents[line.cut];
    const Extent& extent = (of_ranks.size() == 1 ? of_ranks[0] : of_ranks[line.file]).at(line.bin);
    Row cells = several ? Row{std::uint64_t{line.cut}} : Row{};
    cells = joined(cells, {line.bin, extent.from_ns, extent.to_ns, std::int64_t{set.files()[line.file].rank}});
    const BinNumbers& bin = *line.numbers;
    if (name == "bin-columns") {
      cells = joined(joined(cells, {extent.pieces}), active_cells(bin.wall));
      titles.append_cells(bin.columns, bin.wall, bin.cpu, cells);
      table.add(cells);
    } else if (name == "bin") {
      cells.emplace_back(extent.pieces);
      table.add(joined(cells, clock_cells(bin.all, bin.wall, bin.cpu)));
    } else if (name == "bin-call") {
      for (const auto& [id, sums] : bin.calls) table.add(joined(cells, call_cells(id, sums)));
    } else if (name == "bin-peer") {
      const std::int64_t own = set.files()[line.file].rank;
      const auto add = [&](std::int64_t from, std::int64_t to, const Messages& more) {
        Messages& sum = matrix[{line.cut, line.bin, extent.from_ns, extent.to_ns, from, to}];
        sum.count += more.count;
        sum.bytes += more.bytes;
      };
      for (const auto& [peer, messages] : bin.peers) add(own, peer, messages);
      // What was fetched was sent by the other one.
      for (const auto& [peer, messages] : bin.fetched) add(peer, own, messages);
    } else if (name == "bin-size") {
      for (const auto& [size, counts] : bin.sizes) table.add(joined(cells, size_cells(size, counts)));
    } else {
      add_counters(table, cells, bin.counters, set.files()[line.file].file.sections().counters);
    }
  }
  for (const auto& [pair, messages] : matrix) {
    const auto& [cut, bin, from_ns, to_ns, src, dst] = pair;
    const Row cells = several ? Row{std::uint64_t{cut}} : Row{};
    table.add(joined(cells, {bin, from_ns, to_ns, src, dst, messages.count, messages.bytes.value()}));
  }
  return std::move(table).finish();
}

// All ranks together, also of bins in which nobody called anything: those may be what one looks for.
Table bin_totals(const std::vector<RankNumbers>& numbers, const StatisticsRequest& request) {
  const bool several = request.cuts.size() > 1;
  const Specs key = several ? Specs{number("bins"), number("bin")} : Specs{number("bin")};
  TableBuilder table({"bin_totals", joined(key, {duration("from_s"),
                                                 duration("to_s"),
                                                 count("ranks"),
                                                 count("calls"),
                                                 duration("wall_s"),
                                                 {"share", ColumnType::float64},
                                                 bytes("sent"),
                                                 bytes("received")})});
  for (std::size_t cut = 0; cut < request.cuts.size(); ++cut) {
    struct Total {
      Extent extent;
      std::uint64_t ranks = 0;
      std::int64_t available_ns = 0;  // of all ranks
      Sums sums;
    };
    std::map<std::uint64_t, Total> totals;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      for (const Interval& piece : request.cuts[cut].of(i)) {
        const auto [at, fresh] = totals.try_emplace(piece.bin, Total{{piece.from_ns, piece.to_ns, 0}, 0, 0, {}});
        at->second.extent.from_ns = std::min(at->second.extent.from_ns, piece.from_ns);
        at->second.extent.to_ns = std::max(at->second.extent.to_ns, piece.to_ns);
        at->second.available_ns += piece.to_ns - piece.from_ns;
      }
      for (const auto& [at, found] : numbers[i].bins) {
        if (at.first != cut) continue;
        Total& total = totals[at.second];
        ++total.ranks;
        total.sums.add(found.all);
      }
    }
    for (const auto& [bin, total] : totals) {
      Row cells = several ? Row{std::uint64_t{cut}} : Row{};
      const double share = total.available_ns > 0
                               ? static_cast<double>(total.sums.wall_ns) / static_cast<double>(total.available_ns)
                               : 0;
      table.add(joined(cells, {bin, total.extent.from_ns, total.extent.to_ns, total.ranks, total.sums.count,
                               total.sums.wall_ns, share, total.sums.sent, total.sums.received}));
    }
  }
  return std::move(table).finish();
}

}  // namespace

std::span<const std::string_view> table_names() { return kTables; }

Table make_table(std::string_view name, const RankSet& set, const std::vector<RankNumbers>& numbers,
                 const StatisticsRequest& request) {
  if (name == "kind") return kinds(numbers);
  if (name == "size") return all_sizes(numbers);
  if (name == "columns") return chosen_columns(set, numbers, request);
  if (name == "bin-total") return bin_totals(numbers, request);
  if (name.starts_with("bin")) return per_bin(name, set, numbers, request);
  return per_rank(name, set, numbers);
}

}  // namespace fathom::dumpi
