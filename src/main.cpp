#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "cli/interrupt.hpp"
#include "cli/program.hpp"
#include "cli/standard_streams.hpp"

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

// The heap grows by large steps, the first of which is of huge pages where the system gives those to who asks: memory
// that is used for the first time costs a fault per page.
void ask_for_huge_pages() {
#if defined(M_TOP_PAD) && defined(MADV_HUGEPAGE)
  constexpr std::size_t kStep = std::size_t{32} << 20;
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  mallopt(M_TOP_PAD, kStep);
  const auto before = reinterpret_cast<std::uintptr_t>(sbrk(0));
  void* volatile more = std::malloc(kHugePage / 2);  // than is left; volatile: or the compiler leaves both calls out
  std::free(more);
  const auto after = reinterpret_cast<std::uintptr_t>(sbrk(0));
  const std::uintptr_t begin = (before + kHugePage - 1) / kHugePage * kHugePage;
  if (after > before && begin < after) madvise(reinterpret_cast<void*>(begin), after - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace

int main(int count, char** arguments) {
  fathom::cli::hold_closed_streams();
  keep_freed_memory();
  ask_for_huge_pages();
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
