/* Reads the clocks of all ranks at the same moments, as well as a barrier can tell. Rank 0 prints them, one line each:
 *
 *     fathom-clock RANK HOST NANOSECONDS
 *
 * usage: clock_samples [SAMPLES]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kWarmUp = 20, kHost = 256 };

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (long long)time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int samples = argc > 1 ? atoi(argv[1]) : 100;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  long long *const mine = calloc((size_t)samples, sizeof *mine);
  long long *const all = rank == 0 ? calloc((size_t)samples * (size_t)ranks, sizeof *all) : NULL;
  char host[kHost] = "";
  char *const hosts = rank == 0 ? calloc((size_t)ranks, kHost) : NULL;
  if (samples < 1 || mine == NULL || (rank == 0 && (all == NULL || hosts == NULL))) {
    fprintf(stderr, "clock_samples: %d samples of %d ranks cannot be held\n", samples, ranks);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  gethostname(host, kHost - 1);
  /* Traces name a host by what stands in front of the first dot. */
  host[strcspn(host, ".")] = 0;
  for (int i = -kWarmUp; i < samples; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const long long time = now();
    if (i >= 0) mine[i] = time;
  }
  MPI_Gather(host, kHost, MPI_CHAR, hosts, kHost, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Gather(mine, samples, MPI_LONG_LONG, all, samples, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  for (int r = 0; rank == 0 && r < ranks; ++r) {
    for (int i = 0; i < samples; ++i) {
      printf("fathom-clock %d %s %lld\n", r, hosts + (size_t)r * kHost, all[(size_t)r * (size_t)samples + (size_t)i]);
    }
  }
  fflush(stdout);
  free(mine);
  free(all);
  free(hosts);
  MPI_Finalize();
  return 0;
}
