// Tables that the reader of calls asks for every message: flat, because a node for each would cost more than the rest.
#pragma once

#include <deque>
#include <vector>

#include "io/spare_arrays.hpp"
#include "trace/analysis/calls.hpp"

namespace fathom::analysis {

inline std::uint64_t scattered(std::uint64_t key) {
  key = (key ^ (key >> 32)) * 0x9E3779B97F4A7C15U;
  return key ^ (key >> 29);
}

// Where processes are read, one after the other. MT: safe.
struct ReaderArrays {
  explicit ReaderArrays(ArrayPool& pool)
      : calls(pool), sends(pool), receives(pool), sends_done(pool), parts(pool), tokens(pool) {}

  SpareArrays<Call> calls;
  SpareArrays<Send> sends;
  SpareArrays<Receive> receives;
  SpareArrays<SendDone> sends_done;
  SpareArrays<Part> parts;
  SpareArrays<std::uint32_t> tokens;  // what calls look like
};

// Numbers channels in the order in which they come. MT: externally synchronised.
class ChannelNumbers {
 public:
  // Programs do the same again and again: mostly it is the one that came behind the last one before, too.
  std::uint32_t of(const Channel& wanted, LargeArray<Channel>& channels) {
    const std::uint32_t guess = last_ < followers_.size() ? followers_[last_] : kNone;
    if (guess < channels.size() && channels[guess] == wanted) return last_ = guess;
    const std::uint32_t found = find(wanted, channels);
    if (last_ < kNone) {
      if (last_ >= followers_.size()) followers_.resize(last_ + std::size_t{1}, kNone);
      followers_[last_] = found;
    }
    return last_ = found;
  }

 private:
  std::uint32_t find(const Channel& wanted, LargeArray<Channel>& channels) {
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
  std::vector<std::uint32_t> slots_;      // a power of two; kNone = empty
  std::vector<std::uint32_t> followers_;  // by channel
  std::uint32_t last_ = kNone;
};

// Operations that are under way, by the record that began them; those of one record come back in the order in which
// they were begun. Mostly all do, so that they wait in a queue until one does not: then in a table. MT: externally
// synchronised.
class OpenSends {
 public:
  struct Item {
    std::uint64_t record;
    std::uint32_t location;
    std::uint32_t send;
  };

  void add(const Item& item) {
    if (size_ > 0) return add_to_table(item);
    queue_.push_back(item);
  }
  // False = there is none.
  bool take(std::uint64_t record, Item& out) {
    if (!queue_.empty() && queue_.front().record == record) {
      out = queue_.front();
      queue_.pop_front();
      return true;
    }
    for (; !queue_.empty(); queue_.pop_front()) add_to_table(queue_.front());
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
  void add_to_table(const Item& item) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    put(item);
    ++size_;
  }
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
  std::deque<Item> queue_;
  std::vector<Item> slots_;  // a power of two; send = kNone: empty
  std::size_t size_ = 0;     // in the table; then nothing is in the queue
};

}  // namespace fathom::analysis
