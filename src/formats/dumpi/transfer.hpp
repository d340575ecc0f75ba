// How many bytes a call moves, by the meaning of its arguments.
#pragma once

#include "formats/dumpi/resolve.hpp"

namespace fathom::dumpi {

// What a call is to its caller.
enum class Role : std::uint8_t {
  other,
  send,       // blocking or starting a send: count datatype dest tag comm [request]
  recv,       // the same for a receive
  send_init,  // persistent: nothing moves yet
  recv_init,
  sendrecv,
  collective,
  rma,
  io,
  wait,  // completes requests
};
namespace detail {
extern const std::array<Role, kIds> kRoles;
}
inline Role role_of(std::uint16_t id) { return id < kIds ? detail::kRoles[id] : Role::other; }
bool is_blocking(std::uint16_t id);

// What all sends and receives begin with, blocking or not, persistent or not: always in the same places.
struct PointToPoint {
  std::int32_t count;
  std::int16_t datatype;
  std::int32_t peer;  // as posted, in the communicator
  std::int32_t tag;
  std::int16_t communicator;
  std::int32_t request;  // where there is one

  static constexpr std::size_t kRequestAt = 16;
  PointToPoint(const Call& call, bool has_request)
      : count(at<std::int32_t>(call, 0)),
        datatype(at<std::int16_t>(call, 4)),
        peer(at<std::int32_t>(call, 6)),
        tag(at<std::int32_t>(call, 10)),
        communicator(at<std::int16_t>(call, 14)),
        request(has_request ? at<std::int32_t>(call, kRequestAt) : 0) {}

 private:
  template <class T>
  static T at(const Call& call, std::size_t offset) {
    return detail::load<T>(call.raw_arguments() + offset);
  }
};

enum class ByteRules : std::uint8_t {
  // What really happens on the wire, as far as the arguments tell: Allgather receives from everybody.
  actual,
  // The community's statistics tool: Allgather receives recvcount once, persistent requests count when they are made.
  community,
};

struct Transfer {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  std::int64_t io = 0;  // read from or written to files
};
Transfer transfer_of(const Call& call, const Tables& tables, ByteRules rules);

struct CollectiveFacts {
  std::int32_t communicator = -1;  // position in Resolution::communicators, -1 = not known
  std::int32_t root = kNoPeer;     // rank of the run
};
CollectiveFacts collective_facts(const Call& call, const Tables& tables);

}  // namespace fathom::dumpi
