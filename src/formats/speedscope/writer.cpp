#include "formats/speedscope/writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/capped_sum.hpp"
#include "base/name_table.hpp"
#include "base/number.hpp"
#include "base/number_text.hpp"
#include "base/text.hpp"
#include "io/output_file.hpp"
#include "trace/group_by_row.hpp"
#include "trace/slice_view.hpp"

namespace fathom::speedscope {

namespace {

constexpr std::size_t kBufferSize = 1 << 16;
// More profiles than this make the list to choose from useless.
constexpr std::size_t kMostProfiles = 300;
// Of the channels of a location; what is more goes to a temporary file.
constexpr std::uint64_t kMostKept = std::uint64_t{256} << 20;

std::string frame_text(std::string_view name, const Region* code) {
  std::string out = "{\"name\":" + json_quote(name);
  if (code != nullptr && !code->file.empty()) out += ",\"file\":" + json_quote(code->file);
  if (code != nullptr && code->begin_line > 0) out += fmt::format(",\"line\":{}", code->begin_line);
  return out + "}";
}

std::string frame_text(const Definitions& defs, ContextId context) {
  const RegionId region = defs.contexts[context].region;
  return frame_text(frame_name(defs, context), region.valid() ? &defs.region(region) : nullptr);
}

// The frames come last in the file: they are known then.
class Document {
 public:
  explicit Document(OutputFile out, std::string_view name = {}) : out_(std::move(out)) {
    text_ = "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"fathom\",";
    if (!name.empty()) text_ += "\"name\":" + json_quote(name) + ",";
    text_ += "\"profiles\":[";
  }
  std::uint32_t frame(std::string text) { return frames_.add(std::move(text)); }
  std::string& text() {
    if (text_.size() >= kBufferSize) {
      out_.write(text_);
      text_.clear();
    }
    return text_;
  }
  // Begins the next profile.
  void begin(std::string_view type, std::string_view name, std::string_view unit) {
    text() += fmt::format("{}\n{{\"type\":\"{}\",\"name\":{},\"unit\":\"{}\",\"startValue\":0",
                          profiles_++ == 0 ? "" : ",", type, json_quote(name), unit);
  }
  [[nodiscard]] std::size_t profiles() const { return profiles_; }
  Result<void> finish() {
    text() += "],\n\"shared\":{\"frames\":[";
    bool first = true;
    for (const std::string& entry : frames_.texts()) {
      if (!first) text() += ",";
      first = false;
      text() += entry;
    }
    text_ += "]}}\n";
    out_.write(text_);
    return out_.commit();
  }

 private:
  OutputFile out_;
  std::string text_;
  NameTable frames_;
  std::size_t profiles_ = 0;
};

// A profile of slices, which is there from the first one on.
class EventedProfile {
 public:
  EventedProfile(Document& document, std::int64_t start_ns, std::string name)
      : document_(document), start_ns_(start_ns), name_(std::move(name)) {}

  void open(std::string frame, std::int64_t time_ns) {
    if (!begun_) {
      document_.begin("evented", name_, "nanoseconds");
      document_.text() += ",\"events\":[";
      begun_ = true;
    }
    open_.push_back(document_.frame(std::move(frame)));
    put('O', open_.back(), time_ns);
  }
  void close(std::int64_t time_ns) {
    if (open_.empty()) return;
    put('C', open_.back(), time_ns);
    open_.pop_back();
  }
  // Everything must be closed in the end. Says how much was not.
  std::uint64_t finish(std::int64_t end_ns) {
    if (!begun_) return 0;
    latest_ns_ = std::max(latest_ns_, since(start_ns_, end_ns));
    const std::uint64_t unfinished = open_.size();
    while (!open_.empty()) close(end_ns);
    document_.text() += fmt::format("],\"endValue\":{}}}", latest_ns_);
    return unfinished;
  }

