#include "trace/analysis/compute_paths.hpp"

namespace fathom::analysis {

std::uint32_t PathTable::child(std::uint32_t parent, std::uint32_t region) {
  const std::uint64_t key = std::uint64_t{parent} << 32 | region;
  const auto [found, is_new] = children_.try_emplace(key, static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) nodes_.emplace_back(parent, region);
  return found->second;
}

std::uint32_t PathTable::find(std::uint32_t parent, std::uint32_t region) const {
  const auto found = children_.find(std::uint64_t{parent} << 32 | region);
  return found == children_.end() ? kNoPath : found->second;
}

std::vector<std::uint32_t> PathTable::merge(const PathTable& other) {
  std::vector<std::uint32_t> numbers(other.nodes_.size(), 0);
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    numbers[i] = child(numbers[other.nodes_[i].first], other.nodes_[i].second);
  }
  return numbers;
}

void PathStack::enter(const PathTable& table, std::uint32_t node) {
  stack_.push_back(node);
  open_.add(table.region(node));
}

void PathStack::leave(const PathTable& table, std::uint32_t region) {
  for (bool found = !open_.has(region); !found; stack_.pop_back()) {
    const std::uint32_t innermost = table.region(stack_.back());
    found = innermost == region;
    open_.remove(innermost);
  }
}

void ComputePaths::pass(std::int64_t now) {
  if (begun_ && now > since_ && stack_.top() != 0) gap_.add(stack_.top(), now - since_);
  since_ = now;
}

void ComputePaths::end_gap(std::uint32_t next, LargeArray<PathTime>& out) {
  for (const std::uint32_t path : gap_.paths()) out.push_back({gap_[path], next, path});
  gap_.clear();
}

void ComputePaths::enter(std::uint32_t region, std::int64_t now) {
  pass(now);
  stack_.enter(*table_, table_->child(stack_.top(), region));
}

void ComputePaths::leave(std::uint32_t region, std::int64_t now) {
  pass(now);
  stack_.leave(*table_, region);
}

// As everywhere in the analysis nothing counts before the first call.
void ComputePaths::pause(std::int64_t now) { pass(now); }
void ComputePaths::resume(std::int64_t now) {
  begun_ = true;
  since_ = now;
}

}  // namespace fathom::analysis
