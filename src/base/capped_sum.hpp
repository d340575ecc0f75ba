// Sums and differences of numbers that files claim: they stay at the largest instead of going round.
#pragma once

#include <cstdint>
#include <limits>

namespace fathom {

class CappedSum {
 public:
  CappedSum() = default;
  CappedSum(std::int64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor): it is a number
  CappedSum& operator+=(std::int64_t more) {
    using Limits = std::numeric_limits<std::int64_t>;
    if (__builtin_add_overflow(value_, more, &value_)) value_ = more < 0 ? Limits::min() : Limits::max();
    return *this;
  }
  [[nodiscard]] std::int64_t value() const { return value_; }
  operator std::int64_t() const { return value_; }  // NOLINT(google-explicit-constructor)

 private:
  std::int64_t value_ = 0;
};

// How long it is from one moment to a later one.
inline std::int64_t passed(std::int64_t from, std::int64_t to) {
  std::int64_t out = 0;
  return __builtin_sub_overflow(to, from, &out) ? std::numeric_limits<std::int64_t>::max() : out;
}

}  // namespace fathom
