// Which receive gets a message where some take any tag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

namespace fathom {

// Receives from one process in one communicator that have no message yet. Messages between two processes stay in order,
// whatever their tags: each goes to the receive that was posted first among those that take it. A Receive says with
// when() when that was.
template <class Receive>
class WaitingReceives {
 public:
  // In the order of posting; a tag below 0 takes any. Who posts it keeps it.
  void post(std::int32_t tag, const Receive& receive) { (tag < 0 ? any_ : by_tag_[tag]).push_back(&receive); }

  // The one that gets the next message; null where none takes it.
  const Receive* take(std::int32_t tag) {
    const auto found = by_tag_.find(tag);
    Queue* from = found != by_tag_.end() && !found->second.empty() ? &found->second : nullptr;
    if (!any_.empty() && (from == nullptr || any_.front()->when() < from->front()->when())) from = &any_;
    if (from == nullptr) return nullptr;
    const Receive* first = from->front();
    from->pop_front();
    return first;
  }

  [[nodiscard]] std::size_t size() const {
    std::size_t count = any_.size();
    for (const auto& [tag, queue] : by_tag_) count += queue.size();
    return count;
  }

 private:
  using Queue = std::deque<const Receive*>;
  std::map<std::int32_t, Queue> by_tag_;
  Queue any_;
};

}  // namespace fathom
