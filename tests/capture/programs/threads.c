/* Threads that all call at once: pairs of threads of two ranks exchange messages in one communicator and in others. */
#include "counted.h"

#define THREADS 4
#define ROUNDS 100
static MPI_Comm comms[THREADS];

static void *work(void *argument) {
  const int me = (int)(size_t)argument;
  const int peer = own_rank ^ 1;
  int out[16] = {0}, in[16];
  for (int i = 0; i < ROUNDS; ++i) {
    MPI_Request requests[4];
    MPI_Status statuses[4];
    CALL(MPI_Irecv, (in, 8, MPI_INT, peer, 10 * me, MPI_COMM_WORLD, &requests[0]));
    CALL(MPI_Irecv, (in + 8, 8, MPI_INT, peer, 0, comms[me], &requests[1]));
    CALL(MPI_Isend, (out, 8, MPI_INT, peer, 10 * me, MPI_COMM_WORLD, &requests[2]));
    CALL(MPI_Isend, (out, 4, MPI_INT, peer, 0, comms[me], &requests[3]));
    count_message(peer, 8 * sizeof(int));
    count_message(peer, 4 * sizeof(int));
    if (i % 2) {
      CALL(MPI_Waitall, (4, requests, statuses));
    } else {
      for (int k = 0; k < 4; ++k) CALL(MPI_Wait, (&requests[k], MPI_STATUS_IGNORE));
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  int provided;
  CALL(MPI_Init_thread, (&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  CALL(MPI_Comm_rank, (MPI_COMM_WORLD, &own_rank));
  CALL(MPI_Comm_size, (MPI_COMM_WORLD, &all_ranks));
  if (provided != MPI_THREAD_MULTIPLE || all_ranks % 2 != 0) return 77;
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) CALL(MPI_Comm_dup, (MPI_COMM_WORLD, &comms[i]));
  for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; ++i) CALL(MPI_Comm_free, (&comms[i]));
  end();
  return 0;
}
