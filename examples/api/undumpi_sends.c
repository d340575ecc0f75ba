/* A program in the shape of libundumpi: messages that one rank sends.
 *
 *     cc -I PREFIX/include/fathom/undumpi undumpi_sends.c -o undumpi_sends -lfathom
 *     ./undumpi_sends trace-0000.bin
 */
#include <dumpi/libundumpi/bindings.h>
#include <dumpi/libundumpi/libundumpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct sends {
  dumpi_sizeof sizes;
  long count, bytes;
  dumpi_comm comm;
} sends;

static int on_isend(const dumpi_isend *prm, uint16_t thread, const dumpi_time *cpu, const dumpi_time *wall,
                    const dumpi_perfinfo *perf, void *userarg) {
  sends *all = userarg;
  (void)thread, (void)cpu, (void)wall, (void)perf;
  ++all->count;
  if (prm->datatype < all->sizes.count) all->bytes += (long)prm->count * all->sizes.size[prm->datatype];
  all->comm = prm->comm;
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s TRACE.bin\n", argv[0]);
    return 2;
  }
  dumpi_profile *profile = undumpi_open(argv[1]);
  if (profile == NULL) return 1;
  sends all = {{0, NULL}, 0, 0, DUMPI_COMM_NULL};
  all.sizes = undumpi_read_datatype_sizes(profile);
  libundumpi_callbacks callbacks;
  libundumpi_clear_callbacks(&callbacks);
  callbacks.on_isend = on_isend;
  const int good = undumpi_read_stream(profile, &callbacks, &all, false);
  printf("%ld sends, %ld bytes, to %s\n", all.count, all.bytes, dumpi_get_comm_name(all.comm));
  free(all.sizes.size);
  undumpi_close(profile);
  return good ? 0 : 1;
}
