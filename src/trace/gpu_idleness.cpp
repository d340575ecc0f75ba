#include "trace/gpu_idleness.hpp"

#include <algorithm>
#include <map>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "trace/merge.hpp"
#include "trace/open_names.hpp"
#include "trace/samples.hpp"

namespace fathom {

namespace {

using Blame = std::map<std::string, double>;  // ns by function

// What a thread does outside of all regions, as reduced profiles call it.
constexpr std::string_view kOwnCode = "compute";

bool counts(const Event& event) {
  return event.kind == EventKind::sample || event.kind == EventKind::enter || event.kind == EventKind::leave;
}

// One process: its streams in time order, with what each of them is doing.
class Sweep {
 public:
  Sweep(const Trace& trace, const std::vector<LocationId>& locations, const StatisticsOptions& options,
        std::optional<std::size_t> depth)
      : trace_(trace), locations_(locations), depth_(depth) {
    if (options.from_ns) window_.from_ns = *options.from_ns;
    if (options.to_ns) window_.to_ns = *options.to_ns;
  }

  Result<Blame> run() {
    const Definitions& defs = trace_.definitions();
    bool any_gpu = false;
    for (const LocationId location : locations_) {
      const bool gpu = is_gpu(defs.system, location);
      streams_[location].gpu = gpu;
      any_gpu = any_gpu || gpu;
    }
    if (!any_gpu) return Blame();
    for (const LocationId location : locations_) FATHOM_CHECK(count_events(location));
    // What a stream did before the window reaches into it, so that all of it is read.
    FATHOM_TRY(auto events, MergedEvents::over(trace_, locations_));
    while (const Event* event = events.next()) {
      if (!counts(*event) || !event->has_time) continue;
      advance(event->time_ns);
      change(streams_.at(event->location), *event);
    }
    FATHOM_CHECK(events.status());
    return std::move(blame_);
  }
  // As long as the threads run, ns.
  [[nodiscard]] double whole() const { return whole_; }

 private:
  struct Stream {
    bool gpu = false;
    bool busy = false;
    bool started = false;
    std::uint64_t left = 0;  // samples to come
    double charged_until = 0;
    std::string function;
    std::vector<std::uint32_t> stack;  // of regions
    OpenNames open;                    // that are in it
  };

  // The last event of a stream lasts no time, so that it must be known when it comes.
  Result<void> count_events(LocationId location) {
    Stream& stream = streams_.at(location);
    FATHOM_TRY(auto events, trace_.open(location, {}));
    EventCursor cursor(std::move(events));
    while (const Event* event = cursor.next()) stream.left += counts(*event) && event->has_time ? 1 : 0;
    FATHOM_CHECK(cursor.status());
    if (!stream.gpu && stream.left > 0) ++waiting_threads_;
    return {};
  }

  // Idle time per busy thread runs on one clock: a thread is charged when what it does changes.
  void advance(std::int64_t to) {
    const std::int64_t begin = std::max(now_, window_.from_ns);
    const std::int64_t end = std::min(to, window_.to_ns);
    now_ = to;
    const bool between_events = running_threads_ > 0;
    if (!between_events || end <= begin) return;
    const auto ns = static_cast<double>(end - begin);
    whole_ += ns;
    if (busy_gpus_ > 0) return;
    if (busy_threads_ > 0) {
      idle_per_thread_ += ns / static_cast<double>(busy_threads_);
    } else {
      blame_[std::string(kNoActivity)] += ns;
    }
  }

  void change(Stream& stream, const Event& event) {
    if (stream.left > 0) --stream.left;
    std::string function = event.kind == EventKind::sample ? sampled(event) : entered(stream, event);
    const bool last = stream.left == 0;
    const bool busy = !last && function != kNoActivity;
    if (stream.gpu) {
      busy_gpus_ += std::size_t(busy) - std::size_t(stream.busy);
    } else {
      if (stream.busy) blame_[stream.function] += idle_per_thread_ - stream.charged_until;
      stream.charged_until = idle_per_thread_;
      busy_threads_ += std::size_t(busy) - std::size_t(stream.busy);
      if (!stream.started) ++running_threads_;
      stream.started = true;
      if (last && --waiting_threads_ == 0) running_threads_ = 0;
    }
    stream.busy = busy;
    stream.function = std::move(function);
  }

