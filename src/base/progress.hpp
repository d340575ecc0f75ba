// How far a piece of work is, for whoever the execution tells (a bar of the program, a callback of a host). Silent for
// the first half second.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/execution.hpp"

namespace fathom {

// MT: advance() may be called from several threads.
class Progress {
 public:
  Progress(std::string label, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::uint64_t steps = 1);

 private:
  void report(std::uint64_t done, std::int64_t elapsed_ms, bool finished);

  std::string label_;
  std::uint64_t total_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::int64_t> next_report_ms_;
  std::chrono::steady_clock::time_point start_;
  ProgressSink sink_;  // empty = nobody listens
  std::mutex reporting_;
  bool reported_ = false;
};

}  // namespace fathom
