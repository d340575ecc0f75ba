#include "trace/slice_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/number.hpp"
#include "base/text.hpp"
#include "trace/open_names.hpp"
#include "trace/rank_names.hpp"

namespace fathom {

Result<void> SliceViewNotes::report(Diagnostics& diagnostics, const Place& place) const {
  constexpr std::uint64_t kSluggish = 5'000'000;
  const auto say = [&](std::string_view id, Severity severity, std::uint64_t count,
                       std::string_view text) -> Result<void> {
    if (count == 0) return {};
    return diagnostics.add(id, severity, place, fmt::format("{} {}", grouped(count), text), count);
  };
  FATHOM_CHECK(say("write.unmatched_leave", Severity::warning, unmatched_leaves,
                   "leaves of regions that are not open are not written"));
  FATHOM_CHECK(say("write.closed_early", Severity::warning, closed_early,
                   "regions that are left open are closed with the one around them"));
  FATHOM_CHECK(say("write.resumed", Severity::data_loss, resumed,
                   "regions that go on behind the end of one they cross are written as calls of their own"));
  FATHOM_CHECK(say("write.event_without_time", Severity::warning, timeless,
                   "events without a time are written at the time of the event before"));
  FATHOM_CHECK(say("write.before_time", Severity::data_loss, before_time,
                   "events without a time are left out: no event before them has one"));
  FATHOM_CHECK(
      say("write.completions", Severity::data_loss, completions, "ends of requests and operations are not written"));
  FATHOM_CHECK(say("write.arrows", Severity::data_loss, arrows,
                   "markers are written without what they come from (the other end of an arrow)"));
  FATHOM_CHECK(say("write.cpu_times", Severity::data_loss, cpu_times, "CPU times of regions are not written"));
  return say("write.many_slices", Severity::info, slices > kSluggish ? slices : 0,
             "slices are more than a viewer in a browser takes with ease");
}

class SliceView::Location {
 public:
  Location(SliceView& view, SliceSink& sink)
      : view_(view), trace_(view.trace_), sink_(sink), states_(trace_.channels().size()) {}

  // `flow`: of a message.
  void take(const Event& event, std::uint64_t flow) {
    if (event.has_time) {
      now_ = std::max(now_, event.time_ns);
    } else if (now_ == INT64_MIN) {
      ++view_.notes_.before_time;
      return;
    } else {
      ++view_.notes_.timeless;
    }
    switch (event.kind) {
      case EventKind::enter:
        view_.notes_.resumed += event.resumed ? 1 : 0;
        view_.notes_.cpu_times += trace_.has_cpu_time() && event.has_value ? 1 : 0;
        open(event, event.name, trace_.name(event));
        break;
      case EventKind::leave:
        leave(event);
        break;
      case EventKind::sample:
        sample(event);
        break;
      case EventKind::state:
        state(event);
        break;
      case EventKind::counter:
        if (event.name < trace_.definitions().metrics.size()) sink_.counter(now_, event);
        break;
      case EventKind::send:
      case EventKind::recv:
        sink_.message(now_, event, flow);
        break;
      case EventKind::collective:
        sink_.instant(now_, "collective", event);
        break;
      case EventKind::complete:
        ++view_.notes_.completions;
        break;
      case EventKind::marker:
        if (event.origin != Event::kNoRecord && view_.arrows_ == nullptr) ++view_.notes_.arrows;
        sink_.instant(now_, trace_.name(event), event);
        break;
    }
  }

  // A window ends what is open; a trace leaves it so.
  void finish(TimeWindow window) {
    if (window.to_ns == INT64_MAX || now_ == INT64_MIN) {
      view_.notes_.unfinished += open_.size();
      return;
    }
    now_ = window.to_ns;
    while (!open_.empty()) close();
    for (std::size_t i = 0; i < states_.size(); ++i) close_state(i);
  }

 private:
  struct Open {
    std::uint32_t key;
    std::string_view name;
  };

  void open(const Event& event, std::uint32_t key, std::string_view name) {
    open_.push_back({key, name});
    names_.add(key);
    ++view_.notes_.slices;
    sink_.begin(0, now_, name, event);
  }
  void close() {
    sink_.end(0, now_, open_.back().name);
    names_.remove(open_.back().key);
    open_.pop_back();
  }
  void leave(const Event& event) {
    if (!names_.has(event.name)) {
      ++view_.notes_.unmatched_leaves;
      return;
    }
    const auto found =
        std::find_if(open_.rbegin(), open_.rend(), [&](const Open& one) { return one.key == event.name; });
    const auto left = static_cast<std::size_t>(open_.rend() - found) - 1;
    view_.notes_.closed_early += open_.size() - left - 1;
    while (open_.size() > left) close();
  }

