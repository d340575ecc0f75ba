#include "formats/dumpi/statistics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <regex>

#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "formats/dumpi/time_range.hpp"
#include "formats/dumpi/transfer.hpp"

namespace fathom::dumpi {

void Sums::add(const Sums& other) {
  count += other.count;
  wall_ns += other.wall_ns;
  cpu_ns += other.cpu_ns;
  sent += other.sent;
  received += other.received;
  io += other.io;
}

void RankNumbers::append(const RankNumbers& later) {
  for (std::size_t id = 0; id < kIds; ++id) functions[id].add(later.functions[id]);
  for (const auto& [peer, entry] : later.sends) {
    sends[peer].first += entry.first;
    sends[peer].second += entry.second;
  }
  for (std::size_t n = 0; n < kSizeClasses; ++n) {
    send_sizes[n] += later.send_sizes[n];
    recv_sizes[n] += later.recv_sizes[n];
  }
  bins.resize(std::max(bins.size(), later.bins.size()));
  for (std::size_t n = 0; n < later.bins.size(); ++n) bins[n].add(later.bins[n]);
  // What lies between the two parts is outside of all calls, too.
  if (later.any_wall) {
    if (any_wall) {
      wall_outside_ns += later.first_wall_ns - last_wall_ns;
    } else {
      first_wall_ns = later.first_wall_ns;
    }
    wall_outside_ns += later.wall_outside_ns;
    last_wall_ns = later.last_wall_ns;
    any_wall = true;
  }
  if (later.any_cpu) {
    if (any_cpu) {
      cpu_outside_ns += later.first_cpu_ns - last_cpu_ns;
    } else {
      first_cpu_ns = later.first_cpu_ns;
    }
    cpu_outside_ns += later.cpu_outside_ns;
    last_cpu_ns = later.last_cpu_ns;
    any_cpu = true;
  }
  if (later.last_counters.empty()) return;
  const std::size_t count = later.last_counters.size();
  if (last_counters.empty()) {
    first_counters = later.first_counters;
    counters_inside.assign(count, 0);
    counters_outside.assign(count, 0);
  } else {
    for (std::size_t n = 0; n < std::min(count, last_counters.size()); ++n) {
      counters_outside[n] += later.first_counters[n] - last_counters[n];
    }
  }
  last_counters = later.last_counters;
  for (std::size_t n = 0; n < std::min(count, counters_inside.size()); ++n) {
    counters_inside[n] += later.counters_inside[n];
    counters_outside[n] += later.counters_outside[n];
  }
}

Result<std::array<bool, kIds>> select_calls(std::string_view text) {
  std::array<bool, kIds> chosen{};
  const std::string group = to_lower(text);
  const bool known = group == "all" || group == "mpi" || group == "non-mpi" || group == "sends" || group == "recvs" ||
                     group == "coll" || group == "wait" || group == "io";
  std::optional<std::regex> pattern;
  if (!known) {
    try {
      pattern.emplace(std::string(text), std::regex::extended | std::regex::icase);
    } catch (const std::regex_error&) {
      return Error::usage(fmt::format("'{}' is neither a group of calls nor a regular expression", text))
          .hint("groups: all, mpi, non-mpi, sends, recvs, coll, wait, io");
    }
  }
  for (const Function& function : functions()) {
    const std::uint16_t id = function.id;
    const Role role = role_of(id);
    const std::string_view name = function.name;
    bool in = false;
    if (pattern) {
      in = std::regex_match(name.begin(), name.end(), *pattern);
    } else if (group == "all") {
      in = true;
    } else if (group == "mpi") {
      in = id < kFunctions;
    } else if (group == "non-mpi") {
      in = id > kFunctions;
    } else if (group == "sends") {
      in = role == Role::send || role == Role::send_init || role == Role::sendrecv;
    } else if (group == "recvs") {
      in = role == Role::recv || role == Role::recv_init || role == Role::sendrecv;
    } else if (group == "coll") {
      in = role == Role::collective;
    } else if (group == "wait") {
      in = name.starts_with("MPI_Wait") || name == "MPI_Probe" || name == "MPI_Start" || name == "MPI_Startall" ||
           name == "MPI_Win_wait" || name.starts_with("MPIO_Wait");
    } else {
      in = name.starts_with("MPI_File") || name.starts_with("MPIO_");
    }
    chosen[id] = in && id != kAllFunctions;
  }
  return chosen;
}

namespace {

struct Request {
  std::array<bool, kIds> calls{};
  TimeWindow window;
  Bins bins;
  bool sizes = false;
  bool counters = false;
};

std::size_t size_class(std::int64_t bytes) {
  return bytes <= 0 ? 0 : static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes)));
}

