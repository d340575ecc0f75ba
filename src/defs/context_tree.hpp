// The calling-context tree. Contexts are numbered in depth-first pre-order, so that a subtree is a range of numbers
// and parents come before their children: inclusive sums are one backward loop.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "defs/attributes.hpp"
#include "defs/region.hpp"

namespace fathom {

using ContextId = Id<struct ContextTag>;

// How a context hangs below its parent. "Exclusive" covers what is lexically nested (loop, line, instruction) and ends
// at calls, inlined ones too: an inlined function is a function of its own.
enum class Edge : std::uint8_t { call, inlined_call, lexical };

struct Context {
  ContextId parent;  // invalid for roots
  RegionId region;
  std::uint32_t end = 0;    // the subtree is [own id, end)
  std::uint32_t depth = 0;  // roots: 0
  Edge edge = Edge::call;
  std::int64_t line = -1;     // of the call site or statement; -1 = not known
  std::uint64_t file_id = 0;  // the id the file uses
};

// A parameter of a context: the same code called with other values is another context.
struct ContextParameter {
  std::string key;
  std::variant<double, std::string> value;
  friend bool operator==(const ContextParameter&, const ContextParameter&) = default;
};

// What few contexts have; kept beside the tree.
struct ContextDetails {
  std::string file;  // of the call site
  std::vector<ContextParameter> parameters;
  Attributes attributes;
  friend bool operator==(const ContextDetails&, const ContextDetails&) = default;
};

// MT: safe (const).
class ContextTree {
 public:
  [[nodiscard]] std::size_t size() const { return contexts_.size(); }
  [[nodiscard]] const Context& operator[](ContextId id) const { return contexts_[id.index()]; }
  [[nodiscard]] std::span<const Context> all() const { return contexts_; }
  [[nodiscard]] std::vector<ContextId> roots() const;
  [[nodiscard]] std::vector<ContextId> children(ContextId id) const;
  // First child, or next sibling at the same level; invalid when there is none.
  [[nodiscard]] ContextId first_child(ContextId id) const;
  [[nodiscard]] ContextId next_sibling(ContextId id) const;
  [[nodiscard]] const ContextDetails& details(ContextId id) const;
  // By the id the file uses; invalid when unknown.
  [[nodiscard]] ContextId find(std::uint64_t file_id) const;
  // True when every edge is a call, so that own and exclusive values are the same.
  [[nodiscard]] bool only_calls() const { return only_calls_; }

 private:
  friend class ContextTreeBuilder;
  std::vector<Context> contexts_;
  std::unordered_map<std::uint32_t, ContextDetails> details_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_file_id_;
  bool only_calls_ = true;
};

// Takes contexts in any order in which parents come first, and numbers them.
class ContextTreeBuilder {
 public:
  using Handle = std::uint32_t;
  static constexpr Handle kRoot = 0xFFFFFFFF;

  Handle add(Handle parent, RegionId region, std::uint64_t file_id, std::int64_t line = -1, Edge edge = Edge::call);
  ContextDetails& details(Handle handle) { return details_[handle]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

  // Children keep the order in which they were added. `numbers`, when given, receives the id of every handle.
  ContextTree build(std::vector<ContextId>* numbers = nullptr) &&;

 private:
  struct Node {
    Handle parent;
    RegionId region;
    Edge edge;
    std::int64_t line;
    std::uint64_t file_id;
  };
  std::vector<Node> nodes_;
  std::unordered_map<Handle, ContextDetails> details_;
};

}  // namespace fathom
