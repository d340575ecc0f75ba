#include "formats/dumpi/call_facts.hpp"

#include "formats/dumpi/ids.hpp"

namespace fathom::dumpi {

namespace {

constexpr std::uint16_t kWinFence = 146;
constexpr std::uint16_t kWinFree = 147;
constexpr std::uint16_t kWinComplete = 144;
constexpr std::uint16_t kWinLock = 149;
constexpr std::uint16_t kWinUnlock = 153;
constexpr std::uint16_t kWinWait = 154;
constexpr std::int64_t kLockShared = 1;
constexpr std::uint16_t kFirstFileCall = 231;  // behind MPI_File_open
constexpr std::uint16_t kLastFileCall = 281;
constexpr std::int64_t kNoPrecede = 8;  // alone: combinations and none at all are stored as 255

void name(const CommunicatorView& view, Event& event) {
  if (view.global >= 0 && !view.self && !view.inter) {
    event.communicator = CommunicatorId(static_cast<std::size_t>(view.global));
  }
}

void name_window(std::int64_t window, const Tables& tables, Event& event) {
  name(tables.window(window), event);
  event.tag = tables.window_number(window);
}

}  // namespace

void add_facts_of_others(const Call& call, const Tables& tables, Event& event) {
  switch (call.id) {
    case ids::kCommDup:
    case ids::kCommCreate:
    case ids::kCommSplit:
    case ids::kCartCreate:
    case ids::kFileOpen:
      name(tables.communicator(call.integer(0)), event);
      return;
    case ids::kGraphCreate:
    case ids::kCartSub:
      name(tables.communicator(call.integer(1)), event);
      return;
    case ids::kWinCreate:
      name(tables.communicator(call.integer(3)), event);
      return;
    case kWinFence:
      name(tables.window(call.integer(1)), event);
      event.tag = call.integer(0) == kNoPrecede ? 1 : 0;
      return;
    case kWinFree:
      name(tables.window(call.integer(0)), event);
      return;
    case ids::kWinPost:
    case ids::kWinStart:
      name_window(call.integer(2), tables, event);
      if (const std::int64_t group = tables.group(call.integer(0)); group >= 0) {
        event.origin = static_cast<std::uint64_t>(group);
      }
      return;
    case kWinComplete:
    case kWinWait:
      name_window(call.integer(0), tables, event);
      return;
    case kWinLock:
      name_window(call.integer(3), tables, event);
      event.peer = tables.world_rank(tables.window(call.integer(3)), call.integer(1));
      event.origin = call.integer(0) == kLockShared ? 0 : 1;
      return;
    case kWinUnlock:
      name_window(call.integer(1), tables, event);
      event.peer = tables.world_rank(tables.window(call.integer(1)), call.integer(0));
      return;
    default:
      if (call.id >= kFirstFileCall && call.id <= kLastFileCall && call.function().argument_count > 0 &&
          call.function().argument[0].type == Type::file) {
        name(tables.file(call.integer(0)), event);
      }
  }
}

void add_probed(const Call& call, const Tables& tables, Event& event) {
  const Statuses statuses = call.statuses(3);
  if (statuses.empty()) return;
  const Status status = statuses[0];
  event.peer = tables.world_rank(tables.communicator(call.integer(2)), status.source);
  event.tag = status.tag;
}

std::int32_t zero_counts(const Call& call) {
  if (call.id != ids::kAlltoallv && call.id != ids::kAlltoallw) return 0;
  const Values counts = call.values(1);
  std::int32_t zero = 0;
  for (std::uint32_t i = 0; i < counts.size(); ++i) zero += counts[i] == 0 ? 1 : 0;
  return zero;
}

}  // namespace fathom::dumpi
