#include "trace/summary/block_tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace fathom::summary {

namespace {

// Few parts at a time: a plain list beats any index.
void add_part(std::vector<Part>& parts, std::uint32_t context, double time) {
  for (Part& part : parts) {
    if (part.context == context) {
      part.time_ns += time;
      return;
    }
  }
  parts.push_back({context, time});
}

std::uint32_t parent_of(const Contexts& contexts, std::uint32_t context) {
  const std::uint32_t plain = context & ~kBelow;
  return plain == kNothing ? kNothing : contexts[plain].parent;
}

// Where in a deep tree what is lighter than all others comes to rest, of those that were made: each step up finds it
// the lightest again until it meets one of them.
std::uint32_t next_below(const Contexts& contexts, std::uint32_t context, std::span<const Part> made) {
  constexpr std::uint32_t kDeep = 64;  // where single steps are as quick
  const std::uint32_t plain = context & ~kBelow;
  if (plain == kNothing || contexts[plain].depth < kDeep) return parent_of(contexts, context) | kBelow;
  std::uint32_t found = kNothing;
  for (const Part& part : made) {
    const std::uint32_t above = part.context & ~kBelow;
    if ((part.context & kBelow) == 0 || above == kNothing) continue;
    const std::uint32_t depth = contexts[above].depth;
    if (depth >= contexts[plain].depth || (found != kNothing && depth <= contexts[found].depth)) continue;
    if (contexts.at_depth(plain, depth) == above) found = above;
  }
  return found | kBelow;
}

// Until no more than kShares are left, the lightest gives its time to "somewhere below its parent". What is below
// nothing in particular cannot be folded any further. Most of the time of building is spent here: what came is sorted
// once, by numbers that hold time and place, and what folding makes is a short list beside it.
void fold(std::vector<Part>& parts, const Contexts& contexts) {
  constexpr std::uint32_t kAnywhere = kNothing | kBelow;
  constexpr std::size_t kMost = kBlock + 1;
  constexpr double kLongest = 36028797018963968.0;  // 2^55 ns: a place still fits below it
  static_assert(kFan * kShares <= kMost && kMost < 256);
  if (parts.size() <= kShares) return;
  std::array<std::uint64_t, kMost> keys;
  std::array<std::uint64_t, kMost> came;
  std::size_t last = 0;
  std::array<Part, kMost> made;
  std::size_t count = 0;
  std::size_t lightest = 0;  // of those that were made
  bool known = false;        // which one that is
  double anywhere = -1;      // below 0: nothing yet
  const auto add = [&](std::uint32_t to, double more) {
    if (to == kAnywhere) {
      anywhere = std::max(anywhere, 0.0) + more;
      return;
    }
    std::size_t at = 0;
    while (at < count && made[at].context != to) ++at;
    if (at < count) {
      made[at].time_ns += more;
      known = known && at != lightest;
      return;
    }
    if (known && more < made[lightest].time_ns) lightest = count;
    made[count++] = {to, more};
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if ((parts[i].context & kBelow) != 0) {
      add(parts[i].context, parts[i].time_ns);
    } else {
      keys[last++] = static_cast<std::uint64_t>(std::min(parts[i].time_ns, kLongest)) << 8 | i;
    }
  }
  // No two are equal, so each has its place; for so few this is quicker than what has to guess.
  for (std::size_t i = 0; i < last; ++i) {
    std::size_t place = 0;
    for (std::size_t k = 0; k < last; ++k) place += keys[k] < keys[i] ? 1 : 0;
    came[place] = keys[i];
  }
  std::size_t first = 0;
  while (last - first + count + (anywhere < 0 ? 0 : 1) > kShares) {
    if (!known) {
      lightest = 0;
      for (std::size_t i = 1; i < count; ++i) lightest = made[i].time_ns < made[lightest].time_ns ? i : lightest;
      known = count > 0;
    }
    const Part* next = first < last ? &parts[came[first] & 0xFF] : nullptr;
    if (next != nullptr && (count == 0 || next->time_ns <= made[lightest].time_ns)) {
      ++first;
      add(parent_of(contexts, next->context) | kBelow, next->time_ns);
    } else {
      const Part gone = made[lightest];
      made[lightest] = made[--count];
      known = false;
      add(next_below(contexts, gone.context, {made.data(), count}), gone.time_ns);
    }
  }
  for (; first < last; ++first) made[count++] = parts[came[first] & 0xFF];
  if (anywhere >= 0) made[count++] = {kAnywhere, anywhere};
  parts.assign(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(count));
}

Node make_node(std::int64_t begin, std::int64_t end, std::vector<Part>& parts, const Contexts& contexts) {
  fold(parts, contexts);
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.context < b.context;
  });
  Node node;
  node.begin_ns = begin;
  node.context.fill(kNothing);
  const double whole = static_cast<double>(end) - static_cast<double>(begin);
  std::uint32_t given = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    node.context[i] = parts[i].context;
    const double share = whole > 0 ? parts[i].time_ns / whole * 65535 : 0;
    node.share[i] = static_cast<std::uint16_t>(std::min<long>(std::lround(share), 65535 - static_cast<long>(given)));
    given += node.share[i];
  }
  // Rounding goes to the largest, so that the shares are the whole.
  if (whole > 0 && !parts.empty()) node.share[0] = static_cast<std::uint16_t>(node.share[0] + (65535 - given));
  return node;
}

