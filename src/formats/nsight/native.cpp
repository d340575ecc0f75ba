#include "formats/nsight/native.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "experiment/call_path.hpp"

namespace fathom::nsight {
namespace {

constexpr std::string_view kTables[] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
                                        "CUPTI_ACTIVITY_KIND_KERNEL",
                                        "CUPTI_ACTIVITY_KIND_MEMCPY",
                                        "CUPTI_ACTIVITY_KIND_MEMSET",
                                        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                        "NVTX_EVENTS",
                                        "EXTRAP_RESOLVED_CALLPATHS",
                                        "OSRT_API",
                                        "COMPOSITE_EVENTS",
                                        "SCHED_EVENTS",
                                        "MPI_P2P_EVENTS",
                                        "MPI_COLLECTIVES_EVENTS",
                                        "MPI_OTHER_EVENTS"};
constexpr std::string_view kResolved = kTables[6];
constexpr std::string_view kMarkerDomain = "de.tu-darmstadt.parallel.extra_prof";
constexpr std::int64_t kDomainCreated = 75;  // NVTX eventType
constexpr std::int64_t kPushPopRange = 59;
constexpr std::string_view kSymbolsBegin = "EXTRA_PROF_SYMBOLS";
constexpr std::string_view kSymbolsEnd = "EXTRA_PROF_SYMBOLS_END";
constexpr std::string_view kSymbolStart = "EP\x1f";
constexpr char kUnit = '\x1f';
// Times beyond this are no times; differences of smaller ones cannot overflow.
constexpr std::int64_t kLatest = std::int64_t{1} << 60;
constexpr std::int64_t kMostThreads = std::int64_t{1} << 31;

constexpr std::string_view kCopyKinds[] = {"UNKNOWN",
                                           "HOST_TO_DEVICE",
                                           "DEVICE_TO_HOST",
                                           "HOST_TO_DEVICE_ARRAY",
                                           "DEVICE_ARRAY_TO_HOST",
                                           "DEVICE_ARRAY_TO_DEVICE_ARRAY",
                                           "DEVICE_ARRAY_TO_DEVICE",
                                           "DEVICE_TO_DEVICE_ARRAY",
                                           "DEVICE_TO_DEVICE",
                                           "HOST_TO_HOST",
                                           "PEER_TO_PEER",
                                           "UMA_HOST_TO_DEVICE",
                                           "UMA_DEVICE_TO_HOST"};
constexpr std::string_view kSynchronizationKinds[] = {"UNKNOWN", "EVENT_SYNCHRONIZE", "STREAM_WAIT_EVENT",
                                                      "STREAM_SYNCHRONIZE", "CONTEXT_SYNCHRONIZE"};

template <std::size_t N>
std::string kind_name(const std::string_view (&names)[N], std::int64_t kind, std::string_view otherwise) {
  if (kind >= 0 && static_cast<std::size_t>(kind) < N) return std::string(names[static_cast<std::size_t>(kind)]);
  return fmt::format("{}{}", otherwise, kind);
}

class Reader {
 public:
  Reader(const Database& database, const Work& work) : database_(database), work_(work) {}

  Result<Report> read() {
    FATHOM_CHECK(read_strings());
    FATHOM_TRY(several_processes_, tells_processes());
    FATHOM_CHECK(read_calls());
    FATHOM_CHECK(read_kernels());
    FATHOM_CHECK(read_copies());
    FATHOM_CHECK(read_memsets());
    FATHOM_CHECK(read_synchronizations());
    FATHOM_CHECK(read_resolved());
    if (!report_.resolved) {
      FATHOM_CHECK(read_ranges());
      if (!report_.marked) FATHOM_CHECK(read_chains());
      FATHOM_CHECK(tell_mixed_processes());
    }
    return std::move(report_);
  }

 private:
  // Rows whose first two columns are start and end. Those that end before they start are left out with a warning.
  Result<void> timed(std::string_view table, std::vector<std::string> columns,
                     const std::function<void(const Row&, Interval)>& each, bool may_be_open = false) {
    if (!database_.has(table)) return {};
    FATHOM_TRY(const auto known, database_.columns(table));
    for (const char* needed : {"start", "end"}) {
      if (std::find(known.begin(), known.end(), needed) != known.end()) continue;
      return Error(fmt::format("table {} has no column '{}'", table, needed), Place::in(database_.blob().name()))
          .hint("this is no export of Nsight Systems: nsys export --type sqlite makes one");
    }
    columns.insert(columns.begin(), {"start", "end"});
    return database_.rows(table, columns, [&](const Row& row) -> Result<void> {
      if (may_be_open && row.null(1)) return {};
      const Interval at{row.integer(0), row.integer(1)};
      if (row.null(0) || row.null(1) || at.start < -kLatest || at.end > kLatest || at.end < at.start) {
        return work_->diagnostics.warn(
            "nsight.time", Place::in(database_.blob().name()),
            fmt::format("table {} has a row from {} to {}; it is left out", table, at.start, at.end));
      }
      each(row, at);
      return {};
    });
  }

