// A growing array of plain data. The recorder lives in other people's programs: no C++ runtime library, no exceptions,
// and memory that cannot be had is an answer, not an end. Nothing is freed by itself: what is kept is kept until the
// process ends, and other threads may still be at work when it does.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace fathom::capture {

template <class T>
class Array {
 public:
  Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  [[nodiscard]] std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] T* data() { return data_; }

  bool reserve(std::size_t wanted) {
    if (wanted <= capacity_) return true;
    std::size_t capacity = capacity_ == 0 ? 64 : capacity_;
    while (capacity < wanted) capacity *= 2;
    void* bigger = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (bigger == nullptr) return false;
    data_ = static_cast<T*>(bigger);
    capacity_ = capacity;
    return true;
  }
  // New elements are all zero.
  bool resize(std::size_t wanted) {
    if (!reserve(wanted)) return false;
    if (wanted > size_) std::memset(static_cast<void*>(data_ + size_), 0, (wanted - size_) * sizeof(T));
    size_ = wanted;
    return true;
  }
  bool push(const T& value) {
    const T copy = value;
    if (!reserve(size_ + 1)) return false;
    data_[size_++] = copy;
    return true;
  }
  T pop() { return data_[--size_]; }
  void release() {
    std::free(static_cast<void*>(data_));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace fathom::capture
