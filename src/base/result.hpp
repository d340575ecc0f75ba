// Result<T>: a value or an Error, and the two macros that pass errors on.
#pragma once

#include <utility>
#include <variant>

#include "base/error.hpp"

namespace fathom {

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

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

  [[nodiscard]] Error& error() & { return std::get<1>(state_); }
  [[nodiscard]] const Error& error() const& { return std::get<1>(state_); }
  [[nodiscard]] Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}

  [[nodiscard]] bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  [[nodiscard]] Error& error() & { return error_; }
  [[nodiscard]] const Error& error() const& { return error_; }
  [[nodiscard]] Error&& error() && { return std::move(error_); }

 private:
  Error error_;
  bool ok_ = true;
};

inline Result<void> success() { return {}; }

}  // namespace fathom

#define FATHOM_JOIN_(a, b) a##b
#define FATHOM_JOIN(a, b) FATHOM_JOIN_(a, b)
#define FATHOM_TRY_(tmp, declaration, expression) \
  auto tmp = (expression);                        \
  if (!tmp.ok()) return std::move(tmp).error();   \
  declaration = std::move(tmp).value()

// FATHOM_TRY(auto x, f()): x is f()'s value, or the calling function returns f()'s error.
#define FATHOM_TRY(declaration, expression) FATHOM_TRY_(FATHOM_JOIN(fathom_result_, __LINE__), declaration, expression)

// FATHOM_CHECK(f()): the same for a Result<void>.
#define FATHOM_CHECK(expression)                                                                         \
  do {                                                                                                   \
    if (auto fathom_status = (expression); !fathom_status.ok()) return std::move(fathom_status).error(); \
  } while (false)
