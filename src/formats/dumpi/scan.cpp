#include "formats/dumpi/scan.hpp"

#include <fmt/format.h>

#include <bitset>
#include <set>

#include "base/cancel.hpp"

namespace fathom::dumpi {

namespace {

constexpr std::int32_t kAnySource = -1;
constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 18;

std::string what_went_wrong(Decoder::Outcome outcome, Bytes rest) {
  const std::byte* p = rest.data();
  const std::uint64_t left = rest.size();
  if (left < 2) return fmt::format("{} byte left where a record must begin", left);
  const auto id = detail::load<std::uint16_t>(p);
  const Function* found = function(id);
  switch (outcome) {
    case Decoder::Outcome::bad_id:
      return fmt::format("a record must begin with the id of a call (0..289, 291, 292) or 293 for the end, found {}",
                         id);
    case Decoder::Outcome::bad_count:
      return fmt::format("an array of {} has a count that makes no sense", found != nullptr ? found->name : "?");
    default:
      return fmt::format("the record of {} is not whole: {} bytes are left", found != nullptr ? found->name : "?",
                         left);
  }
}

}  // namespace

bool is_notable(std::uint16_t id) {
  static const std::bitset<kIds> notable = [] {
    std::bitset<kIds> set;
    for (const char* name : {"MPI_Comm_rank",
                             "MPI_Comm_group",
                             "MPI_Group_union",
                             "MPI_Group_intersection",
                             "MPI_Group_difference",
                             "MPI_Group_incl",
                             "MPI_Group_excl",
                             "MPI_Group_range_incl",
                             "MPI_Group_range_excl",
                             "MPI_Comm_dup",
                             "MPI_Comm_create",
                             "MPI_Comm_split",
                             "MPI_Comm_free",
                             "MPI_Comm_remote_group",
                             "MPI_Intercomm_create",
                             "MPI_Intercomm_merge",
                             "MPI_Cart_create",
                             "MPI_Graph_create",
                             "MPI_Cart_sub",
                             "MPI_Comm_accept",
                             "MPI_Comm_connect",
                             "MPI_Comm_spawn",
                             "MPI_Comm_spawn_multiple",
                             "MPI_Comm_join",
                             "MPI_Comm_get_parent",
                             "MPI_Type_contiguous",
                             "MPI_Type_vector",
                             "MPI_Type_hvector",
                             "MPI_Type_indexed",
                             "MPI_Type_hindexed",
                             "MPI_Type_struct",
                             "MPI_Type_size",
                             "MPI_Type_dup",
                             "MPI_Type_create_darray",
                             "MPI_Type_create_hindexed",
                             "MPI_Type_create_hvector",
                             "MPI_Type_create_indexed_block",
                             "MPI_Type_create_resized",
                             "MPI_Type_create_struct",
                             "MPI_Type_create_subarray",
                             "MPI_Type_match_size",
                             "MPI_Win_create",
                             "MPI_Win_post",
                             "MPI_Win_start",
                             "MPI_Win_get_group",
                             "MPI_File_get_group",
                             "MPI_File_open",
                             "MPI_Comm_size",
                             "MPI_Cart_get"}) {
      set.set(id_of(name));
    }
    return set;
  }();
  return id < kIds && notable[id];
}

namespace {

const std::byte* arguments_of(const std::byte* record) {
  const auto mask = static_cast<std::uint8_t>(record[2]);
  const std::byte* p = record + 3 + ((mask & kMaskThread) != 0 ? 2 : 0) + ((mask & kMaskCpu) != 0 ? 12 : 0) +
                       ((mask & kMaskWall) != 0 ? 12 : 0);
  if ((mask & kMaskCounters) != 0) p += 1 + 16 * static_cast<std::size_t>(*p);
  return p;
}

// Where the source stands in the arguments of a receive; 0 = it is none.
constexpr std::size_t source_place(std::uint16_t id) {
  switch (id) {
    case ids::kRecv:
    case ids::kIrecv:
    case ids::kRecvInit:  // count datatype source
      return 4 + 2;
    case ids::kSendrecv:  // sendcount sendtype dest sendtag recvcount recvtype source
      return 4 + 2 + 4 + 4 + 4 + 2;
    case ids::kSendrecvReplace:  // count datatype dest sendtag source
      return 4 + 2 + 4 + 4;
    default:
      return 0;
  }
}

// Programs ask for their rank, or the size of a type, again and again. The same question with the same answer tells
// nothing new until something is made.
class Questions {
 public:
  // Whether the record of a notable call is to be kept; `end` is behind it.
  bool is_news(std::uint16_t id, const std::byte* record, const std::byte* end) {
    if (id != ids::kCommRank && id != ids::kCommSize && id != ids::kCartGet && id != ids::kTypeSize &&
        id != ids::kWinPost && id != ids::kWinStart) {
      asked_.clear();
      return true;
    }
    const std::byte* const arguments = arguments_of(record);
    const std::string_view text(reinterpret_cast<const char*>(arguments), static_cast<std::size_t>(end - arguments));
    return asked_.emplace(id, text).second;
  }

 private:
  std::set<std::pair<std::uint16_t, std::string_view>> asked_;  // in the mapped file
};

}  // namespace

namespace {

// Whether the calls of every thread follow each other in time.
class Order {
 public:
  void add(std::uint16_t thread, Rollover::Times times) {
    if (last_stop_.size() <= thread)
      last_stop_.resize(thread + std::size_t{1}, std::numeric_limits<std::int64_t>::min());
    kept_ = kept_ && times.start_ns >= last_stop_[thread] && times.stop_ns >= times.start_ns;
    last_stop_[thread] = times.stop_ns;
  }
  [[nodiscard]] bool kept() const { return kept_; }

