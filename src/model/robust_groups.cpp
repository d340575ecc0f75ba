#include "model/robust_groups.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace fathom {

namespace {

// The repetitions of a measurement; where only statistics are known, values with that mean and deviation.
void append_repetitions(const Experiment& experiment, std::size_t m, std::vector<double>& scratch, Repetitions& out) {
  const auto values = experiment.values(m);
  if (!values.empty() && experiment.shape(m).empty()) {
    out.append(values);
    return;
  }
  scratch.clear();
  if (!values.empty()) scratch = experiment.repetition_means(m);
  if (scratch.empty()) {
    const double mean = experiment.means()[m];
    const double deviation = experiment.deviations()[m];
    const std::uint32_t count = std::max<std::uint32_t>(experiment.repetitions()[m], 1);
    const std::uint32_t pairs = count / 2;
    const double offset =
        pairs > 0 ? deviation * std::sqrt(static_cast<double>(count) / static_cast<double>(2 * pairs)) : 0;
    for (std::uint32_t r = 0; r < count; ++r) {
      const double sign = r == 2 * pairs ? 0 : (r % 2 == 0 ? 1 : -1);
      scratch.push_back(mean + sign * offset);
    }
  }
  out.append(scratch);
}

bool all_positive(const Experiment& experiment, const Series& series, std::size_t points) {
  for (std::size_t k = 0; k < points; ++k) {
    const double low = experiment.minima()[series.first + k];
    const double high = experiment.maxima()[series.first + k];
    if (!(low > 1e-140) || !(high < 1e140)) return false;
    const double mean = experiment.means()[series.first + k];
    if (!(mean > experiment.deviations()[series.first + k] * 0.999) && !experiment.has_values()) return false;
  }
  return true;
}

// Puts an even choice of at most kMostPooled in front; behind them only what is wanted is kept. How many are in front.
std::size_t choose_pooled(std::vector<std::uint32_t>& list, const std::vector<bool>& wanted) {
  const std::size_t pooled = std::min(list.size(), kMostPooled);
  std::vector<std::uint32_t> chosen;
  std::vector<std::uint32_t> others;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (chosen.size() < pooled && i == chosen.size() * list.size() / pooled) {
      chosen.push_back(list[i]);
    } else if (wanted[list[i]]) {
      others.push_back(list[i]);
    }
  }
  chosen.insert(chosen.end(), others.begin(), others.end());
  list = std::move(chosen);
  return pooled;
}

RobustGroups make_groups(const Experiment& experiment, Measure measure, const std::vector<bool>& wanted) {
  RobustGroups out;
  out.member.assign(experiment.series().size(), {RobustGroups::kNone, 0});
  const std::size_t parameters = experiment.parameters().size();
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> lists;
  for (std::size_t s = 0; s < experiment.series().size(); ++s) {
    const auto& series = experiment.series()[s];
    if (!all_positive(experiment, series, experiment.points_of(series).size())) continue;
    lists[{series.metric, series.point_set}].push_back(static_cast<std::uint32_t>(s));
  }
  std::vector<double> scratch;
  for (auto& [key, list] : lists) {
    if (std::none_of(list.begin(), list.end(), [&](std::uint32_t s) { return wanted[s]; })) continue;
    const std::size_t pooled = choose_pooled(list, wanted);
    const auto points = experiment.points_of(experiment.series()[list.front()]);
    Repetitions data;
    data.points = points.size();
    data.series = list.size();
    data.pooled = pooled;
    std::vector<double> coordinates;
    for (const auto point : points) {
      const auto place = experiment.point(point);
      coordinates.insert(coordinates.end(), place.begin(), place.end());
    }
    if (coordinates.size() != points.size() * parameters) continue;
    const std::size_t measurements = list.size() * points.size();
    data.begin.reserve(measurements + 1);
    data.values.reserve(measurements * experiment.values(experiment.series()[list.front()].first).size());
    std::vector<double> fixed;
    const auto figures = experiment.measure(measure);
    for (const auto s : list) {
      const auto first = experiment.series()[s].first;
      for (std::size_t k = 0; k < points.size(); ++k) {
        append_repetitions(experiment, first + k, scratch, data);
        if (measure != Measure::mean) fixed.push_back(figures[first + k]);
      }
    }
    auto group = make_robust_group(std::move(data), coordinates, parameters, fixed);
    if (group == nullptr) continue;
    for (std::size_t i = 0; i < list.size(); ++i) {
      out.member[list[i]] = {static_cast<std::uint32_t>(out.groups.size()), static_cast<std::uint32_t>(i)};
    }
    out.groups.push_back(std::move(group));
    out.series.push_back(std::move(list));
  }
  return out;
}

}  // namespace

RobustGroups make_robust_groups(const Experiment& experiment, Measure measure) {
  return make_groups(experiment, measure, std::vector<bool>(experiment.series().size(), true));
}

RobustGroups make_robust_groups(const Experiment& experiment, Measure measure, std::span<const std::uint32_t> wanted) {
  std::vector<bool> chosen(experiment.series().size(), false);
  for (const auto s : wanted) chosen[s] = true;
  return make_groups(experiment, measure, chosen);
}

}  // namespace fathom
