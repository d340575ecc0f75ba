// Special functions that the standard library does not have.
#pragma once

namespace fathom {

double digamma(double x);           // x > 0
double trigamma(double x);          // x > 0
double inverse_trigamma(double y);  // y > 0
// Distribution function of Student's t with `degrees` > 0 degrees of freedom.
double student_cdf(double t, double degrees);
// Its inverse, 0 < p < 1.
double student_quantile(double p, double degrees);

}  // namespace fathom
