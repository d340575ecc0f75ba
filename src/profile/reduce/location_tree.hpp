// The contexts of one location with their sums, while its events are read.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/capped_sum.hpp"

namespace fathom::reduction {

// What leads from a context to one below it.
enum class StepKind : std::uint8_t {
  region,        // id: of the trace's regions
  sample,        // id: of the trace's contexts; stands at the top, its callers are filled in at the end
  state,         // id: of LocationTree::states()
  communicator,  // id: of the trace's communicators
  peer,          // id: rank, as the bits of std::int32_t
  size,          // id: bits of the number of bytes
  several,       // of those a call is split by
  compute,       // outside of all regions
  idle,          // a sample of nothing
};
using Step = std::uint64_t;
constexpr Step step(StepKind kind, std::uint32_t id = 0) { return static_cast<std::uint64_t>(kind) << 32 | id; }
constexpr StepKind kind_of(Step step) { return static_cast<StepKind>(step >> 32); }
constexpr std::uint32_t id_of(Step step) { return static_cast<std::uint32_t>(step); }

inline constexpr std::uint32_t kNoNode = 0xFFFFFFFF;

struct Sums {
  std::uint64_t time_ns = 0;
  std::uint64_t visits = 0;
  std::uint64_t cpu_ns = 0;  // a sum of differences: what goes round comes back
  CappedSum bytes_sent;
  CappedSum bytes_received;
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t samples = 0;
};

struct State {
  std::uint32_t channel = 0;
  std::int64_t value = 0;
  friend auto operator<=>(const State&, const State&) = default;
};

// Nodes come in the order in which they were met, parents first.
class LocationTree {
 public:
  struct Node {
    std::uint32_t parent = kNoNode;
    Step step = 0;
    Sums sums;
  };
  // Differences of one counter in one node; as an integer, or a double where the counter is one.
  struct Counted {
    std::uint32_t node = 0;
    std::uint32_t metric = 0;
    std::int64_t integer = 0;
    double real = 0;
  };

  // The node below `parent` (kNoNode: a root), made when it is not there yet.
  std::uint32_t child(std::uint32_t parent, Step step) {
    std::size_t at = hash(parent, step) & mask_;
    for (; !slots_.empty() && slots_[at] != 0; at = (at + 1) & mask_) {
      const Node& node = nodes_[slots_[at] - 1];
      if (node.parent == parent && node.step == step) return slots_[at] - 1;
    }
    return add(parent, step);
  }
  Sums& operator[](std::uint32_t node) { return nodes_[node].sums; }
  Counted& counted(std::uint32_t node, std::uint32_t metric);
  std::uint32_t state(State state);

  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const Counted> counted() const { return counted_; }
  [[nodiscard]] std::span<const State> states() const { return states_; }
  [[nodiscard]] std::uint64_t bytes() const {
    return nodes_.capacity() * sizeof(Node) + counted_.capacity() * sizeof(Counted) + states_.size() * kStateBytes +
           (slots_.size() + counted_slots_.size()) * sizeof(std::uint32_t);
  }

  // For other processes; nothing can be added to what came from one.
  template <class Pack>
  friend void pack_fields(Pack& pack, LocationTree& tree) {
    pack(tree.nodes_, tree.counted_, tree.states_);
  }

 private:
  static constexpr std::uint64_t kStateBytes = 96;  // with its entry in the map
  static std::size_t hash(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = (a * 0x9E3779B97F4A7C15ULL) ^ (b * 0xC2B2AE3D27D4EB4FULL);
    x ^= x >> 29;
    return static_cast<std::size_t>(x * 0x9E3779B97F4A7C15ULL >> 20);
  }
  std::uint32_t add(std::uint32_t parent, Step step);

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> slots_;  // number of a node + 1; 0 = free
  std::size_t mask_ = 0;
  std::vector<Counted> counted_;
  std::vector<std::uint32_t> counted_slots_;
  std::vector<State> states_;
  std::map<State, std::uint32_t> state_index_;
};

}  // namespace fathom::reduction
