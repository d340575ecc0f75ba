#include "formats/ovni/tasks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::ovni {

namespace {

std::string describe(const TaskTable& table, std::uint32_t body) {
  return fmt::format("body {} of task {}", table.bodies[body].id, table.task_of(table.bodies[body]).id);
}

std::string_view to_string(BodyState state) {
  constexpr std::string_view kNames[] = {"created", "running", "paused", "dead"};
  return kNames[static_cast<std::size_t>(state)];
}

std::optional<std::string> judge_top(const TaskTable& table, std::uint32_t body, const BodyStack& stack,
                                     BodyState needed) {
  const Body& found = table.bodies[body];
  if (found.state != needed) {
    return fmt::format("{} is {}, not {}", describe(table, body), to_string(found.state), to_string(needed));
  }
  if (stack.empty() || stack.back() != body) {
    return fmt::format("{} is not on top of this thread's stack", describe(table, body));
  }
  return std::nullopt;
}

std::uint32_t word(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i])); };
  return byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
}

struct Mix {
  std::uint32_t a, b, c;

  void stir() {
    a -= b + c, a ^= c >> 13;
    b -= c + a, b ^= a << 8;
    c -= a + b, c ^= b >> 13;
    a -= b + c, a ^= c >> 12;
    b -= c + a, b ^= a << 16;
    c -= a + b, c ^= b >> 5;
    a -= b + c, a ^= c >> 3;
    b -= c + a, b ^= a << 10;
    c -= a + b, c ^= b >> 15;
  }
};

}  // namespace

std::uint32_t TaskTable::make_body(std::uint32_t task, std::uint32_t id) {
  const auto index = static_cast<std::uint32_t>(bodies.size());
  bodies.push_back({task, id, BodyState::created, kNobody});
  body_of_id.insert(std::uint64_t{task} << 32 | id, index);
  return index;
}

void TaskTable::add_type(std::uint32_t id, std::string_view label) {
  std::string text = label.empty() ? fmt::format("(unlabeled task type {})", id) : std::string(label);
  const std::uint32_t gid = label_gid(text);
  type_of_id.insert(id, static_cast<std::uint32_t>(types.size()));
  types.push_back({id, gid, std::move(text)});
}

void TaskTable::add_task(std::uint32_t id, std::uint32_t type, unsigned flags) {
  task_of_id.insert(id, static_cast<std::uint32_t>(tasks.size()));
  tasks.push_back({id, type, flags});
}

std::optional<std::string> judge_execute(const TaskTable& table, std::uint32_t body, const BodyStack& stack) {
  if (body != kNobody) {
    const Body& found = table.bodies[body];
    const bool again = found.state == BodyState::dead && (table.task_of(found).flags & kMayRunAgain) != 0;
    if (found.state != BodyState::created && !again) {
      return fmt::format("{} is {} and cannot be executed", describe(table, body), to_string(found.state));
    }
    if (found.thread != kNobody) return fmt::format("{} is already on a stack", describe(table, body));
  }
  if (const std::uint32_t running = table.running(stack); running != kNobody) {
    if ((table.task_of(table.bodies[running]).flags & kRelaxedNesting) == 0) {
      return fmt::format("{} is still running on this thread", describe(table, running));
    }
  }
  return std::nullopt;
}

std::optional<std::string> judge_pause(const TaskTable& table, std::uint32_t body, const BodyStack& stack) {
  if ((table.task_of(table.bodies[body]).flags & kMayPause) == 0) {
    return fmt::format("{} cannot be paused", describe(table, body));
  }
  return judge_top(table, body, stack, BodyState::running);
}

std::optional<std::string> judge_resume(const TaskTable& table, std::uint32_t body, const BodyStack& stack) {
  return judge_top(table, body, stack, BodyState::paused);
}

std::optional<std::string> judge_end(const TaskTable& table, std::uint32_t body, const BodyStack& stack) {
  return judge_top(table, body, stack, BodyState::running);
}

void apply_execute(TaskTable& table, std::uint32_t body, BodyStack& stack, std::uint32_t thread) {
  Body& found = table.bodies[body];
  if (found.thread != kNobody) return;
  found.state = BodyState::running;
  found.thread = thread;
  stack.push_back(body);
}

void apply_pause(TaskTable& table, std::uint32_t body) {
  if (table.bodies[body].thread != kNobody) table.bodies[body].state = BodyState::paused;
}

void apply_resume(TaskTable& table, std::uint32_t body) {
  if (table.bodies[body].thread != kNobody) table.bodies[body].state = BodyState::running;
}

void apply_end(TaskTable& table, std::uint32_t body, BodyStack& stack) {
  const auto found = std::find(stack.rbegin(), stack.rend(), body);
  if (found == stack.rend()) return;
  stack.erase(std::next(found).base());
  table.bodies[body].state = BodyState::dead;
  table.bodies[body].thread = kNobody;
}

std::uint32_t label_gid(std::string_view label) {
  Mix mix{0x9e3779b9U, 0x9e3779b9U, 0xfeedbeefU};
  std::string_view rest = label;
  while (rest.size() >= 12) {
    mix.a += word(rest, 0);
    mix.b += word(rest, 4);
    mix.c += word(rest, 8);
    mix.stir();
    rest.remove_prefix(12);
  }
  mix.c += static_cast<std::uint32_t>(label.size());
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const std::uint32_t byte = static_cast<unsigned char>(rest[i]);
    if (i < 4) {
      mix.a += byte << 8 * i;
    } else if (i < 8) {
      mix.b += byte << 8 * (i - 4);
    } else {
      mix.c += byte << 8 * (i - 7);
    }
  }
  mix.stir();
  const std::uint32_t gid = (mix.c + 666) & 0x7fffffffU;
  return gid < 1000 ? gid + 1000 : gid;
}

}  // namespace fathom::ovni
