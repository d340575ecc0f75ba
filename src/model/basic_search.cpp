// The Basic modeler's search, eight series at a time.
//
// Lanes of a vector are series; coordinates, and with them all weights, are the same for every lane, so a hypothesis
// costs two multiply-adds per pair of points and one division per point. Only the criterion is worked out here; the
// figures of the winner come from block_fit.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "model/single.hpp"
#include "model/vector_clones.hpp"

namespace fathom {

namespace {

constexpr std::size_t kLanes = 8;
typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double))));
typedef std::int64_t Bits __attribute__((vector_size(kLanes * sizeof(double))));

constexpr double kCleanCrossValidated = 0.0005;
constexpr double kCleanInSample = 0.001;

#define FATHOM_ABS(v) ((Lanes)((Bits)(v)&absolute))

// Vectors in plain memory: a vector of doubles does not promise more than their alignment.
typedef double LooseLanes __attribute__((vector_size(kLanes * sizeof(double)), aligned(8), may_alias));
typedef std::int64_t LooseBits __attribute__((vector_size(kLanes * sizeof(double)), aligned(8), may_alias));

// What the search needs to know about the eight series; all arrays are [point][lane].
struct Group {
  std::vector<double> y;
  std::vector<double> magnitude;  // |y|
  std::vector<double> inverse;    // 1/|y|
  std::vector<double> noise;      // per left-out point: constants below this count as zero
  std::array<double, kLanes> noise_all{};
  std::array<double, kLanes> best{};  // criterion of the constant model; -1 where the constant is exact
  std::array<std::int64_t, kLanes> winner{};
};

struct Query {
  const BlockTable* table;
  double minimum_contribution;
  bool rss;
};

// kPoints = 0: any number of points.
template <std::size_t kPoints, bool kLeaveOneOut>
[[gnu::always_inline]] inline void search(const Query& query, Group& group) {
  const std::size_t n = kPoints > 0 ? kPoints : query.table->points();
  const LooseLanes* y = reinterpret_cast<const LooseLanes*>(group.y.data());
  const LooseLanes* magnitude = reinterpret_cast<const LooseLanes*>(group.magnitude.data());
  const LooseLanes* inverse = reinterpret_cast<const LooseLanes*>(group.inverse.data());
  const LooseLanes* noise = reinterpret_cast<const LooseLanes*>(group.noise.data());
  const Bits absolute = (Bits{} + std::numeric_limits<std::int64_t>::max());
  const Lanes zero = {};
  Lanes best = *reinterpret_cast<const LooseLanes*>(group.best.data());
  Bits winner = Bits{} - 1;
  const Lanes noise_all = *reinterpret_cast<const LooseLanes*>(group.noise_all.data());
  for (std::size_t b = 0; b < query.table->size(); ++b) {
    const double* t = query.table->t(b);
    Lanes criterion = zero;
    Lanes c0 = zero;
    Lanes c1 = zero;
    if constexpr (!kLeaveOneOut) {
      const LineWeights* w = query.table->all(b);
      for (std::size_t i = 0; i < n; ++i) {
        c0 += w[i].w0 * y[i];
        c1 += w[i].w1 * y[i];
      }
      c0 = FATHOM_ABS(c0) < noise_all ? zero : c0;
    }
    for (std::size_t k = 0; k < n; ++k) {
      if constexpr (kLeaveOneOut) {
        const LineWeights* w = query.table->without(b, k);
        c0 = zero;
        c1 = zero;
        for (std::size_t i = 0; i < n; ++i) {
          c0 += w[i].w0 * y[i];
          c1 += w[i].w1 * y[i];
        }
        c0 = FATHOM_ABS(c0) < noise[k] ? zero : c0;
      }
      const Lanes predicted = c0 + c1 * t[k];
      const Lanes difference = predicted - y[k];
      if (query.rss) {
        criterion += difference * difference;
      } else {
        criterion += FATHOM_ABS(difference) / (magnitude[k] + FATHOM_ABS(predicted));
      }
    }
    Bits better = criterion < best;
    bool any = false;
    for (std::size_t lane = 0; lane < kLanes; ++lane) any |= better[lane] != 0;
    if (!any) continue;
    // The term must matter somewhere.
    const LineWeights* w = query.table->all(b);
    Lanes coefficient = zero;
    Lanes largest = zero;
    for (std::size_t k = 0; k < n; ++k) {
      coefficient += w[k].w1 * y[k];
      const Lanes share = std::fabs(t[k]) * inverse[k];
      largest = share > largest ? share : largest;
    }
    coefficient = FATHOM_ABS(coefficient);
    better &= (coefficient != zero) & (coefficient * largest >= query.minimum_contribution);
    best = better ? criterion : best;
    winner = better ? Bits{} + static_cast<std::int64_t>(b) : winner;
  }
  *reinterpret_cast<LooseBits*>(group.winner.data()) = winner;
}