std::uint8_t* put_varint(std::uint8_t* out, std::uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}

std::uint64_t get_varint(const std::uint8_t*& at, const std::uint8_t* end) {
  if (at < end && *at < 0x80) return *at++;
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && at < end; shift += 7) {
    const std::uint8_t byte = *at++;
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) break;
  }
  return value;
}

}  // namespace

std::uint64_t BlockTree::Layout::bytes() const {
  std::uint64_t sum = packed_bytes + blocks * sizeof(BlockPlace) + sampled * sizeof(SampledContext);
  for (const std::uint64_t size : level_sizes) sum += size * sizeof(Node);
  return sum;
}

std::optional<BlockTree> BlockTree::over(std::span<const std::byte> bytes, const Layout& layout, std::int64_t end_ns,
                                         std::uint64_t transitions, std::uint32_t contexts,
                                         std::shared_ptr<const void> owner) {
  // Sizes first, each against what is there: sums of them may not wrap.
  const std::uint64_t most = bytes.size();
  if (layout.packed_bytes > most || layout.packed_bytes % 8 != 0 || layout.blocks > most / 8 ||
      layout.sampled > most / sizeof(SampledContext) || layout.level_sizes.size() > 24 ||
      (layout.blocks == 0) != layout.level_sizes.empty()) {
    return std::nullopt;
  }
  std::uint64_t expected = layout.blocks;
  for (const std::uint64_t size : layout.level_sizes) {
    if (size != expected || size > most / sizeof(Node)) return std::nullopt;
    expected = (expected + kFan - 1) / kFan;
  }
  if (layout.bytes() != most || reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 != 0) return std::nullopt;
  if (!layout.level_sizes.empty() && layout.level_sizes.back() != 1) return std::nullopt;
  BlockTree tree;
  tree.raw_ = bytes;
  tree.layout_ = layout;
  tree.owner_ = std::move(owner);
  tree.end_ns_ = end_ns;
  tree.count_ = transitions;
  tree.contexts_ = contexts;
  tree.packed_ = {reinterpret_cast<const std::uint8_t*>(bytes.data()), layout.packed_bytes};
  const std::byte* at = bytes.data() + layout.packed_bytes;
  tree.places_ = {reinterpret_cast<const BlockPlace*>(at), layout.blocks};
  at += layout.blocks * sizeof(BlockPlace);
  for (const std::uint64_t size : layout.level_sizes) {
    tree.levels_.emplace_back(reinterpret_cast<const Node*>(at), size);
    at += size * sizeof(Node);
  }
  tree.sampled_ = {reinterpret_cast<const SampledContext*>(at), layout.sampled};
  return tree;
}

