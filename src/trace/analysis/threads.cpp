#include "trace/analysis/threads.hpp"

#include <algorithm>
#include <map>

#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "trace/analysis/call_kinds.hpp"
#include "trace/gpu_idleness.hpp"
#include "trace/merge.hpp"
#include "trace/open_names.hpp"

namespace fathom::analysis {

namespace {

enum class Use : std::uint8_t { idle, useful, mpi, barrier, runtime, gpu_call };

struct RegionUse {
  Use use = Use::useful;
  bool parallel = false;  // it and all inside of it is done by several threads
};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// What a region is, by its paradigm and role, or its name where a file has neither.
RegionUse use_of(const Region& region, bool tasks_tell) {
  if (call_facts(region).kind != CallKind::none) return {Use::mpi, false};
  const std::string paradigm = to_lower(region.paradigm);
  const std::string role = to_lower(region.role);
  if (is_one_of(role, {"task", "task untied"})) return {Use::useful, true};
  if (role == "thread") return {tasks_tell ? Use::idle : Use::useful, false};
  if (is_one_of(paradigm, {"nanos6", "nosv", "nodes", "tampi", "kernel"})) return {Use::runtime, false};
  if (is_one_of(paradigm, {"cuda", "hip", "opencl", "openacc"})) return {Use::gpu_call, false};
  if (is_one_of(role, {"barrier", "implicit barrier", "taskwait"})) return {Use::barrier, false};
  if (paradigm == "openmp") {
    if (is_one_of(role, {"critical", "atomic", "flush", "ordered", "task create", "wrapper"}))
      return {Use::runtime, false};
    // ovni knows the runtime's functions; Score-P the constructs of the program.
    if (role == "function") return {Use::runtime, false};
    return {Use::useful, role == "parallel"};
  }
  const std::string name = to_lower(region.name);
  for (const std::string_view part : {"<omp idle>", "<omp barrier wait>", "gomp_barrier_wait", "gomp_team_barrier_wait",
                                      "kmp_barrier", "kmp_fork_barrier", "kmp_join_barrier"}) {
    if (name.find(part) != std::string::npos) return {Use::barrier, false};
  }
  if (name == "<no activity>") return {Use::idle, false};
  return {Use::useful, false};
}

// ovni's channel, and the states of Paraver, where only that one is useful.
bool says_who_runs(const Channel& channel) {
  if (channel.name == "thread state") return true;
  const auto running = channel.values.find(1);
  return channel.name == "state" && running != channel.values.end() && equal_ignoring_case(running->second, "running");
}

struct Uses {
  std::vector<RegionUse> regions;
  std::vector<RegionUse> contexts;  // of samples
  ChannelId thread_state;           // 1 = running; invalid = there is none
  // The file says nothing about parallel regions: threads beside the first one are there to work at the same time.
  bool implied = true;

  explicit Uses(const Trace& trace) {
    const Definitions& defs = trace.definitions();
    const bool tasks = std::any_of(defs.regions.begin(), defs.regions.end(),
                                   [](const Region& region) { return to_lower(region.role) == "task"; });
    for (const Region& region : defs.regions) regions.push_back(use_of(region, tasks));
    // A caller that is no work of the program decides: what MPI calls inside is MPI.
    for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
      const Context& context = defs.contexts[ContextId(i)];
      RegionUse own = context.region.valid() ? regions[context.region.index()] : RegionUse{};
      if (context.parent.valid()) {
        const RegionUse above = contexts[context.parent.index()];
        if (above.use != Use::useful) own.use = above.use;
        own.parallel = own.parallel || above.parallel;
      }
      contexts.push_back(own);
    }
    for (const RegionUse& region : regions) implied = implied && !region.parallel;
    for (std::size_t i = 0; i < trace.channels().size(); ++i) {
      if (says_who_runs(trace.channels()[i])) thread_state = ChannelId(i);
    }
  }
};

// The events of one process' threads, in the order of time.
class ProcessRead {
 public:
  ProcessRead(const Trace& trace, const Uses& uses, std::vector<LocationId> threads)
      : trace_(trace), uses_(uses), threads_(std::move(threads)), states_(threads_.size()) {
    for (std::size_t i = 0; i < threads_.size(); ++i) at_[threads_[i]] = i;
    // Outside of all regions the first thread goes on with the program, the others have nothing to do.
    states_[0].outside = Use::useful;
    for (std::size_t i = 1; i < states_.size(); ++i) states_[i].worker = true;
  }

  Result<void> read() {
    FATHOM_TRY(auto events, MergedEvents::over(trace_, threads_));
    while (const Event* event = events.next()) {
      if (!event->has_time) continue;
      take(states_[at_.at(event->location)], *event);
    }
    FATHOM_CHECK(events.status());
    for (State& state : states_) pass(state, state.seen ? last_ : 0);
    std::size_t with_events = 0;
    for (const State& state : states_) with_events += state.seen ? 1 : 0;
    out.threads = static_cast<double>(uses_.thread_state.valid() ? most_running_ : with_events);
    return {};
  }

