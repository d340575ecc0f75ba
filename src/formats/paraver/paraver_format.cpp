#include "formats/paraver/paraver_format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/paraver/prv_file.hpp"
#include "formats/paraver/trace_writer.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"
#include "io/output_set.hpp"
#include "trace/window_index.hpp"

namespace fathom::paraver {

namespace {

// Wraps around instead of overflowing: a time that large is damage anyway.
std::int64_t nanoseconds(std::int64_t time, const PrvFile& file) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(time) * static_cast<std::uint64_t>(file.unit_ns));
}

std::filesystem::path beside(const std::filesystem::path& prv, std::string_view extension) {
  return std::filesystem::path(prv).replace_extension(extension);
}

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

class ParaverTrace : public Trace {
 public:
  static Result<std::shared_ptr<const Trace>> make(const PrvFile& file, const PcfNames& names,
                                                   const std::vector<std::string>& rows, const Work& work) {
    auto trace = std::make_shared<ParaverTrace>();
    trace->work_ = work;
    const std::uint64_t count = 2 * file.states.size() + file.events.size() + 2 * file.messages.size();
    FATHOM_TRY(trace->reservation_, work->budget.reserve(count * sizeof(Event), "events of a Paraver trace"));
    trace->define(file, names, rows);
    trace->fill(file);
    return std::shared_ptr<const Trace>(std::move(trace));
  }

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
  void define(const PrvFile& file, const PcfNames& names, const std::vector<std::string>& rows) {
    SystemTree& tree = definitions_.system;
    SystemNodeId process;
    for (std::size_t i = 0; i < file.threads.size(); ++i) {
      const PrvThread& thread = file.threads[i];
      if (i == 0 || file.threads[i - 1].task != thread.task) {
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
    channels_.push_back({"state", "State", false, names.states});
    for (const PrvEvent& event : file.events) {
      if (!channel_of_type_.emplace(event.type, channels_.size()).second) continue;
      const auto name = names.types.find(event.type);
      const auto values = names.values.find(event.type);
      const std::string text = name != names.types.end() ? name->second : fmt::format("type {}", event.type);
      channels_.push_back(
          {text, text, false, values != names.values.end() ? values->second : std::map<std::int64_t, std::string>{}});
    }
    choose_activity(!file.states.empty());
    for (const char* name : {"send", "receive"}) {
      Region region;
      region.name = name;
      region.paradigm = "message";
      definitions_.regions.push_back(std::move(region));
    }
    communicators_.push_back({"world", {}, {}});
  }

  // What threads do is told by their states; in files without them by the event type that has the most names of values.
  void choose_activity(bool has_states) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < channels_.size() && !has_states; ++i) {
      if (best == 0 || channels_[i].values.size() > channels_[best].values.size()) best = i;
    }
    if (has_states || best > 0) activity_channels_.push_back(ChannelId(best));
  }

  void fill(const PrvFile& file) {
    events_.resize(file.threads.size());
    const auto add = [&](std::uint32_t thread, EventKind kind, std::int64_t time, std::size_t name) -> Event& {
      Event event;
      event.location = LocationId(thread);
      event.kind = kind;
      event.time_ns = nanoseconds(time, file);
      event.name = static_cast<std::uint32_t>(name);
      return events_[thread].emplace_back(event);
    };
    for (const PrvState& state : file.states) {
      add(state.thread, EventKind::state, state.begin, 0).value = state.state;
      add(state.thread, EventKind::state, state.end, 0).has_value = false;
    }
    for (const PrvEvent& event : file.events) {
      Event& made = add(event.thread, EventKind::state, event.time, channel_of_type_[event.type]);
      made.value = event.value;
      made.has_value = event.value != 0;
    }
    for (const PrvMessage& message : file.messages) {
      const auto end = [&](std::uint32_t at, EventKind kind, std::int64_t time, std::uint32_t peer, std::size_t name) {
        Event& event = add(at, kind, time, name);
        event.peer = static_cast<std::int32_t>(file.threads[peer].task);
        event.tag = static_cast<std::int32_t>(message.tag);
        event.bytes = message.bytes;
        event.communicator = CommunicatorId(0);
      };
      end(message.from, EventKind::send, message.sent, message.to, 0);
      end(message.to, EventKind::recv, message.received, message.from, 1);
    }
    for (auto& events : events_) {
      std::stable_sort(events.begin(), events.end(),
                       [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; });
    }
    final_time_ = nanoseconds(file.final_time, file);
    windows_ = std::make_unique<WindowIndex[]>(events_.size());
  }