std::span<const std::byte> BlockTree::node_bytes() const {
  return raw_.subspan(std::min<std::uint64_t>(layout_.packed_bytes, raw_.size()));
}

BlockTreeBuilder::BlockTreeBuilder(const Contexts& contexts, std::shared_ptr<ArrayPool> pool)
    : contexts_(contexts),
      pool_(pool ? std::move(pool) : std::make_shared<ArrayPool>(std::numeric_limits<std::uint64_t>::max() / 2)),
      packed_(*pool_),
      places_(*pool_) {}

void BlockTreeBuilder::close_block(std::int64_t end_ns, std::uint64_t next_record) {
  parts_.clear();
  std::array<std::uint8_t, kBlock> entries;
  // Marks of other blocks are out of date by themselves.
  const std::uint64_t block = (places_.size() + 1) << 8;
  if (mark_.size() < contexts_.nodes().size() + 1) mark_.resize(contexts_.nodes().size() * 3 / 2 + 16);
  for (std::size_t i = 0; i < open_count_; ++i) {
    const std::int64_t until = i + 1 < open_count_ ? open_[i + 1].time_ns : end_ns;
    const std::uint32_t context = open_[i].context;
    std::uint64_t& mark = mark_[context == kNothing ? 0 : context + 1];
    if (mark < block) {
      mark = block | parts_.size();
      parts_.push_back({context, 0});
    }
    entries[i] = static_cast<std::uint8_t>(mark & 0xFF);
    parts_[entries[i]].time_ns += static_cast<double>(until - open_[i].time_ns);
  }
  if (next_record < BlockPlace::kRecords && next_record - first_record_ <= BlockPlace::kMostRecords) {
    places_.push_back(BlockPlace::in_trace(first_record_, next_record - first_record_));
    any_in_trace_ = true;
  } else {
    places_.push_back(pack_block({entries.data(), open_count_}));
  }
  count_ += open_count_;
  const std::int64_t begin = open_[0].time_ns;
  open_count_ = 0;
  closed_until_ = end_ns;
  push(0, make_node(begin, end_ns, parts_, contexts_), end_ns);
}

// A dictionary of the block's contexts, then per transition the time since the one before and its entry in the
// dictionary.
BlockPlace BlockTreeBuilder::pack_block(std::span<const std::uint8_t> entries) {
  std::array<std::uint8_t, 2 + kBlock * 16> bytes;
  std::uint8_t* out = bytes.data();
  *out++ = static_cast<std::uint8_t>(entries.size());
  *out++ = static_cast<std::uint8_t>(parts_.size());
  for (const Part& part : parts_) out = put_varint(out, part.context);
  std::int64_t before = open_[0].time_ns;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    out = put_varint(out, static_cast<std::uint64_t>(open_[i].time_ns - before));
    before = open_[i].time_ns;
    *out++ = entries[i];
  }
  const auto size = static_cast<std::size_t>(out - bytes.data());
  const std::size_t old = packed_.size();
  packed_.resize(old + size);
  if (packed_.size() == old + size) std::memcpy(packed_.data() + old, bytes.data(), size);
  return BlockPlace::packed(old);
}

void BlockTreeBuilder::push(std::size_t level, const Node& node, std::int64_t end_ns) {
  if (levels_.size() <= level) levels_.emplace_back(*pool_);
  levels_[level].push_back(node);
  const std::size_t size = levels_[level].size();
  if (size >= kFan && size % kFan == 0) fold_up(level, size - kFan, end_ns);
}

