// Numbers to positions, without an allocation per entry: open addressing in one array.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace fathom::ovni {

class FlatIndex {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
    if (slots_.empty()) return kNone;
    for (std::size_t at = hash(key);; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.value == kNone || slot.key == key) return slot.value;
    }
  }

  // The key must not be there yet.
  void insert(std::uint64_t key, std::uint32_t value) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    place(key, value);
    ++count_;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = kNone;
  };

  [[nodiscard]] std::size_t hash(std::uint64_t key) const {
    key *= 0x9E3779B97F4A7C15U;
    return static_cast<std::size_t>(key ^ key >> 32) & mask_;
  }
  void place(std::uint64_t key, std::uint32_t value) {
    std::size_t at = hash(key);
    while (slots_[at].value != kNone) at = (at + 1) & mask_;
    slots_[at] = {key, value};
  }
  void grow() {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(old.empty() ? 16 : 2 * old.size(), {});
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.value != kNone) place(slot.key, slot.value);
    }
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t count_ = 0;
};

}  // namespace fathom::ovni
