#include "cli/experiment_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.hpp"
#include "base/text.hpp"
#include "experiment/call_path.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/text_table.hpp"

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

class RowWriter {
 public:
  explicit RowWriter(Session& session) : session_(session), csv_(session.out()), json_(session.out()) {
    table_.column("metric").column("context", Align::right).column("path", Align::left, true).column("point");
    table_.column("value", Align::right);
    if (session.csv()) csv_.header({"metric", "context", "path", "location", "value"});
    if (session.json()) json_.begin_array();
  }

  void row(const std::string& metric, std::uint32_t context, const std::string& path, const std::string& point,
           double value) {
    if (session_.csv()) {
      csv_.field(metric);
      csv_.raw(std::to_string(context));
      csv_.field(path);
      csv_.field(point);
      csv_.raw(exact_text(value));
      csv_.end_row();
    } else if (session_.json()) {
      json_.begin_object().member("metric", std::string_view(metric)).member("context", context);
      json_.member("path", std::string_view(path)).member("location", std::string_view(point));
      json_.member("value", value).end_object();
    } else {
      table_.row({{metric}, {std::to_string(context)}, {path}, {point}, {exact_text(value)}});
    }
  }

  void end() {
    if (session_.json()) json_.end_array();
    if (!session_.csv() && !session_.json()) session_.out().write(table_.text(session_.terminal()));
  }

 private:
  Session& session_;
  CsvWriter csv_;
  JsonWriter json_;
  TextTable table_;
};

}  // namespace

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
  RowWriter writer(session);
  for (const Series& s : e.series()) {
    if (session.out().closed()) break;
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
        if (value != 0 || rows.zeros) writer.row(name, s.callpath, path, point, value);
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
  writer.end();
  return kDone;
}

}  // namespace fathom::cli
