#include "formats/paraver/paraver_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/paraver/state_cursor.hpp"
#include "formats/paraver/trace_names.hpp"
#include "trace/window_index.hpp"

namespace fathom::paraver {

namespace {

class ParaverStream : public CopyableStream {
 public:
  explicit ParaverStream(std::span<const Event> events) : events_(events) {}
  Result<std::size_t> next(std::span<Event> out) override {
    const std::size_t count = std::min(out.size(), events_.size() - at_);
    std::copy_n(events_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }
  [[nodiscard]] std::unique_ptr<CopyableStream> copy() const override { return std::make_unique<ParaverStream>(*this); }
  [[nodiscard]] std::uint64_t bytes() const override { return sizeof *this; }

 private:
  std::span<const Event> events_;
  std::size_t at_ = 0;
};

enum class Use : std::uint8_t { channel, counter, marker, marker_value, completion, collective };

Use use_of(std::int64_t type, std::string_view label) {
  constexpr std::int64_t kRoom = 1'000'000;  // between one group of types and the next
  if (type >= kCounterTypes && type < kCounterTypes + kRoom) return Use::counter;
  if (type == kMarkerType && label == kMarkerLabel) return Use::marker;
  if (type == kCompletionType && label == kCompletionLabel) return Use::completion;
  if (type >= kMarkerValueTypes && type < kMarkerValueTypes + kRoom && label.starts_with(kMarkerValueLabel)) {
    return Use::marker_value;
  }
  for (std::size_t part = 0; part < kCollectiveLabels.size(); ++part) {
    if (type == kCollectiveTypes + static_cast<std::int64_t>(part) && label == kCollectiveLabels[part]) {
      return Use::collective;
    }
  }
  return Use::channel;
}

class ParaverTrace : public Trace {
 public:
  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const override {
    const auto whole = [&] { return std::make_unique<ParaverStream>(events_[location.index()]); };
    if (window.everything()) return std::unique_ptr<EventStream>(whole());
    return windows_[location.index()].open(window, whole, work_);
  }
  [[nodiscard]] std::optional<TimeWindow> known_span() const override { return TimeWindow{0, final_time_}; }
  [[nodiscard]] std::optional<TimeWindow> location_span(LocationId location) const override {
    const auto& events = events_[location.index()];
    if (events.empty()) return std::nullopt;
    return TimeWindow{events.front().time_ns, events.back().time_ns};
  }

 private:
  friend class TraceMaker;
  std::vector<std::vector<Event>> events_;  // by location
  std::unique_ptr<WindowIndex[]> windows_;  // the same
  std::int64_t final_time_ = 0;
  Budget::Reservation reservation_;
};

class TraceMaker {
 public:
  TraceMaker(const PrvFile& file, const PcfNames& names, ParaverTrace& trace)
      : file_(file), names_(names), trace_(trace) {}

  Result<void> make(const std::vector<std::string>& rows, const Work& work) {
    trace_.work_ = work;
    const std::uint64_t count =
        2 * (file_.states.size() + file_.threads.size()) + file_.events.size() + 2 * file_.messages.size();
    FATHOM_TRY(trace_.reservation_, work->budget.reserve(count * sizeof(Event), "events of a Paraver trace"));
    define_places(rows);
    define_types();
    choose_activity();
    fill();
    if (stray_ == 0) return {};
    return work->diagnostics.add("paraver.stray_value", Severity::warning, Place{},
                                 "a value of a marker or collective stands without it and is left out", stray_);
  }

 private:
  struct Type {
    Use use = Use::channel;
    std::size_t number = 0;  // of the channel or metric; part of a collective
  };

  void define_places(const std::vector<std::string>& rows) {
    SystemTree& tree = trace_.definitions_.system;
    SystemNodeId process;
    for (std::size_t i = 0; i < file_.threads.size(); ++i) {
      const PrvThread& thread = file_.threads[i];
      if (i == 0 || file_.threads[i - 1].task != thread.task) {
        SystemNode node;
        node.kind = SystemKind::group;
        node.type = "process";
        node.name = fmt::format("task {}.{}", thread.application + 1, thread.task + 1);
        node.rank = thread.task;
        process = tree.add(std::move(node));
      }
      SystemNode node;
      node.parent = process;
      node.kind = SystemKind::location;
      node.type = "thread";
      node.name = i < rows.size() ? rows[i] : fmt::format("thread {}", thread.thread + 1);
      node.rank = thread.thread;
      node.file_id = i + 1;
      tree.add_location(std::move(node));
    }
  }

