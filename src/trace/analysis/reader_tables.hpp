// Tables that the reader of calls asks for every message: flat, because a node for each would cost more than the rest.
#pragma once

#include <mutex>
#include <vector>

#include "trace/analysis/calls.hpp"

namespace fathom::analysis {

inline std::uint64_t scattered(std::uint64_t key) {
  key = (key ^ (key >> 32)) * 0x9E3779B97F4A7C15U;
  return key ^ (key >> 29);
}

// What calls of a process look like, call by call. Processes use the same arrays one after the other: the first touch
// of a page costs more than what is written to it. MT: safe.
class TokenArrays {
 public:
  using Tokens = LargeArray<std::uint32_t>;
  explicit TokenArrays(ArrayPool& pool) : pool_(pool) {}

  Tokens take() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return Tokens(pool_);
    Tokens tokens = std::move(spare_.back());
    spare_.pop_back();
    return tokens;
  }
  void give_back(Tokens tokens) {
    tokens.resize(0);
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(tokens));
  }

 private:
  ArrayPool& pool_;
  std::mutex mutex_;
  std::vector<Tokens> spare_;
};

// Numbers channels in the order in which they come. MT: externally synchronised.
class ChannelNumbers {
 public:
  std::uint32_t of(const Channel& wanted, LargeArray<Channel>& channels) {
    if (2 * channels.size() >= slots_.size()) grow(channels);
    for (std::size_t at = home(wanted);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == kNone) {
        const auto number = static_cast<std::uint32_t>(channels.size());
        channels.push_back(wanted);
        if (channels.size() == number) return kNone;  // no room for it, as the pool knows
        return slots_[at] = number;
      }
      if (channels[slots_[at]] == wanted) return slots_[at];
    }
  }

 private:
  [[nodiscard]] std::size_t home(const Channel& channel) const {
    const std::uint64_t ends = std::uint64_t{static_cast<std::uint32_t>(channel.peer)} << 32 | channel.communicator;
    const auto tag = static_cast<std::uint32_t>(channel.tag);
    return static_cast<std::size_t>(scattered(scattered(ends) + tag)) & (slots_.size() - 1);
  }
  void grow(const LargeArray<Channel>& channels) {
    constexpr std::size_t kSmallest = 64;
    slots_.assign(std::max(kSmallest, slots_.size() * 2), kNone);
    for (std::uint32_t number = 0; number < channels.size(); ++number) {
      std::size_t at = home(channels[number]);
      while (slots_[at] != kNone) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = number;
    }
  }
  std::vector<std::uint32_t> slots_;  // a power of two; kNone = empty
};

// Operations that are under way, by the record that began them; those of one record come back in the order in which
// they were begun. MT: externally synchronised.
class OpenSends {
 public:
  struct Item {
    std::uint64_t record;
    std::uint32_t location;
    std::uint32_t send;
  };

  void add(const Item& item) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    put(item);
    ++size_;
  }
  // False = there is none.
  bool take(std::uint64_t record, Item& out) {
    if (size_ == 0) return false;
    std::size_t at = home(record);
    while (slots_[at].send != kNone && slots_[at].record != record) at = next(at);
    if (slots_[at].send == kNone) return false;
    out = slots_[at];
    --size_;
    // What follows moves up, so that nothing is cut off from the place where it is looked for.
    for (std::size_t from = next(at); slots_[from].send != kNone; from = next(from)) {
      const std::size_t wanted = home(slots_[from].record);
      if (((from - wanted) & (slots_.size() - 1)) < ((from - at) & (slots_.size() - 1))) continue;
      slots_[at] = slots_[from];
      at = from;
    }
    slots_[at].send = kNone;
    return true;
  }

 private:
  [[nodiscard]] std::size_t home(std::uint64_t record) const {
    return static_cast<std::size_t>(scattered(record)) & (slots_.size() - 1);
  }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  void put(const Item& item) {
    std::size_t at = home(item.record);
    while (slots_[at].send != kNone) at = next(at);
    slots_[at] = item;
  }
  void grow() {
    constexpr std::size_t kSmallest = 64;
    std::vector<Item> old(std::max(kSmallest, slots_.size() * 2), Item{0, 0, kNone});
    old.swap(slots_);
    // From an empty place on, so that equal records keep their order.
    std::size_t first = 0;
    while (first < old.size() && old[first].send != kNone) ++first;
    for (std::size_t i = 0; i < old.size(); ++i) {
      const Item& item = old[(first + i) & (old.size() - 1)];
      if (item.send != kNone) put(item);
    }
  }
  std::vector<Item> slots_;  // a power of two; send = kNone: empty
  std::size_t size_ = 0;
};

}  // namespace fathom::analysis
