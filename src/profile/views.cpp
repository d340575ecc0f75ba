#include "profile/views.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/text.hpp"
#include "defs/path_walker.hpp"
#include "profile/aggregate.hpp"
#include "profile/system_groups.hpp"

namespace fathom {

namespace {

const Flavour kExclusive{Flavour::Kind::exclusive, {}};
const Flavour kInclusive{Flavour::Kind::inclusive, {}};

std::vector<LocationId> locations_of(const Profile& profile, const ViewInput& input) {
  return input.locations.empty() ? Grouping::over_whole_system(profile.defs()).columns[0] : input.locations;
}

bool counted(const ViewInput& input, ContextId id) { return !input.filter || input.filter(id); }

// Which contexts rows of regions, files or locations are made of. A loop or line is part of the exclusive value of what
// it lies in, so that only the outermost counted one of a function stands for itself.
std::vector<bool> standing_for_themselves(const ContextTree& tree, const ViewInput& input) {
  std::vector<bool> out(tree.size());
  std::vector<bool> covered(tree.size());  // it, or what it lies in lexically, is counted
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    const Context& context = tree[ContextId{i}];
    const bool inside = context.edge == Edge::lexical && context.parent.valid() && covered[context.parent.index()];
    const bool here = counted(input, ContextId{i});
    out[i] = here && !inside;
    covered[i] = here || inside;
  }
  return out;
}

// The function that a context lies in: itself unless it hangs below its parent lexically.
ContextId function_of(const ContextTree& tree, ContextId id) {
  while (tree[id].edge == Edge::lexical && tree[id].parent.valid()) id = tree[id].parent;
  return id;
}

// Groups may be empty, which Grouping takes for "no grouping": then there are no rows at all.
Result<Cells> one_column(const Profile& profile, const ViewInput& input, const Flavour& flavour,
                         std::vector<std::vector<ContextId>> groups) {
  if (groups.empty()) return Cells(profile.defs().metric(input.metric).type, 0, 1);
  return compute_groups(profile, input.metric, flavour, {std::move(groups), {locations_of(profile, input)}});
}

// Contexts in groups, and of each group those that lie below no other context of the same group.
struct Groups {
  std::vector<std::vector<ContextId>> all;
  std::vector<std::vector<ContextId>> outermost;
};

// group_of gives a group's number or TreeView::kNone. Walks the tree once with the open groups at hand.
template <class GroupOf>
Groups make_groups(const ContextTree& tree, std::size_t count, GroupOf&& group_of) {
  Groups out{std::vector<std::vector<ContextId>>(count), std::vector<std::vector<ContextId>>(count)};
  std::vector<std::uint32_t> open_until(count, 0);  // end of the outermost open context of a group
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    const ContextId id{i};
    const std::uint32_t group = group_of(id);
    if (group == TreeView::kNone) continue;
    out.all[group].push_back(id);
    if (i >= open_until[group]) {
      open_until[group] = tree[id].end;
      out.outermost[group].push_back(id);
    }
  }
  return out;
}

// A profile without call paths stores what functions have with all that they call under this name, as a scope of its
// own: nothing could be added up along paths. It is right for single functions only.
Flavour inclusive_flavour(const Metric& metric, const Groups& groups) {
  const auto single = [](const std::vector<ContextId>& group) { return group.size() == 1; };
  for (const StoredScope& scope : metric.scopes) {
    if (scope.scope != Scope::named || scope.name != "inclusive") continue;
    if (std::all_of(groups.all.begin(), groups.all.end(), single)) return {Flavour::Kind::named, scope.name};
  }
  return kInclusive;
}

