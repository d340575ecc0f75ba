#include "formats/ovni/event_stream.hpp"

#include <algorithm>

namespace fathom::ovni {

namespace {
constexpr std::uint32_t kNoName = fathom::Event::kNoName;
}

Result<std::size_t> OvniEventStream::next(std::span<fathom::Event> out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    if (taken_ < pending_.size()) {
      out[filled++] = pending_[taken_++];
      continue;
    }
    pending_.clear();
    taken_ = 0;
    if (ended_) break;
    Event event;
    if (cursor_.next(event)) {
      translate(event);
    } else {
      ended_ = true;
      record_ = fathom::Event::kNoRecord;
      close();
    }
  }
  return filled;
}

fathom::Event& OvniEventStream::add(EventKind kind, std::uint32_t name) {
  fathom::Event event;
  event.time_ns = time_;
  event.record = record_;
  event.location = location_;
  event.kind = kind;
  event.name = name;
  return pending_.emplace_back(event);
}

void OvniEventStream::add_state(std::uint32_t channel, std::optional<std::int64_t> value) {
  fathom::Event& event = add(EventKind::state, channel);
  event.has_value = value.has_value();
  event.value = value.value_or(0);
}

void OvniEventStream::enter(std::uint32_t region) {
  add(EventKind::enter, region);
  open_.push_back(region);
  names_.add(region);
}

void OvniEventStream::leave(std::uint32_t region, int index) {
  const auto found = names_.has(region) ? std::find(open_.rbegin(), open_.rend(), region) : open_.rend();
  if (found == open_.rend()) {
    add(EventKind::marker, static_cast<std::uint32_t>(index));
    return;
  }
  const auto at = static_cast<std::size_t>(open_.rend() - found) - 1;
  for (std::size_t i = open_.size(); i-- > at;) add(EventKind::leave, open_[i]);
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
  names_.remove(region);
  for (std::size_t i = at; i < open_.size(); ++i) add(EventKind::enter, open_[i]).resumed = true;
}

// A stream that ends inside regions was cut off: they end with it.
void OvniEventStream::close() {
  while (!open_.empty()) {
    add(EventKind::leave, open_.back());
    names_.remove(open_.back());
    open_.pop_back();
  }
}

void OvniEventStream::take_moves(std::int64_t until_ns) {
  const auto& moves = trace_.moves_[location_.index()];
  record_ = fathom::Event::kNoRecord;
  for (; moves_taken_ < moves.size() && moves[moves_taken_].time_ns <= until_ns; ++moves_taken_) {
    if (state_ == ThreadState::unknown || state_ == ThreadState::dead) continue;
    time_ = moves[moves_taken_].time_ns;
    add_state(OvniTrace::kCpuChannel, std::int64_t{moves[moves_taken_].cpu});
  }
}

void OvniEventStream::translate(const Event& event) {
  const auto time =
      static_cast<std::int64_t>(event.clock() + static_cast<std::uint64_t>(trace_.offsets_[location_.index()]));
  take_moves(time);
  time_ = time;
  record_ = offset_in(stream_, event.at);
  const int index = find_event(event.mcv());
  if (index < 0) {
    add(EventKind::marker, trace_.unknown_marker_);
    return;
  }
  const EventDef& def = all_events()[static_cast<std::size_t>(index)];
  const std::uint32_t region = trace_.region_of_event_[static_cast<std::size_t>(index)];
  const std::uint32_t channel = trace_.channel_of_event_[static_cast<std::size_t>(index)];
  switch (def.effect) {
    case Effect::push:
    case Effect::kernel_out:
      if (region != kNoName) return enter(region);
      stacks_[channel].push_back(def.value);
      return add_state(channel, def.value);
    case Effect::pop:
    case Effect::kernel_in: {
      if (region != kNoName) return leave(region, index);
      auto& stack = stacks_[channel];
      if (!stack.empty()) stack.pop_back();
      return add_state(channel, stack.empty() ? std::nullopt : std::optional(stack.back()));
    }
    case Effect::set:
    case Effect::flush_begin:
      return add_state(channel, def.value);
    case Effect::flush_end:
      return add_state(channel, std::nullopt);
    case Effect::thread_execute:
    case Effect::thread_end:
    case Effect::thread_pause:
    case Effect::thread_resume:
    case Effect::thread_cool:
    case Effect::thread_warm:
    case Effect::affinity_set:
      return translate_thread(def, index, event);
    case Effect::mark_push:
    case Effect::mark_pop:
    case Effect::mark_set:
      return translate_mark(event, index);
    case Effect::task_execute:
    case Effect::task_end:
    case Effect::task_pause:
    case Effect::task_resume:
    case Effect::work_enter:
    case Effect::work_leave:
      return translate_task(def, index, event);
    case Effect::counters:
      return translate_counters(index, event);
    default:
      add(EventKind::marker, static_cast<std::uint32_t>(index));
      return;
  }
}

