// All streams as one, by clock. Ties come out in the order that the community's tools give them, which is that of
// an ordinary binary heap in an array: a stream is pushed again right after its event was delivered, swaps are made
// on strictly smaller clocks only, and the left child is looked at before the right one.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "formats/ovni/stream.hpp"

namespace fathom::ovni {

// What becomes of a stream that is cut off, or whose clock goes backwards.
enum class OnDamage : std::uint8_t {
  go_on,  // it ends where it is cut off; its events come as they are
  stop,   // everything ends before its next event
};

class Merge {
 public:
  // `offsets` (one per stream, or none) are added to the clocks.
  explicit Merge(std::span<const Stream> streams, std::span<const std::int64_t> offsets = {},
                 OnDamage on_damage = OnDamage::go_on)
      : strict_(on_damage == OnDamage::stop) {
    cursors_.reserve(streams.size());
    for (std::size_t i = 0; i < streams.size(); ++i) {
      cursors_.push_back({StreamCursor(streams[i]), {}, offsets.empty() ? 0 : offsets[i]});
    }
    heap_.reserve(streams.size());
    for (std::uint32_t i = 0; i < cursors_.size(); ++i) advance(i);
  }

  // The next event in time order, or false when all streams have ended (or are cut off).
  bool next(Event& event, std::uint32_t& stream, std::int64_t& clock) {
    if (pending_ != kNone) advance(pending_);
    pending_ = kNone;
    if (damaged_) return false;
    if (heap_.empty()) return false;
    const Node top = pop();
    event = cursors_[top.stream].event;
    stream = top.stream;
    clock = top.clock;
    pending_ = top.stream;
    return true;
  }

  // The stream that stopped everything; its cursor stands at the damage.
  [[nodiscard]] std::optional<std::uint32_t> damaged() const { return damaged_; }

  [[nodiscard]] const StreamCursor& cursor(std::size_t stream) const { return cursors_[stream].cursor; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  struct Node {
    std::int64_t clock;
    std::uint32_t stream;
  };
  struct Head {
    StreamCursor cursor;
    Event event;
    std::int64_t offset;
  };

  void advance(std::uint32_t stream) {
    Head& head = cursors_[stream];
    const StreamCursor before = head.cursor;
    const std::uint64_t last = pending_ == stream ? head.event.clock() : 0;
    if (!head.cursor.next(head.event)) {
      if (strict_ && head.cursor.left() > 0) damaged_ = stream;
      return;
    }
    if (strict_ && head.event.clock() < last) {
      head.cursor = before;
      damaged_ = stream;
      return;
    }
    const auto raw = static_cast<std::uint64_t>(head.offset) + head.event.clock();
    push({static_cast<std::int64_t>(raw), stream});
  }

  void push(Node node) {
    std::size_t at = heap_.size();
    heap_.push_back(node);
    while (at > 0) {
      const std::size_t parent = (at - 1) / 2;
      if (!(node.clock < heap_[parent].clock)) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = node;
  }

  Node pop() {
    const Node top = heap_[0];
    const Node node = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size == 0) return top;
    std::size_t at = 0;
    for (;;) {
      const std::size_t left = 2 * at + 1;
      if (left >= size) break;
      std::size_t best = at;
      std::int64_t best_clock = node.clock;
      if (heap_[left].clock < best_clock) {
        best = left;
        best_clock = heap_[left].clock;
      }
      if (left + 1 < size && heap_[left + 1].clock < best_clock) best = left + 1;
      if (best == at) break;
      heap_[at] = heap_[best];
      at = best;
    }
    heap_[at] = node;
    return top;
  }

  std::vector<Head> cursors_;
  std::vector<Node> heap_;
  std::uint32_t pending_ = kNone;
  bool strict_;
  std::optional<std::uint32_t> damaged_;
};

}  // namespace fathom::ovni
