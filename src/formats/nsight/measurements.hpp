// From an Nsight report to values of call paths.
#pragma once

#include <cstdint>
#include <vector>

#include "experiment/experiment.hpp"
#include "formats/nsight/native.hpp"

namespace fathom::nsight {

struct Measured {
  std::string callpath;
  std::string_view metric;
  double value = 0;
  Tags tags;
};

struct Measurements {
  std::vector<Measured> values;
  std::uint64_t left_out = 0;  // API calls and what the GPU did for some, whose time is in none of them
};

// In the order in which Extra-P meets them; a call path may come several times. Each call counts
// once where call paths are those of the calls; with Extra-Prof's markers that is asked for with `once`, and otherwise
// the values are those of Extra-P, which counts some calls several times and leaves others out (README.md).
Measurements measure(const Report& report, bool once);

}  // namespace fathom::nsight
