// Who is there: names of calls, locations by rank, processes, clocks, communicators.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/text.hpp"
#include "trace/analysis/calls_parts.hpp"

namespace fathom::analysis {

namespace {

// As PAPI, perf and their users call them.
std::int8_t counter_kind(const Metric& metric) {
  const std::string name = to_lower(metric.name);
  for (const std::string_view ins :
       {"papi_tot_ins", "instructions", "perf::instructions", "perf_count_hw_instructions"}) {
    if (name == ins) return 0;
  }
  for (const std::string_view cyc :
       {"papi_tot_cyc", "cycles", "cpu-cycles", "perf::cycles", "perf_count_hw_cpu_cycles"}) {
    if (name == cyc) return 1;
  }
  return -1;
}

bool is_truncated(const SystemTree& system, LocationId location) {
  for (SystemNodeId at = system.locations[location.index()]; at.valid(); at = system.nodes[at.index()].parent) {
    const std::string* text = find_attribute(system.nodes[at.index()].attributes, "truncated");
    if (text != nullptr && *text == "true") return true;
  }
  return false;
}

}  // namespace

Names call_names(const Definitions& definitions) {
  Names out;
  out.of_region.assign(definitions.regions.size(), kNoName);
  for (std::size_t i = 0; i < definitions.regions.size(); ++i) {
    const CallFacts facts = call_facts(definitions.regions[i]);
    if (facts.kind == CallKind::none || out.names.size() == kNoName) continue;
    out.of_region[i] = static_cast<std::uint16_t>(out.names.size());
    out.names.push_back({definitions.regions[i].name, facts});
  }
  for (const Metric& metric : definitions.metrics) out.counters.push_back(counter_kind(metric));
  return out;
}

void lay_out(const Trace& trace, RunCalls& run) {
  const SystemTree& system = trace.definitions().system;
  struct Found {
    std::int64_t rank;
    std::uint32_t group;
    std::uint32_t location;
  };
  std::vector<Found> found;
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    const SystemNodeId group = system.group_of(LocationId(i));
    const auto rank = group.valid() ? system.nodes[group.index()].rank : std::nullopt;
    found.push_back({rank.value_or(-1),
                     group.valid() ? group.value : static_cast<std::uint32_t>(system.nodes.size() + i),
                     static_cast<std::uint32_t>(i)});
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::tie(a.rank, a.group, a.location) < std::tie(b.rank, b.group, b.location);
  });
  std::map<std::string, std::uint32_t> domains;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i == 0 || found[i].group != found[i - 1].group) {
      run.processes.emplace_back();
      run.ranks.push_back(static_cast<std::int32_t>(found[i].rank));
    }
    run.processes.back().push_back(static_cast<std::uint32_t>(run.locations.size()));
    LocationCalls& here = run.locations.emplace_back();
    here.id = LocationId(found[i].location);
    here.rank = static_cast<std::int32_t>(found[i].rank);
    here.process = static_cast<std::uint32_t>(run.processes.size() - 1);
    here.calls = LargeArray<Call>(*run.pool);
    here.channels = LargeArray<Channel>(*run.pool);
    here.sends = LargeArray<Send>(*run.pool);
    here.receives = LargeArray<Receive>(*run.pool);
    here.sends_done = LargeArray<SendDone>(*run.pool);
    here.parts = LargeArray<Part>(*run.pool);
    here.probed = LargeArray<Probed>(*run.pool);
    here.path_times = LargeArray<PathTime>(*run.pool);
    here.cut = is_truncated(system, here.id);
    std::string host;
    for (SystemNodeId at = system.location(here.id).parent; at.valid() && host.empty();
         at = system.nodes[at.index()].parent) {
      const SystemNode& node = system.nodes[at.index()];
      if (node.kind == SystemKind::node && node.type == "node" && node.name != "unknown host") host = node.name;
    }
    if (host.empty()) host = fmt::format("rank {}", here.rank);
    here.domain = domains.try_emplace(host, static_cast<std::uint32_t>(domains.size())).first->second;
    if (here.domain == run.domains.size()) run.domains.push_back(host);
  }
}

