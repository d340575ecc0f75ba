/* What a call costs: three kinds in a loop, in one process. Prints ns per call; used by record_bench. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double best(double (*loop)(int), int calls) {
  double least = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double t = loop(calls);
    if (t < least) least = t;
  }
  return least / calls * 1e9;
}

static double probes(int n) {
  const double begin = MPI_Wtime();
  int flag;
  for (int i = 0; i < n; ++i) MPI_Iprobe(0, 77, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  return MPI_Wtime() - begin;
}
static double exchanges(int n) {
  const double begin = MPI_Wtime();
  int out = 1, in;
  for (int i = 0; i < n; ++i) {
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  }
  return MPI_Wtime() - begin;
}
static double triples(int n) {
  const double begin = MPI_Wtime();
  int out = 1, in;
  MPI_Request requests[2];
  for (int i = 0; i < n; ++i) {
    MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  return MPI_Wtime() - begin;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int n = argc > 1 ? atoi(argv[1]) : 50000;
  printf("%.1f %.1f %.1f\n", best(probes, n), best(exchanges, n), best(triples, n));
  MPI_Finalize();
  return 0;
}
