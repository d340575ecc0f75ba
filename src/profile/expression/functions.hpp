// The functions of numbers that expressions know.
#pragma once

#include "profile/expression/program.hpp"

namespace fathom::expression {

// 0 when the dividend is 0, NaN when only the divisor is.
double divide(double a, double b);
double divide_or_zero(double a, double b);
double combinations(double n, double k);

// Not of Function::random, nor of those that take any number of operands.
double apply(Function function, double x);

}  // namespace fathom::expression
