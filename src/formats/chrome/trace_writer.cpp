#include "formats/chrome/trace_writer.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <map>

#include "base/capped_sum.hpp"
#include "base/name_table.hpp"
#include "base/number.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "io/output_file.hpp"
#include "trace/slice_view.hpp"

namespace fathom::chrome {

namespace {

constexpr std::size_t kBufferSize = 1 << 16;
constexpr std::size_t kMostPending = 4096;

class Writer : public SliceSink {
 public:
  Writer(const Trace& trace, OutputFile out)
      : trace_(trace), out_(std::move(out)), view_(trace), rows_(view_rows(trace)) {}

  Result<void> write(const Place& place, const Work& work) {
    FATHOM_TRY(const auto span, span_of(trace_));
    choose_base(span);
    FATHOM_CHECK(view_.find_arrows(work));
    text_ = "{\"displayTimeUnit\":\"ns\",";
    if (base_ns_ != 0) text_ += fmt::format("\"baseTimeNanoseconds\":{},", base_ns_);
    text_ += "\"traceEvents\":[";
    name_rows();
    Progress progress("writing events", std::max<std::size_t>(trace_.location_count(), 1));
    for (std::size_t i = 0; i < trace_.location_count(); ++i) {
      at_ = i;
      named_channels_.clear();
      open_.assign(1 + trace_.channels().size(), {});
      FATHOM_CHECK(view_.write(LocationId(i), {}, *this));
      flush();
      progress.advance();
    }
    text_ += "\n]}\n";
    out_.write(text_);
    FATHOM_CHECK(view_.notes().report(work->diagnostics, place));
    if (not_finite_ > 0) {
      FATHOM_CHECK(work->diagnostics.add(
          "write.not_finite", Severity::data_loss, place,
          fmt::format("{} values that are no finite numbers are not written", not_finite_), not_finite_));
    }
    return out_.commit();
  }

  void begin(std::uint32_t row, std::int64_t time_ns, std::string_view name, const Event& event) override {
    if (row > 0 && named_channels_.emplace(row, true).second) name_channel(row);
    std::string& rest = add('B', row, time_ns);
    rest += name_field(name);
    if (row == 0 && event.kind == EventKind::enter && event.name < trace_.definitions().regions.size()) {
      const std::string& paradigm = trace_.definitions().regions[event.name].paradigm;
      if (!paradigm.empty()) (rest += ",\"cat\":") += json_quote(paradigm);
    }
    open_[row].push_back({time_ns, flushes_, waiting_ - 1});
    if (row == 0 && event.kind == EventKind::enter) arrows(time_ns, view_.arrows_at(event), {});
  }
  // A slice without length is one event: an end comes before a begin of the same time to viewers.
  void end(std::uint32_t row, std::int64_t time_ns, std::string_view) override {
    const Open begun = open_[row].back();
    open_[row].pop_back();
    if (begun.time_ns == time_ns && begun.flush == flushes_) {
      pending_[begun.at].phase = 'X';
      pending_[begun.at].rest += ",\"dur\":0";
    } else {
      add('E', row, time_ns);
    }
  }
  void instant(std::int64_t time_ns, std::string_view name, const Event& event) override {
    const ArrowEnds ends = view_.arrows_at(event);
    // Viewers tie arrows to the slice around them: then the end of the arrow is all that a marker needs.
    if (ends.any() && !tells_more(trace_, event) && !open_[0].empty()) return arrows(time_ns, ends, name);
    std::string& rest = add('i', 0, time_ns);
    rest += name_field(name);
    rest += ",\"s\":\"t\"";
    if (event.kind == EventKind::collective) {
      rest += fmt::format(",\"args\":{{\"root\":{},\"sent\":{},\"received\":{},\"comm\":{},\"call\":{}}}", event.peer,
                          event.bytes, event.value, communicator(event), json_quote(trace_.name(event)));
    } else if (tells_more(trace_, event)) {
      rest += fmt::format(",\"args\":{{\"value\":{},\"bytes\":{},\"peer\":{},\"tag\":{}", event.value, event.bytes,
                          event.peer, event.tag);
      if (event.communicator.valid()) rest += ",\"comm\":" + communicator(event);
      rest += '}';
    }
    arrows(time_ns, ends, {});
  }
  void counter(std::int64_t time_ns, const Event& event) override {
    const Metric& metric = trace_.definitions().metrics[event.name];
    std::string value;
    if (metric.type.is_double()) {
      const double number = std::bit_cast<double>(event.value);
      if (!std::isfinite(number)) {
        ++not_finite_;
        return;
      }
      value = exact_text(number);
    } else if (metric.type.is_unsigned()) {
      value = fmt::format("{}", static_cast<std::uint64_t>(event.value));
    } else {
      value = fmt::format("{}", event.value);
    }
    std::string& rest = add('C', 0, time_ns);
    rest += name_field(metric.display_name.empty() ? metric.name : metric.display_name);
    // Counters belong to processes; the id keeps those of threads apart.
    rest += fmt::format(",\"id\":{},\"args\":{{\"value\":{}}}", rows_[at_].tid, value);
  }
  void message(std::int64_t time_ns, const Event& event, std::uint64_t flow) override {
    const bool sends = event.kind == EventKind::send;
    add('X', 0, time_ns) += fmt::format(
        ",\"dur\":0,\"name\":\"{}\",\"args\":{{\"peer\":{},\"tag\":{},\"bytes\":{},\"comm\":{},\"call\":{}}}",
        sends ? "send" : "recv", event.peer, event.tag, event.bytes, communicator(event),
        json_quote(trace_.name(event)));
    add(sends ? 's' : 'f', 0, time_ns) +=
        fmt::format(",\"cat\":\"message\",\"name\":\"message\",\"id\":\"{:x}\"{}", flow, sends ? "" : ",\"bp\":\"e\"");
  }