  // The part of the stack that two samples share stays open.
  void sample(const Event& event) {
    const Definitions& definitions = trace_.definitions();
    stack_.clear();
    if (event.name < definitions.contexts.size()) {
      for (ContextId at = event.context(); at.valid(); at = definitions.contexts[at].parent) stack_.push_back(at);
    }
    std::reverse(stack_.begin(), stack_.end());
    std::size_t same = 0;
    while (same < stack_.size() && same < open_.size() && open_[same].key == stack_[same].value) ++same;
    while (open_.size() > same) close();
    for (std::size_t i = same; i < stack_.size(); ++i) {
      const RegionId region = definitions.contexts[stack_[i]].region;
      open(event, stack_[i].value, region.valid() ? std::string_view(definitions.region(region).name) : "?");
    }
  }

  void state(const Event& event) {
    if (event.name >= states_.size()) return;
    close_state(event.name);
    if (!event.has_value) return;
    const auto& values = trace_.channels()[event.name].values;
    const auto found = values.find(event.value);
    states_[event.name] = found != values.end() ? found->second : fmt::format("{}", event.value);
    ++view_.notes_.slices;
    sink_.begin(1 + event.name, now_, *states_[event.name], event);
  }
  void close_state(std::size_t channel) {
    if (!states_[channel]) return;
    sink_.end(1 + static_cast<std::uint32_t>(channel), now_, *states_[channel]);
    states_[channel].reset();
  }

  SliceView& view_;
  const Trace& trace_;
  SliceSink& sink_;
  std::int64_t now_ = INT64_MIN;
  std::vector<Open> open_;
  OpenNames names_;  // keys of those
  std::vector<ContextId> stack_;
  std::vector<std::optional<std::string>> states_;  // by channel
};

Result<void> SliceView::find_arrows(const Work& work) {
  if (!trace_.has_arrows()) return {};
  arrows_ = std::make_unique<Arrows>(work);
  FATHOM_CHECK(arrows_->find(trace_));
  notes_.arrows = arrows_->without_beginning();
  return {};
}

namespace {

bool is_message(const Event& event) { return event.kind == EventKind::send || event.kind == EventKind::recv; }

}  // namespace

// Of the messages of a location, in the order of its events. The n-th send of one rank to another with a tag in a
// communicator is matched by the n-th such receive in the order in which they were posted, which may end in another
// one.
Result<std::vector<std::uint64_t>> SliceView::number_messages(LocationId location, TimeWindow window,
                                                              std::int32_t own_rank) {
  struct Receive {
    Ends ends;
    std::uint64_t posted;  // the record
    std::size_t at;        // in what is returned
  };
  constexpr std::size_t kOutside = ~std::size_t{0};
  const auto flow = [](const Ends& ends, std::uint64_t count) {
    const auto [from, to, tag, communicator] = ends;
    std::uint64_t hash = 0x9E3779B97F4A7C15u;
    for (const std::uint64_t part : {static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to),
                                     static_cast<std::uint64_t>(tag), std::uint64_t{communicator}, count}) {
      hash = (hash ^ part) * 0xFF51AFD7ED558CCDu;
      hash ^= hash >> 32;
    }
    return hash | 1;
  };
  std::vector<std::uint64_t> flows;
  std::vector<Receive> receives;
  FATHOM_TRY(auto stream, trace_.open(location, {}));
  EventCursor cursor(std::move(stream));
  while (const Event* event = cursor.next()) {
    if (!is_message(*event)) continue;
    const bool inside = window.contains(*event);
    if (event->kind == EventKind::send) {
      const Ends ends{own_rank, event->peer, event->tag, event->communicator.value};
      const std::uint64_t count = counts_[ends].sent++;
      if (inside) flows.push_back(flow(ends, count));
      continue;
    }
    const Ends ends{event->peer, own_rank, event->tag, event->communicator.value};
    const std::uint64_t posted = event->origin == Event::kNoRecord ? event->record : event->origin;
    receives.push_back({ends, posted, inside ? flows.size() : kOutside});
    if (inside) flows.push_back(0);
  }
  FATHOM_CHECK(cursor.status());
  std::stable_sort(receives.begin(), receives.end(), [](const Receive& a, const Receive& b) {
    return std::tie(a.ends, a.posted) < std::tie(b.ends, b.posted);
  });
  for (const Receive& receive : receives) {
    const std::uint64_t count = counts_[receive.ends].received++;
    if (receive.at != kOutside) flows[receive.at] = flow(receive.ends, count);
  }
  return flows;
}

