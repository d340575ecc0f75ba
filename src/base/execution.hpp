// How work runs: on how many threads, who may stop it, who hears how far it is. Nothing of this is global: whoever
// starts work says so for the time it takes, and parallel loops hand it on to the threads that help.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace fathom {

// How far a piece of work is.
struct ProgressReport {
  std::string_view label;  // "reading runs"
  std::uint64_t done = 0;
  std::uint64_t total = 1;  // never 0
  std::int64_t elapsed_ms = 0;
  bool finished = false;  // the last report of this piece
};
// MT: one call at a time per piece of work, from any thread. It must not start work of its own.
using ProgressSink = std::function<void(const ProgressReport&)>;

// Set by anybody at any time, also by a signal handler; work looks at it once per block.
using CancelFlag = std::shared_ptr<const std::atomic<bool>>;

class ThreadLimit;

// MT: safe (const).
class Execution {
 public:
  // All cores, never stopped, nobody told.
  Execution() = default;
  // threads: 0 = all cores.
  explicit Execution(unsigned threads, CancelFlag cancel = nullptr, ProgressSink progress = nullptr);

  [[nodiscard]] unsigned threads() const;
  [[nodiscard]] bool cancelled() const noexcept { return cancel_ && cancel_->load(std::memory_order_relaxed); }
  [[nodiscard]] const ProgressSink& progress() const { return progress_; }
  // Runs the body so that parallel loops inside keep to the number of threads.
  void run(const std::function<void()>& body) const;

  // What holds for this thread now.
  static const Execution& current();

 private:
  unsigned threads_ = 0;
  std::shared_ptr<ThreadLimit> limit_;  // where there is one
  CancelFlag cancel_;
  ProgressSink progress_;
};

// For its life time the execution holds on this thread. It must outlive the scope.
class ExecutionScope {
 public:
  explicit ExecutionScope(const Execution& execution);
  ~ExecutionScope();
  ExecutionScope(const ExecutionScope&) = delete;
  ExecutionScope& operator=(const ExecutionScope&) = delete;

 private:
  const Execution* before_;
};

}  // namespace fathom
