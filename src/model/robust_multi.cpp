// The robust modeler with two or three parameters: one joint fit, structure and exponents chosen together.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/median.hpp"
#include "base/parallel.hpp"
#include "model/robust_subsets.hpp"

namespace fathom {

namespace {

constexpr std::size_t kShortestLine = 3;
constexpr double kWithin = 14;  // candidates of a parameter lie this near to its best
constexpr double kWorthRefitting = 10;
constexpr std::size_t kRefits = 12;  // how many of the best are fitted exactly
constexpr double kRounding = 1e-15;  // of a Gram matrix, per point
constexpr double kClearDispersion = 1.5;
constexpr std::size_t kEnoughSeries = 5;
constexpr double kMostPrior = 200;
constexpr double kMostPriorWithoutRepetitions = 20;
constexpr int kRounds = 2;

struct Line {
  const RelativeTable* rising;
  const RelativeTable* falling;
  std::vector<std::uint32_t> rows;
  std::vector<double> log_x;
};

struct Axis {
  std::vector<Line> lines;
  std::size_t line_points = 0;
  // Every block of both tables at all points, scaled to geometric mean one: [block][point].
  std::vector<Block> blocks;
  std::vector<std::vector<double>> columns;
  std::vector<double> scale;
  std::size_t rising = 0;  // blocks [0, rising) grow, the others fall
};

class RobustMulti final : public RobustGroup {
 public:
  RobustMulti(Repetitions data, std::span<const double> coordinates, std::size_t parameters,
              std::span<const double> fixed)
      : RobustGroup(std::move(data), coordinates, parameters), axes_(parameters) {
    for (std::size_t p = 0; p < parameters; ++p) build_axis(p);
    if (!usable()) return;
    located_ = safe_means(data_);
    if (!fixed.empty()) {
      located_.v.assign(fixed.begin(), fixed.end());
    } else {
      std::vector<LineOfPoints> lines;
      for (const auto& axis : axes_) {
        for (const auto& line : axis.lines) lines.push_back({line.rising, line.rows});
      }
      statistic_ = choose_statistic(data_, located_, lines);
      apply_statistic(data_, statistic_, located_);
      if (statistic_ != Statistic::safe_mean) level_ = mean_level(data_, located_);
    }
    estimate_noise();
  }

  // Every parameter has a line to look along.
  [[nodiscard]] bool usable() const {
    return std::all_of(axes_.begin(), axes_.end(), [](const Axis& axis) { return !axis.lines.empty(); });
  }

  std::vector<Hypothesis> ranked(std::size_t s, std::size_t count) const override {
    if (count == 1 && s < best_.size()) return {best_[s]};
    return ranked(located_.of(s), scoring_[s], count);
  }

 private:
  // Of any values at the points.
  [[nodiscard]] std::vector<Hypothesis> ranked(std::span<const double> v, const Scoring& scoring,
                                               std::size_t count) const {
    const auto picks = search(v, scoring, count);
    std::vector<Hypothesis> out;
    RelativeSolver solver;
    std::vector<std::vector<double>> values;
    std::vector<const double*> pointers;
    for (const auto& pick : picks) {
      // What the plain sums put far behind does not win by an exact fit.
      if (count == 1 && scoring.score(pick.value) > scoring.score(picks.front().value) + kWorthRefitting) break;
      Hypothesis h;
      values.resize(pick.count);
      pointers.clear();
      std::vector<double> scales(pick.count, 1.0);
      double extra = 0;
      for (std::size_t c = 0; c < pick.count; ++c) {
        values[c].assign(v.size(), 1.0);
        auto& factors = h.summands.emplace_back();
        for (std::size_t p = 0; p < parameters_; ++p) {
          if ((pick.column[c] >> p & 1) == 0) continue;
          const Axis& axis = axes_[p];
          const std::size_t b = pick.candidate[p];
          factors.push_back({static_cast<std::uint32_t>(p), axis.blocks[b].power, axis.blocks[b].log, {}});
          scales[c] *= axis.scale[b];
          for (std::size_t k = 0; k < v.size(); ++k) values[c][k] *= axis.columns[b][k];
        }
        if (factors.size() > 1) extra += kInteraction * static_cast<double>(factors.size() - 1);
        pointers.push_back(values[c].data());
      }
      if (!solver.solve(pointers, v, kRounds, h)) continue;
      double negative = 0;
      for (std::size_t c = 0; c < pick.count; ++c) {
        if (h.coefficients[c] < 0) negative += 1;
        h.coefficients[c] /= scales[c];
      }
      h.score = scoring(h.squares, pick.count, negative) + extra;
      out.push_back(std::move(h));
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.score < b.score; });
    if (out.size() > count) out.resize(count);
    if (out.empty()) out.push_back(constant(v));
    return out;
  }

  static Hypothesis constant(std::span<const double> v) {
    Hypothesis h;
    double mean = 0;
    for (const double value : v) mean += std::log(value) / static_cast<double>(v.size());
    h.summands = {{}};
    h.coefficients = {std::exp(mean)};
    for (const double value : v) h.squares += (std::log(value) - mean) * (std::log(value) - mean);
    return h;
  }

