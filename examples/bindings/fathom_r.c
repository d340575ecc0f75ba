/* A table of a dataset as a data frame of R: the Arrow C data interface of libfathom, copied into vectors of R.
 *
 *   PKG_CPPFLAGS="$(pkg-config --cflags fathom)" PKG_LIBS="$(pkg-config --libs fathom)" R CMD SHLIB fathom_r.c
 *
 * then in R: dyn.load("fathom_r.so")
 *
 * Integers become doubles, since R has none of 64 bits: exact up to 2^53. */
#include <fathom/fathom.h>
#include <stdlib.h>
#include <string.h>
#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

/* The batches of a table, kept until all are there, since R must know a vector's length when it makes it. */
struct Batches {
  struct ArrowArray* array;
  size_t count;
  R_xlen_t rows;
};

static int is_null(const struct ArrowArray* column, int64_t row) {
  const unsigned char* valid = column->buffers[0];
  row += column->offset;
  return valid && !(valid[row / 8] >> (row % 8) & 1);
}

static SEXP numbers(const struct Batches* batches, int64_t position, char format) {
  SEXP out = PROTECT(Rf_allocVector(REALSXP, batches->rows));
  double* to = REAL(out);
  for (size_t i = 0; i < batches->count; ++i) {
    const struct ArrowArray* column = batches->array[i].children[position];
    for (int64_t row = 0; row < column->length; ++row) {
      const int64_t at = column->offset + row;
      if (is_null(column, row)) *to++ = NA_REAL;
      else if (format == 'g') *to++ = ((const double*)column->buffers[1])[at];
      else if (format == 'l') *to++ = (double)((const int64_t*)column->buffers[1])[at];
      else if (format == 'L') *to++ = (double)((const uint64_t*)column->buffers[1])[at];
      else if (format == 'd') *to++ = (double)((const __int128*)column->buffers[1])[at];
      else *to++ = ((const unsigned char*)column->buffers[1])[at / 8] >> (at % 8) & 1;
    }
  }
  UNPROTECT(1);
  return out;
}

/* A batch has a dictionary of its own, and codes into it. */
static SEXP texts(const struct Batches* batches, int64_t position) {
  SEXP out = PROTECT(Rf_allocVector(STRSXP, batches->rows));
  R_xlen_t at = 0;
  for (size_t i = 0; i < batches->count; ++i) {
    const struct ArrowArray* column = batches->array[i].children[position];
    const struct ArrowArray* dictionary = column->dictionary;
    const int32_t* codes = column->buffers[1];
    const int64_t* ends = dictionary->buffers[1];
    const char* bytes = dictionary->buffers[2];
    SEXP words = PROTECT(Rf_allocVector(STRSXP, dictionary->length));
    for (int64_t word = 0; word < dictionary->length; ++word) {
      SET_STRING_ELT(words, word, Rf_mkCharLenCE(bytes + ends[word], (int)(ends[word + 1] - ends[word]), CE_UTF8));
    }
    for (int64_t row = 0; row < column->length; ++row) {
      SET_STRING_ELT(out, at++, is_null(column, row) ? NA_STRING : STRING_ELT(words, codes[column->offset + row]));
    }
    UNPROTECT(1);
  }
  UNPROTECT(1);
  return out;
}

static void stop_with(fathom_error* error) {
  char text[1024] = "no memory";
  if (error) strncpy(text, fathom_error_text(error), sizeof text - 1);
  text[sizeof text - 1] = 0;
  fathom_error_free(error);
  Rf_error("%s", text); /* does not return */
}

/* .Call("fathom_read", path, table): a list of columns with their names. An error of R between taking the batches and
 * releasing them (no memory) would leak them; an example may. */
SEXP fathom_read(SEXP path, SEXP table) {
  fathom_error* error = NULL;
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  struct Batches batches = {NULL, 0, 0};
  int failed = 0;

  fathom_dataset* dataset = fathom_open(CHAR(STRING_ELT(path, 0)), NULL, &error);
  if (!dataset) stop_with(error);
  failed = fathom_table(dataset, CHAR(STRING_ELT(table, 0)), NULL, &stream, &error);
  fathom_close(dataset); /* the stream keeps what it needs */
  if (failed) stop_with(error);

  for (;;) {
    struct ArrowArray batch;
    failed = stream.get_next(&stream, &batch);
    if (failed || !batch.release) break;
    batches.array = realloc(batches.array, (batches.count + 1) * sizeof batch);
    if (!batches.array) Rf_error("no memory");
    batches.rows += batch.length;
    batches.array[batches.count++] = batch;
  }
  if (failed || stream.get_schema(&stream, &schema) != 0) {
    const char* text = stream.get_last_error(&stream);
    Rf_error("%s", text ? text : "the table could not be read");
  }

  SEXP out = PROTECT(Rf_allocVector(VECSXP, schema.n_children));
  SEXP names = PROTECT(Rf_allocVector(STRSXP, schema.n_children));
  for (int64_t i = 0; i < schema.n_children; ++i) {
    const struct ArrowSchema* column = schema.children[i];
    SET_STRING_ELT(names, i, Rf_mkCharCE(column->name, CE_UTF8));
    SET_VECTOR_ELT(out, i, column->dictionary ? texts(&batches, i) : numbers(&batches, i, column->format[0]));
  }
  Rf_setAttrib(out, R_NamesSymbol, names);
  schema.release(&schema);
  for (size_t i = 0; i < batches.count; ++i) batches.array[i].release(&batches.array[i]);
  free(batches.array);
  stream.release(&stream);
  UNPROTECT(2);
  return out;
}
