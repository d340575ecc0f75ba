#include "trace/stored_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom {

namespace {

// Enters and leaves of the slices, merged with the points.
class StoredStream : public CopyableStream {
 public:
  StoredStream(const StoredRow& row, LocationId location, std::int64_t shift_ns)
      : row_(row), location_(location), shift_ns_(shift_ns) {}

  Result<std::size_t> next(std::span<Event> out) override {
    std::size_t filled = 0;
    while (filled < out.size() && step(out[filled])) ++filled;
    return filled;
  }
  [[nodiscard]] std::unique_ptr<CopyableStream> copy() const override { return std::make_unique<StoredStream>(*this); }
  [[nodiscard]] std::uint64_t bytes() const override { return sizeof *this + open_.capacity() * sizeof(std::size_t); }

 private:
  [[nodiscard]] const StoredSlice& innermost() const { return row_.slices[open_.back()]; }

  bool step(Event& out) {
    const StoredSlice* slice = slice_ < row_.slices.size() ? &row_.slices[slice_] : nullptr;
    const Event* point = point_ < row_.points.size() ? &row_.points[point_] : nullptr;
    if (slice != nullptr && point != nullptr) {
      const bool point_first = point->time_ns < slice->begin_ns ||
                               (point->time_ns == slice->begin_ns && point->record < std::uint64_t{slice->record});
      if (point_first) {
        slice = nullptr;
      } else {
        point = nullptr;
      }
    }
    if (slice != nullptr) {
      if (open_.size() > slice->depth && innermost().end_ns <= slice->begin_ns) return leave(out);
      open_.push_back(slice_++);
      return fill(out, *slice, EventKind::enter, slice->begin_ns);
    }
    if (point != nullptr) {
      // At the very end of a slice it is still inside.
      if (!open_.empty() && innermost().end_ns < point->time_ns) return leave(out);
      ++point_;
      out = *point;
      out.location = location_;
      if (out.has_time) out.time_ns += shift_ns_;
      return true;
    }
    // What never ends stays open, and so does what is around it.
    if (open_.empty() || innermost().end_ns == StoredSlice::kOpen) return false;
    return leave(out);
  }

  bool leave(Event& out) {
    const StoredSlice& slice = innermost();
    open_.pop_back();
    return fill(out, slice, EventKind::leave, slice.end_ns);
  }

  bool fill(Event& out, const StoredSlice& slice, EventKind kind, std::int64_t time) const {
    out = Event{};
    out.time_ns = time + shift_ns_;
    out.record = slice.record == StoredSlice::kNoRecord ? Event::kNoRecord : std::uint64_t{slice.record};
    out.location = location_;
    out.name = slice.region;
    out.kind = kind;
    out.has_value = false;
    return true;
  }

  StoredRow row_;
  LocationId location_;
  std::int64_t shift_ns_;
  std::size_t slice_ = 0;
  std::size_t point_ = 0;
  std::vector<std::size_t> open_;
};

std::optional<TimeWindow> span_of(const StoredRow& row, std::int64_t shift_ns) {
  TimeWindow span{INT64_MAX, INT64_MIN};
  const auto cover = [&](std::int64_t time) {
    span.from_ns = std::min(span.from_ns, time);
    span.to_ns = std::max(span.to_ns, time);
  };
  if (!row.slices.empty()) cover(row.slices.front().begin_ns);
  // The last to end is among the last outermost one and what lies in it.
  for (std::size_t i = row.slices.size(); i-- > 0;) {
    cover(row.slices[i].begin_ns);
    if (row.slices[i].end_ns != StoredSlice::kOpen) cover(row.slices[i].end_ns);
    if (row.slices[i].depth == 0) break;
  }
  if (!row.points.empty()) {
    cover(row.points.front().time_ns);
    cover(row.points.back().time_ns);
  }
  if (span.from_ns > span.to_ns) return std::nullopt;
  return TimeWindow{span.from_ns + shift_ns, span.to_ns + shift_ns};
}

}  // namespace

Result<void> StoredTrace::finish(std::vector<RowNode> order, std::uint32_t rows, const Place& place,
                                 std::int64_t shift_ns) {
  FATHOM_CHECK(store_.arrange(rows, place));
  shift_ns_ = shift_ns;
  std::vector<SystemNode> nodes(rows);
  for (RowNode& one : order) {
    nodes[one.row] = one.node;
    by_location_.push_back(store_.rows()[one.row]);
    definitions_.system.add_location(std::move(one.node));
  }
  for (std::size_t i = rows; i < store_.rows().size(); ++i) {
    const StoredRow& row = store_.rows()[i];
    SystemNode node = nodes[row.of];
    node.label = fmt::format("{}+{}", node.label.empty() ? fmt::format("{}", node.file_id) : node.label, row.lane);
    node.name += fmt::format(" ({})", row.lane + 1);
    node.rank = static_cast<std::int64_t>(by_location_.size());  // one that no other has
    by_location_.push_back(row);
    definitions_.system.add_location(std::move(node));
  }
  windows_ = std::make_unique<WindowIndex[]>(by_location_.size());
  for (const StoredRow& row : by_location_) spans_.push_back(span_of(row, shift_ns_));
  return {};
}

Result<std::unique_ptr<EventStream>> StoredTrace::open(LocationId location, TimeWindow window) const {
  const auto whole = [&] {
    return std::make_unique<StoredStream>(by_location_[location.index()], location, shift_ns_);
  };
  if (window.everything()) return std::unique_ptr<EventStream>(whole());
  return windows_[location.index()].open(window, whole, work_);
}

std::optional<TimeWindow> StoredTrace::location_span(LocationId location) const { return spans_[location.index()]; }

std::optional<TimeWindow> StoredTrace::known_span() const {
  std::optional<TimeWindow> all;
  for (const auto& span : spans_) {
    if (!span) continue;
    if (!all) all = span;
    all->from_ns = std::min(all->from_ns, span->from_ns);
    all->to_ns = std::max(all->to_ns, span->to_ns);
  }
  return all;
}

}  // namespace fathom
