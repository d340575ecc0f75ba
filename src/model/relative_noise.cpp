#include "model/relative_noise.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {

bool relative_noise(const Experiment& experiment, std::uint32_t number, const Function& function, Measure measure,
                    const Segment* segment, RelativeNoise& out) {
  const Series& series = experiment.series()[number];
  out.parameters = experiment.parameters().size();
  const auto figures = experiment.measure(measure);
  const auto points = experiment.points_of(series);
  out.coordinates.clear();
  out.values.clear();
  double squares = 0;
  double run = 0;
  double run_degrees = 0;
  double repetitions = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto at = experiment.point(points[k]);
    if (segment != nullptr && !(at[0] >= segment->from && at[0] <= segment->to)) continue;
    const double f = function(at);
    const double y = figures[series.first + k];
    if (!(f > 0) || !(y > 0) || !std::isfinite(f) || !std::isfinite(y)) return false;
    out.coordinates.insert(out.coordinates.end(), at.begin(), at.end());
    out.values.push_back(y);
    const double r = 2 * (y - f) / (y + f);
    squares += r * r;
    const double count = experiment.repetitions()[series.first + k];
    const double mean = experiment.means()[series.first + k];
    repetitions += std::max(count, 1.0);
    if (count > 1 && mean > 0) {
      const double deviation = experiment.deviations()[series.first + k] / mean;
      run += count * deviation * deviation;
      run_degrees += count - 1;
    }
  }
  if (out.values.empty()) return false;
  out.squares = squares;
  const auto n = static_cast<double>(out.values.size());
  repetitions /= n;
  if (run_degrees > 0) run /= run_degrees;
  const double free = std::max(n - static_cast<double>(function.terms.size()) - 1, 0.0);
  const double own = free > 0 ? squares / free : 0;
  const double pooled = free + run_degrees > 0 ? (squares + run_degrees * run / repetitions) / (free + run_degrees) : 0;
  out.variance = std::max(pooled, own);
  out.degrees = own > pooled ? free : free + run_degrees;
  out.run_variance = run_degrees > 0 ? std::max(run, out.variance) : out.variance;
  return true;
}

}  // namespace fathom
