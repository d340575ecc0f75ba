// The end of a string as a buffer, for hot output loops that are given a string: make room for a bound, then write
// through a bare pointer.
#pragma once

#include <string>
#include <string_view>

#include "base/text_buffer.hpp"

namespace fathom {

// While it lives the string is longer than its text.
class TextTail {
 public:
  explicit TextTail(std::string& text, std::size_t expected = 512) : text_(text), size_(text.size()) {
    text_.resize(size_ + expected);
  }
  TextTail(const TextTail&) = delete;
  TextTail& operator=(const TextTail&) = delete;
  ~TextTail() { text_.resize(size_); }

  // Room for `count` more characters; write from the pointer on and hand the end to written().
  char* room(std::size_t count) {
    if (text_.size() - size_ < count) [[unlikely]]
      text_.resize(2 * text_.size() + count);
    return text_.data() + size_;
  }
  void written(const char* end) { size_ = static_cast<std::size_t>(end - text_.data()); }
  void append(std::string_view text) { written(text_writing::put(room(text.size()), text)); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::string& text_;
  std::size_t size_;
};

}  // namespace fathom
