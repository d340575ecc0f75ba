#include "base/time_unit.hpp"

#include <array>
#include <cmath>

#include "base/text.hpp"

namespace fathom {

double seconds_per(std::string_view unit) {
  struct TimeUnit {
    std::string_view name;
    double seconds;
  };
  static constexpr std::array<TimeUnit, 13> kUnits = {{{"sec", 1},
                                                       {"s", 1},
                                                       {"seconds", 1},
                                                       {"usec", 1e-6},
                                                       {"us", 1e-6},
                                                       {"µs", 1e-6},
                                                       {"microseconds", 1e-6},
                                                       {"nanoseconds", 1e-9},
                                                       {"milliseconds", 1e-3},
                                                       {"nsec", 1e-9},
                                                       {"ns", 1e-9},
                                                       {"msec", 1e-3},
                                                       {"ms", 1e-3}}};
  for (const TimeUnit& known : kUnits) {
    if (unit == known.name) return known.seconds;
  }
  return 0;
}

bool other_time_unit(std::string_view from, std::string_view to) {
  const double a = seconds_per(from);
  const double b = seconds_per(to);
  return a > 0 && b > 0 && a != b;
}

// Between units lie whole numbers, which no reciprocal of them is.
double in_time_unit(double value, std::string_view from, std::string_view to) {
  if (!other_time_unit(from, to)) return value;
  const double a = seconds_per(from);
  const double b = seconds_per(to);
  return a > b ? value * std::round(a / b) : value / std::round(b / a);
}

bool same_unit(std::string_view a, std::string_view b) {
  a = trim(a);
  b = trim(b);
  if (a.empty() || b.empty() || equal_ignoring_case(a, b)) return true;
  return seconds_per(a) > 0 && seconds_per(a) == seconds_per(b);
}

}  // namespace fathom
