// Stacks of frames as a tree, so that what a stack ends in is found with one look per frame.
#pragma once

#include <cstdint>
#include <vector>

namespace fathom {

class StackTree {
 public:
  static constexpr std::uint32_t kRoot = UINT32_MAX;

  // The number of the stack that goes on from `parent` with a frame, which is told apart by a number; `fresh` tells
  // that it is new. Numbers count from 0.
  std::uint32_t child(std::uint32_t parent, std::uint32_t frame, bool& fresh) {
    if ((count_ + 1) * std::size_t{2} > slots_.size()) grow();
    const std::uint64_t key = std::uint64_t{parent} << 32 | frame;
    for (std::size_t at = place_of(key);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      fresh = slot.number == kFree;
      if (fresh) slot = {key, count_++};
      if (slot.key == key) return slot.number;
    }
  }

 private:
  static constexpr std::uint32_t kFree = UINT32_MAX;
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = kFree;
  };

  [[nodiscard]] std::size_t place_of(std::uint64_t key) const {
    key *= 0x9E3779B97F4A7C15U;
    return (key ^ key >> 32) & (slots_.size() - 1);
  }
  void grow() {
    const std::vector<Slot> before = std::move(slots_);
    slots_.assign(before.empty() ? 1024 : before.size() * 2, {});
    for (const Slot& slot : before) {
      if (slot.number == kFree) continue;
      std::size_t at = place_of(slot.key);
      while (slots_[at].number != kFree) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::uint32_t count_ = 0;
};

}  // namespace fathom