  [[nodiscard]] std::string sampled(const Event& event) const {
    const ContextId frame = frame_at(trace_.definitions().contexts, ContextId(event.name), depth_);
    return frame.valid() ? trace_.definitions().region_of(frame).name : std::string(kNoActivity);
  }
  [[nodiscard]] std::string entered(Stream& stream, const Event& event) const {
    auto& stack = stream.stack;
    if (event.kind == EventKind::enter) {
      stack.push_back(event.name);
      stream.open.add(event.name);
    } else {
      for (bool found = !stream.open.has(event.name); !found; stack.pop_back()) {
        found = stack.back() == event.name;
        stream.open.remove(stack.back());
      }
    }
    if (stack.empty()) return std::string(stream.gpu ? kNoActivity : kOwnCode);
    const std::uint32_t region = stack[std::min(depth_.value_or(stack.size()), stack.size() - 1)];
    const auto& regions = trace_.definitions().regions;
    return region < regions.size() ? regions[region].name : std::string(kOwnCode);
  }

  const Trace& trace_;
  const std::vector<LocationId>& locations_;
  std::optional<std::size_t> depth_;
  TimeWindow window_;
  std::map<LocationId, Stream> streams_;
  std::size_t busy_gpus_ = 0;
  std::size_t busy_threads_ = 0;
  std::size_t running_threads_ = 0;  // that have begun, until the last one has ended
  std::size_t waiting_threads_ = 0;  // that have samples to come
  std::int64_t now_ = TimeWindow{}.from_ns;
  double idle_per_thread_ = 0;
  double whole_ = 0;
  Blame blame_;
};

}  // namespace

bool is_gpu(const SystemTree& system, LocationId location) {
  for (SystemNodeId at = system.locations[location.index()]; at.valid(); at = system.nodes[at.index()].parent) {
    const SystemNode& node = system.nodes[at.index()];
    if (node.kind == SystemKind::node) break;
    const std::string type = to_lower(node.type);
    if (type == "stream" || type.find("gpu") != std::string::npos || type.find("accelerator") != std::string::npos) {
      return true;
    }
  }
  return false;
}

bool is_cpu(const SystemTree& system, LocationId location) {
  const std::string& type = system.location(location).type;
  return type != "track" && type != "metric" && !is_gpu(system, location);
}

Table GpuIdleness::table() const {
  double total = 0;
  for (const auto& [function, seconds] : by_call) total += seconds;
  TableBuilder table(
      {"gpu-idle", {{"call", ColumnType::text}, {"wall_s", ColumnType::float64, "s"}, {"share", ColumnType::float64}}});
  for (const auto& [function, seconds] : by_call) table.row(function, seconds, seconds / total);
  return std::move(table).finish();
}

Result<GpuIdleness> gpu_idleness(const Trace& trace, std::span<const LocationId> locations,
                                 const StatisticsOptions& options, std::optional<std::size_t> depth) {
  const SystemTree& system = trace.definitions().system;
  std::map<SystemNodeId, std::vector<LocationId>> by_process;
  for (const LocationId location : locations) by_process[system.group_of(location)].push_back(location);
  std::vector<const std::vector<LocationId>*> processes;
  processes.reserve(by_process.size());
  for (const auto& [process, streams] : by_process) processes.push_back(&streams);
  std::vector<Blame> blames(processes.size());
  std::vector<double> wholes(processes.size());
  FATHOM_CHECK(parallel_for(processes.size(), [&](std::size_t i) -> Result<void> {
    Sweep sweep(trace, *processes[i], options, depth);
    FATHOM_TRY(blames[i], sweep.run());
    wholes[i] = sweep.whole();
    return {};
  }));
  constexpr double kSecond = 1e-9;
  GpuIdleness out;
  for (const double ns : wholes) out.whole_s += ns * kSecond;
  Blame all;
  for (const Blame& blame : blames) {
    for (const auto& [function, ns] : blame) all[function] += ns;
  }
  for (const auto& [function, ns] : all) {
    if (ns > 0) out.by_call.emplace_back(function, ns * kSecond);
  }
  std::stable_sort(out.by_call.begin(), out.by_call.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

}  // namespace fathom
