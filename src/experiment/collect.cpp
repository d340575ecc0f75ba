#include "experiment/collect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "experiment/builder.hpp"
#include "experiment/run_filters.hpp"
#include "experiment/unit.hpp"
#include "profile/absent.hpp"
#include "profile/compute.hpp"

namespace fathom {
namespace {

// Counters near 2^64 are small negative numbers that went wrong.
constexpr double kWrapped = 18446744073709550591.0;  // 0xFFFFFFFFFFFFFBFF

// Contexts for which the metric has stored values at all.
Result<std::vector<bool>> stored_contexts(const Profile& profile, MetricId metric) {
  std::vector<bool> stored(profile.defs().contexts.size(), false);
  const StoredMetric which{metric, 0};
  const Box box{std::span(&which, 1), {0, static_cast<std::uint32_t>(stored.size())}, all_locations(profile.defs())};
  FATHOM_CHECK(profile.values->scan(box, [&](const Run& run) -> Result<void> {
    if (run.along == Axis::location) {
      stored[run.context.index()] = true;
    } else {
      for (std::size_t i = 0; i < run.count; ++i) {
        stored[run.positions.empty() ? run.first + i : run.positions[i]] = true;
      }
    }
    return {};
  }));
  return stored;
}

// All locations together.
double combined(const RunValues& run) {
  switch (run.combine) {
    case RunValues::Combine::minimum:
      return *std::min_element(run.values.begin(), run.values.end());
    case RunValues::Combine::maximum:
      return *std::max_element(run.values.begin(), run.values.end());
    case RunValues::Combine::sum:
      break;
  }
  double sum = 0;
  for (const double x : run.values) sum += x;
  return sum;
}

}  // namespace

Result<std::vector<RunValues>> values_of_run(const Profile& profile, const CollectOptions& options,
                                             std::vector<std::string>& skipped) {
  const Definitions& defs = profile.defs();
  std::vector<RunValues> result;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < defs.contexts.size(); ++i) paths.push_back(defs.path(ContextId(i)));
  // In the order of the ids that the file uses.
  std::vector<std::uint32_t> order(defs.contexts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return defs.contexts[ContextId(a)].file_id < defs.contexts[ContextId(b)].file_id;
  });
  for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
    const Metric& metric = defs.metrics[m];
    const bool chosen = options.metrics.empty() ? !metric.parent.valid() && !metric.hidden
                                                : std::find(options.metrics.begin(), options.metrics.end(),
                                                            metric.name) != options.metrics.end();
    if (!chosen) continue;
    const MetricId id(m);
    if (metric.switched_off || !why_unavailable(profile, id).empty() || (metric.scopes.empty() && !metric.derived())) {
      skipped.push_back(metric.name);
      continue;
    }
    std::vector<bool> stored(defs.contexts.size(), true);
    if (!metric.derived()) {
      FATHOM_TRY(stored, stored_contexts(profile, id));
    }
    if (std::find(stored.begin(), stored.end(), true) == stored.end()) {
      skipped.push_back(metric.name);
      continue;
    }
    Selection selection;
    selection.flavour.kind = options.inclusive ? Flavour::Kind::inclusive : Flavour::Kind::exclusive;
    selection.locations = all_locations(defs);
    auto cells = compute(profile, id, selection);
    if (!cells) return std::move(cells).error().with(fmt::format("metric '{}'", metric.name));
    for (const std::uint32_t c : order) {
      if (!stored[c]) continue;
      RunValues values;
      values.metric = metric.name;
      values.callpath = paths[c];
      values.values.reserve(cells->columns());
      using Combine = RunValues::Combine;
      values.combine = metric.type.kind == ValueKind::min_f64   ? Combine::minimum
                       : metric.type.kind == ValueKind::max_f64 ? Combine::maximum
                                                                : Combine::sum;
      for (std::size_t l = 0; l < cells->columns(); ++l) {
        if (!has_value(*cells, c, l)) continue;  // the extreme of nothing
        const double value = cells->scalar(c, l);
        values.values.push_back(value > kWrapped ? 0 : value);
      }
      result.push_back(std::move(values));
    }
  }
  return result;
}

Result<ExperimentPtr> collect(std::string name, const std::vector<std::string>& parameters,
                              std::vector<RunAtPoint> runs, const CollectOptions& options, const Work& work) {
  // In order of the points, so that they come out ascending.
  std::stable_sort(runs.begin(), runs.end(),
                   [](const RunAtPoint& a, const RunAtPoint& b) { return a.point < b.point; });
  if (options.scaling == Scaling::weak) FATHOM_CHECK(same_locations(runs));
  if (options.missing == CollectOptions::Missing::merge) merge_missing(runs);
  if (options.small) FATHOM_CHECK(drop_small(runs, *options.small, options));
  ExperimentBuilder builder(std::move(name), work, ExperimentBuilder::Repeats::collect);
  for (const std::string& p : parameters) builder.parameter(p);
  builder.set_scaling(options.scaling);
  std::vector<double> kept;
  for (const RunAtPoint& run : runs) {
    const auto point = builder.point(run.point);
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (const RunValues& v : run.values) {
      if (!seen.emplace(v.metric, v.callpath).second) {
        FATHOM_CHECK(work->diagnostics.warn(
            "runs.equal_callpaths", Place::in(run.name),
            fmt::format("several call nodes have the path '{}'; each counts as a repetition of its own", v.callpath)));
      }
      const auto callpath = builder.callpath(v.callpath);
      const auto metric = builder.metric(v.metric);
      if (const auto unit = run.units.find(v.metric); unit != run.units.end()) {
        set_unit(builder.metric_tags(metric), unit->second);
      }
      if (v.combine != RunValues::Combine::sum) {
        Tags& tags = builder.metric_tags(metric);
        if (find_tag(tags, kExtremeTag) == nullptr) tags.emplace_back(kExtremeTag, "true");
      }
      kept.clear();
      if (options.scaling == Scaling::strong) {
        if (v.values.empty()) continue;
        kept.push_back(combined(v));
        builder.add(callpath, metric, point, kept, 1);
        continue;
      }
      for (const double x : v.values) {
        if (options.scaling != Scaling::weak_threaded || x != 0) kept.push_back(x);
      }
      if (kept.empty()) kept = v.values;
      if (kept.empty()) continue;
      const ShapeToken shape[] = {1 * 2 + 1, static_cast<ShapeToken>(kept.size() * 2)};
      builder.add(callpath, metric, point, kept, 1, shape);
    }
  }
  FATHOM_CHECK(builder.status());
  if (options.missing != CollectOptions::Missing::keep) {
    FATHOM_CHECK(builder.leave_out_incomplete(work));
  }
  FATHOM_TRY(ExperimentPtr experiment, std::move(builder).finish());
  return experiment;
}

}  // namespace fathom
