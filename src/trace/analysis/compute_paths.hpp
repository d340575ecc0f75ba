// Where the time between calls of the library goes: by call path of the program's own regions.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/large_array.hpp"
#include "trace/open_names.hpp"

namespace fathom::analysis {

// Call paths as a tree: each node is its parent and a region. Node 0 is outside of all regions.
class PathTable {
 public:
  static constexpr std::uint32_t kNoPath = 0xFFFFFFFF;

  [[nodiscard]] std::uint32_t child(std::uint32_t parent, std::uint32_t region);
  // The same where it is there already; else kNoPath.
  [[nodiscard]] std::uint32_t find(std::uint32_t parent, std::uint32_t region) const;
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] std::uint32_t parent(std::uint32_t node) const { return nodes_[node].first; }
  [[nodiscard]] std::uint32_t region(std::uint32_t node) const { return nodes_[node].second; }
  // Adds the nodes of another table; the numbers that they have here.
  std::vector<std::uint32_t> merge(const PathTable& other);

  template <class Pack>
  friend void pack_fields(Pack& pack, PathTable& table) {
    pack(table.nodes_);
  }

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> nodes_{{0, 0}};  // parent, region
  std::unordered_map<std::uint64_t, std::uint32_t> children_;           // by parent and region
};

// Time in one call path between a call of the library and the one before it. What is outside of all regions is not
// kept: it is the rest.
struct PathTime {
  std::int64_t ns = 0;
  std::uint32_t call = 0;  // the one behind it
  std::uint32_t path = 0;
};

// Regions that are open.
class PathStack {
 public:
  // The path that runs; 0 = outside of all regions.
  [[nodiscard]] std::uint32_t top() const { return stack_.empty() ? 0 : stack_.back(); }
  void enter(const PathTable& table, std::uint32_t node);
  // What was left without a word is left with what is around it.
  void leave(const PathTable& table, std::uint32_t region);

 private:
  std::vector<std::uint32_t> stack_;  // nodes
  OpenNames open_;                    // regions of those
};

// Times by path. MT: externally synchronised.
class PathAmounts {
 public:
  void add(std::uint32_t path, std::int64_t ns) {
    if (path >= ns_.size()) ns_.resize(path + std::size_t{1}, kAbsent);
    if (ns_[path] == kAbsent) {
      ns_[path] = 0;
      paths_.push_back(path);
    }
    ns_[path] += ns;
  }
  [[nodiscard]] std::int64_t operator[](std::uint32_t path) const {
    return path < ns_.size() && ns_[path] != kAbsent ? ns_[path] : 0;
  }
  // Those that something was added to, in that order.
  [[nodiscard]] const std::vector<std::uint32_t>& paths() const { return paths_; }
  void clear() {
    for (const std::uint32_t path : paths_) ns_[path] = kAbsent;
    paths_.clear();
  }

 private:
  static constexpr std::int64_t kAbsent = std::numeric_limits<std::int64_t>::min();
  std::vector<std::int64_t> ns_;  // by path
  std::vector<std::uint32_t> paths_;
};

// Follows the regions of one location.
class ComputePaths {
 public:
  explicit ComputePaths(PathTable& table) : table_(&table) {}

  void enter(std::uint32_t region, std::int64_t now);
  void leave(std::uint32_t region, std::int64_t now);
  // The path that runs; 0 = outside of all regions.
  [[nodiscard]] std::uint32_t top() const { return stack_.top(); }
  // A call of the library begins, or is over.
  void pause(std::int64_t now);
  void resume(std::int64_t now);
  // Call number `next` has begun: what was before it, by path.
  void end_gap(std::uint32_t next, LargeArray<PathTime>& out);

 private:
  void pass(std::int64_t now);

  PathTable* table_;
  PathStack stack_;
  PathAmounts gap_;  // since the last call
  std::int64_t since_ = 0;
  bool begun_ = false;
};

}  // namespace fathom::analysis