 private:
  std::vector<std::int64_t> last_stop_;
  bool kept_ = true;
};

}  // namespace

Result<ScanResult> scan(const File& file, const Work& work) {
  ScanResult result;
  Questions questions;
  const auto held = file.hold();
  const std::byte* const base = held->bytes().data();
  const std::byte* p = base + file.stream_begin();
  const std::byte* const end = base + file.stream_limit();
  const Decoder& decoder = file.decoder();
  std::bitset<65536> threads;
  std::uint16_t last_thread = 0;  // what is above need not be looked through
  std::array<bool, kIds> notable{};
  for (std::uint16_t id = 0; id < kIds; ++id) notable[id] = is_notable(id);
  bool finalized = false;
  std::uint8_t masks = 0;
  std::optional<Decoder::Outcome> stopped;
  Rollover rollover;
  Order wall_order, cpu_order;

  while (end - p >= 2) {
    const auto id = detail::load<std::uint16_t>(p);
    if (id == kEndOfStream) {
      result.end_mark = true;
      break;
    }
    // Files of the oldest tracers end with an id of 0 after Finalize.
    if (id == ids::kSend && finalized) break;
    const std::byte* const begin = p;
    if (const auto outcome = decoder.skip(p, end); outcome != Decoder::Outcome::ok) {
      stopped = outcome;
      break;
    }
    const auto offset = static_cast<std::uint64_t>(begin - base);
    if (result.chunks.empty() || offset - result.chunks.back().offset >= kChunkBytes) {
      if (!result.chunks.empty()) {
        Chunk& last = result.chunks.back();
        last.end = offset;
        last.records = result.records - last.first;
        if (cancelled()) return cancelled_error();
      }
      result.chunks.push_back({offset, result.records, 0, 0, rollover, {}, {}});
    }
    const auto mask = static_cast<std::uint8_t>(begin[2]);
    masks |= mask;
    const auto thread = (mask & kMaskThread) != 0 ? detail::load<std::uint16_t>(begin + 3) : std::uint16_t{0};
    threads.set(thread);
    last_thread = std::max(last_thread, thread);
    const Rollover::Passed times = rollover.pass(begin);
    Chunk& chunk = result.chunks.back();
    if ((mask & kMaskWall) != 0) {
      chunk.wall.add(times.wall);
      wall_order.add(thread, times.wall);
    } else {
      chunk.wall.all_timed = false;
    }
    if ((mask & kMaskCpu) != 0) {
      chunk.cpu.add(times.cpu);
      cpu_order.add(thread, times.cpu);
    } else {
      chunk.cpu.all_timed = false;
    }
    ++result.per_function[id];
    if (const std::size_t source = source_place(id); source != 0 && !result.any_source) {
      result.any_source = detail::load<std::int32_t>(arguments_of(begin) + source) == kAnySource;
    }
    if (notable[id] && questions.is_news(id, begin, p)) {
      result.notable.push_back(offset);
      result.notable_number.push_back(result.records);
    }
    finalized = finalized || id == ids::kFinalize;
    ++result.records;
  }
  result.end = static_cast<std::uint64_t>(p - base);
  if (!result.chunks.empty()) {
    Chunk& last = result.chunks.back();
    last.end = result.end;
    last.records = result.records - last.first;
  }
  result.any_wall = (masks & kMaskWall) != 0;
  result.any_cpu = (masks & kMaskCpu) != 0;
  result.in_order = result.any_wall ? wall_order.kept() : cpu_order.kept();
  for (std::size_t thread = 0; thread <= last_thread; ++thread) {
    if (threads[thread]) result.threads.push_back(static_cast<std::uint16_t>(thread));
  }

  const bool all_read = !stopped && (result.end_mark || file.stream_limit() - result.end < 2 || finalized);
  if (!all_read || (file.cut_off() && !result.end_mark && result.end != file.stream_limit())) {
    const auto outcome = stopped.value_or(Decoder::Outcome::short_of_bytes);
    result.damage = Error(what_went_wrong(outcome, Bytes(p, end)), file.place(result.end));
    // A cut file ends inside a record as a rule; in a whole one this is damage.
    const bool expected = file.cut_off() && outcome == Decoder::Outcome::short_of_bytes;
    FATHOM_CHECK(work->diagnostics.lost(
        expected ? "dumpi.cut_record" : "dumpi.damaged_record", file.place(result.end),
        fmt::format("{}; {} records before it are used", result.damage->what(), result.records)));
  }
  return result;
}

std::optional<TimeWindow> joined(const std::optional<TimeWindow>& a, const std::optional<TimeWindow>& b) {
  if (!a || !b) return a ? a : b;
  return TimeWindow{std::min(a->from_ns, b->from_ns), std::max(a->to_ns, b->to_ns)};
}

std::optional<TimeWindow> exact_span(const File& file, const ScanResult& scan) {
  const bool use_cpu = !scan.any_wall;
  if (use_cpu && !scan.any_cpu) return std::nullopt;
  const std::int64_t zero = use_cpu ? file.cpu_zero_ns() : file.wall_zero_ns();
  TimeWindow span{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  for (const Chunk& chunk : scan.chunks) {
    const TimeBounds& bounds = use_cpu ? chunk.cpu : chunk.wall;
    if (bounds.first_ns > bounds.last_ns) continue;  // without a time in it
    span.from_ns = std::min(span.from_ns, zero + bounds.first_ns);
    span.to_ns = std::max(span.to_ns, zero + bounds.last_ns);
  }
  return span;
}

}  // namespace fathom::dumpi
