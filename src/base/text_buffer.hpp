// A growing buffer of text for hot output loops: make room for a bound once, then write through a bare pointer.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace fathom {

class TextBuffer {
 public:
  // Room for `count` more characters; write from the pointer on and hand the end to written().
  char* room(std::size_t count) {
    if (capacity_ - size_ < count) grow(count);
    return data_.get() + size_;
  }
  void written(const char* end) { size_ = static_cast<std::size_t>(end - data_.get()); }
  void append(std::string_view text) {
    if (text.empty()) return;  // there may be no place to copy nothing to
    char* at = room(text.size());
    std::memcpy(at, text.data(), text.size());
    size_ += text.size();
  }
  void clear() { size_ = 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string_view view() const { return {data_.get(), size_}; }

 private:
  void grow(std::size_t count) {
    std::size_t capacity = capacity_ < 4096 ? 4096 : capacity_;
    while (capacity - size_ < count) capacity *= 2;
    auto data = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
    data_ = std::move(data);
    capacity_ = capacity;
  }
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

namespace text_writing {

inline constexpr auto kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

inline char* put(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}
inline char* put_pair(char* to, std::uint32_t value) {
  std::memcpy(to, &kDigitPairs[2 * static_cast<std::size_t>(value)], 2);
  return to + 2;
}
inline char* put_unsigned(char* to, std::uint64_t value) {
  if (value < 10) {
    *to = static_cast<char>('0' + value);
    return to + 1;
  }
  if (value < 100) return put_pair(to, static_cast<std::uint32_t>(value));
  char digits[20];
  char* at = digits + 20;
  while (value >= 100) {
    at -= 2;
    put_pair(at, static_cast<std::uint32_t>(value % 100));
    value /= 100;
  }
  if (value >= 10) {
    at -= 2;
    put_pair(at, static_cast<std::uint32_t>(value));
  } else {
    *--at = static_cast<char>('0' + value);
  }
  const auto count = static_cast<std::size_t>(digits + 20 - at);
  std::memcpy(to, at, count);
  return to + count;
}
inline char* put_signed(char* to, std::int64_t value) {
  if (value < 0) {
    *to++ = '-';
    return put_unsigned(to, 0 - static_cast<std::uint64_t>(value));
  }
  return put_unsigned(to, static_cast<std::uint64_t>(value));
}
// Exactly nine digits; value < 10^9.
inline char* put_nine(char* to, std::uint32_t value) {
  *to++ = static_cast<char>('0' + value / 100000000);
  value %= 100000000;
  const std::uint32_t high = value / 10000;
  const std::uint32_t low = value % 10000;
  to = put_pair(to, high / 100);
  to = put_pair(to, high % 100);
  to = put_pair(to, low / 100);
  return put_pair(to, low % 100);
}

}  // namespace text_writing

}  // namespace fathom