Result<void> fill(const Profile& profile, const ViewInput& input, const Groups& groups, FlatProfile& out) {
  if (groups.all.empty()) {
    out.exclusive = out.inclusive = out.inclusive_sum = Cells(profile.defs().metric(input.metric).type, 0, 1);
    return success();
  }
  const Flavour inclusive = inclusive_flavour(profile.defs().metric(input.metric), groups);
  FATHOM_TRY(std::vector<Cells> columns,
             compute_groups(profile, input.metric,
                            {{kExclusive, groups.all}, {inclusive, groups.outermost}, {inclusive, groups.all}},
                            locations_of(profile, input)));
  out.exclusive = std::move(columns[0]);
  out.inclusive = std::move(columns[1]);
  out.inclusive_sum = std::move(columns[2]);
  for (std::size_t i = 0; i < out.rows.size(); ++i) out.rows[i].contexts = groups.all[i].size();
  return success();
}

// Regions that go by one text: their file, their module.
Result<FlatProfile> flat_by_text(const Profile& profile, const ViewInput& input, std::string Region::*text) {
  const Definitions& defs = profile.defs();
  FlatProfile out;
  std::map<std::string_view, std::uint32_t> numbers;
  std::vector<std::uint32_t> group_of_region(defs.regions.size(), TreeView::kNone);
  const std::vector<bool> taken = standing_for_themselves(defs.contexts, input);
  const auto group_of = [&](ContextId id) {
    if (!taken[id.index()]) return TreeView::kNone;
    std::uint32_t& group = group_of_region[defs.contexts[id].region.index()];
    if (group == TreeView::kNone) {
      const std::string& name = defs.region_of(id).*text;
      const auto [at, fresh] = numbers.emplace(name, static_cast<std::uint32_t>(out.rows.size()));
      if (fresh) out.rows.push_back({name, {}, {}, {}, 0});
      group = at->second;
    }
    return group;
  };
  // Groups are numbered while walking, at most as many as there are regions.
  Groups groups = make_groups(defs.contexts, defs.regions.size(), group_of);
  groups.all.resize(out.rows.size());
  groups.outermost.resize(out.rows.size());
  FATHOM_CHECK(fill(profile, input, groups, out));
  return out;
}

Result<FlatProfile> flat_by_region(const Profile& profile, const ViewInput& input) {
  const Definitions& defs = profile.defs();
  FlatProfile out;
  std::vector<std::uint32_t> group_of_region(defs.regions.size(), TreeView::kNone);
  const std::vector<bool> taken = standing_for_themselves(defs.contexts, input);
  Groups groups = make_groups(defs.contexts, defs.regions.size(), [&](ContextId id) {
    if (!taken[id.index()]) return TreeView::kNone;
    std::uint32_t& group = group_of_region[defs.contexts[id].region.index()];
    if (group == TreeView::kNone) {
      group = static_cast<std::uint32_t>(out.rows.size());
      out.rows.push_back({defs.region_of(id).name, defs.contexts[id].region, {}, {}, 0});
    }
    return group;
  });
  groups.all.resize(out.rows.size());
  groups.outermost.resize(out.rows.size());
  FATHOM_CHECK(fill(profile, input, groups, out));
  return out;
}

Result<FlatProfile> flat_by_context(const Profile& profile, const ViewInput& input) {
  const Definitions& defs = profile.defs();
  FlatProfile out;
  Groups groups;
  PathWalker paths(defs);
  for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
    const ContextId id{i};
    if (!counted(input, id)) continue;
    out.rows.push_back({std::string(paths.path(id)), defs.contexts[id].region, id, {}, 1});
    groups.all.push_back({id});
  }
  groups.outermost = groups.all;
  FATHOM_CHECK(fill(profile, input, groups, out));
  return out;
}

