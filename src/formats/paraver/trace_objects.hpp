// Where the locations of a trace stand in Paraver's hierarchy: application, task (process), thread; node, CPU.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "defs/system_tree.hpp"

namespace fathom::paraver {

struct TraceObjects {
  struct Thread {
    LocationId location;
    std::uint32_t task = 0;    // all from 0
    std::uint32_t thread = 0;  // inside its task
    std::uint32_t cpu = 0;     // over all nodes
    std::string name;
  };
  struct Task {
    std::uint32_t threads = 0;
    std::uint32_t node = 0;
    std::string name;
  };
  struct Node {
    std::uint32_t cpus = 0;
    std::string name;
  };
  std::vector<Thread> threads;  // by task
  std::vector<Task> tasks;      // by rank where all processes have one
  std::vector<Node> nodes;
  std::vector<std::uint32_t> thread_of_location;
  std::map<std::int64_t, std::uint32_t> task_of_rank;

  explicit TraceObjects(const SystemTree& system);

  // What follows the time in the header: ":nodes(cpus,…):1:tasks(threads:node,…)".
  [[nodiscard]] std::string header_text() const;
  [[nodiscard]] std::string row_text() const;
};

}  // namespace fathom::paraver
