// Where the time between calls of the library goes: by call path of the program's own regions.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fathom::analysis {

// Call paths as a tree: each node is its parent and a region. Node 0 is outside of all regions.
class PathTable {
 public:
  [[nodiscard]] std::uint32_t child(std::uint32_t parent, std::uint32_t region);
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

// Follows the regions of one location.
class ComputePaths {
 public:
  explicit ComputePaths(PathTable& table) : table_(&table) {}

  void enter(std::uint32_t region, std::int64_t now);
  void leave(std::uint32_t region, std::int64_t now);
  // A call of the library begins, or is over.
  void pause(std::int64_t now);
  void resume(std::int64_t now);
  // ns by node; empty = there are no regions.
  [[nodiscard]] std::vector<double> take() { return std::move(ns_); }

 private:
  void pass(std::int64_t now);

  PathTable* table_;
  std::vector<std::uint32_t> stack_;  // nodes
  std::vector<double> ns_;
  std::int64_t since_ = 0;
  bool begun_ = false;
};

}  // namespace fathom::analysis
