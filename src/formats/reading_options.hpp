// Options of reading that several formats obey. Those of one format alone are declared in its folder.
#pragma once

#include "base/option.hpp"

namespace fathom {

// Traces.
inline constexpr Option<std::string> kClock{"clock", "CLOCK", "times as stored (raw) or on the clock of the run",
                                            "run raw"};

inline constexpr Option<bool> kWaits{
    "waits", "", "traces as profiles: with wait states, delay costs and the critical path as metrics"};

// Experiments.
inline constexpr Option<bool> kAllowIncomplete{"allow-incomplete", "",
                                               "accept call paths that were not measured at every point"};
inline constexpr Option<std::string> kMultiplyBy{
    "multiply-by", "P", "multiply all values by this parameter (strong scaling: time of all processes)"};

// Runs that are collected to an experiment.
inline constexpr Option<std::string> kScaling{"scaling", "KIND",
                                              "how the locations of a run become a value; default weak",
                                              "weak weak_threaded weak-threaded strong"};
inline constexpr Option<bool> kInclusive{"use-inclusive-measurements", "", "inclusive instead of exclusive values"};

}  // namespace fathom
