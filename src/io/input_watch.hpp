// Whether a dataset that stays open for long, in the viewer or a program that uses the library, is still what it was.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/diagnostics.hpp"
#include "base/error.hpp"

namespace fathom {

// MT: safe.
class InputWatch {
 public:
  // From before it is opened.
  explicit InputWatch(const std::filesystem::path& dataset);

  // Asked after each piece of work, and before the next: the file that is gone or shorter than it was, from then on
  // always. One that was written to is a warning, or that error where warnings are.
  std::optional<Error> lost(Diagnostics* diagnostics);

 private:
  [[nodiscard]] bool owns(const std::string& file) const;

  std::string path_;
  std::string beside_;  // how files of the same set begin
  std::uint64_t losses_;
  std::mutex mutex_;
  std::optional<Error> lost_;
  std::set<std::string> told_;
  std::chrono::steady_clock::time_point next_look_;
};

// Somebody works on inputs: while that is so, input that was lost stops all work.
// MT: safe.
class InputsInUse {
 public:
  InputsInUse();
  ~InputsInUse();
  InputsInUse(const InputsInUse&) = delete;
  InputsInUse& operator=(const InputsInUse&) = delete;
  static bool any();
};

}  // namespace fathom
