#include "profile/expression/functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::expression {

double divide(double a, double b) {
  if (a == 0) return 0;
  return b == 0 ? std::numeric_limits<double>::quiet_NaN() : a / b;
}

double divide_or_zero(double a, double b) { return b == 0 ? 0 : a / b; }

double combinations(double n, double k) {
  constexpr double kMost = 1e6;
  double out = 1;
  for (double i = 1; i <= std::min({k, n - k, kMost}); ++i) out *= (n - i + 1) / i;
  return k < 0 || k > n ? 0 : std::round(out);
}

double apply(Function function, double x) {
  switch (function) {
    case Function::abs:
      return std::abs(x);
    case Function::sqrt:
      return x >= 0 ? std::sqrt(x) : 0;
    case Function::sin:
      return std::sin(x);
    case Function::cos:
      return std::cos(x);
    case Function::tan:
      return std::tan(x);
    case Function::cot:
      return 1 / std::tan(x);
    case Function::asin:
      return std::asin(x);
    case Function::acos:
      return std::acos(x);
    case Function::atan:
      return std::atan(x);
    case Function::acot:
      return std::atan2(1, x);
    case Function::exp:
      return std::exp(x);
    case Function::log:
      return x == 0 ? std::numeric_limits<double>::quiet_NaN() : (x > 0 ? std::log(x) : 0);
    case Function::log2:
      return std::log2(x);
    case Function::log10:
      return std::log10(x);
    case Function::floor:
      return std::floor(x);
    case Function::ceil:
      return std::ceil(x);
    case Function::round:
      return std::round(x);
    case Function::sign:
      return x > 0 ? 1 : (x < 0 ? -1 : 0);
    case Function::positive:
      return x > 0 ? x : 0;
    case Function::negative:
      return x < 0 ? x : 0;
    case Function::sinh:
      return std::sinh(x);
    case Function::cosh:
      return std::cosh(x);
    case Function::tanh:
      return std::tanh(x);
    case Function::asinh:
      return std::asinh(x);
    case Function::acosh:
      return std::acosh(x);
    case Function::atanh:
      return std::atanh(x);
    case Function::factorial:
      return std::tgamma(std::floor(x) + 1);
    default:
      return x;
  }
}

}  // namespace fathom::expression
