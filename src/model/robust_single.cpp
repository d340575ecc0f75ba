// The robust modeler with one parameter.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/median.hpp"
#include "base/parallel.hpp"
#include "model/robust.hpp"

namespace fathom {

namespace {

constexpr std::size_t kEnoughSeries = 20;
constexpr double kSecondTermPenalty = 9;
constexpr int kRounds = 2;
constexpr double kMostPrior = 200;
constexpr double kMostPriorWithoutRepetitions = 20;

struct Choice {
  enum class Kind : std::uint8_t { constant, pure, line } kind = Kind::constant;
  std::size_t block = 0;
  double value = std::numeric_limits<double>::infinity();  // of the scoring, smaller is better
};

class RobustSingle final : public RobustGroup {
 public:
  RobustSingle(Repetitions data, std::span<const double> x, std::span<const double> fixed)
      : RobustGroup(std::move(data), x, 1),
        rising_(x, usable(standard_blocks(), logs_possible(x, false))),
        falling_(x, negated_blocks(logs_possible(x, true))),
        log_x_(logarithms(x)) {
    located_ = safe_means(data_);
    if (!fixed.empty()) {
      located_.v.assign(fixed.begin(), fixed.end());
    } else {
      std::vector<std::uint32_t> all;
      for (std::uint32_t k = 0; k < x.size(); ++k) all.push_back(k);
      const LineOfPoints line{&rising_, all};
      statistic_ = choose_statistic(data_, located_, {&line, 1});
      apply_statistic(data_, statistic_, located_);
      if (statistic_ != Statistic::safe_mean) level_ = mean_level(data_, located_);
    }
    estimate_noise();
  }

  std::vector<Hypothesis> ranked(std::size_t s, std::size_t count) const override {
    const auto v = located_.of(s);
    const RelativeTable& table = table_for(v);
    const Scoring& score = scoring_[s];
    RelativeFits fits;
    relative_fits(table, v, kRounds, fits);
    std::vector<Choice> choices;
    Choice best;
    const auto offer = [&](Choice::Kind kind, std::size_t block, double value) {
      if (!std::isfinite(value)) return;
      if (count > 1) choices.push_back({kind, block, value});
      if (value < best.value) best = {kind, block, value};
    };
    const double one = score.price_factor(1, 0);
    const std::array<double, 3> two{score.price_factor(2, 0), score.price_factor(2, kNegativePenalty),
                                    score.price_factor(2, 2 * kNegativePenalty)};
    offer(Choice::Kind::constant, 0, score.value(fits.constant, one));
    for (std::size_t b = 0; b < table.size(); ++b) {
      offer(Choice::Kind::pure, b, score.value(fits.pure[b], one));
      const std::size_t negative = (fits.c0[b] < 0 ? 1U : 0U) + (fits.c1[b] < 0 ? 1U : 0U);
      offer(Choice::Kind::line, b, score.value(fits.squares[b], two[negative]));
    }
    std::vector<Hypothesis> out;
    if (count > 1) {
      std::stable_sort(choices.begin(), choices.end(),
                       [](const Choice& a, const Choice& b) { return a.value < b.value; });
      for (const auto& choice : choices) {
        if (out.size() < count) out.push_back(hypothesis_of(choice, table, fits, score));
      }
    }
    if (out.empty()) out.push_back(hypothesis_of(best, table, fits, score));
    Hypothesis second;
    if (second_term(v, table, score, out.front().score, second)) out.insert(out.begin(), std::move(second));
    return out;
  }

 private:
  static std::vector<Block> usable(std::span<const Block> blocks, bool logs) {
    std::vector<Block> list;
    for (const auto& block : blocks) {
      if (logs || block.log.zero()) list.push_back(block);
    }
    return list;
  }

  [[nodiscard]] const RelativeTable& table_for(std::span<const double> v) const {
    return decreasing(log_x_, logarithms(v)) ? falling_ : rising_;
  }