// A row per thread, process or node.
Result<FlatProfile> flat_by_system(const Profile& profile, const ViewInput& input, SystemLevel level) {
  const Definitions& defs = profile.defs();
  const std::vector<bool> taken = standing_for_themselves(defs.contexts, input);
  const Groups groups =
      make_groups(defs.contexts, 1, [&](ContextId id) { return taken[id.index()] ? 0 : TreeView::kNone; });
  std::vector<std::vector<LocationId>> columns;
  FlatProfile out;
  for (SystemGroup& group : system_groups(defs.system, level, input.locations)) {
    const LocationId first = level == SystemLevel::thread ? group.locations.front() : LocationId();
    out.rows.push_back({std::move(group.name), {}, {}, first, groups.all[0].size()});
    columns.push_back(std::move(group.locations));
  }
  const auto column = [&](const Flavour& flavour, const std::vector<ContextId>& contexts) -> Result<Cells> {
    Cells turned(defs.metric(input.metric).type, columns.size(), 1);
    if (contexts.empty() || columns.empty()) return turned;
    FATHOM_TRY(const Cells row, compute_groups(profile, input.metric, flavour, {{contexts}, columns}));
    for (std::size_t i = 0; i < columns.size(); ++i) turned.add_cell(i, 0, row, 0, i, true);
    return turned;
  };
  FATHOM_TRY(out.exclusive, column(kExclusive, groups.all[0]));
  FATHOM_TRY(out.inclusive, column(kInclusive, groups.outermost[0]));
  out.inclusive_sum = out.inclusive;
  return out;
}

}  // namespace

ContextFilter region_filter(const Definitions& defs, std::vector<std::string> patterns,
                            std::vector<std::string> exclude) {
  if (patterns.empty() && exclude.empty()) return {};
  std::vector<bool> accepted(defs.regions.size());
  for (std::size_t i = 0; i < defs.regions.size(); ++i) {
    const std::string& name = defs.regions[i].name;
    const std::string readable = demangle(name);
    const auto any = [&](const std::vector<std::string>& list) {
      return std::any_of(list.begin(), list.end(), [&](const std::string& pattern) {
        return matches_pattern(pattern, name) || matches_pattern(pattern, readable);
      });
    };
    accepted[i] = (patterns.empty() || any(patterns)) && !any(exclude);
  }
  return [&defs, accepted = std::move(accepted)](ContextId id) { return accepted[defs.contexts[id].region.index()]; };
}

std::vector<std::size_t> FlatProfile::ranking(bool by_inclusive) const {
  const Cells& cells = by_inclusive ? inclusive : exclusive;
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  const auto weight = [&](std::size_t row) {
    const double value = std::abs(cells.scalar(row, 0));
    return std::isnan(value) ? -1 : value;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
  return order;
}

Result<FlatProfile> flat_profile(const Profile& profile, const ViewInput& input, GroupBy by) {
  switch (by) {
    case GroupBy::region:
      return flat_by_region(profile, input);
    case GroupBy::context:
      return flat_by_context(profile, input);
    case GroupBy::file:
      return flat_by_text(profile, input, &Region::file);
    case GroupBy::module:
      return flat_by_text(profile, input, &Region::module);
    case GroupBy::process:
      return flat_by_system(profile, input, SystemLevel::process);
    case GroupBy::node:
      return flat_by_system(profile, input, SystemLevel::node);
    case GroupBy::location:
      break;
  }
  return flat_by_system(profile, input, SystemLevel::thread);
}

std::vector<std::uint32_t> TreeView::roots() const {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < nodes.size(); i = nodes[i].end) out.push_back(i);
  return out;
}

std::vector<std::uint32_t> TreeView::children(std::uint32_t node) const {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = node + 1; i < nodes[node].end; i = nodes[i].end) out.push_back(i);
  return out;
}

