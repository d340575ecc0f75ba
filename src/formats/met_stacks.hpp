// Stacks by the bytes that the file has for them: samples with other labels or values repeat them. Few places of memory
// are touched per look, which is what it costs.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fathom {

class MetStacks {
 public:
  struct Met {
    std::uint32_t node = 0;
    std::uint32_t shortened = 0;  // what it adds to the remarks
    std::uint32_t unknown = 0;
  };

  static std::uint64_t hash_of(std::string_view bytes) {
    // Two sums that do not wait for each other.
    std::uint64_t one = bytes.size() * 0x9E3779B97F4A7C15U;
    std::uint64_t two = 0x2545F4914F6CDD1DU;
    const char* at = bytes.data();
    std::size_t left = bytes.size();
    const auto word = [&](std::size_t size) {
      std::uint64_t out = 0;
      std::memcpy(&out, at, size);
      at += size;
      left -= size;
      return out;
    };
    const auto mix = [](std::uint64_t& hash, std::uint64_t more) {
      hash = (hash ^ more) * 0xFF51AFD7ED558CCDU;
      hash ^= hash >> 32;
    };
    while (left >= 16) {
      mix(one, word(8));
      mix(two, word(8));
    }
    if (left >= 8) mix(one, word(8));
    if (left > 0) mix(two, word(left));  // no stack at all has no place either
    mix(one, two);
    return one;
  }
  // Somebody will look for the bytes with this hash, and soon: what is looked at is fetched ahead.
  void expect(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  }
  void expect_soon(std::uint64_t hash) const {
    if (slots_.empty()) return;
    const Slot& slot = slots_[hash & (slots_.size() - 1)];
    if (slot.node != kFree) __builtin_prefetch(bytes_.data() + slot.begin);
  }
  // Nothing when it was not met yet; then put() may follow.
  std::optional<Met> find(std::string_view bytes, std::uint64_t hash) {
    if (slots_.empty()) slots_.resize(kFirstSize);
    hash_ = hash;
    for (at_ = hash_ & (slots_.size() - 1); slots_[at_].node != kFree; at_ = (at_ + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at_];
      if (slot.hash != hash_ || slot.size != bytes.size() || !same(bytes_.data() + slot.begin, bytes)) continue;
      if (!slot.remarked) return Met{slot.node, 0, 0};
      const auto& [shortened, unknown] = remarks_.at(slot.node);
      return Met{slot.node, shortened, unknown};
    }
    return std::nullopt;
  }
  // Of the bytes that find() did not find last. Only so many are kept. What is remarked of a stack is the same for all
  // bytes that end in its node, or it is not kept.
  void put(std::string_view bytes, const Met& met) {
    if (count_ >= kMost || bytes_.size() + bytes.size() > kMostBytes || met.node == kFree) return;
    const std::pair remark(met.shortened, met.unknown);
    const bool remarked = met.shortened != 0 || met.unknown != 0;
    if (remarked && remarks_.try_emplace(met.node, remark).first->second != remark) return;
    slots_[at_] = {hash_, static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(bytes.size()), met.node,
                   remarked};
    bytes_.append(bytes);
    if (++count_ * 2 > slots_.size()) grow();
  }

 private:
  static constexpr std::uint32_t kFree = UINT32_MAX;
  static constexpr std::size_t kFirstSize = 1024;
  static constexpr std::size_t kMost = 1 << 20;
  static constexpr std::size_t kMostBytes = 256 << 20;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t begin = 0, size = 0;  // in bytes_
    std::uint32_t node = kFree;
    bool remarked = false;
  };

  static bool same(const char* kept, std::string_view bytes) {
    const char* at = bytes.data();
    std::size_t left = bytes.size();
    if (left < 8) return std::memcmp(kept, at, left) == 0;
    // Words, the last of which may overlap the one before it.
    std::uint64_t differs = 0;
    const auto compare = [&](std::size_t from) {
      std::uint64_t a = 0, b = 0;
      std::memcpy(&a, kept + from, 8);
      std::memcpy(&b, at + from, 8);
      differs |= a ^ b;
    };
    for (std::size_t from = 0; from + 8 <= left; from += 8) compare(from);
    compare(left - 8);
    return differs == 0;
  }

  void grow() {
    const std::vector<Slot> before = std::move(slots_);
    slots_.assign(before.size() * 2, {});
    for (const Slot& slot : before) {
      if (slot.node == kFree) continue;
      std::size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].node != kFree) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::string bytes_;
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> remarks_;  // shortened, unknown; by node
  std::size_t count_ = 0;
  std::uint64_t hash_ = 0;  // of the last look
  std::size_t at_ = 0;
};

}  // namespace fathom
