#include "formats/hpctoolkit/sample_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace fathom::hpctoolkit {

namespace {

class SampleStream : public EventStream {
 public:
  // Samples [begin, end) of the order of time; with `carry` the one before them, too.
  SampleStream(const SampleTrace& trace, const SampleLine& line, LocationId location,
               std::span<const std::uint32_t> order, std::uint64_t begin, std::uint64_t end, bool carry)
      : trace_(trace),
        line_(line),
        location_(location),
        order_(order),
        at_(carry && begin > 0 ? begin - 1 : begin),
        begin_(begin),
        end_(end) {}

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
      event.carried = at_ < begin_;
    }
    return filled;
  }

 private:
  const SampleTrace& trace_;
  const SampleLine& line_;
  LocationId location_;
  std::span<const std::uint32_t> order_;  // empty: as stored
  std::uint64_t at_;
  std::uint64_t begin_;
  std::uint64_t end_;
};

}  // namespace

SampleTrace::SampleTrace(const Definitions& definitions, ContextIndex samples, std::vector<SampleLine> lines,
                         Endian order, std::uint64_t ns_per_tick, std::shared_ptr<const void> owner, Work work)
    : samples_(std::move(samples)),
      lines_(std::move(lines)),
      order_(order),
      ns_per_tick_(ns_per_tick),
      owner_(std::move(owner)) {
  work_ = std::move(work);
  definitions_ = definitions;
  lines_.resize(definitions_.system.location_count());
  orders_ = std::make_unique<Order[]>(lines_.size());
}

Result<void> SampleTrace::find_order(LocationId location, Order& order) const {
  const SampleLine& line = lines_[location.index()];
  std::uint64_t i = 1;
  while (i < line.count && time(line, i) >= time(line, i - 1)) ++i;
  if (i >= line.count) return {};
  FATHOM_CHECK(work_->diagnostics.warn("hpctoolkit.trace_order", line.place,
                                       fmt::format("samples of location {} are not in time order; sorted",
                                                   definitions_.system.location_label(location))));
  FATHOM_TRY(order.reserved, work_->budget.reserve(line.count * sizeof(std::uint32_t), "order of samples"));
  order.records.resize(line.count);
  std::iota(order.records.begin(), order.records.end(), 0U);
  std::stable_sort(order.records.begin(), order.records.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return time(line, a) < time(line, b); });
  return {};
}

Result<const SampleTrace::Order*> SampleTrace::order_of(LocationId location) const {
  Order& order = orders_[location.index()];
  std::call_once(order.once, [&] {
    if (auto found = find_order(location, order); !found) order.error = std::move(found).error();
  });
  if (order.error) return *order.error;
  return &order;
}

Result<std::unique_ptr<EventStream>> SampleTrace::open(LocationId location, TimeWindow window) const {
  const SampleLine& line = lines_[location.index()];
  FATHOM_TRY(const Order* in_time, order_of(location));
  const std::span<const std::uint32_t> order = in_time->records;
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
      std::make_unique<SampleStream>(*this, line, location, order, begin, end, !window.everything()));
}

std::optional<TimeWindow> SampleTrace::location_span(LocationId location) const {
  const SampleLine& line = lines_[location.index()];
  const auto in_time = order_of(location);
  if (line.count == 0 || !in_time) return std::nullopt;
  const auto& order = (*in_time)->records;
  return order.empty() ? TimeWindow{time(line, 0), time(line, line.count - 1)}
                       : TimeWindow{time(line, order.front()), time(line, order.back())};
}

Result<void> SampleTrace::detail(const Event& event, std::string& out) const {
  const SampleLine& line = lines_[event.location.index()];
  if (event.record >= line.count) return {};
  const std::uint32_t id = context(line, event.record);
  out += fmt::format("context={}", id);
  if (const ContextId at = samples_.find(id); at.valid()) {
    out += fmt::format(";depth={};path={}", definitions_.contexts[at].depth, definitions_.path(at));
  }
  return {};
}

std::optional<TimeWindow> SampleTrace::known_span() const {
  std::optional<TimeWindow> span;
  for (const SampleLine& line : lines_) {
    if (line.count == 0) continue;
    const std::int64_t first = time(line, 0);
    const std::int64_t last = time(line, line.count - 1);
    if (!span) span = TimeWindow{first, last};
    span->from_ns = std::min({span->from_ns, first, last});
    span->to_ns = std::max({span->to_ns, first, last});
  }
  return span;
}

}  // namespace fathom::hpctoolkit
