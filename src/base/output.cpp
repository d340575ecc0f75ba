#include "base/output.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/cancel.hpp"
#include "base/self_profile.hpp"
#include "base/visible.hpp"

namespace fathom {

namespace {

// Printable ASCII and line breaks, as nearly everything is.
bool is_harmless(std::string_view text) {
  // No branches, so that the compiler looks at many characters at once: this runs over gigabytes.
  unsigned char odd = 0;
  for (const char c : text) {
    const auto byte = static_cast<signed char>(c);
    const bool control = ((byte < ' ') & (byte != '\n') & (byte != '\t')) | (byte == 0x7f);
    odd = static_cast<unsigned char>(odd | control);
  }
  return odd == 0;
}

// 0, or why it could not be written: EINTR when the work is to stop while nobody reads what is written.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    // A write that is interrupted in its middle says how much it has done, and the next one would wait again.
    if (!text.empty() && cancelled()) return EINTR;
  }
  return 0;
}

}  // namespace

void Output::write(std::string_view text) {
  std::string shown;
  if (for_people_ && !is_harmless(text)) {
    shown = visible_lines(text, colours_);
    text = shown;
  }
  // What is large goes out as it is.
  if (descriptor_ >= 0 && text.size() >= kFlushAt) {
    flush();
    if (error_ == 0) error_ = write_all(descriptor_, text);
    return;
  }
  buffer_ += text;
  if (buffer_.size() >= kFlushAt) flush_when_descriptor();
}

void Output::write_number(double value) {
  if (!std::isfinite(value)) return write(exact_text(value));
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  write(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
}

void Output::write_number(Int128 value) {
  if (value >= INT64_MIN && value <= INT64_MAX) return write_number(static_cast<std::int64_t>(value));
  write(exact_text(value));
}

void Output::flush() {
  const Phase phase("write");
  if (descriptor_ < 0) return;
  // Nothing that was made from a file that is gone reaches the reader; errors do.
  if (descriptor_ != STDERR_FILENO && stop_reason()) error_ = EIO;
  if (error_ == 0) error_ = write_all(descriptor_, buffer_);
  buffer_.clear();
}

Result<void> Output::finish() {
  flush();
  if (auto lost = stop_reason()) return *std::move(lost);
  if (error_ == 0 || error_ == EPIPE) return {};
  if (error_ == EINTR) return cancelled_error();
  return Error(std::string(descriptor_ == STDOUT_FILENO ? "cannot write to standard output: " : "cannot write: ") +
               std::strerror(error_));
}

}  // namespace fathom
