// Stacks by the bytes that the file has for them: samples with other labels or values repeat them. Few places of memory
// are touched per look, which is what it costs.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::pprof {

class MetStacks {
 public:
  struct Met {
    std::uint32_t node = 0;
    std::uint32_t shortened = 0;  // what it adds to the remarks
    std::uint32_t unknown = 0;
  };

  static std::uint64_t hash_of(std::string_view bytes) {
    std::uint64_t hash = bytes.size() * 0x9E3779B97F4A7C15U;
    const char* at = bytes.data();
    std::size_t left = bytes.size();
    const auto mix = [&](std::uint64_t word) {
      hash = (hash ^ word) * 0xFF51AFD7ED558CCDU;
      hash ^= hash >> 32;
    };
    for (; left >= 8; at += 8, left -= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, at, 8);
      mix(word);
    }
    std::uint64_t word = 0;
    if (left > 0) std::memcpy(&word, at, left);  // no stack at all has no place either
    mix(word);
    return hash;
  }
  // Somebody will look for the bytes with this hash, and soon: what is looked at is fetched ahead.
  void expect(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  }
  void expect_soon(std::uint64_t hash) const {
    if (slots_.empty()) return;
    const Slot& slot = slots_[hash & (slots_.size() - 1)];
    if (slot.entry == kFree) return;
    __builtin_prefetch(&entries_[slot.entry]);
    __builtin_prefetch(bytes_.data() + slot.begin);
  }
  // Null when it was not met yet; then put() may follow.
  const Met* find(std::string_view bytes, std::uint64_t hash) {
    if (slots_.empty()) slots_.resize(kFirstSize);
    hash_ = hash;
    for (at_ = hash_ & (slots_.size() - 1); slots_[at_].entry != kFree; at_ = (at_ + 1) & (slots_.size() - 1)) {
      if (slots_[at_].hash != hash_) continue;
      const Entry& entry = entries_[slots_[at_].entry];
      if (std::string_view(bytes_.data() + entry.begin, entry.size) == bytes) return &entry.met;
    }
    return nullptr;
  }
  // Of the bytes that find() did not find last. Only so many are kept.
  void put(std::string_view bytes, const Met& met) {
    if (entries_.size() >= kMost || bytes_.size() + bytes.size() > kMostBytes) return;
    slots_[at_] = {hash_, static_cast<std::uint32_t>(entries_.size()), static_cast<std::uint32_t>(bytes_.size())};
    entries_.push_back({static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(bytes.size()), met});
    bytes_.append(bytes);
    if (entries_.size() * 2 > slots_.size()) grow();
  }

 private:
  static constexpr std::uint32_t kFree = UINT32_MAX;
  static constexpr std::size_t kFirstSize = 1024;
  static constexpr std::size_t kMost = 1 << 20;
  static constexpr std::size_t kMostBytes = 256 << 20;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t entry = kFree;
    std::uint32_t begin = 0;  // of the entry's bytes
  };
  struct Entry {
    std::uint32_t begin, size;  // in bytes_
    Met met;
  };

  void grow() {
    const std::vector<Slot> before = std::move(slots_);
    slots_.assign(before.size() * 2, {});
    for (const Slot& slot : before) {
      if (slot.entry == kFree) continue;
      std::size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].entry != kFree) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<Entry> entries_;
  std::string bytes_;
  std::uint64_t hash_ = 0;  // of the last look
  std::size_t at_ = 0;
};

}  // namespace fathom::pprof
