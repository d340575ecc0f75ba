/* Types of DUMPI traces under the names of libundumpi: programs written for that compile with this folder in their
 * include path and link with libfathom. */
#ifndef FATHOM_UNDUMPI_TYPES_H
#define FATHOM_UNDUMPI_TYPES_H

#include <dumpi/common/funclabels.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef int16_t dumpi_combiner;
typedef int16_t dumpi_comm;
typedef int8_t dumpi_comparison;
typedef int16_t dumpi_datatype;
typedef int32_t dumpi_dest;
typedef int16_t dumpi_distribution;
typedef int32_t dumpi_errcode;
typedef int16_t dumpi_errhandler;
typedef int16_t dumpi_file;
typedef int16_t dumpi_filemode;
typedef int16_t dumpi_group;
typedef int16_t dumpi_info;
typedef int16_t dumpi_keyval;
typedef int16_t dumpi_comm_keyval;
typedef int16_t dumpi_type_keyval;
typedef int16_t dumpi_win_keyval;
typedef int16_t dumpi_locktype;
typedef int16_t dumpi_op;
typedef int8_t dumpi_ordering;
typedef int32_t dumpi_source;
typedef int32_t dumpi_tag;
typedef int16_t dumpi_threadlevel;
typedef int16_t dumpi_topology;
typedef int16_t dumpi_typeclass;
typedef int16_t dumpi_whence;
typedef int16_t dumpi_win;
typedef int16_t dumpi_win_assert;
typedef int32_t dumpi_request;
typedef int32_t dumpio_request;

typedef struct dumpi_status {
  int32_t bytes;
  int32_t source;
  int32_t tag;
  int8_t cancelled;
  int8_t error;
} dumpi_status;

typedef struct dumpi_header {
  char version[3];
  uint64_t starttime;
  char *hostname;
  char *username;
  int meshdim;
  int *meshcrd;
  int *meshsize;
} dumpi_header;
void dumpi_free_header(dumpi_header *header);

typedef struct dumpi_keyval_entry {
  char *key;
  char *val;
  struct dumpi_keyval_entry *next;
} dumpi_keyval_entry;
typedef struct dumpi_keyval_record {
  int count;
  dumpi_keyval_entry *head;
  dumpi_keyval_entry *tail;
} dumpi_keyval_record;
void dumpi_free_keyval_record(dumpi_keyval_record *keyval);

typedef struct dumpi_footer {
  uint32_t call_count[DUMPI_ALL_FUNCTIONS + 1];
  uint32_t ignored_count[DUMPI_ALL_FUNCTIONS + 1];
} dumpi_footer;
void dumpi_free_footer(dumpi_footer *footer);

typedef struct dumpi_sizeof {
  dumpi_datatype count;
  int *size; /* to be freed */
} dumpi_sizeof;

#define DUMPI_MAX_PERFCTRS 128
#define DUMPI_MAX_PERFCTR_NAME 80
typedef char dumpi_perflabel_t[DUMPI_MAX_PERFCTR_NAME];
typedef struct dumpi_perfinfo {
  int32_t count;
  dumpi_perflabel_t counter_tag[DUMPI_MAX_PERFCTRS];
  int64_t invalue[DUMPI_MAX_PERFCTRS];
  int64_t outvalue[DUMPI_MAX_PERFCTRS];
} dumpi_perfinfo;

/* Absolute: the bias of the stream is in it. */
typedef struct dumpi_clock {
  int32_t sec;
  int32_t nsec;
} dumpi_clock;
/* `t` in units of a second divided by `scale`. */
static inline dumpi_clock dumpi_clock_init_scale(int64_t t, int64_t scale) {
  const dumpi_clock c = {(int32_t)(t / scale), (int32_t)(t % scale)};
  return c;
}
static inline dumpi_clock dumpi_clock_init_time(int64_t sec, int64_t nsec) {
  const dumpi_clock c = {(int32_t)sec, (int32_t)nsec};
  return c;
}
typedef struct dumpi_time {
  dumpi_clock start;
  dumpi_clock stop;
} dumpi_time;

/* An open trace of one rank. */
typedef struct dumpi_profile {
  char version[3];
  int32_t cpu_time_offset;
  int32_t wall_time_offset;
  uint64_t total_file_size;
  uint64_t pos;
  struct fathom_undumpi *state;
} dumpi_profile;

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
