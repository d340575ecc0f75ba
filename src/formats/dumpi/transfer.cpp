#include "formats/dumpi/transfer.hpp"

namespace fathom::dumpi {

namespace {

std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

std::int64_t sum(const Values& values) {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < values.size(); ++i) total += static_cast<std::uint64_t>(values[i]);
  return static_cast<std::int64_t>(total);
}

constexpr std::array<Role, kIds> make_roles() {
  std::array<Role, kIds> roles{};
  for (const auto id :
       {ids::kSend, ids::kBsend, ids::kSsend, ids::kRsend, ids::kIsend, ids::kIbsend, ids::kIssend, ids::kIrsend}) {
    roles[id] = Role::send;
  }
  for (const auto id : {ids::kRecv, ids::kIrecv}) roles[id] = Role::recv;
  for (const auto id : {ids::kSendInit, ids::kBsendInit, ids::kSsendInit, ids::kRsendInit}) roles[id] = Role::send_init;
  roles[ids::kRecvInit] = Role::recv_init;
  for (const auto id : {ids::kSendrecv, ids::kSendrecvReplace}) roles[id] = Role::sendrecv;
  for (const auto id : {ids::kBarrier, ids::kBcast, ids::kGather, ids::kGatherv, ids::kScatter, ids::kScatterv,
                        ids::kAllgather, ids::kAllgatherv, ids::kAlltoall, ids::kAlltoallv, ids::kReduce,
                        ids::kAllreduce, ids::kReduceScatter, ids::kScan, ids::kAlltoallw, ids::kExscan}) {
    roles[id] = Role::collective;
  }
  for (const auto id : {ids::kPut, ids::kGet, ids::kAccumulate}) roles[id] = Role::rma;
  for (const auto id : {ids::kFileReadAt,
                        ids::kFileReadAtAll,
                        ids::kFileWriteAt,
                        ids::kFileWriteAtAll,
                        ids::kFileIreadAt,
                        ids::kFileIwriteAt,
                        ids::kFileRead,
                        ids::kFileReadAll,
                        ids::kFileWrite,
                        ids::kFileWriteAll,
                        ids::kFileIread,
                        ids::kFileIwrite,
                        ids::kFileReadShared,
                        ids::kFileWriteShared,
                        ids::kFileIreadShared,
                        ids::kFileIwriteShared,
                        ids::kFileReadOrdered,
                        ids::kFileWriteOrdered,
                        ids::kFileReadAtAllBegin,
                        ids::kFileWriteAtAllBegin,
                        ids::kFileReadAllBegin,
                        ids::kFileWriteAllBegin,
                        ids::kFileReadOrderedBegin,
                        ids::kFileWriteOrderedBegin}) {
    roles[id] = Role::io;
  }
  for (const auto id :
       {ids::kWait, ids::kTest, ids::kWaitany, ids::kTestany, ids::kWaitall, ids::kTestall, ids::kWaitsome,
        ids::kTestsome, ids::kMpioTest, ids::kMpioWait, ids::kMpioTestall, ids::kMpioWaitall, ids::kMpioTestany,
        ids::kMpioWaitany, ids::kMpioWaitsome, ids::kMpioTestsome}) {
    roles[id] = Role::wait;
  }
  return roles;
}

// What a process is to a collective with a root. In an inter-communicator the root says so itself, its group keeps out
// of it and the others name its rank; MPI_ROOT and MPI_PROC_NULL keep the library's values there.
enum class Part : std::uint8_t { root, other, none };
Part part_of(const CommunicatorView& view, std::int64_t root) {
  if (!view.inter) return root == view.own ? Part::root : Part::other;
  constexpr std::int64_t kLowestProcNull = -2;  // MPICH -1, Open MPI -2; MPI_ROOT is -3 and -4
  if (root >= 0) return Part::other;
  return root >= kLowestProcNull ? Part::none : Part::root;
}

Transfer collective(const Call& call, const Tables& tables, bool actual) {
  const auto size = [&](std::size_t datatype) { return tables.size_of(call.integer(datatype)); };
  const auto part = [&](std::size_t count, std::size_t datatype) { return times(call.integer(count), size(datatype)); };
  const auto view = [&](std::size_t comm) -> const CommunicatorView& {
    return tables.communicator(call.integer(comm));
  };
  // Data of the root are stored by whoever has its rank, which means nothing in an inter-communicator.
  const auto at_root = [&](std::size_t comm, std::size_t argument) {
    return !view(comm).inter && call.present(argument);
  };
  const auto takes_part = [&](std::size_t comm, std::size_t root) {
    return !view(comm).inter || part_of(view(comm), call.integer(root)) == Part::other;
  };
  switch (call.id) {
    case ids::kBcast: {
      const std::int64_t bytes = part(0, 1);
      const Part own = part_of(view(3), call.integer(2));
      return {own == Part::root ? bytes : 0, own == Part::other ? bytes : 0, 0};
    }
    case ids::kGather: {
      // commrank sendcount sendtype root comm recvcount recvtype
      return {takes_part(4, 3) ? part(1, 2) : 0, at_root(4, 5) ? times(part(5, 6), view(4).partners()) : 0, 0};
    }
    case ids::kGatherv: {
      // commrank commsize sendcount sendtype root comm recvcounts displs recvtype
      return {takes_part(5, 4) ? part(2, 3) : 0, at_root(5, 6) ? times(sum(call.values(6)), size(8)) : 0, 0};
    }
    case ids::kScatter: {
      // commrank recvcount recvtype root comm sendcount sendtype
      return {at_root(4, 5) ? times(part(5, 6), view(4).partners()) : 0, takes_part(4, 3) ? part(1, 2) : 0, 0};
    }
    case ids::kScatterv: {
      // commrank commsize sendtype recvcount recvtype root comm sendcounts displs
      return {at_root(6, 7) ? times(sum(call.values(7)), size(2)) : 0, takes_part(6, 5) ? part(3, 4) : 0, 0};
    }
    case ids::kAllgather:
      return {part(0, 1), times(part(2, 3), actual ? view(4).partners() : 1), 0};
    case ids::kAllgatherv:
      return {part(1, 2), times(sum(call.values(3)), size(5)), 0};
    case ids::kAlltoall:
      return {times(part(0, 1), view(4).partners()), times(part(2, 3), view(4).partners()), 0};
    case ids::kAlltoallv:
      return {times(sum(call.values(1)), size(3)), times(sum(call.values(4)), size(6)), 0};
    case ids::kAlltoallw: {
      Transfer transfer;
      const auto total = [&](std::size_t counts, std::size_t types) {
        const Values count = call.values(counts);
        const Values type = call.values(types);
        std::uint64_t bytes = 0;
        for (std::uint32_t i = 0; i < count.size() && i < type.size(); ++i) {
          bytes += static_cast<std::uint64_t>(times(count[i], tables.size_of(type[i])));
        }
        return static_cast<std::int64_t>(bytes);
      };
      transfer.sent = total(1, 3);
      transfer.received = total(4, 6);
      return transfer;
    }
    case ids::kReduce: {
      // count datatype op root comm
      const std::int64_t bytes = part(0, 1);
      const bool root = part_of(view(4), call.integer(3)) == Part::root;
      return {takes_part(4, 3) ? bytes : 0, root ? times(bytes, view(4).partners()) : 0, 0};
    }
    case ids::kAllreduce: {
      const std::int64_t bytes = part(0, 1);
      return {bytes, bytes, 0};
    }
    case ids::kReduceScatter: {
      const std::int64_t bytes = times(sum(call.values(1)), size(2));
      return {bytes, bytes, 0};
    }
    case ids::kScan:
    case ids::kExscan: {
      const std::int64_t bytes = part(0, 1);
      const CommunicatorView& group = view(3);
      return {group.own == group.size - 1 ? 0 : bytes, group.own == 0 ? 0 : bytes, 0};
    }
    default:
      return {};
  }
}

}  // namespace

