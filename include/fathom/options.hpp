// How a dataset is opened and how everything that is asked of it runs. Nothing of this is global: two datasets may have
// different options at the same time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::api {

// How far a piece of work is. Work of less than half a second says nothing.
struct Progress {
  std::string_view label;  // "reading runs"; valid during the call only
  std::uint64_t done = 0;
  std::uint64_t total = 1;
  std::int64_t elapsed_ms = 0;
  bool finished = false;  // the last report of this piece of work
};

// Asks running work to stop: it then fails with ErrorKind::cancelled. Copies are the same token.
// MT: safe; request() may be called in a signal handler.
class CancelToken {
 public:
  CancelToken() : flag_(std::make_shared<std::atomic<bool>>(false)) {}
  void request() const noexcept { flag_->store(true, std::memory_order_relaxed); }
  // From now on work goes on again.
  void reset() const noexcept { flag_->store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool requested() const noexcept { return flag_->load(std::memory_order_relaxed); }
  [[nodiscard]] std::shared_ptr<const std::atomic<bool>> flag() const { return flag_; }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

struct OpenOptions {
  std::string format = {};       // take it as this format; empty = recognise it by its content
  bool strict = false;           // every defect of the data is an error
  unsigned threads = 0;          // 0 = all cores
  std::uint64_t max_memory = 0;  // bytes for tables; 0 = three quarters of the machine's
  CancelToken cancel = {};       // request() on it stops what is running
  // Called from any thread, one call at a time for each piece of work. It must neither throw nor call Fathom.
  std::function<void(const Progress&)> progress = {};
  // What the format knows, by name: see `fathom formats NAME`. Unknown names are errors.
  std::vector<std::pair<std::string, std::string>> options = {};
};

}  // namespace fathom::api

namespace fathom {
using api::CancelToken;
using api::OpenOptions;
}  // namespace fathom
