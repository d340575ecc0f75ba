// How unsure a Gaussian process (Matérn 3/2 and white noise) is at a fixed list of candidates, and how that changes as
// some of them are measured.
#pragma once

#include <vector>

namespace fathom {

class GaussianProcess {
 public:
  // `noise` is the relative scatter of the values. Deterministic: the length scale is the most likely of a fixed list.
  // Takes the cube of the points, and is of no use when it was cancelled meanwhile.
  GaussianProcess(const std::vector<std::vector<double>>& points, const std::vector<double>& values, double noise,
                  const std::vector<std::vector<double>>& candidates);

  [[nodiscard]] double variance(std::size_t candidate) const { return variance_[candidate]; }
  // Takes a candidate as measured. One more row of the Cholesky factor: linear in points for every candidate.
  void add(std::size_t candidate);

 private:
  [[nodiscard]] double kernel(const std::vector<double>& a, const std::vector<double>& b) const;

  double length_ = 1;
  double noise_ = 1e-5;  // variance
  std::vector<std::vector<double>> candidates_;
  std::vector<std::vector<double>> solved_;  // per candidate L^-1 k
  std::vector<double> variance_;
};

}  // namespace fathom
