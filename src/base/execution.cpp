#include "base/execution.hpp"

#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <algorithm>

namespace fathom {

class ThreadLimit {
 public:
  explicit ThreadLimit(int threads) : arena(threads) {}
  tbb::task_arena arena;
};

namespace {
thread_local const Execution* t_current = nullptr;
}  // namespace

Execution::Execution(unsigned threads, CancelFlag cancel, ProgressSink progress)
    : threads_(threads),
      limit_(threads > 0 ? std::make_shared<ThreadLimit>(static_cast<int>(std::min(threads, 65536U))) : nullptr),
      cancel_(std::move(cancel)),
      progress_(std::move(progress)) {}

unsigned Execution::threads() const {
  return threads_ > 0 ? threads_ : static_cast<unsigned>(std::max(1, tbb::info::default_concurrency()));
}

void Execution::run(const std::function<void()>& body) const {
  // A thread that is inside already just goes on.
  if (limit_) {
    limit_->arena.execute(body);
  } else {
    body();
  }
}

const Execution& Execution::current() {
  static const Execution unlimited;
  return t_current != nullptr ? *t_current : unlimited;
}

ExecutionScope::ExecutionScope(const Execution& execution) : before_(t_current) { t_current = &execution; }
ExecutionScope::~ExecutionScope() { t_current = before_; }

}  // namespace fathom
