// Turns something that pushes rows (messages) into a reader from which batches are pulled: it runs on a thread of its
// own, at most two batches ahead.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "base/execution.hpp"
#include "base/table.hpp"

namespace fathom {

// Takes a batch; false = nobody wants more.
using BatchSink = std::function<bool(Batch)>;
using BatchProducer = std::function<Result<void>(const BatchSink&)>;

class PushedBatches final : public BatchReader {
 public:
  // The producer starts with the first batch that is asked for, as the execution of that moment says.
  explicit PushedBatches(BatchProducer produce) : produce_(std::move(produce)) {}
  ~PushedBatches() override;

  Result<bool> next(Batch& batch) override;

 private:
  void run();
  bool put(Batch batch);

  BatchProducer produce_;
  Execution execution_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> ready_;
  std::optional<Error> error_;
  bool finished_ = false;
  bool unwanted_ = false;
  bool started_ = false;
  bool alone_ = false;  // no thread could be had: all batches are made before the first is taken
  std::optional<std::thread> thread_;
};

}  // namespace fathom
