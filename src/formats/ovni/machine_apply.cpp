// What an event does to the system, whether it was allowed or not.
#include <fmt/format.h>

#include <algorithm>

#include "base/capped_sum.hpp"
#include "formats/ovni/machine.hpp"

namespace fathom::ovni {

namespace {

constexpr std::size_t kBurstCount = 100;
constexpr std::int64_t kLongFlushNs = 10'000'000;

unsigned task_flags(const TaskRules& rules, Effect creation, bool version_1) {
  if (version_1) return rules.version_1_flags;
  return creation == Effect::task_create_parallel ? rules.parallel_flags : rules.flags;
}

}  // namespace

void Machine::apply(Step& step, std::vector<Write>& writes) {
  if (step.def == nullptr) {
    const Mcv mcv = step.event.mcv();
    const int model = find_model(model_character(mcv));
    if (model >= 0 && model_info(static_cast<Model>(model)).obsolete == mcv) note_obsolete(mcv);
    return;
  }
  if (map_.find(step.def->model, 0) < 0) return;
  Thread& thread = threads_[step.thread];
  switch (step.def->effect) {
    case Effect::none:
      return;
    case Effect::push:
      return push(step.thread, step.flat, step.def->value, writes);
    case Effect::pop:
      return pop(step.thread, step.flat, step.def->value, writes);
    case Effect::set:
      return set(step.thread, step.flat, std::int64_t{step.def->value}, writes);
    case Effect::kernel_out:
      thread.out_of_cpu = true;
      return push(step.thread, step.flat, step.def->value, writes);
    case Effect::kernel_in:
      thread.out_of_cpu = false;
      return pop(step.thread, step.flat, step.def->value, writes);
    case Effect::flush_begin:
      thread.flush_begin = step.clock;
      return set(step.thread, step.flat, std::int64_t{step.def->value}, writes);
    case Effect::flush_end:
      if (const std::int64_t took = passed(thread.flush_begin, step.clock);
          took > kLongFlushNs && thread.state == ThreadState::running) {
        remarks_.push_back({"ovni.long_flush",
                            fmt::format("flush of {:.1f} ms in a running thread", static_cast<double>(took) / 1e6)});
      }
      return set(step.thread, step.flat, Value(), writes);
    case Effect::thread_execute:
    case Effect::thread_end:
    case Effect::thread_pause:
    case Effect::thread_resume:
    case Effect::thread_cool:
    case Effect::thread_warm:
      return apply_thread(step, writes);
    case Effect::affinity_set:
      if (step.cpu != kNobody) move(step.thread, step.cpu, writes);
      return;
    case Effect::affinity_remote:
      if (step.cpu != kNobody && step.target != kNobody) move(step.target, step.cpu, writes);
      return;
    case Effect::burst:
      return apply_burst(step);
    case Effect::obsolete:
      return note_obsolete(step.event.mcv());
    case Effect::mark_push:
    case Effect::mark_pop:
    case Effect::mark_set:
      return apply_mark(step, writes);
    case Effect::counters:
      for (std::size_t i = 0; i < system_.counters.size() && 8 * (i + 1) <= step.event.data().size(); ++i) {
        set(step.thread, map_.first_counter() + static_cast<int>(i), step.event.argument<std::int64_t>(8 * i), writes);
      }
      return;
    default:
      return apply_task(step, writes);
  }
}

void Machine::note_obsolete(Mcv mcv) {
  std::array<char, 3> code;
  remarks_.push_back({"ovni.obsolete_event", fmt::format("event {} is obsolete and ignored", mcv_text(mcv, code))});
}

void Machine::push(std::uint32_t thread, int flat, std::int64_t value, std::vector<Write>& writes) {
  const std::size_t at = thread * map_.stride() + static_cast<std::size_t>(flat);
  stacks_[at].push_back(value);
  values_[at] = value;
  writes.push_back({map_.model(thread, static_cast<std::uint32_t>(flat)), value});
}

void Machine::pop(std::uint32_t thread, int flat, std::int64_t value, std::vector<Write>& writes) {
  const std::size_t at = thread * map_.stride() + static_cast<std::size_t>(flat);
  auto& stack = stacks_[at];
  // What lies above it was not popped: it ends with it. What is not there at all cannot end.
  const auto found = std::find(stack.rbegin(), stack.rend(), value);
  if (found == stack.rend()) return;
  stack.erase(std::next(found).base(), stack.end());
  values_[at] = stack.empty() ? Value() : Value(stack.back());
  writes.push_back({map_.model(thread, static_cast<std::uint32_t>(flat)), values_[at]});
}

void Machine::set(std::uint32_t thread, int flat, Value value, std::vector<Write>& writes) {
  values_[thread * map_.stride() + static_cast<std::size_t>(flat)] = value;
  writes.push_back({map_.model(thread, static_cast<std::uint32_t>(flat)), value});
}

// The thread's part in its CPU's load.
void Machine::count(std::uint32_t number, bool add) {
  const Thread& thread = threads_[number];
  if (thread.cpu == kNobody) return;
  CpuLoad& cpu = cpus_[thread.cpu];
  const std::uint32_t one = add ? 1U : ~0U;
  const std::uint32_t id = add ? number : 0U - number;
  if (thread.state == ThreadState::running) {
    cpu.running += one;
    cpu.running_sum += id;
  }
  if (is_active(thread.state)) {
    cpu.active += one;
    cpu.active_sum += id;
  }
}

void Machine::show(std::uint32_t cpu, std::uint32_t channel, Value value, std::vector<Write>& writes) {
  Value& shown = cpus_[cpu].shown[channel];
  if (shown == value) return;
  shown = value;
  writes.push_back({map_.cpu(cpu, channel), value});
}

void Machine::refresh(std::uint32_t cpu, std::vector<Write>& writes) {
  const CpuLoad& load = cpus_[cpu];
  Value tid;
  Value pid;
  Value running;
  Value active;
  if (load.running == 1) {
    tid = system_.threads[load.running_sum].tid;
    pid = process_of(load.running_sum).pid;
    running = std::int64_t{load.running_sum};
  }
  if (load.active == 1) active = std::int64_t{load.active_sum};
  show(cpu, ChannelMap::kCpuTid, tid, writes);
  show(cpu, ChannelMap::kCpuPid, pid, writes);
  show(cpu, ChannelMap::kCpuRunning, running, writes);
  show(cpu, ChannelMap::kCpuRunningCount, std::int64_t{load.running}, writes);
  show(cpu, ChannelMap::kCpuActive, active, writes);
}

void Machine::write_state(std::uint32_t thread, ThreadState before, std::vector<Write>& writes) {
  const ThreadState now = threads_[thread].state;
  writes.push_back({map_.thread(thread, ChannelMap::kThreadStateChannel), static_cast<std::int64_t>(now)});
  if (is_active(before) == is_active(now)) return;
  writes.push_back(
      {map_.thread(thread, ChannelMap::kThreadTid), is_active(now) ? Value(system_.threads[thread].tid) : Value()});
}

void Machine::apply_thread(const Step& step, std::vector<Write>& writes) {
  Thread& thread = threads_[step.thread];
  const ThreadState before = thread.state;
  count(step.thread, false);
  thread.state = transition(step.def->effect, before).to;
  const std::uint32_t old_cpu = thread.cpu;
  if (step.def->effect == Effect::thread_execute) {
    thread.cpu = step.cpu != kNobody ? step.cpu : system_.find_cpu(step.thread, -1);
    if (old_cpu != kNobody && old_cpu != thread.cpu) refresh(old_cpu, writes);
    writes.push_back({map_.thread(step.thread, ChannelMap::kThreadCpu), std::int64_t{thread.cpu}});
    write_state(step.thread, before, writes);
    count(step.thread, true);
    refresh(thread.cpu, writes);
    return;
  }
  write_state(step.thread, before, writes);
  if (step.def->effect == Effect::thread_end) {
    thread.cpu = kNobody;
    if (old_cpu == kNobody) return;
    refresh(old_cpu, writes);
    writes.push_back({map_.thread(step.thread, ChannelMap::kThreadCpu), Value()});
    return;
  }
  count(step.thread, true);
  if (thread.cpu != kNobody) refresh(thread.cpu, writes);
}

void Machine::move(std::uint32_t number, std::uint32_t cpu, std::vector<Write>& writes) {
  Thread& thread = threads_[number];
  if (thread.cpu == cpu) return;
  const std::uint32_t old_cpu = thread.cpu;
  count(number, false);
  thread.cpu = cpu;
  if (old_cpu != kNobody) refresh(old_cpu, writes);
  count(number, true);
  refresh(cpu, writes);
  writes.push_back({map_.thread(number, ChannelMap::kThreadCpu), std::int64_t{cpu}});
}

void Machine::apply_mark(const Step& step, std::vector<Write>& writes) {
  if (step.flat < 0) return;
  const auto value = step.event.argument<std::int64_t>(0);
  const bool stack = map_.flat()[static_cast<std::size_t>(step.flat)].kind == ChannelKind::stack;
  if (stack && step.def->effect == Effect::mark_push) push(step.thread, step.flat, value, writes);
  if (stack && step.def->effect == Effect::mark_pop) pop(step.thread, step.flat, value, writes);
  if (!stack && step.def->effect == Effect::mark_set) set(step.thread, step.flat, value, writes);
}

// What the channels of a thread say about the body that runs on it.
void Machine::show_body(const Step& step, std::uint32_t body, std::vector<Write>& writes) {
  const TaskChannels& channels = model_info(step.def->model).tasks->channels;
  const auto write = [&](int channel, Value value) {
    if (channel >= 0) set(step.thread, map_.find(step.def->model, channel), value, writes);
  };
  Value body_id;
  Value task_id;
  Value type;
  Value app;
  Value rank;
  const ProcessInfo& process = process_of(step.thread);
  if (body != kNobody) {
    const Body& shown = step.table->bodies[body];
    const Task& task = step.table->task_of(shown);
    body_id = std::int64_t{shown.id};
    task_id = std::int64_t{task.id};
    type = std::int64_t{step.table->types[task.type].gid};
    app = process.app_id;
    rank = (CappedSum(process.rank) += 1).value();
  }
  write(channels.body, body_id);
  write(channels.task, task_id);
  write(channels.type, type);
  write(channels.app, app);
  if (process.rank >= 0) write(channels.rank, rank);
}

void Machine::apply_task(Step& step, std::vector<Write>& writes) {
  TaskTable& table = *step.table;
  const TaskRules& rules = *model_info(step.def->model).tasks;
  const TaskChannels& channels = rules.channels;
  const auto flat = [&](int channel) { return map_.find(step.def->model, channel); };
  switch (step.def->effect) {
    case Effect::type_create:
      if (step.type == kNobody) table.add_type(step.task_id, step.event.text(4));
      return;
    case Effect::task_create:
    case Effect::task_create_parallel:
      if (step.task == kNobody && step.type != kNobody)
        table.add_task(step.task_id, step.type, task_flags(rules, step.def->effect, system_.version_1));
      return;
    case Effect::work_enter:
    case Effect::work_leave: {
      if (step.type == kNobody) return;
      const auto gid = std::int64_t{table.types[step.type].gid};
      if (step.def->effect == Effect::work_enter) return push(step.thread, flat(channels.type), gid, writes);
      return pop(step.thread, flat(channels.type), gid, writes);
    }
    default:
      break;
  }
  if (step.task == kNobody) return;
  const bool execute = step.def->effect == Effect::task_execute;
  const bool end = step.def->effect == Effect::task_end;
  if (step.body == kNobody) {
    if (!execute) return;
    const bool parallel = (table.tasks[step.task].flags & kParallel) != 0;
    step.body = table.make_body(step.task, parallel ? step.body_id : 1);
  }
  if (execute && table.running(*step.stack) != kNobody) {
    remarks_.push_back(
        {"ovni.nested_task", fmt::format("task {} starts over one that is still running", step.task_id)});
  }
  if (execute) apply_execute(table, step.body, *step.stack, step.thread);
  if (end) apply_end(table, step.body, *step.stack);
  if (step.def->effect == Effect::task_pause) apply_pause(table, step.body);
  if (step.def->effect == Effect::task_resume) apply_resume(table, step.body);

  if (channels.shows == TaskChannels::Shows::stacked) {
    const auto gid = std::int64_t{table.types[table.tasks[step.task].type].gid};
    if (execute) {
      push(step.thread, flat(channels.task), step.task_id, writes);
      push(step.thread, flat(channels.type), gid, writes);
    } else if (end) {
      pop(step.thread, flat(channels.task), step.task_id, writes);
      pop(step.thread, flat(channels.type), gid, writes);
    }
    return;
  }
  if (execute) push(step.thread, flat(channels.subsystem), channels.in_body, writes);
  if (end) pop(step.thread, flat(channels.subsystem), channels.in_body, writes);
  show_body(step, step.def->effect == Effect::task_pause ? kNobody : table.running(*step.stack), writes);
}

void Machine::apply_burst(const Step& step) {
  auto& bursts = threads_[step.thread].bursts;
  if (bursts.empty()) bursts.reserve(kBurstCount);
  bursts.push_back(step.clock);
  if (bursts.size() < kBurstCount) return;
  std::array<std::int64_t, kBurstCount - 1> gaps;
  double sum = 0;
  for (std::size_t i = 0; i + 1 < kBurstCount; ++i) {
    gaps[i] = passed(bursts[i], bursts[i + 1]);
    sum += static_cast<double>(gaps[i]);
  }
  std::sort(gaps.begin(), gaps.end());
  const auto median = static_cast<double>(gaps[kBurstCount / 2 - 1]);
  remarks_.push_back({median > 100 ? "ovni.slow_bursts" : "ovni.bursts",
                      fmt::format("{} burst stats: median/avg/max = {:3.0f}/{:3.0f}/{:3.0f} ns",
                                  system_.looms[process_of(step.thread).loom].name, median,
                                  sum / static_cast<double>(gaps.size()), static_cast<double>(gaps.back()))});
  bursts.clear();
}

}  // namespace fathom::ovni
