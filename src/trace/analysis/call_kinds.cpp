#include "trace/analysis/call_kinds.hpp"

#include <string_view>
#include <unordered_map>

#include "base/text.hpp"

namespace fathom::analysis {

namespace {

const std::unordered_map<std::string_view, CallFacts>& table() {
  using enum CallKind;
  static const std::unordered_map<std::string_view, CallFacts> kTable = {
      {"send", {send}},
      {"ssend", {send, SendMode::synchronous}},
      {"bsend", {send, SendMode::buffered}},
      {"rsend", {send, SendMode::ready}},
      {"isend", {begin_send}},
      {"issend", {begin_send, SendMode::synchronous}},
      {"ibsend", {begin_send, SendMode::buffered}},
      {"irsend", {begin_send, SendMode::ready}},
      {"ssend_init", {other, SendMode::synchronous}},
      {"bsend_init", {other, SendMode::buffered}},
      {"rsend_init", {other, SendMode::ready}},
      {"recv", {receive}},
      {"mrecv", {receive}},
      {"irecv", {begin_receive}},
      {"imrecv", {begin_receive}},
      {"sendrecv", {send_receive}},
      {"sendrecv_replace", {send_receive}},
      {"start", {start}},
      {"startall", {start}},
      {"wait", {wait_one}},
      {"waitall", {wait_all}},
      {"waitany", {wait_any}},
      {"waitsome", {wait_some}},
      {"test", {test}},
      {"testall", {test}},
      {"testany", {test}},
      {"testsome", {test}},
      {"iprobe", {test}},
      {"improbe", {test}},
      {"probe", {probe}},
      {"mprobe", {probe}},
      {"barrier", {barrier}},
      {"allreduce", {n_to_n}},
      {"allgather", {n_to_n}},
      {"allgatherv", {n_to_n}},
      {"alltoall", {n_to_n}},
      {"alltoallv", {n_to_n, SendMode::standard, true}},
      {"alltoallw", {n_to_n, SendMode::standard, true}},
      {"reduce_scatter", {n_to_n}},
      {"reduce_scatter_block", {n_to_n}},
      {"bcast", {one_to_n}},
      {"scatter", {one_to_n}},
      {"scatterv", {one_to_n}},
      {"reduce", {n_to_one}},
      {"gather", {n_to_one}},
      {"gatherv", {n_to_one}},
      {"scan", {scan}},
      {"exscan", {scan}},
      {"comm_dup", {make_communicator}},
      {"comm_dup_with_info", {make_communicator}},
      {"comm_split", {make_communicator}},
      {"comm_split_type", {make_communicator}},
      {"comm_create", {make_communicator}},
      {"cart_create", {make_communicator}},
      {"cart_sub", {make_communicator}},
      {"graph_create", {make_communicator}},
      {"dist_graph_create", {make_communicator}},
      {"dist_graph_create_adjacent", {make_communicator}},
      {"init", {init}},
      {"init_thread", {init}},
      {"finalize", {finalize}},
      {"win_fence", {fence}},
      {"win_create", {make_window}},
      {"win_allocate", {make_window}},
      {"win_allocate_shared", {make_window}},
      {"win_create_dynamic", {make_window}},
      {"win_free", {make_window}},
      {"win_post", {window_post}},
      {"win_start", {window_start}},
      {"win_complete", {window_complete}},
      {"win_wait", {window_wait}},
      {"win_lock", {window_lock}},
      {"win_unlock", {window_unlock}},
  };
  return kTable;
}

bool is_collective_file_call(std::string_view name) {
  for (const std::string_view alone : {"file_open", "file_close", "file_set_view", "file_set_size", "file_preallocate",
                                       "file_sync", "file_set_atomicity"}) {
    if (name == alone) return true;
  }
  // The end of a split operation is local; its beginning need not wait either.
  return name.ends_with("_all") || name.ends_with("_ordered");
}

}  // namespace

CallFacts call_facts(const Region& region) {
  std::string name = to_lower(region.name);
  while (name.ends_with('_')) name.pop_back();
  if (name.starts_with("pmpi_")) name.erase(0, 1);
  if (!name.starts_with("mpi_"))
    return equal_ignoring_case(region.paradigm, "mpi") ? CallFacts{CallKind::other} : CallFacts{};
  const std::string_view rest = std::string_view(name).substr(4);
  if (rest.starts_with("file_")) return {is_collective_file_call(rest) ? CallKind::io_collective : CallKind::io};
  const auto found = table().find(rest);
  return found == table().end() ? CallFacts{CallKind::other} : found->second;
}

}  // namespace fathom::analysis