FATHOM_CLONES void search_four(const Query& query, Group& group) { search<4, true>(query, group); }
FATHOM_CLONES void search_five(const Query& query, Group& group) { search<5, true>(query, group); }
FATHOM_CLONES void search_six(const Query& query, Group& group) { search<6, true>(query, group); }
FATHOM_CLONES void search_seven(const Query& query, Group& group) { search<7, true>(query, group); }
FATHOM_CLONES void search_any(const Query& query, Group& group) { search<0, true>(query, group); }
FATHOM_CLONES void search_in_sample(const Query& query, Group& group) { search<0, false>(query, group); }

auto pick_search(std::size_t points, bool leave_one_out) {
  if (!leave_one_out) return search_in_sample;
  if (points == 4) return search_four;
  if (points == 5) return search_five;
  if (points == 6) return search_six;
  if (points == 7) return search_seven;
  return search_any;
}

double threshold(double smallest, double share) { return smallest == 0 ? share : share * std::fabs(smallest); }

void load_lane(std::span<const double> y, bool rss, std::size_t lane, Group& group) {
  const std::size_t n = y.size();
  const LineFit constant = constant_fit(y);
  // The kernel's criterion is the sum of |d|/(|y|+|p|): SMAPE without its factor 200/N.
  const double criterion = rss ? constant.quality.rss : constant.quality.smape * static_cast<double>(n) / 200;
  group.best[lane] = constant.quality.rss == 0 ? -1 : criterion;
  double first = std::numeric_limits<double>::infinity();
  double second = first;
  for (const double value : y) {
    if (value < first) {
      second = first;
      first = value;
    } else {
      second = std::min(second, value);
    }
  }
  group.noise_all[lane] = threshold(first, kCleanInSample);
  for (std::size_t k = 0; k < n; ++k) {
    group.y[k * kLanes + lane] = y[k];
    group.magnitude[k * kLanes + lane] = std::fabs(y[k]);
    group.inverse[k * kLanes + lane] = 1 / std::fabs(y[k]);
    group.noise[k * kLanes + lane] = threshold(y[k] == first ? second : first, kCleanCrossValidated);
  }
}

}  // namespace

bool vectorisable(std::span<const double> y) {
  return std::all_of(y.begin(), y.end(), [](double value) {
    const double size = std::fabs(value);
    return size > 1e-140 && size < 1e140;
  });
}

void basic_search(const BlockTable& table, std::span<const double* const> rows, const SingleOptions& options,
                  std::span<std::int32_t> winners) {
  const std::size_t n = table.points();
  const Query query{&table, options.minimum_term_contribution, options.compare_with_rss};
  const auto kernel = pick_search(n, options.use_crossvalidation);
  Group group;
  group.y.resize(n * kLanes);
  group.magnitude.resize(n * kLanes);
  group.inverse.resize(n * kLanes);
  group.noise.resize(n * kLanes);
  for (std::size_t begin = 0; begin < rows.size(); begin += kLanes) {
    const std::size_t count = std::min(kLanes, rows.size() - begin);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      load_lane({rows[begin + std::min(lane, count - 1)], n}, query.rss, lane, group);
    }
    kernel(query, group);
    for (std::size_t lane = 0; lane < count; ++lane) {
      winners[begin + lane] = static_cast<std::int32_t>(group.winner[lane]);
    }
  }
}

}  // namespace fathom
