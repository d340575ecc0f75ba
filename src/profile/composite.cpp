#include "profile/composite.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/number.hpp"
#include "io/byte_cursor.hpp"
#include "profile/value.hpp"

namespace fathom::composite {

namespace {

double f64(const std::byte* at, std::size_t i = 0) { return load_unchecked<double>(at + i * sizeof(double)); }
std::uint32_t u32(const std::byte* at) { return load_unchecked<std::uint32_t>(at); }

template <class T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}
void put_f64(std::byte* at, std::size_t i, double value) { put(at + i * sizeof(double), value); }

// ---- atomic: u32 count, f64 minimum, maximum, sum, sum of squares

struct Atomic {
  std::uint32_t count;
  double minimum, maximum, sum, squares;

  static Atomic load(const std::byte* at) {
    return {u32(at), f64(at + 4, 0), f64(at + 4, 1), f64(at + 4, 2), f64(at + 4, 3)};
  }
  void store(std::byte* at) const {
    put(at, count);
    put_f64(at + 4, 0, minimum);
    put_f64(at + 4, 1, maximum);
    put_f64(at + 4, 2, sum);
    put_f64(at + 4, 3, squares);
  }
};

// ---- histogram: f64 minimum, f64 maximum, n bins over equal parts of that range

// False for one that is marked as empty, and for one that is wholly zero: where nothing is stored there is no range.
bool histogram_valid(const std::byte* at, std::size_t bins) {
  if (f64(at, 0) == DBL_MAX || f64(at, 1) == -DBL_MAX) return false;
  for (std::size_t i = 0; i < 2 + bins; ++i) {
    if (f64(at, i) != 0) return true;
  }
  return false;
}

// Adds the bins of one histogram, spread over its range, to equal bins over another range around it.
void redistribute(const std::byte* from, std::size_t bins, double low, double high, std::vector<double>& to) {
  const double from_low = f64(from, 0);
  const double from_width = (f64(from, 1) - from_low) / static_cast<double>(bins);
  const double to_width = (high - low) / static_cast<double>(bins);
  const auto bin_at = [&](double x) {
    const double position = to_width > 0 ? (x - low) / to_width : 0;
    return static_cast<std::size_t>(std::clamp(position, 0.0, static_cast<double>(bins - 1)));
  };
  for (std::size_t i = 0; i < bins; ++i) {
    const double weight = f64(from, 2 + i);
    if (weight == 0) continue;
    const double begin = from_low + static_cast<double>(i) * from_width;
    const double end = begin + from_width;
    if (!(from_width > 0)) {
      to[bin_at(begin)] += weight;
      continue;
    }
    for (std::size_t k = bin_at(begin); k < bins; ++k) {
      const double bin_low = low + static_cast<double>(k) * to_width;
      const double overlap = std::min(end, bin_low + to_width) - std::max(begin, bin_low);
      if (overlap > 0) to[k] += weight * overlap / from_width;
      if (bin_low >= end) break;
    }
  }
}

void histogram_plus(std::size_t bins, std::byte* target, const std::byte* other) {
  if (!histogram_valid(other, bins)) return;
  if (!histogram_valid(target, bins)) {
    std::memcpy(target, other, (2 + bins) * sizeof(double));
    return;
  }
  const double low = std::min(f64(target, 0), f64(other, 0));
  const double high = std::max(f64(target, 1), f64(other, 1));
  std::vector<double> sums(bins, 0.0);
  redistribute(target, bins, low, high, sums);
  redistribute(other, bins, low, high, sums);
  put_f64(target, 0, low);
  put_f64(target, 1, high);
  for (std::size_t i = 0; i < bins; ++i) put_f64(target, 2 + i, sums[i]);
}

// ---- scale function: u32 terms, u32 measurements, terms {f64 a, i32 b, u32 c, i32 d}, then measurements

constexpr std::size_t kMaxTerms = 30;
constexpr std::size_t kMaxMeasurements = 10;
constexpr std::size_t kEntry = 20;  // bytes of a term and of a measurement

struct Term {
  double a;
  std::int32_t b;
  std::uint32_t c;
  std::int32_t d;
  [[nodiscard]] bool same_shape(const Term& o) const { return b == o.b && c == o.c && d == o.d; }
};

struct ScaleFunction {
  std::vector<Term> terms;
  std::vector<std::array<std::byte, kEntry>> measurements;

