#include "base/median.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace fathom {
namespace {

constexpr std::size_t kFew = 8;  // the usual handful of repetitions

// In order by exchanges that need no branch, which would be guessed wrong half of the time.
template <std::size_t kCount>
void sort_few(double* values) {
  std::array<double, kCount> own;  // in registers
  std::copy_n(values, kCount, own.begin());
  for (std::size_t end = kCount; end > 1; --end) {
    for (std::size_t i = 0; i + 1 < end; ++i) {
      const double low = std::min(own[i], own[i + 1]);
      own[i + 1] = std::max(own[i], own[i + 1]);
      own[i] = low;
    }
  }
  std::copy_n(own.begin(), kCount, values);
}

void sort_few(std::span<double> values) {
  constexpr std::array<void (*)(double*), kFew + 1> kSorts = {sort_few<0>, sort_few<1>, sort_few<2>,
                                                              sort_few<3>, sort_few<4>, sort_few<5>,
                                                              sort_few<6>, sort_few<7>, sort_few<8>};
  kSorts[values.size()](values.data());
}

}  // namespace

double median_in_place(std::span<double> values) {
  const std::size_t n = values.size();
  if (n <= kFew) {
    sort_few(values);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (n % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double median_of(std::vector<double> values) {
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : median_in_place(values);
}

}  // namespace fathom
