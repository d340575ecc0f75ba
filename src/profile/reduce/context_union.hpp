// The trees of all locations as one, in the order of the locations: the outcome does not depend on who was done first.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "profile/reduce/location_reducer.hpp"

namespace fathom::reduction {

class ContextUnion {
 public:
  explicit ContextUnion(const Rules& rules);

  // The node of the whole for every node of the tree.
  std::vector<std::uint32_t> add(const LocationTree& tree);

  struct Numbered {
    ContextTree contexts;
    std::vector<Region> regions;
    std::vector<ContextId> context_of_node;
  };
  // Contexts are numbered depth first.
  Numbered number() &&;

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  static constexpr std::uint64_t kNodeBytes = 200;  // of a node, its context and the indices

 private:
  struct Node {
    std::uint32_t parent = kNoNode;
    RegionId region;
    std::int64_t line = -1;
    Edge edge = Edge::call;
  };
  std::uint32_t below(std::uint32_t parent, RegionId region);
  std::uint32_t sampled(ContextId context);
  RegionId region_of(const LocationTree& tree, Step step);
  RegionId made(StepKind kind, std::int64_t id, std::uint32_t channel = 0);
  [[nodiscard]] Region describe(StepKind kind, std::int64_t id, std::uint32_t channel) const;

  const Rules& rules_;
  std::vector<Region> regions_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and region
  std::vector<std::uint32_t> sampled_;                         // by context of the trace
  std::map<std::tuple<StepKind, std::uint32_t, std::int64_t>, RegionId> made_;
};

}  // namespace fathom::reduction
