#include "model/candidates.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {

namespace {
constexpr double kContribution = 0.0005;
// Candidates whose criteria are this close are a tie; the reference's rounding decided it.
constexpr double kTie = 1e-8;
// Singular values this far apart cost the reference digits; candidates within kClose may then change places.
constexpr double kIllConditioned = 1e10;
constexpr double kClose = 0.01;
}  // namespace

void Candidates::prepare(std::span<const double> y, std::span<const Summands> list, bool by_rss) {
  y_ = y;
  rss_ = by_rss;
  masks_.assign(1, 0);
  for (const auto& summands : list) {
    for (const auto mask : summands) {
      if (std::find(masks_.begin(), masks_.end(), mask) == masks_.end()) masks_.push_back(mask);
    }
  }
  columns_.resize(masks_.size());
  share_.resize(masks_.size());
  matrix_.clear();
  bool finite = true;
  for (std::size_t m = 0; m < masks_.size(); ++m) {
    auto& column = columns_[m];
    column.assign(y.size(), 1.0);
    for (std::size_t a = 0; a < terms_.size(); ++a) {
      if ((masks_[m] >> a & 1) == 0) continue;
      for (std::size_t k = 0; k < y.size(); ++k) column[k] *= terms_[a][k];
    }
    double share = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
      finite = finite && std::isfinite(column[k]);
      const double part = std::fabs(column[k] / y[k]);
      if (!std::isnan(share) && !(part <= share)) share = part;  // NaN stays
    }
    share_[m] = share;
    matrix_.push_back(column.data());
  }
  reduced_ready_ = finite && list.size() > 1;
  if (reduced_ready_) solver_.reduce(matrix_, y, reduced_);
}

std::size_t Candidates::column_of(std::uint32_t mask) const {
  return static_cast<std::size_t>(std::find(masks_.begin(), masks_.end(), mask) - masks_.begin());
}

std::span<const double> Candidates::predict(std::span<const std::uint32_t> summands,
                                            std::span<const double> coefficients, Solve how) {
  predicted_.assign(y_.size(), coefficients[0]);
  for (std::size_t s = 0; s < summands.size(); ++s) {
    const double c = coefficients[s + 1];
    const auto& column = columns_[column_of(summands[s])];
    for (std::size_t k = 0; k < y_.size(); ++k) {
      double value = c * column[k];
      if (how == Solve::faithful) {  // in the reference's order
        value = c;
        for (std::size_t a = 0; a < terms_.size(); ++a) {
          if ((summands[s] >> a & 1) != 0) value *= terms_[a][k];
        }
      }
      predicted_[k] += value;
    }
  }
  return predicted_;
}

Candidates::Candidate Candidates::evaluate(const Summands& summands, Solve how) {
  const bool small = how == Solve::quick && reduced_ready_;
  const auto& from = small ? reduced_.columns : columns_;
  matrix_.assign(1, from[0].data());
  for (const auto mask : summands) matrix_.push_back(from[column_of(mask)].data());
  Candidate candidate;
  const auto solution = how == Solve::faithful
                            ? lapack_.solve(matrix_, y_, true)
                            : solver_.solve(matrix_, small ? std::span<const double>(reduced_.y) : y_);
  candidate.coefficients.assign(solution.begin(), solution.end());
  if (how == Solve::quick) candidate.condition = solver_.condition();
  for (std::size_t s = 0; s < summands.size(); ++s) {
    const double c = candidate.coefficients[s + 1];
    candidate.negligible |= c == 0 || std::fabs(c) * share_[column_of(summands[s])] < kContribution;
  }
  predict(summands, candidate.coefficients, how);
  candidate.criterion = criterion();
  return candidate;
}

double Candidates::criterion() const {
  double sum = 0;
  for (std::size_t k = 0; k < y_.size(); ++k) {
    const double difference = predicted_[k] - y_[k];
    if (rss_) {
      sum += difference * difference;
      continue;
    }
    const double size = std::fabs(y_[k]) + std::fabs(predicted_[k]);
    if (size != 0) sum += 2 * std::fabs(difference) / size;
  }
  return rss_ ? sum : sum * (100 / static_cast<double>(y_.size()));
}

std::size_t Candidates::winner() const {
  std::size_t best = 0;
  for (std::size_t c = 1; c < candidates_.size(); ++c) {
    if (!candidates_[c].negligible && candidates_[c].criterion < candidates_[best].criterion) best = c;
  }
  return best;
}

std::size_t Candidates::select(std::span<const Summands> list) {
  candidates_.clear();
  for (const auto& summands : list) candidates_.push_back(evaluate(summands, Solve::quick));
  return winner();
}

bool Candidates::doubtful(std::size_t winner) const {
  const double best = candidates_[winner].criterion;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    const double above = candidates_[c].criterion - best;
    if (c != winner && std::fabs(above) <= kTie * best) return true;
    if (candidates_[c].condition > kIllConditioned && above <= kClose * best) return true;
  }
  return false;
}

std::size_t Candidates::select_faithfully(std::span<const Summands> list, std::size_t winner) {
  const double limit = candidates_[winner].criterion * (1 + kClose);
  for (std::size_t c = 0; c < list.size(); ++c) {
    if (!(candidates_[c].criterion > limit)) candidates_[c] = evaluate(list[c], Solve::faithful);
  }
  return this->winner();
}

}  // namespace fathom
