/* What a test program counts itself, to be compared with what was recorded of it. */
#ifndef COUNTED_H
#define COUNTED_H
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MOST_NAMES 512
#define MOST_RANKS 64
static struct {
  const char *name;
  long count;
} counted[MOST_NAMES];
static long messages_to[MOST_RANKS], bytes_to[MOST_RANKS], messages_from[MOST_RANKS], bytes_from[MOST_RANKS];
static pthread_mutex_t counted_lock = PTHREAD_MUTEX_INITIALIZER;

static int count_call(const char *name) {
  pthread_mutex_lock(&counted_lock);
  int i = 0;
  while (counted[i].name != NULL && strcmp(counted[i].name, name) != 0) ++i;
  counted[i].name = name;
  ++counted[i].count;
  pthread_mutex_unlock(&counted_lock);
  return 0;
}
static void count_message(int to, long bytes) {
  pthread_mutex_lock(&counted_lock);
  ++messages_to[to];
  bytes_to[to] += bytes;
  pthread_mutex_unlock(&counted_lock);
}
/* What a MPI_Get brings is a message of the other one. */
static inline void count_fetched(int from, long bytes) {
  pthread_mutex_lock(&counted_lock);
  ++messages_from[from];
  bytes_from[from] += bytes;
  pthread_mutex_unlock(&counted_lock);
}
/* CALL(MPI_Send, (buffer, 1, ...)) */
#define CALL(name, arguments) (count_call(#name), name arguments)

static int own_rank, all_ranks;

/* Into the working directory: one file per rank. */
static void write_counts(void) {
  char path[64];
  snprintf(path, sizeof path, "counts.%d", own_rank);
  FILE *file = fopen(path, "w");
  if (file == NULL) abort();
  for (int i = 0; counted[i].name != NULL; ++i) fprintf(file, "call %s %ld\n", counted[i].name, counted[i].count);
  for (int i = 0; i < all_ranks; ++i) {
    if (messages_to[i] != 0) fprintf(file, "sent %d %d %ld %ld\n", own_rank, i, messages_to[i], bytes_to[i]);
    if (messages_from[i] != 0) fprintf(file, "sent %d %d %ld %ld\n", i, own_rank, messages_from[i], bytes_from[i]);
  }
  fclose(file);
}

static void begin(int *argc, char ***argv) {
  CALL(MPI_Init, (argc, argv));
  CALL(MPI_Comm_rank, (MPI_COMM_WORLD, &own_rank));
  CALL(MPI_Comm_size, (MPI_COMM_WORLD, &all_ranks));
  /* As if the disk were full; not before, for the MPI library needs files of its own. */
  if (getenv("SMALL_FILES") != NULL) {
    struct rlimit limit = {65536, 65536};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
  }
}
static void end(void) {
  CALL(MPI_Finalize, ());
  write_counts();
}
static void expect(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "rank %d: wrong: %s\n", own_rank, what);
  abort();
}
#endif
