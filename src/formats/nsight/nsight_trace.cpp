#include "formats/nsight/nsight_trace.hpp"

#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "base/name_table.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/nsight/other_tables.hpp"
#include "formats/nsight/thread_samples.hpp"
#include "formats/nsight/trace_rows.hpp"

namespace fathom::nsight {

namespace {

constexpr std::int64_t kLatest = INT64_MAX / 2;

// Kinds of NVTX events.
enum : std::int64_t {
  kCategory = 33,
  kMark = 34,
  kThreadName = 39,
  kPushPop = 59,
  kStartEnd = 60,
  kDomain = 75,
  kDomainEnd = 76
};

std::string copy_name(std::int64_t kind) {
  switch (kind) {
    case 1:
      return "[CUDA memcpy HtoD]";
    case 2:
      return "[CUDA memcpy DtoH]";
    case 8:
      return "[CUDA memcpy DtoD]";
    case 10:
      return "[CUDA memcpy PtoP]";
    case 11:
      return "[CUDA Unified Memory memcpy HtoD]";
    case 12:
      return "[CUDA Unified Memory memcpy DtoH]";
    case 13:
      return "[CUDA Unified Memory memcpy DtoD]";
    default:
      return fmt::format("[CUDA memcpy kind {}]", kind);
  }
}

}  // namespace

class TraceReader {
 public:
  TraceReader(NsightTrace& trace, const Database& database)
      : trace_(trace), store_(trace.store_), database_(database), place_(Place::in(database.blob().name())) {}

  Result<void> read() {
    FATHOM_CHECK(read_names());
    FATHOM_CHECK(read_calls("CUPTI_ACTIVITY_KIND_RUNTIME", "cuda"));
    FATHOM_CHECK(read_gpu());
    FATHOM_CHECK(read_calls("OSRT_API", "system"));
    FATHOM_CHECK(read_calls("CUBLAS_EVENTS", "cublas"));
    FATHOM_CHECK(read_calls("CUDNN_EVENTS", "cudnn"));
    FATHOM_CHECK(read_nvtx());
    FATHOM_CHECK(read_mpi());
    FATHOM_CHECK(read_scheduling());
    FATHOM_CHECK(read_samples());
    FATHOM_CHECK(note());
    FATHOM_CHECK(note_other_tables(database_, trace_.work_->diagnostics));
    return finish();
  }

 private:
  std::uint32_t region(std::string_view name, std::string_view paradigm, std::string_view role = "function") {
    const std::uint32_t number = regions_.add(name);
    if (number == trace_.definitions_.regions.size()) {
      Region made;
      made.name = name;
      made.paradigm = paradigm;
      made.role = role;
      made.file_id = number;
      trace_.definitions_.regions.push_back(std::move(made));
    }
    return number;
  }
  std::string_view text(const Row& row, int column) {
    if (row.null(column)) return {};
    if (row.is_text(column)) return row.text(column);
    const auto found = strings_.find(row.integer(column));
    if (found != strings_.end()) return found->second.text;
    ++unknown_names_;
    return {};
  }
  // The region of a name, which as a rule is the number of a text: then it is looked up by that.
  std::uint32_t region(const Row& row, int column, std::string_view paradigm) {
    if (row.null(column) || row.is_text(column)) return region(text(row, column), paradigm);
    const auto found = strings_.find(row.integer(column));
    if (found == strings_.end()) return region(text(row, column), paradigm);
    if (found->second.region == kNoRegion) found->second.region = region(found->second.text, paradigm);
    return found->second.region;
  }
  // False = it is none; an interval without an end has the second empty.
  bool interval(const Row& row, int start, int end, std::int64_t& from, std::optional<std::int64_t>& to) {
    if (row.null(start)) {
      ++bad_;
      return false;
    }
    from = row.integer(start);
    to = row.null(end) ? std::nullopt : std::optional(row.integer(end));
    if (from < -kLatest || from > kLatest || (to && (*to < from || *to > kLatest))) {
      ++bad_;
      return false;
    }
    ++record_;
    return true;
  }
  void slice(std::uint32_t at, std::int64_t from, std::optional<std::int64_t> to, std::uint32_t what) {
    if (to) {
      store_.slice(at, from, *to, what, record_);
    } else {
      store_.begin(at, from, what, record_);
    }
  }
  // The record of the call that started what the GPU does, so that it can be said where that comes from.
  [[nodiscard]] std::uint64_t launch_of(const Row& row, int process, int correlation) const {
    if (row.null(correlation)) return Event::kNoRecord;
    const auto found = launches_.find({process_of(row.integer(process)), row.integer(correlation)});
    return found == launches_.end() ? Event::kNoRecord : found->second;
  }
  void marker(std::uint32_t at, std::int64_t time, std::string_view name, MarkerMeaning meaning, std::int64_t bytes,
              std::uint64_t origin = Event::kNoRecord) {
    Event event;
    event.origin = origin;
    event.kind = EventKind::marker;
    event.time_ns = time;
    event.record = record_;
    event.name = markers_.add(name);
    event.bytes = bytes;
    event.peer = kUnknownPeer;
    event.has_value = false;
    if (event.name == trace_.meanings_.size()) trace_.meanings_.push_back(meaning);
    store_.point(at, event);
  }

