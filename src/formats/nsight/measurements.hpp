// From an Nsight report to values of call paths.
#pragma once

#include "experiment/experiment.hpp"
#include "formats/nsight/native.hpp"

namespace fathom::nsight {

struct Measured {
  std::string callpath;
  std::string_view metric;
  double value = 0;
  Tags tags;
};

// In the order in which Extra-P meets them; a call path may come several times. `once`: each call counts once; without
// it the values are those of Extra-P, which counts some calls several times (README.md).
std::vector<Measured> measure(const Report& report, bool once);

}  // namespace fathom::nsight
