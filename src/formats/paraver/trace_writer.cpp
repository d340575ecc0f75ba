#include "formats/paraver/trace_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <queue>

#include "base/capped_sum.hpp"
#include "base/progress.hpp"
#include "formats/paraver/state_cursor.hpp"
#include "formats/paraver/trace_names.hpp"
#include "formats/paraver/trace_objects.hpp"
#include "io/external_sort.hpp"
#include "io/output_file.hpp"
#include "io/output_set.hpp"
#include "trace/merge.hpp"
#include "trace/open_names.hpp"

namespace fathom::paraver {

namespace {

constexpr std::uint64_t kMessageMemory = std::uint64_t{64} << 20;  // what is more goes to a temporary file
constexpr std::size_t kBufferSize = 1 << 16;
struct PendingState {
  StateInterval interval;
  std::uint32_t thread;
  friend bool operator<(const PendingState& a, const PendingState& b) {
    return std::tuple(a.interval.begin_ns, a.thread) > std::tuple(b.interval.begin_ns, b.thread);
  }
};

class Writer {
 public:
  Writer(const Trace& trace, OutputFile out, const Work& work)
      : trace_(trace),
        work_(work),
        out_(std::move(out)),
        objects_(trace.definitions().system),
        names_(trace),
        states_(trace.definitions()),
        open_(trace.location_count()),
        open_names_(trace.location_count()),
        last_ns_(trace.location_count()) {
    find_communicators();
    for (const auto& thread : objects_.threads) {
      places_.push_back(fmt::format("{}:1:{}:{}:", thread.cpu + 1, thread.task + 1, thread.thread + 1));
    }
  }

  Result<void> write() {
    FATHOM_CHECK(find_start());
    out_.write(header(0));
    write_communicators();
    FATHOM_CHECK(collect_messages());
    FATHOM_CHECK(write_records());
    flush();
    out_.overwrite(0, as_bytes(header(final_ns_)));
    FATHOM_CHECK(note_losses());
    return out_.commit();
  }

  [[nodiscard]] std::string row_text() const { return objects_.row_text(); }
  [[nodiscard]] std::string pcf_text() const { return names_.pcf_text(); }

 private:
  struct Communication {
    std::int64_t sent_ns, received_ns, bytes;
    std::uint64_t serial;  // as found
    std::uint32_t from, to;
    std::int32_t tag;
  };
  struct BySending {
    bool operator()(const Communication& a, const Communication& b) const {
      return std::tie(a.sent_ns, a.serial) < std::tie(b.sent_ns, b.serial);
    }
  };

  [[nodiscard]] const Definitions& definitions() const { return trace_.definitions(); }

  [[nodiscard]] std::string header(std::uint64_t final_ns) const {
    // A date that is always the same keeps files comparable; room for any time, which is known only at the end.
    return fmt::format("#Paraver (01/01/70 at 00:00):{:020}_ns{}{}\n", final_ns, objects_.header_text(),
                       communicators_.empty() ? "" : fmt::format(",{}", communicators_.size()));
  }

  // Those whose members are known and are tasks; their numbers are the ones that collectives name.
  void find_communicators() {
    for (std::size_t i = 0; i < trace_.communicators().size(); ++i) {
      const auto& ranks = trace_.communicators()[i].ranks;
      const bool known = std::all_of(ranks.begin(), ranks.end(),
                                     [&](std::int32_t rank) { return objects_.task_of_rank.contains(rank); });
      if (known && !ranks.empty()) communicators_.push_back(i);
    }
  }
  void write_communicators() {
    for (const std::size_t number : communicators_) {
      const auto& ranks = trace_.communicators()[number].ranks;
      fmt::format_to(std::back_inserter(text_), "c:1:{}:{}", number + 1, ranks.size());
      for (const std::int32_t rank : ranks)
        fmt::format_to(std::back_inserter(text_), ":{}", objects_.task_of_rank.at(rank) + 1);
      text_ += '\n';
      flush_if_full();
    }
  }