  void build_axis(std::size_t p) {
    Axis& axis = axes_[p];
    const std::size_t points = data_.points;
    std::map<std::vector<double>, std::vector<std::uint32_t>> lines;
    std::vector<double> all_x;
    for (std::size_t k = 0; k < points; ++k) {
      std::vector<double> rest;
      for (std::size_t q = 0; q < parameters_; ++q) {
        if (q != p) rest.push_back(coordinates_[k * parameters_ + q]);
      }
      lines[rest].push_back(static_cast<std::uint32_t>(k));
      all_x.push_back(coordinates_[k * parameters_ + p]);
    }
    std::vector<Block> rising;
    for (const auto& block : standard_blocks()) {
      if (logs_possible(all_x, false) || block.log.zero()) rising.push_back(block);
    }
    const std::vector<Block> falling = negated_blocks(logs_possible(all_x, true));
    for (const std::vector<Block>* list : {&std::as_const(rising), &falling}) {
      for (const auto& block : *list) {
        std::vector<double> column;
        double logs = 0;
        double sum = 0;
        bool positive = true;
        for (const double x : all_x) {
          column.push_back(block_value(block, x));
          positive = positive && column.back() > 0;
          logs += std::log(column.back());
          sum += std::fabs(column.back());
        }
        const auto n = static_cast<double>(points);
        const double scale = positive ? std::exp(logs / n) : sum / n;
        for (auto& value : column) value /= scale;
        axis.blocks.push_back(block);
        axis.columns.push_back(std::move(column));
        axis.scale.push_back(scale);
      }
      if (list == &rising) axis.rising = axis.blocks.size();
    }
    for (auto& [rest, rows] : lines) {
      std::vector<double> x;
      for (const auto row : rows) x.push_back(all_x[row]);
      std::vector<double> sorted = x;
      std::sort(sorted.begin(), sorted.end());
      if (std::unique(sorted.begin(), sorted.end()) - sorted.begin() < static_cast<std::ptrdiff_t>(kShortestLine)) {
        continue;
      }
      auto found = tables_.find({p, x});
      if (found == tables_.end()) {
        found = tables_.emplace(std::pair(p, x), std::pair(RelativeTable(x, rising), RelativeTable(x, falling))).first;
      }
      if (found->second.first.size() != rising.size() || found->second.second.size() != falling.size()) continue;
      axis.line_points += rows.size();
      axis.lines.push_back({&found->second.first, &found->second.second, rows, logarithms(x)});
    }
  }

  // The best few terms of one parameter, from a free line through the points of each of its lines.
  std::vector<std::uint16_t> candidates(std::span<const double> v, std::span<const double> log_v,
                                        const Scoring& scoring, std::size_t p, std::size_t most) const {
    const Axis& axis = axes_[p];
    std::vector<double> line;
    std::size_t falling_lines = 0;
    for (const auto& item : axis.lines) {
      line.clear();
      for (const auto row : item.rows) line.push_back(log_v[row]);
      if (decreasing(item.log_x, line)) ++falling_lines;
    }
    const bool falls = 2 * falling_lines > axis.lines.size();
    std::array<double, kMaxBlocks> sum{};
    std::array<double, kMaxBlocks> squares{};
    std::size_t count = 0;
    for (const auto& item : axis.lines) {
      line.clear();
      double mean = 0;
      for (const auto row : item.rows) {
        line.push_back(v[row]);
        mean += log_v[row];
      }
      mean /= static_cast<double>(line.size());
      double constant = 0;
      for (const auto row : item.rows) constant += (log_v[row] - mean) * (log_v[row] - mean);
      const RelativeTable& table = falls ? *item.falling : *item.rising;
      line_squares(table, line, squares);
      count = table.size();
      for (std::size_t b = 0; b < count; ++b) sum[b] += std::isfinite(squares[b]) ? squares[b] : constant;
    }
    std::vector<std::pair<double, std::uint16_t>> scored;
    for (std::size_t b = 0; b < count; ++b) {
      scored.emplace_back(sum[b], static_cast<std::uint16_t>(b + (falls ? axis.rising : 0)));
    }
    std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const double limit = scoring(scored.front().first, 0, 0) + kWithin;
    std::vector<std::uint16_t> out;
    for (const auto& [squared, block] : scored) {
      if (out.size() == most || scoring(squared, 0, 0) > limit) break;
      out.push_back(block);
    }
    return out;
  }

