/* The C interface of Fathom: open any dataset, list its tables, take their columns in the Arrow C data interface.
 *
 *   fathom_error* error = NULL;
 *   fathom_dataset* dataset = fathom_open("run.cubex", NULL, &error);
 *   struct ArrowArrayStream stream;
 *   if (dataset && fathom_table(dataset, "value", NULL, &stream, &error) == 0) { ...; stream.release(&stream); }
 *   fathom_close(dataset);
 *
 * Nothing is global and nothing prints. A stream keeps what it needs of the dataset, so that they may be released in any
 * order; arrays outlive their stream. Texts that functions return live as long as the object they were asked from.
 * Every function may be called from any thread; a stream by one thread at a time. */
#ifndef FATHOM_H
#define FATHOM_H

#include <fathom/arrow.h>
#include <fathom/export.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fathom_dataset fathom_dataset;
typedef struct fathom_error fathom_error;
typedef struct fathom_cancel fathom_cancel;
typedef struct fathom_models fathom_models;

/* --- errors: made by functions that were given a place for one; freed by the caller --- */
enum { FATHOM_UNUSABLE = 0, FATHOM_USAGE = 1, FATHOM_REFUSED = 2, FATHOM_CANCELLED = 3 };
FATHOM_API int fathom_error_kind(const fathom_error* error);
FATHOM_API const char* fathom_error_text(const fathom_error* error);
FATHOM_API const char* fathom_error_hint(const fathom_error* error);
/* "" where there is no file; offset and line are -1 where not known. */
FATHOM_API const char* fathom_error_file(const fathom_error* error);
FATHOM_API int64_t fathom_error_offset(const fathom_error* error);
FATHOM_API int64_t fathom_error_line(const fathom_error* error);
FATHOM_API void fathom_error_free(fathom_error* error);

/* --- stopping what runs: shared by all datasets that were opened with it --- */
FATHOM_API fathom_cancel* fathom_cancel_new(void);
FATHOM_API void fathom_cancel_request(fathom_cancel* cancel); /* also in a signal handler */
FATHOM_API void fathom_cancel_reset(fathom_cancel* cancel);
FATHOM_API void fathom_cancel_free(fathom_cancel* cancel);

/* --- datasets --- */
typedef struct fathom_open_options {
  size_t size;          /* sizeof(fathom_open_options) of the caller: later versions may have more members */
  const char* format;   /* NULL = recognise it by its content */
  int strict;           /* every defect of the data is an error */
  unsigned threads;     /* 0 = all cores */
  uint64_t max_memory;  /* bytes; 0 = three quarters of the machine's */
  fathom_cancel* cancel; /* NULL = never stopped; may be freed after the call */
  /* Called from any thread; it must not call Fathom. NULL = nobody is told. */
  void (*progress)(void* user, const char* label, uint64_t done, uint64_t total, int finished);
  void* user;
  const char* const* options; /* name, value, name, value, ..., NULL: as `fathom formats NAME` lists them */
} fathom_open_options;

/* NULL on failure; `error`, when not NULL, then receives why. */
FATHOM_API fathom_dataset* fathom_open(const char* path, const fathom_open_options* options, fathom_error** error);
FATHOM_API void fathom_close(fathom_dataset* dataset);

FATHOM_API const char* fathom_format(const fathom_dataset* dataset);
/* "trace profile": names of the levels, joined with a blank. */
FATHOM_API const char* fathom_levels(const fathom_dataset* dataset);
/* What `fathom info --json` prints, as one JSON object; freed with fathom_text_free. */
FATHOM_API char* fathom_info(fathom_dataset* dataset, int count, fathom_error** error);
FATHOM_API void fathom_text_free(char* text);
/* What is wrong and why, as JSON: what `fathom report --json` prints, without diagnostics. To be freed as above. */
FATHOM_API char* fathom_report(fathom_dataset* dataset, fathom_error** error);
/* The profile of a trace as a dataset of its own. `options`: pairs of name and value that end with NULL, or NULL:
 * from_ns, to_ns, windows, split (communicator, peer, size), channel. */
FATHOM_API fathom_dataset* fathom_reduce(fathom_dataset* dataset, const char* const* options, fathom_error** error);

/* --- tables --- */
/* Number of tables, and their names; NULL beyond the last. */
FATHOM_API size_t fathom_table_count(const fathom_dataset* dataset);
FATHOM_API const char* fathom_table_name(const fathom_dataset* dataset, size_t position);

typedef struct fathom_bounds {
  size_t size;                  /* sizeof(fathom_bounds) of the caller */
  const char* const* columns;   /* names, NULL at the end; NULL = all */
  const int64_t* from_ns;       /* NULL = no bound */
  const int64_t* to_ns;
  const char* const* locations; /* ids or patterns, NULL at the end; NULL = all */
  const char* const* metrics;
  const char* const* contexts;
  const char* flavour;          /* NULL or "" = as stored */
  int64_t part;                 /* -1 = all parts */
  uint64_t batch_rows;          /* 0 = 65536 */
} fathom_bounds;

/* 0 = done, and `out` is to be released by the caller; otherwise -1. */
FATHOM_API int fathom_table(fathom_dataset* dataset, const char* name, const fathom_bounds* bounds,
                            struct ArrowArrayStream* out, fathom_error** error);
/* Independent parts of a table within these bounds; -1 = it failed. */
FATHOM_API int64_t fathom_table_parts(fathom_dataset* dataset, const char* name, const fathom_bounds* bounds,
                                      fathom_error** error);

/* --- SQL: over datasets in schemas of these names ("" = no schema); needs libduckdb.so, see `fathom sql --help` --- */
FATHOM_API int fathom_sql(fathom_dataset* const* datasets, const char* const* schemas, size_t count, const char* query,
                          struct ArrowArrayStream* out, fathom_error** error);

/* --- models --- */
/* `options`: name, value, ..., NULL, as `fathom model --option` takes them; NULL = none. NULL = it failed. */
FATHOM_API fathom_models* fathom_fit(fathom_dataset* dataset, const char* modeler, const char* measure,
                                     const char* const* options, fathom_error** error);
FATHOM_API void fathom_models_free(fathom_models* models);
FATHOM_API size_t fathom_models_count(const fathom_models* models);
FATHOM_API size_t fathom_models_parameter_count(const fathom_models* models);
FATHOM_API const char* fathom_models_parameter(const fathom_models* models, size_t position);
FATHOM_API int fathom_models_table(fathom_models* models, struct ArrowArrayStream* out, fathom_error** error);
/* value, low and high at a point with one coordinate per parameter. */
FATHOM_API int fathom_models_predict(const fathom_models* models, size_t position, const double* point, size_t length,
                                     double level, double out[3], fathom_error** error);

FATHOM_API const char* fathom_version(void);

#ifdef __cplusplus
}
#endif

#endif
