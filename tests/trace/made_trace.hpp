// A trace made in a test: events per location, in order.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trace/window_index.hpp"

namespace fathom::test {

class MadeTrace : public Trace {
 public:
  explicit MadeTrace(std::size_t locations = 1) {
    SystemNode process;
    process.kind = SystemKind::group;
    process.type = "process";
    process.name = "process";
    const SystemNodeId group = definitions_.system.add(process);
    for (std::size_t i = 0; i < locations; ++i) {
      SystemNode node;
      node.kind = SystemKind::location;
      node.type = "thread";
      node.name = "thread " + std::to_string(i);
      node.parent = group;
      node.file_id = i;
      definitions_.system.add_location(node);
    }
    events.resize(locations);
    windows_ = std::make_unique<WindowIndex[]>(locations);
    work_ = make_work();
  }

  std::uint32_t region(std::string name, std::string paradigm = "user") {
    Region region;
    region.name = std::move(name);
    region.paradigm = std::move(paradigm);
    definitions_.regions.push_back(region);
    return static_cast<std::uint32_t>(definitions_.regions.size() - 1);
  }
  std::uint32_t metric(std::string name, ValueKind kind = ValueKind::i64) {
    Metric metric;
    metric.name = std::move(name);
    metric.type = {kind, 0};
    definitions_.metrics.push_back(metric);
    return static_cast<std::uint32_t>(definitions_.metrics.size() - 1);
  }
  std::uint32_t channel(std::string name, std::map<std::int64_t, std::string> values = {}) {
    channels_.push_back({name, name, false, std::move(values)});
    return static_cast<std::uint32_t>(channels_.size() - 1);
  }
  std::uint32_t marker(std::string name, MarkerMeaning meaning) {
    markers_.push_back(std::move(name));
    meanings_.push_back(meaning);
    return static_cast<std::uint32_t>(markers_.size() - 1);
  }
  void use_contexts(ContextTree tree) { definitions_.contexts = std::move(tree); }
  void place_of_counters(std::size_t location) {
    SystemTree& system = definitions_.system;
    system.nodes[system.locations[location].index()].type = "metric";
  }
  void with_cpu_time() { has_cpu_time_ = true; }

  Event& add(EventKind kind, std::int64_t time, std::uint32_t name = Event::kNoName, std::size_t location = 0) {
    Event event;
    event.kind = kind;
    event.time_ns = time;
    event.name = name;
    event.location = LocationId(location);
    event.record = events[location].size();
    return events[location].emplace_back(event);
  }

  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const override {
    const auto whole = [&] { return std::make_unique<Stream>(events[location.index()]); };
    if (window.everything()) return std::unique_ptr<EventStream>(whole());
    return windows_[location.index()].open(window, whole, work_, meanings_);
  }

  std::vector<std::vector<Event>> events;

 private:
  class Stream : public CopyableStream {
   public:
    explicit Stream(const std::vector<Event>& events) : events_(events) {}
    Result<std::size_t> next(std::span<Event> out) override {
      std::size_t count = 0;
      for (; count < out.size() && at_ < events_.size(); ++count) out[count] = events_[at_++];
      return count;
    }
    [[nodiscard]] std::unique_ptr<CopyableStream> copy() const override { return std::make_unique<Stream>(*this); }
    [[nodiscard]] std::uint64_t bytes() const override { return sizeof *this; }

   private:
    const std::vector<Event>& events_;
    std::size_t at_ = 0;
  };
  std::unique_ptr<WindowIndex[]> windows_;
};

inline std::vector<Event> read_all(EventStream& stream) {
  std::vector<Event> all;
  std::vector<Event> buffer(100);
  while (true) {
    const auto count = stream.next(buffer);
    if (!count.ok() || *count == 0) return all;
    all.insert(all.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*count));
  }
}

// Open regions of each task at a moment, in the plainest way.
struct OpenOfTasks {
  std::map<std::int64_t, std::vector<Event>> open;
  std::map<std::int64_t, Event> switched;  // to each
  std::int64_t running = 0;

