#include "formats/dumpi/statistics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/share_out.hpp"
#include "base/text.hpp"
#include "formats/dumpi/requests.hpp"
#include "formats/dumpi/transfer.hpp"

namespace fathom::dumpi {

namespace {

// The numbers of a few chunks of one rank.
class Counter {
 public:
  Counter(const StatisticsRequest& request, std::size_t file, Tables tables, bool use_cpu)
      : request_(request),
        file_(file),
        use_cpu_(use_cpu),
        tables_(std::move(tables)),
        counters_(request.wants("counter")),
        bin_counters_(request.wants("bin-counter")),
        bin_calls_(request.wants("bin-call")),
        bin_sizes_(request.wants("bin-size")),
        bin_peers_(request.wants("bin-peer")) {}

  RankNumbers count(const File& file, std::span<const Chunk> chunks);

 private:
  void one(const Call& call);
  void bin(const Call& call, const Contribution& added);
  void message(std::int32_t peer, std::int64_t bytes);

  const StatisticsRequest& request_;
  std::size_t file_;
  bool use_cpu_;  // the only clock
  Tables tables_;
  bool counters_, bin_counters_, bin_calls_, bin_sizes_, bin_peers_;
  RankNumbers numbers_;
  // Messages by receiver; nearly all go to a few ranks, the last of which is tried first. A list beats a map for the
  // few peers that ranks have; where there are many they go to the map.
  std::vector<std::pair<std::int32_t, Messages>> peers_;
  std::size_t last_peer_ = 0;
};

void Counter::message(std::int32_t peer, std::int64_t bytes) {
  if (peer < 0) return;
  if (last_peer_ >= peers_.size() || peers_[last_peer_].first != peer) {
    last_peer_ = 0;
    while (last_peer_ < peers_.size() && peers_[last_peer_].first != peer) ++last_peer_;
    if (last_peer_ == peers_.size()) {
      if (peers_.size() >= 64) {
        numbers_.peers[peer].add(bytes);
        return;
      }
      peers_.push_back({peer, {}});
    }
  }
  peers_[last_peer_].second.add(bytes);
}

void Counter::one(const Call& call) {
  Contribution added;
  added.sums.count = 1;
  if (call.has_wall()) {
    added.sums.wall_ns = call.wall_stop_ns - call.wall_start_ns;
    numbers_.wall.add(call.wall_start_ns, call.wall_stop_ns);
  }
  if (call.has_cpu()) {
    added.sums.cpu_ns = call.cpu_stop_ns - call.cpu_start_ns;
    numbers_.cpu.add(call.cpu_start_ns, call.cpu_stop_ns);
  }
  const Role role = role_of(call.id);
  if (role != Role::other && role != Role::wait) {
    const Transfer transfer = transfer_of(call, tables_, ByteRules::community);
    added.sums.sent = transfer.sent;
    added.sums.received = transfer.received;
    added.sums.io = transfer.io;
    added.sends = role == Role::send || role == Role::send_init || role == Role::sendrecv;
    added.collective = role == Role::collective;
    added.receives = role == Role::recv || role == Role::recv_init || role == Role::sendrecv;
    if (added.sends) {
      const std::size_t comm = role != Role::sendrecv ? 4 : call.id == ids::kSendrecv ? 8 : 6;
      added.peer = tables_.world_rank(tables_.communicator(call.integer(comm)), call.integer(2));
      added.moves = role != Role::send_init || request_.persistent_when_made;
      ++numbers_.sizes[size_class(transfer.sent)].sends;
    }
    if (added.receives) ++numbers_.sizes[size_class(transfer.received)].receives;
  }
  if (role == Role::rma) {
    // count datatype targetrank ...: a Get brings data from there.
    const auto window = static_cast<std::size_t>(call.function().argument_count - 1);
    added.peer = tables_.world_rank(tables_.window(call.integer(window)), call.integer(2));
    added.fetches = call.id == ids::kGet;
    added.moves = !added.fetches;
  }
  if (added.moves) message(added.peer, added.sums.sent);
  if (added.fetches && added.peer >= 0) numbers_.fetched[added.peer].add(added.sums.received);
  numbers_.functions[call.id].add(added.sums);
  if (counters_ && call.counter_count > 0) add_counters(numbers_.counters, call, nullptr);
  if (request_.cuts.empty()) {
    count_columns(request_.columns, call, added, nullptr, numbers_.columns);
  } else if (call.has_wall()) {
    bin(call, added);
  }
}

void Counter::bin(const Call& call, const Contribution& added) {
  for (std::size_t cut = 0; cut < request_.cuts.size(); ++cut) {
    const Interval* piece = request_.cuts[cut].find(file_, call.wall_start_ns);
    if (piece == nullptr) continue;
    BinNumbers& bin = numbers_.bins[{cut, piece->bin}];
    bin.all.add(added.sums);
    count_columns(request_.columns, call, added, piece, bin.columns);
    bin.wall.add(call.wall_start_ns, call.wall_stop_ns, piece);
    if (call.has_cpu()) bin.cpu.add(call.cpu_start_ns, call.cpu_stop_ns, piece);
    if (bin_counters_ && call.counter_count > 0) add_counters(bin.counters, call, piece);
    if (bin_calls_) bin.calls[call.id].add(added.sums);
    if (bin_peers_ && added.peer >= 0) {
      if (added.moves) bin.peers[added.peer].add(added.sums.sent);
      if (added.fetches) bin.fetched[added.peer].add(added.sums.received);
    }
    if (!bin_sizes_) continue;
    if (added.sends) ++bin.sizes[size_class(added.sums.sent)].sends;
    if (added.receives) ++bin.sizes[size_class(added.sums.received)].receives;
  }
}

RankNumbers Counter::count(const File& file, std::span<const Chunk> chunks) {
  const TimeWindow& window = request_.window;
  const bool windowed = !window.everything();
  for (const Chunk& chunk : chunks) {
    const TimeBounds& bounds = use_cpu_ ? chunk.cpu : chunk.wall;
    const std::int64_t bias = use_cpu_ ? file.cpu_zero_ns() : file.wall_zero_ns();
    if (windowed && (bounds.ends_before(window.from_ns, bias) || bounds.begins_at_or_after(window.to_ns, bias))) {
      continue;
    }
    for_each_call(file, chunk, [&](const Call& call) {
      tables_.advance(call.number);
      if (!request_.calls[call.id]) return true;
      const bool timed = use_cpu_ ? call.has_cpu() : call.has_wall();
      const std::int64_t start = use_cpu_ ? call.cpu_start_ns : call.wall_start_ns;
      const bool outside = windowed && timed && (start < window.from_ns || start >= window.to_ns);
      if (!outside) one(call);
      return true;
    });
  }
  for (const auto& [peer, messages] : peers_) {
    numbers_.peers[peer].count += messages.count;
    numbers_.peers[peer].bytes += messages.bytes;
  }
  return std::move(numbers_);
}

bool starts_requests(const ScanResult& scan) {
  return scan.per_function[ids::kStart] + scan.per_function[ids::kStartall] > 0;
}

// Persistent sends move their data each time that they are started. They are chosen by that call or by the one that
// made them: a group of sends has the latter.
void count_started(std::size_t index, const File& file, const ScanResult& scan, Tables tables,
                   const StatisticsRequest& request, RankNumbers& numbers) {
  struct Listener {
    std::size_t index;
    const StatisticsRequest& request;
    const Tables& tables;
    RankNumbers& numbers;
    bool use_cpu;
    bool bins;
    std::unordered_map<std::uint64_t, bool> chosen{};  // by the record that made the request
    void begun(const Call& call, const Pending& pending) {
      if (!pending.persistent || pending.kind != Pending::Kind::send) return;
      if (!request.calls[call.id] && !chosen[pending.made]) return;
      const bool timed = use_cpu ? call.has_cpu() : call.has_wall();
      const std::int64_t start = use_cpu ? call.cpu_start_ns : call.wall_start_ns;
      if (timed && (start < request.window.from_ns || start >= request.window.to_ns)) return;
      const std::int32_t peer = tables.world_rank(pending.communicator, pending.peer);
      if (peer < 0) return;
      numbers.peers[peer].add(pending.bytes);
      for (std::size_t cut = 0; bins && call.has_wall() && cut < request.cuts.size(); ++cut) {
        const Interval* piece = request.cuts[cut].find(index, call.wall_start_ns);
        if (piece != nullptr) numbers.bins[{cut, piece->bin}].peers[peer].add(pending.bytes);
      }
    }
    void completed(const Call&, const Pending&, const Status*) {}
  };
  Listener listener{index, request, tables, numbers, !scan.any_wall && scan.any_cpu, request.wants("bin-peer")};
  Requests requests(file.decoder().rules());
  for (const Chunk& chunk : scan.chunks) {
    for_each_call(file, chunk, [&](const Call& call) {
      if (!touches_requests(call.id)) return true;
      tables.advance(call.number);
      if (role_of(call.id) == Role::send_init) listener.chosen[call.number] = request.calls[call.id];
      requests.follow(call, tables, 0, listener);
      return true;
    });
  }
}

using Text = Option<std::string>;
constexpr Text kCalls{"calls", "GROUP",
                      "only calls of a group (sends, recvs, coll, …) or that a regular expression matches"};
constexpr Text kBins{"bins", "N", "so many bins of time, or a range: 'mpi by 10'"};
constexpr Text kMark{"mark", "/BEGIN/END/", "bins between annotations that match"};
constexpr Text kGather{"gather", "/BEGIN/END/", "the same, all of them as one bin"};
constexpr Text kPersistent{"persistent", "WHEN",
                           "persistent sends count when started, or when made as the community's tool does",
                           "started made"};
constexpr Text kCount{"count", "GROUP", "a column: calls of the group"};
constexpr Text kTime{"time", "GROUP", "a column: time in calls of the group"};
constexpr Text kSent{"sent", "GROUP", "a column: bytes sent by calls of the group"};
constexpr Text kReceived{"recvd", "GROUP", "a column: bytes received by calls of the group"};
constexpr Text kExchange{"exchange", "GROUP", "columns: who sends how much to whom"};
constexpr Text kLump{"lump", "GROUP",
                     "columns: messages by size in powers of two, sent and received, those of collectives too"};
constexpr Text kCounters{"perfctr", "GROUP", "columns: the recorded counters"};

Result<StatisticsRequest> parse(const StatisticsOptions& options, const RankSet& set,
                                const std::vector<ScanResult>& scans) {
  StatisticsRequest request;
  FATHOM_TRY(request.calls, select_calls("all"));
  if (options.from_ns) request.window.from_ns = *options.from_ns;
  if (options.to_ns) request.window.to_ns = *options.to_ns;
  const auto names = table_names();
  for (const std::string& by : options.by) {
    if (std::find(names.begin(), names.end(), by) == names.end()) {
      return Error::usage(fmt::format("there are no DUMPI statistics by '{}'{}", by,
                                      did_you_mean(by, std::vector<std::string>(names.begin(), names.end()))))
          .hint(fmt::format("--by takes: {}", fmt::join(names, ", ")));
    }
    if (!request.wants(by)) request.tables.push_back(by);
  }
  for (const auto& [key, value] : options.options) {
    if (key == kCalls.name) {
      FATHOM_TRY(request.calls, select_calls(value));
    } else if (key == kBins.name) {
      FATHOM_TRY(request.cuts.emplace_back(), parse_bins(value, set, scans));
    } else if (key == kMark.name || key == kGather.name) {
      FATHOM_TRY(request.cuts.emplace_back(), bins_of_marks(value, key == kGather.name, set, scans));
    } else if (key == kPersistent.name) {
      if (value != "made" && value != "started") {
        return Error::usage(fmt::format("persistent={}: expected made or started", value));
      }
      request.persistent_when_made = value == "made";
    } else if (const auto kind = column_kind(key)) {
      FATHOM_TRY(const CallSelection selection, select_calls(value));
      request.columns.push_back({*kind, value, selection});
    } else {
      return find_option(statistics_options(), key, "dumpi, for statistics,").error();
    }
  }
  const bool by_bin = std::any_of(request.tables.begin(), request.tables.end(),
                                  [](const std::string& table) { return table.starts_with("bin"); });
  if (by_bin && request.cuts.empty()) {
    FATHOM_TRY(request.cuts.emplace_back(), parse_bins("10", set, scans));
  }
  if (!request.columns.empty()) {
    request.tables.emplace_back(request.cuts.empty() ? "columns" : "bin-columns");
  } else if (!by_bin && !request.cuts.empty()) {
    request.tables.emplace_back("bin");
  }
  return request;
}

Result<std::vector<RankNumbers>> count_all(const RankSet& set, const std::vector<ScanResult>& scans,
                                           const StatisticsOptions& options, const StatisticsRequest& request) {
  std::vector<std::uint32_t> wanted;
  for (const std::string& label : options.locations) {
    const auto rank = parse_integer<std::uint32_t>(label);
    if (!rank || set.find(*rank) < 0) {
      return Error::usage(fmt::format("there is no rank '{}'", label))
          .hint("statistics are kept by rank, not by thread");
    }
    wanted.push_back(*rank);
  }
  FATHOM_TRY(const Resolution resolution, resolve(set, scans));
  // A few chunks of one rank are one piece of work; the pieces are put together in order, whoever made them.
  constexpr std::size_t kChunksPerPiece = 16;
  struct Piece {
    std::size_t file;
    std::size_t first;
    std::size_t count;
    bool started = false;  // what persistent requests sent, instead of the chunks
  };
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < scans.size(); ++i) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), set.files()[i].rank) == wanted.end()) continue;
    for (std::size_t first = 0; first < scans[i].chunks.size(); first += kChunksPerPiece) {
      pieces.push_back({i, first, std::min(kChunksPerPiece, scans[i].chunks.size() - first)});
    }
    if (!request.persistent_when_made && starts_requests(scans[i])) {
      pieces.push_back({i, 0, scans[i].chunks.size(), true});
    }
  }
  std::vector<RankNumbers> numbers(scans.size());
  const auto count = [&](std::size_t n, RankNumbers& part) -> Result<void> {
    const Piece& piece = pieces[n];
    const RankFile& rank = set.files()[piece.file];
    const ScanResult& scan = scans[piece.file];
    Tables tables(rank.file, resolution, piece.file, rank.rank);
    if (piece.started) {
      count_started(piece.file, rank.file, scan, std::move(tables), request, part);
      return {};
    }
    Counter counter(request, piece.file, std::move(tables), !scan.any_wall && scan.any_cpu);
    part = counter.count(rank.file, std::span(scan.chunks).subspan(piece.first, piece.count));
    return {};
  };
  const auto bytes = [&](std::size_t n) {
    const auto& chunks = scans[pieces[n].file].chunks;
    return pieces[n].count == 0 ? 0
                                : chunks[pieces[n].first + pieces[n].count - 1].end - chunks[pieces[n].first].offset;
  };
  const auto append = [&](std::size_t n, const RankNumbers& part) { numbers[pieces[n].file].append(part); };
  FATHOM_CHECK(share_and_fold<RankNumbers>("stats", pieces.size(), bytes, count, append));
  return numbers;
}

}  // namespace

