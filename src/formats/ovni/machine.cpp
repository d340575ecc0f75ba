#include "formats/ovni/machine.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::ovni {

namespace {

void add_channels(std::vector<FlatChannel>& flat, Model model) {
  for (const ChannelDef& def : model_info(model).channels) {
    FlatChannel channel;
    channel.kind = def.kind;
    channel.duplicates = def.duplicates;
    channel.type = def.type;
    channel.repeat = def.repeat;
    channel.tracking = def.tracking;
    channel.title = def.title;
    channel.model = model;
    channel.role = def.role;
    flat.push_back(std::move(channel));
  }
}

}  // namespace

std::string_view to_string(ThreadState state) { return find_label(kThreadStateType, static_cast<std::int64_t>(state)); }

Transition transition(Effect effect, ThreadState from) {
  using enum ThreadState;
  switch (effect) {
    case Effect::thread_execute:
      return {running, from != running};
    case Effect::thread_end:
      return {dead, from == running || from == cooling};
    case Effect::thread_pause:
      return {paused, from == running || from == cooling};
    case Effect::thread_resume:
      return {running, from == paused || from == warming};
    case Effect::thread_cool:
      return {cooling, from == running};
    case Effect::thread_warm:
      return {warming, from == paused};
    default:
      return {from, true};
  }
}

ChannelMap::ChannelMap(const System& system) {
  first_.fill(-1);
  for (std::size_t i = 0; i < kModelCount; ++i) {
    if (!system.enabled[i]) continue;
    const auto model = static_cast<Model>(i);
    first_[i] = static_cast<int>(flat_.size());
    add_channels(flat_, model);
    FlatChannel extra;
    extra.duplicates = true;
    extra.repeat = Repeat::skip_null;
    extra.tracking = Tracking::active;
    extra.plain_title = true;
    extra.model = model;
    if (model_info(model).extra == ExtraChannels::marks) {
      first_mark_ = static_cast<int>(flat_.size());
      for (std::size_t k = 0; k < system.marks.size(); ++k) {
        const MarkChannel& mark = system.marks[k];
        extra.kind = mark.stack ? ChannelKind::stack : ChannelKind::single;
        extra.type = 100 + static_cast<int>(mark.type);
        extra.title = mark.title;
        extra.mark = static_cast<int>(k);
        flat_.push_back(extra);
      }
    }
    if (model_info(model).extra == ExtraChannels::counters) {
      first_counter_ = static_cast<int>(flat_.size());
      extra.mark = -1;
      extra.kind = ChannelKind::single;
      extra.counter = true;
      for (std::size_t k = 0; k < system.counters.size(); ++k) {
        extra.type = 200 + static_cast<int>(k);
        extra.title = system.counters[k];
        flat_.push_back(extra);
      }
    }
  }
  cpu_begin_ = static_cast<std::uint32_t>(system.threads.size()) * kThreadChannels;
  model_begin_ = cpu_begin_ + static_cast<std::uint32_t>(system.cpus.size()) * kCpuChannels;
  end_ = model_begin_ + static_cast<std::uint32_t>(system.threads.size() * flat_.size());
}

Machine::Machine(const System& system)
    : system_(system),
      map_(system),
      threads_(system.threads.size()),
      cpus_(system.cpus.size()),
      values_(system.threads.size() * map_.stride()),
      stacks_(values_.size()),
      tables_(system.processes.size() * kModelCount),
      body_stacks_(system.threads.size() * kModelCount) {
  for (const EventDef& def : all_events()) {
    const int flat = def.channel < 0 ? -1 : map_.find(def.model, def.channel);
    hot_.push_back({def.effect, static_cast<std::int16_t>(flat), static_cast<std::uint8_t>(def.model)});
  }
  mark_of_type_.fill(-1);
  for (std::size_t k = 0; k < system.marks.size(); ++k) {
    mark_of_type_[static_cast<std::size_t>(system.marks[k].type)] = map_.first_mark() + static_cast<int>(k);
  }
  // Threads make progress until they say otherwise.
  for (std::uint32_t flat = 0; flat < map_.stride(); ++flat) {
    if (map_.flat()[flat].role != ChannelRole::idle) continue;
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
      values_[thread * map_.stride() + flat] = kIdleProgressing;
    }
  }
}

