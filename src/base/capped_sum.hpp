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
// The same exactly, in all 64 bits; 0 where the moment is before the first one.
inline std::uint64_t since(std::int64_t first, std::int64_t moment) {
  return moment < first ? 0 : static_cast<std::uint64_t>(moment) - static_cast<std::uint64_t>(first);
}

}  // namespace fathom
