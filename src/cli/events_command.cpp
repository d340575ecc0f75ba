// fathom events: the events of a trace, merged over its locations by time.
#include <fmt/format.h>

#include <algorithm>
#include <bitset>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/company.hpp"
#include "cli/session.hpp"
#include "cli/time_argument.hpp"
#include "formats/reading_options.hpp"
#include "trace/event_table.hpp"

namespace fathom::cli {

namespace {

class EventsCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("PATH", path_, "a trace")
        .values("-l,--location", "ID", locations_, "only this location (the id the file uses; * and ? match)")
        .values("-k,--kind", "KIND", kinds_,
                "only this kind: enter, leave, sample, send, recv, collective, complete, state, counter, marker")
        .values("--name", "NAME", names_, "only events of this name (* and ? match)")
        .value("--from-time", "T", &from_,
               "not before T since the first event: ns, or with a unit (1.5s); @T is on the trace's clock")
        .value("--to-time", "T", &to_, "before T")
        .choice("--clock", clock_, {"start", "run", "raw"},
                "times in text since the first event (start, the default), on the trace's clock (run), or as stored "
                "(raw; DUMPI: otherwise the clocks of several nodes are brought together)")
        .value("--depth", "N", &depth_, "samples: name the function at depth N of the call stack (0 = outermost)")
        .value("-n,--number", "N", &limit_text_, "stop after N events")
        .was("--limit")
        .flag("--messages", messages_,
              "matched messages instead: sender, receiver, tag, communicator, bytes, both times")
        .flag("--no-detail", no_detail_, "leave the detail column empty: faster")
        .example("fathom events run.meta --kind send --location 0", "what rank 0 sends")
        .example("fathom events run.meta --csv > events.csv", "everything, for other programs");
  }

  Result<int> run(Session& session) override {
    if (clock_ == "raw") session.work()->options.set(kClock, clock_);
    if (limit_text_) {
      const auto number = parse_integer<std::uint64_t>(*limit_text_);
      limit_ = number.value_or(0);
      // It was the name of events once.
      if (!number) {
        session.note(fmt::format("-n takes a number; write --name {}", *limit_text_));
        names_.push_back(*limit_text_);
      }
    }
    FATHOM_TRY(const DatasetPtr dataset, session.open(path_));
    FATHOM_TRY(const auto trace, dataset->trace());
    FATHOM_TRY(const TimeWindow window, window_argument(session, *trace, from_, to_));
    if (messages_) return messages(session, *trace, window);
    FATHOM_CHECK(first_alone(session, "merging events by time is"));
    EventChoice choice{.window = window, .names = names_, .depth = depth_, .limit = limit_, .details = !no_detail_};
    FATHOM_CHECK(choose_kinds(choice.kinds));
    FATHOM_CHECK(choose_locations(*trace, choice.locations));
    if (!session.csv() && !session.json()) {
      FATHOM_TRY(const auto first, first_time(*trace));
      choice.seconds_since = clock_ != "start" ? 0 : first.value_or(0);
    }
    std::optional<RowProgress> progress;
    if (const auto span = trace->known_span()) {
      progress = {0, std::max(span->from_ns, window.from_ns), std::min(span->to_ns, window.to_ns)};
    }
    FATHOM_CHECK(session.show_rows(*event_table(*trace, std::move(choice)), {},
                                   {{{"time_ns", Show::exact, "TIME"}, {"location"}, {"kind"}, {"name"}, {"detail"}}},
                                   progress));
    return kDone;
  }

 private:
  Result<void> choose_kinds(std::bitset<kEventKinds>& kinds) const {
    if (!kinds_.empty()) kinds.reset();
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

  // Messages come from whoever matches them, one by one.
  Result<int> messages(Session& session, const Trace& trace, TimeWindow window) const {
    const Schema schema{"message",
                        {{"src", ColumnType::int64},
                         {"dst", ColumnType::int64},
                         {"tag", ColumnType::int64},
                         {"comm", ColumnType::text},
                         {"bytes", ColumnType::int64, "bytes"},
                         {"t_send", ColumnType::int64, "ns"},
                         {"t_recv", ColumnType::int64, "ns"}}};
    const TableLook look{
        {{"src"}, {"dst"}, {"tag"}, {"comm"}, {"bytes"}, {"t_send", Show::exact}, {"t_recv", Show::exact}}};
    RowStream rows = session.stream(schema, look);
    std::uint64_t shown = 0;
    std::string comm;
    FATHOM_CHECK(trace.messages(window, [&](const Message& message) {
      comm.clear();
      if (message.communicator.valid()) {
        comm = trace.communicators()[message.communicator.index()].name;
        if (comm.empty()) comm = std::to_string(message.communicator.value);
      }
      rows.row(message.from_rank, message.to_rank, message.tag, comm, message.bytes, message.sent_ns,
               message.received_ns);
      return ++shown != limit_ && !session.out().closed();
    }));
    rows.end();
    return kDone;
  }

  std::string clock_ = "start";
  std::string path_;
  std::vector<std::string> locations_;
  std::vector<std::string> kinds_;
  std::vector<std::string> names_;
  std::optional<std::string> from_;
  std::optional<std::string> to_;
  std::optional<std::string> limit_text_;
  std::uint64_t limit_ = 0;
  std::optional<std::size_t> depth_;
  bool messages_ = false;
  bool no_detail_ = false;
};

}  // namespace

std::unique_ptr<Command> make_events_command() { return std::make_unique<EventsCommand>(); }

}  // namespace fathom::cli
