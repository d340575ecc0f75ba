#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "profile/absent.hpp"
#include "profile/aggregate.hpp"
#include "profile/inspect/inspect.hpp"

namespace fathom::inspect {

namespace {

constexpr std::pair<std::string_view, SanityKind> kKinds[] = {{"names", SanityKind::names},
                                                              {"files", SanityKind::files},
                                                              {"lines", SanityKind::lines},
                                                              {"tracing", SanityKind::tracing},
                                                              {"values", SanityKind::values}};

// Judges one thing after the other; texts of what is wrong are made where they are listed only.
class Judge {
 public:
  Judge(std::string title, std::size_t most_listed) : most_listed_(most_listed) { check_.title = std::move(title); }
  template <class What>
  void operator()(bool good, const What& what) {
    ++check_.total;
    if (good) {
      ++check_.good;
    } else if (check_.bad.size() < most_listed_) {
      check_.bad.push_back(what());
    }
  }
  [[nodiscard]] SanityCheck result() && { return std::move(check_); }

 private:
  SanityCheck check_;
  std::size_t most_listed_;
};

bool contains(std::string_view text, std::string_view part) { return to_lower(text).find(part) != std::string::npos; }

// Values below zero, one per metric, context and location.
Result<SanityCheck> no_negative(const Profile& profile, Flavour::Kind flavour, std::string title,
                                const SanityOptions& options) {
  const Definitions& defs = profile.defs();
  Judge judge(std::move(title), options.most_listed);
  for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
    const Metric& metric = defs.metrics[m];
    if (!why_unavailable(profile, MetricId(m)).empty() || metric.hidden || form_of(metric.type) == Form::packed)
      continue;
    FATHOM_TRY(const Cells cells, compute(profile, MetricId(m), {{flavour, {}}, {}, all_locations(defs), false}));
    for (std::size_t row = 0; row < cells.rows(); ++row) {
      for (std::size_t i = 0; i < cells.columns(); ++i) {
        judge(!(cells.scalar(row, i) < 0), [&] {
          return fmt::format("metric '{}', {}, location {}: {}", metric.name, defs.path(ContextId(row)),
                             defs.system.location_label(LocationId(i)), cells.at(row, i).text());
        });
      }
    }
  }
  return std::move(judge).result();
}

}  // namespace

Result<NodeView> node_view(const Profile& profile, MetricId metric) {
  const Definitions& defs = profile.defs();
  const SystemTree& system = defs.system;
  NodeView out;
  out.locations = system.location_count();
  // A node is what has processes right below it; groups inside of a process are part of that.
  std::vector<bool> holds(system.nodes.size(), false);
  for (const SystemNode& node : system.nodes) {
    if (node.kind != SystemKind::group || !node.parent.valid()) continue;
    if (system.nodes[node.parent.index()].kind == SystemKind::node) holds[node.parent.index()] = true;
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
  grouping.columns = locations_below(system, nodes);
  FATHOM_TRY(const Cells cells, compute_groups(profile, metric, {Flavour::Kind::inclusive, {}}, grouping));
  std::vector<double> values;
  bool unknown = false;
  for (std::size_t i = 0; i < cells.columns(); ++i) {
    if (!has_value(cells, 0, i)) continue;  // the extreme of nothing
    values.push_back(cells.scalar(0, i));
    unknown = unknown || std::isnan(values.back());
  }
  out.over_nodes = statistics_of(values);
  // Statistics leave out what is no number: of a node that counts it would be lost.
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (unknown || values.empty()) {
    out.over_nodes.minimum = out.over_nodes.maximum = out.over_nodes.mean = out.over_nodes.deviation = kUnknown;
  }
  return out;
}

Result<std::set<SanityKind>> sanity_checks(const std::vector<std::string>& names) {
  std::set<SanityKind> out;
  for (const std::string& name : names) {
    const auto found =
        std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& k) { return k.first == name; });
    if (found == std::end(kKinds)) {
      return Error::usage(fmt::format("no check is called '{}'", name)).hint("names, files, lines, tracing, values");
    }
    out.insert(found->second);
  }
  return out;
}

Result<std::vector<SanityCheck>> sanity(const Profile& profile, const SanityOptions& options) {
  const Definitions& defs = profile.defs();
  const auto judge_for = [&](const char* title) { return Judge(title, options.most_listed); };
  const auto wanted = [&](SanityKind kind) { return !options.skip.contains(kind); };
  Judge named = judge_for("region names are not empty or UNKNOWN");
  Judge known = judge_for("no ANONYMOUS regions");
  Judge whole = judge_for("no TRUNCATED regions");
  Judge filed = judge_for("regions have a file name");
  Judge lined = judge_for("regions have line numbers");
  for (std::size_t i = 0; i < defs.regions.size(); ++i) {
    if (i < options.excluded.size() && options.excluded[i]) continue;
    const Region& region = defs.regions[i];
    const auto what = [&] { return fmt::format("region {} '{}'", region.file_id, region.name); };
    named(!trim(region.name).empty() && !equal_ignoring_case(trim(region.name), "UNKNOWN"), what);
    known(!contains(region.name, "anonymous"), what);
    whole(!contains(region.name, "truncated"), what);
    filed(!trim(region.file).empty(), what);
    lined(region.begin_line > 0 && region.end_line >= region.begin_line, what);
  }
  Judge tracing = judge_for("TRACING only below Init and Finalize");
  for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
    const ContextId id(i);
    const ContextId parent = defs.contexts[id].parent;
    const bool is_tracing = equal_ignoring_case(defs.region_of(id).name, "TRACING");
    const bool in_place = !is_tracing || (parent.valid() && (contains(defs.region_of(parent).name, "init") ||
                                                             contains(defs.region_of(parent).name, "finalize")));
    tracing(in_place, [&] { return defs.path(id); });
  }
  std::vector<SanityCheck> out;
  if (wanted(SanityKind::names)) {
    for (Judge* judge : {&named, &known, &whole}) out.push_back(std::move(*judge).result());
  }
  if (wanted(SanityKind::files)) out.push_back(std::move(filed).result());
  if (wanted(SanityKind::lines)) out.push_back(std::move(lined).result());
  if (wanted(SanityKind::tracing)) out.push_back(std::move(tracing).result());
  if (wanted(SanityKind::values)) {
    FATHOM_TRY(out.emplace_back(),
               no_negative(profile, Flavour::Kind::inclusive, "no negative inclusive values", options));
    FATHOM_TRY(out.emplace_back(),
               no_negative(profile, Flavour::Kind::exclusive, "no negative exclusive values", options));
  }
  return out;
}

}  // namespace fathom::inspect
