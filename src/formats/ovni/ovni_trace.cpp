#include "formats/ovni/ovni_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/share_out.hpp"
#include "formats/ovni/clock_offsets.hpp"
#include "formats/ovni/dump.hpp"
#include "formats/ovni/event_stream.hpp"
#include "formats/ovni/ordered_cursor.hpp"
#include "formats/ovni/sort.hpp"

namespace fathom::ovni {

template <class Pack>
static void pack_fields(Pack& pack, StreamSurvey::Type& type) {
  pack(type.model, type.id, type.label);
}
template <class Pack>
static void pack_fields(Pack& pack, StreamSurvey& survey) {
  pack(survey.events, survey.first_clock, survey.last_clock, survey.ordered, survey.lateness, survey.types,
       survey.tasks, survey.moves);
}

namespace {

constexpr std::uint32_t kNoName = fathom::Event::kNoName;

// As events are: clocks are unsigned in the file, and with an offset they stay within 64 bits.
std::int64_t shifted(std::int64_t clock, std::int64_t offset) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(clock) + static_cast<std::uint64_t>(offset));
}

std::uint64_t task_key(Model model, std::uint32_t id) { return static_cast<std::uint64_t>(model) << 32 | id; }

}  // namespace

StreamSurvey survey_stream(const Stream& stream) {
  StreamSurvey survey;
  StreamCursor cursor(stream);
  Event event;
  while (cursor.next(event)) {
    const auto clock = static_cast<std::int64_t>(event.clock());
    if (survey.events++ == 0) survey.first_clock = survey.last_clock = clock;
    if (clock < survey.last_clock) survey.ordered = false;
    survey.last_clock = std::max(survey.last_clock, clock);
    survey.first_clock = std::min(survey.first_clock, clock);
    if (event.payload_size < 8) continue;  // of no interest here
    const int index = find_event(event.mcv());
    if (index < 0) continue;
    const EventDef& def = all_events()[static_cast<std::size_t>(index)];
    if (def.effect == Effect::type_create && event.jumbo()) {
      survey.types.push_back({def.model, event.argument<std::uint32_t>(0), std::string(event.text(4))});
    } else if (def.effect == Effect::task_create || def.effect == Effect::task_create_parallel) {
      survey.tasks.push_back({def.model, event.argument<std::uint32_t>(0), event.argument<std::uint32_t>(4)});
    } else if (def.effect == Effect::affinity_remote) {
      survey.moves.push_back({clock, event.argument<std::int32_t>(0), event.argument<std::int32_t>(4)});
    }
  }
  return survey;
}

Result<std::shared_ptr<const Trace>> OvniTrace::make(const NativeTrace& native, const Work& work) {
  std::shared_ptr<OvniTrace> trace(new OvniTrace());
  trace->streams_ = native.streams;
  trace->work_ = work;
  std::vector<Error> defects;
  trace->system_ = build_system(native, true, defects, work);
  if (!defects.empty()) {
    FATHOM_CHECK(work->diagnostics.add("ovni.metadata", Severity::warning, defects.front().place(),
                                       defects.front().what(), defects.size()));
  }
  auto offsets = own_offsets(native, work);
  if (!offsets.ok()) {
    FATHOM_CHECK(work->diagnostics.warn("ovni.clock_offsets", offsets.error().place(), offsets.error().what()));
  }
  trace->offsets_ = offsets.ok() ? std::move(*offsets) : std::vector<std::int64_t>(native.streams.size(), 0);

  const auto bytes = [&](std::size_t i) { return native.streams[i].blob.size(); };
  const auto look = [&](std::size_t i, StreamSurvey& survey) -> Result<void> {
    survey = survey_stream(native.streams[i]);
    if (!survey.ordered) survey.lateness = find_lateness(native.streams[i], kSortWindow);
    return {};
  };
  FATHOM_TRY(const auto surveys,
             share_out<StreamSurvey>("looking at streams", native.streams.size(), bytes, Holder::all, look));
  for (std::size_t i = 0; i < surveys.size(); ++i) {
    trace->records_.push_back(surveys[i].events);
    trace->spans_.emplace_back();
    if (surveys[i].events == 0) continue;
    trace->spans_.back() = TimeWindow{shifted(surveys[i].first_clock, trace->offsets_[i]),
                                      shifted(surveys[i].last_clock, trace->offsets_[i])};
    TimeWindow span = trace->span_.value_or(
        TimeWindow{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()});
    span.from_ns = std::min(span.from_ns, trace->spans_.back()->from_ns);
    span.to_ns = std::max(span.to_ns, trace->spans_.back()->to_ns);
    trace->span_ = span;
  }
  trace->define_system();
  trace->define_channels();
  trace->define_regions(surveys);
  trace->collect_moves(surveys);
  trace->lateness_.assign(surveys.size(), 0);
  trace->windows_ = std::make_unique<WindowIndex[]>(surveys.size());
  for (std::size_t i = 0; i < surveys.size(); ++i) {
    if (!surveys[i].ordered) FATHOM_CHECK(trace->order(i, surveys[i].lateness, work));
  }
  return std::shared_ptr<const Trace>(std::move(trace));
}

