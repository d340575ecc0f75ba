#include "experiment/diff.hpp"

#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/time_unit.hpp"
#include "experiment/unit.hpp"

namespace fathom {

namespace {

Result<std::uint32_t> find_metric(const Experiment& experiment, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < experiment.metrics().size(); ++i) {
    if (experiment.metrics()[i].name == name) return static_cast<std::uint32_t>(i);
    names.push_back(experiment.metrics()[i].name);
  }
  return Error::usage(fmt::format("{} has no metric '{}'{}", experiment.name(), name, did_you_mean(name, names)));
}

// "p=4, n=10"; by name, so that the order of the parameters does not matter.
std::string point_name(const Experiment& experiment, std::uint32_t point) {
  std::map<std::string, double> values;
  const auto coordinates = experiment.point(point);
  for (std::size_t i = 0; i < coordinates.size() && i < experiment.parameters().size(); ++i) {
    values[experiment.parameters()[i]] = coordinates[i];
  }
  std::string out;
  for (const auto& [name, value] : values) out += (out.empty() ? "" : ", ") + name + "=" + exact_text(value);
  return out;
}

}  // namespace

Result<MetricChanges> diff(const Experiment& before, const Experiment& after, const std::string& metric) {
  MetricChanges out;
  out.metric = metric;
  std::unordered_map<std::string, std::size_t> rows;
  const auto take = [&](const Experiment& experiment, std::vector<double> BeforeAfter::*side) -> Result<void> {
    FATHOM_TRY(const std::uint32_t id, find_metric(experiment, metric));
    const std::string unit = unit_of(experiment.metrics()[id]);
    if (out.unit.empty()) out.unit = unit;
    for (const Series& series : experiment.series()) {
      if (series.metric != id) continue;
      const auto points = experiment.points_of(series);
      for (std::size_t k = 0; k < points.size(); ++k) {
        const std::string& callpath = experiment.callpaths()[series.callpath].name;
        const std::string name = fmt::format("{} at {}", callpath, point_name(experiment, points[k]));
        const auto [found, fresh] = rows.try_emplace(name, out.rows.size());
        if (fresh) out.rows.push_back({name, {}, {}});
        auto values = experiment.repetition_means(series.first + k);
        if (values.empty()) values = {experiment.means()[series.first + k]};
        for (double& value : values) value = in_time_unit(value, unit, out.unit);
        out.rows[found->second].*side = std::move(values);
      }
    }
    return {};
  };
  FATHOM_CHECK(take(before, &BeforeAfter::before));
  FATHOM_CHECK(take(after, &BeforeAfter::after));
  double total_before = 0;
  double total_after = 0;
  for (const BeforeAfter& row : out.rows) {
    if (row.before.empty() || row.after.empty()) continue;
    const auto mean = [](const std::vector<double>& values) {
      double sum = 0;
      for (const double value : values) sum += value;
      return sum / static_cast<double>(values.size());
    };
    total_before += mean(row.before);
    total_after += mean(row.after);
  }
  out.total = {"", {total_before}, {total_after}};
  return out;
}

}  // namespace fathom
