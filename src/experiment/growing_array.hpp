// A vector for plain data that grows to gigabytes: it grows in place where the allocator can do that, so that the old
// and the new block do not exist side by side, and room that is not used yet takes no memory.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace fathom {

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrowingArray() = default;
  GrowingArray(GrowingArray&& other) noexcept { swap(other); }
  GrowingArray& operator=(GrowingArray&& other) noexcept {
    GrowingArray(std::move(other)).swap(*this);
    return *this;
  }
  ~GrowingArray() { std::free(data_); }

  void push_back(const T& item) {
    if (size_ == room_) reserve(size_ + 1);
    data_[size_++] = item;
  }
  void append(std::span<const T> items) {
    if (items.size() > room_ - size_) reserve(size_ + items.size());
    for (const T& item : items) data_[size_++] = item;
  }
  void reserve(std::size_t count) {
    if (count <= room_) return;
    const std::size_t room = std::max(count, room_ + room_ / 2 + 16);
    if (room > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    void* grown = std::realloc(data_, room * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(grown);
    room_ = room;
  }
  // What is added holds anything.
  void resize(std::size_t count) {
    reserve(count);
    size_ = count;
  }
  void resize_down(std::size_t count) { size_ = std::min(count, size_); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] T& operator[](std::size_t i) { return data_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] T& back() { return data_[size_ - 1]; }
  [[nodiscard]] T* begin() { return data_; }
  [[nodiscard]] T* end() { return data_ + size_; }
  [[nodiscard]] const T* begin() const { return data_; }
  [[nodiscard]] const T* end() const { return data_ + size_; }

 private:
  void swap(GrowingArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace fathom