  // Without a .pcf states have the names that Paraver itself gives them; without states there is nothing to name.
  [[nodiscard]] std::map<std::int64_t, std::string> names_of_states() const {
    if (file_.states.empty()) return {};
    if (!names_.states.empty()) return names_.states;
    return {state_names().begin(), state_names().end()};
  }

  void define_types() {
    trace_.channels_.push_back({"state", "State", false, names_of_states()});
    for (const char* name : {"send", "receive"}) (void)region(name, "message");
    trace_.communicators_.push_back({"world", {}, {}});
    for (const PrvCommunicator& one : file_.communicators)
      trace_.communicators_[communicator(one.number)].ranks = one.tasks;
    for (const PrvEvent& event : file_.events) {
      if (!types_.contains(event.type)) types_.emplace(event.type, defined(event.type));
    }
  }

  Type defined(std::int64_t type) {
    const auto known = names_.types.find(type);
    const std::string text = known != names_.types.end() ? known->second : fmt::format("type {}", type);
    const Use use = use_of(type, text);
    if (use == Use::counter) {
      Metric metric;
      metric.name = metric.display_name = text;
      metric.type = {ValueKind::i64, 0};
      metric.file_id = static_cast<std::uint64_t>(type);
      trace_.definitions_.metrics.push_back(std::move(metric));
      return {use, trace_.definitions_.metrics.size() - 1};
    }
    if (use == Use::collective) return {use, static_cast<std::size_t>(type - kCollectiveTypes)};
    if (use != Use::channel) return {use, 0};
    const auto values = names_.values.find(type);
    trace_.channels_.push_back(
        {text, text, false, values != names_.values.end() ? values->second : std::map<std::int64_t, std::string>{}});
    return {use, trace_.channels_.size() - 1};
  }

  // The name of a value, or what it counts and the value.
  [[nodiscard]] std::string value_name(std::int64_t type, std::int64_t value, std::string_view what) const {
    if (const auto values = names_.values.find(type); values != names_.values.end()) {
      if (const auto name = values->second.find(value); name != values->second.end()) return name->second;
    }
    return fmt::format("{} {}", what, value);
  }

  std::uint32_t region(const std::string& name, std::string_view paradigm) {
    const auto [at, made] = regions_.emplace(name, static_cast<std::uint32_t>(trace_.definitions_.regions.size()));
    if (made) {
      Region region;
      region.name = name;
      region.paradigm = paradigm;
      trace_.definitions_.regions.push_back(std::move(region));
    }
    return at->second;
  }
  std::uint32_t operation(std::int64_t type, std::int64_t value) {
    const std::string name = value_name(type, value, "operation");
    return region(name, name.starts_with("MPI_") ? "mpi" : "");
  }
  std::uint32_t marker(std::int64_t type, std::int64_t value) {
    const auto [at, made] = marker_of_value_.emplace(value, static_cast<std::uint32_t>(trace_.markers_.size()));
    if (made) trace_.markers_.push_back(value_name(type, value, "marker"));
    return at->second;
  }
  std::uint32_t communicator(std::int64_t number) {
    const auto [at, made] =
        communicator_of_number_.emplace(number, static_cast<std::uint32_t>(trace_.communicators_.size()));
    if (made) {
      trace_.communicators_.push_back({value_name(kCollectiveTypes + kCommunicator, number, "communicator"), {}, {}});
    }
    return at->second;
  }

  // What threads do is told by their states; in files without them by the event type that has the most names of values.
  void choose_activity() {
    const bool has_states = !file_.states.empty();
    std::size_t best = 0;
    for (std::size_t i = 1; i < trace_.channels_.size() && !has_states; ++i) {
      if (best == 0 || trace_.channels_[i].values.size() > trace_.channels_[best].values.size()) best = i;
    }
    if (has_states || best > 0) trace_.activity_channels_.push_back(ChannelId(best));
  }

  Event& add(std::uint32_t thread, EventKind kind, std::int64_t time, std::size_t name) {
    Event event;
    event.location = LocationId(thread);
    event.kind = kind;
    event.time_ns = file_.nanoseconds(time);
    event.name = static_cast<std::uint32_t>(name);
    return trace_.events_[thread].emplace_back(event);
  }

