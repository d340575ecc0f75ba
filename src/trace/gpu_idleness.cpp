#include "trace/gpu_idleness.hpp"

#include <algorithm>
#include <map>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "trace/merge.hpp"
#include "trace/samples.hpp"

namespace fathom {

namespace {

using Blame = std::map<std::string, double>;  // ns by function

bool is_gpu(const SystemNode& location) {
  const std::string type = to_lower(location.type);
  return type.find("gpu") != std::string::npos || type.find("accelerator") != std::string::npos;
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
      const bool gpu = is_gpu(defs.system.nodes[defs.system.locations[location.index()].index()]);
      streams_[location].gpu = gpu;
      any_gpu = any_gpu || gpu;
      FATHOM_CHECK(count_samples(location));
    }
    if (!any_gpu) return Blame();
    // What a stream did before the window reaches into it, so that all of it is read.
    FATHOM_TRY(auto events, MergedEvents::over(trace_, locations_));
    while (const Event* event = events.next()) {
      if (event->kind != EventKind::sample) continue;
      advance(event->time_ns);
      change(streams_.at(event->location), *event);
    }
    FATHOM_CHECK(events.status());
    return std::move(blame_);
  }

 private:
  struct Stream {
    bool gpu = false;
    bool busy = false;
    bool started = false;
    std::uint64_t left = 0;  // samples to come
    double charged_until = 0;
    std::string function;
  };

  // The last sample of a stream lasts no time, so that it must be known when it comes.
  Result<void> count_samples(LocationId location) {
    Stream& stream = streams_.at(location);
    if (const auto known = trace_.known_records(location)) {
      stream.left = *known;
    } else {
      FATHOM_TRY(auto events, trace_.open(location, {}));
      EventCursor cursor(std::move(events));
      while (const Event* event = cursor.next()) stream.left += event->kind == EventKind::sample ? 1 : 0;
      FATHOM_CHECK(cursor.status());
    }
    if (!stream.gpu && stream.left > 0) ++waiting_threads_;
    return {};
  }

  // Idle time per busy thread runs on one clock: a thread is charged when what it does changes.
  void advance(std::int64_t to) {
    const std::int64_t begin = std::max(now_, window_.from_ns);
    const std::int64_t end = std::min(to, window_.to_ns);
    now_ = to;
    const bool between_samples = running_threads_ > 0;
    if (!between_samples || busy_gpus_ > 0 || end <= begin) return;
    const auto ns = static_cast<double>(end - begin);
    if (busy_threads_ > 0) {
      idle_per_thread_ += ns / static_cast<double>(busy_threads_);
    } else {
      blame_[std::string(kNoActivity)] += ns;
    }
  }

  void change(Stream& stream, const Event& event) {
    if (stream.left > 0) --stream.left;
    const ContextId frame = frame_at(trace_.definitions().contexts, ContextId(event.name), depth_);
    std::string function = frame.valid() ? trace_.definitions().region_of(frame).name : std::string(kNoActivity);
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
  Blame blame_;
};

}  // namespace

Result<Table> gpu_idleness(const Trace& trace, std::span<const LocationId> locations, const StatisticsOptions& options,
                           std::optional<std::size_t> depth) {
  const SystemTree& system = trace.definitions().system;
  std::map<SystemNodeId, std::vector<LocationId>> by_process;
  for (const LocationId location : locations) {
    by_process[system.nodes[system.locations[location.index()].index()].parent].push_back(location);
  }
  std::vector<const std::vector<LocationId>*> processes;
  processes.reserve(by_process.size());
  for (const auto& [process, streams] : by_process) processes.push_back(&streams);
  std::vector<Blame> blames(processes.size());
  FATHOM_CHECK(parallel_for(processes.size(), [&](std::size_t i) -> Result<void> {
    FATHOM_TRY(blames[i], Sweep(trace, *processes[i], options, depth).run());
    return {};
  }));
  Blame all;
  double total = 0;
  for (const Blame& blame : blames) {
    for (const auto& [function, ns] : blame) {
      all[function] += ns;
      total += ns;
    }
  }
  std::vector<std::pair<std::string, double>> rows(all.begin(), all.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  TableBuilder table(
      {"gpu-idle", {{"call", ColumnType::text}, {"wall_s", ColumnType::float64, "s"}, {"share", ColumnType::float64}}});
  for (const auto& [function, ns] : rows) {
    if (ns > 0) table.row(function, ns * 1e-9, ns / total);
  }
  return std::move(table).finish();
}

}  // namespace fathom
