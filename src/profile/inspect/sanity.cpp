#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "profile/aggregate.hpp"
#include "profile/inspect/inspect.hpp"

namespace fathom::inspect {

namespace {

void judge(SanityCheck& check, bool good, const std::string& what) {
  ++check.total;
  if (good) {
    ++check.good;
  } else if (check.first_bad.empty()) {
    check.first_bad = what;
  }
}

bool contains(std::string_view text, std::string_view part) { return to_lower(text).find(part) != std::string::npos; }

// Values below zero, one per metric, context and location.
Result<SanityCheck> no_negative(const Profile& profile, Flavour::Kind flavour, std::string title) {
  const Definitions& defs = profile.defs();
  SanityCheck check{std::move(title), 0, 0, {}};
  for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
    const Metric& metric = defs.metrics[m];
    if (!why_unavailable(profile, MetricId(m)).empty() || metric.hidden || form_of(metric.type) == Form::packed)
      continue;
    FATHOM_TRY(const Cells cells, compute(profile, MetricId(m), {{flavour, {}}, {}, all_locations(defs), false}));
    for (std::size_t row = 0; row < cells.rows(); ++row) {
      for (std::size_t i = 0; i < cells.columns(); ++i) {
        const bool good = !(cells.scalar(row, i) < 0);
        ++check.total;
        if (good) {
          ++check.good;
        } else if (check.first_bad.empty()) {
          check.first_bad = fmt::format("metric '{}', {}, location {}: {}", metric.name, defs.path(ContextId(row)),
                                        defs.system.location_label(LocationId(i)), cells.at(row, i).text());
        }
      }
    }
  }
  return check;
}

}  // namespace

Result<NodeView> node_view(const Profile& profile, MetricId metric) {
  const Definitions& defs = profile.defs();
  const SystemTree& system = defs.system;
  NodeView out;
  out.locations = system.location_count();
  // A node is what has processes right below it.
  std::vector<bool> holds(system.nodes.size(), false);
  for (const SystemNode& node : system.nodes) {
    if (node.kind == SystemKind::group && node.parent.valid()) holds[node.parent.index()] = true;
  }
  std::vector<SystemNodeId> nodes;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    if (holds[i]) nodes.emplace_back(i);
  }
  out.nodes = nodes.size();
  const std::vector<ContextId> roots = defs.contexts.roots();
  if (nodes.empty() || roots.empty()) return out;
  Grouping grouping;
  grouping.rows = {roots};
  for (const SystemNodeId id : nodes) grouping.columns.push_back(locations_below(system, id));
  FATHOM_TRY(const Cells cells, compute_groups(profile, metric, {Flavour::Kind::inclusive, {}}, grouping));
  std::vector<double> values;
  for (std::size_t i = 0; i < cells.columns(); ++i) values.push_back(cells.scalar(0, i));
  out.over_nodes = statistics_of(values);
  return out;
}

Result<std::vector<SanityCheck>> sanity(const Profile& profile) {
  const Definitions& defs = profile.defs();
  SanityCheck named{"region names are not empty or UNKNOWN", 0, 0, {}};
  SanityCheck known{"no ANONYMOUS regions", 0, 0, {}};
  SanityCheck whole{"no TRUNCATED regions", 0, 0, {}};
  SanityCheck filed{"regions have a file name", 0, 0, {}};
  SanityCheck lined{"regions have line numbers", 0, 0, {}};
  for (const Region& region : defs.regions) {
    const std::string what = fmt::format("region {} '{}'", region.file_id, region.name);
    judge(named, !trim(region.name).empty() && !equal_ignoring_case(trim(region.name), "UNKNOWN"), what);
    judge(known, !contains(region.name, "anonymous"), what);
    judge(whole, !contains(region.name, "truncated"), what);
    judge(filed, !trim(region.file).empty(), what);
    judge(lined, region.begin_line > 0 && region.end_line >= region.begin_line, what);
  }
  SanityCheck tracing{"TRACING only below Init and Finalize", 0, 0, {}};
  for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
    const ContextId id(i);
    const ContextId parent = defs.contexts[id].parent;
    const bool is_tracing = equal_ignoring_case(defs.region_of(id).name, "TRACING");
    const bool in_place = !is_tracing || (parent.valid() && (contains(defs.region_of(parent).name, "init") ||
                                                             contains(defs.region_of(parent).name, "finalize")));
    ++tracing.total;
    tracing.good += in_place ? 1 : 0;
    if (!in_place && tracing.first_bad.empty()) tracing.first_bad = defs.path(id);
  }
  FATHOM_TRY(SanityCheck inclusive, no_negative(profile, Flavour::Kind::inclusive, "no negative inclusive values"));
  FATHOM_TRY(SanityCheck exclusive, no_negative(profile, Flavour::Kind::exclusive, "no negative exclusive values"));
  return std::vector<SanityCheck>{named, known, whole, filed, lined, tracing, inclusive, exclusive};
}

}  // namespace fathom::inspect