// Values that the metadata do not name have no metric: a marker is what remains of them.
void OvniEventStream::translate_counters(int index, const Event& event) {
  const std::size_t named = trace_.system_.counters.size();
  const std::size_t values = event.data().size() / 8;
  for (std::size_t i = 0; i < std::min(named, values); ++i) {
    add(EventKind::counter, static_cast<std::uint32_t>(i)).value = event.argument<std::int64_t>(8 * i);
  }
  if (values > named || values == 0) add(EventKind::marker, static_cast<std::uint32_t>(index));
}

void OvniEventStream::translate_thread(const EventDef& def, int index, const Event& event) {
  if (def.effect == Effect::thread_execute || def.effect == Effect::affinity_set) {
    const std::uint32_t thread = trace_.system_.thread_of_stream[location_.index()];
    if (thread == kNobody && def.effect == Effect::affinity_set) {
      add(EventKind::marker, static_cast<std::uint32_t>(index));
      return;
    }
    if (thread != kNobody) {
      const std::uint32_t cpu = trace_.system_.find_cpu(thread, event.argument<std::int32_t>(0));
      add_state(OvniTrace::kCpuChannel, std::int64_t{cpu != kNobody ? cpu : trace_.system_.find_cpu(thread, -1)});
    }
    if (def.effect == Effect::affinity_set) return;
  }
  state_ = transition(def.effect, state_).to;
  if (def.effect == Effect::thread_execute) enter(trace_.thread_region_);
  add_state(OvniTrace::kStateChannel, static_cast<std::int64_t>(state_));
  if (def.effect != Effect::thread_end) return;
  add_state(OvniTrace::kCpuChannel, std::nullopt);
  close();
}

void OvniEventStream::translate_task(const EventDef& def, int index, const Event& event) {
  const auto id = event.argument<std::uint32_t>(0);
  const bool work = def.effect == Effect::work_enter || def.effect == Effect::work_leave;
  const std::uint32_t region = work ? trace_.type_region(location_.index(), def.model, id)
                                    : trace_.task_region(location_.index(), def.model, id);
  if (region == kNoName) {
    add(EventKind::marker, static_cast<std::uint32_t>(index));
    return;
  }
  if (def.effect == Effect::task_end || def.effect == Effect::work_leave) leave(region, index);
  if (!work) {
    const bool runs = def.effect == Effect::task_execute || def.effect == Effect::task_resume;
    add_state(OvniTrace::kTaskChannel, runs ? std::optional(std::int64_t{id}) : std::nullopt);
  }
  if (def.effect == Effect::task_execute || def.effect == Effect::work_enter) enter(region);
}

void OvniEventStream::translate_mark(const Event& event, int index) {
  const auto type = event.argument<std::int32_t>(8);
  const std::uint32_t marker =
      type >= 0 && type < 100 ? trace_.marker_of_mark_[static_cast<std::size_t>(type)] : kNoName;
  add(EventKind::marker, marker == kNoName ? static_cast<std::uint32_t>(index) : marker).value =
      event.argument<std::int64_t>(0);
}

}  // namespace fathom::ovni
