// A profile looked at from other sides than its call tree: flat, from the callees up, along the hot path.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/compute.hpp"

namespace fathom {

// Which contexts take part; empty = all.
using ContextFilter = std::function<bool(ContextId)>;

// Contexts whose region's name (as stored, or demangled) matches one of the shell patterns; a pattern without * or ?
// must be the whole name. `exclude` are those that must not match.
ContextFilter region_filter(const Definitions& defs, std::vector<std::string> patterns,
                            std::vector<std::string> exclude = {});

// What the values of a view are made from.
struct ViewInput {
  MetricId metric;
  std::vector<LocationId> locations;  // empty: all
  ContextFilter filter;               // contexts that are counted
};

enum class GroupBy : std::uint8_t { region, context, file, module, location, process, node };

// A flat profile: one row per group. Values of all locations are combined, save when the rows are locations. Loops and
// lines count as part of their function, save where the rows are contexts or the filter leaves the function out.
struct FlatProfile {
  struct Row {
    std::string name;  // region, file or module name; path of a context; label of a location, process or node
    RegionId region;   // of rows that are regions or contexts
    ContextId context;
    LocationId location;
    std::size_t contexts = 0;  // how many contexts make the row
  };
  std::vector<Row> rows;
  Cells exclusive;      // one column
  Cells inclusive;      // one column; a group that calls itself counts its outermost contexts only
  Cells inclusive_sum;  // one column; inclusive values of all its contexts added, so that recursion counts again
  // Row numbers, falling by |exclusive| or |inclusive|; equal ones in row order.
  [[nodiscard]] std::vector<std::size_t> ranking(bool by_inclusive) const;
};

// Regions that no counted context calls have no row. Post-derived metrics are worked out for each group.
Result<FlatProfile> flat_profile(const Profile& profile, const ViewInput& input, GroupBy by);

// A tree of its own with one exclusive and one inclusive value per node, numbered depth first.
struct TreeView {
  struct Node {
    std::uint32_t parent = kNone;
    std::uint32_t end = 0;  // the subtree is [own number, end)
    std::uint32_t depth = 0;
    RegionId region;           // invalid where it stands for many: `label` says for what
    ContextId context;         // the only one, when it stands for one
    std::size_t contexts = 0;  // how many contexts it stands for
    std::string label;
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::vector<Node> nodes;
  Cells exclusive;  // one column
  Cells inclusive;  // one column
  [[nodiscard]] std::vector<std::uint32_t> roots() const;
  [[nodiscard]] std::vector<std::uint32_t> children(std::uint32_t node) const;
};

// The call tree as it is. A filter keeps the contexts it accepts and all that lie above them.
Result<TreeView> top_down(const Profile& profile, const ViewInput& input);

// From the callees up: roots are functions, children the functions that call them, and so on. A node's exclusive value
// is the part of the root region's exclusive value that came by this chain of callers; inclusive likewise (outermost
// calls only). At most `depth` levels below the roots are made.
Result<TreeView> bottom_up(const Profile& profile, const ViewInput& input, std::size_t depth = 64);

// Static structure: modules, their files, the functions in them, and the loops and lines of those. Where a node lies
// below another one of the same kind and name in the call tree, only the outermost counts for its inclusive value.
Result<TreeView> by_module(const Profile& profile, const ViewInput& input);

// From the heaviest root (or node of `start`) down: the child with the largest inclusive value, as long as it has at
// least `share` of its parent's. Node numbers of the view.
std::vector<std::uint32_t> hot_path(const TreeView& view, double share = 0.5, std::vector<std::uint32_t> start = {});

// Sum of the roots' inclusive values, all of them: what percentages refer to.
Result<Value> metric_total(const Profile& profile, MetricId metric, const std::vector<LocationId>& locations);

// Whether what contexts and locations take of a metric sums up to its total, so that it may be called a share of it.
bool adds_up(const Profile& profile, MetricId metric);

}  // namespace fathom
