#include "tables/tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "formats/format.hpp"
#include "model/fit.hpp"
#include "profile/expression/derive.hpp"
#include "profile/expression/program.hpp"
#include "profile/selection.hpp"
#include "profile/stored_flavour.hpp"
#include "tables/definition_tables.hpp"
#include "tables/event_scan.hpp"
#include "tables/experiment_tables.hpp"
#include "tables/total_table.hpp"
#include "tables/value_scan.hpp"

namespace fathom {

namespace {

bool has(const std::vector<Level>& levels, Level level) {
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

// What the tables of definitions are made from: the profile's where there is one.
Result<DefinitionsPtr> definitions_of(Dataset& dataset) {
  if (has(dataset.levels(), Level::profile)) {
    FATHOM_TRY(const ProfilePtr profile, dataset.profile());
    return profile->definitions;
  }
  FATHOM_TRY(const TracePtr trace, dataset.trace());
  return DefinitionsPtr(trace, &trace->definitions());
}

Result<Flavour> flavour_of(const std::string& text) {
  using Kind = Flavour::Kind;
  if (text.empty() || text == "stored") return Flavour{};
  if (text == "own") return Flavour{Kind::own, {}};
  if (text == "exclusive") return Flavour{Kind::exclusive, {}};
  if (text == "inclusive") return Flavour{Kind::inclusive, {}};
  return Flavour{Kind::named, text};
}

// Metrics whose values cannot be had are left out with a warning, unless only such were asked for.
Result<std::vector<MetricId>> usable_metrics(const Profile& profile, const std::vector<std::string>& patterns,
                                             const Flavour& flavour = {}) {
  const Definitions& defs = profile.defs();
  FATHOM_TRY(std::vector<MetricId> chosen, choose_metrics(defs, patterns));
  if (patterns.empty()) {
    for (std::size_t i = 0; i < defs.metrics.size(); ++i) {
      if (!only_when_named(defs.metrics[i])) chosen.emplace_back(i);
    }
  }
  std::vector<MetricId> usable;
  for (const MetricId id : chosen) {
    const std::string why = why_unavailable(profile, id, flavour);
    if (why.empty()) {
      usable.push_back(id);
      continue;
    }
    const std::string text = fmt::format("metric '{}' {}", defs.metric(id).name, why);
    if (chosen.size() == 1) return Error(text, Place::in(profile.name));
    FATHOM_CHECK(profile.work->diagnostics.warn(fmt::format("profile.metric_left_out.{}", defs.metric(id).name),
                                                Place::in(profile.name), text));
  }
  return usable;
}

Result<std::unique_ptr<TableSource>> open_value(Dataset& dataset, const TableBounds& bounds) {
  if (!has(dataset.levels(), Level::profile)) {
    if (!bounds.flavour.empty()) {
      return Error::usage("an experiment has one value per call path and point: no flavours");
    }
    FATHOM_TRY(auto experiment, dataset.experiment());
    return experiment_value_table(std::move(experiment), {bounds.metrics, bounds.contexts}, bounds.locations);
  }
  FATHOM_TRY(const ProfilePtr profile, dataset.profile());
  const Definitions& defs = profile->defs();
  ValueBounds chosen;
  FATHOM_TRY(chosen.flavour, flavour_of(bounds.flavour));
  FATHOM_TRY(chosen.metrics, usable_metrics(*profile, bounds.metrics, chosen.flavour));
  FATHOM_TRY(chosen.locations, choose_locations(defs, bounds.locations));
  chosen.all_locations = bounds.locations.empty();
  if (!bounds.contexts.empty()) {
    FATHOM_TRY(chosen.contexts, choose_contexts(defs, bounds.contexts));
  }
  return value_scan(profile, std::move(chosen));
}

TimeWindow window_of(const TableBounds& bounds) {
  TimeWindow window;
  if (bounds.from_ns) window.from_ns = *bounds.from_ns;
  if (bounds.to_ns) window.to_ns = *bounds.to_ns;
  return window;
}

Result<std::unique_ptr<TableSource>> open_total(Dataset& dataset, const TableBounds& bounds) {
  FATHOM_TRY(ProfilePtr profile, dataset.profile());
  FATHOM_TRY(auto metrics, usable_metrics(*profile, bounds.metrics));
  FATHOM_TRY(auto locations, choose_locations(profile->defs(), bounds.locations));
  return total_table(std::move(profile), std::move(metrics), std::move(locations));
}

Result<std::unique_ptr<TableSource>> open_event(Dataset& dataset, const TableBounds& bounds) {
  FATHOM_TRY(TracePtr trace, dataset.trace());
  FATHOM_TRY(auto locations, choose_locations(trace->definitions(), bounds.locations));
  return event_scan(std::move(trace), window_of(bounds), std::move(locations));
}

Result<std::unique_ptr<TableSource>> open_message(Dataset& dataset, const TableBounds& bounds) {
  FATHOM_TRY(TracePtr trace, dataset.trace());
  std::vector<LocationId> locations;
  if (!bounds.locations.empty()) {
    FATHOM_TRY(locations, choose_locations(trace->definitions(), bounds.locations));
  }
  return message_scan(std::move(trace), window_of(bounds), std::move(locations));
}

Result<std::unique_ptr<TableSource>> open_metric(Dataset& dataset, const TableBounds&) {
  if (!has(dataset.levels(), Level::profile) && has(dataset.levels(), Level::experiment)) {
    FATHOM_TRY(const auto experiment, dataset.experiment());
    return experiment_metric_table(*experiment);
  }
  std::set<MetricId> aggregates;
  if (has(dataset.levels(), Level::profile)) {
    FATHOM_TRY(const ProfilePtr profile, dataset.profile());
    for (const auto& [id, program] : profile->programs) {
      if (program->aggregate && profile->defs().metric(id).derivation != Derivation::post) aggregates.insert(id);
    }
  }
  FATHOM_TRY(const DefinitionsPtr defs, definitions_of(dataset));
  return metric_table(*defs, aggregates);
}

Result<std::unique_ptr<TableSource>> open_context(Dataset& dataset, const TableBounds&) {
  if (!has(dataset.levels(), Level::profile) && has(dataset.levels(), Level::experiment)) {
    FATHOM_TRY(const auto experiment, dataset.experiment());
    return experiment_context_table(*experiment);
  }
  FATHOM_TRY(DefinitionsPtr defs, definitions_of(dataset));
  return context_table(std::move(defs));
}

Result<std::unique_ptr<TableSource>> open_region(Dataset& dataset, const TableBounds&) {
  FATHOM_TRY(const DefinitionsPtr defs, definitions_of(dataset));
  return region_table(*defs);
}

Result<std::unique_ptr<TableSource>> open_location(Dataset& dataset, const TableBounds&) {
  FATHOM_TRY(const DefinitionsPtr defs, definitions_of(dataset));
  return location_table(*defs);
}

Result<std::unique_ptr<TableSource>> open_parameter(Dataset& dataset, const TableBounds&) {
  FATHOM_TRY(const auto experiment, dataset.experiment());
  return parameter_table(*experiment);
}

Result<std::unique_ptr<TableSource>> open_point(Dataset& dataset, const TableBounds&) {
  FATHOM_TRY(const auto experiment, dataset.experiment());
  return point_table(*experiment);
}

Result<std::unique_ptr<TableSource>> open_measurement(Dataset& dataset, const TableBounds& bounds) {
  FATHOM_TRY(auto experiment, dataset.experiment());
  return measurement_table(std::move(experiment), {bounds.metrics, bounds.contexts});
}

// The models that the file holds; fitted with the default modeler where it holds none.
Result<std::unique_ptr<TableSource>> open_model(Dataset& dataset, const TableBounds& bounds) {
  using Sets = std::shared_ptr<const std::vector<ModelSet>>;
  FATHOM_TRY(const ExperimentPtr experiment, dataset.experiment());
  Sets stored;
  if (has(dataset.levels(), Level::model)) {
    FATHOM_TRY(stored, dataset.models());
  }
  const ModelMaker make = [experiment, stored, work = dataset.work()]() -> Result<Sets> {
    if (stored) return stored;
    FATHOM_TRY(const FitOptions options, fit_options("default", experiment->parameters().size()));
    FATHOM_TRY(ModelSet set, fit(*experiment, options, work));
    set.name = "default";
    return std::make_shared<const std::vector<ModelSet>>(1, std::move(set));
  };
  return model_table(experiment, make, {bounds.metrics, bounds.contexts});
}

Result<std::unique_ptr<TableSource>> open_diagnostic(Dataset& dataset, const TableBounds&) {
  using enum ColumnType;
  TableBuilder builder({"diagnostic",
                        {{"id", text},
                         {"severity", text},
                         {"file", text},
                         {"offset", uint64},
                         {"line", uint64},
                         {"count", uint64},
                         {"text", text}}});
  for (const Diagnostic& one : dataset.work()->diagnostics.all()) {
    builder.row(one.id, to_string(one.severity), one.place.file, one.place.offset, one.place.line, one.count, one.text);
  }
  return source_of(std::move(builder).finish());
}

struct Entry {
  TableKind kind;
  std::vector<Level> levels;  // one of these
  Result<std::unique_ptr<TableSource>> (*open)(Dataset&, const TableBounds&);
};

const std::vector<Entry>& entries() {
  using enum Level;
  static const std::vector<Entry> all = {
      {{"metric", "what was measured", {}}, {profile, trace, experiment}, open_metric},
      {{"region", "named pieces of code", {}}, {profile, trace}, open_region},
      {{"context", "the calling-context tree, or the call paths of an experiment", {}},
       {profile, trace, experiment},
       open_context},
      {{"location", "threads, streams, ranks", {}}, {profile, trace}, open_location},
      {{"value", "one row per metric, context and location", {"metric", "context", "location", "flavour"}},
       {profile, experiment},
       open_value},
      {{"total", "values of contexts over all locations, exclusive and inclusive", {"metric", "location"}},
       {profile},
       open_total},
      {{"event", "what happened, per location in time order", {"from_ns", "to_ns", "location"}}, {trace}, open_event},
      {{"message", "messages with both ends", {"from_ns", "to_ns", "location"}}, {trace}, open_message},
      {{"parameter", "parameters of an experiment", {}}, {experiment}, open_parameter},
      {{"point", "measurement points, a column per parameter", {}}, {experiment}, open_point},
      {{"measurement", "statistics over the repetitions at a point", {"metric", "context"}},
       {experiment},
       open_measurement},
      {{"model", "performance functions with their quality", {"metric", "context"}}, {experiment}, open_model},
      {{"diagnostic", "what was noticed while reading", {}}, {trace, profile, experiment, model}, open_diagnostic},
  };
  return all;
}

bool applies(const Entry& entry, const std::vector<Level>& levels) {
  return std::any_of(entry.levels.begin(), entry.levels.end(), [&](Level level) { return has(levels, level); });
}

Result<void> check_bounds(const TableKind& kind, const TableBounds& bounds) {
  const auto refuse = [&](bool given, std::string_view name) -> Result<void> {
    if (!given || std::find(kind.bounds.begin(), kind.bounds.end(), name) != kind.bounds.end()) return {};
    return Error::usage(fmt::format("the table '{}' has no bound '{}'; it has: {}", kind.name, name,
                                    kind.bounds.empty() ? "none" : fmt::format("{}", fmt::join(kind.bounds, ", "))));
  };
  FATHOM_CHECK(refuse(bounds.from_ns.has_value(), "from_ns"));
  FATHOM_CHECK(refuse(bounds.to_ns.has_value(), "to_ns"));
  FATHOM_CHECK(refuse(!bounds.locations.empty(), "location"));
  FATHOM_CHECK(refuse(!bounds.metrics.empty(), "metric"));
  FATHOM_CHECK(refuse(!bounds.contexts.empty(), "context"));
  return refuse(!bounds.flavour.empty(), "flavour");
}

}  // namespace

const std::vector<TableKind>& table_kinds() {
  static const std::vector<TableKind> kinds = [] {
    std::vector<TableKind> out;
    for (const Entry& entry : entries()) out.push_back(entry.kind);
    return out;
  }();
  return kinds;
}

bool is_table_file(const std::filesystem::path& relative, std::string_view ending) {
  if (relative.extension() != ending) return false;
  const std::string first = relative.begin()->string();
  const bool alone = !relative.has_parent_path();
  const auto named = [&](const TableKind& kind) {
    return alone ? first == std::string(kind.name) + std::string(ending) : first == kind.name;
  };
  const std::vector<TableKind>& kinds = table_kinds();
  if (std::none_of(kinds.begin(), kinds.end(), named)) return false;
  if (alone) return true;
  // Folders of values, or the part of one process.
  const auto below = std::next(relative.begin());
  const auto file = std::prev(relative.end());
  if (below == file) return file->native().starts_with("part-");
  return std::all_of(
             below, file,
             [](const std::filesystem::path& folder) { return folder.native().find('=') != std::string::npos; }) &&
         file->native().starts_with("data_");
}

std::vector<const TableKind*> tables_of(const std::vector<Level>& levels) {
  std::vector<const TableKind*> out;
  for (const Entry& entry : entries()) {
    if (applies(entry, levels)) out.push_back(&entry.kind);
  }
  return out;
}

Result<std::unique_ptr<TableSource>> open_table(Dataset& dataset, std::string_view name, const TableBounds& bounds) {
  const std::vector<Level> levels = dataset.levels();
  std::vector<std::string> names;
  for (const Entry& entry : entries()) {
    if (!applies(entry, levels)) {
      if (entry.kind.name != name) continue;
      return Error::usage(fmt::format("{} has no table '{}'", dataset.path().string(), name));
    }
    names.emplace_back(entry.kind.name);
    if (entry.kind.name != name) continue;
    FATHOM_CHECK(check_bounds(entry.kind, bounds));
    return entry.open(dataset, bounds);
  }
  return Error::usage(fmt::format("there is no table '{}'{}", name, did_you_mean(name, names)))
      .hint(fmt::format("tables of this dataset: {}", fmt::join(names, ", ")));
}

}  // namespace fathom
