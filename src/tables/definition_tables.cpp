#include "tables/definition_tables.hpp"

#include <algorithm>

#include "tables/ids.hpp"

namespace fathom {

namespace {

using enum ColumnType;

// Nothing for "".
TableBuilder::Cell text_cell(std::string_view text) {
  if (text.empty()) return Missing{};
  return text;
}
std::optional<std::int64_t> line_number(std::int64_t line) {
  return line < 0 ? std::nullopt : std::optional<std::int64_t>(line);
}

// A column with ids in front of a table that was built without it.
std::unique_ptr<TableSource> with_ids(const IdColumn& ids, Table table) {
  std::vector<std::uint32_t> positions(table.rows());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::uint32_t>(i);
  table.schema.columns.insert(table.schema.columns.begin(), ColumnSpec{"id", ids.type()});
  table.data.columns.insert(table.data.columns.begin(), ids.at(std::move(positions)));
  return source_of(std::move(table));
}

std::string_view derivation_name(const Metric& metric) {
  switch (metric.derivation) {
    case Derivation::none:
      return "stored";
    case Derivation::post:
      return "derived";
    case Derivation::pre_exclusive:
    case Derivation::pre_inclusive:
      return "pre-derived";
  }
  return "?";
}

}  // namespace

std::unique_ptr<TableSource> metric_table(const Definitions& defs, const std::set<MetricId>& aggregates) {
  TableBuilder builder({"metric",
                        {{"id", text},
                         {"name", text},
                         {"unit", text},
                         {"parent", text},
                         {"title", text},
                         {"type", text},
                         {"kind", text},
                         {"number", uint64},
                         {"description", text}}});
  for (std::size_t i = 0; i < defs.metrics.size(); ++i) {
    const Metric& metric = defs.metrics[i];
    const std::string type = metric.type.text();
    builder.row(metric.name, metric.name, text_cell(metric.unit),
                metric.parent.valid() ? TableBuilder::Cell(std::string_view(defs.metric(metric.parent).name))
                                      : TableBuilder::Cell(Missing{}),
                metric.display_name.empty() ? metric.name : metric.display_name, type,
                aggregates.contains(MetricId(i)) ? "aggregated" : derivation_name(metric), metric.file_id,
                text_cell(metric.description));
  }
  return source_of(std::move(builder).finish());
}

std::unique_ptr<TableSource> region_table(const Definitions& defs) {
  TableBuilder builder({"region",
                        {{"name", text},
                         {"file", text},
                         {"line", int64},
                         {"end_line", int64},
                         {"paradigm", text},
                         {"role", text},
                         {"module", text},
                         {"mangled_name", text}}});
  for (const Region& region : defs.regions) {
    builder.row(region.name, text_cell(region.file), line_number(region.begin_line), line_number(region.end_line),
                text_cell(region.paradigm), text_cell(region.role), text_cell(region.module),
                text_cell(region.mangled_name));
  }
  return with_ids(region_ids(defs.regions), std::move(builder).finish());
}

std::unique_ptr<TableSource> location_table(const Definitions& defs) {
  const SystemTree& system = defs.system;
  TableBuilder builder({"location",
                        {{"name", text},
                         {"kind", text},
                         {"rank", int64},
                         {"thread", int64},
                         {"node", text},
                         {"process", text},
                         {"path", text}}});
  for (std::size_t i = 0; i < system.location_count(); ++i) {
    const LocationId id(i);
    const SystemNode& location = system.location(id);
    const SystemNodeId group = system.group_of(id);
    std::string_view node;
    for (SystemNodeId at = location.parent; at.valid() && node.empty(); at = system.nodes[at.index()].parent) {
      if (system.nodes[at.index()].kind == SystemKind::node) node = system.nodes[at.index()].name;
    }
    const std::string path = system.path(system.locations[i]);
    builder.row(location.name, text_cell(location.type),
                group.valid() ? system.nodes[group.index()].rank : std::optional<std::int64_t>(), location.rank,
                text_cell(node), text_cell(group.valid() ? std::string_view(system.nodes[group.index()].name) : ""),
                path);
  }
  return with_ids(location_ids(system), std::move(builder).finish());
}

}  // namespace fathom