void make_groups(const Trace& trace, RunCalls& run, std::vector<PartsByGroup>& parts) {
  const auto communicators = trace.communicators();
  run.groups.resize(communicators.size() + 2);
  std::unordered_map<std::int32_t, std::uint32_t> process_of;
  for (std::size_t i = 0; i < run.ranks.size(); ++i) process_of.emplace(run.ranks[i], static_cast<std::uint32_t>(i));
  std::set<std::uint32_t> used;
  for (const PartsByGroup& of_process : parts) {
    for (const auto& [group, list] : of_process) used.insert(group);
  }
  std::set<std::int32_t> missing;
  for (const Communicator& communicator : communicators) {
    for (const std::int32_t rank : communicator.ranks) {
      if (rank >= 0 && process_of.count(rank) == 0) missing.insert(rank);
    }
  }
  for (const std::uint32_t g : used) {
    Group& group = run.groups[g];
    if (g < communicators.size()) {
      for (const std::int32_t rank : communicators[g].ranks) {
        const auto found = process_of.find(rank);
        if (found != process_of.end()) group.members.push_back(found->second);
      }
    } else {
      for (std::uint32_t i = 0; i < run.processes.size(); ++i) group.members.push_back(i);
    }
    for (std::uint32_t m = 0; m < group.members.size(); ++m) group.sorted.emplace_back(group.members[m], m);
    std::sort(group.sorted.begin(), group.sorted.end());
    group.whole_run = group.members.size() == run.processes.size();
    group.calls.resize(group.members.size());
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const auto found = parts[group.members[m]].find(g);
      if (found == parts[group.members[m]].end()) continue;
      group.calls[m] = std::move(found->second);
      group.instances = std::max(group.instances, group.calls[m].size());
    }
  }
  run.missing.assign(missing.begin(), missing.end());
}

void join_paths(RunCalls& run, const std::vector<PathTable>& paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::vector<std::uint32_t> numbers = run.paths.merge(paths[i]);
    for (const std::uint32_t location : run.processes[i]) {
      LocationCalls& here = run.locations[location];
      for (PathTime& time : here.path_times) time.path = numbers[time.path];
      here.first_path = numbers[here.first_path];
    }
  }
}

namespace {

std::uint32_t entered_between(const LargeArray<Call>& calls, std::size_t begin, std::size_t end, std::int64_t time) {
  const auto* found = std::lower_bound(calls.begin() + begin, calls.begin() + end, time,
                                       [](const Call& call, std::int64_t wanted) { return call.entry < wanted; });
  return found == calls.end() || found->entry != time ? kNone : static_cast<std::uint32_t>(found - calls.begin());
}

}  // namespace

std::uint32_t LocationCalls::entered_at(std::int64_t time) const {
  return entered_between(calls, 0, calls.size(), time);
}

std::uint32_t LocationCalls::entered_lately(std::int64_t time) const {
  std::size_t begin = calls.size();
  for (std::size_t back = 1; begin > 0 && calls[begin - 1].entry >= time; back *= 2) begin -= std::min(begin, back);
  return entered_between(calls, begin, calls.size(), time);
}

std::int64_t LocationCalls::inside_before(std::uint32_t call) const {
  if (call >= calls.size()) return 0;
  std::int64_t sum = inside[call / kInsideStep];
  for (std::uint32_t i = call / kInsideStep * kInsideStep; i < call; ++i) sum += calls[i].exit - calls[i].entry;
  return sum;
}

std::int64_t LocationCalls::inside_between(std::uint32_t begin, std::uint32_t end) const {
  if (end - begin > 2 * kInsideStep) return inside_before(end) - inside_before(begin);
  std::int64_t sum = 0;
  for (std::uint32_t i = begin; i < end; ++i) sum += calls[i].exit - calls[i].entry;
  return sum;
}

void LocationCalls::sum_up() {
  inside.clear();
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i % kInsideStep == 0) inside.push_back(sum);
    sum += calls[i].exit - calls[i].entry;
  }
}

std::uint32_t Group::position(std::uint32_t process) const {
  if (process < members.size() && members[process] == process) return process;
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), std::pair{process, std::uint32_t{0}});
  return found == sorted.end() || found->first != process ? kNone : found->second;
}

std::string RunCalls::path_name(std::uint32_t path) const {
  if (path == 0) return "compute";
  std::string out;
  for (; path != 0; path = paths.parent(path)) {
    // A function whose name is in a part of the file that is lost has none.
    const std::uint32_t region = paths.region(path);
    const auto& regions = trace->definitions().regions;
    const std::string name = region < regions.size() ? regions[region].name : "unknown region";
    out = out.empty() ? name : name + "->" + out;
  }
  return out;
}

std::uint32_t RunCalls::process_of_rank(std::int32_t rank) const {
  const auto found = std::lower_bound(ranks.begin(), ranks.end(), rank);
  return found == ranks.end() || *found != rank ? kNone : static_cast<std::uint32_t>(found - ranks.begin());
}

}  // namespace fathom::analysis
