#include "trace/slice_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <queue>
#include <tuple>

#include "base/number.hpp"
#include "base/parallel.hpp"
#include "trace/group_by_row.hpp"
#include "trace/open_names.hpp"

namespace fathom {

namespace {

// Stand in end_ns until slices are paired.
constexpr std::int64_t kBegin = INT64_MAX - 1;
constexpr std::int64_t kEnd = INT64_MAX - 2;
constexpr std::int64_t kLatestEnd = INT64_MAX - 3;
// More rows than this beside one another help nobody; then slices are cut.
constexpr std::size_t kMostLanes = 256;
constexpr std::uint64_t kMostFlowed = UINT64_MAX >> 3;

StoredSlice made(std::uint32_t row, std::int64_t begin, std::int64_t end, std::uint32_t region, std::uint64_t record) {
  StoredSlice slice;
  slice.begin_ns = begin;
  slice.end_ns = end;
  slice.region = region;
  slice.row = row;
  slice.record = std::min(record, StoredSlice::kNoRecord) & StoredSlice::kNoRecord;
  return slice;
}

bool by_time(const StoredSlice& a, const StoredSlice& b) {
  return std::tuple(a.begin_ns, std::uint64_t{a.record}) < std::tuple(b.begin_ns, std::uint64_t{b.record});
}
bool longest_first(const StoredSlice& a, const StoredSlice& b) {
  return std::tuple(b.end_ns, std::uint64_t{a.record}) < std::tuple(a.end_ns, std::uint64_t{b.record});
}
std::uint16_t depth_of(std::size_t open) { return static_cast<std::uint16_t>(std::min<std::size_t>(open, UINT16_MAX)); }
bool is_complete(const StoredSlice& slice) { return slice.end_ns <= kLatestEnd; }

}  // namespace

SliceStore::SliceStore(const Work& work)
    : work_(work),
      pool_(std::make_unique<ArrayPool>(work->budget)),
      slices_(*pool_),
      lanes_(*pool_),
      floated_(*pool_),
      points_(*pool_),
      floating_(*pool_),
      flows_(*pool_) {}

void SliceStore::slice(std::uint32_t row, std::int64_t begin_ns, std::int64_t end_ns, std::uint32_t region,
                       std::uint64_t record) {
  slices_.push_back(made(row, begin_ns, std::clamp(end_ns, begin_ns, kLatestEnd), region, record));
}
void SliceStore::begin(std::uint32_t row, std::int64_t time_ns, std::uint32_t region, std::uint64_t record) {
  slices_.push_back(made(row, time_ns, kBegin, region, record));
}
void SliceStore::end(std::uint32_t row, std::int64_t time_ns, std::uint32_t region, std::uint64_t record) {
  slices_.push_back(made(row, time_ns, kEnd, region, record));
}
void SliceStore::begin_floating(std::uint32_t row, std::uint64_t key, std::int64_t time_ns, std::uint32_t region,
                                std::uint64_t record) {
  floating_.push_back({time_ns, key, record & (UINT64_MAX >> 1), 0, region, row});
}
void SliceStore::end_floating(std::uint32_t row, std::uint64_t key, std::int64_t time_ns, std::uint32_t region,
                              std::uint64_t record) {
  floating_.push_back({time_ns, key, record & (UINT64_MAX >> 1), 1, region, row});
}
void SliceStore::point(std::uint32_t row, Event event) {
  event.location = LocationId(row);
  has_arrows_ = has_arrows_ || (event.kind == EventKind::marker && event.origin != Event::kNoRecord);
  points_.push_back(event);
}
void SliceStore::flow(std::uint32_t row, Event event, std::uint64_t id, FlowPart part) {
  point(row, event);
  flow_of_last_point(id, part);
}
void SliceStore::flow_of_last_point(std::uint64_t id, FlowPart part) {
  if (points_.empty()) return;
  flows_.push_back(
      {points_.back().time_ns, id, (points_.size() - 1) & kMostFlowed, 0, static_cast<std::uint64_t>(part) & 3});
}
void SliceStore::flow_of_slice(std::int64_t time_ns, std::uint64_t record, std::uint64_t id) {
  flows_.push_back({time_ns, id, record & kMostFlowed, 1, static_cast<std::uint64_t>(FlowPart::begin) & 3});
}

// Files have them in any order: who is waited for may be written behind who waits.
void SliceStore::join_flows() {
  std::sort(flows_.begin(), flows_.end(), [](const Flow& a, const Flow& b) {
    return std::tuple(a.id, a.time_ns, std::uint64_t{a.is_slice}, std::uint64_t{a.at}) <
           std::tuple(b.id, b.time_ns, std::uint64_t{b.is_slice}, std::uint64_t{b.at});
  });
  std::uint64_t from = Event::kNoRecord;
  const auto join = [&](const Flow& one) {
    if (one.is(FlowPart::begin)) from = Event::kNoRecord;
    std::uint64_t record = one.at;
    if (one.is_slice == 0) {
      Event& point = points_[one.at];
      if (from != Event::kNoRecord) {
        point.origin = from;
        has_arrows_ = true;
      }
      record = point.record;
    }
    if (!one.is(FlowPart::arrive)) from = one.is(FlowPart::end) ? Event::kNoRecord : record;
  };
  std::vector<Flow> early;  // ends that stand before the beginning of the same moment
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    const Flow& one = flows_[i];
    if (i == 0 || flows_[i - 1].id != one.id) from = Event::kNoRecord;
    const bool arrives = one.is(FlowPart::end) || one.is(FlowPart::arrive);
    if (arrives && from == Event::kNoRecord) {
      early.push_back(one);
    } else {
      join(one);
    }
    const Flow* next = i + 1 < flows_.size() ? &flows_[i + 1] : nullptr;
    if (next != nullptr && next->id == one.id && next->time_ns == one.time_ns) continue;
    for (const Flow& end : early) join(end);
    early.clear();
  }
  flows_.resize(0);
}

