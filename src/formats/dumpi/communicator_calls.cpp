#include "formats/dumpi/communicator_calls.hpp"

#include <unordered_map>

namespace fathom::dumpi {

namespace {

constexpr std::int64_t kCommWorld = 2;

std::vector<std::int64_t> list_of(const Values& values) {
  std::vector<std::int64_t> list(values.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) list[i] = values[i];
  return list;
}

// Rows of (first, last, stride), as they stand in the file.
std::vector<std::int64_t> ranges_of(const Call& call, std::size_t argument) {
  std::vector<std::int64_t> list;
  const std::byte* p = call.raw(argument);
  if (p == nullptr) return list;
  const auto rows = detail::load<std::uint32_t>(p);
  p += 4;
  for (std::uint32_t row = 0; row < rows; ++row, p += 16) {
    for (std::size_t n = 0; n < 3; ++n) list.push_back(detail::load<std::int32_t>(p + 4 + 4 * n));
  }
  return list;
}

// The comments name the arguments by position.
bool reduce(const Call& call, CommunicatorCall& to, bool& makes_communicator) {
  const auto set = [&](std::size_t object, std::size_t result) {
    to.object = call.integer(object);
    to.result = call.integer(result);
  };
  makes_communicator = true;
  switch (call.id) {
    case ids::kCommGroup:
    case ids::kCommRemoteGroup:
    case ids::kWinGetGroup:
    case ids::kFileGetGroup:
      makes_communicator = false;
      set(0, 1);
      return true;
    case ids::kGroupUnion:
    case ids::kGroupIntersection:
    case ids::kGroupDifference:
      makes_communicator = false;
      set(0, 2);
      to.a = call.integer(1);
      return true;
    case ids::kGroupIncl:
    case ids::kGroupExcl:
      makes_communicator = false;
      set(0, 3);
      to.list = list_of(call.values(2));
      return true;
    case ids::kGroupRangeIncl:
    case ids::kGroupRangeExcl:
      makes_communicator = false;
      set(0, 3);
      to.list = ranges_of(call, 2);
      return true;
    case ids::kWinCreate:  // size dispunit info comm win
      makes_communicator = false;
      set(3, 4);
      return true;
    case ids::kWinPost:
    case ids::kWinStart:  // group assertion win
      makes_communicator = false;
      set(0, 0);
      return true;
    case ids::kFileOpen:
      makes_communicator = false;
      set(0, 4);
      return true;
    case ids::kCommFree:
      makes_communicator = false;
      set(0, 0);
      return true;
    case ids::kCommDup:
      set(0, 1);
      return true;
    case ids::kCommCreate:  // oldcomm group newcomm
      set(0, 2);
      to.a = call.integer(1);
      return true;
    case ids::kCommSplit:  // oldcomm color key newcomm
      set(0, 3);
      to.a = call.integer(1);
      to.b = call.integer(2);
      return true;
    case ids::kIntercommCreate:  // local communicator, local leader, peer communicator, remote leader, tag, new one
      set(0, 5);
      to.a = call.integer(1);
      to.b = call.integer(2);
      to.c = call.integer(3);
      to.list = {call.integer(4)};
      return true;
    case ids::kIntercommMerge:  // comm high newcomm
      set(0, 2);
      to.a = call.integer(1);
      return true;
    case ids::kCartCreate:  // oldcomm ndims dims periods reorder newcomm
      set(0, 5);
      to.list = list_of(call.values(2));
      to.a = call.integer(4);
      return true;
    case ids::kGraphCreate:  // numedges oldcomm nodes index edges reorder newcomm
      set(1, 6);
      to.a = call.integer(5);
      to.b = call.integer(2);
      return true;
    case ids::kCartSub:  // ndims oldcomm remains newcomm
      set(1, 3);
      to.list = list_of(call.values(2));
      return true;
    case ids::kCommAccept:
    case ids::kCommConnect:  // portname info root oldcomm newcomm
      set(3, 4);
      return true;
    case ids::kCommSpawn:  // oldcommrank root oldcomm newcomm command argv maxprocs info errcodes
      set(2, 3);
      to.a = call.values(8).size();
      return true;
    case ids::kCommSpawnMultiple:  // totprocs oldcommrank root oldcomm newcomm count ... errcodes
      set(3, 4);
      to.a = call.values(10).size();
      return true;
    case ids::kCommGetParent:
      to.result = call.integer(0);
      return true;
    case ids::kCommJoin:  // fd comm
      to.result = call.integer(1);
      return true;
    default:
      return false;
  }
}

}  // namespace

CommunicatorCalls communicator_calls(const File& file, const ScanResult& scan) {
  CommunicatorCalls found;
  std::unordered_map<std::int64_t, std::size_t> maker;  // of a communicator by its local id
  if (scan.notable.empty()) return found;
  const auto held = file.hold();
  const std::byte* const base = held->bytes().data();
  Call call;
  for (std::size_t n = 0; n < scan.notable.size(); ++n) {
    if (file.decoder().decode(base + scan.notable[n], base + scan.end, call) != Decoder::Outcome::ok) continue;
    const auto tell = [&](std::int64_t comm, std::int64_t CommunicatorCall::*what, std::int64_t value) {
      const auto it = maker.find(comm);
      if (it != maker.end() && found.calls[it->second].*what < 0) found.calls[it->second].*what = value;
    };
    if (call.id == ids::kCommRank) {
      tell(call.integer(0), &CommunicatorCall::told_rank, call.integer(1));
    } else if (call.id == ids::kCommSize) {
      tell(call.integer(0), &CommunicatorCall::told_size, call.integer(1));
      if (call.integer(0) == kCommWorld) found.world_size = call.integer(1);
    } else if (call.id == ids::kCartGet) {
      // Own coordinates are an own rank, the last dimension runs fastest.
      const Values widths = call.values(3);
      const Values coordinates = call.values(5);
      std::uint64_t rank = 0;
      for (std::uint32_t d = 0; d < widths.size() && d < coordinates.size(); ++d) {
        rank = rank * static_cast<std::uint64_t>(widths[d]) + static_cast<std::uint64_t>(coordinates[d]);
      }
      // Old files keep one coordinate only.
      if (!file.decoder().rules().single_coords) {
        tell(call.integer(1), &CommunicatorCall::told_rank, static_cast<std::int64_t>(rank));
      }
    } else {
      CommunicatorCall reduced;
      bool makes_communicator = false;
      if (!reduce(call, reduced, makes_communicator)) continue;
      reduced.id = call.id;
      reduced.number = scan.notable_number[n];
      if (makes_communicator) maker[reduced.result] = found.calls.size();
      found.calls.push_back(std::move(reduced));
    }
  }
  return found;
}

}  // namespace fathom::dumpi
