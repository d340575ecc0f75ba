#include "trace/call_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/share_out.hpp"
#include "base/text.hpp"
#include "trace/extent.hpp"
#include "trace/per_region.hpp"
#include "trace/task_stacks.hpp"

namespace fathom {

namespace {

struct RegionSums {
  std::uint64_t count = 0;
  CappedSum wall_ns;
  CappedSum sent;
  CappedSum received;
  [[nodiscard]] bool any() const { return count != 0 || wall_ns != 0 || sent != 0 || received != 0; }
};
using Matrix = std::map<std::pair<std::int64_t, std::int64_t>, MatrixEntry>;

// What comes of a location.
struct Part {
  std::vector<std::pair<std::uint32_t, RegionSums>> sums;  // by region
  Matrix matrix;
};
template <class Pack>
void pack_fields(Pack& pack, Part& part) {
  pack(part.sums, part.matrix);
}

// One location.
class Calls {
 public:
  Calls(const Trace& trace, LocationId location, TimeWindow window)
      : trace_(trace), window_(window), region_count_(trace.definitions().regions.size()) {
    const SystemNodeId group = trace.definitions().system.group_of(location);
    if (group.valid()) rank_ = trace.definitions().system.nodes[group.index()].rank.value_or(-1);
  }

  Result<void> read(LocationId location) {
    FATHOM_TRY(auto stream, trace_.open(location, {}));
    EventCursor cursor(std::move(stream), 1024);
    while (const Event* event = cursor.next()) take(*event);
    FATHOM_CHECK(cursor.status());
    tasks_.each([&](auto& stack) { close_to(stack, 0); });
    return {};
  }

  const PerRegion<RegionSums>& sums() { return sums_; }
  Matrix& matrix() { return matrix_; }

 private:
  struct Frame {
    std::uint32_t region;
    std::int64_t entered;
    bool counts;
  };

  void take(const Event& event) {
    if (event.has_time) last_ = event.time_ns;
    switch (event.kind) {
      case EventKind::enter:
        return enter(event);
      case EventKind::leave:
        return leave(event);
      case EventKind::send:
      case EventKind::recv:
      case EventKind::collective:
        return transfer(event);
      case EventKind::marker:
        tasks_.take(trace_.meaning(event), event.value, [&](auto& stack) { close_to(stack, 0); });
        return;
      default:
        return;
    }
  }
  void enter(const Event& event) {
    if (event.name >= region_count_) return;
    const bool counts = window_.contains(event);
    if (counts && !event.resumed) ++sums_[event.name].count;
    tasks_.open().push_back({event.name, last_, counts});
    ++depth_[event.name];
  }
  void leave(const Event& event) {
    if (event.name >= region_count_ || depth_[event.name] == 0) return;
    auto& stack = tasks_.open();
    std::size_t at = stack.size();
    while (at > 0 && stack[at - 1].region != event.name) --at;
    if (at > 0) close_to(stack, at - 1);
  }
  void close_to(std::vector<Frame>& stack, std::size_t size) {
    for (; stack.size() > size; stack.pop_back()) {
      const Frame& frame = stack.back();
      if (--depth_[frame.region] == 0 && frame.counts) sums_[frame.region].wall_ns += passed(frame.entered, last_);
    }
  }
  void transfer(const Event& event) {
    if (!window_.contains(event)) return;
    const bool sends = event.kind != EventKind::recv;
    if (event.name < region_count_) {
      (sends ? sums_[event.name].sent : sums_[event.name].received) += event.bytes;
      if (event.kind == EventKind::collective) sums_[event.name].received += event.value;
    }
    if (event.kind != EventKind::send || event.peer < 0 || rank_ < 0) return;
    MatrixEntry& entry = matrix_[{rank_, event.peer}];
    ++entry.messages;
    entry.bytes += event.bytes;
  }

