#include "cli/run_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

extern "C" char** environ;

namespace fathom::cli {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& list) {
  std::vector<char*> out;
  for (const std::string& text : list) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_with(const Variables& variables) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    const bool ours = std::any_of(variables.begin(), variables.end(), [&](const auto& v) { return v.first == name; });
    if (!ours) environment.emplace_back(text);
  }
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

}  // namespace

Result<int> run_command(const std::vector<std::string>& words, const Variables& variables, std::string* output) {
  const std::vector<std::string> environment = environment_with(variables);
  std::vector<char*> arguments = pointers(words);
  std::vector<char*> settings = pointers(environment);
  // The program gets its signals as if it had been started alone.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&usual, number);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  int ends[2] = {-1, -1};
  int error = 0;
  if (output != nullptr) {
    error = ::pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  }
  pid_t child = 0;
  if (error == 0) {
    error = posix_spawnp(&child, arguments.front(), &actions, &attributes, arguments.data(), settings.data());
  }
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (ends[1] >= 0) ::close(ends[1]);
  if (error != 0) {
    if (ends[0] >= 0) ::close(ends[0]);
    return Error(fmt::format("{}: {}", words.front(), std::strerror(error)));
  }
  if (output != nullptr) {
    char block[65536];
    for (ssize_t got = 0; (got = ::read(ends[0], block, sizeof block)) != 0;) {
      if (got < 0 && errno != EINTR) break;
      if (got > 0) output->append(block, static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace fathom::cli