 private:
  void put(char type, std::uint32_t frame, std::int64_t time_ns) {
    latest_ns_ = std::max(latest_ns_, since(start_ns_, time_ns));
    std::string& text = document_.text();
    if (!first_) text += ',';
    first_ = false;
    fmt::format_to(std::back_inserter(text), "{{\"type\":\"{}\",\"frame\":{},\"at\":{}}}", type, frame, latest_ns_);
  }

  Document& document_;
  std::int64_t start_ns_;
  std::string name_;
  std::vector<std::uint32_t> open_;
  std::uint64_t latest_ns_ = 0;
  bool begun_ = false;
  bool first_ = true;
};

// A location: what it does is written as it comes, the values of its channels are kept until that profile is over.
class EventedSink : public SliceSink {
 public:
  EventedSink(const Trace& trace, Document& document, ArrayPool& pool, std::int64_t start_ns, std::string name)
      : trace_(trace),
        document_(document),
        pool_(pool),
        start_ns_(start_ns),
        name_(std::move(name)),
        own_(document, start_ns, name_),
        edges_(pool) {}

  void begin(std::uint32_t row, std::int64_t time_ns, std::string_view name, const Event& event) override {
    if (row > 0) return edges_.push_back({time_ns, row, values_.add(name)});
    const bool is_region = event.kind == EventKind::enter && event.name < trace_.definitions().regions.size();
    own_.open(frame_text(name, is_region ? &trace_.definitions().regions[event.name] : nullptr), time_ns);
  }
  void end(std::uint32_t row, std::int64_t time_ns, std::string_view) override {
    if (row > 0) return edges_.push_back({time_ns, row, NameTable::kNone});
    own_.close(time_ns);
  }
  void instant(std::int64_t, std::string_view, const Event&) override { ++left_out_; }
  void counter(std::int64_t, const Event&) override { ++left_out_; }
  void message(std::int64_t, const Event&, std::uint64_t) override { ++left_out_; }

  Result<void> finish(std::int64_t end_ns) {
    unfinished_ += own_.finish(end_ns);
    FATHOM_CHECK(pool_.status());
    if (edges_.empty()) return {};
    const auto channels = static_cast<std::uint32_t>(trace_.channels().size());
    const auto first = group_by_row(edges_, channels, pool_, [](const Edge& edge) { return edge.row - 1; });
    FATHOM_CHECK(pool_.status());
    for (std::uint32_t c = 0; c < channels; ++c) {
      if (first[c] == first[c + 1]) continue;
      const Channel& channel = trace_.channels()[c];
      EventedProfile profile(document_, start_ns_,
                             name_ + ": " + (channel.title.empty() ? channel.name : channel.title));
      for (std::size_t i = first[c]; i < first[c + 1]; ++i) {
        const Edge& edge = edges_[i];
        if (edge.value == NameTable::kNone) {
          profile.close(edge.time_ns);
        } else {
          profile.open(frame_text(values_[edge.value], nullptr), edge.time_ns);
        }
      }
      unfinished_ += profile.finish(end_ns);
    }
    return {};
  }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  [[nodiscard]] std::uint64_t unfinished() const { return unfinished_; }

 private:
  struct Edge {
    std::int64_t time_ns;
    std::uint32_t row;
    std::uint32_t value;  // of values_; kNone: the end of one
  };

