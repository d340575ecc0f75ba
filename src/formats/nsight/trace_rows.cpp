#include "formats/nsight/trace_rows.hpp"

#include <fmt/format.h>

#include "trace/rank_names.hpp"

namespace fathom::nsight {

namespace {

// The name, or what stands for it where there is none.
std::string known(const std::map<std::int64_t, std::string>& names, std::int64_t key, std::string otherwise) {
  const auto found = names.find(key);
  return found != names.end() && !found->second.empty() ? found->second : std::move(otherwise);
}

}  // namespace

SystemNode TraceRows::group(std::int64_t process, std::int64_t number) const {
  SystemNode node;
  node.kind = SystemKind::group;
  node.type = "process";
  node.name = known(process_names_, process, fmt::format("process {}", process));
  const auto rank = ranks_.find(process);
  node.rank = rank != ranks_.end() ? rank->second : number;
  node.file_id = static_cast<std::uint64_t>(process);
  return node;
}

SystemNode TraceRows::location(const Key& key) const {
  SystemNode node;
  node.kind = SystemKind::location;
  switch (key.kind) {
    case Kind::thread:
      node.type = "thread";
      node.name = known(thread_names_, (key.process << 24 | key.thread) & kWithoutMachine,
                        fmt::format("thread {}", key.thread));
      node.label = fmt::format("{}.{}", key.process, key.thread);
      break;
    case Kind::stream: {
      const std::string gpu = known(gpu_names_, key.device, "");
      node.type = "stream";
      node.name =
          fmt::format("GPU {}{} stream {}", key.device, gpu.empty() ? "" : fmt::format(" ({})", gpu), key.stream);
      node.label = fmt::format("{}.gpu{}.{}.{}", key.process, key.device, key.context, key.stream);
      break;
    }
    case Kind::ranges:
      node.type = "stream";
      node.name = "NVTX ranges";
      node.label = fmt::format("{}.nvtx", key.process);
      break;
  }
  return node;
}

std::vector<StoredTrace::RowNode> TraceRows::places(SystemTree& system) {
  // Where ranks are told by names of threads only.
  for (const auto& [global, name] : thread_names_) {
    if (const auto rank = rank_in_name(name)) ranks_.emplace(process_of(global), *rank);
  }
  std::vector<StoredTrace::RowNode> nodes;
  std::map<std::int64_t, SystemNodeId> groups;
  for (const auto& [key, number] : rows_) {
    const auto [found, fresh] = groups.emplace(key.process, SystemNodeId());
    if (fresh) found->second = system.add(group(key.process, static_cast<std::int64_t>(groups.size() - 1)));
    SystemNode node = location(key);
    node.parent = found->second;
    node.rank = static_cast<std::int64_t>(nodes.size());
    node.file_id = nodes.size();
    nodes.push_back({number, std::move(node)});
  }
  return nodes;
}

}  // namespace fathom::nsight
