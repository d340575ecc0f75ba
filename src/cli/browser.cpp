#include "cli/browser.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

extern char** environ;  // NOLINT: POSIX

namespace fathom::cli {

Result<BrowserDoor> BrowserDoor::open(std::string_view address) {
  std::string folder = (std::filesystem::temp_directory_path() / "fathom-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {  // mode 0700
    return Error(std::string("no private folder: ") + std::strerror(errno), Place::in(folder));
  }
  BrowserDoor door(folder);
  const std::string file = folder + "/open.html";
  const std::string page = fmt::format(
      "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
      "<meta http-equiv=\"refresh\" content=\"0;url={0}\"><title>Fathom</title><a href=\"{0}\">Open the viewer</a>\n",
      address);
  const int target = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool written = target >= 0 && ::write(target, page.data(), page.size()) == static_cast<ssize_t>(page.size());
  if (target >= 0) close(target);
  if (!written) return Error(std::string("cannot be written: ") + std::strerror(errno), Place::in(file));

  const char* chosen = std::getenv("BROWSER");
  std::string program = chosen != nullptr && *chosen != '\0' ? chosen : "xdg-open";
  std::string argument = file;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
  }
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program.c_str(), &files, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    return Error(fmt::format("the browser '{}' cannot be started: {}", program, std::strerror(failed)))
        .hint("open the printed address yourself, or set BROWSER");
  }
  return door;
}

BrowserDoor::~BrowserDoor() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

}  // namespace fathom::cli
