#include "formats/perfetto/trace_writer.hpp"

#include <fmt/format.h>

#include <bit>
#include <map>

#include "base/capped_sum.hpp"
#include "base/name_table.hpp"
#include "base/progress.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/proto.hpp"
#include "io/output_file.hpp"
#include "trace/slice_view.hpp"

namespace fathom::perfetto {

namespace {

constexpr std::size_t kBufferSize = 1 << 16;
constexpr std::uint64_t kSequence = 1;

// Numbers of fields, as the public definitions have them.
enum : std::uint32_t {
  kTime = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInterned = 12,
  kFlags = 13,
  kTrackDescriptor = 60,
};
enum class Type : std::uint8_t { begin = 1, end = 2, instant = 3, counter = 4 };

class Writer : public SliceSink {
 public:
  Writer(const Trace& trace, OutputFile out)
      : trace_(trace), out_(std::move(out)), view_(trace), rows_(view_rows(trace)) {}

  Result<void> write(const Place& place, const Work& work) {
    FATHOM_TRY(const auto span, span_of(trace_));
    // Times have no sign there.
    if (span && span->from_ns < 0) {
      zero_ns_ = span->from_ns;
      work->diagnostics.info("write.times_shifted", place,
                             fmt::format("times begin before zero; they are written {} ns later", since(zero_ns_, 0)));
    }
    FATHOM_CHECK(view_.find_arrows(work));
    describe_rows();
    Progress progress("writing events", std::max<std::size_t>(trace_.location_count(), 1));
    for (std::size_t i = 0; i < trace_.location_count(); ++i) {
      at_ = i;
      channel_tracks_.clear();
      counter_tracks_.clear();
      FATHOM_CHECK(view_.write(LocationId(i), {}, *this));
      progress.advance();
    }
    out_.write(text_);
    FATHOM_CHECK(view_.notes().report(work->diagnostics, place));
    return out_.commit();
  }

  void begin(std::uint32_t row, std::int64_t time_ns, std::string_view name, const Event& event) override {
    start_event(Type::begin, track_of(row));
    put_number(event_, 10, intern(2, names_, name));
    if (row == 0 && event.kind == EventKind::enter && event.name < trace_.definitions().regions.size()) {
      const std::string& paradigm = trace_.definitions().regions[event.name].paradigm;
      if (!paradigm.empty()) put_number(event_, 3, intern(1, categories_, paradigm));
      put_arrows(event);
    }
    finish_event(time_ns);
  }
  void end(std::uint32_t row, std::int64_t time_ns, std::string_view) override {
    start_event(Type::end, track_of(row));
    finish_event(time_ns);
  }
  void instant(std::int64_t time_ns, std::string_view name, const Event& event) override {
    start_event(Type::instant, thread_track(at_));
    put_number(event_, 10, intern(2, names_, name));
    if (event.kind == EventKind::collective) {
      annotate("root", event.peer);
      annotate("sent", event.bytes);
      annotate("received", event.value);
      annotate_communicator(event);
      annotate("call", trace_.name(event));
    } else if (tells_more(trace_, event)) {
      annotate("value", event.value);
      annotate("bytes", event.bytes);
      annotate("peer", event.peer);
      annotate("tag", event.tag);
      annotate_communicator(event);
    }
    put_arrows(event);
    finish_event(time_ns);
  }
  void counter(std::int64_t time_ns, const Event& event) override {
    const Metric& metric = trace_.definitions().metrics[event.name];
    start_event(Type::counter, counter_track(event.name, metric));
    if (metric.type.is_double()) {
      put_double(event_, 44, std::bit_cast<double>(event.value));
    } else {
      put_number(event_, 30, static_cast<std::uint64_t>(event.value));
    }
    finish_event(time_ns);
  }
  // On instants of their own: arrows go from the earlier to the later one, which calls that were posted early are not.
  void message(std::int64_t time_ns, const Event& event, std::uint64_t flow) override {
    const bool sends = event.kind == EventKind::send;
    start_event(Type::instant, thread_track(at_));
    put_number(event_, 10, intern(2, names_, sends ? "send" : "recv"));
    put_fixed64(event_, sends ? 47 : 48, flow);
    annotate("peer", event.peer);
    annotate("tag", event.tag);
    annotate("bytes", event.bytes);
    annotate_communicator(event);
    annotate("call", trace_.name(event));
    finish_event(time_ns);
  }

 private:
  [[nodiscard]] static std::uint64_t process_track(std::int64_t pid) {
    return static_cast<std::uint64_t>(pid) << 1 | 1;
  }
  [[nodiscard]] static std::uint64_t thread_track(std::size_t location) { return (std::uint64_t{location} + 1) << 1; }
  [[nodiscard]] std::uint64_t new_track() { return ++last_track_; }

  // Numbers of texts; new ones go with the packet that uses them first.
  std::uint64_t intern(std::uint32_t table, NameTable& names, std::string_view text) {
    const std::size_t known = names.size();
    const std::uint32_t number = names.add(text);
    if (number == known) {
      std::string entry;
      put_number(entry, 1, std::uint64_t{number} + 1);
      put_bytes(entry, 2, text);
      put_bytes(interned_, table, entry);
    }
    return std::uint64_t{number} + 1;
  }

