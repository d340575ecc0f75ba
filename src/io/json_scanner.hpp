// Finds its way through a JSON text without parsing it: where keys, values and elements begin and end. Documents of any
// size are walked in place, and the pieces of interest are handed to a JSON parser one by one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "io/blob.hpp"

namespace fathom {

// The first defect sticks, as in ByteCursor.
class JsonScanner {
 public:
  explicit JsonScanner(Blob blob) : blob_(std::move(blob)), text_(blob_.text()) { skip_byte_order_mark(); }

  // The next character that is not white space, or 0 at the end.
  char peek();
  // Consumes `c`, or fails.
  bool expect(char c);
  // Consumes `c` when it comes next.
  bool accept(char c);

  // Walks an object: after expect('{'), gives each key with its value next; nothing after the last. The key is as
  // in the file, without quotes; unescape() gives its text.
  std::optional<std::string_view> next_key(bool& first);
  // Walks an array: after expect('['), true when another element comes.
  bool next_element(bool& first);

  // Consumes exactly this, when it comes next without white space: what one writer spells the same everywhere.
  bool accept_text(std::string_view text) {
    if (error_ || !text_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  // Consumes `"key":` when it comes next, spelt without escapes.
  bool accept_key(std::string_view key);
  // Consumes a list of numbers when one comes next; where it holds anything else, stays where it is and says no.
  bool accept_numbers(std::vector<double>& out);
  // To where offset() was: for a way of reading that turned out not to fit.
  void back_to(std::size_t offset) { at_ = offset; }

  // Passes over a whole value and gives its text. Brackets and strings are matched, nothing more.
  std::string_view skip_value();

  [[nodiscard]] bool at_end();
  [[nodiscard]] std::size_t offset() const { return at_; }
  [[nodiscard]] std::size_t offset_of(std::string_view piece) const {
    return static_cast<std::size_t>(piece.data() - text_.data());
  }
  [[nodiscard]] Place place() const { return blob_.place(at_); }
  [[nodiscard]] const Blob& blob() const { return blob_; }
  [[nodiscard]] bool ok() const { return !error_; }
  void fail(std::string what);
  [[nodiscard]] Result<void> status() const {
    if (error_) return *error_;
    return {};
  }

 private:
  void skip_byte_order_mark();
  void skip_string();

  Blob blob_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<Error> error_;
};

// The text of a JSON string without its quotes; nothing when an escape is malformed.
std::optional<std::string> json_unescape(std::string_view raw);

}  // namespace fathom