Result<TreeView> top_down(const Profile& profile, const ViewInput& input) {
  const ContextTree& tree = profile.defs().contexts;
  std::vector<bool> keep(tree.size(), !input.filter);
  for (std::size_t i = tree.size(); i-- > 0 && input.filter;) {
    const ContextId id{i};
    if (input.filter(id)) keep[i] = true;
    if (keep[i] && tree[id].parent.valid()) keep[tree[id].parent.index()] = true;
  }
  TreeView out;
  std::vector<std::uint32_t> number(tree.size(), TreeView::kNone);
  std::vector<std::vector<ContextId>> rows;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (!keep[i]) continue;
    const Context& context = tree[ContextId{i}];
    number[i] = static_cast<std::uint32_t>(out.nodes.size());
    const std::uint32_t parent = context.parent.valid() ? number[context.parent.index()] : TreeView::kNone;
    out.nodes.push_back({parent, 0, context.depth, context.region, ContextId{i}, 1, {}});
    rows.push_back({ContextId{i}});
  }
  for (std::size_t i = out.nodes.size(); i-- > 0;) {
    TreeView::Node& node = out.nodes[i];
    node.end = std::max(node.end, static_cast<std::uint32_t>(i + 1));
    if (node.parent != TreeView::kNone) out.nodes[node.parent].end = std::max(out.nodes[node.parent].end, node.end);
  }
  if (!input.filter) rows.clear();  // all contexts: no groups needed
  if (out.nodes.empty()) {
    out.exclusive = out.inclusive = Cells(profile.defs().metric(input.metric).type, 0, 1);
    return out;
  }
  FATHOM_TRY(std::vector<Cells> columns, compute_groups(profile, input.metric, {{kExclusive, rows}, {kInclusive, rows}},
                                                        locations_of(profile, input)));
  out.exclusive = std::move(columns[0]);
  out.inclusive = std::move(columns[1]);
  return out;
}

Result<TreeView> bottom_up(const Profile& profile, const ViewInput& input, std::size_t depth) {
  const ContextTree& tree = profile.defs().contexts;
  const std::size_t regions = profile.defs().regions.size();
  ContextTreeBuilder builder;
  std::vector<ContextTreeBuilder::Handle> root_of(regions, ContextTreeBuilder::kRoot);
  std::vector<std::uint32_t> open_until(regions, 0);
  std::unordered_map<std::uint64_t, ContextTreeBuilder::Handle> known;  // (node, caller's region) -> node
  Groups groups;
  const auto add = [&](ContextTreeBuilder::Handle parent, RegionId region) {
    groups.all.emplace_back();
    groups.outermost.emplace_back();
    return builder.add(parent, region, builder.size());
  };
  // Every context is in as many nodes as it has callers: of deep trees far more than there are contexts.
  std::vector<Budget::Reservation> reserved;
  std::uint64_t charged_nodes = 0;
  std::uint64_t entries = 0;
  const auto charge = [&]() -> Result<void> {
    constexpr std::uint64_t kPerNode = 512;  // in all that is made of it, here and in the view
    constexpr std::uint64_t kPerEntry = 2 * sizeof(ContextId);
    const std::uint64_t bytes = (builder.size() - charged_nodes) * kPerNode + entries * kPerEntry;
    if (bytes < std::uint64_t{1} << 20) return {};
    FATHOM_TRY(auto more, profile.work->budget.reserve(bytes, "the tree from the callees up"));
    reserved.push_back(std::move(more));
    charged_nodes = builder.size();
    entries = 0;
    return {};
  };
  const std::vector<bool> taken = standing_for_themselves(tree, input);
  const auto caller_of = [&](ContextId id) {
    const ContextId parent = tree[id].parent;
    return parent.valid() ? function_of(tree, parent) : parent;
  };
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    const ContextId id{i};
    if (!taken[i]) continue;
    const RegionId region = tree[id].region;
    const bool outermost = i >= open_until[region.index()];
    if (outermost) open_until[region.index()] = tree[id].end;
    if (root_of[region.index()] == ContextTreeBuilder::kRoot) {
      root_of[region.index()] = add(ContextTreeBuilder::kRoot, region);
    }
    ContextTreeBuilder::Handle node = root_of[region.index()];
    ContextId caller = caller_of(id);
    for (std::size_t level = 0;; ++level) {
      groups.all[node].push_back(id);
      if (outermost) groups.outermost[node].push_back(id);
      ++entries;
      if (!caller.valid() || level >= depth) break;
      const RegionId by = tree[caller].region;
      const auto [at, fresh] = known.emplace(std::uint64_t{node} << 32 | by.value, 0);
      if (fresh) at->second = add(node, by);
      node = at->second;
      caller = caller_of(caller);
    }
    FATHOM_CHECK(charge());
  }
  std::vector<ContextId> numbers;
  const ContextTree shape = std::move(builder).build(&numbers);
  Groups sorted{std::vector<std::vector<ContextId>>(numbers.size()),
                std::vector<std::vector<ContextId>>(numbers.size())};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sorted.all[numbers[i].index()] = std::move(groups.all[i]);
    sorted.outermost[numbers[i].index()] = std::move(groups.outermost[i]);
  }
  TreeView out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Context& node = shape[ContextId{i}];
    const auto& members = sorted.all[i];
    out.nodes.push_back({node.parent.valid() ? node.parent.value : TreeView::kNone,
                         node.end,
                         node.depth,
                         node.region,
                         members.size() == 1 ? members[0] : ContextId(),
                         members.size(),
                         {}});
  }
  if (sorted.all.empty()) {
    out.exclusive = out.inclusive = Cells(profile.defs().metric(input.metric).type, 0, 1);
    return out;
  }
  FATHOM_TRY(std::vector<Cells> columns,
             compute_groups(profile, input.metric,
                            {{kExclusive, std::move(sorted.all)}, {kInclusive, std::move(sorted.outermost)}},
                            locations_of(profile, input)));
  out.exclusive = std::move(columns[0]);
  out.inclusive = std::move(columns[1]);
  return out;
}

