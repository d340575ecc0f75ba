// The wire format of tiles.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "base/parallel.hpp"
#include "trace/summary/timeline.hpp"

namespace fathom::summary {

namespace {

constexpr std::uint16_t kEmpty = 0xFFFF;
constexpr std::uint16_t kSomewhereBelow = 0x8000;
constexpr std::size_t kMostNames = 0x7FFE;
constexpr std::uint32_t kExact = 1;
constexpr std::uint32_t kPartial = 2;
constexpr std::uint32_t kInnermost = 255;
constexpr std::uint32_t kNoContext = kNothing | kBelow;

template <class T>
void put(std::string& out, T value) {
  static_assert(std::endian::native == std::endian::little);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Names are the contexts that occur, each once; a cell holds a place in that list.
class Names {
 public:
  explicit Names(const std::vector<Contexts::Node>& nodes) : nodes_(nodes) {}
  std::uint16_t place(std::uint32_t context) {
    const auto found = places_.find(context);
    if (found != places_.end()) return found->second;
    if (list_.size() >= kMostNames) {
      // Full: something around it has to do.
      const std::uint32_t above = nodes_[context].parent;
      return above == kNothing ? std::uint16_t{0} : place(above);
    }
    places_.emplace(context, static_cast<std::uint16_t>(list_.size()));
    list_.push_back(context);
    return static_cast<std::uint16_t>(list_.size() - 1);
  }
  [[nodiscard]] const std::vector<std::uint32_t>& list() const { return list_; }

 private:
  const std::vector<Contexts::Node>& nodes_;
  std::unordered_map<std::uint32_t, std::uint16_t> places_;
  std::vector<std::uint32_t> list_;
};

struct Cell {
  std::uint32_t context = kNoContext;  // of the timeline, maybe with kBelow
  std::uint8_t share = 0;
  std::uint8_t calls = 0;
};

// What a part of a pixel counts as, at the depth that is asked for.
class Looking {
 public:
  Looking(const std::vector<Contexts::Node>& nodes, const TileRequest& request)
      : nodes_(nodes), focus_(request.focus), focus_context_(request.focus_context) {
    if (focused()) inside_.assign(nodes.size(), kUnknown);
  }
  // kNoContext: it does not count.
  std::uint32_t at(std::uint32_t global, bool below, std::uint32_t depth, bool lane) {
    if (global >= nodes_.size()) return kNoContext;  // met since the contexts were asked for
    if (focused()) return inside(global);
    const std::uint32_t own = nodes_[global].depth;
    if (depth != kInnermost && own >= depth) return at_depth(nodes_, global, depth);
    if (lane) return kNoContext;
    return below ? global | kBelow : global;
  }

 private:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFE;
  [[nodiscard]] bool focused() const { return focus_.valid() || focus_context_ != kNothing; }
  // The outermost call of the region around a context, or the context that is asked for.
  std::uint32_t inside(std::uint32_t global) {
    std::vector<std::uint32_t> path;  // up to where it is known
    std::uint32_t at = global;
    for (; at != kNothing && inside_[at] == kUnknown; at = nodes_[at].parent) path.push_back(at);
    std::uint32_t found = at == kNothing ? kNoContext : inside_[at];
    for (std::size_t i = path.size(); i-- > 0;) {
      const Step& step = nodes_[path[i]].step;
      const bool named =
          focus_.valid() && step.kind == StepKind::region && static_cast<std::size_t>(step.id) == focus_.index();
      if (found == kNoContext && (named || path[i] == focus_context_)) found = path[i];
      inside_[path[i]] = found;
    }
    return found;
  }
  const std::vector<Contexts::Node>& nodes_;
  RegionId focus_;
  std::uint32_t focus_context_;
  std::vector<std::uint32_t> inside_;
};

void add(std::vector<Part>& parts, std::uint32_t context, double time) {
  for (Part& part : parts) {
    if (part.context != context) continue;
    part.time_ns += time;
    return;
  }
  parts.push_back({context, time});
}

std::uint8_t calls_of(double begun) {
  return begun < 1 ? std::uint8_t{0} : static_cast<std::uint8_t>(std::min(255L, 1 + std::lround(std::log2(begun))));
}

void choose(const std::vector<Part>& parts, double width, Cell& cell) {
  const Part* best = nullptr;
  for (const Part& part : parts) {
    if (best == nullptr || part.time_ns > best->time_ns) best = &part;
  }
  if (best == nullptr) return;
  cell.context = best->context;
  cell.share = static_cast<std::uint8_t>(std::clamp<long>(std::lround(best->time_ns / width * 255), 1, 255));
}

// One location into one row, or into one row per level of its stack.
class RowPainter final : public BlockTree::PixelSink {
 public:
  RowPainter(const TimelineRow& row, Looking& looking, const TileRequest& request, double width, Cell* cells)
      : row_(row), looking_(looking), request_(request), width_(width), cells_(cells) {}

  void pixel(std::size_t index, std::span<const Part> parts, double begun) override {
    const std::size_t lanes = std::max<std::size_t>(request_.lanes, 1);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t depth = request_.depth + static_cast<std::uint32_t>(lane);
      merged_.clear();
      for (const Part& part : parts) {
        const std::uint32_t plain = part.context & ~kBelow;
        if (plain == kNothing) continue;
        const std::uint32_t context =
            looking_.at(row_.global[plain], (part.context & kBelow) != 0, depth, request_.lanes > 0);
        if (context != kNoContext) add(merged_, context, part.time_ns);
      }
      Cell& cell = cells_[lane * request_.bins + index];
      choose(merged_, width_, cell);
      cell.calls = calls_of(begun);
    }
  }

 private:
  const TimelineRow& row_;
  Looking& looking_;
  const TileRequest& request_;
  double width_;
  Cell* cells_;
  std::vector<Part> merged_;
};

// Several locations into one row.
class GroupPainter final : public BlockTree::PixelSink {
 public:
  GroupPainter(Looking& looking, const TileRequest& request) : looking_(looking), request_(request) {
    parts_.resize(request.bins);
    begun_.resize(request.bins);
  }
  void next(const TimelineRow& row) { row_ = &row; }
  void pixel(std::size_t index, std::span<const Part> parts, double begun) override {
    for (const Part& part : parts) {
      const std::uint32_t plain = part.context & ~kBelow;
      if (plain == kNothing) continue;
      const std::uint32_t context =
          looking_.at(row_->global[plain], (part.context & kBelow) != 0, request_.depth, false);
      if (context != kNoContext) add(parts_[index], context, part.time_ns);
    }
    begun_[index] += begun;
  }
  void finish(double width, Cell* cells) const {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      choose(parts_[i], width, cells[i]);
      cells[i].calls = calls_of(begun_[i]);
    }
  }

