// Where results go: a buffered descriptor (stdout) or a text in memory. Made for millions of rows.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/number.hpp"
#include "base/result.hpp"

namespace fathom {

// Once writing failed everything after it is dropped: closed() tells loops to stop, finish() says why.
// MT: externally synchronised.
class Output {
 public:
  // To an open descriptor, which stays open.
  explicit Output(int descriptor) : descriptor_(descriptor) {}
  // To memory, for tests: see text().
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { flush(); }

  // For people: control characters that come from files are shown, not sent (base/visible.hpp). Machine forms have
  // rules of their own, and no colours: whatever looks like one there is a name's.
  void for_people(bool yes, bool colours = true) {
    for_people_ = yes;
    colours_ = colours;
  }
  // Cells of CSV that a spreadsheet would take for a formula get a quote in front.
  void csv_safe(bool yes) { csv_safe_ = yes; }
  [[nodiscard]] bool csv_safe() const { return csv_safe_; }

  void write(std::string_view text);
  void write(char c) {
    buffer_ += c;
    if (buffer_.size() >= kFlushAt) flush_when_descriptor();
  }
  // Numbers so that they read back to the same value; "nan", "inf", "-inf".
  void write_number(double value);
  void write_number(Int128 value);
  template <std::integral Int>
    requires(sizeof(Int) <= 8)
  void write_number(Int value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    write(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }

  void flush();
  // Nobody reads any more, or the disk is full.
  [[nodiscard]] bool closed() const { return error_ != 0; }
  // Flushes. An error when something could not be written; a reader that went away is none.
  Result<void> finish();

  [[nodiscard]] const std::string& text() const { return buffer_; }

 private:
  static constexpr std::size_t kFlushAt = 1U << 18;
  void flush_when_descriptor() {
    if (descriptor_ >= 0) flush();
  }
  std::string buffer_;
  int descriptor_ = -1;
  int error_ = 0;
  bool for_people_ = false;
  bool colours_ = true;
  bool csv_safe_ = false;
};

}  // namespace fathom
