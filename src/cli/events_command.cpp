// fathom events: the events of a trace, merged over its locations by time.
#include <fmt/format.h>

#include <bitset>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "cli/time_argument.hpp"
#include "report/csv.hpp"
#include "trace/merge.hpp"
#include "trace/samples.hpp"

namespace fathom::cli {

namespace {

class EventsCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("PATH", path_, "a trace")
        .choice("--clock", clock_, {"run", "raw"},
                "DUMPI: times with the clocks of several nodes brought together (run), or as stored (raw)")
        .values("-l,--location", "ID", locations_, "only this location (the id the file uses; * and ? match)")
        .values("-k,--kind", "KIND", kinds_,
                "only this kind: enter, leave, sample, send, recv, collective, complete, state, counter, marker")
        .values("-n,--name", "NAME", names_, "only events of this name (* and ? match)")
        .value("--from-time", "T", &from_, "not before T: ns on the trace's clock, or with a unit (1.5s)")
        .value("--to-time", "T", &to_, "before T")
        .value("--depth", "N", &depth_, "samples: name the function at depth N of the call stack (0 = outermost)")
        .value("--limit", "N", &limit_, "stop after N events")
        .flag("--messages", messages_,
              "matched messages instead: sender, receiver, tag, communicator, bytes, both times")
        .flag("--no-detail", no_detail_, "leave the detail column empty: faster")
        .example("fathom events run.meta --kind send --location 0", "what rank 0 sends")
        .example("fathom events run.meta --csv > events.csv", "everything, for other programs");
  }

  Result<int> run(Session& session) override {
    if (clock_ == "raw") session.work()->options["clock"] = clock_;
    FATHOM_TRY(const DatasetPtr dataset, session.open(path_));
    FATHOM_TRY(const auto trace, dataset->trace());
    TimeWindow window;
    FATHOM_TRY(const auto from, time_argument(from_));
    FATHOM_TRY(const auto to, time_argument(to_));
    if (from) window.from_ns = *from;
    if (to) window.to_ns = *to;
    if (messages_) return messages(session, *trace, window);
    std::bitset<kEventKinds> kinds;
    FATHOM_CHECK(choose_kinds(kinds));
    std::vector<LocationId> chosen;
    FATHOM_CHECK(choose_locations(*trace, chosen));

    FATHOM_TRY(auto merged, MergedEvents::over(*trace, chosen, window));
    Lines lines(session, *trace);
    std::string detail;
    std::uint64_t shown = 0;
    while (const Event* event = merged.next()) {
      if (!kinds[static_cast<std::size_t>(event->kind)]) continue;
      const std::string_view name = depth_ ? name_at_depth(*trace, *event) : trace->name(*event);
      if (!names_.empty() && !wanted(name)) continue;
      detail.clear();
      if (!no_detail_) FATHOM_CHECK(trace->detail(*event, detail));
      lines.write(*event, name, detail);
      if (++shown == limit_ || session.out().closed()) break;
    }
    FATHOM_CHECK(merged.status());
    lines.end();
    return kDone;
  }

 private:
  // One line per event: CSV, JSON or aligned text.
  class Lines {
   public:
    Lines(Session& session, const Trace& trace) : out_(session.out()), csv_(session.csv()), json_(session.json()) {
      for (std::size_t i = 0; i < trace.location_count(); ++i) {
        std::string& label = labels_.emplace_back(trace.definitions().system.location_label(LocationId(i)));
        if (csv_ && label.find_first_of(",\"\r\n") != std::string::npos) label = csv_quote(label);
      }
      if (csv_) out_.write("time_ns,location,kind,name,detail\n");
      if (json_) writer_.emplace(out_).begin_array();
    }
    void write(const Event& event, std::string_view name, std::string_view detail) {
      const std::string& label = labels_[event.location.index()];
      if (json_) {
        writer_->begin_object().key("time_ns");
        if (event.has_time) {
          writer_->value(event.time_ns);
        } else {
          writer_->raw("null");
        }
        writer_->member("location", std::string_view(label)).member("kind", to_string(event.kind));
        writer_->member("name", name).member("detail", detail).end_object();
        return;
      }
      line_.clear();
      if (csv_) {
        if (event.has_time) fmt::format_to(std::back_inserter(line_), "{}", event.time_ns);
        line_ += ',';
        line_ += label;
        line_ += ',';
        line_ += to_string(event.kind);
        line_ += ',';
        append_csv(name);
        line_ += ',';
        append_csv(detail);
      } else {
        const std::string time = event.has_time ? seconds(event.time_ns) : "-";
        fmt::format_to(std::back_inserter(line_), "{:>20}  {:<8} {:<10} {}", time, label, to_string(event.kind), name);
        if (!detail.empty()) fmt::format_to(std::back_inserter(line_), "  {}", detail);
      }
      line_ += '\n';
      out_.write(line_);
    }
    void end() {
      if (json_) writer_->end_array();
    }

