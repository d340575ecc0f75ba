#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <csignal>
#include <exception>
#include <string>
#include <vector>

#include "cli/interrupt.hpp"
#include "cli/program.hpp"

namespace {

// Batches come and go by the megabyte: what one gave back is for the next, not for the system, which would have to
// clear the pages again.
void keep_freed_memory() {
#ifdef M_TRIM_THRESHOLD
  constexpr int kMegabyte = 1 << 20;
  mallopt(M_TRIM_THRESHOLD, 64 * kMegabyte);
  mallopt(M_MMAP_THRESHOLD, 8 * kMegabyte);
#endif
}

}  // namespace

int main(int count, char** arguments) {
  keep_freed_memory();
  // A reader that goes away ("| head") shows as a failed write, which ends the work quietly.
  std::signal(SIGPIPE, SIG_IGN);
  // So does a limit on the size of files.
  std::signal(SIGXFSZ, SIG_IGN);
  fathom::cli::install_interrupt_handler();
  fathom::Output out(1);
  fathom::Output err(2);
  try {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    return fathom::cli::run_program(words, out, err);
  } catch (const std::exception& error) {
    // Nothing throws on purpose: memory ran out, or a fault of the program.
    err.write(std::string("fathom: error: ") + error.what() + "\n");
    return 2;
  }
}
