// What each task of a location has open, as the markers of tasks switch between them (MarkerMeaning).
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "trace/event.hpp"

namespace fathom {

template <class Frame>
class TaskStacks {
 public:
  using Stack = std::vector<Frame>;

  // Of the task that runs; 0 is the location's own stack.
  [[nodiscard]] Stack& open() { return open_; }
  [[nodiscard]] const Stack& open() const { return open_; }
  [[nodiscard]] std::int64_t task() const { return task_; }

  // A marker; true: another task runs from here on. `ended` gets what a task that is over still had open, which ends
  // with it.
  template <class Ended>
  bool take(MarkerMeaning meaning, std::int64_t task, Ended&& ended) {
    if (meaning == MarkerMeaning::task_switch) return switch_to(task);
    if (meaning != MarkerMeaning::task_end || task == 0) return false;
    if (task == task_) {
      ended(open_);
      open_.clear();
      return switch_to(0);
    }
    if (const auto found = suspended_.find(task); found != suspended_.end()) {
      ended(found->second);
      suspended_.erase(found);
    }
    return false;
  }

  // The stacks of all tasks that have something open, the one that runs first.
  template <class Visit>
  void each(Visit&& visit) {
    visit(open_);
    for (auto& [task, stack] : suspended_) visit(stack);
  }

 private:
  bool switch_to(std::int64_t task) {
    if (task == task_) return false;
    if (!open_.empty()) suspended_[task_] = std::move(open_);
    open_.clear();
    task_ = task;
    if (const auto found = suspended_.find(task); found != suspended_.end()) {
      open_ = std::move(found->second);
      suspended_.erase(found);
    }
    return true;
  }

  Stack open_;
  std::map<std::int64_t, Stack> suspended_;
  std::int64_t task_ = 0;
};

}  // namespace fathom