// The numbers of a few chunks of one rank.
RankNumbers count(const File& file, std::span<const Chunk> chunks, Tables tables, const Request& request) {
  RankNumbers numbers;
  numbers.bins.resize(request.bins.size());
  const auto& edges = request.bins.edges_ns;
  const bool windowed = !request.window.everything();
  // Messages by receiver; nearly all go to a few ranks, the last of which is tried first.
  std::vector<std::pair<std::int32_t, std::pair<std::uint64_t, std::int64_t>>> sends;
  std::size_t last_peer = 0;
  const auto message = [&](std::int32_t peer, std::int64_t bytes) {
    if (peer < 0) return;
    if (last_peer >= sends.size() || sends[last_peer].first != peer) {
      last_peer = 0;
      while (last_peer < sends.size() && sends[last_peer].first != peer) ++last_peer;
      if (last_peer == sends.size()) {
        // A list beats a map for the few peers that ranks have; many go to the map.
        if (sends.size() >= 64) {
          auto& entry = numbers.sends[peer];
          ++entry.first;
          entry.second += bytes;
          return;
        }
        sends.push_back({peer, {0, 0}});
      }
    }
    ++sends[last_peer].second.first;
    sends[last_peer].second.second += bytes;
  };
  for (const Chunk& chunk : chunks) {
    for_each_call(file, chunk, [&](const Call& call) {
      tables.advance(call.number);
      if (!request.calls[call.id]) return true;
      if (windowed && call.has_wall() &&
          (call.wall_start_ns < request.window.from_ns || call.wall_start_ns >= request.window.to_ns)) {
        return true;
      }
      Sums& sums = numbers.functions[call.id];
      ++sums.count;
      Sums one;
      one.count = 1;
      if (call.has_wall()) {
        one.wall_ns = call.wall_stop_ns - call.wall_start_ns;
        sums.wall_ns += one.wall_ns;
        if (numbers.any_wall) {
          numbers.wall_outside_ns += call.wall_start_ns - numbers.last_wall_ns;
        } else {
          numbers.first_wall_ns = call.wall_start_ns;
          numbers.any_wall = true;
        }
        numbers.last_wall_ns = call.wall_stop_ns;
      }
      if (call.has_cpu()) {
        one.cpu_ns = call.cpu_stop_ns - call.cpu_start_ns;
        sums.cpu_ns += one.cpu_ns;
        if (numbers.any_cpu) {
          numbers.cpu_outside_ns += call.cpu_start_ns - numbers.last_cpu_ns;
        } else {
          numbers.first_cpu_ns = call.cpu_start_ns;
          numbers.any_cpu = true;
        }
        numbers.last_cpu_ns = call.cpu_stop_ns;
      }
      const Role role = role_of(call.id);
      if (role != Role::other && role != Role::wait) {
        const Transfer transfer = transfer_of(call, tables, ByteRules::community);
        one.sent = transfer.sent;
        one.received = transfer.received;
        one.io = transfer.io;
        sums.sent += one.sent;
        sums.received += one.received;
        sums.io += one.io;
        const bool sends_message = role == Role::send || role == Role::send_init || role == Role::sendrecv;
        if (sends_message) {
          const std::size_t comm = role != Role::sendrecv ? 4 : call.id == ids::kSendrecv ? 8 : 6;
          message(tables.world_rank(tables.communicator(call.integer(comm)), call.integer(2)), transfer.sent);
          ++numbers.send_sizes[size_class(transfer.sent)];
        }
        if (role == Role::recv || role == Role::recv_init || role == Role::sendrecv) {
          ++numbers.recv_sizes[size_class(transfer.received)];
        }
      }
      if (!edges.empty() && call.has_wall() && call.wall_start_ns >= edges.front() &&
          call.wall_start_ns < edges.back()) {
        const auto bin = std::upper_bound(edges.begin(), edges.end(), call.wall_start_ns) - edges.begin() - 1;
        numbers.bins[static_cast<std::size_t>(bin)].add(one);
      }
      if (request.counters && call.counter_count > 0) {
        const std::size_t have = call.counter_count;
        if (numbers.last_counters.empty()) {
          numbers.counters_inside.assign(have, 0);
          numbers.counters_outside.assign(have, 0);
          for (std::size_t n = 0; n < have; ++n) numbers.first_counters.push_back(call.counter_in(n));
          numbers.last_counters = numbers.first_counters;
        }
        for (std::size_t n = 0; n < std::min(have, numbers.last_counters.size()); ++n) {
          numbers.counters_outside[n] += call.counter_in(n) - numbers.last_counters[n];
          numbers.counters_inside[n] += call.counter_out(n) - call.counter_in(n);
          numbers.last_counters[n] = call.counter_out(n);
        }
      }
      return true;
    });
  }
  for (const auto& [peer, entry] : sends) {
    numbers.sends[peer].first += entry.first;
    numbers.sends[peer].second += entry.second;
  }
  return numbers;
}

