// A progress bar on stderr when that is a terminal; silent otherwise, and for the first half second.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace fathom {

void set_progress_enabled(bool enabled);  // --quiet

// MT: advance() may be called from several threads.
class Progress {
 public:
  Progress(std::string label, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::uint64_t steps = 1);

 private:
  void draw(std::uint64_t done);

  std::string label_;
  std::uint64_t total_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::int64_t> next_draw_ms_;
  std::chrono::steady_clock::time_point start_;
  bool enabled_;
  std::atomic<bool> drawn_{false};
};

}  // namespace fathom
