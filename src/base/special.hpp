// Special functions that the standard library does not have.
#pragma once

namespace fathom {

double digamma(double x);           // x > 0
double trigamma(double x);          // x > 0
double inverse_trigamma(double y);  // y > 0
// Student's t with `degrees` > 0 degrees of freedom.
class StudentDistribution {
 public:
  explicit StudentDistribution(double degrees);
  [[nodiscard]] double cdf(double t) const;
  [[nodiscard]] double density(double t) const;

 private:
  double degrees_;
  double log_front_;
  double peak_;
};

}  // namespace fathom