std::string seconds(std::int64_t ns) {
  const std::uint64_t magnitude = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  return fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", magnitude / 1'000'000'000, magnitude % 1'000'000'000);
}

StatisticsTable rank_table(const RankSet& set, const std::vector<RankNumbers>& numbers) {
  StatisticsTable table{"ranks",
                        {"rank", "calls", "first_s", "last_s", "active_s", "cpu_s", "cpu_outside_s", "wall_s",
                         "wall_outside_s", "sent", "received"},
                        {}};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Sums all;
    for (const Sums& sums : numbers[i].functions) all.add(sums);
    const RankNumbers& rank = numbers[i];
    table.rows.push_back({std::to_string(set.files()[i].rank), std::to_string(all.count), seconds(rank.first_wall_ns),
                          seconds(rank.last_wall_ns), seconds(rank.last_wall_ns - rank.first_wall_ns),
                          seconds(all.cpu_ns), seconds(rank.cpu_outside_ns), seconds(all.wall_ns),
                          seconds(rank.wall_outside_ns), std::to_string(all.sent), std::to_string(all.received)});
  }
  return table;
}

StatisticsTable rank_call_table(const RankSet& set, const std::vector<RankNumbers>& numbers) {
  StatisticsTable table{"rank_calls", {"rank", "call", "count", "wall_s", "cpu_s", "sent", "received", "bytes"}, {}};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t id = 0; id < kIds; ++id) {
      const Sums& sums = numbers[i].functions[id];
      if (sums.count == 0) continue;
      table.rows.push_back({std::to_string(set.files()[i].rank), std::string(functions()[id].name),
                            std::to_string(sums.count), seconds(sums.wall_ns), seconds(sums.cpu_ns),
                            std::to_string(sums.sent), std::to_string(sums.received),
                            std::to_string(sums.sent + sums.received + sums.io)});
    }
  }
  return table;
}

