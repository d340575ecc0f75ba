// An index over the transitions of one location that answers "what did it do in each of these pixels" at the cost of
// the pixels, whatever the number of transitions.
//
// Transitions lie packed in blocks of 64; above them stand levels of nodes, eight to one. A node says when it begins
// and how its time is shared by at most four contexts. What does not fit is folded: the lightest context gives its time
// to "somewhere below its parent". Time is never lost, it only loses detail, and the node says so.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/summary/activity.hpp"

namespace fathom::summary {

inline constexpr std::size_t kBlock = 64;
inline constexpr std::size_t kFan = 8;
inline constexpr std::size_t kShares = 4;
inline constexpr std::uint32_t kBelow = 0x80000000;  // bit of a context: somewhere below it, not known where

struct Node {
  std::int64_t begin_ns = 0;
  std::array<std::uint32_t, kShares> context{};  // kNothing = nothing known
  std::array<std::uint16_t, kShares> share{};    // of the node's time, of 65535
};
static_assert(sizeof(Node) == 32);

// One part of a pixel: a context (maybe with kBelow) and its time.
struct Part {
  std::uint32_t context = kNothing;
  double time_ns = 0;
};

class BlockTree {
 public:
  [[nodiscard]] std::uint64_t transitions() const { return count_; }
  [[nodiscard]] std::int64_t begin_ns() const { return levels_.empty() ? 0 : levels_[0].front().begin_ns; }
  [[nodiscard]] std::int64_t end_ns() const { return end_ns_; }
  [[nodiscard]] std::uint64_t bytes() const;

  // Where parts of pixels go: pixels come in rising order; those without any part are left out. `begun`: roughly how
  // many transitions lie in it.
  class PixelSink {
   public:
    virtual ~PixelSink() = default;
    virtual void pixel(std::size_t index, std::span<const Part> parts, double begun) = 0;
  };
  // `count` pixels of `width_ns` each from `from_ns` on. `contexts` numbers as they were built. Without `exact` blocks
  // are not unpacked: quick, and only good for a first moment.
  void query(std::int64_t from_ns, double width_ns, std::size_t count, bool exact, const Contexts& contexts,
             PixelSink& sink) const;

  // Unpacks one block.
  void unpack(std::size_t block, std::vector<Transition>& out) const;
  // The block in which the moment lies.
  [[nodiscard]] std::size_t block_at(std::int64_t time_ns) const;
  [[nodiscard]] std::size_t blocks() const { return offsets_.size(); }

 private:
  friend class BlockTreeBuilder;
  std::vector<std::vector<Node>> levels_;  // [0]: one per block
  std::vector<std::uint64_t> offsets_;     // of the blocks in packed_
  std::vector<std::uint8_t> packed_;
  std::int64_t end_ns_ = 0;
  std::uint64_t count_ = 0;
};

// Takes transitions in time order.
class BlockTreeBuilder {
 public:
  explicit BlockTreeBuilder(const Contexts& contexts) : contexts_(contexts) {}
  void add(Transition transition);
  BlockTree finish(std::int64_t end_ns) &&;

 private:
  void close_block(std::int64_t end_ns);
  const Contexts& contexts_;
  std::vector<Transition> open_;
  BlockTree tree_;
};

}  // namespace fathom::summary
