#include "model/advisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/cancel.hpp"
#include "base/median.hpp"
#include "model/gaussian_process.hpp"

namespace fathom {

std::string_view to_string(AdviceMode mode) {
  return mode == AdviceMode::base ? "base" : mode == AdviceMode::add ? "add" : "gpr";
}

namespace {

using Point = std::vector<double>;
constexpr std::size_t kEnough = 5;  // points on a line
constexpr std::size_t kMostSuggestions = 100;
constexpr std::uint32_t kMostRepetitions = 5;
constexpr std::size_t kMostCandidates = 200'000;

std::size_t most_frequent(const std::vector<double>& list) {
  std::map<double, std::size_t> counts;
  std::size_t best = 0;
  for (const double v : list) best = std::max(best, ++counts[v]);
  return best;
}

bool all_equal(const std::vector<double>& list) {
  return std::all_of(list.begin(), list.end(), [&](double v) { return v == list.front(); });
}

Step step_of(const std::vector<double>& values) {
  if (values.size() < 2) return {true, 2};
  std::vector<double> factors;
  std::vector<double> differences;
  for (std::size_t i = 1; i < values.size(); ++i) {
    factors.push_back(values[i] / values[i - 1]);
    differences.push_back(values[i] - values[i - 1]);
  }
  const std::size_t f = most_frequent(factors);
  const std::size_t s = most_frequent(differences);
  if (f > s) return {true, median_of(factors)};
  if (s > f || all_equal(differences)) return {false, median_of(differences)};
  std::vector<double> reduced;
  for (std::size_t i = 1; i < factors.size(); ++i) {
    reduced.push_back(std::fmod(factors[i], factors[0]) == 0 ? factors[0] : factors[i]);
  }
  if (!reduced.empty() && all_equal(reduced)) return {true, median_of(reduced)};
  return {false, median_of(differences)};
}

std::vector<double> extend(const std::vector<double>& values, const Step& step) {
  std::vector<double> list = values;
  const auto next = [&](double v) { return step.factor ? v * step.size : v + step.size; };
  std::set<double> there(values.begin(), values.end());
  const auto add = [&](double v) {
    if (!there.insert(v).second) return false;
    list.push_back(v);
    return true;
  };
  std::size_t added = 0;
  for (std::size_t i = 0; i < values.size(); ++i) added += add(next(list[i])) ? 1 : 0;
  for (std::size_t i = added; i < kEnough; ++i) add(next(list.back()));
  std::sort(list.begin(), list.end());
  return list;
}

// Points that differ in parameter p only, by what they have in common; in the order of the sorted points.
struct Line {
  Point others;
  std::vector<Point> points;
};
std::vector<Line> lines_of(const std::vector<Point>& points, std::size_t p) {
  std::vector<Line> lines;
  std::map<Point, std::size_t> known;
  for (const Point& point : points) {
    Point others = point;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(p));
    const auto [entry, added] = known.try_emplace(others, lines.size());
    if (added) lines.push_back({others, {}});
    lines[entry->second].points.push_back(point);
  }
  return lines;
}

AdviceMode mode_of(const std::vector<Point>& points, std::size_t parameters) {
  if (parameters == 1) return points.size() >= kEnough ? AdviceMode::gpr : AdviceMode::base;
  std::set<Point> base;
  for (std::size_t p = 0; p < parameters; ++p) {
    bool enough = false;
    for (const Line& line : lines_of(points, p)) {
      enough |= line.points.size() >= kEnough;
      if (line.points.size() == kEnough) base.insert(line.points.begin(), line.points.end());
    }
    if (!enough) return AdviceMode::base;
  }
  return base.size() < points.size() ? AdviceMode::gpr : AdviceMode::add;
}

class Advisor {
 public:
  Advisor(const Experiment& e, const ModelSet& models, const AdvisorOptions& options, const Work& work)
      : e_(e), options_(options), work_(work) {
    for (std::size_t i = 0; i < e.point_count(); ++i) points_.emplace_back(e.point(i).begin(), e.point(i).end());
    std::sort(points_.begin(), points_.end());
    for (const Series& s : e.series()) {
      if (s.metric != options.metric) continue;
      if (!options.callpaths.empty() &&
          std::find(options.callpaths.begin(), options.callpaths.end(), s.callpath) == options.callpaths.end()) {
        continue;
      }
      series_.push_back(&s);
      const auto index = static_cast<std::uint32_t>(&s - e.series().data());
      for (const Model& m : models.models) {
        if (m.series == index) models_.push_back(&m);
      }
    }
  }

