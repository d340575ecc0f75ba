#include "cli/experiment_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.hpp"
#include "base/text.hpp"
#include "experiment/call_path.hpp"

namespace fathom::cli {

namespace {

bool wanted(const std::vector<std::string>& patterns, std::string_view name) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
           return pattern == name || matches_pattern(pattern, name);
         });
}

// "p=4;n=100" for every point.
std::vector<std::string> point_names(const Experiment& e) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < e.point_count(); ++i) {
    std::string text;
    for (std::size_t p = 0; p < e.point(i).size() && p < e.parameters().size(); ++p) {
      text += (p > 0 ? ";" : "") + e.parameters()[p] + "=" + exact_text(e.point(i)[p]);
    }
    names.push_back(std::move(text));
  }
  return names;
}

}  // namespace

Result<void> show_values(Session& session, const TableSource& values, bool no_path) {
  ScanRequest request;
  if (no_path) request.columns = {0, 1, 3, 4};
  return session.show_rows(values, request,
                           {{{"metric"}, {"context"}, {"location"}, {"value", Show::exact}, {"path"}}});
}

Result<int> write_experiment_table(Session& session, const Experiment& e, const ExperimentRows& rows) {
  const bool any_metric =
      std::any_of(e.metrics().begin(), e.metrics().end(), [&](const Named& m) { return wanted(rows.metrics, m.name); });
  if (!any_metric && !rows.metrics.empty()) {
    std::vector<std::string> names;
    for (const Named& m : e.metrics()) names.push_back(m.name);
    return Error::usage(
        fmt::format("there is no metric '{}'{}", rows.metrics.front(), did_you_mean(rows.metrics.front(), names)));
  }
  const std::vector<std::string> points = point_names(e);
  TableBuilder table({"value",
                      {{"metric", ColumnType::text},
                       {"context", ColumnType::uint64},
                       {"path", ColumnType::text},
                       {"location", ColumnType::text},
                       {"value", ColumnType::float64}}});
  for (const Series& s : e.series()) {
    const std::string& metric = e.metrics()[s.metric].name;
    const std::string& path = e.callpaths()[s.callpath].name;
    if (!wanted(rows.metrics, metric) || !wanted(rows.contexts, std::to_string(s.callpath)) ||
        !wanted(rows.regions, last_level(path))) {
      continue;
    }
    const auto set = e.points_of(s);
    for (std::size_t k = 0; k < set.size(); ++k) {
      const std::string& point = points[set[k]];
      if (!wanted(rows.locations, point)) continue;
      const std::size_t m = s.first + k;
      const auto put = [&](const std::string& name, double value) {
        if (value != 0 || rows.zeros) table.row(name, s.callpath, path, point, value);
      };
      put(metric, e.means()[m]);
      if (!rows.summary) continue;
      put(metric + ":median", e.medians()[m]);
      put(metric + ":minimum", e.minima()[m]);
      put(metric + ":maximum", e.maxima()[m]);
      put(metric + ":std", e.deviations()[m]);
      put(metric + ":repetitions", e.repetitions()[m]);
    }
  }
  FATHOM_CHECK(show_values(session, *source_of(std::move(table).finish()), rows.no_path));
  return kDone;
}

}  // namespace fathom::cli