// Late events are put where they belong while the stream is read; the window for that is as large as it has to be.
Result<void> OvniTrace::order(std::size_t number, std::uint64_t lateness, const Work& work) {
  const Stream& stream = streams_[number];
  lateness_[number] = lateness;
  FATHOM_CHECK(work->diagnostics.warn(
      "ovni.unordered", stream.blob.place(),
      fmt::format("stream {} is not in order: sorted in a window of {} events", stream.path, lateness_[number] + 1)));
  FATHOM_TRY(auto reserved, work->budget.reserve((lateness_[number] + 1) * sizeof(OrderedCursor::Waiting),
                                                 "events that wait for late ones"));
  reservations_.push_back(std::move(reserved));
  return {};
}

// Moves to another CPU that a thread of the same loom made, by the stream of the thread that is moved.
void OvniTrace::collect_moves(const std::vector<StreamSurvey>& surveys) {
  moves_.resize(streams_.size());
  for (std::size_t i = 0; i < surveys.size(); ++i) {
    const std::uint32_t thread = system_.thread_of_stream[i];
    if (thread == kNobody) continue;
    for (const StreamSurvey::Move& move : surveys[i].moves) {
      const std::uint32_t target = system_.find_thread(thread, move.tid);
      const std::uint32_t cpu = system_.find_cpu(thread, move.cpu);
      if (target == kNobody || cpu == kNobody) continue;
      moves_[system_.threads[target].stream].push_back({shifted(move.clock, offsets_[i]), cpu});
    }
  }
  for (auto& moves : moves_) {
    std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.time_ns < b.time_ns; });
  }
}

void OvniTrace::define_system() {
  SystemTree& tree = definitions_.system;
  std::map<std::string, SystemNodeId> looms;
  std::map<std::pair<std::string, std::int64_t>, std::pair<SystemNodeId, std::uint32_t>> processes;
  for (const Stream& stream : streams_) {
    const Metadata& metadata = stream.metadata;
    const std::string loom = metadata.loom.value_or("");
    const std::int64_t pid = metadata.pid.value_or(0);
    if (!looms.contains(loom)) {
      SystemNode node;
      node.kind = SystemKind::node;
      node.type = "loom";
      node.name = loom;
      looms[loom] = tree.add(std::move(node));
    }
    auto& process = processes[{loom, pid}];
    if (!process.first.valid()) {
      SystemNode node;
      node.parent = looms[loom];
      node.kind = SystemKind::group;
      node.type = "process";
      node.name = fmt::format("process {}", pid);
      node.rank = metadata.rank;
      node.file_id = static_cast<std::uint64_t>(pid);
      process = {tree.add(std::move(node)), static_cast<std::uint32_t>(tasks_.size())};
      tasks_.emplace_back();
    }
    if (metadata.rank) tree.nodes[process.first.index()].rank = metadata.rank;
    process_of_stream_.push_back(process.second);
    SystemNode node;
    node.parent = process.first;
    node.kind = SystemKind::location;
    node.type = "thread";
    node.name = fmt::format("thread {}", metadata.tid.value_or(0));
    node.rank = metadata.tid;
    node.file_id = static_cast<std::uint64_t>(metadata.tid.value_or(0));
    node.label = stream.path;
    tree.add_location(std::move(node));
  }
}

