#include <csignal>
#include <exception>
#include <string>
#include <vector>

#include "cli/interrupt.hpp"
#include "cli/program.hpp"

int main(int count, char** arguments) {
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
