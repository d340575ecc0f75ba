#include "profile/reduce/location_tree.hpp"

#include <algorithm>

namespace fathom::reduction {

std::uint32_t LocationTree::add(std::uint32_t parent, Step step) {
  nodes_.push_back({parent, step, {}});
  // At most half of the slots are taken.
  if (2 * nodes_.size() > slots_.size()) {
    const std::size_t size = std::max<std::size_t>(64, 2 * slots_.size());
    slots_.assign(size, 0);
    mask_ = size - 1;
    for (std::size_t i = 0; i + 1 < nodes_.size(); ++i) {
      std::size_t at = hash(nodes_[i].parent, nodes_[i].step) & mask_;
      while (slots_[at] != 0) at = (at + 1) & mask_;
      slots_[at] = static_cast<std::uint32_t>(i + 1);
    }
  }
  std::size_t at = hash(parent, step) & mask_;
  while (slots_[at] != 0) at = (at + 1) & mask_;
  slots_[at] = static_cast<std::uint32_t>(nodes_.size());
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

LocationTree::Counted& LocationTree::counted(std::uint32_t node, std::uint32_t metric) {
  if (2 * (counted_.size() + 1) > counted_slots_.size()) {
    counted_slots_.assign(std::max<std::size_t>(64, 2 * counted_slots_.size()), 0);
    for (std::size_t i = 0; i < counted_.size(); ++i) {
      std::size_t at = hash(counted_[i].node, counted_[i].metric) & (counted_slots_.size() - 1);
      while (counted_slots_[at] != 0) at = (at + 1) & (counted_slots_.size() - 1);
      counted_slots_[at] = static_cast<std::uint32_t>(i + 1);
    }
  }
  std::size_t at = hash(node, metric) & (counted_slots_.size() - 1);
  for (; counted_slots_[at] != 0; at = (at + 1) & (counted_slots_.size() - 1)) {
    Counted& found = counted_[counted_slots_[at] - 1];
    if (found.node == node && found.metric == metric) return found;
  }
  counted_.push_back({node, metric, 0, 0});
  counted_slots_[at] = static_cast<std::uint32_t>(counted_.size());
  return counted_.back();
}

std::uint32_t LocationTree::state(State state) {
  const auto [at, is_new] = state_index_.try_emplace(state, static_cast<std::uint32_t>(states_.size()));
  if (is_new) states_.push_back(state);
  return at->second;
}

}  // namespace fathom::reduction
