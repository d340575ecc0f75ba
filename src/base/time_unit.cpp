#include "base/time_unit.hpp"

#include <array>

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

}  // namespace fathom
