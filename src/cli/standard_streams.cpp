#include "cli/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace fathom::cli {

void hold_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // A directory is there even where /dev is not. It takes the lowest free number, which is this one.
    if (fcntl(stream, F_GETFD) < 0) (void)open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
}

}  // namespace fathom::cli