// The nodes of a level from `first` on become one of the level above.
void BlockTreeBuilder::fold_up(std::size_t level, std::size_t first, std::int64_t end_ns) {
  const LargeArray<Node>& below = levels_[level];
  parts_.clear();
  for (std::size_t k = first; k < below.size(); ++k) {
    const std::int64_t end = k + 1 < below.size() ? below[k + 1].begin_ns : end_ns;
    const auto time = static_cast<double>(end - below[k].begin_ns);
    for (std::size_t s = 0; s < kShares; ++s) {
      if (below[k].share[s] > 0) add_part(parts_, below[k].context[s], time * below[k].share[s] / 65535);
    }
  }
  push(level + 1, make_node(below[first].begin_ns, end_ns, parts_, contexts_), end_ns);
}

BlockTree BlockTreeBuilder::preview() const {
  constexpr std::size_t kMost = 1024;
  std::size_t level = 0;
  while (level + 1 < levels_.size() && levels_[level].size() > kMost) ++level;
  BlockTree tree;
  if (levels_.empty() || levels_[level].empty()) return tree;
  auto nodes = std::make_shared<std::vector<Node>>(levels_[level].begin(), levels_[level].end());
  // What the level does not cover yet is left for the next look.
  std::uint64_t covered = nodes->size();
  for (std::size_t i = 0; i < level; ++i) covered *= kFan;
  tree.end_ns_ = covered < levels_[0].size() ? levels_[0][covered].begin_ns : closed_until_;
  tree.levels_.emplace_back(*nodes);
  tree.count_ = count_;
  tree.contexts_ = static_cast<std::uint32_t>(contexts_.nodes().size());
  tree.owner_ = std::move(nodes);
  return tree;
}

Result<BlockTree> BlockTreeBuilder::finish(std::int64_t end_ns, std::uint64_t records,
                                           std::span<const SampledContext> sampled) && {
  if (open_count_ > 0) {
    end_ns = std::max(end_ns, open_[open_count_ - 1].time_ns);
    close_block(end_ns, records);
  }
  for (std::size_t level = 0; level < levels_.size() && levels_[level].size() > 1; ++level) {
    const std::size_t rest = levels_[level].size() % kFan;
    if (rest > 0) fold_up(level, levels_[level].size() - rest, end_ns);
  }
  BlockTree::Layout layout;
  layout.packed_bytes = (packed_.size() + 7) / 8 * 8;
  layout.blocks = places_.size();
  for (const auto& level : levels_) layout.level_sizes.push_back(level.size());
  if (any_in_trace_) layout.sampled = sampled.size();
  struct Kept {
    std::shared_ptr<ArrayPool> pool;
    LargeArray<std::byte> bytes;
  };
  auto kept = std::make_shared<Kept>(Kept{pool_, LargeArray<std::byte>(*pool_)});
  kept->bytes.reserve(
      layout.bytes());  // next to those of other rows: each in a mapping of its own costs the system dear
  kept->bytes.resize(layout.bytes());
  FATHOM_CHECK(pool_->status());
  if (layout.bytes() > 0) {
    std::byte* out = kept->bytes.data();
    if (packed_.size() > 0) std::memcpy(out, packed_.data(), packed_.size());
    out += layout.packed_bytes;
    std::memcpy(out, places_.data(), places_.size() * sizeof(BlockPlace));
    out += places_.size() * sizeof(BlockPlace);
    for (const auto& level : levels_) {
      std::memcpy(out, level.data(), level.size() * sizeof(Node));
      out += level.size() * sizeof(Node);
    }
    if (layout.sampled > 0) std::memcpy(out, sampled.data(), layout.sampled * sizeof(SampledContext));
  }
  const std::span<const std::byte> bytes(kept->bytes.data(), kept->bytes.size());
  auto tree =
      BlockTree::over(bytes, layout, end_ns, count_, static_cast<std::uint32_t>(contexts_.nodes().size()), kept);
  if (!tree) return Error("the index of a timeline does not fit together");
  return std::move(*tree);
}

std::span<const Transition> BlockReader::read(std::size_t block) {
  transitions_.clear();
  if (block < tree_.places_.size()) tree_.places_[block].is_in_trace() ? read_again(block) : unpack(block);
  return transitions_;
}