void OvniTrace::define_channels() {
  Channel state{"thread state", "Thread state", false, {}};
  for (const ValueLabel& label : all_labels()) {
    if (label.type == kThreadStateType) state.values.emplace(label.value, label.label);
  }
  Channel cpu{"cpu", "CPU of the thread", false, {}};
  for (std::size_t i = 0; i < system_.cpus.size(); ++i) {
    const CpuInfo& info = system_.cpus[i];
    cpu.values.emplace(static_cast<std::int64_t>(i), info.is_virtual()
                                                         ? fmt::format("virtual CPU of loom {}", info.loom)
                                                         : fmt::format("CPU {}.{}", info.loom, info.phyid));
  }
  channels_ = {std::move(state), std::move(cpu), {"task", "Task that runs", false, {}}};

  channel_of_event_.assign(all_events().size(), kNoName);
  std::map<std::pair<Model, int>, std::uint32_t> known;
  for (std::size_t i = 0; i < all_events().size(); ++i) {
    const EventDef& def = all_events()[i];
    if (def.channel < 0) continue;
    const ChannelDef& channel = model_info(def.model).channels[static_cast<std::size_t>(def.channel)];
    if (channel.role == ChannelRole::code) continue;
    const auto [found, is_new] =
        known.emplace(std::pair(def.model, int{def.channel}), static_cast<std::uint32_t>(channels_.size()));
    if (is_new) {
      Channel made{fmt::format("{} {}", model_info(def.model).name, channel.name),
                   std::string(channel.title),
                   channel.kind == ChannelKind::stack,
                   {}};
      for (const ValueLabel& label : all_labels()) {
        if (label.type == channel.type) made.values.emplace(label.value, label.label);
      }
      channels_.push_back(std::move(made));
    }
    channel_of_event_[i] = found->second;
  }

  for (const EventDef& def : all_events()) markers_.emplace_back(def.mcv);
  unknown_marker_ = static_cast<std::uint32_t>(markers_.size());
  markers_.emplace_back("unknown event");
  marker_of_mark_.fill(kNoName);
  for (const MarkChannel& mark : system_.marks) {
    marker_of_mark_[static_cast<std::size_t>(mark.type)] = static_cast<std::uint32_t>(markers_.size());
    markers_.push_back(mark.title);
  }
  for (const std::string& counter : system_.counters) {
    Metric metric;
    metric.name = counter;
    metric.display_name = counter;
    metric.type = {ValueKind::i64, 0};
    definitions_.metrics.push_back(std::move(metric));
  }
}

std::uint32_t OvniTrace::region(std::string name, std::string_view paradigm, std::string_view role) {
  Region made;
  made.name = std::move(name);
  made.paradigm = std::string(paradigm);
  made.role = std::string(role);
  definitions_.regions.push_back(std::move(made));
  return static_cast<std::uint32_t>(definitions_.regions.size() - 1);
}

