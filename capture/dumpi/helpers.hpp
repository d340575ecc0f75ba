// Small things that the generated wrappers use.
#pragma once

#include "dumpi/recorder.hpp"

namespace fathom::capture {

inline int atleast0(int value) { return value > 0 ? value : 0; }
inline int least(int a, int b) { return a < b ? a : b; }

struct GraphSize {
  int nodes = 0, edges = 0;
};
inline GraphSize graph_size(MPI_Comm comm) {
  GraphSize size;
  if (PMPI_Graphdims_get(comm, &size.nodes, &size.edges) != MPI_SUCCESS) return {};
  return size;
}
inline int neighbours(MPI_Comm comm, int rank) {
  int count = 0;
  return PMPI_Graph_neighbors_count(comm, rank, &count) == MPI_SUCCESS ? count : 0;
}
// Processes that MPI_Comm_spawn_multiple asks for: known to the root alone.
inline int sum(int count, const int* values, bool root) {
  int total = 0;
  for (int i = 0; root && i < count; ++i) total += values[i];
  return total;
}

// Lists of strings: argv ends with a null pointer, and a null pointer in its place is an empty list.
inline std::size_t bytes_of_list(char* const* list) {
  std::size_t bytes = 4;
  for (; list != nullptr && *list != nullptr; ++list) bytes += 4 + std::strlen(*list);
  return bytes;
}
inline std::size_t bytes_of_texts(int count, char* const* texts) {
  std::size_t bytes = 4;
  for (int i = 0; texts != nullptr && i < count; ++i) bytes += 4 + text(texts[i]).size;
  return bytes;
}
inline std::size_t bytes_of_lists(int count, char** const* lists) {
  std::size_t bytes = 4;
  for (int i = 0; i < count; ++i) bytes += bytes_of_list(lists == nullptr ? nullptr : lists[i]);
  return bytes;
}
inline void put_texts(Record& out, int count, char* const* texts) {
  if (texts == nullptr) count = 0;
  out.i32(count);
  for (int i = 0; i < count; ++i) out.str(text(texts[i]));
}
inline void put_lists(Record& out, int count, char** const* lists) {
  out.i32(count);
  for (int i = 0; i < count; ++i) out.strs(lists == nullptr ? nullptr : lists[i]);
}

}  // namespace fathom::capture