// The slices of one row: pairs begins with ends and finds a lane for each. What stays in the row is written over what
// was read, which is never less.
class SliceStore::Arranger {
 public:
  explicit Arranger(std::span<StoredSlice> slices) : slices_(slices), lanes_(1) {}

  void run() {
    sort();
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      const StoredSlice slice = slices_[i];
      if (slice.end_ns == kEnd) {
        close(slice);
      } else if (slice.end_ns == kBegin) {
        drop_finished(lanes_[0], slice.begin_ns);
        push(0, slice, true);
        begun(slice.begin_ns);
      } else {
        place(slice);
      }
    }
    drop_finished(lanes_[0], INT64_MAX);
    for (const Open& open : lanes_[0].open) {
      slices_[open.at].end_ns = StoredSlice::kOpen;
      ++defects.unfinished;
    }
  }

  [[nodiscard]] std::size_t kept() const { return kept_; }
  [[nodiscard]] std::size_t lane_count() const { return lanes_.size(); }
  [[nodiscard]] const std::vector<StoredSlice>& lane(std::size_t i) const { return lanes_[i].slices; }
  Defects defects;

 private:
  struct Open {
    std::size_t at;  // in the slices of the lane
    std::int64_t end_ns;
    bool waits;  // for its end
  };
  struct Lane {
    std::vector<Open> open;
    OpenNames waiting;                  // regions of those that wait for their end; of the row itself
    std::vector<std::size_t> complete;  // which of those that are open do not wait
    std::vector<StoredSlice> slices;    // of the row itself: empty
  };

  // Of slices that begin together the longest is the outermost; ends and begins keep the order of the file.
  void sort() {
    bool sorted = true;
    bool together = false;
    for (std::size_t i = 1; i < slices_.size() && sorted; ++i) {
      const StoredSlice& before = slices_[i - 1];
      const StoredSlice& slice = slices_[i];
      if (before.begin_ns < slice.begin_ns) continue;
      sorted = !by_time(slice, before);
      together = together || (is_complete(before) && is_complete(slice));
    }
    if (sorted && !together) return;
    if (!sorted) std::sort(slices_.begin(), slices_.end(), by_time);
    for (std::size_t i = 0; i < slices_.size();) {
      std::size_t end = i + 1;
      while (end < slices_.size() && slices_[end].begin_ns == slices_[i].begin_ns && is_complete(slices_[end]) &&
             is_complete(slices_[i])) {
        ++end;
      }
      if (end - i > 1)
        std::sort(slices_.begin() + static_cast<std::ptrdiff_t>(i), slices_.begin() + static_cast<std::ptrdiff_t>(end),
                  longest_first);
      i = end;
    }
  }

  // What was over before `time`; what still waits for its end inside of it ends with it.
  void drop_finished(Lane& lane, std::int64_t time) {
    while (!lane.complete.empty()) {
      const std::size_t at = lane.complete.back();
      if (lane.open[at].end_ns > time) return;
      for (std::size_t i = at + 1; i < lane.open.size(); ++i) close_early(lane.open[i], lane.open[at].end_ns);
      lane.open.resize(at);
      lane.complete.pop_back();
    }
  }

  void push(std::size_t lane, StoredSlice slice, bool waits) {
    Lane& to = lanes_[lane];
    slice.depth = depth_of(to.open.size());
    const std::size_t at = lane == 0 ? kept_++ : to.slices.size();
    if (lane == 0) {
      slices_[at] = slice;
    } else {
      to.slices.push_back(slice);
    }
    if (!waits) to.complete.push_back(to.open.size());
    to.open.push_back({at, slice.end_ns, waits});
    if (waits && lane == 0) to.waiting.add(slice.region);
  }

  void place(const StoredSlice& slice) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      Lane& lane = lanes_[i];
      drop_finished(lane, slice.begin_ns);
      if (lane.open.empty() || lane.open.back().waits || lane.open.back().end_ns >= slice.end_ns) {
        if (i > 0) ++defects.overlapping;
        return push(i, slice, false);
      }
    }
    if (lanes_.size() < kMostLanes) {
      lanes_.emplace_back();
      ++defects.overlapping;
      return push(lanes_.size() - 1, slice, false);
    }
    StoredSlice cut = slice;
    cut.end_ns = lanes_[0].open.back().end_ns;
    ++defects.closed_early;
    push(0, cut, false);
  }

  void close(const StoredSlice& end) {
    Lane& lane = lanes_[0];
    drop_finished(lane, end.begin_ns);
    if (forgive(end)) return;
    if (end.region != Event::kNoName && !lane.waiting.has(end.region)) {
      ++defects.unmatched_ends;
      return;
    }
    const auto found = std::find_if(lane.open.rbegin(), lane.open.rend(), [&](const Open& open) {
      return open.waits && (end.region == Event::kNoName || slices_[open.at].region == end.region);
    });
    if (found == lane.open.rend()) {
      ++defects.unmatched_ends;
      return;
    }
    const std::size_t at = static_cast<std::size_t>(lane.open.rend() - found) - 1;
    slices_[lane.open[at].at].end_ns = end.begin_ns;
    ended(slices_[lane.open[at].at]);
    for (std::size_t i = at + 1; i < lane.open.size(); ++i) {
      close_early(lane.open[i], end.begin_ns);
      if (!lane.open[i].waits) lane.complete.pop_back();
    }
    lane.open.resize(at);
  }

  void close_early(const Open& open, std::int64_t time) {
    StoredSlice& slice = slices_[open.at];
    slice.end_ns = time;
    ++defects.closed_early;
    if (!open.waits) return;
    ended(slice);
    if (!early_.empty() && early_.back().end_ns != time) forget_early();
    early_.push_back(slice);
    early_regions_.add(slice.region);
  }

  // Ends of the same moment come in any order: a slice that was closed early ended at its time all the same when its
  // own end says so. An end without a name is that of the innermost one, unless another has begun since.
  bool forgive(const StoredSlice& end) {
    if (!early_.empty() && early_.back().end_ns != end.begin_ns) forget_early();
    const bool unnamed = end.region == Event::kNoName;
    if (unnamed ? early_.empty() || begun_at(end.begin_ns) : !early_regions_.has(end.region)) return false;
    const auto found = std::find_if(early_.rbegin(), early_.rend(),
                                    [&](const StoredSlice& slice) { return unnamed || slice.region == end.region; });
    early_regions_.remove(found->region);
    early_.erase(std::next(found).base());
    --defects.closed_early;
    return true;
  }

  // Whether the innermost slice that waits for its end began at that time.
  [[nodiscard]] bool begun_at(std::int64_t time) const { return latest_begin_ == time && begun_latest_ > 0; }
  void begun(std::int64_t time) {
    if (time != latest_begin_) begun_latest_ = 0;
    latest_begin_ = time;
    ++begun_latest_;
  }
  void ended(const StoredSlice& slice) {
    lanes_[0].waiting.remove(slice.region);
    if (slice.begin_ns == latest_begin_) --begun_latest_;
  }

  void forget_early() {
    early_.clear();
    early_regions_.clear();
  }

  std::span<StoredSlice> slices_;
  std::vector<Lane> lanes_;
  std::vector<StoredSlice> early_;  // of the last moment at which some were closed early
  OpenNames early_regions_;         // of those
  std::int64_t latest_begin_ = INT64_MIN;
  std::size_t begun_latest_ = 0;  // how many that wait for their end began then
  std::size_t kept_ = 0;
};

