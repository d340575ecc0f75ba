/* Collectives and their v-forms, on communicators made in every way. */
#include "counted.h"

static int out[4096], in[4096];

static void smaller(void *a, void *b, int *count, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *count; ++i) {
    if (((int *)a)[i] < ((int *)b)[i]) ((int *)b)[i] = ((int *)a)[i];
  }
}

static void all_collectives(MPI_Comm comm) {
  int size, rank, counts[MOST_RANKS], displacements[MOST_RANKS];
  CALL(MPI_Comm_size, (comm, &size));
  CALL(MPI_Comm_rank, (comm, &rank));
  MPI_Datatype types[MOST_RANKS];
  int bytes[MOST_RANKS];
  for (int i = 0; i < size; ++i) {
    counts[i] = i + 1;
    displacements[i] = i * (size + 1);
    bytes[i] = displacements[i] * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  const int root = size - 1;
  CALL(MPI_Barrier, (comm));
  CALL(MPI_Bcast, (out, 10, MPI_INT, root, comm));
  CALL(MPI_Gather, (out, 3, MPI_INT, in, 3, MPI_INT, root, comm));
  CALL(MPI_Gatherv, (out, rank + 1, MPI_INT, in, counts, displacements, MPI_INT, root, comm));
  CALL(MPI_Scatter, (out, 4, MPI_INT, in, 4, MPI_INT, root, comm));
  CALL(MPI_Scatterv, (out, counts, displacements, MPI_INT, in, rank + 1, MPI_INT, root, comm));
  CALL(MPI_Allgather, (out, 5, MPI_INT, in, 5, MPI_INT, comm));
  CALL(MPI_Allgatherv, (out, rank + 1, MPI_INT, in, counts, displacements, MPI_INT, comm));
  CALL(MPI_Alltoall, (out, 2, MPI_INT, in, 2, MPI_INT, comm));
  int mine[MOST_RANKS], places[MOST_RANKS], mine_bytes[MOST_RANKS];
  for (int i = 0; i < size; ++i) {
    mine[i] = rank + 1;
    places[i] = i * (size + 1);
    mine_bytes[i] = places[i] * (int)sizeof(int);
  }
  CALL(MPI_Alltoallv, (out, mine, places, MPI_INT, in, counts, displacements, MPI_INT, comm));
  CALL(MPI_Alltoallw, (out, mine, mine_bytes, types, in, counts, bytes, types, comm));
  CALL(MPI_Reduce, (out, in, 6, MPI_INT, MPI_SUM, root, comm));
  CALL(MPI_Allreduce, (out, in, 7, MPI_INT, MPI_MAX, comm));
  CALL(MPI_Allreduce, (MPI_IN_PLACE, in, 7, MPI_INT, MPI_MAX, comm));
  CALL(MPI_Reduce_scatter, (out, in, counts, MPI_INT, MPI_SUM, comm));
  CALL(MPI_Scan, (out, in, 8, MPI_INT, MPI_SUM, comm));
  CALL(MPI_Exscan, (out, in, 9, MPI_INT, MPI_SUM, comm));
  MPI_Op op;
  CALL(MPI_Op_create, (smaller, 1, &op));
  CALL(MPI_Allreduce, (out, in, 7, MPI_INT, op, comm));
  CALL(MPI_Op_free, (&op));
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Comm comm, part, merged, inter;
  MPI_Group world, half;
  int flag, result;
  all_collectives(MPI_COMM_WORLD);

  CALL(MPI_Comm_dup, (MPI_COMM_WORLD, &comm));
  CALL(MPI_Comm_compare, (MPI_COMM_WORLD, comm, &result));
  expect(result == MPI_CONGRUENT, "a copy is congruent");
  CALL(MPI_Comm_set_name, (comm, "copy of the world"));
  all_collectives(comm);
  CALL(MPI_Comm_split, (comm, own_rank % 2, -own_rank, &part));
  all_collectives(part);
  int peer;
  CALL(MPI_Comm_rank, (part, &peer));
  int part_size;
  CALL(MPI_Comm_size, (part, &part_size));
  /* A message in a communicator whose ranks are turned around: who is who in the world? */
  const int next = (peer + 1) % part_size;
  int next_world = 0;
  CALL(MPI_Comm_group, (MPI_COMM_WORLD, &world));
  CALL(MPI_Comm_group, (part, &half));
  CALL(MPI_Group_translate_ranks, (half, 1, &next, world, &next_world));
  MPI_Request request;
  CALL(MPI_Isend, (out, 13, MPI_INT, next, 0, part, &request));
  count_message(next_world, 13 * sizeof(int));
  CALL(MPI_Recv, (in, 13, MPI_INT, (peer + part_size - 1) % part_size, 0, part, MPI_STATUS_IGNORE));
  CALL(MPI_Wait, (&request, MPI_STATUS_IGNORE));

  /* Both halves talk to each other. */
  CALL(MPI_Intercomm_create, (part, 0, MPI_COMM_WORLD, own_rank % 2 ? (all_ranks - 1) / 2 * 2 : (all_ranks - 2) / 2 * 2 + 1, 9,
                              &inter));
  CALL(MPI_Comm_test_inter, (inter, &flag));
  CALL(MPI_Comm_remote_size, (inter, &result));
  CALL(MPI_Barrier, (inter));
  CALL(MPI_Bcast, (out, 3, MPI_INT, own_rank % 2 ? 0 : (peer == 0 ? MPI_ROOT : MPI_PROC_NULL), inter));
  CALL(MPI_Gather, (out, 3, MPI_INT, in, 3, MPI_INT, own_rank % 2 ? 0 : (peer == 0 ? MPI_ROOT : MPI_PROC_NULL), inter));
  int counts[MOST_RANKS], displacements[MOST_RANKS];
  for (int i = 0; i < MOST_RANKS; ++i) {
    counts[i] = 2;
    displacements[i] = 2 * i;
  }
  const int is_root = own_rank % 2 == 0 && peer == 0;
  /* Only the root has lists: the others may hand over anything. */
  CALL(MPI_Gatherv, (out, 2, MPI_INT, in, is_root ? counts : NULL, is_root ? displacements : NULL, MPI_INT,
                     own_rank % 2 ? 0 : (peer == 0 ? MPI_ROOT : MPI_PROC_NULL), inter));
  CALL(MPI_Intercomm_merge, (inter, own_rank % 2, &merged));
  all_collectives(merged);

  /* Groups. */
  int ranks[1] = {0}, ranges[1][3] = {{0, all_ranks - 1, 2}};
  MPI_Group g1, g2, g3, g4, g5, g6;
  CALL(MPI_Group_incl, (world, 1, ranks, &g1));
  CALL(MPI_Group_excl, (world, 1, ranks, &g2));
  CALL(MPI_Group_range_incl, (world, 1, ranges, &g3));
  CALL(MPI_Group_range_excl, (world, 1, ranges, &g4));
  CALL(MPI_Group_union, (g1, g2, &g5));
  CALL(MPI_Group_difference, (world, g1, &g6));
  CALL(MPI_Group_compare, (g5, world, &result));
  CALL(MPI_Group_size, (g3, &result));
  CALL(MPI_Group_rank, (g3, &result));
  MPI_Comm made;
  CALL(MPI_Comm_create, (MPI_COMM_WORLD, g3, &made));
  if (made != MPI_COMM_NULL) {
    all_collectives(made);
    CALL(MPI_Comm_free, (&made));
  }
  MPI_Group *groups[] = {&g1, &g2, &g3, &g4, &g5, &g6, &world, &half};
  for (int i = 0; i < 8; ++i) {
    if (*groups[i] != MPI_GROUP_EMPTY) CALL(MPI_Group_free, (groups[i]));
  }

  /* Topologies. */
  int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], remain[2] = {1, 0}, source, dest;
  MPI_Comm grid, row, graph;
  CALL(MPI_Dims_create, (all_ranks, 2, dims));
  CALL(MPI_Cart_create, (MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
  CALL(MPI_Cart_get, (grid, 2, dims, periods, coords));
  CALL(MPI_Cart_coords, (grid, own_rank, 2, coords));
  CALL(MPI_Cart_rank, (grid, coords, &result));
  CALL(MPI_Cartdim_get, (grid, &result));
  CALL(MPI_Cart_shift, (grid, 0, 1, &source, &dest));
  CALL(MPI_Topo_test, (grid, &result));
  CALL(MPI_Sendrecv, (out, 5, MPI_INT, dest, 3, in, 5, MPI_INT, source, 3, grid, MPI_STATUS_IGNORE));
  count_message(dest, 5 * sizeof(int)); /* not reordered: ranks are those of the world */
  CALL(MPI_Cart_shift, (grid, 1, 1, &source, &dest)); /* not periodic: the last one has no neighbour */
  CALL(MPI_Sendrecv, (out, 5, MPI_INT, dest, 3, in, 5, MPI_INT, source, 3, grid, MPI_STATUS_IGNORE));
  if (dest != MPI_PROC_NULL) count_message(dest, 5 * sizeof(int));
  CALL(MPI_Cart_sub, (grid, remain, &row));
  all_collectives(row);
  int index[MOST_RANKS], edges[MOST_RANKS];
  for (int i = 0; i < all_ranks; ++i) {
    index[i] = i + 1;
    edges[i] = (i + 1) % all_ranks;
  }
  CALL(MPI_Graph_create, (MPI_COMM_WORLD, all_ranks, index, edges, 0, &graph));
  CALL(MPI_Graphdims_get, (graph, &result, &flag));
  CALL(MPI_Graph_get, (graph, all_ranks, all_ranks, index, edges));
  CALL(MPI_Graph_neighbors_count, (graph, own_rank, &result));
  CALL(MPI_Graph_neighbors, (graph, own_rank, 1, edges));
  MPI_Comm *comms[] = {&comm, &part, &merged, &inter, &grid, &row, &graph};
  for (int i = 0; i < 7; ++i) CALL(MPI_Comm_free, (comms[i]));
  /* Handles come back: the same object must not be seen twice. */
  for (int i = 0; i < 50; ++i) {
    CALL(MPI_Comm_split, (MPI_COMM_WORLD, (own_rank + i) % 2, 0, &comm));
    CALL(MPI_Allreduce, (out, in, 1 + i, MPI_INT, MPI_SUM, comm));
    CALL(MPI_Comm_free, (&comm));
  }
  end();
  return 0;
}
