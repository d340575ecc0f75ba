#include "defs/context_tree.hpp"

namespace fathom {

std::vector<ContextId> ContextTree::roots() const {
  std::vector<ContextId> out;
  for (std::size_t i = 0; i < contexts_.size(); i = contexts_[i].end) out.emplace_back(i);
  return out;
}

std::vector<ContextId> ContextTree::children(ContextId id) const {
  std::vector<ContextId> out;
  for (ContextId child = first_child(id); child.valid(); child = next_sibling(child)) out.push_back(child);
  return out;
}

ContextId ContextTree::first_child(ContextId id) const {
  return contexts_[id.index()].end > id.value + 1 ? ContextId(id.index() + 1) : ContextId();
}

ContextId ContextTree::next_sibling(ContextId id) const {
  const Context& context = contexts_[id.index()];
  const std::size_t stop = context.parent.valid() ? contexts_[context.parent.index()].end : contexts_.size();
  return context.end < stop ? ContextId(context.end) : ContextId();
}

const ContextDetails& ContextTree::details(ContextId id) const {
  static const ContextDetails kNone;
  const auto found = details_.find(id.value);
  return found == details_.end() ? kNone : found->second;
}

ContextId ContextTree::find(std::uint64_t file_id) const {
  const auto found = by_file_id_.find(file_id);
  return found == by_file_id_.end() ? ContextId() : ContextId(found->second);
}

ContextTreeBuilder::Handle ContextTreeBuilder::add(Handle parent, RegionId region, std::uint64_t file_id,
                                                   std::int64_t line, Edge edge) {
  nodes_.push_back({parent, region, edge, line, file_id});
  return static_cast<Handle>(nodes_.size() - 1);
}

ContextTree ContextTreeBuilder::build(std::vector<ContextId>* numbers) && {
  const std::size_t count = nodes_.size();
  // Subtree sizes first (children come after their parents), then each child's number follows from its parent's and
  // its elder siblings' sizes: no recursion, whatever the depth.
  std::vector<std::uint32_t> sizes(count, 1);
  for (std::size_t i = count; i-- > 0;) {
    if (nodes_[i].parent != kRoot) sizes[nodes_[i].parent] += sizes[i];
  }
  std::vector<std::uint32_t> next_child(count);  // number that the next child of a node gets
  std::vector<ContextId> number(count);
  std::uint32_t next_root = 0;
  ContextTree tree;
  tree.contexts_.resize(count);
  tree.by_file_id_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Node& node = nodes_[i];
    std::uint32_t& slot = node.parent == kRoot ? next_root : next_child[node.parent];
    number[i] = ContextId(slot);
    slot += sizes[i];
    next_child[i] = number[i].value + 1;
    Context& context = tree.contexts_[number[i].index()];
    context.parent = node.parent == kRoot ? ContextId() : number[node.parent];
    context.depth = node.parent == kRoot ? 0 : tree.contexts_[context.parent.index()].depth + 1;
    context.region = node.region;
    context.end = number[i].value + sizes[i];
    context.edge = node.edge;
    context.line = node.line;
    context.file_id = node.file_id;
    if (node.edge != Edge::call) tree.only_calls_ = false;
    tree.by_file_id_.emplace(node.file_id, number[i].value);
  }
  for (auto& [handle, details] : details_) tree.details_.emplace(number[handle].value, std::move(details));
  if (numbers != nullptr) *numbers = std::move(number);
  return tree;
}

}  // namespace fathom