void OvniTrace::define_regions(const std::vector<StreamSurvey>& surveys) {
  thread_region_ = region("thread", "ovni", "thread");
  region_of_event_.assign(all_events().size(), kNoName);
  std::map<std::pair<int, int>, std::uint32_t> known;
  for (std::size_t i = 0; i < all_events().size(); ++i) {
    const EventDef& def = all_events()[i];
    if (def.channel < 0 || (def.effect != Effect::push && def.effect != Effect::pop)) continue;
    const ModelInfo& model = model_info(def.model);
    const ChannelDef& channel = model.channels[static_cast<std::size_t>(def.channel)];
    if (channel.role != ChannelRole::code) continue;
    const std::pair key(channel.type, int{def.value});
    auto found = known.find(key);
    if (found == known.end()) {
      const std::string label(find_label(channel.type, def.value));
      std::string name = model.bare_names ? label : fmt::format("{} {}", model.name, label);
      found = known.emplace(key, region(std::move(name), model.name, "function")).first;
    }
    region_of_event_[i] = found->second;
  }

  // Task types of the same label are one region, whichever process defines them.
  std::map<std::pair<Model, std::string>, std::uint32_t> labels;
  for (std::size_t i = 0; i < surveys.size(); ++i) {
    FlatIndex& types = tasks_[process_of_stream_[i]].region_of_type;
    for (const StreamSurvey::Type& type : surveys[i].types) {
      const std::uint64_t key = task_key(type.model, type.id);
      if (types.find(key) != FlatIndex::kNone) continue;
      std::string label =
          type.label.empty() ? fmt::format("(unlabeled task type {})", type.id) : std::string(type.label);
      auto found = labels.find({type.model, label});
      if (found == labels.end()) {
        const std::uint32_t made = region(label, model_info(type.model).name, "task");
        found = labels.emplace(std::pair(type.model, std::move(label)), made).first;
      }
      types.insert(key, found->second);
    }
  }
  for (std::size_t i = 0; i < surveys.size(); ++i) {
    ProcessTasks& process = tasks_[process_of_stream_[i]];
    for (const StreamSurvey::Task& task : surveys[i].tasks) {
      const std::uint64_t key = task_key(task.model, task.id);
      const std::uint32_t found = process.region_of_type.find(task_key(task.model, task.type));
      if (found == FlatIndex::kNone || process.region_of_task.find(key) != FlatIndex::kNone) continue;
      process.region_of_task.insert(key, found);
    }
  }
}

std::uint32_t OvniTrace::task_region(std::size_t stream, Model model, std::uint32_t id) const {
  return tasks_[process_of_stream_[stream]].region_of_task.find(task_key(model, id));
}

std::uint32_t OvniTrace::type_region(std::size_t stream, Model model, std::uint32_t id) const {
  return tasks_[process_of_stream_[stream]].region_of_type.find(task_key(model, id));
}

Result<std::unique_ptr<EventStream>> OvniTrace::open(LocationId location, TimeWindow window) const {
  const auto whole = [&] { return std::make_unique<OvniEventStream>(*this, location); };
  if (window.everything()) return std::unique_ptr<EventStream>(whole());
  return windows_[location.index()].open(window, whole, work_);
}

Result<void> OvniTrace::detail(const fathom::Event& event, std::string& out) const {
  if (event.kind == EventKind::state || event.kind == EventKind::counter) {
    if (event.has_value) {
      fmt::format_to(std::back_inserter(out), "value={}", event.value);
      if (event.kind == EventKind::state) {
        const auto& values = channels_[event.name].values;
        if (const auto found = values.find(event.value); found != values.end()) {
          fmt::format_to(std::back_inserter(out), ";label={}", found->second);
        }
      }
    } else {
      out += "value=";
    }
  }
  if (event.record == fathom::Event::kNoRecord) return {};
  const Stream& stream = streams_[event.location.index()];
  const std::byte* at = stream.blob.bytes().data() + event.record;
  const std::uint64_t size = event_size(at, stream.blob.size() - event.record, stream.order);
  if (size == 0) return {};
  const Event native{at, static_cast<std::uint32_t>(size - kEventHeader), stream.order};
  std::array<char, 3> code;
  if (!out.empty()) out += ';';
  fmt::format_to(std::back_inserter(out), "event={}", mcv_text(native.mcv(), code));
  append_arguments(out, native);
  return {};
}

std::optional<TimeWindow> OvniTrace::known_span() const { return span_; }

std::optional<std::uint64_t> OvniTrace::known_records(LocationId location) const { return records_[location.index()]; }

}  // namespace fathom::ovni