  static Hypothesis hypothesis_of(const Choice& choice, const RelativeTable& table, const RelativeFits& fits,
                                  const Scoring& score) {
    Hypothesis h;
    h.score = score.score(choice.value);
    const std::size_t b = choice.block;
    const auto factor = [&] { return std::vector<Factor>{{0, table.block(b).power, table.block(b).log, {}}}; };
    switch (choice.kind) {
      case Choice::Kind::constant:
        h.summands = {{}};
        h.coefficients = {std::exp(fits.log_constant)};
        h.squares = fits.constant;
        break;
      case Choice::Kind::pure:
        h.summands = {factor()};
        h.coefficients = {std::exp(fits.log_c[b]) / table.scale(b)};
        h.squares = fits.pure[b];
        break;
      case Choice::Kind::line:
        h.summands = {{}, factor()};
        h.coefficients = {fits.c0[b], fits.c1[b] / table.scale(b)};
        h.squares = fits.squares[b];
        break;
    }
    return h;
  }

  void estimate_noise() {
    const std::size_t series = data_.series;
    const auto n = static_cast<double>(data_.points);
    std::vector<double> tau2 = located_.tau2;
    std::vector<double> df = located_.df;
    run_variance_.resize(series);
    for (std::size_t s = 0; s < series; ++s) run_variance_[s] = tau2[s] * located_.repetitions;
    const bool repeated = located_.repetitions > 1;
    Prior prior;
    if (n > 3 && (!repeated || data_.pooled >= kEnoughSeries)) {
      // With repetitions only a quantile over the series is wanted; without, each has this as its noise.
      const std::size_t judged = repeated ? data_.pooled : series;
      std::vector<double> b(judged);
      (void)parallel_blocks(judged, 64, [&](std::size_t begin, std::size_t end) -> Result<void> {
        RelativeFits fits;
        for (std::size_t s = begin; s < end; ++s) {
          const auto v = located_.of(s);
          const RelativeTable& table = table_for(v);
          relative_fits(table, v, 1, fits);
          b[s] = residual_variance(fits, table.size(), n);
          if (repeated) b[s] /= std::max(tau2[s], 1e-28);
        }
        return {};
      });
      if (repeated) {
        disperse(b, tau2, df);
      } else if (data_.pooled >= 5) {
        prior = prior_of(b, std::vector<double>(series, n - 2.7), kMostPriorWithoutRepetitions);
      }
      if (!repeated) run_variance_ = b;
    }
    if (repeated) prior = prior_of(tau2, df, kMostPrior);
    set_scoring(tau2, df, prior, n);
  }

  // Points scatter more than their repetitions say when a disturbance hits all repetitions of a point.
  // `ratios`: how much more, in variance.
  void disperse(std::vector<double> ratios, std::vector<double>& tau2, std::vector<double>& df) {
    for (double& ratio : ratios) ratio = std::log(ratio);
    const bool safe = statistic_ == Statistic::safe_mean;
    const auto n = static_cast<double>(data_.points);
    double phi = safe ? std::exp(quantile_of(ratios, 0.25) + 2.1 / (n - 2.7)) : std::exp(median_of(ratios) + 0.25);
    if (safe && !(phi >= 1.3)) phi = 1;
    for (std::size_t s = 0; s < tau2.size(); ++s) {
      run_variance_[s] += std::max(phi - 1, 0.0) * tau2[s];
      tau2[s] *= phi;
      if (safe) df[s] /= phi;
    }
  }

