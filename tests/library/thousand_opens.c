/* Opens and reads datasets again and again, also one that there is not: nothing may be left behind. Run under valgrind.
 *
 * usage: thousand_opens COUNT PATH...
 */
#include <fathom/arrow.h>
#include <fathom/fathom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long read_table(fathom_dataset *dataset, const char *name) {
  struct ArrowArrayStream stream;
  fathom_error *error = NULL;
  memset(&stream, 0, sizeof stream);
  if (fathom_table(dataset, name, NULL, &stream, &error) != 0) {
    fathom_error_free(error);
    return 0;
  }
  long rows = 0;
  struct ArrowArray batch;
  while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL) {
    rows += (long)batch.length;
    batch.release(&batch);
  }
  stream.release(&stream);
  return rows;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const int count = atoi(argv[1]);
  long rows = 0;
  for (int i = 0; i < count; ++i) {
    fathom_error *error = NULL;
    fathom_dataset *dataset = fathom_open(argv[2 + i % (argc - 2)], NULL, &error);
    if (dataset == NULL) {
      fathom_error_free(error);
      continue;
    }
    for (size_t k = 0; k < fathom_table_count(dataset); ++k) rows += read_table(dataset, fathom_table_name(dataset, k));
    char *report = fathom_report(dataset, &error);
    if (report == NULL) fathom_error_free(error);
    fathom_text_free(report);
    fathom_close(dataset);
  }
  printf("%ld rows\n", rows);
  return rows > 0 ? 0 : 1;
}
