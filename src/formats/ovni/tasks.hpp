// Task types, tasks and their bodies of one process and model.
// A body is one execution: most tasks have one, parallel tasks as many as are started.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/ovni/flat_index.hpp"
#include "formats/ovni/models.hpp"
#include "formats/ovni/system.hpp"

namespace fathom::ovni {

enum class BodyState : std::uint8_t { created, running, paused, dead };

struct TaskType {
  std::uint32_t id = 0;
  std::uint32_t gid = 0;  // the value shown: from the label, so that equal labels look equal in all processes
  std::string label;
};

struct Task {
  std::uint32_t id = 0;
  std::uint32_t type = 0;  // index
  unsigned flags = 0;      // TaskFlag
};

struct Body {
  std::uint32_t task = 0;  // index
  std::uint32_t id = 0;
  BodyState state = BodyState::created;
  std::uint32_t thread = kNobody;  // on whose stack it lies
};

// A thread's bodies, innermost last; entries are body indices.
using BodyStack = std::vector<std::uint32_t>;

struct TaskTable {
  std::vector<TaskType> types;
  std::vector<Task> tasks;
  std::vector<Body> bodies;
  FlatIndex type_of_id;
  FlatIndex task_of_id;
  FlatIndex body_of_id;  // by task index and body id

  [[nodiscard]] std::uint32_t find_body(std::uint32_t task, std::uint32_t id) const {
    return body_of_id.find(std::uint64_t{task} << 32 | id);
  }
  std::uint32_t make_body(std::uint32_t task, std::uint32_t id);
  void add_type(std::uint32_t id, std::string_view label);
  void add_task(std::uint32_t id, std::uint32_t type, unsigned flags);
  [[nodiscard]] const Task& task_of(const Body& body) const { return tasks[body.task]; }
  // The body that runs on a stack, or kNobody.
  [[nodiscard]] std::uint32_t running(const BodyStack& stack) const {
    return !stack.empty() && bodies[stack.back()].state == BodyState::running ? stack.back() : kNobody;
  }
};

// Whether a body may do this now; nothing = yes. `body` kNobody stands for one that is made by execution.
std::optional<std::string> judge_execute(const TaskTable& table, std::uint32_t body, const BodyStack& stack);
std::optional<std::string> judge_pause(const TaskTable& table, std::uint32_t body, const BodyStack& stack);
std::optional<std::string> judge_resume(const TaskTable& table, std::uint32_t body, const BodyStack& stack);
std::optional<std::string> judge_end(const TaskTable& table, std::uint32_t body, const BodyStack& stack);

// Does it, whatever was judged; what makes no sense changes as little as possible.
void apply_execute(TaskTable& table, std::uint32_t body, BodyStack& stack, std::uint32_t thread);
void apply_pause(TaskTable& table, std::uint32_t body);
void apply_resume(TaskTable& table, std::uint32_t body);
void apply_end(TaskTable& table, std::uint32_t body, BodyStack& stack);

// The value shown for a label: Jenkins' 32-bit hash, moved out of the small numbers that states use.
std::uint32_t label_gid(std::string_view label);

}  // namespace fathom::ovni
