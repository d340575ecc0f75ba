#include "tables/pushed_batches.hpp"

#include "base/helper_thread.hpp"

namespace fathom {

namespace {
constexpr std::size_t kAhead = 2;
}

PushedBatches::~PushedBatches() {
  {
    const std::scoped_lock lock(mutex_);
    unwanted_ = true;
  }
  changed_.notify_all();
  if (thread_) thread_->join();
}

void PushedBatches::run() {
  const ExecutionScope scope(execution_);
  auto status = produce_([this](Batch batch) { return put(std::move(batch)); });
  {
    const std::scoped_lock lock(mutex_);
    if (!status.ok()) error_ = std::move(status).error();
    finished_ = true;
  }
  changed_.notify_all();
}

bool PushedBatches::put(Batch batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return unwanted_ || alone_ || ready_.size() < kAhead; });
  if (unwanted_) return false;
  ready_.push_back(std::move(batch));
  lock.unlock();
  changed_.notify_all();
  return true;
}

Result<bool> PushedBatches::next(Batch& batch) {
  batch = {};
  if (!started_) {
    started_ = true;
    execution_ = Execution::current();
    thread_ = helper_thread([this] { run(); });
    if (!thread_) {
      alone_ = true;
      run();
    }
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return finished_ || !ready_.empty(); });
  if (ready_.empty()) {
    if (error_) return *error_;
    return false;
  }
  batch = std::move(ready_.front());
  ready_.pop_front();
  lock.unlock();
  changed_.notify_all();
  return true;
}

}  // namespace fathom