Result<void> SliceStore::arrange_rows(std::uint32_t rows) {
  const auto first_slice = group_by_row(slices_, rows, *pool_, [](const StoredSlice& slice) { return slice.row; });
  const auto first_point = group_by_row(points_, rows, *pool_, [](const Event& event) { return event.location.value; });
  FATHOM_CHECK(pool_->status());
  rows_.resize(rows);
  struct Beside {
    std::uint32_t row;
    std::uint32_t lane;
    std::size_t begin, end;
  };
  std::vector<Beside> beside;
  std::mutex mutex;
  FATHOM_CHECK(parallel_for(rows, [&](std::size_t row) -> Result<void> {
    const std::span points(points_.data() + first_point[row], first_point[row + 1] - first_point[row]);
    const auto earlier = [](const Event& a, const Event& b) {
      return std::tuple(a.time_ns, a.record) < std::tuple(b.time_ns, b.record);
    };
    if (!std::is_sorted(points.begin(), points.end(), earlier)) std::stable_sort(points.begin(), points.end(), earlier);
    const std::span slices(slices_.data() + first_slice[row], first_slice[row + 1] - first_slice[row]);
    Arranger arranger(slices);
    arranger.run();
    rows_[row] = {slices.first(arranger.kept()), points, static_cast<std::uint32_t>(row), 0};
    const std::scoped_lock lock(mutex);
    defects_.overlapping += arranger.defects.overlapping;
    defects_.closed_early += arranger.defects.closed_early;
    defects_.unmatched_ends += arranger.defects.unmatched_ends;
    defects_.unfinished += arranger.defects.unfinished;
    slice_count_ += arranger.kept();
    for (std::size_t i = 1; i < arranger.lane_count(); ++i) {
      const std::size_t begin = lanes_.size();
      for (const StoredSlice& slice : arranger.lane(i)) lanes_.push_back(slice);
      beside.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(i), begin, lanes_.size()});
    }
    return {};
  }));
  FATHOM_CHECK(pool_->status());
  slice_count_ += lanes_.size();
  std::sort(beside.begin(), beside.end(),
            [](const Beside& a, const Beside& b) { return std::tie(a.row, a.lane) < std::tie(b.row, b.lane); });
  for (const Beside& one : beside) {
    rows_.push_back({{lanes_.data() + one.begin, one.end - one.begin}, {}, one.row, one.lane});
  }
  return {};
}