  ProcessTimes out;
  std::int64_t first = 0;
  [[nodiscard]] std::int64_t last() const { return last_; }
  [[nodiscard]] bool any() const { return any_; }

 private:
  struct State {
    std::vector<std::uint32_t> stack;
    OpenNames open;  // that are in it
    std::int64_t since = 0;
    std::uint32_t depth = 0;  // of parallel regions and tasks
    Use outside = Use::idle;
    RegionUse sample;
    bool sampled = false;
    bool running = true;
    bool seen = false;
    bool worker = false;  // not the first thread of the process
  };

  [[nodiscard]] Use use(const State& state) const {
    if (!state.running) return Use::idle;
    if (state.sampled) return state.sample.use;
    if (state.stack.empty()) return state.outside;
    return uses_.regions[state.stack.back()].use;
  }
  [[nodiscard]] bool parallel(const State& state) const {
    if (uses_.implied) return state.worker && use(state) == Use::useful;
    return state.running && (state.depth > 0 || (state.sampled && state.sample.parallel));
  }

  void pass(State& state, std::int64_t now) {
    const auto ns = static_cast<double>(now - state.since);
    if (!state.seen || ns <= 0) return;
    switch (use(state)) {
      case Use::useful:
        out.useful += ns;
        if (parallel(state) || (uses_.implied && in_parallel_ > 0)) out.inside += ns;
        break;
      case Use::mpi:
        out.mpi += ns;
        break;
      case Use::barrier:
        out.barrier += ns;
        break;
      case Use::runtime:
        out.runtime += ns;
        break;
      case Use::gpu_call:
        out.gpu_calls += ns;
        break;
      case Use::idle:
        break;
    }
    state.since = now;
  }

  void take(State& state, const Event& event) {
    // A location that has nothing but readings of counters is no thread.
    if (event.kind == EventKind::counter && !state.seen) return;
    const std::int64_t now = event.time_ns;
    if (!any_) first = last_ = now;
    any_ = true;
    if (in_parallel_ > 0 && now > last_) out.parallel += static_cast<double>(now - last_);
    last_ = std::max(last_, now);
    if (!state.seen) {
      state.seen = true;
      state.since = now;
      if (uses_.thread_state.valid()) state.running = false;
    }
    pass(state, now);
    const bool was_parallel = parallel(state);
    const bool was_running = state.running;
    change(state, event);
    if (parallel(state) != was_parallel) {
      // The first thread works in parallel as long as another one does.
      if (uses_.implied && in_parallel_ == (was_parallel ? 1 : 0)) pass(states_[0], now);
      in_parallel_ += was_parallel ? -1 : 1;
    }
    if (uses_.thread_state.valid() && state.running != was_running) {
      running_ += was_running ? -1 : 1;
      most_running_ = std::max(most_running_, running_);
    }
  }

  void change(State& state, const Event& event) const {
    if (event.kind == EventKind::enter && event.name < uses_.regions.size()) {
      state.stack.push_back(event.name);
      state.open.add(event.name);
      state.depth += uses_.regions[event.name].parallel ? 1 : 0;
    } else if (event.kind == EventKind::leave) {
      for (bool found = !state.open.has(event.name); !found; state.stack.pop_back()) {
        const std::uint32_t region = state.stack.back();
        found = region == event.name;
        state.depth -= uses_.regions[region].parallel ? 1 : 0;
        state.open.remove(region);
      }
    } else if (event.kind == EventKind::sample) {
      state.sampled = true;
      state.sample = event.name < uses_.contexts.size() ? uses_.contexts[event.name] : RegionUse{Use::idle, false};
    } else if (event.kind == EventKind::state && event.channel() == uses_.thread_state) {
      state.running = event.has_value && event.value == 1;
    }
  }

  const Trace& trace_;
  const Uses& uses_;
  std::vector<LocationId> threads_;
  std::vector<State> states_;
  std::map<LocationId, std::size_t> at_;
  std::int64_t last_ = 0;
  std::int64_t in_parallel_ = 0;
  std::int64_t running_ = 0;
  std::int64_t most_running_ = 0;
  bool any_ = false;
};

// Time in which a GPU stream runs something.
Result<double> busy_time(const Trace& trace, LocationId location) {
  FATHOM_TRY(auto stream, trace.open(location, {}));
  EventCursor cursor(std::move(stream), 1024);
  double busy = 0;
  std::size_t depth = 0;
  std::int64_t since = 0;
  bool sampled = false;
  while (const Event* event = cursor.next()) {
    if (!event->has_time) continue;
    if (depth > 0 || sampled) busy += static_cast<double>(event->time_ns - since);
    since = event->time_ns;
    if (event->kind == EventKind::enter) ++depth;
    if (event->kind == EventKind::leave && depth > 0) --depth;
    if (event->kind == EventKind::sample) sampled = event->context().valid();
  }
  FATHOM_CHECK(cursor.status());
  return busy;
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 1; }

}  // namespace

