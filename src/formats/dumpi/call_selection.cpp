#include "formats/dumpi/call_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <regex>
#include <string_view>

#include "base/text.hpp"
#include "formats/dumpi/transfer.hpp"

namespace fathom::dumpi {

namespace {

// As the community's tool has it: making communicators, the ends of the run and I/O of all together synchronise as
// well. (Its list forgets MPI_File_write_ordered.)
constexpr std::string_view kSynchronising[] = {"MPI_Comm_dup",
                                               "MPI_Comm_split",
                                               "MPI_Comm_create",
                                               "MPI_Comm_free",
                                               "MPI_Intercomm_create",
                                               "MPI_Comm_spawn",
                                               "MPI_Comm_spawn_multiple",
                                               "MPI_Init",
                                               "MPI_Init_thread",
                                               "MPI_Finalize",
                                               "MPI_File_open",
                                               "MPI_File_close",
                                               "MPI_File_set_size",
                                               "MPI_File_preallocate",
                                               "MPI_File_set_info",
                                               "MPI_File_set_view",
                                               "MPI_File_set_atomicity",
                                               "MPI_File_sync",
                                               "MPI_File_seek_shared",
                                               "MPI_File_read_at_all",
                                               "MPI_File_write_at_all",
                                               "MPI_File_read_all",
                                               "MPI_File_write_all",
                                               "MPI_File_read_ordered",
                                               "MPI_File_write_ordered",
                                               "MPI_File_read_at_all_begin",
                                               "MPI_File_read_at_all_end",
                                               "MPI_File_write_at_all_begin",
                                               "MPI_File_write_at_all_end",
                                               "MPI_File_read_all_begin",
                                               "MPI_File_read_all_end",
                                               "MPI_File_write_all_begin",
                                               "MPI_File_write_all_end",
                                               "MPI_File_read_ordered_begin",
                                               "MPI_File_read_ordered_end",
                                               "MPI_File_write_ordered_begin",
                                               "MPI_File_write_ordered_end"};

}  // namespace

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
      in = role == Role::collective || std::ranges::find(kSynchronising, name) != std::end(kSynchronising);
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