  // Whether what a GPU did can be brought together with the calls of its own process. What Extra-P stored is by the
  // number of a call alone.
  Result<bool> tells_processes() {
    if (database_.has(kResolved)) return false;
    for (const std::string_view table : {kTables[1], kTables[2], kTables[3], kTables[4]}) {  // activities of a GPU
      if (!database_.has(table)) continue;
      FATHOM_TRY(const auto columns, database_.columns(table));
      if (std::find(columns.begin(), columns.end(), "globalPid") == columns.end()) return false;
    }
    return true;
  }

  // Where it cannot, and processes number their calls alike, what the GPU did stands under the call of one of them.
  Result<void> tell_mixed_processes() {
    if (several_processes_ || (report_.kernels.empty() && report_.copies.empty() && report_.memsets.empty())) return {};
    std::unordered_map<Correlation, std::int64_t> process_of;
    for (const ApiCall& call : report_.calls) {
      if (process_of.try_emplace(call.correlation, call.thread >> 24).first->second == call.thread >> 24) continue;
      return work_->diagnostics.warn("nsight.mixed_processes", Place::in(database_.blob().name()),
                                     "calls of several processes have the same numbers, and no column globalPid says "
                                     "whose kernels and copies are whose: they stand under the call recorded first");
    }
    return {};
  }

  // Every process counts its calls from 1. `where` is a globalTid or globalPid, whose lowest 24 bits are the thread.
  Correlation correlation(std::int64_t number, std::int64_t where) {
    if (!several_processes_ || number <= 0 || number > std::numeric_limits<std::uint32_t>::max()) return number;
    const auto index = static_cast<std::int64_t>(processes_.try_emplace(where >> 24, processes_.size()).first->second);
    return index << 32 | number;
  }

  [[nodiscard]] std::string_view string(std::int64_t id) const {
    const auto found = report_.strings.find(id);
    return found == report_.strings.end() ? std::string_view("[unknown]") : std::string_view(found->second);
  }
  // A name is the number of a string, or, in some exports, the string itself.
  std::string_view name(const Row& row, int column) {
    if (!row.is_text(column)) return string(row.integer(column));
    return *report_.names.emplace(row.text(column)).first;
  }

  Result<void> read_strings() {
    bool symbols = false;
    return database_.rows(
        "StringIds", {"id", "value"},
        [&](const Row& row) -> Result<void> {
          const std::string_view text = row.text(1);
          if (text == kSymbolsBegin) {
            symbols = true;
          } else if (text == kSymbolsEnd) {
            symbols = false;
          } else if (symbols && text.starts_with(kSymbolStart)) {
            const std::string_view entry = text.substr(kSymbolStart.size());
            const auto end = entry.find(kUnit);
            if (end != std::string_view::npos) {
              report_.symbols.try_emplace(std::string(entry.substr(0, end)), path_level(entry.substr(end + 1)));
            }
          }
          report_.strings.try_emplace(row.integer(0), text);
          return {};
        },
        "id");
  }

  Result<void> read_calls() {
    return timed(
        "CUPTI_ACTIVITY_KIND_RUNTIME", {"globalTid", "correlationId", "nameId", "callchainId"},
        [&](const Row& row, Interval at) {
          ApiCall call{at, row.integer(2), correlation(row.integer(3), row.integer(2)), string(row.integer(4)), {}};
          if (!row.null(5)) call.chain = row.integer(5);
          report_.calls.push_back(call);
        });
  }

  // The threads that a GPU of the target can hold at once; 0 = not known.
  Result<std::int64_t> resident_threads() {
    std::int64_t most = 0;
    const auto take = [&](const Row& row) -> Result<void> {
      const double threads = row.number(0) * row.number(1) * row.number(2);
      if (most == 0 && row.integer(3) > 0 && threads >= 1 && threads < static_cast<double>(kMostThreads)) {
        most = static_cast<std::int64_t>(threads);
      }
      return {};
    };
    FATHOM_CHECK(
        database_.rows("TARGET_INFO_GPU", {"smCount", "threadsPerWarp", "maxWarpsPerSm", "computeMajor"}, take));
    FATHOM_CHECK(database_.rows(
        "TARGET_INFO_CUDA_GPU",
        {"numMultiprocessors", "numThreadsPerWarp", "maxWarpsPerMultiprocessor", "computeCapabilityMajor"}, take));
    return most;
  }

