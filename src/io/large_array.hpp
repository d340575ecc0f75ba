// Arrays that grow in place and move to a temporary file when all of them together get too large for memory: the
// algorithm on top goes on as if nothing had happened.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>

#include "base/budget.hpp"
#include "base/result.hpp"

namespace fathom {

// Pages that arrays of a known size share: huge ones, where the system has them, which a small array alone could not
// fill. They go with the last array.
class SharedPages {
 public:
  explicit SharedPages(std::size_t bytes);
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;
  ~SharedPages();

  // Null = there is no room for that many bytes.
  void* take(std::size_t bytes);

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t taken_ = 0;
};

// What arrays may hold in memory together. It must outlive them. MT: safe.
class ArrayPool {
 public:
  explicit ArrayPool(std::uint64_t limit) : limit_(limit) {}
  // Half of what is left of the budget.
  explicit ArrayPool(const Budget& budget)
      : ArrayPool((budget.limit() - std::min(budget.used(), budget.limit())) / 2) {}
  ArrayPool(const ArrayPool&) = delete;
  ArrayPool& operator=(const ArrayPool&) = delete;

  // False = there is no room left for that many more bytes.
  bool take(std::uint64_t bytes) {
    if (used_.fetch_add(bytes) + bytes <= limit_) return true;
    used_.fetch_sub(bytes);
    return false;
  }
  void give_back(std::uint64_t bytes) { used_.fetch_sub(bytes); }
  // Bytes of arrays that are in files.
  [[nodiscard]] std::uint64_t in_files() const { return in_files_.load(); }
  void count_file(std::uint64_t bytes) { in_files_.fetch_add(bytes); }
  // The first reason why an array could not grow; what was added to it since then is lost.
  [[nodiscard]] Result<void> status() const;
  void fail(int code) {
    int none = 0;
    error_.compare_exchange_strong(none, code);
  }
  // Room for that many bytes, at `data`; null = there is none.
  std::shared_ptr<SharedPages> share(std::size_t bytes, void*& data);

 private:
  std::mutex mutex_;
  std::shared_ptr<SharedPages> pages_;  // with room, maybe
  std::size_t shared_ = 0;              // bytes of all of them
  std::uint64_t limit_;
  std::atomic<std::uint64_t> used_ = 0;
  std::atomic<std::uint64_t> in_files_ = 0;
  std::atomic<int> error_ = 0;
};

// Pages, in memory or in a file without a name. MT: externally synchronised.
class LargeMemory {
 public:
  LargeMemory() = default;
  explicit LargeMemory(ArrayPool& pool) : pool_(&pool) {}
  LargeMemory(LargeMemory&& other) noexcept { swap(other); }
  LargeMemory& operator=(LargeMemory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~LargeMemory();

  // At least that many bytes; false = it could not grow, as the pool knows.
  bool grow(std::size_t bytes);
  // The same for memory that has none yet, and will hardly need more: exactly so many, next to others.
  bool fit(std::size_t bytes);
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  void swap(LargeMemory& other) noexcept;
  bool to_file(std::size_t bytes);
  void release();

  ArrayPool* pool_ = nullptr;
  std::shared_ptr<SharedPages> shared_;  // where data() is, if not in pages of its own
  void* data_ = nullptr;
  std::size_t capacity_ = 0;
  int descriptor_ = -1;
};

// MT: externally synchronised.
template <class T>
class LargeArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  LargeArray() = default;
  explicit LargeArray(ArrayPool& pool) : memory_(pool) {}
  // Copies of the items; none when there is no room for them, as the pool knows.
  LargeArray(ArrayPool& pool, std::span<const T> items) : memory_(pool) {
    if (items.empty() || !memory_.fit(items.size_bytes())) return;
    std::memcpy(data(), items.data(), items.size_bytes());
    size_ = items.size();
  }
  LargeArray(LargeArray&& other) noexcept : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
  LargeArray& operator=(LargeArray&& other) noexcept {
    memory_ = std::move(other.memory_);
    std::swap(size_, other.size_);
    return *this;
  }

  void push_back(const T& item) {
    if ((size_ + 1) * sizeof(T) > memory_.capacity() && !memory_.grow((size_ + 1) * sizeof(T))) [[unlikely]] {
      return;
    }
    data()[size_++] = item;
  }
  // Room for that many, all at once.
  void reserve(std::size_t size) {
    if (memory_.data() == nullptr && size > 0) (void)memory_.fit(size * sizeof(T));
  }
  // New items are zero; nothing when it could not grow.
  void resize(std::size_t size) {
    if (size * sizeof(T) > memory_.capacity() && !memory_.grow(size * sizeof(T))) return;
    for (std::size_t i = size_; i < size; ++i) data()[i] = T{};
    size_ = size;
  }
  // What new items are is for the caller to say.
  void resize_for_overwrite(std::size_t size) {
    if (size * sizeof(T) > memory_.capacity() && !memory_.grow(size * sizeof(T))) return;
    size_ = size;
  }
  [[nodiscard]] T* data() { return static_cast<T*>(memory_.data()); }
  [[nodiscard]] const T* data() const { return static_cast<const T*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T& operator[](std::size_t at) { return data()[at]; }
  [[nodiscard]] const T& operator[](std::size_t at) const { return data()[at]; }
  [[nodiscard]] T& back() { return data()[size_ - 1]; }
  [[nodiscard]] const T& back() const { return data()[size_ - 1]; }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + size_; }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size_; }

 private:
  LargeMemory memory_;
  std::size_t size_ = 0;
};

}  // namespace fathom
