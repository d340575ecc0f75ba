#include "trace/summary/activity.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace fathom::summary {

std::uint32_t Contexts::child(std::uint32_t parent, Step step) {
  const auto [found, fresh] = index_.try_emplace({parent, step}, static_cast<std::uint32_t>(nodes_.size()));
  if (fresh) nodes_.push_back(made(nodes_, parent, step));
  return found->second;
}

// Far steps are as long as two of equal length before them together and one more, otherwise as short as can be: so
// any depth is reached in a few steps (Myers' random access lists).
Contexts::Node Contexts::made(std::span<const Node> nodes, std::uint32_t parent, Step step) {
  if (parent == kNothing) return {parent, 0, step, static_cast<std::uint32_t>(nodes.size())};
  const std::uint32_t far = nodes[parent].far;
  const std::uint32_t farther = nodes[far].far;
  const bool equal = nodes[parent].depth - nodes[far].depth == nodes[far].depth - nodes[farther].depth;
  return {parent, nodes[parent].depth + 1, step, equal ? farther : parent};
}

std::vector<bool> outermost(std::span<const Contexts::Node> nodes, std::span<const std::uint32_t> numbers) {
  // Children as lists: parents come first, so that going backwards leaves each list in order.
  std::vector<std::uint32_t> child(nodes.size(), kNothing);
  std::vector<std::uint32_t> next(nodes.size(), kNothing);
  std::uint32_t top = kNothing;
  std::uint32_t most = 0;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    std::uint32_t& first = nodes[i].parent == kNothing ? top : child[nodes[i].parent];
    next[i] = first;
    first = static_cast<std::uint32_t>(i);
    most = std::max(most, numbers[i] + 1);
  }
  std::vector<std::uint32_t> open(most, 0);  // how many of a number are around, the one that is looked at included
  std::vector<bool> out(nodes.size(), false);
  for (std::uint32_t at = top; at != kNothing;) {
    out[at] = open[numbers[at]]++ == 0;
    if (child[at] != kNothing) {
      at = child[at];
      continue;
    }
    while (at != kNothing) {
      --open[numbers[at]];
      if (next[at] != kNothing) break;
      at = nodes[at].parent;
    }
    if (at != kNothing) at = next[at];
  }
  return out;
}

Activity::Activity(const Trace& trace, Contexts& contexts, ChannelId channel)
    : trace_(trace), contexts_(contexts), channel_(channel) {
  for (const Region& region : trace.definitions().regions) {
    is_call_.push_back(equal_ignoring_case(region.paradigm, "mpi") ? 1 : 0);
  }
}

std::uint32_t Activity::compute() { return contexts_.child(kNothing, {StepKind::compute, 0}); }

// Functions only: loops and lines belong to theirs.
std::uint32_t Activity::first_sampled(ContextId found) {
  const ContextTree& tree = trace_.definitions().contexts;
  if (found.index() >= tree.size()) return kNothing;
  if (sampled_.empty()) sampled_.assign(tree.size(), kUnseen);
  ContextId context = found;
  std::vector<std::int64_t> regions;
  for (; context.valid(); context = tree[context].parent) {
    const Context& node = tree[context];
    if (node.edge != Edge::lexical && node.region.valid()) regions.push_back(node.region.value);
  }
  std::uint32_t at = kNothing;
  for (std::size_t i = regions.size(); i-- > 0;) at = contexts_.child(at, {StepKind::region, regions[i]});
  return sampled_[found.index()] = at;
}

std::vector<SampledContext> Activity::sampled_contexts() const {
  std::vector<SampledContext> out;
  for (std::size_t i = 0; i < sampled_.size(); ++i) {
    if (sampled_[i] != kUnseen) out.push_back({static_cast<std::uint32_t>(i), sampled_[i]});
  }
  return out;
}

bool Activity::enter(std::uint32_t region) {
  auto& open = tasks_.open();
  std::uint32_t above = open.empty() ? kNothing : open.back().context;
  if (open.empty() && region < is_call_.size() && is_call_[region] != 0) above = compute();
  const std::uint32_t context = contexts_.child(above, {StepKind::region, region});
  open.push_back({region, context});
  return set(context);
}

// What is open above the region is left with it; a leave of what is not open changes nothing.
bool Activity::leave(std::uint32_t region) {
  auto& open = tasks_.open();
  for (std::size_t i = open.size(); i-- > 0;) {
    if (open[i].region != region) continue;
    open.resize(i);
    return set_by_stack();
  }
  return false;
}

bool Activity::marker(const Event& event) {
  const bool switched = tasks_.take(trace_.meaning(event), event.value, [](const auto&) {});
  return switched && !(samples_ && tasks_.open().empty()) && set_by_stack();
}

bool Activity::take(const Event& event) {
  if (channel_.valid()) {
    if (event.kind != EventKind::state || event.channel() != channel_) return false;
    return set(event.has_value ? contexts_.child(kNothing, {StepKind::value, event.value}) : kNothing);
  }
  switch (event.kind) {
    case EventKind::enter:
      return enter(event.name);
    case EventKind::leave:
      return leave(event.name);
    case EventKind::sample:
      return take_sample(event.context());
    case EventKind::marker:
      if (marker(event)) return true;
      [[fallthrough]];
    default:
      // Before its first region a location computes.
      return current_ == kNothing && tasks_.open().empty() && !samples_ && event.has_time && set(compute());
  }
}

}  // namespace fathom::summary
