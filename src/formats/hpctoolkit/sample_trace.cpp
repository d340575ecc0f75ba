#include "formats/hpctoolkit/sample_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "base/parallel.hpp"

namespace fathom::hpctoolkit {

namespace {

// Records of a location in the order of time, between two places of it; before them what is still in effect.
class SampleStream : public EventStream {
 public:
  SampleStream(const SampleTrace& trace, LocationId location, std::span<const std::uint64_t> order,
               std::vector<std::uint64_t> carried, std::uint64_t begin, std::uint64_t end)
      : trace_(trace), location_(location), order_(order), carried_(std::move(carried)), at_(begin), end_(end) {}

  Result<std::size_t> next(std::span<Event> out) override {
    std::size_t filled = 0;
    for (; filled < out.size() && carried_at_ < carried_.size(); ++filled) {
      fill(out[filled], carried_[carried_at_++]);
      out[filled].carried = true;
    }
    for (; filled < out.size() && at_ < end_; ++filled, ++at_) {
      fill(out[filled], order_.empty() ? at_ : order_[at_]);
    }
    return filled;
  }

 private:
  void fill(Event& event, std::uint64_t number) const {
    const auto [line, record] = trace_.find(location_, number);
    event = Event{};
    event.time_ns = trace_.time(*line, record);
    event.record = number;
    event.location = location_;
    const std::uint32_t stored = trace_.context(*line, record);
    if (line->metric.valid()) {
      event.kind = EventKind::counter;
      event.name = line->metric.value;
      event.value = std::bit_cast<std::int64_t>(static_cast<double>(stored));
    } else {
      event.kind = EventKind::sample;
      event.name = trace_.map(stored).value;
    }
  }

  const SampleTrace& trace_;
  LocationId location_;
  std::span<const std::uint64_t> order_;  // empty: as stored
  std::vector<std::uint64_t> carried_;
  std::size_t carried_at_ = 0;
  std::uint64_t at_;
  std::uint64_t end_;
};

}  // namespace

SampleTrace::SampleTrace(const Definitions& definitions, ContextIndex samples, std::vector<SampleLine> lines,
                         Endian order, TickScale scale, std::shared_ptr<const void> owner, Work work,
                         std::optional<TimeWindow> told)
    : samples_(std::move(samples)), order_(order), scale_(scale), owner_(std::move(owner)), told_(told) {
  work_ = std::move(work);
  definitions_ = definitions;
  lines_.resize(definitions_.system.location_count());
  orders_ = std::make_unique<Order[]>(lines_.size());
  for (SampleLine& line : lines) {
    if (line.location.valid() && line.location.index() < lines_.size()) {
      lines_[line.location.index()].push_back(std::move(line));
    }
  }
}

Result<void> SampleTrace::find_order(LocationId location, Order& order) const {
  const std::vector<SampleLine>& lines = lines_[location.index()];
  std::uint64_t count = 0;
  bool in_order = true;  // as stored, one line behind the other
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const SampleLine& line : lines) {
    bool sorted = true;
    std::int64_t before = std::numeric_limits<std::int64_t>::min();
    for (std::uint64_t i = 0; i < line.count; ++i) {
      const std::int64_t at = time(line, i);
      sorted = sorted && at >= before;
      in_order = in_order && at >= last;
      before = last = at;
    }
    count += line.count;
    if (sorted) continue;
    FATHOM_CHECK(work_->diagnostics.warn("hpctoolkit.trace_order", line.place,
                                         fmt::format("samples of location {} are not in time order; sorted",
                                                     definitions_.system.location_label(location))));
  }
  if (in_order) return {};
  FATHOM_TRY(order.reserved, work_->budget.reserve(count * sizeof(std::uint64_t), "order of samples"));
  order.records.resize(count);
  std::iota(order.records.begin(), order.records.end(), std::uint64_t{0});
  const auto time_of = [&](std::uint64_t number) {
    const auto [line, record] = find(location, number);
    return time(*line, record);
  };
  std::stable_sort(order.records.begin(), order.records.end(),
                   [&](std::uint64_t a, std::uint64_t b) { return time_of(a) < time_of(b); });
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
  FATHOM_TRY(const Order* in_time, order_of(location));
  const std::span<const std::uint64_t> order = in_time->records;
  const std::uint64_t count = *known_records(location);
  const auto number_at = [&](std::uint64_t place) { return order.empty() ? place : order[place]; };
  // The first record that is not before `limit`.
  const auto position = [&](std::int64_t limit) {
    std::uint64_t low = 0;
    std::uint64_t high = count;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      const auto [line, record] = find(location, number_at(middle));
      if (time(*line, record) < limit) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  if (window.everything()) {
    return std::unique_ptr<EventStream>(
        std::make_unique<SampleStream>(*this, location, order, std::vector<std::uint64_t>(), 0, count));
  }
  const std::uint64_t begin = position(window.from_ns);
  const std::uint64_t end = std::max(begin, position(window.to_ns));
  // The last record of every line before the window: values of counters first, the sample last.
  std::vector<std::uint64_t> carried;
  std::optional<std::uint64_t> sample;
  std::vector<bool> seen(lines_[location.index()].size());
  for (std::uint64_t place = begin; place-- > 0 && carried.size() + (sample ? 1U : 0U) < seen.size();) {
    const SampleLine* line = find(location, number_at(place)).first;
    const auto index = static_cast<std::size_t>(line - lines_[location.index()].data());
    if (seen[index]) continue;
    seen[index] = true;
    if (line->metric.valid()) {
      carried.push_back(number_at(place));
    } else if (!sample) {
      sample = number_at(place);
    }
  }
  std::sort(carried.begin(), carried.end());
  if (sample) carried.push_back(*sample);
  return std::unique_ptr<EventStream>(
      std::make_unique<SampleStream>(*this, location, order, std::move(carried), begin, end));
}

std::optional<TimeWindow> SampleTrace::location_span(LocationId location) const {
  const std::uint64_t count = *known_records(location);
  const auto in_time = order_of(location);
  if (count == 0 || !in_time) return std::nullopt;
  const auto& order = (*in_time)->records;
  const auto time_at = [&](std::uint64_t place) {
    const auto [line, record] = find(location, order.empty() ? place : order[place]);
    return time(*line, record);
  };
  return TimeWindow{time_at(0), time_at(count - 1)};
}

bool SampleTrace::in_time_order(LocationId location) const {
  const std::vector<SampleLine>& lines = lines_[location.index()];
  if (lines.size() != 1 || lines[0].metric.valid()) return false;
  const auto order = order_of(location);
  return order.ok() && (*order)->records.empty();
}

void SampleTrace::believe_in_time_order(LocationId location) const {
  std::call_once(orders_[location.index()].once, [] {});
}

std::size_t SampleTrace::read_samples(LocationId location, std::uint64_t record, std::span<PlacedSample> out) const {
  const std::vector<SampleLine>& lines = lines_[location.index()];
  if (lines.size() != 1 || record >= lines[0].count) return 0;
  const SampleLine& line = lines[0];
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), line.count - record));
  for (std::size_t i = 0; i < count; ++i) out[i] = {time(line, record + i), map(context(line, record + i))};
  return count;
}

