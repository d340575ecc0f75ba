#include "formats/paraver/paraver_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/cancel.hpp"
#include "base/parallel.hpp"
#include "base/team.hpp"
#include "formats/paraver/state_cursor.hpp"
#include "formats/paraver/thread_records.hpp"
#include "formats/paraver/trace_names.hpp"
#include "trace/group_by_row.hpp"

namespace fathom::paraver {

namespace {

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
  explicit ParaverTrace(PrvFile file) : records_(std::move(file)) {}

  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const override {
    const auto whole = [&] { return open_stream(records_, location); };
    if (window.everything()) return std::unique_ptr<EventStream>(whole());
    return windows_[location.index()].open(window, whole, work_);
  }
  [[nodiscard]] std::optional<TimeWindow> known_span() const override {
    return TimeWindow{0, records_.file.nanoseconds(records_.file.final_time)};
  }
  [[nodiscard]] std::optional<TimeWindow> location_span(LocationId location) const override {
    return records_.span_of(location.index());
  }
  // The file says which ends belong together, also of messages that overtake others of their tag.
  [[nodiscard]] Result<void> messages(TimeWindow window, const MessageSink& sink) const override {
    if (!team().alone()) {
      FATHOM_CHECK(team().assemble("messages"));
      FATHOM_CHECK(first_goes_on());
    }
    const PrvFile& file = records_.file;
    FATHOM_TRY(const auto taken, work_->budget.reserve(file.messages.size() * sizeof(std::size_t), "messages"));
    std::vector<std::size_t> order(file.messages.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t i) {
      const PrvMessage& message = file.messages[i];
      return std::tuple(file.threads[message.to].task, file.threads[message.from].task, message.tag, message.sent, i);
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    for (const std::size_t i : order) {
      if (cancelled()) return cancelled_error();
      const PrvMessage& from = file.messages[i];
      Message message;
      message.from = LocationId(from.from);
      message.to = LocationId(from.to);
      message.from_rank = static_cast<std::int32_t>(file.threads[from.from].task);
      message.to_rank = static_cast<std::int32_t>(file.threads[from.to].task);
      message.tag = static_cast<std::int32_t>(from.tag);
      message.communicator = CommunicatorId(0);
      message.bytes = from.bytes;
      message.sent_ns = file.nanoseconds(from.sent);
      message.received_ns = file.nanoseconds(from.received);
      const auto inside = [&](std::int64_t time) { return time >= window.from_ns && time < window.to_ns; };
      if ((inside(*message.sent_ns) || inside(*message.received_ns)) && !sink(message)) break;
    }
    return {};
  }

 private:
  friend class TraceMaker;
  ThreadRecords records_;
  std::unique_ptr<WindowIndex[]> windows_;  // by location
};

class TraceMaker {
 public:
  TraceMaker(const PcfNames& names, ParaverTrace& trace)
      : names_(names), trace_(trace), records_(trace.records_), file_(trace.records_.file) {}

  Result<void> make(const std::vector<std::string>& rows, const Work& work) {
    trace_.work_ = work;
    define_places(rows);
    define_types();
    choose_activity();
    FATHOM_CHECK(arrange());
    if (stray_ == 0) return {};
    return work->diagnostics.add("paraver.stray_value", Severity::warning, Place{},
                                 "a value of a marker or collective stands without it and is left out", stray_);
  }

 private:
  struct Type {
    Use use = Use::channel;
    std::size_t number = 0;  // of the channel or metric; part of a collective
  };
  static constexpr std::size_t kNoEvent = SIZE_MAX;

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
    if (file_.changes.empty()) return {};
    if (!names_.states.empty()) return names_.states;
    return {state_names().begin(), state_names().end()};
  }