// All of a tree goes to the row in which it begins.
void SliceStore::gather_floating() {
  std::sort(floating_.begin(), floating_.end(), [](const Floating& a, const Floating& b) {
    return std::tuple(a.key, a.time_ns, std::uint64_t{a.record}) <
           std::tuple(b.key, b.time_ns, std::uint64_t{b.record});
  });
  std::size_t open = 0;
  std::uint32_t row = 0;
  for (std::size_t i = 0; i < floating_.size(); ++i) {
    Floating& one = floating_[i];
    if (i > 0 && floating_[i - 1].key != one.key) open = 0;
    if (open > 0) {
      one.row = row;
    } else {
      row = one.row;
    }
    if (!one.is_end) {
      ++open;
    } else if (open > 0) {
      --open;
    }
  }
}

// Each key has a stack of its own. A tree of them (from where nothing is open to where nothing is open again) goes as a
// whole to the first lane that is free.
void SliceStore::arrange_floating(std::uint32_t rows) {
  gather_floating();  // by key and time, which they stay in each row
  group_by_row(floating_, rows, *pool_, [](const Floating& one) { return one.row; });
  struct Tree {
    std::int64_t begin_ns, end_ns;
    std::size_t first, count;  // in paired
    std::uint32_t lane;
  };
  LargeArray<StoredSlice> paired(*pool_);
  LargeArray<Tree> trees(*pool_);
  std::vector<std::size_t> open;
  OpenNames names;
  std::size_t i = 0;
  for (std::uint32_t row = 0; row < rows && i < floating_.size(); ++row) {
    trees.resize(0);
    const std::size_t before = paired.size();
    while (i < floating_.size() && floating_[i].row == row) {
      const std::uint64_t key = floating_[i].key;
      std::size_t first = paired.size();
      open.clear();
      names.clear();
      const auto finish = [&] {
        if (paired.size() == first) return;
        std::int64_t last = paired[first].begin_ns;
        for (std::size_t k = first; k < paired.size(); ++k) last = std::max(last, paired[k].end_ns);
        trees.push_back({paired[first].begin_ns, last, first, paired.size() - first, 0});
        first = paired.size();
      };
      for (; i < floating_.size() && floating_[i].row == row && floating_[i].key == key; ++i) {
        const Floating& one = floating_[i];
        if (!one.is_end) {
          StoredSlice slice = made(row, one.time_ns, StoredSlice::kOpen, one.region, one.record);
          slice.depth = depth_of(open.size());
          open.push_back(paired.size());
          names.add(one.region);
          paired.push_back(slice);
          continue;
        }
        if (one.region != Event::kNoName && !names.has(one.region)) {
          ++defects_.unmatched_ends;
          continue;
        }
        const auto found = std::find_if(open.rbegin(), open.rend(), [&](std::size_t at) {
          return one.region == Event::kNoName || paired[at].region == one.region;
        });
        if (found == open.rend()) {
          ++defects_.unmatched_ends;
          continue;
        }
        const auto at = static_cast<std::size_t>(open.rend() - found) - 1;
        // What is open inside stays so: an operation may outlive the one that began it only on paper.
        for (std::size_t k = at; k < open.size(); ++k) {
          paired[open[k]].end_ns = one.time_ns;
          names.remove(paired[open[k]].region);
          if (k > at) ++defects_.closed_early;
        }
        open.resize(at);
        if (open.empty()) finish();
      }
      defects_.unfinished += open.size();
      finish();
    }
    std::sort(trees.begin(), trees.end(), [](const Tree& a, const Tree& b) {
      return std::tie(a.begin_ns, a.first) < std::tie(b.begin_ns, b.first);
    });
    using Free = std::pair<std::int64_t, std::uint32_t>;  // until when, which lane
    std::priority_queue<Free, std::vector<Free>, std::greater<>> busy;
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> idle;
    std::uint32_t lanes = 0;
    for (Tree& tree : trees) {
      while (!busy.empty() && busy.top().first <= tree.begin_ns) {
        idle.push(busy.top().second);
        busy.pop();
      }
      if (idle.empty()) idle.push(lanes++);
      tree.lane = idle.top();
      idle.pop();
      busy.push({tree.end_ns, tree.lane});
    }
    std::sort(trees.begin(), trees.end(), [](const Tree& a, const Tree& b) {
      return std::tie(a.lane, a.begin_ns, a.first) < std::tie(b.lane, b.begin_ns, b.first);
    });
    for (const Tree& tree : trees) {
      for (std::size_t k = tree.first; k < tree.first + tree.count; ++k) floated_.push_back(paired[k]);
    }
    if (paired.size() == before) continue;
    // Spans are taken at the end, when the array no longer moves: numbers stand in for pointers until then.
    std::size_t at = 0;
    std::size_t position = floated_.size() - (paired.size() - before);
    while (at < trees.size()) {
      const std::uint32_t lane = trees[at].lane;
      const std::size_t begin = position;
      for (; at < trees.size() && trees[at].lane == lane; ++at) position += trees[at].count;
      rows_.push_back({{reinterpret_cast<const StoredSlice*>(begin), position - begin}, {}, row, lane});
    }
  }
  slice_count_ += floated_.size();
}

