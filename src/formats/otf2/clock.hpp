// Ticks of an archive's clock as nanoseconds since its global offset, exact and rounded down.
#pragma once

#include <cstdint>

namespace fathom::otf2 {

class TickClock {
 public:
  TickClock(std::uint64_t resolution, std::uint64_t offset)
      : resolution_(resolution), offset_(offset), factor_(kNano / static_cast<double>(resolution)) {
    // Inside of a second the product of ticks and 10^9 fits 64 bits for all clocks up to 18 GHz.
    fast_ = resolution <= kFastest;
  }

  std::int64_t operator()(std::uint64_t ticks) {
    const std::uint64_t passed = ticks - offset_;
    if (resolution_ == kNanoTicks) return static_cast<std::int64_t>(passed);
    std::uint64_t rest = passed - second_;
    if (rest >= resolution_) rest = find_second(static_cast<std::int64_t>(passed));
    if (!fast_) {
      return static_cast<std::int64_t>(
          second_ns_ + static_cast<std::uint64_t>(static_cast<unsigned __int128>(rest) * kNanoTicks / resolution_));
    }
    // An estimate that is off by one at the most, then the exact quotient.
    auto quotient = static_cast<std::uint64_t>(static_cast<double>(rest) * factor_);
    const auto left = static_cast<std::int64_t>(rest * kNanoTicks - quotient * resolution_);
    if (left < 0) {
      --quotient;
    } else if (left >= static_cast<std::int64_t>(resolution_)) {
      ++quotient;
    }
    return static_cast<std::int64_t>(second_ns_ + quotient);
  }

 private:
  static constexpr std::uint64_t kNanoTicks = 1'000'000'000;
  static constexpr double kNano = 1e9;
  static constexpr std::uint64_t kFastest = 18'000'000'000;

  // The second that holds a time; times before the offset count backwards from it. Wraps around instead of
  // overflowing: a time that large is damage anyway.
  std::uint64_t find_second(std::int64_t passed) {
    const auto divisor = static_cast<__int128>(resolution_);
    __int128 second = static_cast<__int128>(passed) / divisor;
    if (second * divisor > passed) --second;
    second_ = static_cast<std::uint64_t>(second * divisor);
    second_ns_ = static_cast<std::uint64_t>(second) * kNanoTicks;
    return static_cast<std::uint64_t>(passed) - second_;
  }

  std::uint64_t resolution_;
  std::uint64_t offset_;
  double factor_;
  std::uint64_t second_ = 0;     // ticks at the begin of the current second
  std::uint64_t second_ns_ = 0;  // the same in ns
  bool fast_;
};

}  // namespace fathom::otf2