 private:
  // An event of the moment at hand: how it is written may depend on others of that moment.
  struct Pending {
    char phase;
    std::uint32_t row;
    std::string rest;
  };
  struct Open {
    std::int64_t time_ns;
    std::uint64_t flush;  // when it was among those that wait
    std::size_t at;
  };

  std::string& add(char phase, std::uint32_t row, std::int64_t time_ns) {
    if (time_ns != pending_ns_ || waiting_ == kMostPending) flush();
    pending_ns_ = time_ns;
    if (pending_.size() == waiting_) pending_.emplace_back();
    Pending& one = pending_[waiting_++];
    one.phase = phase;
    one.row = row;
    one.rest.clear();
    return one.rest;
  }
  // Every arrow has a number of its own. Its ends belong to the event before them, except where they are the marker.
  void arrows(std::int64_t time_ns, const ArrowEnds& ends, std::optional<std::string_view> marker) {
    const auto end = [&](char phase, std::uint64_t number) {
      std::string& rest = add(phase, 0, time_ns);
      rest += fmt::format(",\"cat\":\"arrow\",\"name\":\"arrow\",\"id\":\"{:x}\"", number);
      if (phase == 'f') rest += ",\"bp\":\"e\"";
      if (marker) rest += fmt::format(",\"args\":{{\"marker\":{}}}", json_quote(*marker));
      marker.reset();
    };
    if (ends.arriving != 0) end('f', ends.arriving);
    for (std::uint64_t i = 0; i < ends.leaving; ++i) end('s', ends.first_leaving + i);
  }
  void flush() {
    for (std::size_t i = 0; i < waiting_; ++i) {
      event_head(pending_[i].phase, pending_[i].row, pending_ns_);
      text_ += pending_[i].rest;
      finish();
    }
    waiting_ = 0;
    ++flushes_;
  }

  // Readers keep times in doubles: far from zero they would lose their fractions.
  void choose_base(const std::optional<TimeWindow>& span) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    if (!span) return;
    const std::int64_t length = std::max<std::int64_t>(passed(span->from_ns, span->to_ns), 0);
    if (span->from_ns < 0 || (span->from_ns - kSecond) / 2 > length) base_ns_ = span->from_ns;
  }

