// Text line by line, with line numbers for messages. Accepts \n and \r\n; lines are views into the blob.
#pragma once

#include <optional>
#include <string_view>

#include "io/blob.hpp"

namespace fathom {

class LineCursor {
 public:
  explicit LineCursor(Blob blob) : blob_(std::move(blob)) {}

  // The next line without its end, or nothing at the end of the text.
  std::optional<std::string_view> next() {
    const std::string_view text = blob_.text();
    if (at_ >= text.size()) return std::nullopt;
    auto end = text.find('\n', at_);
    if (end == std::string_view::npos) end = text.size();
    std::string_view line = text.substr(at_, end - at_);
    at_ = end + 1;
    ++number_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  // Of the line that next() gave last; 1-based.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] Place place() const { return Place::at_line(blob_.name(), number_); }

 private:
  Blob blob_;
  std::size_t at_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace fathom
