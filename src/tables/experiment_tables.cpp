#include "tables/experiment_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "experiment/call_path.hpp"
#include "tables/lazy_table.hpp"

namespace fathom {

namespace {

constexpr ColumnType kText = ColumnType::text;
constexpr ColumnType kInteger = ColumnType::int64;
constexpr ColumnType kReal = ColumnType::float64;

bool fits(const std::vector<std::string>& patterns, std::string_view name) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
           return pattern == name || matches_pattern(pattern, name);
         });
}

// Series that the bounds choose; a name that fits nothing is an error with a suggestion.
Result<std::vector<std::size_t>> choose_series(const Experiment& e, const SeriesBounds& bounds) {
  std::vector<std::string> names;
  for (const Named& metric : e.metrics()) names.push_back(metric.name);
  for (const std::string& pattern : bounds.metrics) {
    if (std::none_of(names.begin(), names.end(), [&](const std::string& name) { return fits({pattern}, name); })) {
      return Error::usage(fmt::format("there is no metric '{}'{}", pattern, did_you_mean(pattern, names)));
    }
  }
  for (const std::string& id : bounds.contexts) {
    const auto number = parse_integer<std::size_t>(id);
    if (!number || *number >= e.callpaths().size()) {
      return Error::usage(fmt::format("no context has the id '{}'", id));
    }
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < e.series().size(); ++i) {
    const Series& series = e.series()[i];
    if (fits(bounds.metrics, e.metrics()[series.metric].name) &&
        fits(bounds.contexts, std::to_string(series.callpath))) {
      chosen.push_back(i);
    }
  }
  return chosen;
}

// "p=4;n=100"
std::string point_name(const Experiment& e, std::size_t point) {
  std::string text;
  for (std::size_t p = 0; p < e.point(point).size() && p < e.parameters().size(); ++p) {
    text += (p > 0 ? ";" : "") + e.parameters()[p] + "=" + exact_text(e.point(point)[p]);
  }
  return text;
}

}  // namespace

std::unique_ptr<TableSource> experiment_metric_table(const Experiment& experiment) {
  TableBuilder builder({"metric", {{"id", kText}, {"name", kText}, {"unit", kText}, {"parent", kText}}});
  for (const Named& metric : experiment.metrics()) builder.row(metric.name, metric.name, kMissing, kMissing);
  return source_of(std::move(builder).finish());
}

std::unique_ptr<TableSource> experiment_context_table(const Experiment& experiment) {
  TableBuilder builder(
      {"context", {{"id", kInteger}, {"parent", kInteger}, {"depth", kInteger}, {"path", kText}, {"name", kText}}});
  const CallTree& tree = experiment.call_tree();
  std::vector<std::uint32_t> node_of(experiment.callpaths().size(), CallTree::kNone);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const std::uint32_t path = tree.nodes[i].callpath;
    if (path < node_of.size()) node_of[path] = static_cast<std::uint32_t>(i);
  }
  for (std::size_t i = 0; i < node_of.size(); ++i) {
    std::optional<std::int64_t> parent;
    std::optional<std::int64_t> depth;
    if (node_of[i] != CallTree::kNone) {
      depth = static_cast<std::int64_t>(tree.nodes[node_of[i]].depth) - 1;
      for (std::uint32_t at = tree.nodes[node_of[i]].parent; at != CallTree::kNone && !parent;
           at = tree.nodes[at].parent) {
        if (tree.nodes[at].callpath != CallTree::kNone) parent = tree.nodes[at].callpath;
      }
    }
    const std::string& path = experiment.callpaths()[i].name;
    builder.row(i, parent, depth, path, last_level(path));
  }
  return source_of(std::move(builder).finish());
}

std::unique_ptr<TableSource> parameter_table(const Experiment& experiment) {
  TableBuilder builder({"parameter", {{"id", kInteger}, {"name", kText}}});
  for (std::size_t i = 0; i < experiment.parameters().size(); ++i) builder.row(i, experiment.parameters()[i]);
  return source_of(std::move(builder).finish());
}

std::unique_ptr<TableSource> point_table(const Experiment& experiment) {
  Schema schema{"point", {{"id", kInteger}, {"name", kText}}};
  for (const std::string& parameter : experiment.parameters()) {
    // A parameter may be called like a column that is there already.
    std::string name = parameter;
    while (schema.find(name)) name += "_";
    schema.columns.push_back({name, kReal});
  }
  TableBuilder builder(schema);
  std::vector<TableBuilder::Cell> cells;
  for (std::size_t i = 0; i < experiment.point_count(); ++i) {
    const std::string name = point_name(experiment, i);
    cells.assign({static_cast<std::int64_t>(i), std::string_view(name)});
    for (std::size_t p = 0; p < experiment.parameters().size(); ++p) {
      if (p < experiment.point(i).size()) {
        cells.emplace_back(experiment.point(i)[p]);
      } else {
        cells.emplace_back(Missing{});
      }
    }
    builder.add(cells);
  }
  return source_of(std::move(builder).finish());
}