  const Trace& trace_;
  Document& document_;
  ArrayPool& pool_;
  std::int64_t start_ns_;
  std::string name_;
  EventedProfile own_;
  LargeArray<Edge> edges_;
  NameTable values_;
  std::uint64_t left_out_ = 0, unfinished_ = 0;
};

}  // namespace

Result<void> write_trace(const Trace& trace, const std::filesystem::path& target, const Work& work) {
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  Document document(std::move(out));
  FATHOM_TRY(const auto span, span_of(trace));
  const std::int64_t start = span ? span->from_ns : 0;
  const std::int64_t end = span ? span->to_ns : 0;
  const auto rows = view_rows(trace);
  // The name of the only process tells nothing apart, and would grow when the file is written again.
  const bool one_process = std::all_of(
      rows.begin(), rows.end(), [&](const ViewRow& row) { return row.process_name == rows.front().process_name; });
  const Place place = Place::in(target.string());
  std::uint64_t left_out = 0;
  std::uint64_t unfinished = 0;
  SliceView view(trace);
  ArrayPool pool(std::min(kMostKept, work->budget.limit() - std::min(work->budget.used(), work->budget.limit())));
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    const std::string name = one_process ? rows[i].thread_name : rows[i].process_name + " / " + rows[i].thread_name;
    EventedSink sink(trace, document, pool, start, name);
    FATHOM_CHECK(view.write(LocationId(i), {}, sink));
    FATHOM_CHECK(sink.finish(end));
    left_out += sink.left_out();
    unfinished += sink.unfinished();
  }
  FATHOM_CHECK(view.notes().report(work->diagnostics, place));
  if (left_out > 0) {
    FATHOM_CHECK(work->diagnostics.add(
        "speedscope.left_out", Severity::data_loss, place,
        fmt::format("{} messages, collectives, counters and markers have no place there", grouped(left_out)),
        left_out));
  }
  if (unfinished > 0) {
    work->diagnostics.info(
        "speedscope.unfinished", place,
        fmt::format("{} regions without an end are closed at the end of the trace", grouped(unfinished)));
  }
  if (document.profiles() > kMostProfiles) {
    work->diagnostics.info(
        "speedscope.many_profiles", place,
        fmt::format("{} rows are more than its list of profiles shows with ease", document.profiles()));
  }
  return document.finish();
}

Result<void> write_profile(const Profile& profile, const std::filesystem::path& target, const WriteOptions& options) {
  ExportOptions how{.format = "speedscope",
                    .one_metric = true,
                    .sum_locations = profile.defs().system.location_count() > kMostProfiles,
                    .frame = [](const Definitions& defs, ContextId context) { return frame_text(defs, context); }};
  for (const auto& [key, value] : options.options) {
    if (key == kExportMetric.name) how.metrics.push_back(value);
  }
  FATHOM_TRY(const StackExport values, StackExport::plan(profile, how));
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  Document document(std::move(out), values.metrics().empty() ? "" : std::string_view(values.metrics().front().name));
  const Definitions& defs = profile.defs();
  const std::string unit = values.metrics().empty() ? "none" : values.metrics().front().unit;
  constexpr std::string_view kUnits[] = {"nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"};
  const bool known = std::find(std::begin(kUnits), std::end(kUnits), unit) != std::end(kUnits);
  const std::string_view shown = known ? std::string_view(unit) : "none";
  std::vector<StackFrame> frames;
  // Numbers of frames by context: stacks of deep recursion name the same ones again and again.
  std::vector<std::optional<std::uint32_t>> frame_of(defs.contexts.size());
  const auto frame = [&](ContextId context) {
    auto& number = frame_of[context.index()];
    if (!number) number = document.frame(frame_text(defs, context));
    return *number;
  };
  std::string weights;
  CappedSum total;
  std::optional<LocationId> at;
  const auto finish_profile = [&] {
    if (at) document.text() += fmt::format("],\"weights\":[{}],\"endValue\":{}}}", weights, total.value());
    weights.clear();
    total = 0;
  };
  FATHOM_CHECK(values.visit([&](ContextId context, LocationId location, std::span<const std::int64_t> value) {
    if (!at || *at != location) {
      finish_profile();
      at = location;
      document.begin("sampled",
                     location.valid() ? defs.system.path(defs.system.locations[location.index()]) : "all locations",
                     shown);
      document.text() += ",\"samples\":[";
    } else {
      document.text() += ',';
      weights += ',';
    }
    stack_of(defs.contexts, context, frames);
    std::string& text = document.text();
    text += '[';
    for (std::size_t i = frames.size(); i-- > 0;) {
      append_number(text, std::int64_t{frame(frames[i].function)});
      if (i > 0) text += ',';
    }
    text += ']';
    append_number(weights, value.front());
    total += value.front();
    return Result<void>();
  }));
  finish_profile();
  return document.finish();
}

}  // namespace fathom::speedscope
