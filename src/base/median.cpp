#include "base/median.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace fathom {
namespace {

constexpr std::size_t kFew = 8;    // the usual handful of repetitions
constexpr std::size_t kSome = 32;  // those of a handful of points

void put_in_order(double& a, double& b) {
  const double low = std::min(a, b);
  b = std::max(a, b);
  a = low;
}

// In order by exchanges that need no branch, which would be guessed wrong half of the time.
template <std::size_t kCount>
void sort_few(double* values) {
  std::array<double, kCount> own;  // in registers
  std::copy_n(values, kCount, own.begin());
  for (std::size_t round = 0; round < kCount; ++round) {
    for (std::size_t i = round % 2; i + 1 < kCount; i += 2) put_in_order(own[i], own[i + 1]);
  }
  std::copy_n(own.begin(), kCount, values);
}

void sort_few(std::span<double> values) {
  constexpr std::array<void (*)(double*), kFew + 1> kSorts = {sort_few<0>, sort_few<1>, sort_few<2>,
                                                              sort_few<3>, sort_few<4>, sort_few<5>,
                                                              sort_few<6>, sort_few<7>, sort_few<8>};
  kSorts[values.size()](values.data());
}

// A bitonic network, for the same reason: sorted halves, the second one read backwards, are merged into sorted wholes.
void sort_some(std::array<double, kSome>& values) {
  for (std::size_t size = 2; size <= kSome; size *= 2) {
    for (std::size_t block = 0; block < kSome; block += size) {
      for (std::size_t i = 0; i < size / 2; ++i) put_in_order(values[block + i], values[block + size - 1 - i]);
    }
    for (std::size_t half = size / 4; half > 0; half /= 2) {
      for (std::size_t block = 0; block < kSome; block += 2 * half) {
        for (std::size_t i = 0; i < half; ++i) put_in_order(values[block + i], values[block + i + half]);
      }
    }
  }
}

double middle_of_sorted(std::span<const double> values) {
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace

double median_in_place(std::span<double> values) {
  const std::size_t n = values.size();
  if (n <= kFew) {
    sort_few(values);
    return middle_of_sorted(values);
  }
  if (n <= kSome) {
    std::array<double, kSome> own;
    std::fill(std::copy(values.begin(), values.end(), own.begin()), own.end(), std::numeric_limits<double>::infinity());
    sort_some(own);
    return middle_of_sorted(std::span(own).first(n));
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