Result<void> SampleTrace::detail(const Event& event, std::string& out) const {
  const auto [line, record] = find(event.location, event.record);
  if (line == nullptr) return {};
  const std::uint32_t id = context(*line, record);
  if (line->metric.valid()) {
    out += fmt::format("value={}", id);
    return {};
  }
  out += fmt::format("context={}", id);
  if (line->metric_ids) {
    out += fmt::format(";metric={}", load_unchecked<std::uint32_t>(line->at + record * line->stride + 12, order_));
  }
  if (const ContextId at = samples_.find(id); at.valid()) {
    out += fmt::format(";depth={};path={}", definitions_.contexts[at].depth, definitions_.path(at));
  }
  return {};
}

TimeWindow SampleTrace::span_of_ends(const SampleLine& line) const {
  const std::int64_t first = time(line, 0);
  const std::int64_t last = time(line, line.count - 1);
  return {std::min(first, last), std::max(first, last)};
}

TimeWindow SampleTrace::span_of_all(const SampleLine& line) const {
  TimeWindow span = span_of_ends(line);
  for (std::uint64_t i = 0; i < line.count; ++i) {
    const std::int64_t at = time(line, i);
    span.from_ns = std::min(span.from_ns, at);
    span.to_ns = std::max(span.to_ns, at);
  }
  return span;
}

// Samples need not be in time order, so that the ends of a line say nothing by themselves. A large trace is believed
// where its file says the same as they do; otherwise all samples are looked at.
Result<std::optional<TimeWindow>> SampleTrace::find_span() const {
  constexpr std::uint64_t kSoonLookedAt = std::uint64_t{1} << 24;
  std::vector<const SampleLine*> lines;
  std::uint64_t samples = 0;
  for (const auto& of_location : lines_) {
    for (const SampleLine& line : of_location) {
      if (line.count > 0) lines.push_back(&line);
      samples += line.count;
    }
  }
  if (lines.empty()) return std::optional<TimeWindow>();
  std::vector<TimeWindow> spans(lines.size());
  const auto whole = [&] {
    TimeWindow span = spans.front();
    for (const TimeWindow& one : spans) {
      span.from_ns = std::min(span.from_ns, one.from_ns);
      span.to_ns = std::max(span.to_ns, one.to_ns);
    }
    return std::optional(span);
  };
  if (samples > kSoonLookedAt && told_) {
    for (std::size_t i = 0; i < lines.size(); ++i) spans[i] = span_of_ends(*lines[i]);
    if (whole() == told_) return told_;
  }
  FATHOM_CHECK(parallel_for(lines.size(), [&](std::size_t i) -> Result<void> {
    spans[i] = span_of_all(*lines[i]);
    return {};
  }));
  return whole();
}

std::optional<TimeWindow> SampleTrace::known_span() const {
  const std::scoped_lock lock(span_mutex_);
  if (span_) return span_;
  const auto found = find_span();
  if (found) span_ = *found;
  return span_;
}

}  // namespace fathom::hpctoolkit
