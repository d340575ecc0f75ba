// Reports on a profile: its routines and what they call, groups of regions, nodes, whether it is sane, whether two are
// equal.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profile/compute.hpp"
#include "profile/statistics.hpp"

namespace fathom::inspect {

// ---- a routine with its exclusive part and what it calls directly

struct RoutineLine {
  enum class Part : std::uint8_t { inclusive, exclusive, callee } part = Part::inclusive;
  ContextId context;
  bool leaf = false;  // a callee that calls nothing
};
struct Routine {
  ContextId context;
  std::vector<RoutineLine> lines;
};
// Contexts of the regions named (patterns; also by mangled name), in document order; without names the roots.
Result<std::vector<Routine>> routines(const Definitions& defs, const std::vector<std::string>& names);

// ---- regions by what they are

// By region: MPI, OMP, SCOREP, USR, COM, or the paradigm in capitals. COM: a user region with an MPI, SHMEM or similar
// region somewhere below one of its contexts.
std::vector<std::string> region_groups(const Definitions& defs);

struct FilterRules {
  double max_seconds_per_visit = 1e-6;  // about what measuring a visit costs
  double min_visit_share = 0.001;       // of the whole: smaller ones are not worth a rule
};
// User regions whose measurement costs more than it tells: many visits, each as short as its measurement. Region ids by
// falling visits.
Result<std::vector<RegionId>> suggest_filter(const Profile& profile, MetricId time, MetricId visits,
                                             const FilterRules& rules = {});
// The suggestion in the form that Score-P reads.
std::string filter_text(const Definitions& defs, const std::vector<RegionId>& regions);
// By region: does a filter of that form leave it out? Rules are EXCLUDE or INCLUDE with shell patterns, the last that
// fits counts; a bare list of patterns excludes.
std::vector<bool> excluded_by(const Definitions& defs, std::string_view filter);

// ---- nodes

struct NodeView {
  std::size_t nodes = 0;
  std::size_t locations = 0;
  Statistics over_nodes;  // of the metric's root values
};
Result<NodeView> node_view(const Profile& profile, MetricId metric);

// ---- checks

enum class SanityKind : std::uint8_t { names, files, lines, tracing, values };
// By their names, e.g. "names"; a usage error for others.
Result<std::set<SanityKind>> sanity_checks(const std::vector<std::string>& names);

struct SanityOptions {
  std::set<SanityKind> skip;
  std::vector<bool> excluded;  // by region: not judged; empty: all are
  std::size_t most_listed = 1;
};

struct SanityCheck {
  std::string title;
  std::uint64_t total = 0;
  std::uint64_t good = 0;
  std::vector<std::string> bad;  // what and where; as many as asked for
};
Result<std::vector<SanityCheck>> sanity(const Profile& profile, const SanityOptions& options = {});

// ---- comparison

struct Comparison {
  bool metrics_equal = true;
  bool contexts_equal = true;
  bool system_equal = true;
  std::uint64_t values = 0;
  std::uint64_t different = 0;
  std::string first_difference;
  [[nodiscard]] bool equal() const { return metrics_equal && contexts_equal && system_equal && different == 0; }
};
// Shapes and ids of the trees, and all values as stored: equal when they agree within `tolerance` (relative), within
// `absolute`, or to two units in the last place. With `metrics` (unique names) only these count.
Result<Comparison> compare(const Profile& a, const Profile& b, double tolerance = 0,
                           const std::vector<std::string>& metrics = {}, double absolute = 0);

}  // namespace fathom::inspect
