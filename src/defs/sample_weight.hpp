// What samples stand for: a counter of their trace that says more of them than the time from one to the next, which
// has the pauses of threads that sleep in it.
#pragma once

#include <algorithm>

#include "defs/metric.hpp"

namespace fathom {

inline Attributes::value_type sample_weight() { return {"role", "weight of samples"}; }

inline bool weighs_samples(const Metric& metric) {
  return std::find(metric.attributes.begin(), metric.attributes.end(), sample_weight()) != metric.attributes.end();
}

}  // namespace fathom
