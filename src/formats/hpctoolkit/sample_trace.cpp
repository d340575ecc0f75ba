#include "formats/hpctoolkit/sample_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace fathom::hpctoolkit {

namespace {

class SampleStream : public EventStream {
 public:
  SampleStream(const SampleTrace& trace, const SampleLine& line, LocationId location, std::vector<std::uint32_t> order,
               std::uint64_t begin, std::uint64_t end)
      : trace_(trace), line_(line), location_(location), order_(std::move(order)), at_(begin), end_(end) {}

  Result<std::size_t> next(std::span<Event> out) override {
    std::size_t filled = 0;
    for (; filled < out.size() && at_ < end_; ++filled, ++at_) {
      const std::uint64_t record = order_.empty() ? at_ : order_[at_];
      Event& event = out[filled];
      event = Event{};
      event.kind = EventKind::sample;
      event.time_ns = trace_.time(line_, record);
      event.record = record;
      event.location = location_;
      event.name = trace_.map(trace_.context(line_, record)).value;
    }
    return filled;
  }

 private:
  const SampleTrace& trace_;
  const SampleLine& line_;
  LocationId location_;
  std::vector<std::uint32_t> order_;  // empty: as stored
  std::uint64_t at_;
  std::uint64_t end_;
};

// Several lines of one location as one stream.
class MergedStream : public EventStream {
 public:
  struct At {
    std::int64_t time;
    std::uint32_t line;
    std::uint64_t record;  // in the line
    std::uint64_t number;  // in the location
  };
  MergedStream(const SampleTrace& trace, const std::vector<SampleLine>& lines, std::vector<At> order)
      : trace_(trace), lines_(lines), order_(std::move(order)) {}

  Result<std::size_t> next(std::span<Event> out) override {
    std::size_t filled = 0;
    for (; filled < out.size() && at_ < order_.size(); ++filled, ++at_) {
      const At& from = order_[at_];
      const SampleLine& line = lines_[from.line];
      const std::uint32_t number = trace_.context(line, from.record);
      Event& event = out[filled];
      event = Event{};
      event.time_ns = from.time;
      event.record = from.number;
      event.location = line.location;
      if (line.metric.valid()) {
        event.kind = EventKind::counter;
        event.name = line.metric.value;
        event.value = std::bit_cast<std::int64_t>(static_cast<double>(number));
      } else {
        event.kind = EventKind::sample;
        event.name = trace_.map(number).value;
      }
    }
    return filled;
  }

 private:
  const SampleTrace& trace_;
  const std::vector<SampleLine>& lines_;
  std::vector<At> order_;
  std::size_t at_ = 0;
};

}  // namespace

SampleTrace::SampleTrace(const Definitions& definitions, ContextIndex samples, std::vector<SampleLine> lines,
                         Endian order, std::uint64_t ns_per_tick, std::shared_ptr<const void> owner, Work work)
    : samples_(std::move(samples)),
      order_(order),
      ns_per_tick_(ns_per_tick),
      owner_(std::move(owner)),
      work_(std::move(work)) {
  definitions_ = definitions;
  lines_.resize(definitions_.system.location_count());
  for (SampleLine& line : lines) {
    if (line.location.valid() && line.location.index() < lines_.size()) {
      lines_[line.location.index()].push_back(std::move(line));
    }
  }
}

bool SampleTrace::sorted(const SampleLine& line) const {
  for (std::uint64_t i = 1; i < line.count; ++i) {
    if (time(line, i) < time(line, i - 1)) return false;
  }
  return true;
}

Result<std::unique_ptr<EventStream>> SampleTrace::open(LocationId location, TimeWindow window) const {
  static const SampleLine kNothing{};
  const std::vector<SampleLine>& lines = lines_[location.index()];
  if (lines.size() > 1 || (lines.size() == 1 && lines[0].metric.valid())) return open_merged(lines, window);
  const SampleLine& line = lines.empty() ? kNothing : lines[0];
  std::vector<std::uint32_t> order;
  if (!sorted(line)) {
    FATHOM_CHECK(work_->diagnostics.warn("hpctoolkit.trace_order", line.place,
                                         fmt::format("samples of location {} are not in time order; sorted",
                                                     definitions_.system.location_label(location))));
    FATHOM_TRY(const auto reservation, work_->budget.reserve(line.count * sizeof(std::uint32_t), "order of samples"));
    order.resize(line.count);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return time(line, a) < time(line, b); });
  }
  // The first sample that is not before `limit`.
  const auto position = [&](std::int64_t limit) {
    std::uint64_t low = 0;
    std::uint64_t high = line.count;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (time(line, order.empty() ? middle : order[middle]) < limit) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const std::uint64_t begin = window.everything() ? 0 : position(window.from_ns);
  const std::uint64_t end = window.everything() ? line.count : std::max(begin, position(window.to_ns));
  return std::unique_ptr<EventStream>(
      std::make_unique<SampleStream>(*this, line, location, std::move(order), begin, end));
}

Result<std::unique_ptr<EventStream>> SampleTrace::open_merged(const std::vector<SampleLine>& lines,
                                                              TimeWindow window) const {
  std::uint64_t all = 0;
  for (const SampleLine& line : lines) all += line.count;
  FATHOM_TRY(const auto reservation, work_->budget.reserve(all * sizeof(MergedStream::At), "order of samples"));
  std::vector<MergedStream::At> order;
  std::uint64_t number = 0;
  for (std::uint32_t i = 0; i < lines.size(); ++i) {
    for (std::uint64_t record = 0; record < lines[i].count; ++record, ++number) {
      const std::int64_t at = time(lines[i], record);
      const bool inside = window.everything() || (at >= window.from_ns && at < window.to_ns);
      if (inside) order.push_back({at, i, record, number});
    }
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  return std::unique_ptr<EventStream>(std::make_unique<MergedStream>(*this, lines, std::move(order)));
}

Result<void> SampleTrace::detail(const Event& event, std::string& out) const {
  std::uint64_t record = event.record;
  for (const SampleLine& line : lines_[event.location.index()]) {
    if (record >= line.count) {
      record -= line.count;
      continue;
    }
    const std::uint32_t id = context(line, record);
    if (line.metric.valid()) {
      out += fmt::format("value={}", id);
      return {};
    }
    out += fmt::format("context={}", id);
    if (const ContextId at = samples_.find(id); at.valid()) {
      out += fmt::format(";depth={};path={}", definitions_.contexts[at].depth, definitions_.path(at));
    }
    return {};
  }
  return {};
}

std::optional<TimeWindow> SampleTrace::known_span() const {
  std::optional<TimeWindow> span;
  for (const auto& lines : lines_) {
    for (const SampleLine& line : lines) {
      if (line.count == 0) continue;
      const std::int64_t first = time(line, 0);
      const std::int64_t last = time(line, line.count - 1);
      if (!span) span = TimeWindow{first, last};
      span->from_ns = std::min({span->from_ns, first, last});
      span->to_ns = std::max({span->to_ns, first, last});
    }
  }
  return span;
}

}  // namespace fathom::hpctoolkit
