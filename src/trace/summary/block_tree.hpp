// An index over the transitions of one location that answers "what did it do in each of these pixels" at the cost of
// the pixels, whatever the number of transitions.
//
// Transitions lie in blocks of 64: packed, or in the trace itself, from where they are read again. Above the blocks
// stand levels of nodes, eight to one. A node says when it begins and how its time is shared by at most four contexts.
// What does not fit is folded: the lightest context gives its time to "somewhere below its parent". Time is never lost,
// it only loses detail, and the node says so.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "io/large_array.hpp"
#include "trace/sample_records.hpp"
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

// Where a block is: its offset among the packed ones, or how many records of the trace it is made of and the first of
// them. Blocks of more records are packed, so that none is dear to read.
class BlockPlace {
 public:
  static constexpr std::uint64_t kMostRecords = 4 * kBlock;
  static constexpr std::uint64_t kRecords = std::uint64_t{1} << 54;  // numbers of records are below it
  static BlockPlace packed(std::uint64_t offset) { return BlockPlace(offset); }
  static BlockPlace in_trace(std::uint64_t record, std::uint64_t count) {
    return BlockPlace(kInTrace | (count - 1) << 54 | record);
  }
  [[nodiscard]] bool is_in_trace() const { return (word_ & kInTrace) != 0; }
  [[nodiscard]] std::uint64_t offset() const { return word_; }
  [[nodiscard]] std::uint64_t record() const { return word_ & (kRecords - 1); }
  [[nodiscard]] std::size_t count() const { return ((word_ & ~kInTrace) >> 54) % kMostRecords + 1; }

 private:
  static constexpr std::uint64_t kInTrace = std::uint64_t{1} << 63;
  explicit BlockPlace(std::uint64_t word) : word_(word) {}
  std::uint64_t word_;
};
static_assert(sizeof(BlockPlace) == 8 && BlockPlace::kMostRecords <= 256);

// A view of bytes that somebody else keeps: what a builder has made, or an index file that is mapped. Cheap to copy.
// Bytes of a file may be anything: whatever they say, nothing outside of them is touched. MT: safe (const).
class BlockTree {
 public:
  // How its parts lie one behind the other: packed blocks, places of all, nodes level by level, then what the contexts
  // of the trace are here, for blocks that are read again. Multiples of 8.
  struct Layout {
    std::uint64_t packed_bytes = 0;  // padded
    std::uint64_t blocks = 0;
    std::vector<std::uint64_t> level_sizes;  // [0]: one per block
    std::uint64_t sampled = 0;
    [[nodiscard]] std::uint64_t bytes() const;
  };
  BlockTree() = default;
  // Null when the layout and the bytes do not fit together, or bytes are not where a number of 8 bytes may be.
  static std::optional<BlockTree> over(std::span<const std::byte> bytes, const Layout& layout, std::int64_t end_ns,
                                       std::uint64_t transitions, std::uint32_t contexts,
                                       std::shared_ptr<const void> owner);

  [[nodiscard]] std::uint64_t transitions() const { return count_; }
  [[nodiscard]] std::int64_t begin_ns() const { return levels_.empty() ? 0 : levels_[0].front().begin_ns; }
  [[nodiscard]] std::int64_t end_ns() const { return end_ns_; }
  [[nodiscard]] std::uint64_t bytes() const { return layout_.bytes(); }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] std::span<const std::byte> raw() const { return raw_; }
  // All but the packed blocks, which lie before it.
  [[nodiscard]] std::span<const std::byte> node_bytes() const;
  // Whether blocks are in the trace; they cannot be read before it is known which. It must outlive the tree.
  [[nodiscard]] bool needs_trace() const { return layout_.sampled > 0; }
  void read_from(const SampleRecords& trace, LocationId location) {
    trace_ = &trace;
    location_ = location;
  }

  // Where parts of pixels go: pixels come in rising order; those without any part are left out. `begun`: roughly how
  // many transitions lie in it.
  class PixelSink {
   public:
    virtual ~PixelSink() = default;
    virtual void pixel(std::size_t index, std::span<const Part> parts, double begun) = 0;
  };
  // `count` pixels of `width_ns` each from `from_ns` on. Without `exact` blocks are not read: quick, and only good for
  // a first moment.
  void query(std::int64_t from_ns, double width_ns, std::size_t count, bool exact, PixelSink& sink) const;

  // Every transition of a window with the time at which it is over, clipped to the window; false ends the loop.
  template <class Visit>
  void each(std::int64_t from_ns, std::int64_t to_ns, Visit&& visit) const;

  // The block in which the moment lies.
  [[nodiscard]] std::size_t block_at(std::int64_t time_ns) const;
  [[nodiscard]] std::size_t blocks() const { return places_.size(); }
  [[nodiscard]] std::int64_t block_begin(std::size_t block) const { return levels_[0][block].begin_ns; }

 private:
  friend class BlockTreeBuilder;
  friend class BlockReader;
  std::vector<std::span<const Node>> levels_;  // [0]: one per block
  std::span<const BlockPlace> places_;         // of the blocks; none: nodes alone
  std::span<const std::uint8_t> packed_;
  std::span<const SampledContext> sampled_;  // by the trace's number
  const SampleRecords* trace_ = nullptr;
  LocationId location_;
  std::span<const std::byte> raw_;
  Layout layout_;
  std::shared_ptr<const void> owner_;
  std::int64_t end_ns_ = 0;
  std::uint64_t count_ = 0;
  std::uint32_t contexts_ = 0;  // numbers below it may occur
};