  void define_types() {
    trace_.channels_.push_back({"state", "State", false, names_of_states()});
    for (const char* name : {"send", "receive"}) (void)region(name, "message");
    trace_.communicators_.push_back({"world", {}, {}});
    for (const PrvCommunicator& one : file_.communicators)
      trace_.communicators_[communicator(one.number)].ranks = one.tasks;
    for (const std::int64_t type : file_.types) types_.push_back(defined(type));
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
    const bool has_states = !file_.changes.empty();
    std::size_t best = 0;
    for (std::size_t i = 1; i < trace_.channels_.size() && !has_states; ++i) {
      if (best == 0 || trace_.channels_[i].values.size() > trace_.channels_[best].values.size()) best = i;
    }
    if (has_states || best > 0) trace_.activity_channels_.push_back(ChannelId(best));
  }

  std::uint32_t meaning(EventKind kind, std::uint32_t name) {
    const auto [at, made] =
        meanings_.emplace(std::pair(kind, name), static_cast<std::uint32_t>(records_.meanings.size()));
    if (made) records_.meanings.push_back({kind, name});
    return at->second;
  }

  // Types of events come to mean something. Those of which the value tells what it is, and those that are a part of
  // the event before them, become events with another meaning.
  void give_meanings() {
    bool plain = true;
    for (const Type& type : types_) {
      const bool counts = type.use == Use::counter;
      plain = plain && (counts || type.use == Use::channel);
      records_.meanings.push_back(
          {counts ? EventKind::counter : EventKind::state, static_cast<std::uint32_t>(type.number)});
    }
    if (plain) return;
    std::size_t kept = 0;
    std::vector<std::size_t> last(file_.threads.size(), kNoEvent);
    for (PrvEvent event : file_.events) {
      PrvEvent* const before = last[event.thread] == kNoEvent ? nullptr : &file_.events[last[event.thread]];
      if (!take(event, before)) continue;
      last[event.thread] = kept;
      file_.events[kept++] = event;
    }
    file_.events.resize(kept);
  }

  // False: it was a part of the one before it.
  bool take(PrvEvent& event, PrvEvent* before) {
    const Type& type = types_[event.type];
    const std::int64_t number = file_.types[event.type];
    const auto becomes = [&](EventKind kind, std::uint32_t name, std::int64_t value) {
      event.type = meaning(kind, name);
      event.value = value;
      return true;
    };
    switch (type.use) {
      case Use::channel:
      case Use::counter:
        return true;
      case Use::marker:
        return becomes(EventKind::marker, marker(number, event.value), 0);
      case Use::completion:
        return becomes(EventKind::complete, operation(number, event.value), 0);
      case Use::marker_value:
        if (is_part(event, before, EventKind::marker)) before->value = event.value;
        return false;
      case Use::collective:
        if (type.number != kOperation) {
          if (is_part(event, before, EventKind::collective)) add_part(event.value, *before, type.number);
          return false;
        }
        records_.collectives.emplace_back();
        return becomes(EventKind::collective, operation(number, event.value),
                       static_cast<std::int64_t>(records_.collectives.size() - 1));
    }
    return true;
  }

  void add_part(std::int64_t value, const PrvEvent& collective, std::size_t part) {
    CollectiveValues& values = records_.collectives[static_cast<std::size_t>(collective.value)];
    if (part == kSent) values.sent = value;
    if (part == kReceived) values.received = value;
    if (part == kCommunicator) values.communicator = CommunicatorId(communicator(value));
    if (part == kRoot) values.root = static_cast<std::int32_t>(value - 1);
  }

  // A further pair of a record belongs to the event before it; one that stands alone is a value without what it is of.
  bool is_part(const PrvEvent& event, const PrvEvent* before, EventKind kind) {
    const bool part = before != nullptr && records_.meanings[before->type].kind == kind && before->time == event.time;
    if (!part) ++stray_;
    return part;
  }