Result<std::unique_ptr<TableSource>> measurement_table(ExperimentPtr experiment, const SeriesBounds& bounds) {
  FATHOM_TRY(auto chosen, choose_series(*experiment, bounds));
  const Schema schema{"measurement",
                      {{"metric", kText},
                       {"context", kInteger},
                       {"point", kInteger},
                       {"mean", kReal},
                       {"median", kReal},
                       {"minimum", kReal},
                       {"maximum", kReal},
                       {"deviation", kReal},
                       {"repetitions", kInteger}}};
  return lazy_table(schema, [schema, experiment, chosen]() -> Result<Table> {
    const Experiment& e = *experiment;
    TableBuilder builder(schema);
    for (const std::size_t index : chosen) {
      const Series& series = e.series()[index];
      const auto points = e.points_of(series);
      for (std::size_t k = 0; k < points.size(); ++k) {
        const std::size_t m = series.first + k;
        const std::uint32_t repetitions = e.repetitions()[m];
        builder.row(e.metrics()[series.metric].name, series.callpath, points[k], e.means()[m], e.medians()[m],
                    e.minima()[m], e.maxima()[m], e.deviations()[m],
                    repetitions == 0 ? std::optional<std::int64_t>() : std::optional<std::int64_t>(repetitions));
      }
    }
    return std::move(builder).finish();
  });
}

Result<std::unique_ptr<TableSource>> experiment_value_table(ExperimentPtr experiment, const SeriesBounds& bounds,
                                                            const std::vector<std::string>& locations) {
  FATHOM_TRY(auto chosen, choose_series(*experiment, bounds));
  const Schema schema{"value", {{"metric", kText}, {"context", kInteger}, {"location", kText}, {"value", kReal}}};
  return lazy_table(schema, [schema, experiment, chosen, locations]() -> Result<Table> {
    const Experiment& e = *experiment;
    TableBuilder builder(schema);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < e.point_count(); ++i) names.push_back(point_name(e, i));
    for (const std::size_t index : chosen) {
      const Series& series = e.series()[index];
      const auto points = e.points_of(series);
      for (std::size_t k = 0; k < points.size(); ++k) {
        const double value = e.means()[series.first + k];
        if (value == 0 || !fits(locations, names[points[k]])) continue;
        builder.row(e.metrics()[series.metric].name, series.callpath, names[points[k]], value);
      }
    }
    return std::move(builder).finish();
  });
}

Result<std::unique_ptr<TableSource>> model_table(ExperimentPtr experiment, ModelMaker make,
                                                 const SeriesBounds& bounds) {
  FATHOM_TRY(auto chosen, choose_series(*experiment, bounds));
  const Schema schema{"model",
                      {{"set", kText},
                       {"metric", kText},
                       {"context", kInteger},
                       {"path", kText},
                       {"function", kText},
                       {"constant", kReal},
                       {"RSS", kReal},
                       {"rRSS", kReal},
                       {"SMAPE", kReal},
                       {"AR2", kReal},
                       {"RE", kReal},
                       {"terms", kText}}};
  return lazy_table(schema, [schema, experiment, chosen, make = std::move(make)]() -> Result<Table> {
    const Experiment& e = *experiment;
    FATHOM_TRY(const auto sets, make());
    TableBuilder builder(schema);
    for (const ModelSet& set : *sets) {
      for (const Model& model : set.models) {
        if (!std::binary_search(chosen.begin(), chosen.end(), std::size_t{model.series})) continue;
        const Series& series = e.series()[model.series];
        const bool pieces = !model.function.segments.empty();
        const std::string terms = pieces ? segments_json(model.function.segments, e.parameters())
                                         : terms_json(model.function, e.parameters());
        builder.row(set.name, e.metrics()[series.metric].name, series.callpath, e.callpaths()[series.callpath].name,
                    text(model.function, e.parameters()),
                    pieces ? std::optional<double>() : std::optional<double>(model.function.constant),
                    model.quality.rss, model.quality.rrss, model.quality.smape, model.quality.ar2, model.quality.re,
                    terms);
      }
    }
    return std::move(builder).finish();
  });
}

}  // namespace fathom
