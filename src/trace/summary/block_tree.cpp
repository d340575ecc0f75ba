#include "trace/summary/block_tree.hpp"

#include <algorithm>
#include <cmath>

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

// Until no more than kShares are left, the lightest gives its time to "somewhere below its parent". What is below
// nothing in particular cannot be folded any further.
void fold(std::vector<Part>& parts, const Contexts& contexts) {
  constexpr std::uint32_t kAnywhere = kNothing | kBelow;
  while (parts.size() > kShares) {
    auto lightest = parts.end();
    for (auto part = parts.begin(); part != parts.end(); ++part) {
      if (part->context == kAnywhere) continue;
      if (lightest == parts.end() || part->time_ns < lightest->time_ns) lightest = part;
    }
    const Part gone = *lightest;
    parts.erase(lightest);
    add_part(parts, parent_of(contexts, gone.context) | kBelow, gone.time_ns);
  }
}

Node make_node(std::int64_t begin, std::int64_t end, std::vector<Part>& parts, const Contexts& contexts) {
  fold(parts, contexts);
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.time_ns > b.time_ns; });
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

void put_varint(std::vector<std::uint8_t>& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(value));
}

std::uint64_t get_varint(const std::uint8_t*& at) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const std::uint8_t byte = *at++;
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
}

}  // namespace

std::uint64_t BlockTree::bytes() const {
  std::uint64_t sum = packed_.capacity() + offsets_.capacity() * sizeof(std::uint64_t);
  for (const auto& level : levels_) sum += level.capacity() * sizeof(Node);
  return sum;
}

void BlockTreeBuilder::add(Transition transition) {
  // A location does one thing at a time: of several at one moment the last counts.
  if (!open_.empty() && open_.back().time_ns >= transition.time_ns) {
    open_.back().context = transition.context;
    return;
  }
  if (open_.size() == kBlock) close_block(transition.time_ns);
  open_.push_back(transition);
}

// A dictionary of the block's contexts, then per transition the time since the one before and a place in the
// dictionary.
void BlockTreeBuilder::close_block(std::int64_t end_ns) {
  std::vector<Part> parts;
  std::vector<std::uint32_t> dictionary;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    const std::int64_t until = i + 1 < open_.size() ? open_[i + 1].time_ns : end_ns;
    add_part(parts, open_[i].context, static_cast<double>(until - open_[i].time_ns));
    if (std::find(dictionary.begin(), dictionary.end(), open_[i].context) == dictionary.end()) {
      dictionary.push_back(open_[i].context);
    }
  }
  tree_.offsets_.push_back(tree_.packed_.size());
  auto& out = tree_.packed_;
  out.push_back(static_cast<std::uint8_t>(open_.size()));
  out.push_back(static_cast<std::uint8_t>(dictionary.size()));
  for (const std::uint32_t context : dictionary) put_varint(out, context);
  std::int64_t before = open_.front().time_ns;
  for (const Transition& t : open_) {
    put_varint(out, static_cast<std::uint64_t>(t.time_ns - before));
    before = t.time_ns;
    const auto at = std::find(dictionary.begin(), dictionary.end(), t.context) - dictionary.begin();
    out.push_back(static_cast<std::uint8_t>(at));
  }
  if (tree_.levels_.empty()) tree_.levels_.emplace_back();
  tree_.levels_[0].push_back(make_node(open_.front().time_ns, end_ns, parts, contexts_));
  tree_.count_ += open_.size();
  open_.clear();
}

BlockTree BlockTreeBuilder::finish(std::int64_t end_ns) && {
  if (!open_.empty()) {
    end_ns = std::max(end_ns, open_.back().time_ns);
    close_block(end_ns);
  }
  tree_.end_ns_ = end_ns;
  while (!tree_.levels_.empty() && tree_.levels_.back().size() > 1) {
    const std::vector<Node>& below = tree_.levels_.back();
    std::vector<Node> level;
    for (std::size_t i = 0; i < below.size(); i += kFan) {
      const std::size_t last = std::min(i + kFan, below.size());
      std::vector<Part> parts;
      for (std::size_t k = i; k < last; ++k) {
        const std::int64_t end = k + 1 < below.size() ? below[k + 1].begin_ns : end_ns;
        const auto time = static_cast<double>(end - below[k].begin_ns);
        for (std::size_t s = 0; s < kShares; ++s) {
          if (below[k].share[s] > 0) add_part(parts, below[k].context[s], time * below[k].share[s] / 65535);
        }
      }
      const std::int64_t end = last < below.size() ? below[last].begin_ns : end_ns;
      level.push_back(make_node(below[i].begin_ns, end, parts, contexts_));
    }
    tree_.levels_.push_back(std::move(level));
  }
  return std::move(tree_);
}

void BlockTree::unpack(std::size_t block, std::vector<Transition>& out) const {
  out.clear();
  const std::uint8_t* at = packed_.data() + offsets_[block];
  const std::size_t count = *at++;
  std::array<std::uint32_t, kBlock> dictionary{};
  const std::size_t entries = *at++;
  for (std::size_t i = 0; i < entries; ++i) dictionary[i] = static_cast<std::uint32_t>(get_varint(at));
  std::int64_t time = levels_[0][block].begin_ns;
  for (std::size_t i = 0; i < count; ++i) {
    time += static_cast<std::int64_t>(get_varint(at));
    out.push_back({time, dictionary[*at++]});
  }
}

std::size_t BlockTree::block_at(std::int64_t time_ns) const {
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

void BlockTree::query(std::int64_t from_ns, double width_ns, std::size_t count, bool exact, const Contexts&,
                      PixelSink& sink) const {
  if (levels_.empty() || count == 0) return;
  Pixels pixels(from_ns, width_ns, count, sink);
  const double to = static_cast<double>(from_ns) + width_ns * static_cast<double>(count);
  std::vector<Transition> unpacked;
  struct Place {
    std::size_t level;
    std::size_t node;
  };
  std::vector<Place> stack = {{levels_.size() - 1, 0}};
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
    if (narrow || single || (place.level == 0 && !exact)) {
      shares.clear();
      for (std::size_t i = 0; i < kShares; ++i) {
        if (node.share[i] > 0) shares.push_back({node.context[i], node.share[i] / 65535.0});
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
    unpack(place.node, unpacked);
    for (std::size_t i = 0; i < unpacked.size(); ++i) {
      const std::int64_t until = i + 1 < unpacked.size() ? unpacked[i + 1].time_ns : end;
      if (until <= from_ns) continue;
      if (static_cast<double>(unpacked[i].time_ns) >= to) break;
      const Part whole{unpacked[i].context, 1};
      pixels.pour(unpacked[i].time_ns, until, {&whole, 1}, 1);
    }
  }
  pixels.flush();
}

}  // namespace fathom::summary