// What a damaged file says is cut to what can be: no place outside of the bytes, no context that there is not, no time
// that goes back.
void BlockReader::unpack(std::size_t block) {
  const std::uint64_t offset = tree_.places_[block].offset();
  if (offset >= tree_.packed_.size()) return;
  const std::uint8_t* at = tree_.packed_.data() + offset;
  const std::uint8_t* const end = tree_.packed_.data() + tree_.packed_.size();
  if (end - at < 2) return;
  const std::size_t count = std::min<std::size_t>(*at++, kBlock);
  std::array<std::uint32_t, 256> dictionary;
  const std::size_t entries = *at++;
  for (std::size_t i = 0; i < entries; ++i) {
    const auto context = static_cast<std::uint32_t>(get_varint(at, end));
    dictionary[i] = context < tree_.contexts_ ? context : kNothing;
  }
  transitions_.resize(count);
  std::int64_t time = tree_.levels_[0][block].begin_ns;
  for (std::size_t i = 0; i < count; ++i) {
    time = static_cast<std::int64_t>(static_cast<std::uint64_t>(time) + get_varint(at, end));
    const std::size_t entry = at < end ? *at++ : 0;
    transitions_[i] = {time, entry < entries ? dictionary[entry] : kNothing};
  }
}

// The same as was done when the tree was made: what changes nothing is no transition, and of several at one moment the
// last counts.
void BlockReader::read_again(std::size_t block) {
  if (tree_.trace_ == nullptr) return;
  const BlockPlace place = tree_.places_[block];
  samples_.resize(BlockPlace::kMostRecords);
  const std::size_t count =
      tree_.trace_->read_samples(tree_.location_, place.record(), {samples_.data(), place.count()});
  const std::int64_t begin = tree_.levels_[0][block].begin_ns;
  for (const PlacedSample& sample : std::span(samples_).first(count)) {
    const std::uint32_t context = sample.context.valid() ? context_of(sample.context) : kNothing;
    if (!transitions_.empty()) {
      Transition& last = transitions_.back();
      if (last.context == context) continue;
      if (last.time_ns >= sample.time_ns) {
        last.context = context;
        continue;
      }
    }
    transitions_.push_back({std::max(sample.time_ns, begin), context});
  }
}

std::uint32_t BlockReader::context_of(ContextId stored) {
  constexpr std::uint32_t kRecent = 256;
  if (recent_.empty()) recent_.assign(kRecent, {ContextId::kNone, kNothing});
  SampledContext& known = recent_[stored.value % kRecent];
  if (known.stored == stored.value) return known.context;
  const auto found =
      std::lower_bound(tree_.sampled_.begin(), tree_.sampled_.end(), stored.value,
                       [](const SampledContext& one, std::uint32_t number) { return one.stored < number; });
  const bool met = found != tree_.sampled_.end() && found->stored == stored.value && found->context < tree_.contexts_;
  known = {stored.value, met ? found->context : kNothing};
  return known.context;
}

std::size_t BlockTree::block_at(std::int64_t time_ns) const {
  if (levels_.empty()) return 0;
  const auto& blocks = levels_[0];
  const auto after = std::upper_bound(blocks.begin(), blocks.end(), time_ns,
                                      [](std::int64_t time, const Node& node) { return time < node.begin_ns; });
  return after == blocks.begin() ? 0 : static_cast<std::size_t>(after - blocks.begin()) - 1;
}

namespace {

// Collects parts until the next pixel begins.
class Pixels {
 public:
  Pixels(std::int64_t from, double width, std::size_t count, BlockTree::PixelSink& sink)
      : from_(static_cast<double>(from)), width_(width), count_(count), sink_(sink) {}