StatisticsTable bin_table(const RankSet& set, const std::vector<RankNumbers>& numbers, const Bins& bins) {
  StatisticsTable table{"bins", {"bin", "from_s", "to_s", "rank", "calls", "wall_s", "cpu_s", "sent", "received"}, {}};
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Sums& sums = numbers[i].bins[bin];
      if (sums.count == 0) continue;
      table.rows.push_back({std::to_string(bin), seconds(bins.edges_ns[bin]), seconds(bins.edges_ns[bin + 1]),
                            std::to_string(set.files()[i].rank), std::to_string(sums.count), seconds(sums.wall_ns),
                            seconds(sums.cpu_ns), std::to_string(sums.sent), std::to_string(sums.received)});
    }
  }
  return table;
}

StatisticsTable size_table(const std::vector<RankNumbers>& numbers) {
  StatisticsTable table{"sizes", {"from_bytes", "to_bytes", "sends", "receives"}, {}};
  for (std::size_t n = 0; n < kSizeClasses; ++n) {
    std::uint64_t sends = 0;
    std::uint64_t receives = 0;
    for (const RankNumbers& rank : numbers) {
      sends += rank.send_sizes[n];
      receives += rank.recv_sizes[n];
    }
    if (sends + receives == 0) continue;
    const std::uint64_t from = n == 0 ? 0 : std::uint64_t{1} << (n - 1);
    const std::uint64_t to = n == 0 ? 0 : 2 * from - 1;
    table.rows.push_back({std::to_string(from), std::to_string(to), std::to_string(sends), std::to_string(receives)});
  }
  return table;
}

StatisticsTable counter_table(const RankSet& set, const std::vector<RankNumbers>& numbers) {
  StatisticsTable table{"counters", {"rank", "counter", "inside", "outside"}, {}};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto& labels = set.files()[i].file.sections().counters;
    for (std::size_t n = 0; n < numbers[i].counters_inside.size(); ++n) {
      table.rows.push_back({std::to_string(set.files()[i].rank), n < labels.size() ? labels[n] : std::to_string(n),
                            std::to_string(numbers[i].counters_inside[n]),
                            std::to_string(numbers[i].counters_outside[n])});
    }
  }
  return table;
}

}  // namespace

