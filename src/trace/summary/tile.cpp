// The wire format of tiles.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "trace/summary/timeline.hpp"

namespace fathom::summary {

namespace {

constexpr std::uint16_t kEmpty = 0xFFFF;
constexpr std::uint16_t kSomewhereBelow = 0x8000;
constexpr std::uint32_t kExact = 1;
constexpr std::uint32_t kPartial = 2;
constexpr std::uint32_t kInnermost = 255;

template <class T>
void put(std::string& out, T value) {
  static_assert(std::endian::native == std::endian::little);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Names are the contexts that occur, each once; a cell holds a place in that list.
class Names {
 public:
  std::uint16_t place(std::uint32_t context) {
    const auto [found, fresh] = places_.try_emplace(context, static_cast<std::uint16_t>(list_.size()));
    if (fresh) list_.push_back(context);
    return found->second;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& list() const { return list_; }

 private:
  std::unordered_map<std::uint32_t, std::uint16_t> places_;
  std::vector<std::uint32_t> list_;
};

class RowPainter final : public BlockTree::PixelSink {
 public:
  RowPainter(const TimelineRow& row, std::uint32_t depth, double width, Names& names, std::uint16_t* dominant,
             std::uint8_t* share, std::uint8_t* calls)
      : row_(row), depth_(depth), width_(width), names_(names), dominant_(dominant), share_(share), calls_(calls) {}

  void pixel(std::size_t index, std::span<const Part> parts, double begun) override {
    // At the depth asked for; what is only known to lie below something less deep stays that.
    merged_.clear();
    for (const Part& part : parts) {
      std::uint32_t context = part.context;
      const std::uint32_t plain = context & ~kBelow;
      if (plain != kNothing && depth_ != kInnermost && row_.contexts[plain].depth >= depth_) {
        context = row_.contexts.at_depth(plain, depth_);
      }
      bool found = false;
      for (Part& m : merged_) {
        if (m.context != context) continue;
        m.time_ns += part.time_ns;
        found = true;
      }
      if (!found) merged_.push_back({context, part.time_ns});
    }
    const Part* best = nullptr;
    for (const Part& part : merged_) {
      if ((part.context & ~kBelow) == kNothing) continue;
      if (best == nullptr || part.time_ns > best->time_ns) best = &part;
    }
    calls_[index] = begun < 1 ? 0 : static_cast<std::uint8_t>(1 + std::lround(std::log2(begun)));
    if (best == nullptr) return;
    const bool below = (best->context & kBelow) != 0;
    const std::uint16_t place = names_.place(row_.global[best->context & ~kBelow]);
    dominant_[index] = static_cast<std::uint16_t>(place | (below ? kSomewhereBelow : 0));
    share_[index] = static_cast<std::uint8_t>(std::clamp<long>(std::lround(best->time_ns / width_ * 255), 1, 255));
  }

 private:
  const TimelineRow& row_;
  std::uint32_t depth_;
  double width_;
  Names& names_;
  std::uint16_t* dominant_;
  std::uint8_t* share_;
  std::uint8_t* calls_;
  std::vector<Part> merged_;
};

}  // namespace

std::string encode_tile(const Timeline& timeline, const TileRequest& request) {
  const std::size_t rows = request.rows.size();
  const std::size_t cells = rows * request.bins;
  std::vector<std::uint16_t> dominant(cells, kEmpty);
  std::vector<std::uint8_t> share(cells);
  std::vector<std::uint8_t> calls(cells);
  Names names;
  const double width = std::ldexp(1.0, static_cast<int>(request.k));
  for (std::size_t r = 0; r < rows; ++r) {
    const TimelineRow& row = timeline.rows()[request.rows[r]];
    RowPainter painter(row, request.depth, width, names, &dominant[r * request.bins], &share[r * request.bins],
                       &calls[r * request.bins]);
    row.tree.query(timeline.begin_ns() + request.first_ns, width, request.bins, request.exact, row.contexts, painter);
  }
  std::string out;
  out.reserve(32 + names.list().size() * 4 + cells * 4);
  out += "FTL1";
  put(out, request.exact ? kExact : kPartial);
  put(out, request.first_ns);
  put(out, static_cast<std::uint8_t>(request.k));
  put(out, static_cast<std::uint8_t>(std::min<std::uint32_t>(request.depth, kInnermost)));
  put(out, static_cast<std::uint16_t>(request.bins));
  put(out, static_cast<std::uint16_t>(rows));
  put(out, static_cast<std::uint16_t>(names.list().size()));
  out.append(8, '\0');
  for (const std::uint32_t context : names.list()) put(out, context);
  out.append(reinterpret_cast<const char*>(dominant.data()), cells * sizeof(std::uint16_t));
  out.append(reinterpret_cast<const char*>(share.data()), cells);
  out.append(reinterpret_cast<const char*>(calls.data()), cells);
  return out;
}

}  // namespace fathom::summary
