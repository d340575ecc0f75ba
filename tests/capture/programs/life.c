/* Programs that end in other ways than most, and that use what a recorder rarely sees. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#include "counted.h"

/* A thread that makes no call which DUMPI has a place for. */
static void *only_newer(void *nothing) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  for (int i = 0; i < 3; ++i) CALL(MPI_Get_library_version, (text, &length));
  return nothing;
}

static void talk(int rounds) {
  int out = own_rank, in = 0;
  const int next = (own_rank + 1) % all_ranks, previous = (own_rank + all_ranks - 1) % all_ranks;
  for (int i = 0; i < rounds; ++i) {
    CALL(MPI_Sendrecv, (&out, 1, MPI_INT, next, 0, &in, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    count_message(next, sizeof(int));
  }
}

/* Says how far it is in a file that is there even when it is killed. */
static void forever(void) {
  char path[64];
  snprintf(path, sizeof path, "reached.%d", own_rank);
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (ftruncate(file, 16) != 0) abort();
  char *reached = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  memset(reached, ' ', 15);
  reached[15] = '\n';
  snprintf(path, sizeof path, "pid.%d", (int)getpid());
  fclose(fopen(path, "w"));
  for (long i = 0;; ++i) {
    talk(1);
    char text[16];
    snprintf(text, sizeof text, "%15ld", i + 1);
    memcpy(reached, text, 15);
  }
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "exit";
  begin(&argc, &argv);
  talk(100);
  if (strcmp(how, "exit") == 0) {
    CALL(MPI_Barrier, (MPI_COMM_WORLD));
    write_counts();
    exit(0);
  }
  if (strcmp(how, "abort") == 0) {
    CALL(MPI_Barrier, (MPI_COMM_WORLD));
    if (own_rank == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    for (;;) talk(1);
  }
  if (strcmp(how, "fork") == 0) {
    pid_t child = fork();
    if (child == 0) exit(0); /* runs everything that is to be done at an exit */
    int status;
    waitpid(child, &status, 0);
    expect(status == 0, "a child without MPI");
    expect(system("true") == 0, "a program without MPI");
    talk(10);
  }
  if (strcmp(how, "pcontrol") == 0) {
    for (int i = 0; i < 30; ++i) {
      if (i == 10) MPI_Pcontrol(0);
      if (i == 20) MPI_Pcontrol(1);
      CALL(MPI_Barrier, (MPI_COMM_WORLD));
    }
    MPI_Pcontrol(2, "step %d", 7);
  }
  if (strcmp(how, "newer") == 0) {
    for (int i = 0; i < 10; ++i) {
      MPI_Request requests[2];
      int out = 1, in = 0;
      CALL(MPI_Ibarrier, (MPI_COMM_WORLD, &requests[0]));
      CALL(MPI_Iallreduce, (&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]));
      CALL(MPI_Waitall, (2, requests, MPI_STATUSES_IGNORE));
      expect(in == all_ranks, "sum");
    }
    pthread_t thread;
    pthread_create(&thread, NULL, only_newer, NULL);
    pthread_join(thread, NULL);
  }
  if (strcmp(how, "forever") == 0) forever();
  end();
  return 0;
}