// Reads blocks of a tree, one after the other. MT: externally synchronised.
class BlockReader {
 public:
  explicit BlockReader(const BlockTree& tree) : tree_(tree) {}
  // Valid until the next call. Whatever the bytes are: no context that there is not, no time before the block.
  std::span<const Transition> read(std::size_t block);

 private:
  void unpack(std::size_t block);
  void read_again(std::size_t block);
  std::uint32_t context_of(ContextId stored);
  const BlockTree& tree_;
  std::vector<Transition> transitions_;
  std::vector<PlacedSample> samples_;
  std::vector<SampledContext> recent_;  // what was looked up last, by the low bits of its number
};

template <class Visit>
void BlockTree::each(std::int64_t from_ns, std::int64_t to_ns, Visit&& visit) const {
  if (places_.empty() || to_ns <= from_ns) return;
  BlockReader reader(*this);
  for (std::size_t block = block_at(from_ns); block < blocks(); ++block) {
    if (levels_[0][block].begin_ns >= to_ns) return;
    const std::span<const Transition> read = reader.read(block);
    const std::int64_t last = block + 1 < blocks() ? levels_[0][block + 1].begin_ns : end_ns_;
    for (std::size_t i = 0; i < read.size(); ++i) {
      const std::int64_t until = std::min(i + 1 < read.size() ? read[i + 1].time_ns : last, to_ns);
      if (until <= from_ns) continue;
      if (read[i].time_ns >= to_ns || !visit(read[i], until)) return;
    }
  }
}

// Takes transitions in time order. What it holds comes out of the pool, which goes to files when it is used up.
class BlockTreeBuilder {
 public:
  explicit BlockTreeBuilder(const Contexts& contexts, std::shared_ptr<ArrayPool> pool = nullptr);
  // With the number of the record that it comes from it can be read again from there.
  void add(Transition transition, std::uint64_t record = Event::kNoRecord) {
    // A location does one thing at a time: of several at one moment the last counts.
    if (open_count_ > 0 && open_[open_count_ - 1].time_ns >= transition.time_ns) {
      open_[open_count_ - 1].context = transition.context;
      return;
    }
    if (open_count_ == kBlock) close_block(transition.time_ns, record);
    if (open_count_ == 0) first_record_ = record;
    open_[open_count_++] = transition;
  }
  [[nodiscard]] std::uint64_t transitions() const { return count_ + open_count_; }
  // What is there so far, in at most about a thousand nodes: for a first look.
  [[nodiscard]] BlockTree preview() const;
  // An error when what was made could not be kept. Where records were told: how many there are, and what was sampled.
  Result<BlockTree> finish(std::int64_t end_ns, std::uint64_t records = Event::kNoRecord,
                           std::span<const SampledContext> sampled = {}) &&;

 private:
  // `next_record`: the first that is not in it.
  void close_block(std::int64_t end_ns, std::uint64_t next_record);
  BlockPlace pack_block(std::span<const std::uint8_t> entries);
  void push(std::size_t level, const Node& node, std::int64_t end_ns);
  void fold_up(std::size_t level, std::size_t first, std::int64_t end_ns);
  const Contexts& contexts_;
  std::shared_ptr<ArrayPool> pool_;
  std::array<Transition, kBlock> open_;
  std::size_t open_count_ = 0;
  std::uint64_t first_record_ = Event::kNoRecord;  // of the open block
  bool any_in_trace_ = false;
  LargeArray<std::uint8_t> packed_;
  LargeArray<BlockPlace> places_;
  std::vector<LargeArray<Node>> levels_;
  std::vector<std::uint64_t> mark_;  // by context + 1: block and place in its dictionary
  std::vector<Part> parts_;
  std::uint64_t count_ = 0;
  std::int64_t closed_until_ = 0;
};

}  // namespace fathom::summary
