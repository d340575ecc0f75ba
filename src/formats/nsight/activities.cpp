#include "formats/nsight/activities.hpp"

#include <algorithm>

namespace fathom::nsight {

std::vector<Activity> activities_of(const Report& report) {
  std::vector<Activity> all;
  all.reserve(report.kernels.size() + report.copies.size() + report.memsets.size());
  for (const Kernel& k : report.kernels) all.push_back({k, Activity::Type::kernel, k.correlation, k.name, k.threads});
  for (const Copy& c : report.copies) all.push_back({c, Activity::Type::copy, c.correlation, c.name, 0});
  for (const Memset& m : report.memsets) all.push_back({m, Activity::Type::memset, m.correlation, m.name, 0});
  return all;
}

Spans::Spans(std::span<const Activity* const> activities, std::int64_t least) {
  struct Change {
    std::int64_t time;
    std::int64_t running;
    std::int64_t threads;
  };
  std::vector<Change> changes;
  changes.reserve(2 * activities.size());
  for (const Activity* a : activities) {
    if (a->length() == 0) continue;
    changes.push_back({a->start, 1, a->threads});
    changes.push_back({a->end, -1, -a->threads});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.time < b.time; });
  std::int64_t running = 0;
  std::int64_t threads = 0;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    running += changes[i].running;
    threads += changes[i].threads;
    if (i + 1 == changes.size() || running < least || changes[i + 1].time == changes[i].time) continue;
    before_.push_back(total);
    spans_.push_back({{changes[i].time, changes[i + 1].time}, threads});
    total += spans_.back().length();
  }
  before_.push_back(total);
}

std::size_t Spans::first_ending_after(std::int64_t time) const {
  return static_cast<std::size_t>(
      std::upper_bound(spans_.begin(), spans_.end(), time, [](std::int64_t t, const Span& s) { return t < s.end; }) -
      spans_.begin());
}

std::int64_t Spans::covered(Interval at) const {
  const auto until = [&](std::int64_t time) {
    const std::size_t next = first_ending_after(time);
    std::int64_t sum = before_[next];
    if (next < spans_.size() && spans_[next].start < time) sum += time - spans_[next].start;
    return sum;
  };
  return until(at.end) - until(at.start);
}

std::int64_t Spans::covered_by_parts(Interval at) const {
  const std::size_t first = first_ending_after(at.start);
  if (first < spans_.size() && spans_[first].start < at.start && spans_[first].end > at.end) return 0;
  return covered(at);
}

std::int64_t Spans::lost_to_others(Interval kernel, std::int64_t threads) const {
  std::int64_t sum = 0;
  for (std::size_t i = first_ending_after(kernel.start); i < spans_.size() && spans_[i].end <= kernel.end; ++i) {
    const Span& span = spans_[i];
    if (span.start < kernel.start || span.threads <= 0) continue;
    const std::int64_t others = std::max<std::int64_t>(span.threads - threads, 0);
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(span.length(), others, &product)) {
      sum += product / span.threads;
    } else {
      sum += static_cast<std::int64_t>(static_cast<double>(span.length()) * static_cast<double>(others) /
                                       static_cast<double>(span.threads));
    }
  }
  return sum;
}

ActivityIndex::ActivityIndex(std::vector<const Activity*> activities) : by_start_(std::move(activities)) {
  std::stable_sort(by_start_.begin(), by_start_.end(),
                   [](const Activity* a, const Activity* b) { return a->start < b->start; });
  latest_end_.reserve(by_start_.size());
  for (const Activity* a : by_start_) {
    latest_end_.push_back(latest_end_.empty() ? a->end : std::max(latest_end_.back(), a->end));
  }
}

std::size_t ActivityIndex::first_reaching(std::int64_t time) const {
  return static_cast<std::size_t>(std::upper_bound(latest_end_.begin(), latest_end_.end(), time) - latest_end_.begin());
}

}  // namespace fathom::nsight
