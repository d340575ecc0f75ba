// What the repetitions of one series and the residuals of its model say about the noise, relative to the values.
#pragma once

#include <span>
#include <vector>

#include "model/model.hpp"

namespace fathom {

struct RelativeNoise {
  std::size_t parameters = 0;
  std::vector<double> coordinates;  // of the points that count
  std::vector<double> values;       // the measure there, all positive
  double squares = 0;               // of the function's residuals
  double variance = 0;      // of one point's value: from repetitions and fit together, or the fit where it is worse
  double run_variance = 0;  // of a single run
  double degrees = 0;       // of freedom behind `variance`

  [[nodiscard]] std::span<const double> point(std::size_t k) const {
    return {coordinates.data() + k * parameters, parameters};
  }
};

// `segment`: only its points; null: all of them. False when values or the function are not positive. One result is used
// for many series, for what it allocates.
bool relative_noise(const Experiment& experiment, std::uint32_t series, const Function& function, Measure measure,
                    const Segment* segment, RelativeNoise& out);

}  // namespace fathom
