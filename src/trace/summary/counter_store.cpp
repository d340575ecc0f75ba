#include "trace/summary/counter_store.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

#include "base/parallel.hpp"

namespace fathom::summary {

Result<std::shared_ptr<const CounterStore>> CounterStore::build(const Trace& trace, const Work& work) {
  auto store = std::make_shared<CounterStore>();
  constexpr std::uint64_t kMostMemory = std::uint64_t{128} << 20;
  const std::uint64_t memory = std::min(kMostMemory, work->budget.limit() / 16);
  FATHOM_TRY(store->reserved_, work->budget.reserve(memory, "the counters of a timeline"));
  store->pool_ = std::make_unique<ArrayPool>(memory);
  const auto& metrics = trace.definitions().metrics;
  std::mutex mutex;
  const auto read = [&](std::size_t location) -> Result<void> {
    std::map<std::uint32_t, LargeArray<Reading>> mine;
    FATHOM_TRY(auto stream, trace.open(LocationId(location), {}));
    EventCursor cursor(std::move(stream), 1024);
    while (const Event* event = cursor.next()) {
      if (event->kind != EventKind::counter || !event->has_time || event->name >= metrics.size()) continue;
      const double value = metrics[event->name].type.is_double() ? std::bit_cast<double>(event->value)
                                                                 : static_cast<double>(event->value);
      mine.try_emplace(event->name, *store->pool_).first->second.push_back({event->time_ns, value});
    }
    FATHOM_CHECK(cursor.status());
    const std::lock_guard lock(mutex);
    for (auto& [metric, line] : mine) {
      store->lines_.emplace(std::pair(metric, static_cast<std::uint32_t>(location)), std::move(line));
    }
    return {};
  };
  FATHOM_CHECK(parallel_for(trace.location_count(), read));
  FATHOM_CHECK(store->pool_->status());
  return std::shared_ptr<const CounterStore>(std::move(store));
}

std::vector<std::uint32_t> CounterStore::metrics() const {
  std::vector<std::uint32_t> out;
  for (const auto& [key, line] : lines_) {
    if (out.empty() || out.back() != key.first) out.push_back(key.first);
  }
  return out;
}

std::size_t CounterStore::readings(std::uint32_t metric) const {
  std::size_t sum = 0;
  for (auto line = lines_.lower_bound({metric, 0}); line != lines_.end() && line->first.first == metric; ++line) {
    sum += line->second.size();
  }
  return sum;
}

std::vector<CounterBin> CounterStore::bins(std::uint32_t metric, std::uint32_t location, std::int64_t from_ns,
                                           std::int64_t to_ns, std::size_t count) const {
  std::vector<CounterBin> out(count);
  const auto found = lines_.find({metric, location});
  if (found == lines_.end() || to_ns <= from_ns || count == 0) return out;
  const LargeArray<Reading>& line = found->second;
  const double width = static_cast<double>(to_ns - from_ns) / static_cast<double>(count);
  std::vector<double> covered(count);
  const Reading* at = std::upper_bound(line.begin(), line.end(), from_ns,
                                       [](std::int64_t t, const Reading& r) { return t < r.time_ns; });
  if (at != line.begin()) --at;  // what holds where the window begins
  for (; at != line.end() && at->time_ns < to_ns; ++at) {
    // The last reading holds for itself alone: nobody knows how long.
    const std::int64_t until = std::min(at + 1 != line.end() ? (at + 1)->time_ns : at->time_ns + 1, to_ns);
    const double begin = std::max(0.0, static_cast<double>(at->time_ns - from_ns));
    const double end = static_cast<double>(until - from_ns);
    if (!(end > 0)) continue;
    for (auto bin = static_cast<std::size_t>(begin / width); bin < count; ++bin) {
      const double left = std::max(begin, width * static_cast<double>(bin));
      const double right = std::min(end, width * static_cast<double>(bin + 1));
      CounterBin& of = out[bin];
      of.least = of.any ? std::min(of.least, at->value) : at->value;
      of.most = of.any ? std::max(of.most, at->value) : at->value;
      of.any = true;
      of.last = at->value;
      const double time = std::max(right - left, 1e-9);
      of.mean += at->value * time;
      covered[bin] += time;
      if (width * static_cast<double>(bin + 1) >= end) break;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (covered[i] > 0) out[i].mean /= covered[i];
  }
  return out;
}

}  // namespace fathom::summary
