#include "model/model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

namespace fathom {

Exponent Exponent::fraction(std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t divisor = std::gcd(numerator, denominator);
  if (divisor > 1) {
    numerator /= divisor;
    denominator /= divisor;
  }
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  return {static_cast<double>(numerator) / static_cast<double>(denominator), numerator, denominator};
}

std::string Exponent::text() const {
  if (!is_fraction()) return python_number(value);
  std::string out = std::to_string(numerator);
  if (denominator != 1) out += "/" + std::to_string(denominator);
  return out;
}

const Segment* segment_at(std::span<const Segment> segments, double x) {
  for (const Segment& s : segments) {
    if (x >= s.from && x <= s.to) return &s;
  }
  return nullptr;
}

namespace {

// std::pow and std::log2 take most of the time of a function. Functions of one experiment are asked for the same few
// powers of the same few coordinates thousands of times: what was worked out last is kept.
class KeptPowers {
 public:
  double power(double x, double exponent) {
    return kept(powers_, x, exponent, [&] { return std::pow(x, exponent); });
  }
  double log_power(double x, double exponent) {
    return kept(log_powers_, x, exponent, [&] { return std::pow(std::log2(x), exponent); });
  }

 private:
  static constexpr int kBits = 8;
  struct Entry {
    std::uint64_t x = 0;  // bit by bit: -0 is not 0
    std::uint64_t exponent = 0;
    double value = 1;  // 0^0
  };
  using Entries = std::array<Entry, 1 << kBits>;

  static double kept(Entries& entries, double x, double exponent, const auto& make) {
    const auto a = std::bit_cast<std::uint64_t>(x);
    const auto b = std::bit_cast<std::uint64_t>(exponent);
    Entry& entry = entries[((a * 0x9E3779B97F4A7C15U + b) * 0xD1B54A32D192ED03U) >> (64 - kBits)];
    if (entry.x != a || entry.exponent != b) entry = {a, b, make()};
    return entry.value;
  }

  Entries powers_;
  Entries log_powers_;
};

double times(double value, std::span<const Factor> factors, std::span<const double> point) {
  static thread_local KeptPowers kept;
  for (const Factor& f : factors) {
    const double x = f.parameter < point.size() ? point[f.parameter] : std::numeric_limits<double>::quiet_NaN();
    if (!f.segments.empty()) {
      const Segment* piece = segment_at(f.segments, x);
      if (piece == nullptr) return std::numeric_limits<double>::quiet_NaN();
      value *= piece->function(point);
      continue;
    }
    if (!f.power.zero()) value *= kept.power(x, f.power.value);
    if (!f.log.zero()) value *= kept.log_power(x, f.log.value);
  }
  return value;
}

}  // namespace

double evaluate(const Term& term, std::span<const double> point) {
  return times(term.coefficient, term.factors, point);
}
double evaluate(std::span<const Factor> factors, std::span<const double> point) { return times(1, factors, point); }

double Function::operator()(std::span<const double> point) const {
  if (!segments.empty()) {
    const Segment* piece = point.empty() ? nullptr : segment_at(segments, point[0]);
    return piece == nullptr ? std::numeric_limits<double>::quiet_NaN() : piece->function(point);
  }
  double value = constant;
  for (const Term& term : terms) value += evaluate(term, point);
  return value;
}

}  // namespace fathom
