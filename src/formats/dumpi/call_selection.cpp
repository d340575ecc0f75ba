#include "formats/dumpi/call_selection.hpp"

#include <fmt/format.h>

#include <regex>

#include "base/text.hpp"
#include "formats/dumpi/transfer.hpp"

namespace fathom::dumpi {

Result<CallSelection> select_calls(std::string_view text) {
  CallSelection chosen{};
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
      // As the community's tool has it: making communicators and the ends of the run synchronise as well.
      in = role == Role::collective || name == "MPI_Comm_dup" || name == "MPI_Comm_split" ||
           name == "MPI_Comm_create" || name == "MPI_Comm_free" || name == "MPI_Init" || name == "MPI_Init_thread" ||
           name == "MPI_Finalize";
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

}  // namespace fathom::dumpi
