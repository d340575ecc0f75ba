#include "report/plot_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fathom {

namespace {

constexpr std::size_t kMostMeasured = 9;  // measured values that fit as ticks
constexpr double kClosestTicks = 0.045;   // as share of the axis
constexpr double kRoundingSlack = 1e-9;

double round_step(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;
  return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

}  // namespace

void Range::add(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

PlotAxis::PlotAxis(const Range& values, double log_from) : low_(values.low), high_(values.high) {
  if (values.empty()) {
    low_ = 0;
    high_ = 1;
  }
  logarithmic_ = low_ > 0 && high_ / low_ >= log_from;
  if (high_ == low_) {
    const double room = low_ == 0 ? 1 : std::fabs(low_) / 2;
    low_ -= room;
    high_ += room;
  }
}

double PlotAxis::share(double value) const {
  if (logarithmic_) return std::log(value / low_) / std::log(high_ / low_);
  return (value - low_) / (high_ - low_);
}

double PlotAxis::value(double share) const {
  return logarithmic_ ? low_ * std::pow(high_ / low_, share) : low_ + (high_ - low_) * share;
}

double PlotAxis::at(double value) const { return from_ + (to_ - from_) * share(value); }

void PlotAxis::widen(double share) {
  const double low = value(-share);
  const double high = value(1 + share);
  low_ = !logarithmic_ && low_ >= 0 ? std::max(low, 0.0) : low;
  high_ = high;
}

std::vector<double> PlotAxis::ticks(int count, const std::vector<double>& measured) const {
  std::vector<double> list;
  if (logarithmic_ && !measured.empty() && measured.size() <= kMostMeasured) {
    std::vector<double> sorted = measured;
    std::sort(sorted.begin(), sorted.end());
    for (const double value : sorted) {
      if (list.empty() || share(value) - share(list.back()) >= kClosestTicks) list.push_back(value);
    }
    return list;
  }
  if (!logarithmic_) {
    const double step = round_step((high_ - low_) / count);
    for (double t = std::ceil(low_ / step - kRoundingSlack) * step; t <= high_ + step * kRoundingSlack; t += step) {
      list.push_back(std::fabs(t) < step * kRoundingSlack ? 0 : t);
    }
    return list;
  }
  // Powers of ten, with 2 and 5 between them where there is room; every n-th power where there is not.
  const double decades = std::log10(high_ / low_);
  const int every = std::max(1, static_cast<int>(std::ceil(decades / count)));
  const auto first = static_cast<int>(std::floor(std::log10(low_)));
  const auto last = static_cast<int>(std::ceil(std::log10(high_)));
  for (int power = first; power <= last; ++power) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      if (digit > 1 && decades * 2 > count) continue;
      if (digit == 1 && power % every != 0) continue;
      const double t = digit * std::pow(10, power);
      if (t >= low_ * (1 - kRoundingSlack) && t <= high_ * (1 + kRoundingSlack)) list.push_back(t);
    }
  }
  return list;
}

std::string plot_number(double value) {
  const double size = std::fabs(value);
  if (size == 0 || (size >= 1e-3 && size < 1e5)) return fmt::format("{:.6g}", value);
  const auto power = static_cast<int>(std::floor(std::log10(size) + kRoundingSlack));
  const double digits = value / std::pow(10, power);
  const std::string head =
      std::fabs(std::fabs(digits) - 1) < kRoundingSlack ? (value < 0 ? "-10" : "10") : fmt::format("{:.4g}×10", digits);
  return fmt::format("{}<tspan dy=\"-5\" font-size=\"75%\">{}</tspan>", head, power);
}

}  // namespace fathom