  Result<void> note_losses() const {
    const std::uint64_t alone = ends_ - std::min(ends_, matched_ends_);
    const auto note = [&](std::string_view id, std::uint64_t count, std::string_view text) -> Result<void> {
      return count == 0 ? Result<void>()
                        : work_->diagnostics.add(id, Severity::data_loss, Place{}, std::string(text), count);
    };
    FATHOM_CHECK(note("paraver.rounded_value", lost_.rounded, "a value of a counter is written as a whole number"));
    FATHOM_CHECK(note("paraver.cpu_times", lost_.cpu_times, "the CPU time of a region is not written"));
    FATHOM_CHECK(note("paraver.call_path", lost_.paths, "a sample is written with its function, not its call path"));
    FATHOM_CHECK(note("paraver.marker_detail", lost_.details,
                      "a marker is written with its value alone: peer, bytes, handle, communicator and origin have no "
                      "place"));
    FATHOM_CHECK(note("paraver.zero_value", lost_.zeros, "a value of a channel is 0, which means empty to Paraver"));
    FATHOM_CHECK(note("paraver.unmatched", alone, "a send or receive that has no other end in the trace is left out"));
    return note("paraver.nameless", lost_.nameless, "an event of something that is not defined is left out");
  }

  Result<void> find_start() {
    bool found = false;
    for (std::size_t i = 0; i < trace_.location_count(); ++i) {
      FATHOM_TRY(auto stream, trace_.open(LocationId(i), {}));
      EventCursor cursor(std::move(stream), 16);
      while (const Event* event = cursor.next()) {
        if (!event->has_time) continue;
        if (!found || event->time_ns < start_ns_) start_ns_ = event->time_ns;
        found = true;
        break;
      }
      FATHOM_CHECK(cursor.status());
    }
    std::fill(last_ns_.begin(), last_ns_.end(), start_ns_);
    return {};
  }

  // Of all messages, since they are found by receiver and wanted by the time they were sent.
  Result<void> collect_messages() {
    const Budget& budget = work_->budget;
    const std::uint64_t left = budget.limit() - std::min(budget.used(), budget.limit());
    const std::uint64_t memory = std::min(kMessageMemory, left / 4);
    FATHOM_TRY(reserved_, work_->budget.reserve(memory, "messages of a trace"));
    messages_.emplace(memory / 2);
    const std::size_t run_size = std::max<std::size_t>(memory / 2 / sizeof(Communication), 64);
    std::vector<Communication> run;
    std::uint64_t timeless = 0;
    std::uint64_t serial = 0;
    Result<void> added;
    FATHOM_CHECK(trace_.messages({}, [&](const Message& message) {
      matched_ends_ += 2;
      if (!message.sent_ns || !message.received_ns) {
        ++timeless;
        return true;
      }
      run.push_back({*message.sent_ns, *message.received_ns, message.bytes, serial++,
                     objects_.thread_of_location[message.from.index()], objects_.thread_of_location[message.to.index()],
                     message.tag});
      if (run.size() == run_size) added = messages_->add(run);
      return added.ok();
    }));
    FATHOM_CHECK(added);
    FATHOM_CHECK(messages_->add(run));
    if (timeless == 0) return {};
    return work_->diagnostics.add("paraver.message_without_time", Severity::warning, Place{},
                                  "messages without the times of both ends are left out", timeless);
  }

  Result<void> write_records() {
    std::vector<StateCursor> cursors;
    std::priority_queue<PendingState> states;
    for (std::uint32_t i = 0; i < objects_.threads.size(); ++i) {
      FATHOM_TRY(auto stream, trace_.open(objects_.threads[i].location, {}));
      cursors.emplace_back(std::move(stream), states_);
      PendingState pending{{}, i};
      if (cursors.back().next(pending.interval)) states.push(pending);
      FATHOM_CHECK(cursors.back().status());
    }
    FATHOM_TRY(auto merged, MergedEvents::over(trace_));
    const Event* event = merged.next();
    const Communication* message = messages_->next();
    const auto span = trace_.known_span();
    Progress progress("writing records", span ? since(span->from_ns, span->to_ns) : 0);
    std::int64_t shown_ns = start_ns_;
    // Of equal times: states, events, communications.
    for (;;) {
      const std::int64_t event_ns = event != nullptr ? time_of(*event) : kNever;
      const std::int64_t message_ns = message != nullptr ? message->sent_ns : kNever;
      if (!states.empty() && states.top().interval.begin_ns <= std::min(event_ns, message_ns)) {
        PendingState pending = states.top();
        states.pop();
        write_state(pending);
        StateCursor& cursor = cursors[pending.thread];
        if (cursor.next(pending.interval)) states.push(pending);
        FATHOM_CHECK(cursor.status());
      } else if (event != nullptr && event_ns <= message_ns) {
        write_event(*event, event_ns);
        progress.advance(since(std::exchange(shown_ns, event_ns), event_ns));
        event = merged.next();
      } else if (message != nullptr) {
        write_message(*message);
        message = messages_->next();
      } else {
        break;
      }
    }
    FATHOM_CHECK(messages_->status());
    return merged.status();
  }