Result<TraceStatistics> statistics(const RankSet& set, const StatisticsOptions& options) {
  static const std::vector<std::string> kTables = {"rank", "rank-call", "bin", "size", "counter"};
  Request request;
  FATHOM_TRY(request.calls, select_calls("all"));
  if (options.from_ns) request.window.from_ns = *options.from_ns;
  if (options.to_ns) request.window.to_ns = *options.to_ns;
  for (const std::string& by : options.by) {
    if (std::find(kTables.begin(), kTables.end(), by) == kTables.end()) {
      return Error::usage(fmt::format("there are no DUMPI statistics by '{}'{}", by, did_you_mean(by, kTables)))
          .hint(fmt::format("--by takes: {}", fmt::join(kTables, ", ")));
    }
  }
  const auto wants = [&](std::string_view table) {
    return std::find(options.by.begin(), options.by.end(), table) != options.by.end();
  };
  request.sizes = wants("size");
  request.counters = wants("counter");
  std::string range;
  std::string marks;
  for (const auto& [key, value] : options.options) {
    if (key == "calls") {
      FATHOM_TRY(request.calls, select_calls(value));
    } else if (key == "bins") {
      range = value;
    } else if (key == "mark") {
      marks = value;
    } else {
      return Error::usage(fmt::format("DUMPI statistics know no option '{}'", key))
          .hint("options: calls=GROUP|REGEX, bins=N|RANGE, mark=/BEGIN/END/");
    }
  }
  FATHOM_TRY(const auto* scans, set.scans());
  FATHOM_TRY(const Resolution resolution, resolve(set, *scans));
  if (wants("bin") || !range.empty()) {
    FATHOM_TRY(request.bins, parse_bins(range.empty() ? "10" : range, set, *scans));
  }
  if (!marks.empty()) {
    FATHOM_TRY(request.bins, bins_of_marks(marks, set, *scans));
  }

  // A few chunks of one rank are one piece of work; the pieces are put together in order, whoever made them.
  constexpr std::size_t kChunksPerPiece = 16;
  struct Piece {
    std::size_t file;
    std::size_t first;
    std::size_t count;
  };
  std::vector<Piece> pieces;
  std::vector<std::uint32_t> wanted;
  for (const std::string& label : options.locations) {
    const auto rank = parse_integer<std::uint32_t>(std::string_view(label).substr(0, label.find('.')));
    if (!rank || set.find(*rank) < 0) return Error::usage(fmt::format("there is no rank '{}'", label));
    wanted.push_back(*rank);
  }
  for (std::size_t i = 0; i < scans->size(); ++i) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), set.files()[i].rank) == wanted.end()) continue;
    for (std::size_t first = 0; first < (*scans)[i].chunks.size(); first += kChunksPerPiece) {
      pieces.push_back({i, first, std::min(kChunksPerPiece, (*scans)[i].chunks.size() - first)});
    }
  }
  std::vector<RankNumbers> numbers(scans->size());
  for (RankNumbers& rank : numbers) rank.bins.resize(request.bins.size());
  Progress progress("stats", pieces.size());
  // Rounds bound the memory of partial results.
  const std::size_t round = 64 * std::size_t{thread_count()};
  for (std::size_t begin = 0; begin < pieces.size(); begin += round) {
    const std::size_t many = std::min(round, pieces.size() - begin);
    std::vector<RankNumbers> parts(many);
    FATHOM_CHECK(parallel_for(many, [&](std::size_t n) -> Result<void> {
      const Piece& piece = pieces[begin + n];
      const RankFile& rank = set.files()[piece.file];
      parts[n] = count(rank.file, std::span((*scans)[piece.file].chunks).subspan(piece.first, piece.count),
                       Tables(rank.file, resolution, piece.file, rank.rank), request);
      progress.advance();
      return {};
    }));
    for (std::size_t n = 0; n < many; ++n) numbers[pieces[begin + n].file].append(parts[n]);
  }

  TraceStatistics result;
  bool any_wall = false;
  bool any_cpu = false;
  for (const RankNumbers& rank : numbers) {
    any_wall = any_wall || rank.any_wall;
    any_cpu = any_cpu || rank.any_cpu;
  }
  for (std::size_t id = 0; id < kIds; ++id) {
    Sums sums;
    for (const RankNumbers& rank : numbers) sums.add(rank.functions[id]);
    if (sums.count == 0) continue;
    CallStatistics call;
    call.name = functions()[id].name;
    call.count = sums.count;
    if (any_wall) call.wall_s = static_cast<double>(sums.wall_ns) / 1e9;
    if (any_cpu) call.cpu_s = static_cast<double>(sums.cpu_ns) / 1e9;
    const Role role = role_of(static_cast<std::uint16_t>(id));
    if (role != Role::other && role != Role::wait) {
      call.bytes = sums.sent + sums.received + sums.io;
      if (role != Role::io) {
        call.sent = sums.sent;
        call.received = sums.received;
      }
    }
    result.calls.push_back(std::move(call));
  }
  result.has_matrix = true;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (const auto& [peer, entry] : numbers[i].sends) {
      result.matrix.push_back({set.files()[i].rank, peer, entry.first, entry.second});
    }
  }
  if (wants("rank")) result.tables.push_back(rank_table(set, numbers));
  if (wants("rank-call")) result.tables.push_back(rank_call_table(set, numbers));
  if (request.bins.size() > 0) result.tables.push_back(bin_table(set, numbers, request.bins));
  if (request.sizes) result.tables.push_back(size_table(numbers));
  if (request.counters) result.tables.push_back(counter_table(set, numbers));
  return result;
}

}  // namespace fathom::dumpi
