/* Heat on a square plate, rows shared out among the ranks: the mini-app behind the recorded runs in this folder.
 *
 * usage: heat SIZE STEPS
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* The rows next to ours, from the ranks above and below. */
static void exchange(double *plate, int rows, int size, int up, int down, MPI_Comm comm) {
  MPI_Request requests[4];
  MPI_Irecv(plate, size, MPI_DOUBLE, up, 0, comm, &requests[0]);
  MPI_Irecv(plate + (size_t)(rows + 1) * size, size, MPI_DOUBLE, down, 1, comm, &requests[1]);
  MPI_Isend(plate + (size_t)rows * size, size, MPI_DOUBLE, down, 0, comm, &requests[2]);
  MPI_Isend(plate + size, size, MPI_DOUBLE, up, 1, comm, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static double step(const double *from, double *to, int rows, int size) {
  double change = 0;
  for (int y = 1; y <= rows; ++y) {
    for (int x = 1; x < size - 1; ++x) {
      const size_t at = (size_t)y * size + x;
      to[at] = 0.25 * (from[at - 1] + from[at + 1] + from[at - size] + from[at + size]);
      change += fabs(to[at] - from[at]);
    }
  }
  return change;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int size = argc > 1 ? atoi(argv[1]) : 256, steps = argc > 2 ? atoi(argv[2]) : 20;
  int ranks, rank, up, down, periodic = 0;
  MPI_Comm line;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &line);
  MPI_Comm_rank(line, &rank);
  MPI_Cart_shift(line, 0, 1, &up, &down);

  const int rows = size / ranks + (rank < size % ranks);
  double *plate = calloc((size_t)(rows + 2) * size, sizeof(double));
  double *next = calloc((size_t)(rows + 2) * size, sizeof(double));
  if (rank == 0) {
    for (int x = 0; x < size; ++x) plate[x] = next[x] = 100;
  }
  double total = 0;
  const double begin = MPI_Wtime();
  for (int i = 0; i < steps; ++i) {
    exchange(plate, rows, size, up, down, line);
    const double change = step(plate, next, rows, size);
    double *swap = plate;
    plate = next;
    next = swap;
    if (i % 5 == 4) MPI_Allreduce(&change, &total, 1, MPI_DOUBLE, MPI_SUM, line);
  }
  const double took = MPI_Wtime() - begin;
  if (rank == 0) printf("%d ranks, %d x %d: change %g after %d steps in %.6f s\n", ranks, size, size, total, steps, took);
  free(plate);
  free(next);
  MPI_Comm_free(&line);
  MPI_Finalize();
  return 0;
}
