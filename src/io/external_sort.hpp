// Sorting of more than memory should hold: runs are sorted one by one, what does not fit goes to a file, and all are
// merged at the end.
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "io/spill_file.hpp"

namespace fathom {

// Less must tell any two items apart: then the result depends neither on the runs nor on the order they come in.
template <class T, class Less>
class ExternalSorter {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // `memory` bounds the bytes kept by add(), and again those of the buffers of the merge.
  explicit ExternalSorter(std::uint64_t memory, Less less = {}) : memory_(memory), less_(less) {}

  // Takes the items out of `run`.
  // MT: internally synchronised; runs are sorted outside of the lock.
  Result<void> add(std::vector<T>& run) {
    if (run.empty()) return {};
    std::sort(run.begin(), run.end(), less_);
    const std::scoped_lock lock(mutex_);
    Run next;
    next.left = run.size();
    const std::uint64_t bytes = run.size() * sizeof(T);
    if (kept_ + bytes <= memory_) {
      kept_ += bytes;
      next.items.assign(run.begin(), run.end());
    } else {
      next.offset = file_.size();
      next.spilled = true;
      ++spilled_;
      FATHOM_CHECK(file_.append(std::as_bytes(std::span(run))));
    }
    run.clear();
    runs_.push_back(std::move(next));
    return {};
  }

  // The next item in order, valid until the next call; null at the end or after an error. Nothing may be added any
  // more.
  const T* next() {
    if (error_) return nullptr;
    if (!merging_) {
      merging_ = true;
      for (std::size_t i = 0; i < runs_.size(); ++i) {
        if (load(runs_[i])) heap_.push_back(i);
      }
      std::make_heap(heap_.begin(), heap_.end(),
                     [this](std::size_t a, std::size_t b) { return less_(head(b), head(a)); });
    } else if (!heap_.empty()) {
      Run& last = runs_[heap_.front()];
      ++last.at;
      if (last.at == last.items.size() && !load(last)) {
        heap_.front() = heap_.back();
        heap_.pop_back();
      }
      sink_front();
    }
    if (error_ || heap_.empty()) return nullptr;
    return &head(heap_.front());
  }
  [[nodiscard]] Result<void> status() const {
    if (error_) return *error_;
    return {};
  }
  [[nodiscard]] bool spilled() const { return spilled_ > 0; }

 private:
  struct Run {
    std::vector<T> items;      // all of it, or what was read of it
    std::size_t at = 0;        // in items
    std::uint64_t offset = 0;  // of what comes next in the file
    std::uint64_t left = 0;    // items that are not in `items` yet, or not taken over
    bool spilled = false;
  };

  const T& head(std::size_t run) const { return runs_[run].items[runs_[run].at]; }

  // Makes items[at] the next item of the run; false at its end.
  bool load(Run& run) {
    if (run.left == 0) {
      run.items = {};
      return false;
    }
    if (!run.spilled) {
      run.left = 0;
      return true;
    }
    const std::uint64_t room = std::max<std::uint64_t>(memory_ / spilled_ / sizeof(T), 16);
    run.items.resize(static_cast<std::size_t>(std::min(run.left, room)));
    run.at = 0;
    if (auto read = file_.read(run.offset, std::as_writable_bytes(std::span(run.items))); !read) {
      error_ = std::move(read).error();
      return false;
    }
    run.offset += run.items.size() * sizeof(T);
    run.left -= run.items.size();
    return true;
  }

  // Another item has come to the front of the heap.
  void sink_front() {
    std::size_t at = 0;
    for (;;) {
      std::size_t child = 2 * at + 1;
      if (child >= heap_.size()) return;
      if (child + 1 < heap_.size() && less_(head(heap_[child + 1]), head(heap_[child]))) ++child;
      if (!less_(head(heap_[child]), head(heap_[at]))) return;
      std::swap(heap_[child], heap_[at]);
      at = child;
    }
  }

  std::uint64_t memory_;
  Less less_;
  std::mutex mutex_;
  SpillFile file_;
  std::uint64_t kept_ = 0;
  std::uint64_t spilled_ = 0;  // runs
  std::vector<Run> runs_;
  std::vector<std::size_t> heap_;  // runs that have items, the earliest first
  bool merging_ = false;
  std::optional<Error> error_;
};

}  // namespace fathom