  // What happened between two moments, by shares of that time.
  void pour(std::int64_t begin, std::int64_t end, std::span<const Part> shares, double begun) {
    const double first = std::max(static_cast<double>(begin), from_);
    const double last = std::min(static_cast<double>(end), from_ + width_ * static_cast<double>(count_));
    if (!(last > first)) return;
    const double whole = static_cast<double>(end) - static_cast<double>(begin);
    auto pixel = std::min(static_cast<std::size_t>((first - from_) / width_), count_ - 1);
    for (double at = first; at < last; ++pixel) {
      // The last pixel takes what is left: rounding must not make another one.
      const double until = pixel + 1 >= count_ ? last : std::min(last, from_ + width_ * static_cast<double>(pixel + 1));
      if (!(until > at)) continue;
      if (pixel != pixel_) {
        flush();
        pixel_ = pixel;
      }
      for (const Part& part : shares) add_part(parts_, part.context, part.time_ns * (until - at));
      begun_ += begun * (until - at) / whole;
      at = until;
    }
  }
  void flush() {
    if (!parts_.empty()) sink_.pixel(pixel_, parts_, begun_);
    parts_.clear();
    begun_ = 0;
  }

 private:
  double from_;
  double width_;
  std::size_t count_;
  BlockTree::PixelSink& sink_;
  std::size_t pixel_ = static_cast<std::size_t>(-1);
  std::vector<Part> parts_;
  double begun_ = 0;
};

}  // namespace

void BlockTree::query(std::int64_t from_ns, double width_ns, std::size_t count, bool exact, PixelSink& sink) const {
  if (levels_.empty() || count == 0) return;
  Pixels pixels(from_ns, width_ns, count, sink);
  const double to = static_cast<double>(from_ns) + width_ns * static_cast<double>(count);
  BlockReader reader(*this);
  struct Place {
    std::size_t level;
    std::size_t node;
  };
  std::vector<Place> stack;
  for (std::size_t i = levels_.back().size(); i-- > 0;) stack.push_back({levels_.size() - 1, i});
  std::vector<Part> shares;
  while (!stack.empty()) {
    const Place place = stack.back();
    stack.pop_back();
    const auto& level = levels_[place.level];
    const Node& node = level[place.node];
    const std::int64_t end = place.node + 1 < level.size() ? level[place.node + 1].begin_ns : end_ns_;
    if (end <= from_ns || static_cast<double>(node.begin_ns) >= to) continue;
    const bool narrow = static_cast<double>(end) - static_cast<double>(node.begin_ns) <= width_ns / 2;
    const bool single = node.share[0] == 65535 && (node.context[0] & kBelow) == 0;
    if (narrow || single || (place.level == 0 && (!exact || places_.empty()))) {
      shares.clear();
      for (std::size_t i = 0; i < kShares; ++i) {
        if (node.share[i] == 0) continue;
        const std::uint32_t plain = node.context[i] & ~kBelow;
        const bool known = plain == kNothing || plain < contexts_;
        shares.push_back({known ? node.context[i] : kNothing, node.share[i] / 65535.0});
      }
      const std::size_t below =
          place.level == 0 ? kBlock : kBlock * static_cast<std::size_t>(std::pow(kFan, place.level));
      pixels.pour(node.begin_ns, end, shares, static_cast<double>(below));
      continue;
    }
    if (place.level > 0) {
      const std::size_t first = place.node * kFan;
      const std::size_t last = std::min(first + kFan, levels_[place.level - 1].size());
      for (std::size_t k = last; k-- > first;) stack.push_back({place.level - 1, k});
      continue;
    }
    const std::span<const Transition> read = reader.read(place.node);
    for (std::size_t i = 0; i < read.size(); ++i) {
      const std::int64_t until = i + 1 < read.size() ? read[i + 1].time_ns : end;
      if (until <= from_ns) continue;
      if (static_cast<double>(read[i].time_ns) >= to) break;
      const Part whole{read[i].context, 1};
      pixels.pour(read[i].time_ns, until, {&whole, 1}, 1);
    }
  }
  pixels.flush();
}

}  // namespace fathom::summary
