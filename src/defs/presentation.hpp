// How a file wants a metric shown. Kept among the metric's attributes, so that it goes where the metric goes.
#pragma once

#include <string>

#include "defs/metric.hpp"

namespace fathom {

struct Presentation {
  bool inclusive = true;
  bool exclusive = true;
  bool percent = true;
  std::string format;  // of values: a printf format for one double; empty = none given
};

Presentation presentation_of(const Metric& metric);
void present(Metric& metric, const Presentation& presentation);

}  // namespace fathom
