#include "base/execution.hpp"

#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <latch>
#include <thread>
#include <vector>

#include "base/helper_thread.hpp"

namespace fathom {

// More threads than there are cores are never at work, and TBB would say so on its own.
class ThreadLimit {
 public:
  explicit ThreadLimit(unsigned threads)
      : arena(
            static_cast<int>(std::min(threads, static_cast<unsigned>(std::max(1, tbb::info::default_concurrency()))))) {
  }
  tbb::task_arena arena;
};

namespace {

thread_local const Execution* t_current = nullptr;

// Whether the system gives us as many threads as there are cores (limits of processes, of a container, of memory). TBB
// cannot go on when it gets none in the midst of the work, so this is tried once before.
bool threads_can_be_had() {
  static const bool all = [] {
    const auto cores = static_cast<std::size_t>(std::max(1, tbb::info::default_concurrency()));
    std::latch release(1);
    std::vector<std::thread> tried;
    while (tried.size() < cores) {
      auto one = helper_thread([&release] { release.wait(); });
      if (!one) break;
      tried.push_back(*std::move(one));
    }
    const bool enough = tried.size() == cores;
    release.count_down();
    for (std::thread& one : tried) one.join();
    return enough;
  }();
  return all;
}

}  // namespace

Execution::Execution(unsigned threads, CancelFlag cancel, ProgressSink progress)
    : threads_(threads == 1 || threads_can_be_had() ? threads : 1),
      limit_(threads_ > 0 ? std::make_shared<ThreadLimit>(threads_) : nullptr),
      cancel_(std::move(cancel)),
      progress_(std::move(progress)) {}

unsigned Execution::threads() const {
  if (threads_ > 0) return threads_;
  return threads_can_be_had() ? static_cast<unsigned>(std::max(1, tbb::info::default_concurrency())) : 1;
}

void Execution::run(const std::function<void()>& body) const {
  // A thread that is inside already just goes on.
  if (limit_) {
    limit_->arena.execute(body);
  } else if (threads_can_be_had()) {
    body();
  } else {
    thread_local ThreadLimit alone(1);
    alone.arena.execute(body);
  }
}

const Execution& Execution::current() {
  static const Execution unlimited;
  return t_current != nullptr ? *t_current : unlimited;
}

ExecutionScope::ExecutionScope(const Execution& execution) : before_(t_current) { t_current = &execution; }
ExecutionScope::~ExecutionScope() { t_current = before_; }

}  // namespace fathom