  const Trace& trace_;
  TimeWindow window_;
  std::int64_t rank_ = -1;
  std::size_t region_count_;
  PerRegion<RegionSums> sums_;
  PerRegion<std::uint32_t> depth_;
  TaskStacks<Frame> tasks_;
  std::int64_t last_ = 0;
  Matrix matrix_;
};

Result<std::vector<LocationId>> chosen_locations(const Trace& trace, const std::vector<std::string>& labels) {
  std::vector<LocationId> chosen;
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    const std::string label = trace.definitions().system.location_label(LocationId(i));
    const bool wanted = labels.empty() || std::any_of(labels.begin(), labels.end(), [&](const std::string& pattern) {
                          return matches_pattern(pattern, label);
                        });
    if (wanted) chosen.emplace_back(i);
  }
  if (chosen.empty() && !labels.empty()) return Error::usage(fmt::format("there is no location '{}'", labels.front()));
  return chosen;
}

}  // namespace

Result<TraceStatistics> call_statistics(const Trace& trace, const StatisticsOptions& options) {
  if (!options.by.empty()) return Error::usage(fmt::format("there are no statistics by '{}' here", options.by.front()));
  if (!options.options.empty()) {
    return Error::usage(fmt::format("there is no option '{}' here", options.options.front().first));
  }
  FATHOM_TRY(const auto locations, chosen_locations(trace, options.locations));
  TimeWindow window;
  if (options.from_ns) window.from_ns = *options.from_ns;
  if (options.to_ns) window.to_ns = *options.to_ns;
  std::vector<RegionSums> sums(trace.definitions().regions.size());
  Matrix matrix;
  const auto read = [&](std::size_t i, Part& part) -> Result<void> {
    Calls calls(trace, locations[i], window);
    FATHOM_CHECK(calls.read(locations[i]));
    calls.sums().each([&](std::uint32_t region, const RegionSums& one) {
      if (one.any()) part.sums.emplace_back(region, one);
    });
    part.matrix = std::move(calls.matrix());
    return {};
  };
  const auto add = [&](std::size_t, const Part& part) {
    for (const auto& [region, one] : part.sums) {
      sums[region].count += one.count;
      sums[region].wall_ns += one.wall_ns;
      sums[region].sent += one.sent;
      sums[region].received += one.received;
    }
    for (const auto& [pair, one] : part.matrix) {
      matrix[pair].messages += one.messages;
      matrix[pair].bytes += one.bytes;
    }
  };
  const auto weight = [&](std::size_t i) { return extent(trace, locations[i]); };
  FATHOM_CHECK(share_and_fold<Part>("reading events", locations.size(), weight, read, add));
  TraceStatistics made;
  // Regions of the same name are one call to the user.
  std::map<std::string, std::size_t> rows;
  for (std::size_t r = 0; r < sums.size(); ++r) {
    const RegionSums& one = sums[r];
    if (one.count == 0 && one.sent == 0 && one.received == 0) continue;
    const std::string& name = trace.definitions().regions[r].name;
    const auto [row, is_new] = rows.emplace(name, made.calls.size());
    if (is_new) made.calls.push_back({name, 0, 0.0, {}, 0, 0, 0});
    CallStatistics& call = made.calls[row->second];
    call.count += one.count;
    *call.wall_s += static_cast<double>(one.wall_ns) * 1e-9;
    call.sent = CappedSum(*call.sent) += one.sent;
    call.received = CappedSum(*call.received) += one.received;
    call.bytes = CappedSum(*call.sent) += *call.received;
  }
  std::stable_sort(made.calls.begin(), made.calls.end(),
                   [](const CallStatistics& a, const CallStatistics& b) { return *a.wall_s > *b.wall_s; });
  made.has_matrix = !matrix.empty();
  for (auto& [pair, entry] : matrix) {
    entry.src = pair.first;
    entry.dst = pair.second;
    made.matrix.push_back(entry);
  }
  return made;
}

}  // namespace fathom