  std::vector<std::vector<Event>> events_;  // by location
  std::unique_ptr<WindowIndex[]> windows_;  // the same
  std::map<std::int64_t, std::size_t> channel_of_type_;
  std::int64_t final_time_ = 0;
  Budget::Reservation reservation_;
};

class ParaverDataset : public Dataset {
 public:
  ParaverDataset(const Format& owner, std::filesystem::path path, Work work, PrvFile file)
      : Dataset(owner, std::move(path), std::move(work)), file_(std::move(file)) {}

  [[nodiscard]] std::vector<Level> levels() const override { return {Level::trace}; }
  Result<std::vector<InfoEntry>> describe(bool) override {
    std::vector<InfoEntry> entries;
    entries.push_back({"locations", std::uint64_t{file_.threads.size()}});
    entries.push_back({"events", std::uint64_t{file_.states.size() + file_.events.size() + file_.messages.size()}});
    entries.push_back({"states", std::uint64_t{file_.states.size()}});
    entries.push_back({"messages", std::uint64_t{file_.messages.size()}});
    describe_span(0, nanoseconds(file_.final_time, file_), entries);
    return entries;
  }
  Result<std::shared_ptr<const Trace>> trace() override {
    if (trace_) return trace_;
    PcfNames names;
    std::vector<std::string> rows;
    if (auto blob = map_file(beside(path(), ".pcf")); blob.ok()) names = read_pcf(*blob);
    if (auto blob = map_file(beside(path(), ".row")); blob.ok()) rows = read_row(*blob);
    FATHOM_TRY(trace_, ParaverTrace::make(file_, names, rows, work()));
    return trace_;
  }
  Result<bool> rewrite(const std::filesystem::path& target, const WriteOptions&) override {
    FATHOM_TRY(const Blob records, open_file(path(), work()));
    std::vector<std::pair<std::string_view, Blob>> names;
    for (const std::string_view extension : {".pcf", ".row"}) {
      auto blob = map_file(beside(path(), extension));
      if (blob.ok()) names.emplace_back(extension, *std::move(blob));
    }
    if (names.empty()) {
      FATHOM_CHECK(write_file(target, records.text()));
      return true;
    }
    FATHOM_TRY(OutputSet set, OutputSet::beside(target, {}));
    FATHOM_CHECK(write_file(set.path() / target.filename(), records.text()));
    for (const auto& [extension, blob] : names) {
      FATHOM_CHECK(write_file(beside(set.path() / target.filename(), extension), blob.text()));
    }
    FATHOM_CHECK(set.commit());
    return true;
  }
  // Everything was read, and every bad line and wrong order noted, when it was opened.
  Result<void> check() override { return {}; }

 private:
  PrvFile file_;
  std::shared_ptr<const Trace> trace_;
};

Match recognise(const Source& source) {
  if (!source.head(16).starts_with("#Paraver")) return {};
  return {Confidence::certain, "starts with '#Paraver'"};
}

Result<DatasetPtr> open(const Source& source, const Work& work) {
  FATHOM_TRY(PrvFile file, read_prv(source.blob(), work));
  return DatasetPtr(std::make_unique<ParaverDataset>(format(), source.path(), work, std::move(file)));
}

Result<void> write(Dataset& dataset, const std::filesystem::path& target, const WriteOptions&) {
  FATHOM_TRY(const auto trace, dataset.trace());
  return write_trace(*trace, target, dataset.work());
}

}  // namespace

const Format& format() {
  static const Format kFormat{.name = "paraver",
                              .title = "Paraver trace",
                              .extensions = ".prv",
                              .can = {{Level::trace}, {Level::trace}},
                              .recognise = recognise,
                              .open = open,
                              .write = write,
                              .catalogue = nullptr};
  return kFormat;
}

}  // namespace fathom::paraver
