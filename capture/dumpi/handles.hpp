// The numbers that stand for MPI objects in a trace.
//
// An object has its number from where it is made until it is freed. Numbers of freed objects come back only when the
// field of the format is full, so that a number means one object wherever that can be had.
#pragma once

#include <cstdint>

#include "dumpi/array.hpp"

namespace fathom::capture {

// Keys to entries, open addressing; entries of removed keys are closed up again.
template <class Entry>
class KeyMap {
 public:
  Entry* find(std::uint64_t key) {
    if (slots_.size() == 0) return nullptr;
    for (std::size_t at = place(key);; at = next(at)) {
      if (!slots_[at].used) return nullptr;
      if (slots_[at].entry.key == key) return &slots_[at].entry;
    }
  }
  // The key must not be there. Nothing when there is no memory.
  Entry* add(std::uint64_t key) {
    if (2 * (count_ + 1) > slots_.size() && !grow()) return nullptr;
    std::size_t at = place(key);
    while (slots_[at].used) at = next(at);
    slots_[at].used = true;
    slots_[at].entry = Entry{};
    slots_[at].entry.key = key;
    ++count_;
    return &slots_[at].entry;
  }
  void remove(std::uint64_t key) {
    Entry* entry = find(key);
    if (entry == nullptr) return;
    std::size_t hole = static_cast<std::size_t>(reinterpret_cast<Slot*>(entry) - slots_.data());
    for (std::size_t at = next(hole); slots_[at].used; at = next(at)) {
      const std::size_t home = place(slots_[at].entry.key);
      // It may move into the hole unless its home lies behind the hole.
      const bool stays = hole <= at ? (hole < home && home <= at) : (hole < home || home <= at);
      if (stays) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].used = false;
    --count_;
  }

 private:
  struct Slot {
    Entry entry;
    bool used;
  };
  [[nodiscard]] std::size_t place(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 20) & (slots_.size() - 1);
  }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  bool grow() {
    Array<Slot> old;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].used && !old.push(slots_[i])) return false;
    }
    const std::size_t wanted = slots_.size() == 0 ? 64 : 2 * slots_.size();
    if (!slots_.resize(wanted)) return false;
    for (std::size_t i = 0; i < wanted; ++i) slots_[i].used = false;
    for (std::size_t i = 0; i < old.size(); ++i) {
      std::size_t at = place(old[i].entry.key);
      while (slots_[at].used) at = next(at);
      slots_[at] = old[i];
    }
    old.release();
    return true;
  }

  Array<Slot> slots_;
  std::size_t count_ = 0;
};

// Communicators, datatypes, groups, ...: everything but requests.
class HandleTable {
 public:
  // The null handle's number, the first number for objects of the program and the highest that the format can hold.
  void set_range(std::int32_t first, std::int32_t highest) {
    next_ = first;
    highest_ = highest;
  }
  void predefine(std::uint64_t key, std::int32_t id);
  // The number of an object that is used; one that was never seen being made gets its number now.
  std::int32_t used(std::uint64_t key) {
    Entry* entry = map_.find(key);
    return entry != nullptr ? entry->id : add(key, 1);
  }
  // The number of an object that a call returned. MPI libraries return the same handle for the same group again and
  // count references, so the number lasts until as many calls freed it.
  std::int32_t made(std::uint64_t key);
  void freed(std::uint64_t key);
  // Set by the last call: whether the number was new.
  [[nodiscard]] bool was_new() const { return was_new_; }
  void clear_new() { was_new_ = false; }
  // Objects that got the number 0 because the format has no more.
  [[nodiscard]] std::uint64_t without_number() const { return without_number_; }

 private:
  struct Entry {
    std::uint64_t key;
    std::int32_t id;
    std::int32_t references;  // 0: predefined, stays
  };
  std::int32_t add(std::uint64_t key, std::int32_t references);

  KeyMap<Entry> map_;
  Array<std::int32_t> returned_;  // numbers of freed objects, oldest first from `oldest_`
  std::size_t oldest_ = 0;
  std::int32_t next_ = 1;
  std::int32_t highest_ = 32767;
  bool was_new_ = false;
  std::uint64_t without_number_ = 0;
};

// Requests: numbers come back as soon as the request is over. A library may give many pending operations one handle
// (sends that were over at once); they get numbers of their own, used up in the order in which they were made.
class RequestTable {
 public:
  static constexpr std::int32_t kNull = 1;

  void set_null(std::uint64_t key) { null_ = key; }
  [[nodiscard]] bool is_null(std::uint64_t key) const { return key == null_; }
  // Every list of requests begins with this: a handle that is in the list twice gets two numbers.
  void begin_list() { ++epoch_; }
  std::int32_t used(std::uint64_t key);
  // The same for a call that may end it. Until over() or still_there() no other call is told this number: the library
  // may have given the handle away again before we hear of the end.
  std::int32_t waited_for(std::uint64_t key);
  void still_there(std::int32_t id);
  std::int32_t made(std::uint64_t key);
  // The request with this number is over.
  void over(std::uint64_t key, std::int32_t id);

 private:
  struct Entry {
    std::uint64_t key;
    std::uint64_t epoch;
    std::int32_t head, tail;
    std::int32_t cursor;  // next to hand out within this epoch
  };
  struct Node {
    std::int32_t previous, next;
    bool waited_for;
  };
  std::int32_t number();

  KeyMap<Entry> map_;
  Array<Node> nodes_;  // by number
  Array<std::int32_t> free_;
  std::uint64_t null_ = 0;
  std::uint64_t epoch_ = 0;
};

}  // namespace fathom::capture