  // An event without a time happens right after the one before it.
  std::int64_t time_of(const Event& event) {
    std::int64_t& last = last_ns_[event.location.index()];
    if (event.has_time) last = event.time_ns;
    return last;
  }

  std::uint64_t relative(std::int64_t time_ns) {
    const std::uint64_t time = since(start_ns_, time_ns);
    final_ns_ = std::max(final_ns_, time);
    return time;
  }

  void write_state(const PendingState& pending) {
    fmt::format_to(std::back_inserter(text_), "1:{}{}:{}:{}\n", places_[pending.thread],
                   relative(pending.interval.begin_ns), relative(pending.interval.end_ns),
                   static_cast<int>(pending.interval.state));
    flush_if_full();
  }

  void write_message(const Communication& message) {
    const std::uint64_t sent = relative(message.sent_ns);
    const std::uint64_t received = relative(message.received_ns);
    fmt::format_to(std::back_inserter(text_), "3:{}{}:{}:{}{}:{}:{}:{}\n", places_[message.from], sent, sent,
                   places_[message.to], received, received, message.bytes, message.tag);
    flush_if_full();
  }

  void write_event(const Event& event, std::int64_t time_ns) {
    pairs_.clear();
    translate(event);
    if (pairs_.empty()) return;
    fmt::format_to(std::back_inserter(text_), "2:{}{}", places_[objects_.thread_of_location[event.location.index()]],
                   relative(time_ns));
    for (const auto& [type, value] : pairs_) fmt::format_to(std::back_inserter(text_), ":{}:{}", type, value);
    text_ += '\n';
    flush_if_full();
  }

  void translate(const Event& event);
  void translate_region(const Event& event);
  void translate_sample(const Event& event);
  void translate_state(const Event& event);
  void translate_marker(const Event& event);
  [[nodiscard]] std::int64_t counter_value(const Event& event);

  void add(std::int64_t type, std::int64_t value) { pairs_.emplace_back(type, value); }

