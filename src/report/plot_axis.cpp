#include "report/plot_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "base/time_unit.hpp"

namespace fathom {

namespace {

constexpr std::size_t kMostMeasured = 9;  // measured values that fit as ticks
constexpr double kClosestTicks = 0.045;   // as share of the axis
constexpr double kRoundingSlack = 1e-9;
constexpr double kMostDecades = 16;  // ticks at powers of ten that fit

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
  const int every = std::max(1, static_cast<int>(std::ceil(decades / kMostDecades)));
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

namespace {

// Digits and power of ten, as they are written.
struct Written {
  std::string head;
  std::string power;  // "" = none
};

std::string with_minus(std::string text) {
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

Written written(double value) {
  const double size = std::fabs(value);
  if (size == 0 || (size >= 1e-3 && size < 1e5)) return {with_minus(fmt::format("{:.6g}", value)), ""};
  const auto power = static_cast<int>(std::floor(std::log10(size) + kRoundingSlack));
  const double digits = value / std::pow(10, power);
  const std::string head =
      std::fabs(std::fabs(digits) - 1) < kRoundingSlack ? (value < 0 ? "−10" : "10") : fmt::format("{:.4g}×10", digits);
  return {with_minus(head), with_minus(std::to_string(power))};
}

struct Prefix {
  const char* name;
  double factor;
};
constexpr std::array kTimes{Prefix{"n", 1e-9}, Prefix{"µ", 1e-6}, Prefix{"m", 1e-3}, Prefix{"", 1}};
constexpr std::array kSizes{Prefix{"", 1},    Prefix{"k", 1e3},  Prefix{"M", 1e6},
                            Prefix{"G", 1e9}, Prefix{"T", 1e12}, Prefix{"P", 1e15}};

// The largest prefix that leaves at least one.
Prefix prefix_of(double value, std::string_view base) {
  const auto choose = [&](const auto& list) {
    Prefix best = list.front();
    for (const Prefix& prefix : list) {
      if (std::fabs(value) >= prefix.factor * (1 - kRoundingSlack)) best = prefix;
    }
    return best;
  };
  return base == "s" ? choose(kTimes) : choose(kSizes);
}

}  // namespace

std::string plot_number(double value) {
  const auto [head, power] = written(value);
  return power.empty() ? head : fmt::format("{}<tspan dy=\"-5\" font-size=\"75%\">{}</tspan>", head, power);
}

std::size_t plot_number_width(double value) {
  const auto [head, power] = written(value);
  return display_width(head) + display_width(power);
}

TickNames::TickNames(const PlotAxis& axis, std::string name, const std::string& unit) : name_(std::move(name)) {
  if (const double second = seconds_per(unit); second > 0) {
    base_ = "s";
    factor_ = second;
  } else if (unit == "B" || equal_ignoring_case(unit, "bytes") || equal_ignoring_case(unit, "byte")) {
    base_ = "B";
  }
  if (base_.empty()) {
    if (!unit.empty()) name_ += " [" + unit + "]";
    return;
  }
  each_ = axis.logarithmic();
  if (each_) return;
  const Prefix prefix = prefix_of(std::max(std::fabs(axis.low()), std::fabs(axis.high())) * factor_, base_);
  scale_ = 1 / prefix.factor;
  name_ += fmt::format(" [{}{}]", prefix.name, base_);
}

std::string TickNames::text(double value) const {
  if (!each_) return plot_number(base_.empty() ? value : value * factor_ * scale_);
  const Prefix prefix = prefix_of(value * factor_, base_);
  return fmt::format("{} {}{}", plot_number(value * factor_ / prefix.factor), prefix.name, base_);
}

}  // namespace fathom