  Result<Advice> run() {
    if (series_.empty()) return Error::usage("the chosen metric and call paths have no measurements");
    Advice advice;
    const std::size_t parameters = e_.parameters().size();
    for (std::size_t p = 0; p < parameters; ++p) {
      std::set<double> distinct;
      for (const Point& point : points_) distinct.insert(point[p]);
      std::vector<double> values(distinct.begin(), distinct.end());
      const auto manual = options_.values.find(static_cast<std::uint32_t>(p));
      if (manual != options_.values.end()) {
        advice.steps.push_back(step_of(manual->second));
        advice.extended.push_back(manual->second);
        std::sort(advice.extended.back().begin(), advice.extended.back().end());
      } else {
        advice.steps.push_back(step_of(values));
        advice.extended.push_back(extend(values, advice.steps.back()));
      }
      advice.values.push_back(std::move(values));
    }
    FATHOM_CHECK(current_cost(advice));
    advice.mode = mode_of(points_, parameters);
    if (advice.mode == AdviceMode::base) {
      base(advice);
      return advice;
    }
    FATHOM_TRY(const auto fresh, candidates(advice));
    if (advice.mode == AdviceMode::add) {
      add(advice, fresh);
    } else {
      FATHOM_CHECK(gpr(advice, fresh));
    }
    return advice;
  }

 private:
  [[nodiscard]] double cost(double runtime, std::span<const double> point) const {
    if (e_.scaling() == Scaling::strong) return runtime;
    return runtime * (options_.process_parameter ? point[*options_.process_parameter] : options_.processes);
  }
  [[nodiscard]] double predicted_cost(const Point& point) const {
    double runtime = 0;
    for (const Model* m : models_) runtime += m->function(point);
    return cost(runtime, point);
  }

  Result<void> current_cost(Advice& advice) const {
    double noise = 0;
    for (const Series* s : series_) {
      const auto set = e_.points_of(*s);
      double own = 0;
      for (std::size_t k = 0; k < set.size(); ++k) {
        const std::size_t m = s->first + k;
        if (e_.repetitions()[m] == 0) return Error("Experiment has no measurements with repetitions.");
        advice.current_cost += cost(e_.means()[m], e_.point(set[k])) * e_.repetitions()[m];
        const double mean = e_.means()[m];
        if (mean == 0) continue;
        const auto values = e_.values(m);
        double deviation = std::fabs(e_.deviations()[m] / mean);
        if (!values.empty()) {
          deviation = 0;
          for (const double v : values) deviation += std::fabs(v / mean - 1) / static_cast<double>(values.size());
        }
        own += deviation / static_cast<double>(set.size());
      }
      noise += own / static_cast<double>(series_.size());
    }
    advice.noise = noise;
    return {};
  }

  // The cartesian product of the value series without what was measured.
  Result<std::vector<Point>> candidates(const Advice& advice) const {
    std::size_t count = 1;
    for (const auto& list : advice.extended) {
      count *= list.size();
      if (count > kMostCandidates) {
        return Error(fmt::format("there are more than {} points to choose from", kMostCandidates))
            .hint("give shorter series of values with --values");
      }
    }
    std::vector<Point> list;
    Point point(advice.extended.size(), 0);
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t rest = i;
      for (std::size_t p = point.size(); p-- > 0;) {
        point[p] = advice.extended[p][rest % advice.extended[p].size()];
        rest /= advice.extended[p].size();
      }
      if (!std::binary_search(points_.begin(), points_.end(), point)) list.push_back(point);
    }
    return list;
  }

