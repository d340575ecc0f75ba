#include "profile/reduce/context_union.hpp"

#include <fmt/format.h>

#include "trace/samples.hpp"

namespace fathom::reduction {

ContextUnion::ContextUnion(const Rules& rules) : rules_(rules), regions_(rules.trace.definitions().regions) {}

std::uint32_t ContextUnion::below(std::uint32_t parent, RegionId region) {
  const auto [at, is_new] =
      children_.try_emplace(std::uint64_t{parent} << 32 | region.value, static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({parent, region});
  return at->second;
}

// The context of a sample and all its callers.
std::uint32_t ContextUnion::sampled(ContextId context) {
  const ContextTree& tree = rules_.trace.definitions().contexts;
  if (sampled_.empty()) sampled_.assign(tree.size(), kNoNode);
  std::vector<ContextId> missing;
  ContextId at = context;
  for (; at.valid() && sampled_[at.index()] == kNoNode; at = tree[at].parent) missing.push_back(at);
  std::uint32_t parent = at.valid() ? sampled_[at.index()] : kNoNode;
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    const Context& one = tree[*it];
    nodes_.push_back({parent, one.region, one.line, one.edge});
    parent = static_cast<std::uint32_t>(nodes_.size() - 1);
    sampled_[it->index()] = parent;
  }
  return sampled_[context.index()];
}

Region ContextUnion::describe(StepKind kind, std::int64_t id, std::uint32_t channel) const {
  const Trace& trace = rules_.trace;
  Region region;
  region.role = "artificial";
  switch (kind) {
    case StepKind::state: {
      const Channel& of = trace.channels()[channel];
      const auto label = of.values.find(id);
      region.name = label != of.values.end() ? label->second : fmt::format("{} {}", of.name, id);
      region.role = "state";
      region.paradigm = of.name;
      break;
    }
    case StepKind::communicator: {
      const auto& all = trace.communicators();
      const auto number = static_cast<std::size_t>(id);
      const bool named = number < all.size() && !all[number].name.empty();
      region.name = named ? all[number].name : fmt::format("communicator {}", id);
      break;
    }
    case StepKind::peer:
      region.name = id == kUnknownPeer ? "unknown peer" : fmt::format("peer {}", id);
      break;
    case StepKind::size: {
      const std::uint64_t first = id == 0 ? 0 : std::uint64_t{1} << (id - 1);
      region.name = id <= 1 ? fmt::format("{} bytes", first) : fmt::format("{} to {} bytes", first, 2 * first - 1);
      break;
    }
    case StepKind::several:
      region.name = rules_.split == MessageSplit::peer           ? "several peers"
                    : rules_.split == MessageSplit::communicator ? "several communicators"
                                                                 : "several sizes";
      break;
    case StepKind::idle:
      region.name = kNoActivity;
      break;
    case StepKind::compute: {
      if (rules_.channels.empty()) {
        region.name = "compute";
        break;
      }
      const Channel& of = trace.channels()[rules_.channels.front().index()];
      region.name = of.title.empty() ? of.name : of.title;
      break;
    }
    case StepKind::region:
    case StepKind::sample:
      region.name = "unknown region";
      break;
  }
  return region;
}

RegionId ContextUnion::made(StepKind kind, std::int64_t id, std::uint32_t channel) {
  const auto [at, is_new] = made_.try_emplace({kind, channel, id}, RegionId(regions_.size()));
  if (is_new) regions_.push_back(describe(kind, id, channel));
  return at->second;
}

RegionId ContextUnion::region_of(const LocationTree& tree, Step step) {
  const std::uint32_t id = id_of(step);
  switch (kind_of(step)) {
    case StepKind::region:
      if (id < rules_.trace.definitions().regions.size()) return RegionId(id);
      return made(StepKind::region, 0);
    case StepKind::state:
      return made(StepKind::state, tree.states()[id].value, tree.states()[id].channel);
    case StepKind::peer:
      return made(StepKind::peer, static_cast<std::int32_t>(id));
    default:
      return made(kind_of(step), id);
  }
}

std::vector<std::uint32_t> ContextUnion::add(const LocationTree& tree) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(tree.nodes().size());
  for (const LocationTree::Node& node : tree.nodes()) {
    if (kind_of(node.step) == StepKind::sample) {
      numbers.push_back(sampled(ContextId(id_of(node.step))));
    } else {
      const std::uint32_t parent = node.parent == kNoNode ? kNoNode : numbers[node.parent];
      numbers.push_back(below(parent, region_of(tree, node.step)));
    }
  }
  return numbers;
}

ContextUnion::Numbered ContextUnion::number() && {
  // Depth first, children in the order in which they were met.
  const std::size_t count = nodes_.size();
  std::vector<std::uint32_t> sizes(count, 1);
  for (std::size_t i = count; i-- > 0;) {
    if (nodes_[i].parent != kNoNode) sizes[nodes_[i].parent] += sizes[i];
  }
  std::vector<std::uint32_t> next(count);
  std::vector<std::uint32_t> number(count);
  std::vector<std::uint32_t> node_at(count);
  std::uint32_t next_root = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t& slot = nodes_[i].parent == kNoNode ? next_root : next[nodes_[i].parent];
    number[i] = slot;
    node_at[slot] = static_cast<std::uint32_t>(i);
    next[i] = slot + 1;
    slot += sizes[i];
  }
  Numbered out;
  ContextTreeBuilder builder;
  for (std::size_t id = 0; id < count; ++id) {
    const Node& node = nodes_[node_at[id]];
    const auto parent = node.parent == kNoNode ? ContextTreeBuilder::kRoot : number[node.parent];
    builder.add(parent, node.region, id, node.line, node.edge);
  }
  out.contexts = std::move(builder).build();
  out.regions = std::move(regions_);
  for (const std::uint32_t id : number) out.context_of_node.emplace_back(id);
  return out;
}

}  // namespace fathom::reduction
