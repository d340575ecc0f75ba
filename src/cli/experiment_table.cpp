#include "cli/experiment_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.hpp"
#include "base/text.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

Result<int> write_experiment_table(Session& session, const Experiment& e, const std::vector<std::string>& metrics) {
  const auto wanted = [&](const std::string& name) {
    return metrics.empty() || std::any_of(metrics.begin(), metrics.end(), [&](const std::string& pattern) {
             return pattern == name || matches_pattern(pattern, name);
           });
  };
  std::vector<std::string> points;
  for (std::size_t i = 0; i < e.point_count(); ++i) {
    std::string text;
    for (std::size_t p = 0; p < e.point(i).size() && p < e.parameters().size(); ++p) {
      text += (p > 0 ? ";" : "") + e.parameters()[p] + "=" + exact_text(e.point(i)[p]);
    }
    points.push_back(std::move(text));
  }
  TextTable table;
  table.column("metric").column("context", Align::right).column("path", Align::left, true).column("point");
  table.column("value", Align::right);
  CsvWriter csv(session.out());
  JsonWriter json(session.out());
  if (session.csv()) csv.header({"metric", "context", "path", "location", "value"});
  if (session.json()) json.begin_array();
  bool any = false;
  for (const Series& s : e.series()) {
    if (session.out().closed()) break;
    const std::string& metric = e.metrics()[s.metric].name;
    if (!wanted(metric)) continue;
    any = true;
    const std::string& path = e.callpaths()[s.callpath].name;
    const auto set = e.points_of(s);
    for (std::size_t k = 0; k < set.size(); ++k) {
      const double value = e.means()[s.first + k];
      if (session.csv()) {
        csv.field(metric);
        csv.raw(std::to_string(s.callpath));
        csv.field(path);
        csv.field(points[set[k]]);
        csv.raw(exact_text(value));
        csv.end_row();
      } else if (session.json()) {
        json.begin_object().member("metric", std::string_view(metric)).member("context", s.callpath);
        json.member("path", std::string_view(path)).member("location", std::string_view(points[set[k]]));
        json.member("value", value).end_object();
      } else {
        table.row({{metric}, {std::to_string(s.callpath)}, {path}, {points[set[k]]}, {exact_text(value)}});
      }
    }
  }
  if (!any && !metrics.empty()) {
    std::vector<std::string> names;
    for (const Named& m : e.metrics()) names.push_back(m.name);
    return Error::usage(
        fmt::format("there is no metric '{}'{}", metrics.front(), did_you_mean(metrics.front(), names)));
  }
  if (session.json()) json.end_array();
  if (!session.csv() && !session.json()) session.out().write(table.text(session.terminal()));
  return kDone;
}

}  // namespace fathom::cli