  void take(const PrvEvent& event) {
    const Type& type = types_.find(event.type)->second;
    switch (type.use) {
      case Use::channel: {
        Event& made = add(event.thread, EventKind::state, event.time, type.number);
        made.value = event.value;
        made.has_value = event.value != 0;
        return;
      }
      case Use::counter:
        add(event.thread, EventKind::counter, event.time, type.number).value = event.value;
        return;
      case Use::marker:
        add(event.thread, EventKind::marker, event.time, marker(event.type, event.value));
        return;
      case Use::marker_value:
        if (Event* last = part_of(EventKind::marker, event)) last->value = event.value;
        return;
      case Use::completion:
        add(event.thread, EventKind::complete, event.time, operation(event.type, event.value));
        return;
      case Use::collective:
        return take_collective(event, static_cast<Collective>(type.number));
    }
  }

  void take_collective(const PrvEvent& event, Collective part) {
    if (part == kOperation) {
      add(event.thread, EventKind::collective, event.time, operation(event.type, event.value));
      return;
    }
    Event* last = part_of(EventKind::collective, event);
    if (last == nullptr) return;
    if (part == kSent) last->bytes = event.value;
    if (part == kReceived) last->value = event.value;
    if (part == kCommunicator) last->communicator = CommunicatorId(communicator(event.value));
    if (part == kRoot) last->peer = static_cast<std::int32_t>(event.value - 1);
  }

  // The event that a further pair of its record belongs to; one that stands alone is a value without what it is of.
  Event* part_of(EventKind kind, const PrvEvent& event) {
    auto& events = trace_.events_[event.thread];
    const bool same =
        !events.empty() && events.back().kind == kind && events.back().time_ns == file_.nanoseconds(event.time);
    if (!same) ++stray_;
    return same ? &events.back() : nullptr;
  }

  void fill() {
    trace_.events_.resize(file_.threads.size());
    for (const PrvState& state : file_.states) {
      add(state.thread, EventKind::state, state.begin, 0).value = state.state;
      add(state.thread, EventKind::state, state.end, 0).has_value = false;
    }
    for (const PrvEvent& event : file_.events) take(event);
    for (const PrvMessage& message : file_.messages) {
      const auto end = [&](std::uint32_t at, EventKind kind, std::int64_t time, std::uint32_t peer, std::size_t name) {
        Event& event = add(at, kind, time, name);
        event.peer = static_cast<std::int32_t>(file_.threads[peer].task);
        event.tag = static_cast<std::int32_t>(message.tag);
        event.bytes = message.bytes;
        event.communicator = CommunicatorId(0);
      };
      end(message.from, EventKind::send, message.sent, message.to, 0);
      end(message.to, EventKind::recv, message.received, message.from, 1);
    }
    idle_without_states();
    for (auto& events : trace_.events_) {
      std::stable_sort(events.begin(), events.end(),
                       [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; });
    }
    trace_.final_time_ = file_.nanoseconds(file_.final_time);
    trace_.windows_ = std::make_unique<WindowIndex[]>(trace_.events_.size());
  }

  // Of a thread without any state, among others that have them, nobody says that it runs: to Paraver it is in state 0.
  void idle_without_states() {
    if (file_.states.empty()) return;
    std::vector<bool> told(trace_.events_.size());
    for (const PrvState& state : file_.states) told[state.thread] = true;
    for (std::uint32_t thread = 0; thread < told.size(); ++thread) {
      auto& events = trace_.events_[thread];
      if (told[thread] || events.empty()) continue;
      const auto [first, last] = std::minmax_element(
          events.begin(), events.end(), [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; });
      Event idle;
      idle.location = LocationId(thread);
      idle.kind = EventKind::state;
      idle.name = 0;
      idle.value = static_cast<std::int64_t>(State::idle);
      idle.time_ns = first->time_ns;
      Event end = idle;
      end.has_value = false;
      end.time_ns = last->time_ns;
      events.insert(events.begin(), idle);
      events.push_back(end);
      trace_.channels_[0].values.emplace(idle.value, "Idle");
    }
  }

  const PrvFile& file_;
  const PcfNames& names_;
  ParaverTrace& trace_;
  std::map<std::int64_t, Type> types_;
  std::map<std::string, std::uint32_t> regions_;
  std::map<std::int64_t, std::uint32_t> marker_of_value_, communicator_of_number_;
  std::uint64_t stray_ = 0;
};

}  // namespace

Result<std::shared_ptr<const Trace>> make_trace(const PrvFile& file, const PcfNames& names,
                                                const std::vector<std::string>& rows, const Work& work) {
  auto trace = std::make_shared<ParaverTrace>();
  FATHOM_CHECK(TraceMaker(file, names, *trace).make(rows, work));
  return std::shared_ptr<const Trace>(std::move(trace));
}

}  // namespace fathom::paraver