  void start_event(Type type, std::uint64_t track) {
    event_.clear();
    put_number(event_, 9, static_cast<std::uint64_t>(type));
    put_number(event_, 11, track);
  }
  // Every arrow is a flow of its own; the category tells readers that its ends are no events beside this one.
  void put_arrows(const Event& event) {
    const ArrowEnds ends = view_.arrows_at(event);
    if (!ends.any()) return;
    put_bytes(event_, 22, kArrowCategory);
    for (std::uint64_t i = 0; i < ends.leaving; ++i) put_fixed64(event_, 47, ends.first_leaving + i);
    if (ends.arriving != 0) put_fixed64(event_, 48, ends.arriving);
  }
  void annotate(std::string_view name, std::int64_t value) {
    std::string annotation;
    put_number(annotation, 1, intern(3, annotations_, name));
    put_number(annotation, 4, static_cast<std::uint64_t>(value));
    put_bytes(event_, 4, annotation);
  }
  void annotate(std::string_view name, std::string_view value) {
    std::string annotation;
    put_number(annotation, 1, intern(3, annotations_, name));
    put_bytes(annotation, 6, value);
    put_bytes(event_, 4, annotation);
  }
  void annotate_communicator(const Event& event) {
    if (!event.communicator.valid() || event.communicator.index() >= trace_.communicators().size()) return;
    const std::string& name = trace_.communicators()[event.communicator.index()].name;
    annotate("comm", name.empty() ? fmt::format("comm {}", event.communicator.value) : name);
  }
  void finish_event(std::int64_t time_ns) {
    packet_.clear();
    put_number(packet_, kTime, since(zero_ns_, time_ns));
    put_number(packet_, kSequenceId, kSequence);
    // The first packet says that nothing came before, all that they need what did.
    put_number(packet_, kFlags, first_ ? 3 : 2);
    first_ = false;
    if (!interned_.empty()) put_bytes(packet_, kInterned, interned_);
    interned_.clear();
    put_bytes(packet_, kTrackEvent, event_);
    finish_packet();
  }
  void finish_packet() {
    put_bytes(text_, 1, packet_);
    if (text_.size() < kBufferSize) return;
    out_.write(text_);
    text_.clear();
  }

  void describe(std::uint64_t uuid, std::uint64_t parent, std::string_view name, std::uint32_t inner_field,
                const std::string& inner, bool own_row) {
    std::string track;
    put_number(track, 1, uuid);
    if (parent != 0) put_number(track, 5, parent);
    if (!name.empty()) put_bytes(track, 2, name);
    if (inner_field != 0) put_bytes(track, inner_field, inner);
    if (own_row) put_number(track, 15, 2);  // tracks of the same name stay apart
    packet_.clear();
    put_number(packet_, kSequenceId, kSequence);
    put_bytes(packet_, kTrackDescriptor, track);
    finish_packet();
  }

  void describe_rows() {
    if (rows_.empty()) {  // a file of no bytes would be no trace
      packet_.clear();
      put_number(packet_, kTime, 0);
      put_number(packet_, kSequenceId, kSequence);
      put_number(packet_, kFlags, 1);
      finish_packet();
    }
    std::int64_t last = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const ViewRow& row = rows_[i];
      if (row.first_of_process) {
        std::string process;
        put_number(process, 1, static_cast<std::uint64_t>(row.pid));
        put_bytes(process, 6, row.process_name);
        describe(process_track(row.pid), 0, {}, 3, process, false);
      }
      std::string thread;
      put_number(thread, 1, static_cast<std::uint64_t>(row.pid));
      // The thread with the number of the process is its first one to viewers.
      put_number(thread, 2, static_cast<std::uint64_t>(row.tid == 1 ? row.pid : row.pid + (row.tid - 1) * kThreadStep));
      put_bytes(thread, 5, row.thread_name);
      describe(thread_track(i), process_track(row.pid), {}, 4, thread, false);
      last = std::max(last, row.pid);
    }
    last_track_ = 2 * (std::max<std::uint64_t>(rows_.size(), static_cast<std::uint64_t>(last)) + 2);
  }

  std::uint64_t track_of(std::uint32_t row) {
    if (row == 0) return thread_track(at_);
    const auto [found, fresh] = channel_tracks_.emplace(row, 0);
    if (fresh) {
      found->second = new_track();
      const Channel& channel = trace_.channels()[row - 1];
      describe(found->second, thread_track(at_),
               rows_[at_].thread_name + ": " + (channel.title.empty() ? channel.name : channel.title), 0, {}, true);
    }
    return found->second;
  }
  std::uint64_t counter_track(std::uint32_t number, const Metric& metric) {
    const auto [found, fresh] = counter_tracks_.emplace(number, 0);
    if (!fresh) return found->second;
    found->second = new_track();
    std::string counter;
    const std::string& unit = metric.unit;
    if (unit == "ns" || unit == "bytes" || unit == "count" || unit == "occ" || unit == "#") {
      put_number(counter, 3, unit == "ns" ? 1 : unit == "bytes" ? 3 : 2);
    } else if (!unit.empty()) {
      put_bytes(counter, 6, unit);
    }
    // It is described before the event that uses it, whose bytes are under way.
    describe(found->second, thread_track(at_), metric.display_name.empty() ? metric.name : metric.display_name, 8,
             counter, false);
    return found->second;
  }

  static constexpr std::int64_t kThreadStep = 1'000'000;
  const Trace& trace_;
  OutputFile out_;
  SliceView view_;
  std::vector<ViewRow> rows_;  // by location
  NameTable names_, categories_, annotations_;
  std::map<std::uint32_t, std::uint64_t> channel_tracks_, counter_tracks_;  // of the location at hand
  std::string text_, packet_, event_, interned_;
  std::uint64_t last_track_ = 0;
  std::size_t at_ = 0;
  std::int64_t zero_ns_ = 0;  // what is written as 0
  bool first_ = true;
};

}  // namespace

Result<void> write_trace(const Trace& trace, const std::filesystem::path& target, const Work& work) {
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  Writer writer(trace, std::move(out));
  return writer.write(Place::in(target.string()), work);
}

}  // namespace fathom::perfetto
