/* columns DATASET: its tables, and the sum of the column `value` of the table `value`, through the C interface and the
 * Arrow C data interface. */
#include <fathom/fathom.h>
#include <stdio.h>
#include <string.h>

static int failed(fathom_error* error) {
  fprintf(stderr, "columns: %s\n", error ? fathom_error_text(error) : "no memory");
  fathom_error_free(error);
  return 2;
}

int main(int argc, char** argv) {
  fathom_error* error = NULL;
  fathom_open_options options;
  fathom_dataset* dataset;
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  fathom_bounds bounds;
  const char* columns[] = {"value", NULL};
  const char* metrics[] = {"time", NULL};
  double sum = 0;
  long long rows = 0;
  size_t i;

  if (argc != 2) {
    fprintf(stderr, "usage: columns DATASET\n");
    return 2;
  }
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.threads = 2;
  dataset = fathom_open(argv[1], &options, &error);
  if (!dataset) return failed(error);
  printf("%s (%s):", fathom_format(dataset), fathom_levels(dataset));
  for (i = 0; i < fathom_table_count(dataset); ++i) printf(" %s", fathom_table_name(dataset, i));
  printf("\n");

  memset(&bounds, 0, sizeof bounds);
  bounds.size = sizeof bounds;
  bounds.columns = columns;
  bounds.metrics = metrics;
  bounds.flavour = "exclusive";
  bounds.part = -1;
  if (fathom_table(dataset, "value", &bounds, &stream, &error) != 0) return failed(error);
  fathom_close(dataset); /* the stream keeps what it needs */

  if (stream.get_schema(&stream, &schema) != 0) return 2;
  if (strcmp(schema.children[0]->format, "g") != 0) return 2;
  schema.release(&schema);
  for (;;) {
    struct ArrowArray batch;
    int64_t row;
    if (stream.get_next(&stream, &batch) != 0) {
      fprintf(stderr, "columns: %s\n", stream.get_last_error(&stream));
      return 2;
    }
    if (!batch.release) break;
    for (row = 0; row < batch.length; ++row) sum += ((const double*)batch.children[0]->buffers[1])[row];
    rows += batch.length;
    batch.release(&batch);
  }
  stream.release(&stream);
  printf("%lld rows, %.6f\n", rows, sum);
  return 0;
}
