// Operations that were begun and wait for their end, by a number. Open addressing, no allocation per entry.
#pragma once

#include <cstdint>
#include <vector>

namespace fathom::otf2 {

struct Pending {
  std::uint64_t record = 0;
  std::int64_t time_ns = 0;
};

class PendingTable {
 public:
  void put(std::uint64_t key, Pending value) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[find(key)];
    if (!slot.used) ++count_;
    slot = {key, value, true};
  }
  // Null = not there.
  [[nodiscard]] const Pending* get(std::uint64_t key) const {
    if (count_ == 0) return nullptr;
    const Slot& slot = slots_[find(key)];
    return slot.used ? &slot.value : nullptr;
  }
  void erase(std::uint64_t key) {
    if (count_ == 0) return;
    std::size_t hole = find(key);
    if (!slots_[hole].used) return;
    --count_;
    // What was pushed on past the hole moves back into it.
    for (std::size_t at = next(hole); slots_[at].used; at = next(at)) {
      const std::size_t home = place(slots_[at].key);
      const bool reachable = hole <= at ? home > hole && home <= at : home > hole || home <= at;
      if (reachable) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].used = false;
  }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::uint64_t bytes() const { return slots_.size() * sizeof(Slot); }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Pending value;
    bool used = false;
  };
  [[nodiscard]] std::size_t place(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 32) & (slots_.size() - 1);
  }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  [[nodiscard]] std::size_t find(std::uint64_t key) const {
    std::size_t at = place(key);
    while (slots_[at].used && slots_[at].key != key) at = next(at);
    return at;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    count_ = 0;
    for (const Slot& slot : old) {
      if (slot.used) put(slot.key, slot.value);
    }
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace fathom::otf2
