// Whether an event may happen in the state that the system is in.
#include <fmt/format.h>

#include "formats/ovni/machine.hpp"

namespace fathom::ovni {

namespace {

constexpr std::size_t kStackLimit = 512;
constexpr std::size_t kMarkPayload = 12;

std::optional<std::string> short_payload(const Step& step, std::size_t needed, bool exact) {
  const std::size_t size = step.event.data().size();
  if (exact ? size == needed : size >= needed) return std::nullopt;
  return fmt::format("payload has {} bytes, expected {}{}", size, exact ? "" : "at least ", needed);
}

}  // namespace

std::optional<std::string> Machine::judge_model(const Step& step) const {
  const Mcv mcv = step.event.mcv();
  const int model = step.def != nullptr ? static_cast<int>(step.def->model) : find_model(model_character(mcv));
  if (model < 0) return fmt::format("unknown model '{}'", model_character(mcv));
  const ModelInfo& info = model_info(static_cast<Model>(model));
  if (!system_.enabled[static_cast<std::size_t>(model)]) {
    return fmt::format("model {} is not enabled: no thread requires it", info.name);
  }
  const Thread& thread = threads_[step.thread];
  if (info.needs_cpu && thread.out_of_cpu) return std::string("the thread is out of the CPU");
  if (info.thread_must_be == ThreadMustBe::active && !is_active(thread.state)) {
    return fmt::format("the thread is not active but {}", to_string(thread.state));
  }
  if (info.thread_must_be == ThreadMustBe::running && thread.state != ThreadState::running) {
    return fmt::format("the thread is not running but {}", to_string(thread.state));
  }
  if (step.def != nullptr) return std::nullopt;
  const bool meaningless = info.meaningless_categories.find(category_character(mcv)) != std::string_view::npos ||
                           (info.meaningless_in_version_1 && system_.version_1);
  if (meaningless || mcv == info.obsolete) return std::nullopt;
  return fmt::format("model {} has no such event", info.name);
}

std::optional<std::string> Machine::judge(const Step& step) const {
  if (auto verdict = judge_model(step)) return verdict;
  if (step.def == nullptr) return std::nullopt;
  switch (step.def->effect) {
    case Effect::none:
    case Effect::burst:
    case Effect::obsolete:
      return std::nullopt;
    case Effect::push:
    case Effect::kernel_out:
      return judge_push(step.thread, step.flat, step.def->value);
    case Effect::pop:
    case Effect::kernel_in:
      return judge_pop(step.thread, step.flat, step.def->value);
    case Effect::set:
    case Effect::flush_begin:
      return judge_set(step.thread, step.flat, std::int64_t{step.def->value});
    case Effect::flush_end:
      return judge_set(step.thread, step.flat, Value());
    case Effect::thread_execute:
    case Effect::thread_end:
    case Effect::thread_pause:
    case Effect::thread_resume:
    case Effect::thread_cool:
    case Effect::thread_warm:
      return judge_thread(step);
    case Effect::affinity_set:
    case Effect::affinity_remote:
      return judge_affinity(step);
    case Effect::mark_push:
    case Effect::mark_pop:
    case Effect::mark_set:
      return judge_mark(step);
    case Effect::type_create:
    case Effect::task_create:
    case Effect::task_create_parallel:
      return judge_creation(step);
    case Effect::task_execute:
    case Effect::task_end:
    case Effect::task_pause:
    case Effect::task_resume:
      return judge_task(step);
    case Effect::work_enter:
    case Effect::work_leave:
      return judge_work(step);
    case Effect::counters: {
      if (system_.counters.empty()) return std::string("hardware counters are not defined in the metadata");
      if (!step.event.jumbo()) return std::string("expected a jumbo event");
      return short_payload(step, 8 * system_.counters.size(), true);
    }
  }
  return std::nullopt;
}

std::optional<std::string> Machine::judge_thread(const Step& step) const {
  const Thread& thread = threads_[step.thread];
  if (step.def->effect == Effect::thread_execute) {
    if (auto verdict = short_payload(step, 4, false)) return verdict;
    if (step.cpu == kNobody) {
      return fmt::format("the loom has no CPU with index {}", step.event.argument<std::int32_t>(0));
    }
    if (thread.cpu != kNobody) return std::string("the thread has a CPU already");
  }
  const Transition change = transition(step.def->effect, thread.state);
  if (!change.allowed) {
    return fmt::format("the thread is {} and cannot become {}", to_string(thread.state), to_string(change.to));
  }
  if (change.to == ThreadState::running) {
    const std::uint32_t cpu = step.def->effect == Effect::thread_execute ? step.cpu : thread.cpu;
    if (cpu != kNobody) return judge_arrival(step.thread, cpu);
  }
  return std::nullopt;
}

// One more running thread on this CPU.
std::optional<std::string> Machine::judge_arrival(std::uint32_t thread, std::uint32_t cpu) const {
  if (system_.cpus[cpu].is_virtual() || cpus_[cpu].running == 0) return std::nullopt;
  const std::uint32_t other = cpus_[cpu].running_sum;
  return fmt::format("CPU {} has {} threads running at the same time: {} and {}", system_.cpus[cpu].phyid,
                     cpus_[cpu].running + 1, other < threads_.size() ? system_.threads[other].tid : 0,
                     system_.threads[thread].tid);
}

std::optional<std::string> Machine::judge_affinity(const Step& step) const {
  const bool remote = step.def->effect == Effect::affinity_remote;
  if (auto verdict = short_payload(step, remote ? 8 : 4, true)) return verdict;
  if (step.cpu == kNobody) {
    return fmt::format("the loom has no CPU with index {}", step.event.argument<std::int32_t>(0));
  }
  if (remote && step.target == kNobody) {
    return fmt::format("the loom has no thread {}", step.event.argument<std::int32_t>(4));
  }
  const std::uint32_t target = remote ? step.target : step.thread;
  const Thread& thread = threads_[target];
  if (remote && (thread.state == ThreadState::unknown || thread.state == ThreadState::dead)) {
    return fmt::format("thread {} is {}", system_.threads[target].tid, to_string(thread.state));
  }
  if (!remote && !is_active(thread.state)) {
    return fmt::format("the thread is not active but {}", to_string(thread.state));
  }
  if (thread.cpu == step.cpu) {
    if (remote) return fmt::format("thread {} is on this CPU already", system_.threads[target].tid);
    return std::nullopt;
  }
  return thread.state == ThreadState::running ? judge_arrival(target, step.cpu) : std::nullopt;
}

std::optional<std::string> Machine::judge_push(std::uint32_t thread, int flat, std::int64_t value) const {
  const std::size_t at = thread * map_.stride() + static_cast<std::size_t>(flat);
  const FlatChannel& channel = map_.flat()[static_cast<std::size_t>(flat)];
  if (!channel.duplicates && values_[at] == Value(value)) {
    return fmt::format("{}: {} is the value already", channel.title, value);
  }
  if (stacks_[at].size() >= kStackLimit) return fmt::format("{}: more than {} values", channel.title, kStackLimit);
  return std::nullopt;
}

std::optional<std::string> Machine::judge_pop(std::uint32_t thread, int flat, std::int64_t value) const {
  const auto& stack = stacks_[thread * map_.stride() + static_cast<std::size_t>(flat)];
  if (!stack.empty() && stack.back() == value) return std::nullopt;
  const std::string& title = map_.flat()[static_cast<std::size_t>(flat)].title;
  if (stack.empty()) return fmt::format("{}: cannot pop {} from an empty stack", title, value);
  return fmt::format("{}: cannot pop {}, {} is on top", title, value, stack.back());
}

std::optional<std::string> Machine::judge_set(std::uint32_t thread, int flat, Value value) const {
  const FlatChannel& channel = map_.flat()[static_cast<std::size_t>(flat)];
  if (channel.duplicates || !(values_[thread * map_.stride() + static_cast<std::size_t>(flat)] == value)) {
    return std::nullopt;
  }
  return fmt::format("{}: {} is the value already", channel.title,
                     value.present ? std::to_string(value.number) : "nothing");
}

std::optional<std::string> Machine::judge_mark(const Step& step) const {
  if (auto verdict = short_payload(step, kMarkPayload, true)) return verdict;
  if (step.flat < 0) return fmt::format("mark type {} is not defined", step.event.argument<std::int32_t>(8));
  const auto value = step.event.argument<std::int64_t>(0);
  if (value == 0) return std::string("a mark cannot have the value 0");
  const bool stack = map_.flat()[static_cast<std::size_t>(step.flat)].kind == ChannelKind::stack;
  if (stack != (step.def->effect != Effect::mark_set)) {
    return fmt::format("mark type {} is a {} channel", step.event.argument<std::int32_t>(8),
                       stack ? "stack" : "single");
  }
  if (step.def->effect == Effect::mark_push) return judge_push(step.thread, step.flat, value);
  if (step.def->effect == Effect::mark_pop) return judge_pop(step.thread, step.flat, value);
  return std::nullopt;
}

std::optional<std::string> Machine::judge_creation(const Step& step) const {
  if (step.def->effect == Effect::type_create) {
    if (!step.event.jumbo()) return std::string("expected a jumbo event");
    if (auto verdict = short_payload(step, 5, false)) return verdict;
    if (step.task_id == 0) return std::string("a task type cannot have the id 0");
    if (step.type != kNobody) return fmt::format("task type {} exists already", step.task_id);
    return std::nullopt;
  }
  const TaskRules& rules = *model_info(step.def->model).tasks;
  if (auto verdict = short_payload(step, 8, rules.exact_creation)) return verdict;
  if (rules.counts_from_one && step.task_id == 0) return std::string("a task cannot have the id 0");
  if (step.task != kNobody) return fmt::format("task {} exists already", step.task_id);
  if (step.type == kNobody) {
    return fmt::format("task type {} does not exist", step.event.argument<std::uint32_t>(4));
  }
  return std::nullopt;
}

std::optional<std::string> Machine::judge_task(const Step& step) const {
  const TaskRules& rules = *model_info(step.def->model).tasks;
  const TaskChannels& channels = rules.channels;
  const auto flat = [&](int channel) { return map_.find(step.def->model, channel); };
  const bool with_body = rules.names_bodies && !system_.version_1;
  if (auto verdict = short_payload(step, with_body ? 8 : 4, false)) return verdict;
  if (step.task_id == 0) return std::string("task 0 cannot run");
  if (step.task == kNobody) return fmt::format("task {} does not exist", step.task_id);
  const TaskTable& table = *step.table;
  const bool parallel = (table.tasks[step.task].flags & kParallel) != 0;
  if (parallel && step.body_id == 0) return fmt::format("task {} is parallel: its bodies count from 1", step.task_id);
  if (!parallel && step.body_id != 0) {
    return fmt::format("task {} is not parallel, but body {} is meant", step.task_id, step.body_id);
  }
  if (step.body == kNobody && step.def->effect != Effect::task_execute) {
    return fmt::format("task {} has no body {}: it was never executed", step.task_id, step.body_id);
  }
  std::optional<std::string> verdict;
  switch (step.def->effect) {
    case Effect::task_execute:
      verdict = judge_execute(table, step.body, *step.stack);
      break;
    case Effect::task_pause:
      verdict = judge_pause(table, step.body, *step.stack);
      break;
    case Effect::task_resume:
      verdict = judge_resume(table, step.body, *step.stack);
      break;
    default:
      verdict = judge_end(table, step.body, *step.stack);
      break;
  }
  if (verdict) return verdict;
  const bool execute = step.def->effect == Effect::task_execute;
  const bool end = step.def->effect == Effect::task_end;
  if (channels.shows == TaskChannels::Shows::stacked) {
    const auto gid = std::int64_t{table.types[table.tasks[step.task].type].gid};
    for (const auto& [channel, value] :
         {std::pair(channels.task, std::int64_t{step.task_id}), std::pair(channels.type, gid)}) {
      verdict = execute ? judge_push(step.thread, flat(channel), value)
                : end   ? judge_pop(step.thread, flat(channel), value)
                        : std::nullopt;
      if (verdict) return verdict;
    }
    return std::nullopt;
  }
  if (execute) verdict = judge_push(step.thread, flat(channels.subsystem), channels.in_body);
  if (end) verdict = judge_pop(step.thread, flat(channels.subsystem), channels.in_body);
  if (verdict) return verdict;
  // The task shown afterwards must be another one than before.
  Value shown;
  if (execute || step.def->effect == Effect::task_resume) {
    shown = std::int64_t{step.task_id};
  } else if (end && step.stack->size() >= 2) {
    const Body& below = table.bodies[(*step.stack)[step.stack->size() - 2]];
    if (below.state == BodyState::running) shown = std::int64_t{table.task_of(below).id};
  }
  return judge_set(step.thread, flat(channels.task), shown);
}

std::optional<std::string> Machine::judge_work(const Step& step) const {
  if (auto verdict = short_payload(step, 4, false)) return verdict;
  if (step.task_id == 0) return std::string("a worksharing cannot have the type 0");
  if (step.type == kNobody) return fmt::format("type {} does not exist", step.task_id);
  const int flat = map_.find(step.def->model, model_info(step.def->model).tasks->channels.type);
  const auto gid = std::int64_t{step.table->types[step.type].gid};
  return step.def->effect == Effect::work_enter ? judge_push(step.thread, flat, gid)
                                                : judge_pop(step.thread, flat, gid);
}

}  // namespace fathom::ovni
