#include "dumpi/handles.hpp"

namespace fathom::capture {

void HandleTable::predefine(std::uint64_t key, std::int32_t id) {
  Entry* entry = map_.find(key);
  if (entry == nullptr) entry = map_.add(key);
  if (entry == nullptr) return;
  entry->id = id;
  entry->references = 0;
}

std::int32_t HandleTable::add(std::uint64_t key, std::int32_t references) {
  std::int32_t id = 0;
  if (next_ <= highest_) {
    id = next_++;
  } else if (oldest_ < returned_.size()) {
    id = returned_[oldest_++];
  } else {
    ++without_number_;
    return 0;
  }
  Entry* entry = map_.add(key);
  if (entry == nullptr) return 0;
  entry->id = id;
  entry->references = references;
  was_new_ = true;
  return id;
}

std::int32_t HandleTable::made(std::uint64_t key) {
  Entry* entry = map_.find(key);
  if (entry == nullptr) return add(key, 1);
  if (entry->references > 0) ++entry->references;
  return entry->id;
}

void HandleTable::freed(std::uint64_t key) {
  Entry* entry = map_.find(key);
  if (entry == nullptr || entry->references == 0 || --entry->references > 0) return;
  if (oldest_ > 1024 && 2 * oldest_ > returned_.size()) {
    std::memmove(returned_.data(), returned_.data() + oldest_, (returned_.size() - oldest_) * sizeof(std::int32_t));
    returned_.resize(returned_.size() - oldest_);
    oldest_ = 0;
  }
  returned_.push(entry->id);
  map_.remove(key);
}

std::int32_t RequestTable::number() {
  if (free_.size() > 0) return free_.pop();
  const std::size_t first = nodes_.size() == 0 ? kNull + 1 : nodes_.size();
  if (!nodes_.resize(first + 1)) return 0;
  return static_cast<std::int32_t>(first);
}

std::int32_t RequestTable::made(std::uint64_t key) {
  if (key == null_) return kNull;
  Entry* entry = map_.find(key);
  if (entry == nullptr) entry = map_.add(key);
  const std::int32_t id = number();
  if (entry == nullptr || id == 0) return 0;
  nodes_[static_cast<std::size_t>(id)] = {entry->tail, 0, false};
  if (entry->tail != 0) {
    nodes_[static_cast<std::size_t>(entry->tail)].next = id;
  } else {
    entry->head = id;
  }
  entry->tail = id;
  return id;
}

std::int32_t RequestTable::used(std::uint64_t key) {
  if (key == null_) return kNull;
  Entry* entry = map_.find(key);
  if (entry == nullptr) {
    // Made by a call that is not recorded.
    const std::int32_t id = made(key);
    entry = map_.find(key);
    if (entry == nullptr) return id;
  }
  if (entry->epoch != epoch_) {
    entry->epoch = epoch_;
    entry->cursor = entry->head;
  }
  while (entry->cursor != 0 && nodes_[static_cast<std::size_t>(entry->cursor)].waited_for) {
    entry->cursor = nodes_[static_cast<std::size_t>(entry->cursor)].next;
  }
  if (entry->cursor == 0) return entry->head;
  const std::int32_t id = entry->cursor;
  entry->cursor = nodes_[static_cast<std::size_t>(id)].next;
  return id;
}

std::int32_t RequestTable::waited_for(std::uint64_t key) {
  const std::int32_t id = used(key);
  if (id > kNull && static_cast<std::size_t>(id) < nodes_.size())
    nodes_[static_cast<std::size_t>(id)].waited_for = true;
  return id;
}

void RequestTable::still_there(std::int32_t id) {
  if (id > kNull && static_cast<std::size_t>(id) < nodes_.size())
    nodes_[static_cast<std::size_t>(id)].waited_for = false;
}

void RequestTable::over(std::uint64_t key, std::int32_t id) {
  if (id <= kNull || static_cast<std::size_t>(id) >= nodes_.size()) return;
  Entry* entry = map_.find(key);
  if (entry == nullptr) return;
  const Node node = nodes_[static_cast<std::size_t>(id)];
  // Another thread may have been told the same number; only the first ends it.
  if (node.previous == 0 && entry->head != id) return;
  if (node.previous != 0 && nodes_[static_cast<std::size_t>(node.previous)].next != id) return;
  if (node.previous != 0) {
    nodes_[static_cast<std::size_t>(node.previous)].next = node.next;
  } else {
    entry->head = node.next;
  }
  if (node.next != 0) {
    nodes_[static_cast<std::size_t>(node.next)].previous = node.previous;
  } else {
    entry->tail = node.previous;
  }
  if (entry->cursor == id) entry->cursor = node.next;
  nodes_[static_cast<std::size_t>(id)] = {0, 0, false};
  free_.push(id);
  if (entry->head == 0) map_.remove(key);
}

}  // namespace fathom::capture
