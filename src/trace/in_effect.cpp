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
      break;
    case EventKind::leave: {
      // Those that are open inside of it end with it; one that was not entered changes nothing.
      const auto found =
          std::find_if(open_.rbegin(), open_.rend(), [&](const Event& enter) { return enter.name == event.name; });
      if (found != open_.rend()) open_.erase(found.base() - 1, open_.end());
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
    case EventKind::marker:
      break;
  }
}

std::vector<Event> InEffect::carried() const {
  std::vector<Event> out = open_;
  // A channel that was emptied has no value to hand over.
  std::copy_if(channels_.begin(), channels_.end(), std::back_inserter(out),
               [](const Event& event) { return event.has_value; });
  out.insert(out.end(), counters_.begin(), counters_.end());
  if (sampled_) out.push_back(sample_);
  for (Event& event : out) event.carried = true;
  return out;
}

}  // namespace fathom
