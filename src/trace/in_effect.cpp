#include "trace/in_effect.hpp"

#include <algorithm>

namespace fathom {

void InEffect::set(std::vector<Event>& list, const Event& event) {
  const auto at = std::lower_bound(list.begin(), list.end(), event.name,
                                   [](const Event& one, std::uint32_t name) { return one.name < name; });
  if (at != list.end() && at->name == event.name) {
    *at = event;
  } else {
    list.insert(at, event);
  }
}

void InEffect::take(const Event& event) {
  switch (event.kind) {
    case EventKind::enter:
      open_.push_back(event);
      names_.add(event.name);
      break;
    case EventKind::leave: {
      // Those that are open inside of it end with it; one that was not entered changes nothing.
      if (!names_.has(event.name)) break;
      const auto found =
          std::find_if(open_.rbegin(), open_.rend(), [&](const Event& enter) { return enter.name == event.name; });
      if (found != open_.rend()) forget_from(static_cast<std::size_t>(open_.rend() - found) - 1);
      break;
    }
    case EventKind::state:
      set(channels_, event);
      break;
    case EventKind::counter:
      set(counters_, event);
      break;
    case EventKind::sample:
      sample_ = event;
      sampled_ = true;
      break;
    case EventKind::send:
    case EventKind::recv:
    case EventKind::collective:
    case EventKind::complete:
      break;
    case EventKind::marker:
      take_marker(event);
      break;
  }
}

void InEffect::take_marker(const Event& event) {
  if (event.name >= meanings_.size()) return;
  const MarkerMeaning meaning = meanings_[event.name];
  if (meaning == MarkerMeaning::task_switch) switch_to(event.value, event);
  if (meaning != MarkerMeaning::task_end || event.value == 0) return;
  // What it has open ends with it, and if it ran the location's own stack goes on.
  if (task_ != event.value) {
    if (const auto found = suspended_.find(event.value); found != suspended_.end()) {
      for (const Event& enter : found->second.open) names_.remove(enter.name);
      suspended_.erase(found);
    }
    return;
  }
  forget_from(0);
  // There was a switch to it; its like leads back.
  Event back = begun_;
  back.time_ns = event.time_ns;
  back.has_time = event.has_time;
  back.record = event.record;
  back.value = 0;
  switch_to(0, back);
}

void InEffect::forget_from(std::size_t depth) {
  for (std::size_t i = depth; i < open_.size(); ++i) names_.remove(open_[i].name);
  open_.resize(depth);
}

void InEffect::switch_to(std::int64_t task, const Event& event) {
  if (task == task_) return;
  if (!open_.empty()) suspended_[task_] = {std::move(open_), begun_};
  open_.clear();
  task_ = task;
  begun_ = event;
  if (const auto found = suspended_.find(task); found != suspended_.end()) {
    open_ = std::move(found->second.open);
    suspended_.erase(found);
  }
}

std::vector<Event> InEffect::carried() const {
  std::vector<Event> out;
  if (const auto own = suspended_.find(0); own != suspended_.end()) out = own->second.open;
  for (const auto& [number, task] : suspended_) {
    if (number == 0) continue;
    out.push_back(task.begun);
    out.insert(out.end(), task.open.begin(), task.open.end());
  }
  if (task_ != 0 || !suspended_.empty()) out.push_back(begun_);
  out.insert(out.end(), open_.begin(), open_.end());
  // A channel that was emptied has no value to hand over.
  std::copy_if(channels_.begin(), channels_.end(), std::back_inserter(out),
               [](const Event& event) { return event.has_value; });
  out.insert(out.end(), counters_.begin(), counters_.end());
  if (sampled_) out.push_back(sample_);
  for (Event& event : out) event.carried = true;
  return out;
}

}  // namespace fathom
