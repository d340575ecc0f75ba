/* A program with a wrapper of its own around one call. */
#include "counted.h"

static int sends;
int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++sends;
  return PMPI_Send(buffer, count, type, to, tag, comm);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  int value = 1;
  if (own_rank % 2 == 0 && own_rank + 1 < all_ranks) CALL(MPI_Send, (&value, 1, MPI_INT, own_rank + 1, 0, MPI_COMM_WORLD));
  if (own_rank % 2 == 1) CALL(MPI_Recv, (&value, 1, MPI_INT, own_rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CALL(MPI_Barrier, (MPI_COMM_WORLD));
  expect(own_rank % 2 == 1 || own_rank + 1 == all_ranks || sends == 1, "the program's own wrapper ran");
  end();
  return 0;
}
