// Axes of figures: linear or logarithmic scales, ticks at round numbers, numbers as a printed figure shows them.
#pragma once

#include <string>
#include <vector>

namespace fathom {

struct Range {
  double low = 1e308;
  double high = -1e308;
  void add(double value);  // what is not finite does not count
  [[nodiscard]] bool empty() const { return low > high; }
};

// Where the values of an axis lie between two edges of a figure.
class PlotAxis {
 public:
  // `values`: what the axis must show. Logarithmic when they are positive and span more than `log_from` times.
  PlotAxis(const Range& values, double log_from);

  void place(double from, double to) {
    from_ = from;
    to_ = to;
  }
  [[nodiscard]] bool logarithmic() const { return logarithmic_; }
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  [[nodiscard]] double at(double value) const;     // in the figure
  [[nodiscard]] double value(double share) const;  // 0 = low end, 1 = high end
  [[nodiscard]] double share(double value) const;
  // A little room beyond both ends; linear axes do not leave zero for it.
  void widen(double share);
  void start_at_zero() { low_ = logarithmic_ ? low_ : (low_ > 0 ? 0 : low_); }

  // Round numbers inside, about `count`. Measured values take their place on a logarithmic axis when they are few.
  [[nodiscard]] std::vector<double> ticks(int count, const std::vector<double>& measured = {}) const;

 private:
  bool logarithmic_ = false;
  double low_, high_;
  double from_ = 0, to_ = 1;
};

// "250", "0.004", "2.5×10⁶" as SVG text content.
std::string plot_number(double value);

}  // namespace fathom
