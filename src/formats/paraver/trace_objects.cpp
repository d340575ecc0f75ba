#include "formats/paraver/trace_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "formats/paraver/pcf_text.hpp"

namespace fathom::paraver {

namespace {

// Several processes on one node share it; the innermost node counts.
SystemNodeId node_of(const SystemTree& system, SystemNodeId at) {
  while (at.valid() && system.nodes[at.index()].kind != SystemKind::node) at = system.nodes[at.index()].parent;
  return at;
}

struct DraftTask {
  SystemNodeId group;
  std::vector<LocationId> locations;
};

std::vector<DraftTask> find_tasks(const SystemTree& system) {
  std::vector<DraftTask> tasks;
  std::map<SystemNodeId, std::size_t> known;
  for (std::size_t i = 0; i < system.location_count(); ++i) {
    const LocationId location(i);
    const SystemNodeId group = system.group_of(location);
    // A location outside of any process is one of its own.
    const auto [found, is_new] = group.valid() ? known.emplace(group, tasks.size()) : std::pair(known.end(), true);
    if (is_new) tasks.push_back({group, {}});
    tasks[found == known.end() ? tasks.size() - 1 : found->second].locations.push_back(location);
  }
  std::set<std::int64_t> ranks;
  const auto rank = [&](const DraftTask& task) {
    return task.group.valid() ? system.nodes[task.group.index()].rank : std::nullopt;
  };
  for (const DraftTask& task : tasks) {
    if (!rank(task) || !ranks.insert(*rank(task)).second) return tasks;
  }
  std::sort(tasks.begin(), tasks.end(), [&](const auto& a, const auto& b) { return *rank(a) < *rank(b); });
  return tasks;
}

void append_level(std::string& text, std::string_view level, std::size_t size) {
  text += fmt::format("{}LEVEL {} SIZE {}\n", text.empty() ? "" : "\n", level, size);
}

}  // namespace

TraceObjects::TraceObjects(const SystemTree& system) : thread_of_location(system.location_count()) {
  const std::vector<DraftTask> drafts = find_tasks(system);
  std::map<SystemNodeId, std::uint32_t> known;
  for (const DraftTask& draft : drafts) {
    const SystemNodeId place = node_of(system, system.locations[draft.locations.front().index()]);
    const auto [found, is_new] = known.emplace(place, static_cast<std::uint32_t>(nodes.size()));
    if (is_new) nodes.push_back({0, place.valid() ? system.nodes[place.index()].name : std::string("node")});
    const auto task = static_cast<std::uint32_t>(tasks.size());
    tasks.push_back({static_cast<std::uint32_t>(draft.locations.size()), found->second,
                     draft.group.valid() ? system.nodes[draft.group.index()].name : fmt::format("task {}", task + 1)});
    if (draft.group.valid() && system.nodes[draft.group.index()].rank) {
      task_of_rank.emplace(*system.nodes[draft.group.index()].rank, task);
    }
    nodes[found->second].cpus += tasks.back().threads;
    std::uint32_t number = 0;
    for (const LocationId location : draft.locations) {
      thread_of_location[location.index()] = static_cast<std::uint32_t>(threads.size());
      threads.push_back({location, task, number++, 0, tasks.back().name + ' ' + system.location(location).name});
    }
  }
  // CPUs are counted node after node; a thread has one of its own.
  std::vector<std::uint32_t> next(nodes.size(), 0);
  for (std::size_t i = 1; i < nodes.size(); ++i) next[i] = next[i - 1] + nodes[i - 1].cpus;
  for (Thread& thread : threads) thread.cpu = next[tasks[thread.task].node]++;
}

std::string TraceObjects::header_text() const {
  std::string text = fmt::format(":{}(", nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) text += fmt::format("{}{}", i > 0 ? "," : "", nodes[i].cpus);
  text += fmt::format("):1:{}(", tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    text += fmt::format("{}{}:{}", i > 0 ? "," : "", tasks[i].threads, tasks[i].node + 1);
  }
  return text + ')';
}

std::string TraceObjects::row_text() const {
  std::string text;
  append_level(text, "CPU", threads.size());
  std::vector<const Thread*> by_cpu;
  for (const Thread& thread : threads) by_cpu.push_back(&thread);
  std::sort(by_cpu.begin(), by_cpu.end(), [](const Thread* a, const Thread* b) { return a->cpu < b->cpu; });
  for (const Thread* thread : by_cpu)
    text += fmt::format("{}.{}\n", thread->cpu + 1, one_line(nodes[tasks[thread->task].node].name));
  append_level(text, "NODE", nodes.size());
  for (const Node& node : nodes) text += one_line(node.name) + '\n';
  append_level(text, "TASK", tasks.size());
  for (const Task& task : tasks) text += one_line(task.name) + '\n';
  append_level(text, "THREAD", threads.size());
  for (const Thread& thread : threads) text += one_line(thread.name) + '\n';
  return text;
}

}  // namespace fathom::paraver
