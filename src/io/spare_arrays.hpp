// Arrays that are filled one after the other, each where the one before it was, and copied to where they stay: the
// first touch of a page costs more than what is written to it.
#pragma once

#include <mutex>
#include <vector>

#include "io/large_array.hpp"

namespace fathom {

// MT: safe.
template <class T>
class SpareArrays {
 public:
  explicit SpareArrays(ArrayPool& pool) : pool_(pool) {}

  // An empty one, to be filled.
  LargeArray<T> take() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return LargeArray<T>(pool_);
    LargeArray<T> array = std::move(spare_.back());
    spare_.pop_back();
    return array;
  }
  void give_back(LargeArray<T> array) {
    array.resize(0);
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(array));
  }
  // One that was filled, where it stays. A large one stays where it is, because two would take the memory of two.
  LargeArray<T> settled(LargeArray<T> filled) {
    constexpr std::size_t kLarge = std::size_t{8} << 20;
    if (filled.size() * sizeof(T) > kLarge) return filled;
    LargeArray<T> array(pool_, std::span(filled.data(), filled.size()));
    give_back(std::move(filled));
    return array;
  }

 private:
  ArrayPool& pool_;
  std::mutex mutex_;
  std::vector<LargeArray<T>> spare_;
};

}  // namespace fathom
