// Numbers found by what they stand for. The things themselves stay with their owner, in a list or wherever it keeps
// them: the table has eight bytes for each, in one piece of memory.
#pragma once

#include <cstdint>
#include <vector>

namespace fathom {

// MT: externally synchronised.
class NumberTable {
 public:
  // The number of the thing with this hash of which `same(number)` is true; where there is none, `next` is entered for
  // it and returned.
  template <class Same>
  std::uint32_t find_or_add(std::uint64_t hash, std::uint32_t next, const Same& same) {
    if (2 * count_ >= slots_.size()) grow();
    const auto short_hash = static_cast<std::uint32_t>((hash * 0x9E3779B97F4A7C15U) >> 32);
    for (std::size_t at = short_hash;; ++at) {
      Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.number == kNone) {
        slot = {short_hash, next};
        ++count_;
        return next;
      }
      if (slot.hash == short_hash && same(slot.number)) return slot.number;
    }
  }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = kNone;
  };

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 4 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number == kNone) continue;
      std::size_t at = slot.hash;
      while (slots_[at & (slots_.size() - 1)].number != kNone) ++at;
      slots_[at & (slots_.size() - 1)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half of them in use
  std::size_t count_ = 0;
};

}  // namespace fathom