  static ScaleFunction load(const std::byte* at) {
    ScaleFunction out;
    const std::size_t terms = std::min<std::size_t>(u32(at), kMaxTerms);
    const std::size_t measurements = std::min<std::size_t>(u32(at + 4), kMaxMeasurements);
    const std::byte* entry = at + 8;
    for (std::size_t i = 0; i < terms; ++i, entry += kEntry) {
      out.terms.push_back({f64(entry), load_unchecked<std::int32_t>(entry + 8), u32(entry + 12),
                           load_unchecked<std::int32_t>(entry + 16)});
    }
    for (std::size_t i = 0; i < measurements; ++i, entry += kEntry) {
      std::array<std::byte, kEntry> raw;
      std::memcpy(raw.data(), entry, kEntry);
      out.measurements.push_back(raw);
    }
    return out;
  }
  void store(std::byte* at) const {
    std::memset(at, 0, kScaleFunctionSize);
    put(at, static_cast<std::uint32_t>(terms.size()));
    put(at + 4, static_cast<std::uint32_t>(measurements.size()));
    std::byte* entry = at + 8;
    for (const Term& t : terms) {
      put(entry, t.a);
      put(entry + 8, t.b);
      put(entry + 12, t.c);
      put(entry + 16, t.d);
      entry += kEntry;
    }
    for (const auto& m : measurements) {
      std::memcpy(entry, m.data(), kEntry);
      entry += kEntry;
    }
  }
  void add(const ScaleFunction& other, double sign) {
    for (const Term& t : other.terms) {
      const auto same = std::find_if(terms.begin(), terms.end(), [&](const Term& o) { return o.same_shape(t); });
      if (same != terms.end()) {
        same->a += sign * t.a;
      } else if (terms.size() < kMaxTerms) {
        terms.push_back({sign * t.a, t.b, t.c, t.d});
      }
    }
  }
  [[nodiscard]] double at(double x) const {
    double sum = 0;
    for (const Term& t : terms) {
      const double power = t.c == 0 ? 0 : static_cast<double>(t.b) / t.c;
      sum += t.a * std::pow(x, power) * std::pow(std::log2(x), t.d);
    }
    return sum;
  }
};

// The scale at which a scale function is shown as one number.
constexpr double kShownScale = 1024;

void scale_function_add(std::byte* target, const std::byte* other, double sign) {
  ScaleFunction sum = ScaleFunction::load(target);
  sum.add(ScaleFunction::load(other), sign);
  sum.store(target);
}

// ---- rate: f64 numerator, f64 duration; a fraction sum keeps both parts. A part that is wholly zero is no operand.

void rate_add(std::byte* target, const std::byte* other, double sign) {
  const double n1 = f64(target, 0), d1 = f64(target, 1), n2 = f64(other, 0), d2 = f64(other, 1);
  if (n2 == 0 && d2 == 0) return;
  if (n1 == 0 && d1 == 0) {
    put_f64(target, 0, sign * n2);
    put_f64(target, 1, d2);
    return;
  }
  put_f64(target, 0, n1 * d2 + sign * n2 * d1);
  put_f64(target, 1, d1 * d2);
}

std::size_t double_count(ValueType type) { return type.kind == ValueKind::complex ? 2 : type.n; }

}  // namespace

void put_absent_atomic(std::byte* value) { Atomic{0, DBL_MAX, -DBL_MAX, 0, 0}.store(value); }

bool atomic_is_absent(const std::byte* value) {
  const Atomic a = Atomic::load(value);
  return a.count == 0 && a.minimum == DBL_MAX && a.maximum == -DBL_MAX;
}

void plus(ValueType type, std::byte* target, const std::byte* other) {
  switch (type.kind) {
    case ValueKind::complex:
    case ValueKind::doubles:
      for (std::size_t i = 0; i < double_count(type); ++i) put_f64(target, i, f64(target, i) + f64(other, i));
      return;
    case ValueKind::rate:
      return rate_add(target, other, 1);
    case ValueKind::atomic: {
      Atomic a = Atomic::load(target);
      const Atomic b = Atomic::load(other);
      a.count += b.count;
      a.sum += b.sum;
      a.squares += b.squares;
      a.minimum = std::min(a.minimum, b.minimum);
      a.maximum = std::max(a.maximum, b.maximum);
      return a.store(target);
    }
    case ValueKind::histogram:
      return histogram_plus(type.n, target, other);
    case ValueKind::scale_function:
      return scale_function_add(target, other, 1);
    default:
      return;
  }
}