ThreadEfficiencies thread_efficiencies(const std::vector<ProcessTimes>& processes, double runtime) {
  ThreadEfficiencies out;
  out.runtime = runtime;
  ProcessTimes sum;
  double average = 0;  // of parallel and serial, by threads
  double average_parallel = 0;
  double highest = 0;
  double others_idle = 0;  // while one thread works alone
  for (const ProcessTimes& process : processes) {
    const double serial = process.useful - process.inside;
    sum.threads += process.threads;
    sum.useful += process.useful;
    sum.inside += process.inside;
    sum.mpi += process.mpi;
    sum.barrier += process.barrier;
    sum.runtime += process.runtime + process.gpu_calls;
    sum.gpu_calls += process.gpu_calls;
    average += process.threads * (process.parallel + serial);
    average_parallel += process.threads * process.parallel;
    highest = std::max(highest, process.parallel + serial);
    others_idle += (process.threads - 1) * serial;
  }
  out.threads = sum.threads;
  if (sum.threads <= 0 || runtime <= 0) return out;
  average /= sum.threads;
  average_parallel /= sum.threads;
  out.process = average / runtime;
  out.process_load_balance = 1 - (highest - average) / runtime;
  out.process_communication = highest / runtime;
  out.serial_region = 1 - others_idle / (sum.threads * runtime);
  out.parallel_region = 1 - (average_parallel - sum.inside / sum.threads) / runtime;
  out.thread = out.serial_region + out.parallel_region - 1;
  out.parallel = out.process + out.thread - 1;
  out.mpi_parallel = ratio(sum.useful, sum.useful + sum.mpi);
  const double working = sum.useful + sum.mpi;
  const double at_end = working + sum.barrier;
  const double in_runtime = at_end + sum.runtime;
  const double all = std::max(in_runtime, sum.threads * runtime);
  out.omp_load_balance = ratio(working, at_end);
  out.omp_scheduling = ratio(at_end, in_runtime);
  out.omp_serialisation = ratio(in_runtime, all);
  out.omp_parallel = ratio(working, all);
  if (sum.gpu_calls > 0) out.offload = 1 - sum.gpu_calls / (working + sum.barrier + sum.runtime);
  return out;
}

Result<ThreadEfficiencies> thread_efficiencies(const Trace& trace, const Work&) {
  const Uses uses(trace);
  const SystemTree& system = trace.definitions().system;
  std::map<std::uint32_t, std::vector<LocationId>> threads;  // by process
  std::vector<LocationId> streams;
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    const LocationId id(i);
    const SystemNodeId group = system.group_of(id);
    if (is_gpu(system, id)) {
      streams.push_back(id);
    } else if (is_cpu(system, id)) {
      threads[group.valid() ? group.value : static_cast<std::uint32_t>(system.nodes.size() + i)].push_back(id);
    }
  }
  std::vector<ProcessRead> reads;
  for (auto& [group, list] : threads) reads.emplace_back(trace, uses, list);
  Progress progress("reading threads", reads.size());
  FATHOM_CHECK(parallel_for(reads.size(), [&](std::size_t i) -> Result<void> {
    auto done = reads[i].read();
    progress.advance();
    return done;
  }));
  std::vector<ProcessTimes> processes;
  std::int64_t first = 0;
  std::int64_t last = 0;
  for (const ProcessRead& read : reads) {
    if (!read.any()) continue;
    first = processes.empty() ? read.first : std::min(first, read.first);
    last = processes.empty() ? read.last() : std::max(last, read.last());
    processes.push_back(read.out);
  }
  double useful = 0;
  for (const ProcessTimes& process : processes) useful += process.useful;
  if (!(useful > 0)) return Error::usage("this trace does not tell when its threads work for the program");
  ThreadEfficiencies out = thread_efficiencies(processes, static_cast<double>(last - first));
  out.teams_known = !uses.implied || trace.definitions().contexts.size() > 0;
  if (!streams.empty()) {
    std::vector<double> busy(streams.size());
    FATHOM_CHECK(parallel_for(streams.size(), [&](std::size_t i) -> Result<void> {
      FATHOM_TRY(busy[i], busy_time(trace, streams[i]));
      return {};
    }));
    double sum = 0;
    double highest = 0;
    std::size_t used = 0;
    for (const double ns : busy) {
      sum += ns;
      highest = std::max(highest, ns);
      used += ns > 0 ? 1 : 0;
    }
    if (used > 0) {
      out.gpu_load_balance = sum / static_cast<double>(used) / highest;
      out.gpu_orchestration = ratio(highest, out.runtime);
    }
  }
  return out;
}

}  // namespace fathom::analysis