Result<void> SliceView::write(LocationId location, TimeWindow window, SliceSink& sink) {
  const SystemTree& system = trace_.definitions().system;
  const SystemNodeId group = system.group_of(location);
  const auto rank = group.valid() ? system.nodes[group.index()].rank : std::nullopt;
  FATHOM_TRY(auto stream, trace_.open(location, window));
  EventCursor cursor(std::move(stream));
  Location one(*this, sink);
  // Most locations have no messages, and need not be read twice.
  std::optional<std::vector<std::uint64_t>> flows;
  std::size_t next = 0;
  while (const Event* event = cursor.next()) {
    if (!is_message(*event)) {
      one.take(*event, 0);
      continue;
    }
    if (!flows) {
      FATHOM_TRY(flows, number_messages(location, window, static_cast<std::int32_t>(rank.value_or(location.value))));
    }
    one.take(*event, next < flows->size() ? (*flows)[next] : 0);
    ++next;
  }
  FATHOM_CHECK(cursor.status());
  one.finish(window);
  return {};
}

std::vector<ViewRow> view_rows(const Trace& trace) {
  const SystemTree& system = trace.definitions().system;
  std::map<std::uint32_t, std::int64_t> processes;  // of a group or, without one, a location
  std::map<std::int64_t, std::int64_t> threads;     // of a process, so far
  std::map<std::int64_t, bool> taken;
  std::int64_t next = 1;
  for (const SystemNode& node : system.nodes) {
    if (node.kind == SystemKind::group && node.rank && *node.rank < INT32_MAX) next = std::max(next, *node.rank + 2);
  }
  std::vector<ViewRow> rows;
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    const SystemNodeId group = system.group_of(LocationId(i));
    const std::uint32_t key = group.valid() ? group.value : system.locations[i].value;
    const auto [found, fresh] = processes.emplace(key, 0);
    const SystemNode& process = system.nodes[key];
    const auto rank = group.valid() ? process.rank : std::nullopt;
    if (fresh) {
      const bool numbered = rank && *rank >= 0 && *rank < INT32_MAX && taken.emplace(*rank + 1, true).second;
      found->second = numbered ? *rank + 1 : next++;
    }
    ViewRow row;
    row.pid = found->second;
    row.tid = ++threads[row.pid];
    row.first_of_process = fresh;
    const std::string own = rank ? fmt::format("rank {}", *rank) : fmt::format("process {}", row.pid);
    if (!rank) {
      row.process_name = process.name.empty() ? own : process.name;
    } else if (process.name.empty() || to_lower(process.name).ends_with(own)) {
      row.process_name = own;
    } else {
      row.process_name = rank_in_name(process.name) == rank ? process.name : fmt::format("{} ({})", own, process.name);
    }
    const SystemNode& node = system.location(LocationId(i));
    row.thread_name = node.name.empty() ? fmt::format("thread {}", row.tid) : node.name;
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::optional<TimeWindow>> span_of(const Trace& trace) {
  if (const auto known = trace.known_span()) return known;
  std::optional<TimeWindow> all;
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    auto span = trace.location_span(LocationId(i));
    if (!span) {
      FATHOM_TRY(auto stream, trace.open(LocationId(i), {}));
      EventCursor cursor(std::move(stream));
      while (const Event* event = cursor.next()) {
        if (!event->has_time) continue;
        if (!span) span = TimeWindow{event->time_ns, event->time_ns};
        span->from_ns = std::min(span->from_ns, event->time_ns);
        span->to_ns = std::max(span->to_ns, event->time_ns);
      }
      FATHOM_CHECK(cursor.status());
    }
    if (!span) continue;
    if (!all) all = span;
    all->from_ns = std::min(all->from_ns, span->from_ns);
    all->to_ns = std::max(all->to_ns, span->to_ns);
  }
  return all;
}

bool tells_more(const Trace& trace, const Event& marker) {
  return trace.meaning(marker) != MarkerMeaning::none || marker.value != 0 || marker.bytes != 0 ||
         marker.peer != kNoPeer || marker.tag != 0 || marker.communicator.valid();
}

}  // namespace fathom
