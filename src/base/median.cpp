#include "base/median.hpp"

#include <algorithm>
#include <limits>

namespace fathom {
namespace {

constexpr std::size_t kFew = 8;  // the usual handful of repetitions

// In order by exchanges that need no branch, which would be guessed wrong half of the time.
void sort_few(std::span<double> values) {
  for (std::size_t end = values.size(); end > 1; --end) {
    for (std::size_t i = 0; i + 1 < end; ++i) {
      const double low = std::min(values[i], values[i + 1]);
      values[i + 1] = std::max(values[i], values[i + 1]);
      values[i] = low;
    }
  }
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