std::vector<std::uint32_t> hot_path(const TreeView& view, double share, std::vector<std::uint32_t> start) {
  const auto weight = [&](std::uint32_t node) {
    const double value = view.inclusive.scalar(node, 0);
    return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  };
  const auto heaviest = [&](const std::vector<std::uint32_t>& list) {
    return *std::max_element(list.begin(), list.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return weight(a) < weight(b); });
  };
  std::vector<std::uint32_t> path;
  std::vector<std::uint32_t> next = start.empty() ? view.roots() : std::move(start);
  while (!next.empty()) {
    const std::uint32_t node = heaviest(next);
    const double value = view.inclusive.scalar(node, 0);
    if (!path.empty() && !(value >= share * view.inclusive.scalar(path.back(), 0) && value > 0)) break;
    path.push_back(node);
    next = view.children(node);
  }
  return path;
}

Result<Value> metric_total(const Profile& profile, MetricId metric, const std::vector<LocationId>& locations) {
  const ViewInput input{metric, locations, {}};
  std::vector<ContextId> roots = profile.defs().contexts.roots();
  if (roots.empty()) return Value(profile.defs().metric(metric).type, Int128{0});
  FATHOM_TRY(const Cells cells, one_column(profile, input, kInclusive, {std::move(roots)}));
  return cells.at(0, 0);
}

// Stored numbers do; of what is derived the parts are looked at: a ratio's are not its sum.
bool adds_up(const Profile& profile, MetricId metric) {
  const Definitions& defs = profile.defs();
  if (!defs.metric(metric).type.is_plain_number()) return false;
  if (!defs.metric(metric).derived()) return true;
  const auto total = metric_total(profile, metric, {});
  if (!total.ok()) return false;
  const auto sums_up = [&](const Selection& selection) {
    const auto cells = compute(profile, metric, selection);
    if (!cells.ok()) return false;
    double sum = 0;
    double size = 0;
    for (std::size_t row = 0; row < cells->rows(); ++row) {
      for (std::size_t column = 0; column < cells->columns(); ++column) {
        sum += cells->scalar(row, column);
        size += std::abs(cells->scalar(row, column));
      }
    }
    constexpr double kRounding = 1e-6;
    return std::abs(sum - total->scalar()) <= kRounding * size;
  };
  const IndexRange all = all_locations(defs);
  return sums_up({.flavour = {Flavour::Kind::own, {}}, .contexts = {}, .locations = all, .aggregate = true}) &&
         sums_up({.flavour = kInclusive, .contexts = defs.contexts.roots(), .locations = all});
}

}  // namespace fathom
