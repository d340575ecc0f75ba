#include "profile/export/call_graph.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/capped_sum.hpp"
#include "base/text.hpp"
#include "profile/compute.hpp"

namespace fathom {

namespace {

// Visits may be any number of a file; what is none counts for nothing.
std::int64_t whole(double value) {
  constexpr double kLargest = 9.2e18;
  return std::isnan(value) ? 0 : static_cast<std::int64_t>(std::clamp(value, -kLargest, kLargest));
}

class Maker {
 public:
  Maker(const Profile& profile, const StackExport& values)
      : profile_(profile), defs_(profile.defs()), values_(values), metrics_(values.metrics().size()) {}

  Result<CallGraph> run() {
    name_nodes();
    graph_.sum.assign(metrics_, 0);
    FATHOM_CHECK(count_calls());
    std::vector<StackFrame> frames;
    FATHOM_CHECK(values_.visit([&](ContextId context, LocationId, std::span<const std::int64_t> values) {
      stack_of(defs_.contexts, context, frames);
      ++stamp_;
      for (std::size_t i = 0; i < frames.size(); ++i) {
        const std::uint32_t node = node_of_[frames[i].function.index()];
        if (i == 0) add(graph_.nodes[node].self, values);
        if (seen_node_[node] != stamp_) add(graph_.nodes[node].total, values);
        seen_node_[node] = stamp_;
        if (i == 0) continue;
        const std::uint32_t arc = this->arc(node, node_of_[frames[i - 1].function.index()]);
        if (seen_arc_[arc] != stamp_) add(graph_.arcs[arc].cost, values);
        seen_arc_[arc] = stamp_;
      }
      add(graph_.sum, values);
      return Result<void>();
    }));
    if (given_arcs_) take_given_arcs();
    return std::move(graph_);
  }

 private:
  static void add(std::vector<std::int64_t>& to, std::span<const std::int64_t> values) {
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = CappedSum(to[i]) += values[i];
  }

  // Functions of the same name, file and module are one.
  void name_nodes() {
    std::unordered_map<std::string, std::uint32_t> index;
    node_of_.resize(defs_.contexts.size());
    static const Region kNone;
    for (std::size_t i = 0; i < defs_.contexts.size(); ++i) {
      const Context& context = defs_.contexts[ContextId(i)];
      if (context.edge == Edge::lexical && context.parent.valid()) continue;
      const Region& region = context.region.valid() ? defs_.region(context.region) : kNone;
      std::string name = frame_name(defs_, ContextId(i));
      std::string key = name + '\0' + region.file + '\0' + region.module;
      const auto [at, fresh] = index.try_emplace(std::move(key), static_cast<std::uint32_t>(graph_.nodes.size()));
      node_of_[i] = at->second;
      for (const auto& [attribute, text] : defs_.contexts.details(ContextId(i)).attributes) {
        given_arcs_ = given_arcs_ || attribute == kCallAttribute;
      }
      if (!fresh) continue;
      CallGraph::Node node;
      node.name = std::move(name);
      node.file = region.file;
      node.module = region.module;
      node.line = region.begin_line;
      node.self.assign(metrics_, 0);
      node.total.assign(metrics_, 0);
      graph_.nodes.push_back(std::move(node));
    }
    seen_node_.assign(graph_.nodes.size(), 0);
  }

  std::uint32_t arc(std::uint32_t from, std::uint32_t to) {
    const auto [at, fresh] =
        arc_index_.try_emplace(std::uint64_t{from} << 32 | to, static_cast<std::uint32_t>(graph_.arcs.size()));
    if (fresh) {
      graph_.arcs.push_back({from, to, {}, std::vector<std::int64_t>(metrics_, 0)});
      seen_arc_.push_back(0);
    }
    return at->second;
  }

  // From visits where there are any.
  Result<void> count_calls() {
    MetricId visits;
    for (const char* name : {"visits", "calls"}) {
      if (const MetricId id = defs_.find_metric(name); id.valid() && !visits.valid()) visits = id;
    }
    graph_.counts_calls =
        visits.valid() && defs_.metric(visits).type.is_plain_number() && why_unavailable(profile_, visits).empty();
    Cells counted;
    if (graph_.counts_calls) {
      Selection selection;
      selection.flavour.kind = defs_.contexts.only_calls() ? Flavour::Kind::exclusive : Flavour::Kind::own;
      selection.locations = all_locations(defs_);
      selection.aggregate = true;
      FATHOM_TRY(counted, compute(profile_, visits, selection));
    }
    for (std::size_t i = 0; i < defs_.contexts.size(); ++i) {
      const Context& context = defs_.contexts[ContextId(i)];
      if (context.edge == Edge::lexical && context.parent.valid()) continue;
      const std::int64_t calls = graph_.counts_calls ? whole(counted.scalar(i, 0)) : 1;
      graph_.nodes[node_of_[i]].calls += calls;
      ContextId caller = context.parent;
      while (caller.valid() && defs_.contexts[caller].edge == Edge::lexical && defs_.contexts[caller].parent.valid()) {
        caller = defs_.contexts[caller].parent;
      }
      if (caller.valid()) graph_.arcs[arc(node_of_[caller.index()], node_of_[i])].calls += calls;
    }
    return {};
  }

  // A graph that has no paths: arcs are as the file has them, totals follow from what is called.
  void take_given_arcs() {
    for (std::size_t i = 0; i < defs_.contexts.size(); ++i) {
      for (const auto& [key, text] : defs_.contexts.details(ContextId(i)).attributes) {
        if (key != kCallAttribute) continue;
        std::vector<std::int64_t> numbers;
        for (const std::string_view word : split(std::string_view(text), ' ')) {
          numbers.push_back(parse_integer<std::int64_t>(word).value_or(0));
        }
        if (numbers.size() < 2 || numbers[0] < 0) continue;
        const ContextId callee = defs_.contexts.find(static_cast<std::uint64_t>(numbers[0]));
        if (!callee.valid()) continue;
        const std::uint32_t at = arc(node_of_[i], node_of_[callee.index()]);
        CallGraph::Arc& made = graph_.arcs[at];
        made.calls += numbers[1];
        for (std::size_t m = 0; m < metrics_; ++m) {
          const std::size_t place = 2 + values_.metrics()[m].id.index();
          if (place < numbers.size()) made.cost[m] = CappedSum(made.cost[m]) += numbers[place];
        }
      }
    }
    for (const CallGraph::Arc& made : graph_.arcs) {
      if (made.from != made.to) add(graph_.nodes[made.from].total, made.cost);
    }
  }

  const Profile& profile_;
  const Definitions& defs_;
  const StackExport& values_;
  std::size_t metrics_;
  CallGraph graph_;
  std::vector<std::uint32_t> node_of_;  // by context; not of lexical ones
  std::unordered_map<std::uint64_t, std::uint32_t> arc_index_;
  std::vector<std::uint64_t> seen_node_, seen_arc_;
  std::uint64_t stamp_ = 0;
  bool given_arcs_ = false;
};

}  // namespace

Result<CallGraph> call_graph(const Profile& profile, const StackExport& values) { return Maker(profile, values).run(); }

}  // namespace fathom