std::vector<const OptionDeclaration*> statistics_options() {
  return {&kCalls, &kBins, &kMark,     &kGather,   &kPersistent, &kCount,
          &kTime,  &kSent, &kReceived, &kExchange, &kLump,       &kCounters};
}

Result<TraceStatistics> statistics(const RankSet& set, const StatisticsOptions& options) {
  FATHOM_TRY(const auto* scans, set.scans());
  FATHOM_TRY(const StatisticsRequest request, parse(options, set, *scans));
  FATHOM_TRY(const std::vector<RankNumbers> numbers, count_all(set, *scans, options, request));
  TraceStatistics result;
  bool any_wall = false;
  bool any_cpu = false;
  for (const RankNumbers& rank : numbers) {
    any_wall = any_wall || rank.wall.any;
    any_cpu = any_cpu || rank.cpu.any;
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
  // What a rank fetched was sent by the other one.
  std::map<std::pair<std::int64_t, std::int64_t>, Messages> matrix;
  const auto add = [&](std::int64_t from, std::int64_t to, const Messages& messages) {
    Messages& cell = matrix[{from, to}];
    cell.count += messages.count;
    cell.bytes += messages.bytes;
  };
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto rank = std::int64_t{set.files()[i].rank};
    for (const auto& [peer, messages] : numbers[i].peers) add(rank, peer, messages);
    for (const auto& [peer, messages] : numbers[i].fetched) add(peer, rank, messages);
  }
  for (const auto& [ends, messages] : matrix) {
    result.matrix.push_back({ends.first, ends.second, messages.count, messages.bytes});
  }
  for (const std::string& table : request.tables) result.tables.push_back(make_table(table, set, numbers, request));
  return result;
}

}  // namespace fathom::dumpi
