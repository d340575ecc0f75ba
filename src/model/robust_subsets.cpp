#include "model/robust_subsets.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/vector_clones.hpp"

namespace fathom {

namespace {

constexpr std::size_t kLanes = 8;
constexpr double kCollinear = 1e-11;
constexpr double kPruning = 1 - 1e-6;  // of a lower bound, for rounding

FATHOM_CLONES void gram_rows(const double* matrix, std::size_t columns, std::size_t stride, std::size_t from,
                             double* gram, double* target) {
  for (std::size_t a = from; a < columns; ++a) {
    const double* first = matrix + a * stride;
    for (std::size_t b = 0; b <= a; ++b) {
      const double* second = matrix + b * stride;
      std::array<double, kLanes> part{};
      for (std::size_t k = 0; k < stride; k += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) part[lane] += first[k + lane] * second[k + lane];
      }
      double sum = 0;
      for (const double value : part) sum += value;
      gram[a * columns + b] = gram[b * columns + a] = sum;
    }
    std::array<double, kLanes> part{};
    for (std::size_t k = 0; k < stride; k += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) part[lane] += first[k + lane];
    }
    target[a] = 0;
    for (const double value : part) target[a] += value;
  }
}

}  // namespace

BestPicks::BestPicks(const Scoring& how, std::size_t count) : scoring(how), keep(count) {
  for (std::size_t k = 0; k < price.size(); ++k) {
    for (std::size_t e = 0; e <= kMostExtraFactors; ++e) {
      price[k][e] = scoring.price_factor(static_cast<double>(k), kInteraction * static_cast<double>(e));
    }
  }
  for (std::size_t n = 0; n < negative.size(); ++n) {
    negative[n] = scoring.price_factor(0, kNegativePenalty * static_cast<double>(n));
  }
}

void BestPicks::add(const Pick& pick) {
  if (picks.size() == keep) {
    std::pop_heap(picks.begin(), picks.end(), better);
    picks.back() = pick;
  } else {
    picks.push_back(pick);
  }
  picks.back().order = met++;
  std::push_heap(picks.begin(), picks.end(), better);
}

std::vector<Pick> BestPicks::sorted() && {
  std::sort_heap(picks.begin(), picks.end(), better);
  return std::move(picks);
}

std::size_t padded(std::size_t points) { return (points + kLanes - 1) / kLanes * kLanes; }

void fill_gram(std::span<const double> matrix, std::size_t columns, std::size_t stride, std::size_t from,
               std::span<double> gram, std::span<double> target) {
  gram_rows(matrix.data(), columns, stride, from, gram.data(), target.data());
}

void SubsetSearch::run(const std::array<std::uint16_t, 3>& candidate, std::uint8_t required, double whole) {
  required_ = required;
  pick_ = {};
  pick_.candidate = candidate;
  least_ = least_squares(whole) * kPruning;
  descend(0, whole, 0, 0);
}

// Sum of squares that all columns together leave: no subset leaves less.
double SubsetSearch::least_squares(double whole) const {
  std::array<std::array<double, kMostAllColumns>, kMostAllColumns> factor{};
  std::array<double, kMostAllColumns> solved{};
  double rss = whole;
  for (std::size_t c = 0; c < columns_; ++c) {
    double diagonal = gram_[c * columns_ + c];
    const double length = diagonal;
    double value = target_[c];
    for (std::size_t j = 0; j < c; ++j) {
      if (factor[j][j] == 0) continue;
      double dot = gram_[c * columns_ + j];
      for (std::size_t i = 0; i < j; ++i) dot -= factor[c][i] * factor[j][i];
      factor[c][j] = dot / factor[j][j];
      diagonal -= factor[c][j] * factor[c][j];
      value -= factor[c][j] * solved[j];
    }
    if (!(diagonal > kCollinear * length)) continue;  // adds nothing
    factor[c][c] = std::sqrt(diagonal);
    solved[c] = value / factor[c][c];
    rss -= solved[c] * solved[c];
  }
  return std::max(rss, floor_);
}

void SubsetSearch::descend(std::size_t start, double rss, std::size_t extra, std::uint8_t used) {
  const std::size_t depth = pick_.count;
  // Could a model with one more column still count?
  if (!(best_.scoring.value(least_, best_.price[depth + 1][extra]) < best_.worst())) return;
  for (std::size_t c = start; c < columns_; ++c) {
    const int factors = std::popcount(c);
    const std::size_t price = extra + (factors > 1 ? static_cast<std::size_t>(factors) - 1 : 0);
    auto& row = l_[depth];
    double diagonal = gram_[c * columns_ + c];
    const double length = diagonal;
    double value = target_[c];
    for (std::size_t j = 0; j < depth; ++j) {
      double dot = gram_[c * columns_ + pick_.column[j]];
      for (std::size_t i = 0; i < j; ++i) dot -= row[i] * l_[j][i];
      row[j] = dot / l_[j][j];
      diagonal -= row[j] * row[j];
      value -= row[j] * z_[j];
    }
    if (!(diagonal > kCollinear * length)) continue;
    row[depth] = std::sqrt(diagonal);
    z_[depth] = value / row[depth];
    const double rest = std::max(rss - z_[depth] * z_[depth], floor_);
    const auto with = static_cast<std::uint8_t>(used | c);
    pick_.column[depth] = static_cast<std::uint8_t>(c);
    pick_.count = static_cast<std::uint8_t>(depth + 1);
    if ((with & required_) == required_) offer(best_.scoring.value(rest, best_.price[depth + 1][price]));
    if (depth + 1 < Pick::kMostColumns) descend(c + 1, rest, price, with);
    pick_.count = static_cast<std::uint8_t>(depth);
  }
}

void SubsetSearch::offer(double value) {
  const double worst = best_.worst();
  if (!(value < worst)) return;
  // Negative coefficients cost; only now is it worth solving for them.
  const std::size_t n = pick_.count;
  std::array<double, Pick::kMostColumns> c{};
  std::size_t negative = 0;
  for (std::size_t i = n; i-- > 0;) {
    double x = z_[i];
    for (std::size_t j = i + 1; j < n; ++j) x -= l_[j][i] * c[j];
    c[i] = x / l_[i][i];
    if (c[i] < 0) ++negative;
  }
  value *= best_.negative[negative];
  if (!(value < worst)) return;
  pick_.value = value;
  best_.add(pick_);
}

}  // namespace fathom