  void base(Advice& advice) const {
    std::set<Point> suggested;
    for (std::size_t p = 0; p < advice.values.size(); ++p) {
      const auto lines = lines_of(points_, p);
      const auto longest = std::max_element(
          lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.points.size() < b.points.size(); });
      std::size_t missing = kEnough - std::min(kEnough, longest->points.size());
      for (const double value : advice.extended[p]) {
        if (missing == 0) break;
        Point point = longest->others;
        point.insert(point.begin() + static_cast<std::ptrdiff_t>(p), value);
        if (std::find(longest->points.begin(), longest->points.end(), point) != longest->points.end()) continue;
        --missing;
        if (suggested.insert(point).second) advice.suggestions.push_back({point, predicted_cost(point), 1});
      }
    }
  }

  void add(Advice& advice, const std::vector<Point>& fresh) const {
    std::vector<Suggestion> list;
    for (const Point& point : fresh) list.push_back({point, predicted_cost(point), 1});
    std::stable_sort(list.begin(), list.end(),
                     [](const Suggestion& a, const Suggestion& b) { return a.cost < b.cost; });
    double left = options_.budget - advice.current_cost;
    for (Suggestion& s : list) {
      if (s.cost > left) break;
      left -= s.cost;
      advice.suggestions.push_back(std::move(s));
    }
  }

  // Where the process is least sure for what a measurement costs. Unlike the reference there is no random restart: the
  // length scale is the most likely one of a fixed list, and the process keeps all points it has been given.
  Result<void> gpr(Advice& advice, std::vector<Point> list) const {
    std::vector<std::uint32_t> taken(list.size(), 0);
    std::vector<std::uint32_t> repetitions(e_.point_count(), 0);
    std::vector<double> values(e_.point_count(), 0);
    for (const Series* s : series_) {
      const auto set = e_.points_of(*s);
      for (std::size_t k = 0; k < set.size(); ++k) {
        repetitions[set[k]] = std::max(repetitions[set[k]], e_.repetitions()[s->first + k]);
        values[set[k]] += e_.means()[s->first + k];
      }
    }
    for (std::size_t i = 0; i < e_.point_count(); ++i) {
      if (repetitions[i] >= kMostRepetitions) continue;
      list.emplace_back(e_.point(i).begin(), e_.point(i).end());
      taken.push_back(repetitions[i]);
    }
    Point scale(advice.extended.size(), 1);
    for (std::size_t p = 0; p < scale.size(); ++p) scale[p] = 100 / advice.extended[p].back();
    const auto normal = [&](std::span<const double> point) {
      Point out(point.begin(), point.end());
      for (std::size_t p = 0; p < out.size(); ++p) out[p] *= scale[p];
      return out;
    };
    std::vector<Point> known;
    for (std::size_t i = 0; i < e_.point_count(); ++i) known.push_back(normal(e_.point(i)));
    std::vector<Point> normalised;
    std::vector<double> costs;
    for (const Point& point : list) {
      normalised.push_back(normal(point));
      costs.push_back(predicted_cost(point));
    }
    // Two matrices of the points, and a row of them for each candidate.
    const std::uint64_t cells = (2 * known.size() + list.size()) * std::uint64_t{known.size() + kMostSuggestions};
    FATHOM_TRY(const auto reserved, work_->budget.reserve(cells * sizeof(double), "what points say about each other"));
    GaussianProcess process(known, values, advice.noise, normalised);
    if (cancelled()) return cancelled_error();
    double spent = advice.current_cost;
    const double calm = std::tanh(advice.noise / 4 - 2.5);
    while (advice.suggestions.size() < kMostSuggestions) {
      std::size_t best = list.size();
      double lowest = INFINITY;
      for (std::size_t c = 0; c < list.size(); ++c) {
        if (taken[c] >= kMostRepetitions || !(costs[c] >= 0) || spent + costs[c] > options_.budget) continue;
        const double variance = process.variance(c);
        const double worth =
            costs[c] * costs[c] * (std::exp2(taken[c] / 2.0) - calm) / std::max(variance * variance, 1e-300);
        if (worth <= lowest) {
          lowest = worth;
          best = c;
        }
      }
      if (best == list.size()) break;
      spent += costs[best];
      advice.suggestions.push_back({list[best], costs[best], ++taken[best]});
      process.add(best);
    }
    return {};
  }

  const Experiment& e_;
  const AdvisorOptions& options_;
  const Work& work_;
  std::vector<Point> points_;
  std::vector<const Series*> series_;
  std::vector<const Model*> models_;
};

}  // namespace

Result<Advice> advise(const Experiment& experiment, const ModelSet& models, const AdvisorOptions& options,
                      const Work& work) {
  return Advisor(experiment, models, options, work).run();
}

}  // namespace fathom
