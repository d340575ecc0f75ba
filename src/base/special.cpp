#include "base/special.hpp"

#include <cmath>
#include <limits>

namespace fathom {

namespace {

// Asymptotic series are used from here on; smaller arguments are shifted up.
constexpr double kAsymptotic = 8;

// Continued fraction of the incomplete beta function (modified Lentz).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
  double h = d;
  for (int m = 1; m <= 300; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 + even * d;
    c = 1 + even / c;
    d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
    c = std::fabs(c) < kTiny ? kTiny : c;
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + odd * d;
    c = 1 + odd / c;
    d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
    c = std::fabs(c) < kTiny ? kTiny : c;
    const double step = d * c;
    h *= step;
    if (std::fabs(step - 1) < 1e-14) break;
  }
  return h;
}

// 1 / B(a, b), as logarithm.
double log_front(double a, double b) { return std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b); }

double incomplete_beta(double a, double b, double x, double log_front) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(log_front + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double digamma(double x) {
  double result = 0;
  for (; x < kAsymptotic; ++x) result -= 1 / x;
  const double f = 1 / (x * x);
  return result + std::log(x) - 0.5 / x - f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f / 240)));
}

double trigamma(double x) {
  double result = 0;
  for (; x < kAsymptotic; ++x) result += 1 / (x * x);
  const double f = 1 / (x * x);
  return result + 1 / x + f / 2 + f / x * (1.0 / 6 - f * (1.0 / 30 - f * (1.0 / 42 - f / 30)));
}

double inverse_trigamma(double y) {
  // trigamma falls from infinity to zero: bisect on a logarithmic scale.
  double low = 1e-8;
  double high = 1e8;
  for (int step = 0; step < 100; ++step) {
    const double middle = std::sqrt(low * high);
    (trigamma(middle) > y ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

StudentDistribution::StudentDistribution(double degrees)
    : degrees_(degrees), log_front_(log_front(degrees / 2, 0.5)), peak_(std::exp(log_front_) / std::sqrt(degrees)) {}

double StudentDistribution::cdf(double t) const {
  if (std::isnan(t)) return std::numeric_limits<double>::quiet_NaN();
  const double tail = 0.5 * incomplete_beta(degrees_ / 2, 0.5, degrees_ / (degrees_ + t * t), log_front_);
  return t > 0 ? 1 - tail : tail;
}

double StudentDistribution::density(double t) const {
  return peak_ * std::exp(-(degrees_ + 1) / 2 * std::log1p(t * t / degrees_));
}

}  // namespace fathom
