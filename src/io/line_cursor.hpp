// Text line by line, with line numbers for messages. Accepts \n and \r\n, and \r where the first line ends so; a byte
// order mark at the start is skipped. Lines are views into the blob.
#pragma once

#include <optional>
#include <string_view>

#include "io/blob.hpp"

namespace fathom {

class LineCursor {
 public:
  explicit LineCursor(Blob blob) : blob_(std::move(blob)) {
    if (blob_.text().starts_with("\xEF\xBB\xBF")) at_ = 3;
    const auto first = blob_.text().find_first_of("\r\n");
    if (first != std::string_view::npos && blob_.text()[first] == '\r' && first + 1 < blob_.size() &&
        blob_.text()[first + 1] != '\n') {
      end_ = '\r';
    }
  }

  // The next line without its end, or nothing at the end of the text.
  std::optional<std::string_view> next() {
    const std::string_view text = blob_.text();
    if (at_ >= text.size()) return std::nullopt;
    auto end = text.find(end_, at_);
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
  char end_ = '\n';
  std::uint64_t number_ = 0;
};

}  // namespace fathom