  void begin_event() {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
  }
  void event_head(char phase, std::uint32_t row, std::int64_t time_ns) {
    const ViewRow& at = rows_[at_];
    const std::int64_t tid = row == 0 ? at.tid : kChannelTid + at.tid * kMostChannels + row;
    begin_event();
    // Never an exponent, and no double in between.
    const bool before = time_ns < base_ns_;
    const std::uint64_t size = before ? since(time_ns, base_ns_) : since(base_ns_, time_ns);
    fmt::format_to(std::back_inserter(text_), "{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{}{}.{:03}", phase, at.pid,
                   tid, before ? "-" : "", size / 1000, size % 1000);
  }
  // Names repeat: what they are quoted is kept.
  const std::string& name_field(std::string_view name) {
    const std::uint32_t known = names_.add(name);
    if (known == quoted_.size()) quoted_.push_back(",\"name\":" + json_quote(name));
    return quoted_[known];
  }
  void finish() {
    text_ += '}';
    if (text_.size() < kBufferSize) return;
    out_.write(text_);
    text_.clear();
  }

  [[nodiscard]] std::string communicator(const Event& event) const {
    if (!event.communicator.valid() || event.communicator.index() >= trace_.communicators().size()) return "null";
    const std::string& name = trace_.communicators()[event.communicator.index()].name;
    return json_quote(name.empty() ? fmt::format("comm {}", event.communicator.value) : name);
  }

  void metadata(std::string_view what, std::int64_t pid, std::int64_t tid, std::string_view key,
                const std::string& value) {
    begin_event();
    text_ += fmt::format("{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"args\":{{\"{}\":{}}}", pid, tid, what,
                         key, value);
    finish();
  }
  void name_channel(std::uint32_t row) {
    flush();
    const Channel& channel = trace_.channels()[row - 1];
    const ViewRow& at = rows_[at_];
    const std::int64_t tid = kChannelTid + at.tid * kMostChannels + row;
    metadata("thread_name", at.pid, tid, "name",
             json_quote(at.thread_name + ": " + (channel.title.empty() ? channel.name : channel.title)));
    metadata("thread_sort_index", at.pid, tid, "sort_index", fmt::format("{}", at_));
  }
  void name_rows() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const ViewRow& row = rows_[i];
      if (row.first_of_process) {
        metadata("process_name", row.pid, row.tid, "name", json_quote(row.process_name));
        metadata("process_sort_index", row.pid, row.tid, "sort_index", fmt::format("{}", i));
      }
      metadata("thread_name", row.pid, row.tid, "name", json_quote(row.thread_name));
      metadata("thread_sort_index", row.pid, row.tid, "sort_index", fmt::format("{}", i));
    }
  }

  static constexpr std::int64_t kChannelTid = 1'000'000;
  static constexpr std::int64_t kMostChannels = 1000;
  const Trace& trace_;
  OutputFile out_;
  SliceView view_;
  std::string text_;
  NameTable names_;
  std::vector<std::string> quoted_;
  std::vector<ViewRow> rows_;  // by location
  std::map<std::uint32_t, bool> named_channels_;
  std::vector<std::vector<Open>> open_;  // by row
  std::vector<Pending> pending_;         // the first of them wait
  std::size_t waiting_ = 0;
  std::int64_t pending_ns_ = 0;
  std::uint64_t flushes_ = 0;
  std::size_t at_ = 0;
  std::int64_t base_ns_ = 0;
  std::uint64_t not_finite_ = 0;
  bool first_ = true;
};

}  // namespace

Result<void> write_trace(const Trace& trace, const std::filesystem::path& target, const Work& work) {
  FATHOM_TRY(OutputFile out, OutputFile::create(target));
  Writer writer(trace, std::move(out));
  return writer.write(Place::in(target.string()), work);
}

}  // namespace fathom::chrome