std::size_t Machine::depth(std::uint32_t thread, int flat) const {
  return stacks_[thread * map_.stride() + static_cast<std::size_t>(flat)].size();
}

const TaskTable& Machine::tasks(std::uint32_t process, Model model) const {
  return tables_[process * kModelCount + static_cast<std::size_t>(model)];
}

void Machine::resolve(const Event& event, std::int64_t clock, std::uint32_t thread, Step& step) {
  step.event = event;
  step.clock = clock;
  step.thread = thread;
  step.index = find_event(event.mcv());
  step.def = nullptr;
  if (step.index < 0) return;
  step.def = &all_events()[static_cast<std::size_t>(step.index)];
  const Hot& hot = hot_[static_cast<std::size_t>(step.index)];
  step.flat = hot.flat;
  // Channels of a model that the trace does not ask for do not exist.
  if (map_.find(step.def->model, 0) < 0) return;
  switch (hot.effect) {
    case Effect::thread_execute:
    case Effect::affinity_set:
      step.cpu = system_.find_cpu(thread, event.argument<std::int32_t>(0));
      break;
    case Effect::affinity_remote:
      step.cpu = system_.find_cpu(thread, event.argument<std::int32_t>(0));
      step.target = system_.find_thread(thread, event.argument<std::int32_t>(4));
      break;
    case Effect::mark_push:
    case Effect::mark_pop:
    case Effect::mark_set: {
      const auto type = event.argument<std::int32_t>(8);
      step.flat = type >= 0 && type < 100 ? mark_of_type_[static_cast<std::size_t>(type)] : -1;
      break;
    }
    case Effect::type_create:
    case Effect::task_create:
    case Effect::task_create_parallel:
    case Effect::task_execute:
    case Effect::task_end:
    case Effect::task_pause:
    case Effect::task_resume:
    case Effect::work_enter:
    case Effect::work_leave:
      resolve_task(step);
      break;
    default:
      break;
  }
}

void Machine::resolve_task(Step& step) {
  const auto model = static_cast<std::size_t>(step.def->model);
  step.table = &tables_[system_.threads[step.thread].process * kModelCount + model];
  step.stack = &body_stacks_[step.thread * kModelCount + model];
  step.type = step.task = step.body = kNobody;
  step.task_id = step.event.argument<std::uint32_t>(0);
  switch (step.def->effect) {
    case Effect::type_create:
    case Effect::work_enter:
    case Effect::work_leave:
      step.type = step.table->type_of_id.find(step.task_id);
      return;
    case Effect::task_create:
    case Effect::task_create_parallel:
      step.type = step.table->type_of_id.find(step.event.argument<std::uint32_t>(4));
      step.task = step.table->task_of_id.find(step.task_id);
      return;
    default:
      break;
  }
  step.task = step.table->task_of_id.find(step.task_id);
  step.body_id = model_info(step.def->model).tasks->names_bodies ? step.event.argument<std::uint32_t>(4) : 0;
  if (step.task == kNobody) return;
  const bool parallel = (step.table->tasks[step.task].flags & kParallel) != 0;
  step.body = step.table->find_body(step.task, parallel ? step.body_id : 1);
}

std::optional<std::string> left_on_stack(const Machine& machine, Model model, std::uint32_t thread) {
  const auto channels = model_info(model).channels;
  for (std::size_t k = 0; k < channels.size(); ++k) {
    if (channels[k].role != ChannelRole::code) continue;
    const int flat = machine.channels().find(model, static_cast<int>(k));
    if (const auto depth = machine.depth(thread, flat); depth != 0) {
      return fmt::format("{} ends with {} values on its stack", channels[k].title, depth);
    }
  }
  return std::nullopt;
}

}  // namespace fathom::ovni
