// What went wrong, where, and what to do about it: the one kind of error of the whole API.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace fathom::api {

// A place in an input: a file, and in it a byte offset or a line (from 1).
struct Place {
  std::string file;
  std::optional<std::uint64_t> offset;
  std::optional<std::uint64_t> line;
};

enum class ErrorKind : std::uint8_t {
  unusable,   // nothing usable could be read or written
  usage,      // the request itself is wrong: option, name, path
  refused,    // the data were judged and refused (strict)
  cancelled,  // somebody asked it to stop
};

class Error {
 public:
  Error() = default;
  Error(ErrorKind kind, std::string text, std::string hint = {}, Place place = {})
      : text_(std::move(text)), hint_(std::move(hint)), place_(std::move(place)), kind_(kind) {}

  [[nodiscard]] ErrorKind kind() const { return kind_; }
  // "file:0x10: context: what", complete.
  [[nodiscard]] const std::string& text() const { return text_; }
  // What can be done about it; may be empty.
  [[nodiscard]] const std::string& hint() const { return hint_; }
  [[nodiscard]] const Place& place() const { return place_; }

 private:
  std::string text_;
  std::string hint_;
  Place place_;
  ErrorKind kind_ = ErrorKind::unusable;
};

// A value or an error. value() of an error, and error() of a value, throw std::bad_variant_access.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace fathom::api
