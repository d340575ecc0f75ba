#include "experiment/strong_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "base/text.hpp"
#include "experiment/builder.hpp"

namespace fathom {
namespace {

// Call paths below `main`, without those that stand beside the program's own time.
std::vector<bool> counted_call_paths(const Experiment& e) {
  std::vector<bool> counted(e.callpaths().size(), false);
  const CallTree& tree = e.call_tree();
  const auto& roots = tree.nodes[0].children;
  if (roots.empty()) return counted;
  const auto main = std::find_if(roots.begin(), roots.end(), [&](std::uint32_t node) {
    return equal_ignoring_case(tree.nodes[node].name, "main");
  });
  std::vector<std::uint32_t> todo = {main == roots.end() ? roots.front() : *main};
  while (!todo.empty()) {
    const CallTree::Node& node = tree.nodes[todo.back()];
    todo.pop_back();
    todo.insert(todo.end(), node.children.begin(), node.children.end());
    if (node.callpath == CallTree::kNone) continue;
    const Tags& tags = e.callpaths()[node.callpath].tags;
    counted[node.callpath] = find_tag(tags, "agg__usage_disabled") == nullptr &&
                             find_tag(tags, "agg__disabled") == nullptr && find_tag(tags, "agg__category") == nullptr;
  }
  return counted;
}

// Sum of the means of these series at every point.
std::vector<double> totals(const Experiment& e, std::span<const Series* const> series) {
  std::vector<double> total(e.point_count(), 0);
  for (const Series* one : series) {
    const Series& s = *one;
    const auto points = e.points_of(s);
    for (std::size_t k = 0; k < points.size(); ++k) total[points[k]] += e.means()[s.first + k];
  }
  return total;
}

// The longest line of points that differ in this parameter alone; of equally long ones that with the larger total.
std::vector<std::uint32_t> longest_line(const Experiment& e, std::size_t parameter, const std::vector<double>& total) {
  std::map<std::vector<double>, std::vector<std::uint32_t>> lines;
  for (std::size_t i = 0; i < e.point_count(); ++i) {
    std::vector<double> others(e.point(i).begin(), e.point(i).end());
    if (parameter >= others.size()) continue;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(parameter));
    lines[others].push_back(static_cast<std::uint32_t>(i));
  }
  std::vector<std::uint32_t> best;
  double best_sum = 0;
  for (auto& [others, line] : lines) {
    double sum = 0;
    for (const std::uint32_t p : line) sum += total[p];
    if (line.size() < best.size() || (line.size() == best.size() && sum <= best_sum)) continue;
    best = line;
    best_sum = sum;
  }
  std::sort(best.begin(), best.end(),
            [&](std::uint32_t a, std::uint32_t b) { return e.point(a)[parameter] < e.point(b)[parameter]; });
  return best;
}

}  // namespace

std::vector<std::uint32_t> shrinking_metrics(const Experiment& e) {
  std::vector<std::uint32_t> counts(e.parameters().size(), 0);
  const auto counted = counted_call_paths(e);
  std::vector<std::uint32_t> metrics;
  for (std::size_t m = 0; m < e.metrics().size(); ++m) {
    if (e.metrics()[m].name == "time") {
      metrics = {static_cast<std::uint32_t>(m)};
      break;
    }
    metrics.push_back(static_cast<std::uint32_t>(m));
  }
  std::vector<std::vector<const Series*>> series(e.metrics().size());
  for (const Series& s : e.series()) {
    if (counted[s.callpath]) series[s.metric].push_back(&s);
  }
  for (const std::uint32_t metric : metrics) {
    const auto total = totals(e, series[metric]);
    for (std::size_t p = 0; p < counts.size(); ++p) {
      const auto line = longest_line(e, p, total);
      const bool shrinks = line.size() > 1 && std::adjacent_find(line.begin(), line.end(), [&](auto a, auto b) {
                                                return !(total[b] < total[a]);
                                              }) == line.end();
      if (shrinks) ++counts[p];
    }
  }
  return counts;
}

std::optional<std::uint32_t> strong_scaling_parameter(const Experiment& e) {
  const auto counts = shrinking_metrics(e);
  const auto most = std::max_element(counts.begin(), counts.end());
  if (most == counts.end() || *most == 0) return std::nullopt;
  return static_cast<std::uint32_t>(most - counts.begin());
}

Result<ExperimentPtr> multiplied_by(const Experiment& e, std::uint32_t parameter, const Work& work) {
  ExperimentBuilder builder(e.name(), work);
  for (const std::string& p : e.parameters()) builder.parameter(p);
  for (std::size_t i = 0; i < e.point_count(); ++i) builder.point(e.point(i));
  for (const Named& m : e.metrics()) builder.metric_tags(builder.metric(m.name)) = m.tags;
  for (const Named& c : e.callpaths()) builder.callpath_tags(builder.callpath(c.name)) = c.tags;
  builder.set_scaling(Scaling::strong);
  std::vector<double> values;
  for (const Series& s : e.series()) {
    const auto points = e.points_of(s);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const std::size_t m = s.first + k;
      const double factor = e.point(points[k])[parameter];
      ValueStatistics scaled{e.means()[m] * factor, e.medians()[m] * factor, e.minima()[m] * factor,
                             e.maxima()[m] * factor, e.deviations()[m] * std::fabs(factor)};
      if (factor < 0) std::swap(scaled.minimum, scaled.maximum);
      values.assign(e.values(m).begin(), e.values(m).end());
      for (double& v : values) v *= factor;
      builder.add_statistics(s.callpath, s.metric, points[k], scaled, e.repetitions()[m], values, e.shape(m));
    }
  }
  FATHOM_TRY(ExperimentPtr experiment, std::move(builder).finish());
  return experiment;
}

}  // namespace fathom