  void flush_if_full() {
    if (text_.size() >= kBufferSize) flush();
  }
  void flush() {
    out_.write(text_);
    text_.clear();
  }

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  const Trace& trace_;
  const Work& work_;
  OutputFile out_;
  TraceObjects objects_;
  TraceNames names_;
  RegionStates states_;
  std::vector<std::string> places_;               // "cpu:1:task:thread:"
  std::vector<std::vector<std::uint32_t>> open_;  // regions by location, innermost last
  std::vector<OpenNames> open_names_;             // that are in it
  std::vector<std::int64_t> last_ns_;             // by location
  std::optional<ExternalSorter<Communication, BySending>> messages_;
  Budget::Reservation reserved_;
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs_;  // type and value of one record
  std::string text_;
  std::int64_t start_ns_ = 0;
  std::uint64_t final_ns_ = 0;
  std::vector<std::size_t> communicators_;  // that have a line
  std::uint64_t ends_ = 0;                  // of messages
  std::uint64_t matched_ends_ = 0;
  struct {
    std::uint64_t rounded = 0, cpu_times = 0, paths = 0, details = 0, zeros = 0, nameless = 0;
  } lost_;
};

// A timeline shows the last value: leaving a region says which one is around it.
void Writer::translate_region(const Event& event) {
  if (event.name >= definitions().regions.size()) {
    ++lost_.nameless;
    return;
  }
  auto& open = open_[event.location.index()];
  OpenNames& names = open_names_[event.location.index()];
  const std::int64_t type = names_.region_type(event.name);
  if (event.kind == EventKind::enter) {
    lost_.cpu_times += trace_.has_cpu_time() && event.has_value ? 1 : 0;
    open.push_back(event.name);
    names.add(event.name);
    return add(type, names_.use(TraceNames::kRegion, event.name));
  }
  if (names.has(event.name)) {
    open.erase(std::next(std::find(open.rbegin(), open.rend(), event.name)).base());
    names.remove(event.name);
  }
  const auto around =
      std::find_if(open.rbegin(), open.rend(), [&](std::uint32_t name) { return names_.region_type(name) == type; });
  add(type, around == open.rend() ? 0 : std::int64_t{*around} + 1);
}

void Writer::translate(const Event& event) {
  switch (event.kind) {
    case EventKind::enter:
    case EventKind::leave:
      return translate_region(event);
    case EventKind::sample:
      return translate_sample(event);
    case EventKind::send:
    case EventKind::recv:
      ++ends_;
      return;  // communications
    case EventKind::collective:
      add(kCollectiveTypes + kOperation, names_.use(TraceNames::kCollective, event.name));
      add(kCollectiveTypes + kSent, event.bytes);
      add(kCollectiveTypes + kReceived, event.value);
      if (event.communicator.valid()) {
        add(kCollectiveTypes + kCommunicator, static_cast<std::int64_t>(event.communicator.index()) + 1);
      }
      if (event.peer >= 0) add(kCollectiveTypes + kRoot, std::int64_t{event.peer} + 1);
      return;
    case EventKind::complete:
      return add(kCompletionType, names_.use(TraceNames::kCompleted, event.name));
    case EventKind::state:
      return translate_state(event);
    case EventKind::counter:
      (void)names_.use(TraceNames::kMetric, event.name);
      return add(kCounterTypes + std::int64_t{event.name}, counter_value(event));
    case EventKind::marker:
      return translate_marker(event);
  }
}

void Writer::translate_sample(const Event& event) {
  const bool known = event.name < definitions().contexts.size();
  const RegionId region = known ? definitions().contexts[event.context()].region : RegionId();
  if (known && definitions().contexts[event.context()].parent.valid()) ++lost_.paths;
  if (!region.valid()) return add(kSampleType, 0);
  add(kSampleType, names_.use(TraceNames::kSampled, static_cast<std::uint32_t>(region.index())));
}

void Writer::translate_state(const Event& event) {
  (void)names_.use(TraceNames::kChannel, event.name);
  const std::int64_t shown = event.has_value ? event.value + names_.channel_shift(event.name) : 0;
  if (event.has_value && shown == 0) ++lost_.zeros;
  add(kChannelTypes + std::int64_t{event.name}, shown);
}

void Writer::translate_marker(const Event& event) {
  const std::int64_t name = names_.use(TraceNames::kMarker, event.name);
  if (name == 0) {
    ++lost_.nameless;
    return;
  }
  if (event.peer != kNoPeer || event.bytes != 0 || event.tag != 0 || event.communicator.valid() ||
      event.origin != Event::kNoRecord) {
    ++lost_.details;
  }
  add(kMarkerType, name);
  if (event.value == 0) return;
  (void)names_.use(TraceNames::kValuedMarker, event.name);
  add(kMarkerValueTypes + std::int64_t{event.name}, event.value);
}

// Values are whole numbers in Paraver.
std::int64_t Writer::counter_value(const Event& event) {
  const bool is_real = event.name < definitions().metrics.size() && definitions().metrics[event.name].type.is_double();
  if (!is_real) return event.value;
  const auto number = std::bit_cast<double>(event.value);
  const std::int64_t whole = std::abs(number) < 9.2e18 ? static_cast<std::int64_t>(std::llround(number)) : 0;
  if (static_cast<double>(whole) != number) ++lost_.rounded;
  return whole;
}

}  // namespace

Result<void> write_trace(const Trace& trace, const std::filesystem::path& target, const Work& work) {
  FATHOM_TRY(const std::filesystem::path prv, follow_links(target));
  FATHOM_TRY(OutputSet set, OutputSet::beside(prv, {}));
  const std::filesystem::path path = set.path() / prv.filename();
  FATHOM_TRY(OutputFile out, OutputFile::create(path));
  Writer writer(trace, std::move(out), work);
  FATHOM_CHECK(writer.write());
  FATHOM_CHECK(write_file(std::filesystem::path(path).replace_extension(".pcf"), writer.pcf_text()));
  FATHOM_CHECK(write_file(std::filesystem::path(path).replace_extension(".row"), writer.row_text()));
  return set.commit();
}

}  // namespace fathom::paraver
