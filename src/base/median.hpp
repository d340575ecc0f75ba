// The middle value; of an even number of them, the mean of the two in the middle. Values are numbers, not NaN.
#pragma once

#include <span>
#include <vector>

namespace fathom {

double median_in_place(std::span<double> values);  // at least one; leaves them in another order
double median_of(std::vector<double> values);      // NaN when there is none

}  // namespace fathom