  Result<void> read_names() {
    std::uint64_t bytes = 0;
    FATHOM_CHECK(database_.rows("StringIds", {"id", "value"}, [&](const Row& row) -> Result<void> {
      bytes += row.text(1).size() + 64;
      if (bytes > reserved_) {
        reserved_ = std::max<std::uint64_t>(2 * bytes, 1 << 20);
        FATHOM_TRY(reservation_, trace_.work_->budget.reserve(reserved_, "names of an Nsight Systems database"));
      }
      strings_.emplace(row.integer(0), Text{std::string(row.text(1))});
      return {};
    }));
    FATHOM_CHECK(database_.rows("ThreadNames", {"globalTid", "nameId"}, [&](const Row& row) -> Result<void> {
      rows_.name_thread(row.integer(0), std::string(text(row, 1)));
      return {};
    }));
    FATHOM_CHECK(database_.rows("PROCESSES", {"globalPid", "name"}, [&](const Row& row) -> Result<void> {
      rows_.name_process(row.integer(0), std::string(text(row, 1)));
      return {};
    }));
    FATHOM_CHECK(database_.rows("MPI_RANKS", {"globalTid", "rank"}, [&](const Row& row) -> Result<void> {
      rows_.rank_of_process(row.integer(0), row.integer(1));
      return {};
    }));
    return database_.rows("TARGET_INFO_GPU", {"id", "name"}, [&](const Row& row) -> Result<void> {
      rows_.name_gpu(row.integer(0), std::string(text(row, 1)));
      return {};
    });
  }

