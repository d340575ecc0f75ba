#include "formats/cube3/system_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace fathom::cube3 {

namespace {

using Kind = FileSystemNode::Kind;

bool is_thread(const SystemNode& location) {
  return location.type != "accelerator stream" && location.type != "gpu" && location.type != "metric";
}

class Presser {
 public:
  Presser(const SystemTree& system, bool keep_ids) : system_(system), keep_ids_(keep_ids) {}

  // Threads by machine, node and process; where the tree lacks a level one is made.
  SystemLevels press() && {
    struct Path {
      SystemNodeId machine, node, process;
      LocationId thread;
      std::uint32_t id = 0;  // threads keep the order of their ids
      SystemNodeId place;    // where ids stay, so does the order of the threads of a process
      auto key() const { return std::tuple(machine, node, process, place); }
    };
    std::vector<Path> paths;
    for (std::size_t i = 0; i < system_.location_count(); ++i) {
      if (!is_thread(system_.location(LocationId(i)))) {
        out_.others.emplace_back(i);
        continue;
      }
      Path path;
      path.thread = LocationId(i);
      path.process = system_.group_of(path.thread);
      const SystemNodeId from = path.process.valid() ? path.process : system_.locations[i];
      path.node = system_.nodes[from.index()].parent;
      for (SystemNodeId at = path.node; at.valid(); at = system_.nodes[at.index()].parent) {
        out_.dropped_levels = out_.dropped_levels || (path.machine.valid() && path.machine != path.node);
        path.machine = at;
      }
      path.id = static_cast<std::uint32_t>(keep_ids_ ? system_.location(path.thread).file_id : out_.threads.size());
      if (keep_ids_) path.place = system_.locations[i];
      out_.threads.push_back(path.thread);
      paths.push_back(path);
    }
    // Positions in the tree are those of the document, so that their order is kept.
    std::stable_sort(paths.begin(), paths.end(), [](const Path& a, const Path& b) { return a.key() < b.key(); });
    const Path* before = nullptr;
    for (const Path& path : paths) {
      const bool machine = before == nullptr || path.machine != before->machine;
      const bool node = machine || path.node != before->node;
      const bool process = node || !path.process.valid() || path.process != before->process;
      if (machine) add(Kind::machine, path.machine);
      // Where there is one level only it is the machine, with one node in it.
      if (node) add(Kind::node, path.node == path.machine ? SystemNodeId() : path.node);
      if (process) add(Kind::process, path.process);
      add(Kind::thread, system_.locations[path.thread.index()]);
      out_.nodes.back().id = path.id;
      before = &path;
    }
    return std::move(out_);
  }

 private:
  void add(Kind kind, SystemNodeId from) {
    constexpr const char* kNames[] = {"machine", "node", "process", "thread"};
    LevelledNode to;
    to.kind = kind;
    to.id = count_[static_cast<std::size_t>(kind)]++;
    to.name = fmt::format("{} {}", kNames[static_cast<std::size_t>(kind)], to.id);
    to.rank = kind == Kind::thread ? 0 : to.id;
    if (from.valid()) {
      const SystemNode& node = system_.nodes[from.index()];
      if (!node.name.empty()) to.name = node.name;
      to.description = node.description;
      to.rank = node.rank.value_or(to.rank);
      out_.place.emplace(from, out_.nodes.size());
    }
    out_.nodes.push_back(std::move(to));
  }

  const SystemTree& system_;
  bool keep_ids_;
  SystemLevels out_;
  std::uint32_t count_[4] = {};
};

}  // namespace

SystemLevels levels_of(const SystemTree& system, bool keep_ids) { return Presser(system, keep_ids).press(); }

}  // namespace fathom::cube3
