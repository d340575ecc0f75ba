// The Segmented modeler: looks for one change of behaviour with a window of five points.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/cancel.hpp"
#include "model/single.hpp"

namespace fathom {

namespace {

constexpr std::size_t kWindow = 5;
constexpr std::size_t kEnoughPoints = 9;
constexpr double kMisfit = 0.5;  // some window that no model describes
constexpr double kJump = 4;      // or a sudden loss of quality from one window to the next
constexpr double kPoor = 0.1;
constexpr double kTiny = 1e-16;
constexpr std::uint64_t kMostKept = std::uint64_t{32} << 20;  // of tables

class Segmented final : public SingleModeler {
 public:
  Segmented(const SingleOptions& options, std::span<const double> x, std::uint32_t parameter)
      : options_(options), parameter_(parameter), order_(x.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
    for (const std::size_t k : order_) x_.push_back(x[k]);
    if (x.size() < kEnoughPoints) warnings_.push_back(kTooFewSegmented);
  }

  void fit(std::span<const double* const> rows, std::span<Model> models) const override {
    Tables tables;
    std::vector<double> y(x_.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t k = 0; k < y.size(); ++k) y[k] = rows[i][order_[k]];
      fit_one(y, tables, models[i]);
    }
  }

 private:
  // Those that the next series needs again, as far as they are small.
  struct Tables {
    std::map<std::pair<std::size_t, std::size_t>, BlockTable> list;
    std::uint64_t bytes = 0;
  };

  // Basic on the points [begin, end).
  LineFit basic(std::size_t begin, std::size_t end, std::span<const double> y, Tables& tables) const {
    const auto found = tables.list.find({begin, end});
    if (found != tables.list.end()) return basic_fit(found->second, y.subspan(begin, end - begin), options_);
    const auto x = std::span(x_).subspan(begin, end - begin);
    BlockTable table(x, basic_space(options_, x).blocks, options_.use_crossvalidation);
    const LineFit fit = basic_fit(table, y.subspan(begin, end - begin), options_);
    if (tables.bytes + table.bytes() <= kMostKept) {
      tables.bytes += table.bytes();
      tables.list.emplace(std::pair(begin, end), std::move(table));
    }
    return fit;
  }

  void fit_one(std::span<const double> y, Tables& tables, Model& model) const {
    const std::size_t n = x_.size();
    std::size_t first_end = n;  // one past the last point of the first segment
    std::size_t second_begin = 0;
    if (n < kWindow || !find_change(y, tables, first_end, second_begin)) {
      const LineFit whole = basic(0, n, y, tables);
      model.function = function_of(whole, parameter_);
      model.quality = whole.quality;
      return;
    }
    const LineFit first = basic(0, first_end, y, tables);
    const LineFit second = basic(second_begin, n, y, tables);
    auto& segments = model.function.segments;
    segments.resize(2);
    segments[0].to = x_[first_end - 1];
    segments[0].function = function_of(first, parameter_);
    segments[1].from = x_[second_begin];
    segments[1].function = function_of(second, parameter_);
    model.segment_quality = {first.quality, second.quality};
    std::vector<double> predicted(n);
    for (std::size_t k = 0; k < n; ++k) {
      const LineFit& piece = k < first_end ? first : second;
      predicted[k] = piece.constant;
      if (piece.has_term) predicted[k] += piece.coefficient * block_value(piece.block, x_[k]);
    }
    model.quality = in_sample_quality(predicted, y, 1);
  }

  bool find_change(std::span<const double> y, Tables& tables, std::size_t& first_end, std::size_t& second_begin) const {
    const std::size_t windows = x_.size() - kWindow + 1;
    std::vector<double> misfit(windows);
    std::vector<double> jump(windows, -std::numeric_limits<double>::infinity());
    double worst = -std::numeric_limits<double>::infinity();
    double highest = worst;
    for (std::size_t i = 0; i < windows; ++i) {
      if (cancelled()) return false;
      misfit[i] = std::fabs(basic(i, i + kWindow, y, tables).quality.nrss);
      if (i > 0) jump[i] = misfit[i] / (misfit[i - 1] + kTiny);
      worst = std::isnan(misfit[i]) || std::isnan(worst) ? std::numeric_limits<double>::quiet_NaN()
                                                         : std::max(worst, misfit[i]);
      if (jump[i] > highest) highest = jump[i];
    }
    if (!(worst > kMisfit) && !(highest > kJump)) return false;
    std::vector<std::size_t> marked;
    for (std::size_t i = 0; i < windows; ++i) {
      if (misfit[i] >= kPoor || jump[i] > kJump) marked.push_back(i);
    }
    if (marked.empty()) return false;
    const std::size_t middle = marked[marked.size() / 2];
    if (marked.size() == 3) {
      second_begin = middle + 2;
      first_end = second_begin + 1;
    } else {
      const std::size_t window = middle == 0 ? windows - 1 : middle - 1;
      first_end = window + 3;
      second_begin = window + 3;
    }
    return true;
  }

  SingleOptions options_;
  std::uint32_t parameter_;
  std::vector<std::size_t> order_;
  std::vector<double> x_;
};

}  // namespace

std::unique_ptr<SingleModeler> make_segmented(const SingleOptions& options, std::span<const double> x,
                                              std::uint32_t parameter) {
  return std::make_unique<Segmented>(options, x, parameter);
}

}  // namespace fathom