namespace detail {
constinit const std::array<Role, kIds> kRoles = make_roles();
}

bool is_blocking(std::uint16_t id) { return id <= ids::kRsend; }

Transfer transfer_of(const Call& call, const Tables& tables, ByteRules rules) {
  const bool actual = rules == ByteRules::actual;
  const auto part = [&](std::size_t count, std::size_t datatype) {
    return times(call.integer(count), tables.size_of(call.integer(datatype)));
  };
  switch (role_of(call.id)) {
    case Role::send:
      return {part(0, 1), 0, 0};
    case Role::recv:
      return {0, part(0, 1), 0};
    case Role::send_init:
      return {actual ? 0 : part(0, 1), 0, 0};
    case Role::recv_init:
      return {0, actual ? 0 : part(0, 1), 0};
    case Role::sendrecv:
      if (call.id == ids::kSendrecv) return {part(0, 1), part(4, 5), 0};
      return {part(0, 1), part(0, 1), 0};
    case Role::collective:
      return collective(call, tables, actual);
    case Role::rma:
      if (call.id == ids::kGet) return {0, part(0, 1), 0};
      return {part(0, 1), 0, 0};
    case Role::io: {
      const Function& function = call.function();
      // count and datatype stand behind the file, and behind an offset where there is one.
      const std::size_t count = function.argument[1].type == Type::i64 ? 2 : 1;
      return {0, 0, part(count, count + 1)};
    }
    default:
      return {};
  }
}

CollectiveFacts collective_facts(const Call& call, const Tables& tables) {
  struct Places {
    std::int8_t communicator = -1;
    std::int8_t root = -1;
  };
  static const std::array<Places, kIds> kPlaces = [] {
    std::array<Places, kIds> places{};
    for (const Function& function : functions()) {
      if (role_of(function.id) != Role::collective) continue;
      places[function.id] = {static_cast<std::int8_t>(function.find("comm")),
                             static_cast<std::int8_t>(function.find("root"))};
    }
    return places;
  }();
  const Places& places = kPlaces[call.id];
  CollectiveFacts facts;
  if (places.communicator < 0) return facts;
  const CommunicatorView& view = tables.communicator(call.integer(static_cast<std::size_t>(places.communicator)));
  facts.communicator = view.global;
  if (places.root < 0) return facts;
  const std::int64_t root = call.integer(static_cast<std::size_t>(places.root));
  facts.root = view.inter && part_of(view, root) == Part::root ? static_cast<std::int32_t>(tables.rank())
                                                               : tables.world_rank(view, root);
  return facts;
}

}  // namespace fathom::dumpi