  // A mixture looks wider than the search for the one best model.
  std::vector<Pick> search(std::span<const double> v, const Scoring& scoring, std::size_t count) const {
    const bool wide = count > kRefits;
    const std::size_t most = parameters_ == 2 ? (wide ? 42 : 8) : (wide ? 12 : 6);
    const std::size_t points = v.size();
    const std::size_t stride = padded(points);
    const std::vector<double> log_v = logarithms(v);
    std::array<std::vector<std::uint16_t>, 3> options;
    for (std::size_t p = 0; p < parameters_; ++p) options[p] = candidates(v, log_v, scoring, p, most);
    if (parameters_ == 2) options[2] = {0};
    const std::size_t columns = std::size_t{1} << parameters_;
    std::vector<double> matrix(columns * stride, 0);
    std::vector<double> gram(columns * columns);
    std::vector<double> target(columns);
    BestPicks best(scoring, std::max(kRefits, count));
    SubsetSearch subsets(best, columns, gram, target, kRounding * static_cast<double>(points));
    for (std::size_t k = 0; k < points; ++k) matrix[k] = 1 / v[k];
    for (std::size_t i = 0; i < options[0].size(); ++i) {
      for (std::size_t j = 0; j < options[1].size(); ++j) {
        for (std::size_t l = 0; l < options[2].size(); ++l) {
          const std::array<std::uint16_t, 3> blocks{options[0][i], options[1][j], options[2][l]};
          // Columns without the last parameter stay while only its candidate changes.
          const std::size_t from = l > 0 ? 4 : (j > 0 ? 2 : 0);
          for (std::size_t c = std::max<std::size_t>(from, 1); c < columns; ++c) {
            const auto p = static_cast<std::size_t>(std::bit_width(c) - 1);
            const double* without = matrix.data() + (c & ~(std::size_t{1} << p)) * stride;
            const double* t = axes_[p].columns[blocks[p]].data();
            double* to = matrix.data() + c * stride;
            for (std::size_t k = 0; k < points; ++k) to[k] = without[k] * t[k];
          }
          fill_gram(matrix, columns, stride, from, gram, target);
          const auto required = static_cast<std::uint8_t>((i > 0 ? 1 : 0) | (j > 0 ? 2 : 0) | (l > 0 ? 4 : 0));
          subsets.run(blocks, required, static_cast<double>(points));
        }
      }
    }
    return std::move(best).sorted();
  }

  void estimate_noise() {
    const std::size_t series = data_.series;
    const auto n = static_cast<double>(data_.points);
    std::vector<double> tau2 = located_.tau2;
    std::vector<double> df = located_.df;
    run_variance_.resize(series);
    for (std::size_t s = 0; s < series; ++s) run_variance_[s] = tau2[s] * located_.repetitions;
    const bool repeated = located_.repetitions > 1;
    const Prior none;
    set_scoring(tau2, df, repeated ? prior_of(tau2, df, kMostPrior) : none, n);
    // With repetitions only the usual ratio is wanted; without, each series has this as its noise.
    const std::size_t judged = repeated ? data_.pooled : series;
    std::vector<double> b(judged);
    std::vector<double> free(judged);
    std::vector<Hypothesis> found(judged);
    (void)parallel_blocks(judged, 4, [&](std::size_t begin, std::size_t end) -> Result<void> {
      for (std::size_t s = begin; s < end; ++s) {
        found[s] = best(s);
        const Hypothesis& h = found[s];
        free[s] = degrees_left(h);
        b[s] = free[s] > 0 ? h.squares / free[s] : std::numeric_limits<double>::quiet_NaN();
      }
      return {};
    });
    if (!repeated) {
      std::vector<double> known;
      std::vector<double> degrees;
      for (std::size_t s = 0; s < series; ++s) {
        run_variance_[s] = std::isfinite(b[s]) ? b[s] : 0;
        if (s >= data_.pooled || !std::isfinite(b[s])) continue;
        known.push_back(b[s]);
        degrees.push_back(free[s]);
      }
      if (known.size() >= kEnoughSeries) {
        set_scoring(tau2, df, pooled_prior(known, degrees, kMostPriorWithoutRepetitions), n);
      } else {
        best_ = std::move(found);
      }
      return;
    }
    std::vector<double> ratio;
    for (std::size_t s = 0; s < judged; ++s) {
      if (std::isfinite(b[s])) ratio.push_back(std::max(b[s], 1e-28) / std::max(tau2[s], 1e-28));
    }
    const double phi = median_of(ratio);
    if (ratio.size() < kEnoughSeries || !(phi > kClearDispersion)) {
      best_ = std::move(found);  // the noise is what it was taken for
      return;
    }
    for (std::size_t s = 0; s < series; ++s) {
      run_variance_[s] += (phi - 1) * tau2[s];
      tau2[s] *= phi;
      df[s] /= phi;
    }
    set_scoring(tau2, df, prior_of(tau2, df, kMostPrior), n);
  }

  [[nodiscard]] double degrees_left(const Hypothesis& h) const {
    return static_cast<double>(data_.points) - static_cast<double>(h.coefficients.size()) -
           static_cast<double>(parameters_);
  }

  std::vector<Axis> axes_;
  std::vector<Hypothesis> best_;  // of the first series, where the estimate of the noise has found it already
  std::map<std::pair<std::size_t, std::vector<double>>, std::pair<RelativeTable, RelativeTable>> tables_;
};

}  // namespace

std::unique_ptr<RobustGroup> make_robust_multi(Repetitions data, std::span<const double> coordinates,
                                               std::size_t parameters, std::span<const double> fixed) {
  auto group = std::make_unique<RobustMulti>(std::move(data), coordinates, parameters, fixed);
  if (!group->usable()) return nullptr;
  return group;
}

}  // namespace fathom