   private:
    static std::string seconds(std::int64_t ns) {
      const std::uint64_t magnitude = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
      return fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", magnitude / 1'000'000'000, magnitude % 1'000'000'000);
    }
    void append_csv(std::string_view text) {
      if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        line_ += text;
      } else {
        line_ += csv_quote(text);
      }
    }
    Output& out_;
    bool csv_;
    bool json_;
    std::vector<std::string> labels_;
    std::string line_;
    std::optional<JsonWriter> writer_;
  };

  [[nodiscard]] std::string_view name_at_depth(const Trace& trace, const Event& event) const {
    if (event.kind != EventKind::sample) return trace.name(event);
    Event shown = event;
    const ContextId context(event.name);
    shown.name = frame_at(trace.definitions().contexts, context, depth_).value;
    return trace.name(shown);
  }
  [[nodiscard]] bool wanted(std::string_view name) const {
    for (const std::string& pattern : names_) {
      if (matches_pattern(pattern, name)) return true;
    }
    return false;
  }

  Result<void> choose_kinds(std::bitset<kEventKinds>& kinds) const {
    if (kinds_.empty()) kinds.set();
    for (const std::string& list : kinds_) {
      for (const std::string_view text : split(list, ',')) {
        bool known = false;
        for (std::size_t kind = 0; kind < kEventKinds; ++kind) {
          if (to_string(static_cast<EventKind>(kind)) != text) continue;
          kinds.set(kind);
          known = true;
        }
        if (!known) {
          return Error::usage(fmt::format("unknown kind of event '{}'", text))
              .hint("kinds: enter, leave, sample, send, recv, collective, complete, state, counter, marker");
        }
      }
    }
    return {};
  }

  Result<void> choose_locations(const Trace& trace, std::vector<LocationId>& chosen) const {
    for (const std::string& pattern : locations_) {
      bool any = false;
      for (std::size_t i = 0; i < trace.location_count(); ++i) {
        if (!matches_pattern(pattern, trace.definitions().system.location_label(LocationId(i)))) continue;
        chosen.emplace_back(i);
        any = true;
      }
      if (!any) return Error::usage(fmt::format("there is no location '{}'", pattern));
    }
    return {};
  }

  Result<int> messages(Session& session, const Trace& trace, TimeWindow window) const {
    Output& out = session.out();
    std::optional<JsonWriter> json;
    if (session.json()) {
      json.emplace(out).begin_array();
    } else {
      out.write(session.csv() ? "src,dst,tag,comm,bytes,t_send,t_recv\n"
                              : "src\tdst\ttag\tcomm\tbytes\tt_send\tt_recv\n");
    }
    std::uint64_t shown = 0;
    std::string comm;
    FATHOM_CHECK(trace.messages(window, [&](const Message& message) {
      comm.clear();
      if (message.communicator.valid()) {
        comm = trace.communicators()[message.communicator.index()].name;
        if (comm.empty()) comm = std::to_string(message.communicator.value);
      }
      const auto time = [&](const std::optional<std::int64_t>& ns) { return ns ? std::to_string(*ns) : std::string(); };
      if (json) {
        json->begin_object().member("src", message.from_rank).member("dst", message.to_rank);
        json->member("tag", message.tag).member("comm", std::string_view(comm)).member("bytes", message.bytes);
        json->key("t_send").raw(message.sent_ns ? time(message.sent_ns) : "null");
        json->key("t_recv").raw(message.received_ns ? time(message.received_ns) : "null").end_object();
      } else {
        out.write(fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5}{0}{6}{0}{7}\n", session.csv() ? ',' : '\t',
                              message.from_rank, message.to_rank, message.tag, comm, message.bytes,
                              time(message.sent_ns), time(message.received_ns)));
      }
      return ++shown != limit_ && !out.closed();
    }));
    if (json) json->end_array();
    return kDone;
  }

  std::string clock_ = "run";
  std::string path_;
  std::vector<std::string> locations_;
  std::vector<std::string> kinds_;
  std::vector<std::string> names_;
  std::optional<std::string> from_;
  std::optional<std::string> to_;
  std::uint64_t limit_ = 0;
  std::optional<std::size_t> depth_;
  bool messages_ = false;
  bool no_detail_ = false;
};

}  // namespace

std::unique_ptr<Command> make_events_command() { return std::make_unique<EventsCommand>(); }

}  // namespace fathom::cli
