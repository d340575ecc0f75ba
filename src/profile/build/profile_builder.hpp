// Makes a profile in memory from stacks, samples or rows, as formats have them that are read in one pass.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/build/value_column.hpp"
#include "profile/profile.hpp"

namespace fathom {

// Contexts are found by their parent, region and edge: the same stack is the same context. Contexts and locations are
// numbered from 0, contexts depth first. MT: externally synchronised.
class ProfileBuilder {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0xFFFFFFFF;

  ProfileBuilder(Work work, std::string name) : work_(std::move(work)), name_(std::move(name)) {}

  SystemTree system;
  Attributes attributes;

  RegionId add_region(Region region);
  // The same name, file and module is the same region.
  RegionId region(std::string_view name, std::string_view file = {}, std::string_view module = {});
  [[nodiscard]] Region& operator[](RegionId id) { return regions_[id.index()]; }

  // The context below `parent`, made when it is not there yet. Variants are contexts of their own: the same code with
  // other parameters.
  Node child(Node parent, RegionId region, Edge edge = Edge::call, std::uint32_t variant = 0);
  // The line that a context is called from; calls from several lines have none.
  void called_from(Node node, std::int64_t line);
  ContextDetails& details(Node node) { return details_[node]; }
  [[nodiscard]] std::size_t context_count() const { return nodes_.size(); }

  // Integers are 64 bits with a sign; minima and maxima stay such, everything else is a double. Without scopes it
  // stores what contexts have of their own.
  MetricId add_metric(Metric metric);
  [[nodiscard]] const MetricList& metrics() const { return metrics_; }
  [[nodiscard]] MetricId find_metric(std::string_view name) const { return metrics_.find(name); }

  // Adds to what is there. The metric decides which of the two counts.
  void add(LocationId location, MetricId metric, Node node, std::int64_t value, std::uint32_t scope = 0) {
    put(location, metric, scope, node, static_cast<std::uint64_t>(value));
  }
  void add(LocationId location, MetricId metric, Node node, double value, std::uint32_t scope = 0) {
    put(location, metric, scope, node, std::bit_cast<std::uint64_t>(value));
  }

  // An error when there is no memory for it. Sums beyond 64 bits are cut to the largest number and reported.
  Result<ProfilePtr> finish() &&;

 private:
  struct NodeData {
    Node parent;
    RegionId region;
    Edge edge;
    std::uint32_t variant = 0;
    bool has_line = false;
    std::int64_t line = -1;
  };
  using Slots = std::vector<ValueColumn>;  // by stored metric

  void put(LocationId location, MetricId metric, std::uint32_t scope, Node node, std::uint64_t bits);

  Work work_;
  std::string name_;
  std::vector<Region> regions_;
  std::unordered_map<std::string, RegionId> region_index_;
  std::vector<NodeData> nodes_;
  // Of the index of nodes: all that is needed to find one stands in one place.
  struct Slot {
    Node parent = kRoot;
    std::uint32_t region = 0;
    std::uint32_t rest = 0;  // edge and variant
    Node node = kRoot;       // kRoot = free
  };
  std::vector<Slot> slots_;
  std::unordered_map<Node, ContextDetails> details_;
  MetricList metrics_;
  std::vector<std::uint32_t> first_slot_;  // by metric
  std::uint32_t slot_count_ = 0;
  std::vector<ValueKind> kinds_;  // by slot
  std::vector<Slots> values_;     // by location
  std::string key_;
};

// One process with one thread, for formats that know no more.
LocationId add_single_location(SystemTree& system, std::string_view process = "Process 0");

}  // namespace fathom
