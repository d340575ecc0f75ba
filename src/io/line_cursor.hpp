// Text line by line, with line numbers for messages. Accepts \n and \r\n, and \r where the first line ends so; a byte
// order mark at the start is skipped. Lines are views into the blob.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "io/blob.hpp"

namespace fathom {

class LineCursor {
 public:
  explicit LineCursor(Blob blob) : blob_(std::move(blob)), text_(blob_.text()) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    const auto first = text_.find_first_of("\r\n");
    if (first != std::string_view::npos && text_[first] == '\r' && first + 1 < text_.size() &&
        text_[first + 1] != '\n') {
      end_ = '\r';
    }
  }

  // The next line without its end, or nothing at the end of the text.
  std::optional<std::string_view> next() {
    if (at_ >= text_.size()) return std::nullopt;
    auto end = text_.find(end_, at_);
    if (end == std::string_view::npos) end = text_.size();
    std::string_view line = text_.substr(at_, end - at_);
    at_ = end + 1;
    ++number_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  // The lines from here on, at least so many bytes and up to the end of a line, for somebody else to read; they are
  // passed over here. Their numbers go on from number(), which whoever knows how many there are must then skip().
  LineCursor cut(std::size_t bytes) {
    LineCursor piece = *this;
    const auto end = at_ + std::min(bytes, text_.size() - std::min(at_, text_.size())) >= text_.size()
                         ? std::string_view::npos
                         : text_.find(end_, at_ + bytes);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    piece.text_ = text_.substr(0, at_);
    return piece;
  }
  void skip(std::uint64_t lines) { number_ += lines; }

  // Of the line that next() gave last; 1-based.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] Place place() const { return Place::at_line(blob_.name(), number_); }
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  // What is left, and what ends its lines. Who reads some of it otherwise passes over that, which is whole lines.
  void pass(std::size_t bytes, std::uint64_t lines) {
    at_ += bytes;
    number_ += lines;
  }
  [[nodiscard]] char line_end() const { return end_; }
  [[nodiscard]] std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }

 private:
  Blob blob_;
  std::string_view text_;
  std::size_t at_ = 0;
  char end_ = '\n';
  std::uint64_t number_ = 0;
};

}  // namespace fathom
