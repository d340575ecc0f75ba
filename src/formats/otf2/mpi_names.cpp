#include "formats/otf2/mpi_names.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.hpp"

namespace fathom::otf2 {

namespace {

enum Role : std::uint8_t {
  kFunction = 1,
  kBarrier = 15,
  kOneToAll = 23,
  kAllToOne = 24,
  kAllToAll = 25,
  kOtherCollective = 26,
  kFileIo = 27,
  kPointToPoint = 28,
  kOneSided = 29,
};

struct Operation {
  std::string_view name;
  std::uint8_t number;
  std::uint8_t role;
};
constexpr Operation kOperations[] = {{"barrier", 0, kBarrier},
                                     {"bcast", 1, kOneToAll},
                                     {"gather", 2, kAllToOne},
                                     {"gatherv", 3, kAllToOne},
                                     {"scatter", 4, kOneToAll},
                                     {"scatterv", 5, kOneToAll},
                                     {"allgather", 6, kAllToAll},
                                     {"allgatherv", 7, kAllToAll},
                                     {"alltoall", 8, kAllToAll},
                                     {"alltoallv", 9, kAllToAll},
                                     {"alltoallw", 10, kAllToAll},
                                     {"allreduce", 11, kAllToAll},
                                     {"reduce", 12, kAllToOne},
                                     {"reduce_scatter", 13, kAllToAll},
                                     {"scan", 14, kOtherCollective},
                                     {"exscan", 15, kOtherCollective},
                                     {"reduce_scatter_block", 16, kAllToAll}};

// "MPI_Iallreduce" and "mpi_allreduce_" -> "iallreduce", "allreduce"; empty for what is no MPI function.
std::string plain(std::string_view name) {
  std::string text = to_lower(name);
  if (const auto bracket = text.find('('); bracket != std::string::npos) text.resize(bracket);
  while (text.ends_with('_')) text.pop_back();
  if (text.starts_with("pmpi_")) return text.substr(5);
  return text.starts_with("mpi_") ? text.substr(4) : std::string();
}

const Operation* find_operation(std::string_view name) {
  const std::string text = plain(name);
  if (text.empty()) return nullptr;
  for (const Operation& operation : kOperations) {
    if (text == operation.name) return &operation;
    if (text.front() == 'i' && std::string_view(text).substr(1) == operation.name) return &operation;
  }
  return nullptr;
}

template <std::size_t N>
bool one_of(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

std::optional<std::uint8_t> collective_operation(std::string_view name) {
  const Operation* const operation = find_operation(name);
  return operation == nullptr ? std::nullopt : std::optional(operation->number);
}

bool is_nonblocking_send(std::string_view name) {
  constexpr std::array<std::string_view, 5> kSends = {"isend", "ibsend", "issend", "irsend", "isendrecv"};
  return one_of(plain(name), kSends);
}

bool is_nonblocking_receive(std::string_view name) {
  constexpr std::array<std::string_view, 2> kReceives = {"irecv", "imrecv"};
  return one_of(plain(name), kReceives);
}

std::uint8_t mpi_role(std::string_view name) {
  if (const Operation* const operation = find_operation(name)) return operation->role;
  const std::string text = plain(name);
  if (text.starts_with("file_")) return kFileIo;
  constexpr std::array<std::string_view, 8> kOneSidedNames = {
      "put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap", "rput", "rget"};
  if (text.starts_with("win_") || one_of(text, kOneSidedNames)) return kOneSided;
  constexpr std::array<std::string_view, 26> kPointNames = {
      "send",      "bsend",       "ssend",   "rsend",    "recv",  "mrecv",    "sendrecv", "sendrecv_replace",
      "probe",     "iprobe",      "mprobe",  "improbe",  "wait",  "waitall",  "waitany",  "waitsome",
      "test",      "testall",     "testany", "testsome", "start", "startall", "cancel",   "send_init",
      "recv_init", "request_free"};
  if (one_of(text, kPointNames) || is_nonblocking_send(name) || is_nonblocking_receive(name)) return kPointToPoint;
  return kFunction;
}

}  // namespace fathom::otf2
