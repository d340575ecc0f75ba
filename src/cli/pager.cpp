#include "cli/pager.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/text.hpp"

namespace fathom::cli {

namespace {

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) {
    if (!folder.empty() && ::access((std::string(folder) + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string pager_command() {
  if (const char* wanted = std::getenv("PAGER")) {
    const std::string command(trim(wanted));
    if (command == "cat") return {};
    // Without options of its own it would stay when everything is on the screen, and break long lines.
    return command == "less" ? "less -FRSX" : command;
  }
  return on_path("less") ? "less -FRSX" : "";
}

}  // namespace

Result<void> through_pager(Output& plain, const std::function<Result<void>(Output&)>& write) {
  const std::string command = pager_command();
  if (command.empty()) return write(plain);
  plain.flush();
  std::FILE* pipe = popen(command.c_str(), "w");
  if (pipe == nullptr) return write(plain);
  const Result<void> outcome = [&]() -> Result<void> {
    Output out(fileno(pipe));
    out.for_people(true);
    FATHOM_CHECK(write(out));
    return out.finish();
  }();
  pclose(pipe);
  return outcome;
}

}  // namespace fathom::cli
