/* Every way to send and receive between two ranks, and every way to wait for it. */
#include "counted.h"

#define N 100
static int out[8][N], in[8][N];

static void blocking(int next, int previous) {
  MPI_Status status;
  int count, flag, cancelled;
  for (int mode = 0; mode < 4; ++mode) {
    MPI_Request request;
    CALL(MPI_Irecv, (in[0], N, MPI_INT, previous, mode, MPI_COMM_WORLD, &request));
    CALL(MPI_Barrier, (MPI_COMM_WORLD)); /* a ready send needs its receive */
    if (mode == 0) CALL(MPI_Send, (out[0], N, MPI_INT, next, mode, MPI_COMM_WORLD));
    if (mode == 1) CALL(MPI_Ssend, (out[0], N, MPI_INT, next, mode, MPI_COMM_WORLD));
    if (mode == 2) CALL(MPI_Rsend, (out[0], N, MPI_INT, next, mode, MPI_COMM_WORLD));
    if (mode == 3) {
      int size;
      CALL(MPI_Pack_size, (N, MPI_INT, MPI_COMM_WORLD, &size));
      void *buffer = malloc((size_t)size + MPI_BSEND_OVERHEAD);
      CALL(MPI_Buffer_attach, (buffer, size + MPI_BSEND_OVERHEAD));
      CALL(MPI_Bsend, (out[0], N, MPI_INT, next, mode, MPI_COMM_WORLD));
      CALL(MPI_Buffer_detach, (&buffer, &size));
      free(buffer);
    }
    count_message(next, N * sizeof(int));
    CALL(MPI_Wait, (&request, &status));
    CALL(MPI_Get_count, (&status, MPI_INT, &count));
    CALL(MPI_Test_cancelled, (&status, &cancelled));
    expect(count == N && !cancelled && status.MPI_SOURCE == previous, "status of a receive");
  }
  CALL(MPI_Sendrecv, (out[0], 10, MPI_INT, next, 5, in[0], N, MPI_INT, previous, 5, MPI_COMM_WORLD, &status));
  count_message(next, 10 * sizeof(int));
  CALL(MPI_Sendrecv_replace, (in[0], 20, MPI_INT, next, 6, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  count_message(next, 20 * sizeof(int));

  /* From anybody, the status not wanted: the trace has to know who it was all the same. */
  MPI_Request request;
  CALL(MPI_Isend, (out[0], 30, MPI_INT, next, 7, MPI_COMM_WORLD, &request));
  count_message(next, 30 * sizeof(int));
  CALL(MPI_Probe, (MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CALL(MPI_Iprobe, (previous, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status));
  expect(flag, "message after a probe");
  CALL(MPI_Recv, (in[0], N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CALL(MPI_Wait, (&request, MPI_STATUS_IGNORE));
  /* Nobody. */
  CALL(MPI_Send, (out[0], N, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  CALL(MPI_Recv, (in[0], N, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
}

static void post(int n, MPI_Request *requests, int next, int previous, int tag) {
  for (int i = 0; i < n; ++i) {
    CALL(MPI_Irecv, (in[i], N, MPI_INT, i % 2 ? previous : MPI_ANY_SOURCE, tag + i, MPI_COMM_WORLD, &requests[2 * i]));
    if (i % 3 == 0) CALL(MPI_Isend, (out[i], i + 1, MPI_INT, next, tag + i, MPI_COMM_WORLD, &requests[2 * i + 1]));
    if (i % 3 == 1) CALL(MPI_Issend, (out[i], i + 1, MPI_INT, next, tag + i, MPI_COMM_WORLD, &requests[2 * i + 1]));
    if (i % 3 == 2) CALL(MPI_Isend, (out[i], i + 1, MPI_INT, next, tag + i, MPI_COMM_WORLD, &requests[2 * i + 1]));
    count_message(next, (i + 1) * (long)sizeof(int));
  }
}

static void nonblocking(int next, int previous) {
  MPI_Request requests[16];
  MPI_Status statuses[16], status;
  int index, flag, count, indices[16];
  post(8, requests, next, previous, 100);
  CALL(MPI_Waitall, (16, requests, statuses));
  post(8, requests, next, previous, 200);
  CALL(MPI_Waitall, (16, requests, MPI_STATUSES_IGNORE));
  post(8, requests, next, previous, 300);
  for (int i = 0; i < 16; ++i) {
    CALL(MPI_Waitany, (16, requests, &index, &status));
    expect(index >= 0 && requests[index] == MPI_REQUEST_NULL, "index of Waitany");
  }
  CALL(MPI_Waitany, (16, requests, &index, &status));
  expect(index == MPI_UNDEFINED, "Waitany without requests");
  post(8, requests, next, previous, 400);
  for (int done = 0; done < 16;) {
    CALL(MPI_Testany, (16, requests, &index, &flag, MPI_STATUS_IGNORE));
    if (flag) ++done;
  }
  post(8, requests, next, previous, 500);
  for (int done = 0; done < 16;) {
    CALL(MPI_Waitsome, (16, requests, &count, indices, statuses));
    done += count;
  }
  CALL(MPI_Waitsome, (16, requests, &count, indices, statuses));
  expect(count == MPI_UNDEFINED, "Waitsome without requests");
  post(8, requests, next, previous, 600);
  for (int done = 0; done < 16;) {
    CALL(MPI_Testsome, (16, requests, &count, indices, MPI_STATUSES_IGNORE));
    done += count;
  }
  post(8, requests, next, previous, 700);
  for (flag = 0; !flag;) CALL(MPI_Testall, (16, requests, &flag, statuses));
  post(1, requests, next, previous, 800);
  for (flag = 0; !flag;) CALL(MPI_Test, (&requests[0], &flag, &status));
  for (flag = 0; !flag;) CALL(MPI_Request_get_status, (requests[1], &flag, &status));
  CALL(MPI_Wait, (&requests[1], MPI_STATUS_IGNORE));
  /* A send whose request is given up, a receive that is called back. */
  post(1, requests, next, previous, 900);
  CALL(MPI_Wait, (&requests[0], &status));
  CALL(MPI_Request_free, (&requests[1]));
  CALL(MPI_Irecv, (in[0], N, MPI_INT, previous, 999, MPI_COMM_WORLD, &requests[0]));
  CALL(MPI_Cancel, (&requests[0]));
  CALL(MPI_Wait, (&requests[0], &status));
  CALL(MPI_Test_cancelled, (&status, &flag));
  expect(flag, "a receive was called back");
}

static void persistent(int next, int previous) {
  MPI_Request requests[4];
  MPI_Status statuses[4];
  CALL(MPI_Recv_init, (in[0], N, MPI_INT, previous, 1, MPI_COMM_WORLD, &requests[0]));
  CALL(MPI_Send_init, (out[0], 11, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]));
  CALL(MPI_Recv_init, (in[1], N, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[2]));
  CALL(MPI_Ssend_init, (out[1], 12, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[3]));
  for (int i = 0; i < 5; ++i) {
    CALL(MPI_Start, (&requests[0]));
    CALL(MPI_Startall, (3, requests + 1));
    CALL(MPI_Waitall, (4, requests, statuses));
    /* The matrix counts a persistent send each time it is started. */
    count_message(next, 11 * sizeof(int));
    count_message(next, 12 * sizeof(int));
  }
  for (int i = 0; i < 4; ++i) CALL(MPI_Request_free, (&requests[i]));
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  const int next = (own_rank + 1) % all_ranks, previous = (own_rank + all_ranks - 1) % all_ranks;
  for (int round = 0; round < 4; ++round) {
    blocking(next, previous);
    nonblocking(next, previous);
    persistent(next, previous);
  }
  CALL(MPI_Barrier, (MPI_COMM_WORLD));
  end();
  return 0;
}
