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

// "250", "0.004", "2.5×10⁶", "−3" as SVG text content.
std::string plot_number(double value);
// How many characters of a line that takes.
std::size_t plot_number_width(double value);

// The numbers beside the ticks of an axis and the name under it: "time [µs]" with 20, 40, 60 on a linear axis, "time"
// with 10 µs, 1 ms, 100 ms on a logarithmic one. Units that have no prefixes stay as they are.
class TickNames {
 public:
  TickNames(const PlotAxis& axis, std::string name, const std::string& unit);
  [[nodiscard]] std::string text(double value) const;  // SVG text content
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::string base_;   // the unit that takes prefixes; "" = none
  double factor_ = 1;  // to that unit
  double scale_ = 1;   // linear axes: to the prefix of all ticks
  bool each_ = false;  // logarithmic ones: every tick has its own
};

}  // namespace fathom
