#include "model/model.hpp"

#include <algorithm>
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

double evaluate(const Term& term, std::span<const double> point) {
  double value = term.coefficient;
  for (const Factor& f : term.factors) {
    const double x = f.parameter < point.size() ? point[f.parameter] : std::numeric_limits<double>::quiet_NaN();
    if (!f.segments.empty()) {
      const Segment* piece = segment_at(f.segments, x);
      if (piece == nullptr) return std::numeric_limits<double>::quiet_NaN();
      value *= piece->function(point);
      continue;
    }
    if (!f.power.zero()) value *= std::pow(x, f.power.value);
    if (!f.log.zero()) value *= std::pow(std::log2(x), f.log.value);
  }
  return value;
}

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