void minus(ValueType type, std::byte* target, const std::byte* other) {
  switch (type.kind) {
    case ValueKind::complex:
    case ValueKind::doubles:
      for (std::size_t i = 0; i < double_count(type); ++i) {
        put_f64(target, i, difference(f64(target, i), f64(other, i)));
      }
      return;
    case ValueKind::rate:
      return rate_add(target, other, -1);
    case ValueKind::atomic: {
      Atomic a = Atomic::load(target);
      const Atomic b = Atomic::load(other);
      if (atomic_is_absent(target) || atomic_is_absent(other)) return;
      a.count -= b.count;
      a.sum -= b.sum;
      a.squares -= b.squares;
      a.minimum = std::max(a.minimum, b.minimum);
      a.maximum = std::min(a.maximum, b.maximum);
      return a.store(target);
    }
    case ValueKind::scale_function:
      return scale_function_add(target, other, -1);
    default:
      return;  // histograms have no difference
  }
}

void scale(ValueType type, std::byte* target, double factor) {
  switch (type.kind) {
    case ValueKind::complex:
    case ValueKind::doubles:
      for (std::size_t i = 0; i < double_count(type); ++i) put_f64(target, i, f64(target, i) * factor);
      return;
    case ValueKind::rate:
      put_f64(target, 0, f64(target, 0) * factor);
      return;
    case ValueKind::histogram:
      for (std::size_t i = 0; i < type.n; ++i) put_f64(target, 2 + i, f64(target, 2 + i) * factor);
      return;
    case ValueKind::scale_function: {
      ScaleFunction f = ScaleFunction::load(target);
      for (Term& t : f.terms) t.a *= factor;
      f.store(target);
      return;
    }
    default:
      return;  // an atomic value of several runs is that of all their events
  }
}

double scalar(ValueType type, const std::byte* value) {
  switch (type.kind) {
    case ValueKind::complex:
      return std::hypot(f64(value, 0), f64(value, 1));
    case ValueKind::rate:
      return f64(value, 1) == 0 ? std::numeric_limits<double>::quiet_NaN() : f64(value, 0) / f64(value, 1);
    case ValueKind::atomic: {
      const Atomic a = Atomic::load(value);
      return a.count == 0 ? 0 : a.sum / a.count;
    }
    case ValueKind::doubles:
    case ValueKind::histogram: {
      const std::size_t first = type.kind == ValueKind::histogram ? 2 : 0;
      double sum = 0;
      for (std::size_t i = 0; i < type.n; ++i) sum += f64(value, first + i);
      return sum;
    }
    case ValueKind::scale_function:
      return ScaleFunction::load(value).at(kShownScale);
    default:
      return 0;
  }
}

std::vector<std::string> components(ValueType type, const std::byte* value) {
  std::vector<std::string> out;
  const auto doubles = [&](const std::byte* at, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out.push_back(exact_text(f64(at, i)));
  };
  switch (type.kind) {
    case ValueKind::atomic:
      out.push_back(std::to_string(u32(value)));
      doubles(value + 4, 4);
      break;
    case ValueKind::scale_function: {
      const ScaleFunction f = ScaleFunction::load(value);
      out.push_back(std::to_string(f.terms.size()));
      out.push_back(std::to_string(f.measurements.size()));
      for (const Term& t : f.terms) {
        out.push_back(exact_text(t.a));
        out.push_back(std::to_string(t.b));
        out.push_back(std::to_string(t.c));
        out.push_back(std::to_string(t.d));
      }
      for (const auto& m : f.measurements) {
        out.push_back(std::to_string(u32(m.data())));
        doubles(m.data() + 4, 2);
      }
      break;
    }
    default:
      doubles(value, type.size() / sizeof(double));
  }
  return out;
}

}  // namespace fathom::composite
