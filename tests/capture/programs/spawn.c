/* Starts two processes of its own and tells them a number. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent, child;
  MPI_Comm_get_parent(&parent);
  int number = 7;
  if (parent == MPI_COMM_NULL) {
    int codes[2];
    char *words[] = {"child", NULL};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(argv[0], words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, codes) != MPI_SUCCESS) {
      MPI_Finalize();
      return 77; /* not every launcher can */
    }
    MPI_Bcast(&number, 1, MPI_INT, MPI_ROOT, child);
    MPI_Comm_disconnect(&child);
  } else {
    number = 0;
    MPI_Bcast(&number, 1, MPI_INT, 0, parent);
    if (number != 7) {
      fprintf(stderr, "the child was told %d\n", number);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_disconnect(&parent);
  }
  MPI_Finalize();
  return 0;
}