  void take(const Event& event, MarkerMeaning meaning) {
    const bool ends = meaning == MarkerMeaning::task_end && event.value != 0;
    if (ends) open.erase(event.value);
    if (ends && event.value == running) {
      switched[0] = switched[running];
      switched[0].time_ns = event.time_ns;
      switched[0].has_time = event.has_time;
      switched[0].record = event.record;
      switched[0].value = running = 0;
    }
    if (meaning != MarkerMeaning::task_switch || event.value == running) return;
    running = event.value;
    switched[running] = event;
  }
  [[nodiscard]] std::vector<Event> carried() const {
    std::vector<Event> out;
    bool others = running != 0;
    for (const auto& [task, events] : open) {
      if (task == running || events.empty()) continue;
      if (task != 0) out.push_back(switched.at(task));
      out.insert(out.end(), events.begin(), events.end());
      others = true;
    }
    if (others) out.push_back(switched.at(running));
    if (const auto own = open.find(running); own != open.end()) {
      out.insert(out.end(), own->second.begin(), own->second.end());
    }
    return out;
  }
};

// What Trace::open() promises of a window, worked out from the events of the whole in the plainest way. Of tasks it
// knows when the trace is given.
inline std::vector<Event> cut_out(const std::vector<Event>& whole, TimeWindow window, const Trace* trace = nullptr) {
  OpenOfTasks tasks;
  std::map<std::uint32_t, Event> channels;
  std::map<std::uint32_t, Event> counters;
  std::optional<Event> sample;
  std::size_t at = 0;
  for (; at < whole.size() && !(whole[at].has_time && whole[at].time_ns >= window.from_ns); ++at) {
    const Event& event = whole[at];
    std::vector<Event>& open = tasks.open[tasks.running];
    if (event.kind == EventKind::marker && trace != nullptr) tasks.take(event, trace->meaning(event));
    if (event.kind == EventKind::enter) open.push_back(event);
    if (event.kind == EventKind::leave) {
      for (std::size_t i = open.size(); i-- > 0;) {
        if (open[i].name != event.name) continue;
        open.resize(i);
        break;
      }
    }
    if (event.kind == EventKind::state) channels[event.name] = event;
    if (event.kind == EventKind::counter) counters[event.name] = event;
    if (event.kind == EventKind::sample) sample = event;
  }
  std::vector<Event> out = tasks.carried();
  for (const auto& [name, event] : channels) {
    if (event.has_value) out.push_back(event);
  }
  for (const auto& [name, event] : counters) out.push_back(event);
  if (sample) out.push_back(*sample);
  for (Event& event : out) event.carried = true;
  for (; at < whole.size() && !(whole[at].has_time && whole[at].time_ns >= window.to_ns); ++at)
    out.push_back(whole[at]);
  return out;
}

// The first event in which two lists differ; their common length when they do not.
inline std::size_t first_difference(const std::vector<Event>& a, const std::vector<Event>& b) {
  const auto same = [](const Event& x, const Event& y) {
    return x.time_ns == y.time_ns && x.record == y.record && x.origin == y.origin && x.value == y.value &&
           x.bytes == y.bytes && x.location == y.location && x.name == y.name && x.peer == y.peer && x.tag == y.tag &&
           x.communicator == y.communicator && x.kind == y.kind && x.has_time == y.has_time &&
           x.has_value == y.has_value && x.carried == y.carried;
  };
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && same(a[i], b[i])) ++i;
  return i;
}

// Everything of an event, to be read.
inline std::string text_of(const Event& event) {
  std::string out(to_string(event.kind));
  for (const std::int64_t number :
       {event.time_ns, static_cast<std::int64_t>(event.record), static_cast<std::int64_t>(event.origin), event.value,
        event.bytes, std::int64_t{event.location.value}, std::int64_t{event.name}, std::int64_t{event.peer},
        std::int64_t{event.tag}, std::int64_t{event.communicator.value}, std::int64_t{event.has_time},
        std::int64_t{event.has_value}, std::int64_t{event.carried}}) {
    out += " " + std::to_string(number);
  }
  return out;
}

}  // namespace fathom::test
