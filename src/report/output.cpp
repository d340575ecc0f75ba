#include "report/output.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/stop.hpp"
#include "base/visible.hpp"

namespace fathom {

namespace {

// Printable ASCII and line breaks, as nearly everything is.
bool is_harmless(std::string_view text) {
  bool odd = false;
  for (const char c : text) odd |= (c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
  return !odd;
}

}  // namespace

void Output::write(std::string_view text) {
  if (for_people_ && !is_harmless(text)) {
    buffer_ += visible_lines(text);
  } else {
    buffer_ += text;
  }
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
  if (descriptor_ < 0) return;
  std::size_t done = 0;
  // Nothing that was made from a file that is gone reaches the reader; errors do.
  if (descriptor_ != STDERR_FILENO && stop_reason()) error_ = EIO;
  while (error_ == 0 && done < buffer_.size()) {
    const ssize_t count = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
}

Result<void> Output::finish() {
  flush();
  if (auto lost = stop_reason()) return *std::move(lost);
  if (error_ == 0 || error_ == EPIPE) return {};
  return Error(std::string("cannot write to standard output: ") + std::strerror(error_));
}

}  // namespace fathom
