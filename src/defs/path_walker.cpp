#include "defs/path_walker.hpp"

#include <fmt/format.h>

namespace fathom {

std::string_view PathWalker::path(ContextId id) {
  const ContextTree& tree = defs_.contexts;
  const std::size_t depth = tree[id].depth;
  if (depth >= kDeepest) return elided(id);
  std::vector<ContextId>& missing = missing_;
  missing.clear();
  for (ContextId at = id; at.valid(); at = tree[at].parent) {
    const std::size_t level = tree[at].depth;
    if (level < steps_.size() && steps_[level].first == at) break;
    missing.push_back(at);
  }
  steps_.resize(depth + 1 - missing.size());
  text_.resize(steps_.empty() ? 0 : steps_.back().second);
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    if (!steps_.empty()) text_ += kPathSeparator;
    text_ += defs_.context_name(*it);
    steps_.emplace_back(*it, text_.size());
  }
  return text_;
}

std::string_view PathWalker::elided(ContextId id) {
  const ContextTree& tree = defs_.contexts;
  constexpr std::size_t kEnd = kDeepest / 2;
  const std::size_t depth = tree[id].depth;
  std::vector<ContextId> tail;
  ContextId at = id;
  for (; tail.size() < kEnd; at = tree[at].parent) tail.push_back(at);
  // Neighbours mostly share the upper half; looking for it anew each time would cost the depth of the tree.
  if (!anchor_.valid() || id < anchor_ || id.value >= tree[anchor_].end) {
    while (tree[at].depth >= kEnd) at = tree[at].parent;
    anchor_ = at;
  }
  elided_ = path(anchor_);
  elided_ += fmt::format("{}…({} levels)…", kPathSeparator, depth + 1 - kDeepest);
  for (auto it = tail.rbegin(); it != tail.rend(); ++it) {
    elided_ += kPathSeparator;
    elided_ += defs_.context_name(*it);
  }
  return elided_;
}

}  // namespace fathom