Result<void> SliceStore::arrange(std::uint32_t rows, const Place& place) {
  FATHOM_CHECK(pool_->status());
  join_flows();
  FATHOM_CHECK(arrange_rows(rows));
  const std::size_t fixed = rows_.size();
  arrange_floating(rows);
  FATHOM_CHECK(pool_->status());
  std::vector<StoredRow> beside(rows_.begin() + static_cast<std::ptrdiff_t>(fixed), rows_.end());
  rows_.resize(fixed);
  for (StoredRow& row : beside) {
    row.slices = {floated_.data() + reinterpret_cast<std::size_t>(row.slices.data()), row.slices.size()};
    // The first of them is in the row itself, where nothing else is.
    if (row.lane == 0 && rows_[row.of].slices.empty()) {
      rows_[row.of].slices = row.slices;
    } else {
      rows_.push_back(row);
    }
  }
  return note(place);
}

Result<void> SliceStore::note(const Place& place) const {
  Diagnostics& diagnostics = work_->diagnostics;
  const auto say = [&](std::string_view id, Severity severity, std::uint64_t count,
                       std::string_view text) -> Result<void> {
    if (count == 0) return {};
    return diagnostics.add(id, severity, place, fmt::format(fmt::runtime(text), grouped(count)), count);
  };
  FATHOM_CHECK(say("trace.overlapping_slices", Severity::info, defects_.overlapping,
                   "{} slices overlap others of their row without lying inside; they are shown beside it"));
  FATHOM_CHECK(say("trace.closed_early", Severity::warning, defects_.closed_early,
                   "{} slices end early, with the one around them"));
  FATHOM_CHECK(say("trace.unmatched_end", Severity::warning, defects_.unmatched_ends,
                   "{} ends of slices that were not begun are left out"));
  return say("trace.unfinished", Severity::info, defects_.unfinished, "{} slices have no end");
}

}  // namespace fathom