  Result<void> read_kernels() {
    FATHOM_TRY(const std::int64_t most, resident_threads());
    const double roof = static_cast<double>(most > 0 ? most : kMostThreads);
    return timed("CUPTI_ACTIVITY_KIND_KERNEL",
                 {"correlationId", "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "globalPid"},
                 [&](const Row& row, Interval at) {
                   double threads = 1;
                   for (int c = 4; c < 10; ++c) threads *= row.number(c);
                   report_.kernels.push_back(
                       {at, correlation(row.integer(2), row.integer(10)), name(row, 3),
                        static_cast<std::int64_t>(threads > 0 ? std::min(threads, roof) : 0)});  // 0 of NaN
                 });
  }

  Result<void> read_copies() {
    return timed("CUPTI_ACTIVITY_KIND_MEMCPY",
                 {"correlationId", "copyKind", "srcKind", "dstKind", "bytes", "globalPid"},
                 [&](const Row& row, Interval at) {
                   const bool pageable = (!row.null(4) && row.integer(4) == 0) || (!row.null(5) && row.integer(5) == 0);
                   report_.copies.push_back({at, correlation(row.integer(2), row.integer(7)),
                                             kind_name(kCopyKinds, row.integer(3), "UNKNOWN_COPY_KIND_"), pageable,
                                             row.integer(6)});
                 });
  }

  Result<void> read_memsets() {
    return timed("CUPTI_ACTIVITY_KIND_MEMSET", {"correlationId", "memKind", "bytes", "value", "globalPid"},
                 [&](const Row& row, Interval at) {
                   report_.memsets.push_back({at, correlation(row.integer(2), row.integer(6)),
                                              fmt::format("MEMSET {}", row.integer(5)),
                                              !row.null(3) && row.integer(3) == 0, row.integer(4)});
                 });
  }

  Result<void> read_synchronizations() {
    return timed(
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {"correlationId", "syncType", "globalPid"},
        [&](const Row& row, Interval at) {
          report_.synchronizations.push_back({at, correlation(row.integer(2), row.integer(4)),
                                              kind_name(kSynchronizationKinds, row.integer(3), "UNKNOWN_SYNC_TYPE_")});
        });
  }

  Result<void> read_resolved() {
    if (!database_.has(kResolved) || database_.one_number("EXTRAP_FORMAT", "version").value_or(0) < 1) return {};
    FATHOM_TRY(const auto columns, database_.columns(kResolved));
    if (std::find(columns.begin(), columns.end(), "correlationId") == columns.end()) return {};
    report_.resolved.emplace();
    FATHOM_CHECK(database_.rows(kResolved, {"correlationId", "callpath", "stackDepth", "duration"},
                                [&](const Row& row) -> Result<void> {
                                  ResolvedPath path{{}, std::string(row.text(1)), row.integer(2), {}};
                                  if (!row.null(0)) path.correlation = row.integer(0);
                                  if (!row.null(3)) path.duration = row.number(3);
                                  report_.resolved->push_back(std::move(path));
                                  return {};
                                }));
    return database_.rows("EXTRAP_GPU_IDLE", {"callpath", "duration"}, [&](const Row& row) -> Result<void> {
      report_.idle.push_back({std::string(row.text(0)), row.number(1)});
      return {};
    });
  }

  Result<void> read_ranges() {
    std::optional<std::int64_t> domain;
    FATHOM_CHECK(
        database_.rows("NVTX_EVENTS", {"eventType", "text", "domainId", "textId"}, [&](const Row& row) -> Result<void> {
          if (!domain && row.integer(0) == kDomainCreated && text_of(row, 1, 3) == kMarkerDomain)
            domain = row.integer(2);
          return {};
        }));
    if (!domain) return {};
    report_.marked = true;
    return timed(
        "NVTX_EVENTS", {"eventType", "text", "domainId", "uint32Value", "globalTid", "textId"},
        [&](const Row& row, Interval at) {
          if (row.integer(2) != kPushPopRange || row.integer(4) != *domain || (row.null(3) && row.null(7))) return;
          report_.ranges.push_back({at, row.integer(6), std::string(text_of(row, 3, 7)), row.integer(5)});
        },
        true);
  }
  // A text that stands in the row or, registered, among the strings.
  [[nodiscard]] std::string_view text_of(const Row& row, int text, int id) const {
    if (!row.null(text)) return row.text(text);
    return row.null(id) ? std::string_view() : string(row.integer(id));
  }

  Result<void> read_chains() {
    // Outermost first; frames without a name are left out.
    return database_.rows(
        "CUDA_CALLCHAINS", {"id", "symbol", "unresolved"},
        [&](const Row& row) -> Result<void> {
          Chain& chain = report_.chains[row.integer(0)];  // is there also when no frame has a name
          if (!row.null(2) && row.integer(2) != 0) return {};
          if (chain.depth++ > 0) chain.path += "->";
          chain.path += path_level(name(row, 1));
          return {};
        },
        "id, stackDepth DESC");
  }

  const Database& database_;
  const Work& work_;
  Report report_;
  bool several_processes_ = false;
  std::unordered_map<std::int64_t, std::size_t> processes_;
};

}  // namespace

bool is_report(const Database& database) {
  return std::any_of(std::begin(kTables), std::end(kTables), [&](std::string_view t) { return database.has(t); });
}

Result<void> must_be_report(const Database& database) {
  if (is_report(database)) return {};
  return Error("is a SQLite database without a table of Nsight Systems (CUPTI_ACTIVITY_KIND_..., NVTX_EVENTS)",
               Place::in(database.blob().name()))
      .hint("nsys export --type sqlite makes one from a report");
}

Result<Report> read_report(const Database& database, const Work& work) {
  FATHOM_CHECK(must_be_report(database));
  return Reader(database, work).read();
}

}  // namespace fathom::nsight