  // Two terms with positive coefficients, with or without a constant, behind a gate that most series do not pass.
  bool second_term(std::span<const double> v, const RelativeTable& table, const Scoring& score, double best,
                   Hypothesis& out) const {
    const std::size_t n = v.size();
    if (n < 4 || (statistic_ != Statistic::safe_mean && located_.repetitions > 1)) return false;
    if (best <= score(0, 2, 0) + kSecondTermPenalty) return false;
    const std::size_t width = table.size();
    // Relative columns t/v and their products; the constant is column `width`.
    std::vector<double> column((width + 1) * n);
    for (std::size_t b = 0; b <= width; ++b) {
      for (std::size_t k = 0; k < n; ++k) column[b * n + k] = (b < width ? table.t(k, b) : 1.0) / v[k];
    }
    const auto product = [&](std::size_t a, std::size_t b) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += column[a * n + k] * column[b * n + k];
      return sum;
    };
    std::vector<double> with_target(width + 1, 0.0);
    std::vector<double> with_one(width + 1);
    for (std::size_t b = 0; b <= width; ++b) {
      for (std::size_t k = 0; k < n; ++k) with_target[b] += column[b * n + k];
      with_one[b] = product(b, width);
    }
    struct Pair {
      double score;
      std::size_t a, b;
      bool constant;
    };
    std::vector<Pair> pairs;
    const auto count = static_cast<double>(n);
    const double one_one = with_one[width];
    for (std::size_t a = 0; a < width; ++a) {
      const double aa = product(a, a);
      for (std::size_t b = a + 1; b < width; ++b) {
        const double bb = product(b, b);
        const double ab = product(a, b);
        const double determinant = aa * bb - ab * ab;
        if (determinant > 1e-12 * aa * bb) {
          const double ca = (with_target[a] * bb - with_target[b] * ab) / determinant;
          const double cb = (with_target[b] * aa - with_target[a] * ab) / determinant;
          if (ca > 0 && cb > 0) {
            const double rss = std::max(count - ca * with_target[a] - cb * with_target[b], 0.0);
            pairs.push_back({score(rss, 2, 0), a, b, false});
          }
        }
        if (n < 5) continue;
        // The constant eliminated first.
        const double saa = aa - with_one[a] * with_one[a] / one_one;
        const double sbb = bb - with_one[b] * with_one[b] / one_one;
        const double sab = ab - with_one[a] * with_one[b] / one_one;
        const double ya = with_target[a] - with_one[a] * with_target[width] / one_one;
        const double yb = with_target[b] - with_one[b] * with_target[width] / one_one;
        const double inner = saa * sbb - sab * sab;
        if (!(inner > 1e-12 * saa * sbb)) continue;
        const double ca = (ya * sbb - yb * sab) / inner;
        const double cb = (yb * saa - ya * sab) / inner;
        const double c0 = (with_target[width] - ca * with_one[a] - cb * with_one[b]) / one_one;
        if (!(ca > 0 && cb > 0 && c0 > 0)) continue;
        const double rss = std::max(count - c0 * with_target[width] - ca * with_target[a] - cb * with_target[b], 0.0);
        pairs.push_back({score(rss, 3, 0), a, b, true});
      }
    }
    const std::size_t kept = std::min<std::size_t>(pairs.size(), 5);
    std::partial_sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(kept), pairs.end(),
                      [](const Pair& a, const Pair& b) { return a.score < b.score; });
    bool found = false;
    RelativeSolver solver;
    for (std::size_t i = 0; i < kept; ++i) {
      std::vector<std::vector<double>> values;
      Hypothesis h;
      const auto add = [&](std::size_t b) {
        auto& list = values.emplace_back(n);
        for (std::size_t k = 0; k < n; ++k) list[k] = table.t(k, b);
        h.summands.push_back({{0, table.block(b).power, table.block(b).log, {}}});
      };
      if (pairs[i].constant) {
        values.emplace_back(n, 1.0);
        h.summands.emplace_back();
      }
      add(pairs[i].a);
      add(pairs[i].b);
      std::vector<const double*> pointers;
      for (const auto& list : values) pointers.push_back(list.data());
      if (!solver.solve(pointers, v, kRounds, h)) continue;
      if (std::any_of(h.coefficients.begin(), h.coefficients.end(), [](double c) { return !(c > 0); })) continue;
      h.score = score(h.squares, static_cast<double>(h.coefficients.size()), 0) + kSecondTermPenalty;
      if (!(h.score < best)) continue;
      const std::size_t first = pairs[i].constant ? 1 : 0;
      h.coefficients[first] /= table.scale(pairs[i].a);
      h.coefficients[first + 1] /= table.scale(pairs[i].b);
      best = h.score;
      out = std::move(h);
      found = true;
    }
    return found;
  }

  RelativeTable rising_;
  RelativeTable falling_;
  std::vector<double> log_x_;
};

}  // namespace

std::unique_ptr<RobustGroup> make_robust_single(Repetitions data, std::span<const double> x,
                                                std::span<const double> fixed) {
  if (x.size() < 3) return nullptr;
  return std::make_unique<RobustSingle>(std::move(data), x, fixed);
}

}  // namespace fathom