  Result<void> read_gpu() {
    std::int64_t from = 0;
    std::optional<std::int64_t> to;
    const std::vector<std::string> where = {"start",     "end",      "globalPid",    "deviceId",
                                            "contextId", "streamId", "correlationId"};
    const auto with = [&](std::initializer_list<const char*> more) {
      std::vector<std::string> columns = where;
      columns.insert(columns.end(), more.begin(), more.end());
      return columns;
    };
    const auto stream = [&](const Row& one) {
      return rows_.stream(one.integer(2), one.integer(3), one.integer(4), one.integer(5));
    };
    FATHOM_CHECK(database_.rows("CUPTI_ACTIVITY_KIND_KERNEL", with({"demangledName", "shortName"}),
                                [&](const Row& one) -> Result<void> {
                                  if (!interval(one, 0, 1, from, to)) return {};
                                  std::string_view name = text(one, 7);
                                  if (name.empty()) name = text(one, 8);
                                  const std::uint32_t at = stream(one);
                                  slice(at, from, to, region(name, "cuda", "kernel"));
                                  const std::uint64_t launch = launch_of(one, 2, 6);
                                  if (launch == Event::kNoRecord) return {};
                                  marker(at, from, "launch", MarkerMeaning::none, 0, launch);
                                  return {};
                                }));
    FATHOM_CHECK(
        database_.rows("CUPTI_ACTIVITY_KIND_MEMCPY", with({"copyKind", "bytes"}), [&](const Row& one) -> Result<void> {
          if (!interval(one, 0, 1, from, to)) return {};
          const std::int64_t kind = one.integer(7);
          const std::string name = copy_name(kind);
          slice(stream(one), from, to, region(name, "cuda", "copy"));
          marker(stream(one), from, name, kind == 2 ? MarkerMeaning::get : MarkerMeaning::put, one.integer(8),
                 launch_of(one, 2, 6));
          return {};
        }));
    FATHOM_CHECK(database_.rows("CUPTI_ACTIVITY_KIND_MEMSET", with({"bytes"}), [&](const Row& one) -> Result<void> {
      if (!interval(one, 0, 1, from, to)) return {};
      slice(stream(one), from, to, region("[CUDA memset]", "cuda", "copy"));
      marker(stream(one), from, "[CUDA memset]", MarkerMeaning::put, one.integer(7), launch_of(one, 2, 6));
      return {};
    }));
    // A graph of kernels and copies that was recorded as a whole.
    FATHOM_CHECK(
        database_.rows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", with({"graphId"}), [&](const Row& one) -> Result<void> {
          if (!interval(one, 0, 1, from, to)) return {};
          slice(stream(one), from, to, region(fmt::format("[CUDA graph {}]", one.integer(7)), "cuda", "kernel"));
          const std::uint64_t launch = launch_of(one, 2, 6);
          if (launch != Event::kNoRecord) marker(stream(one), from, "launch", MarkerMeaning::none, 0, launch);
          return {};
        }));
    return database_.rows(
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", with({"syncType"}), [&](const Row& one) -> Result<void> {
          if (!interval(one, 0, 1, from, to)) return {};
          marker(stream(one), from, fmt::format("synchronisation of kind {}", one.integer(7)), MarkerMeaning::none, 0);
          return {};
        });
  }

  // Exports with backtraces hold every call twice: classes 0 (runtime) and 1 (driver) are the calls.
  Result<void> read_calls(std::string_view table, std::string_view paradigm) {
    std::int64_t from = 0;
    std::optional<std::int64_t> to;
    return database_.rows(table, {"start", "end", "globalTid", "nameId", "eventClass", "correlationId"},
                          [&](const Row& one) -> Result<void> {
                            if (paradigm == "cuda" && !one.null(4) && one.integer(4) != 0 && one.integer(4) != 1) {
                              ++repeated_;
                              return {};
                            }
                            if (!interval(one, 0, 1, from, to)) return {};
                            slice(rows_.thread(one.integer(2)), from, to, region(one, 3, paradigm));
                            if (!one.null(5)) {
                              launches_.emplace(std::pair(process_of(one.integer(2)), one.integer(5)), record_);
                            }
                            return {};
                          });
  }

  Result<void> read_nvtx() {
    const std::vector<std::string> columns = {"start", "end", "eventType", "text", "textId", "globalTid", "domainId"};
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> domains;  // by process and number
    const auto text_of = [&](const Row& one) { return one.null(3) ? text(one, 4) : text(one, 3); };
    FATHOM_CHECK(database_.rows("NVTX_EVENTS", columns, [&](const Row& one) -> Result<void> {
      if (one.integer(2) == kDomain) {
        domains[{process_of(one.integer(5)), one.integer(6)}] = std::string(text_of(one));
      } else if (one.integer(2) == kThreadName) {
        rows_.name_thread(one.integer(5), std::string(text_of(one)));
      }
      return {};
    }));
    std::int64_t from = 0;
    std::optional<std::int64_t> to;
    return database_.rows("NVTX_EVENTS", columns, [&](const Row& one) -> Result<void> {
      const std::int64_t kind = one.integer(2);
      if (kind != kPushPop && kind != kStartEnd && kind != kMark) {
        if (kind != kCategory && kind != kThreadName && kind != kDomain && kind != kDomainEnd) ++unknown_nvtx_;
        return {};
      }
      if (!interval(one, 0, 1, from, to)) return {};
      const std::string_view name = text_of(one);
      if (kind == kMark) {
        marker(rows_.thread(one.integer(5)), from, name, MarkerMeaning::none, 0);
        return {};
      }
      const auto domain = domains.find({process_of(one.integer(5)), one.integer(6)});
      const std::uint32_t what = region(name, domain == domains.end() ? "nvtx" : to_lower(domain->second));
      if (kind == kPushPop) {
        slice(rows_.thread(one.integer(5)), from, to, what);
      } else {
        const std::uint32_t at = rows_.ranges(one.integer(5));
        store_.begin_floating(at, record_, from, what, record_);
        if (to) store_.end_floating(at, record_, *to, what, record_);
      }
      return {};
    });
  }

  // Columns beyond the times differ between versions: what a table lacks is not known.
  Result<void> read_mpi() {
    std::int64_t from = 0;
    std::optional<std::int64_t> to;
    const std::vector<std::string> columns = {"start", "end",        "globalTid", "textId",   "commHandle",
                                              "tag",   "remoteRank", "size",      "rootRank", "recvSize"};
    for (const char* table :
         {"MPI_P2P_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS", "MPI_COLLECTIVES_EVENTS"}) {
      const std::string_view name_of_table = table;
      FATHOM_CHECK(database_.rows(table, columns, [&](const Row& one) -> Result<void> {
        if (!interval(one, 0, 1, from, to)) return {};
        const std::string_view name = text(one, 3);
        const std::uint32_t at = rows_.thread(one.integer(2));
        const std::uint32_t what = region(name, "mpi");
        slice(at, from, to, what);
        Event event;
        event.name = what;
        event.record = record_;
        event.communicator = CommunicatorId(
            communicators_.add(one.null(4) ? std::string("world") : fmt::format("comm {}", one.integer(4))));
        const auto small = [&](int column, std::int32_t otherwise) {
          return one.null(column) ? otherwise : static_cast<std::int32_t>(one.integer(column));
        };
        if (name_of_table == "MPI_COLLECTIVES_EVENTS") {
          event.kind = EventKind::collective;
          event.time_ns = to.value_or(from);
          event.peer = small(8, kNoPeer);
          event.bytes = one.null(7) ? 0 : one.integer(7);
          event.value = one.null(9) ? 0 : one.integer(9);
          store_.point(at, event);
        } else if (name_of_table == "MPI_P2P_EVENTS" && !one.null(6)) {
          const bool receives = name.find("ecv") != std::string_view::npos;
          event.kind = receives ? EventKind::recv : EventKind::send;
          event.time_ns = receives ? to.value_or(from) : from;
          event.peer = small(6, kUnknownPeer);
          event.tag = small(5, 0);
          event.bytes = one.null(7) ? 0 : one.integer(7);
          event.has_value = false;
          store_.point(at, event);
        }
        return {};
      }));
    }
    return {};
  }

  Result<void> read_scheduling() {
    FATHOM_CHECK(
        database_.rows("SCHED_EVENTS", {"start", "cpu", "isSchedIn", "globalTid"}, [&](const Row& one) -> Result<void> {
          if (one.null(0) || one.null(3) || one.integer(0) < -kLatest || one.integer(0) > kLatest) {
            ++bad_;
            return {};
          }
          Event event;
          event.kind = EventKind::state;
          event.time_ns = one.integer(0);
          event.record = ++record_;
          event.name = 0;
          event.has_value = one.integer(2) != 0;
          event.value = one.integer(1);
          store_.point(rows_.thread(one.integer(3)), event);
          scheduled_ = true;
          return {};
        }));
    return {};
  }

  Result<void> read_samples() {
    FATHOM_CHECK(samples_.read_chains(database_, [&](const Row& row, int name, int module) {
      const std::string_view symbol = text(row, name);
      const std::uint32_t number = region(symbol.empty() ? "[unknown]" : symbol, "");
      Region& made = trace_.definitions_.regions[number];
      if (made.module.empty()) made.module = text(row, module);
      return number;
    }));
    return samples_.read(database_, [&](const ThreadSamples::Sample& sample) {
      if (sample.time_ns < -kLatest || sample.time_ns > kLatest) {
        ++bad_;
        return;
      }
      if (sample.context == ThreadSamples::kNone) {
        ++chainless_;
        return;
      }
      Event event;
      event.kind = EventKind::sample;
      event.time_ns = sample.time_ns;
      event.record = ++record_;
      event.name = sample.context;
      store_.point(rows_.thread(sample.global_thread), event);
    });
  }

  Result<void> note() const {
    Diagnostics& diagnostics = trace_.work_->diagnostics;
    if (repeated_ > 0) {
      diagnostics.info("nsight.repeated_calls", place_,
                       fmt::format("{} records of backtraces repeat calls and are left out", grouped(repeated_)));
    }
    if (unknown_nvtx_ > 0) {
      diagnostics.info("nsight.nvtx_kind", place_,
                       fmt::format("{} NVTX events of unknown kinds are left out", grouped(unknown_nvtx_)));
    }
    if (chainless_ > 0) {
      diagnostics.info("nsight.samples", place_,
                       fmt::format("{} samples without a call chain are left out", grouped(chainless_)));
    }
    if (unknown_names_ > 0) {
      FATHOM_CHECK(diagnostics.add(
          "nsight.unknown_name", Severity::warning, place_,
          fmt::format("{} names are not in StringIds; what has them has no name", grouped(unknown_names_)),
          unknown_names_));
    }
    if (bad_ == 0) return {};
    return diagnostics.add("nsight.bad_interval", Severity::data_loss, place_,
                           fmt::format("{} rows without a usable start and end are left out", grouped(bad_)), bad_);
  }

  Result<void> finish() {
    Definitions& definitions = trace_.definitions_;
    trace_.markers_.assign(markers_.texts().begin(), markers_.texts().end());
    for (const std::string& name : communicators_.texts()) trace_.communicators_.push_back({name, {}, {}});
    if (!samples_.empty()) {
      std::vector<ContextId> numbers;
      definitions.contexts = std::move(samples_).build(numbers);
      for (Event& event : store_.points()) {
        if (event.kind == EventKind::sample) event.name = numbers[event.name].value;
      }
    }
    if (scheduled_) trace_.channels_.push_back({"cpu", "CPU", false, {}});
    return trace_.finish(rows_.places(definitions.system), rows_.count(), place_);
  }

  NsightTrace& trace_;
  SliceStore& store_;
  const Database& database_;
  Place place_;
  static constexpr std::uint32_t kNoRegion = UINT32_MAX;
  struct Text {
    std::string text;
    std::uint32_t region = kNoRegion;  // once it is known
  };
  std::unordered_map<std::int64_t, Text> strings_;
  std::uint64_t reserved_ = 0;
  Budget::Reservation reservation_;
  TraceRows rows_;
  NameTable regions_, markers_, communicators_;
  struct OfCall {
    std::size_t operator()(const std::pair<std::int64_t, std::int64_t>& call) const {
      return static_cast<std::size_t>((static_cast<std::uint64_t>(call.first) << 32) ^
                                      static_cast<std::uint64_t>(call.second)) *
             0x9E3779B97F4A7C15U;
    }
  };
  // Records, by process and correlation.
  std::unordered_map<std::pair<std::int64_t, std::int64_t>, std::uint64_t, OfCall> launches_;
  ThreadSamples samples_;
  std::uint64_t record_ = 0, bad_ = 0, repeated_ = 0, chainless_ = 0, unknown_nvtx_ = 0, unknown_names_ = 0;
  bool scheduled_ = false;
};

Result<std::shared_ptr<const Trace>> NsightTrace::read(const Database& database, const Work& work) {
  auto trace = std::make_shared<NsightTrace>(work);
  FATHOM_CHECK(TraceReader(*trace, database).read());
  return std::shared_ptr<const Trace>(std::move(trace));
}

}  // namespace fathom::nsight