  Result<void> arrange() {
    give_meanings();
    records_.ends = LargeArray<MessageEnd>(*file_.pool);
    for (std::size_t i = 0; i < file_.messages.size(); ++i) {
      records_.ends.push_back({file_.messages[i].sent, i & kMostMessages, MessageEnd::sent});
      records_.ends.push_back({file_.messages[i].received, i & kMostMessages, MessageEnd::received});
    }
    idle_without_states();
    FATHOM_TRY(records_.first_change, by_thread(file_.changes, [](const PrvChange& change) { return change.thread; }));
    FATHOM_TRY(records_.first_event, by_thread(file_.events, [](const PrvEvent& event) { return event.thread; }));
    FATHOM_TRY(records_.first_end, by_thread(records_.ends, [&](const MessageEnd& end) {
                 if (end.what == MessageEnd::idle_ends) return static_cast<std::uint32_t>(end.message);
                 const PrvMessage& message = file_.messages[end.message];
                 return end.what == MessageEnd::sent ? message.from : message.to;
               }));
    trace_.windows_ = std::make_unique<WindowIndex[]>(file_.threads.size());
    return {};
  }

  // Puts items together by thread and in the order of time. Says where those of each thread begin.
  template <class T, class ThreadOf>
  Result<std::vector<std::size_t>> by_thread(LargeArray<T>& items, const ThreadOf& thread_of) {
    const auto threads = static_cast<std::uint32_t>(file_.threads.size());
    auto first = group_by_row(items, threads, *file_.pool, thread_of);
    FATHOM_CHECK(file_.pool->status());
    FATHOM_CHECK(parallel_for(threads, [&](std::size_t thread) -> Result<void> {
      const auto earlier = [](const T& a, const T& b) { return a.time < b.time; };
      const std::span part(items.data() + first[thread], first[thread + 1] - first[thread]);
      if (!std::is_sorted(part.begin(), part.end(), earlier)) std::stable_sort(part.begin(), part.end(), earlier);
      return {};
    }));
    return first;
  }

  // Of a thread without any state, among others that have them, nobody says that it runs: to Paraver it is in state 0.
  void idle_without_states() {
    if (file_.changes.empty()) return;
    std::vector<bool> told(file_.threads.size());
    for (const PrvChange& change : file_.changes) told[change.thread] = true;
    if (std::find(told.begin(), told.end(), false) == told.end()) return;
    std::vector<std::optional<TimeWindow>> spans(told.size());
    const auto happens = [&](std::uint32_t thread, std::int64_t time) {
      if (told[thread]) return;
      TimeWindow& span = spans[thread] ? *spans[thread] : spans[thread].emplace(time, time);
      span = {std::min(span.from_ns, time), std::max(span.to_ns, time)};
    };
    for (const PrvEvent& event : file_.events) happens(event.thread, event.time);
    for (const PrvMessage& message : file_.messages) {
      happens(message.from, message.sent);
      happens(message.to, message.received);
    }
    for (std::uint32_t thread = 0; thread < spans.size(); ++thread) {
      if (!spans[thread]) continue;
      file_.changes.push_back({spans[thread]->from_ns, static_cast<std::int64_t>(State::idle), thread, true});
      // Behind all that happens at that time.
      records_.ends.push_back({spans[thread]->to_ns, thread, MessageEnd::idle_ends});
      trace_.channels_[0].values.emplace(static_cast<std::int64_t>(State::idle), "Idle");
    }
  }

  static constexpr std::uint64_t kMostMessages = (std::uint64_t{1} << 62) - 1;
  const PcfNames& names_;
  ParaverTrace& trace_;
  ThreadRecords& records_;
  PrvFile& file_;
  std::vector<Type> types_;  // as in the file
  std::map<std::pair<EventKind, std::uint32_t>, std::uint32_t> meanings_;
  std::map<std::string, std::uint32_t> regions_;
  std::map<std::int64_t, std::uint32_t> marker_of_value_, communicator_of_number_;
  std::uint64_t stray_ = 0;
};

}  // namespace

Result<std::shared_ptr<const Trace>> make_trace(PrvFile file, const PcfNames& names,
                                                const std::vector<std::string>& rows, const Work& work) {
  auto trace = std::make_shared<ParaverTrace>(std::move(file));
  FATHOM_CHECK(TraceMaker(names, *trace).make(rows, work));
  return std::shared_ptr<const Trace>(std::move(trace));
}

}  // namespace fathom::paraver