 private:
  Looking& looking_;
  const TileRequest& request_;
  const TimelineRow* row_ = nullptr;
  std::vector<std::vector<Part>> parts_;
  std::vector<double> begun_;
};

}  // namespace

std::string encode_tile(const Timeline& timeline, const TileRequest& request) {
  const std::size_t rows = request.lanes > 0 ? request.lanes : request.rows.size();
  const std::size_t cells = rows * request.bins;
  const double width = std::ldexp(1.0, static_cast<int>(request.k));
  const std::int64_t from = timeline.begin_ns() + request.first_ns;
  // Rows before contexts: what a row names is then among them.
  std::vector<std::vector<RowPtr>> members(request.rows.size());
  bool whole = true;
  for (std::size_t r = 0; r < request.rows.size(); ++r) {
    for (const std::uint32_t location : request.rows[r]) {
      members[r].push_back(timeline.row(location));
      whole = whole && members[r].back() != nullptr && members[r].back()->whole;
    }
  }
  const auto [nodes, version] = timeline.contexts();
  std::vector<Cell> painted(cells);
  const auto paint = [&](std::size_t first, std::size_t last) -> Result<void> {
    Looking looking(*nodes, request);
    for (std::size_t r = first; r < last; ++r) {
      Cell* const out = &painted[r * request.bins];
      if (members[r].size() == 1 && members[r][0] != nullptr) {
        RowPainter painter(*members[r][0], looking, request, width, out);
        members[r][0]->tree.query(from, width, request.bins, request.exact, painter);
      } else if (members[r].size() > 1) {
        GroupPainter painter(looking, request);
        for (const RowPtr& member : members[r]) {
          if (member == nullptr) continue;
          painter.next(*member);
          member->tree.query(from, width, request.bins, request.exact, painter);
        }
        painter.finish(width * static_cast<double>(members[r].size()), out);
      }
    }
    return {};
  };
  (void)parallel_blocks(members.size(), 4, paint);
  Names names(*nodes);
  std::vector<std::uint16_t> dominant(cells, kEmpty);
  for (std::size_t i = 0; i < cells; ++i) {
    const std::uint32_t context = painted[i].context;
    if (context == kNoContext) continue;
    dominant[i] =
        static_cast<std::uint16_t>(names.place(context & ~kBelow) | ((context & kBelow) != 0 ? kSomewhereBelow : 0));
  }
  std::string out;
  out.reserve(32 + names.list().size() * 4 + cells * 4);
  out += "FTL1";
  put(out, request.exact && whole ? kExact : kPartial);
  put(out, request.first_ns);
  put(out, static_cast<std::uint8_t>(request.k));
  put(out, static_cast<std::uint8_t>(std::min<std::uint32_t>(request.depth, kInnermost)));
  put(out, static_cast<std::uint16_t>(request.bins));
  put(out, static_cast<std::uint16_t>(rows));
  put(out, static_cast<std::uint16_t>(names.list().size()));
  put(out, version);
  put(out, std::uint32_t{0});
  for (const std::uint32_t context : names.list()) put(out, context);
  out.append(reinterpret_cast<const char*>(dominant.data()), cells * sizeof(std::uint16_t));
  for (const Cell& cell : painted) out += static_cast<char>(cell.share);
  for (const Cell& cell : painted) out += static_cast<char>(cell.calls);
  return out;
}

}  // namespace fathom::summary
