// What went wrong, where, and what to do about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

// A place in an input: a file, and in it a byte offset or a line (1-based).
struct Place {
  std::string file;
  std::optional<std::uint64_t> offset;
  std::optional<std::uint64_t> line;

  static Place in(std::string file) { return {std::move(file), {}, {}}; }
  static Place at_offset(std::string file, std::uint64_t offset) { return {std::move(file), offset, {}}; }
  static Place at_line(std::string file, std::uint64_t line) { return {std::move(file), {}, line}; }

  // "trace.bin:0x1a40", "runs.txt:12", "dir" or "".
  [[nodiscard]] std::string text() const;
};

// Why a command ends: decides the exit status (design.md, "What the outside sees").
enum class ErrorKind : std::uint8_t {
  unusable,   // nothing usable could be read or written
  usage,      // the request itself is wrong: option, name, path
  refused,    // the data were judged and refused
  cancelled,  // the user pressed Ctrl-C
};

class Error {
 public:
  Error() = default;
  explicit Error(std::string what, Place place = {}) : what_(std::move(what)), place_(std::move(place)) {}

  static Error usage(std::string what) { return Error(std::move(what)).as(ErrorKind::usage); }
  static Error refused(std::string what, Place place = {}) {
    return Error(std::move(what), std::move(place)).as(ErrorKind::refused);
  }

  // Adds what was being done when the error came up; outermost last.
  Error&& with(std::string context) &&;
  // Adds what the user can do about it.
  Error&& hint(std::string text) &&;
  Error&& as(ErrorKind kind) &&;
  // Fills in the place where it is not known yet.
  Error&& where(const Place& place) &&;

  [[nodiscard]] const std::string& what() const { return what_; }
  [[nodiscard]] const Place& place() const { return place_; }
  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] const std::string& hint() const { return hint_; }
  // "context: what", where the place is told apart.
  [[nodiscard]] std::string message() const;
  // "file:0x10: context: what"; the hint is not part of it.
  [[nodiscard]] std::string text() const;

 private:
  std::string what_;
  Place place_;
  std::vector<std::string> contexts_;
  std::string hint_;
  ErrorKind kind_ = ErrorKind::unusable;
};

}  // namespace fathom
