#include "trace/analysis/intervals.hpp"

#include <algorithm>
#include <bit>

#include "base/parallel.hpp"

namespace fathom::analysis {

Intervals::Intervals(const RunCalls& run, const RunWaits& waits)
    : run_(run), waits_(waits), sums_(run.locations.size()), path_step_(4 * run.paths.size()) {
  (void)parallel_for(run.locations.size(), [&](std::size_t l) -> Result<void> {
    Sums& sums = sums_[l];
    std::array<std::int64_t, kWaitKinds> before{};
    const auto& list = waits.locations[l].waits;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i % kStep == 0) sums.waited.push_back(before);
      before[static_cast<std::size_t>(list[i].kind)] += list[i].length;
    }
    sums.waited.push_back(before);
    std::int64_t io = 0;
    const auto& calls = run.locations[l].calls;
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      if (!is_io(calls[i].kind)) continue;
      io += calls[i].exit - calls[i].entry;
      sums.io.emplace_back(i, io);
    }
    const auto& times = run.locations[l].path_times;
    std::vector<std::int64_t> by_path(times.empty() ? 0 : run.paths.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (i % path_step_ == 0) sums.paths.insert(sums.paths.end(), by_path.begin(), by_path.end());
      by_path[times[i].path] += times[i].ns;
    }
    return {};
  });
}

void Intervals::add_paths(std::uint32_t location, std::uint32_t begin, std::uint32_t end, PathAmounts& to) const {
  const auto& times = run_.locations[location].path_times;
  if (times.empty()) return;
  const auto at = [&](std::uint32_t call) {
    const auto* found = std::lower_bound(times.begin(), times.end(), call,
                                         [](const PathTime& time, std::uint32_t wanted) { return time.call < wanted; });
    return static_cast<std::size_t>(found - times.begin());
  };
  std::size_t first = at(begin);
  const std::size_t last = at(end + 1);
  const std::size_t first_row = (first + path_step_ - 1) / path_step_;
  const std::size_t last_row = std::min(last, times.size() - 1) / path_step_;
  const auto add_until = [&](std::size_t stop) {
    for (; first < stop; ++first) to.add(times[first].path, times[first].ns);
  };
  if (last_row > first_row + 1) {
    add_until(first_row * path_step_);
    const std::size_t paths = run_.paths.size();
    const std::int64_t* before = sums_[location].paths.data() + first_row * paths;
    const std::int64_t* until = sums_[location].paths.data() + last_row * paths;
    for (std::uint32_t path = 0; path < paths; ++path) {
      if (until[path] > before[path]) to.add(path, until[path] - before[path]);
    }
    first = last_row * path_step_;
  }
  add_until(last);
}

std::int64_t Intervals::io_before(std::uint32_t location, std::uint32_t end) const {
  const auto& io = sums_[location].io;
  if (io.empty()) return 0;
  const auto found = std::lower_bound(io.begin(), io.end(), end,
                                      [](const auto& entry, std::uint32_t call) { return entry.first < call; });
  return found == io.begin() ? 0 : std::prev(found)->second;
}

std::array<std::int64_t, kWaitKinds> Intervals::waited_before(std::uint32_t location, std::uint32_t end) const {
  const auto& list = waits_.locations[location].waits;
  auto sum = sums_[location].waited[end / kStep];
  for (std::uint32_t i = end / kStep * kStep; i < end; ++i) {
    sum[static_cast<std::size_t>(list[i].kind)] += list[i].length;
  }
  return sum;
}

Spent Intervals::between(std::uint32_t location, std::uint32_t begin, std::uint32_t end, bool from_entry) const {
  const auto& calls = run_.locations[location].calls;
  Spent spent;
  const std::int64_t from = begin == 0 || from_entry ? calls[begin].entry : calls[begin - 1].exit;
  const std::int64_t inside = run_.locations[location].inside_between(begin, end);
  const std::int64_t io = io_before(location, end) - io_before(location, begin);
  const std::uint32_t first = calls[begin].first_wait;
  const std::uint32_t last = calls[end].first_wait;
  std::int64_t waited = 0;
  if (last - first <= 2 * kStep) {
    const auto& list = waits_.locations[location].waits;
    for (std::uint32_t i = first; i < last; ++i) {
      const auto kind = static_cast<std::size_t>(list[i].kind);
      spent.waited[kind] += list[i].length;
      spent.kinds |= 1U << kind;
      waited += list[i].length;
    }
  } else {
    spent.waited = waited_before(location, last);
    const auto before = waited_before(location, first);
    for (std::size_t k = 0; k < kWaitKinds; ++k) waited += spent.waited[k] -= before[k];
    spent.kinds = (1U << kWaitKinds) - 1;
  }
  const std::int64_t waited_io = spent.waited[static_cast<std::size_t>(WaitKind::wait_io)];
  spent.activity[static_cast<std::size_t>(Activity::compute)] = calls[end].entry - from - inside;
  spent.activity[static_cast<std::size_t>(Activity::mpi)] = inside - io - (waited - waited_io);
  spent.activity[static_cast<std::size_t>(Activity::io)] = io - waited_io;
  return spent;
}

Blame Intervals::blame(std::uint32_t victim, const Wait& wait) const {
  const Spent own = between(victim, wait.own_begin, wait.call);
  const Spent other = between(wait.culprit, wait.culprit_begin, wait.culprit_call, wait.from_entry);
  std::array<double, kActivities> more{};
  double all_more = 0;
  double less = 0;
  const auto difference = [&](std::int64_t there, std::int64_t here) {
    const auto by = static_cast<double>(there - here);
    if (by < 0) less -= by;
    return std::max(0.0, by);
  };
  for (std::size_t a = 0; a < kActivities; ++a) {
    more[a] = difference(other.activity[a], own.activity[a]);
    all_more += more[a];
  }
  Blame blame;
  double waited = 0;
  for (std::uint32_t kinds = own.kinds | other.kinds; kinds != 0; kinds &= kinds - 1) {
    const auto k = static_cast<std::size_t>(std::countr_zero(kinds));
    blame.kinds[k] = difference(other.waited[k], own.waited[k]);
    waited += blame.kinds[k];
  }
  // What the victim did more of is first taken off the culprit's waiting: waiting gives way to work.
  const double left = std::max(0.0, waited - less);
  const double total = all_more + left;
  if (total <= 0) {
    blame.direct[0] = 1;
    return blame;
  }
  for (std::size_t a = 0; a < kActivities; ++a) blame.direct[a] = more[a] / total;
  blame.passed = left / total;
  for (std::uint32_t kinds = other.kinds; kinds != 0 && waited > 0; kinds &= kinds - 1) {
    blame.kinds[static_cast<std::size_t>(std::countr_zero(kinds))] /= waited;
  }
  return blame;
}

}  // namespace fathom::analysis
