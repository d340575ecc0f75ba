// fathom events: the events of a trace, merged over its locations by time.
#include <fmt/format.h>

#include <bitset>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "report/csv.hpp"
#include "trace/merge.hpp"

namespace fathom::cli {

namespace {

Result<std::optional<std::int64_t>> time_of(const std::optional<std::string>& text) {
  if (!text) return std::optional<std::int64_t>();
  if (const auto ns = parse_integer<std::int64_t>(*text)) return std::optional<std::int64_t>(*ns);
  std::string_view number = *text;
  double unit = 0;
  for (const auto& [suffix, factor] :
       {std::pair<std::string_view, double>{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}) {
    if (!number.ends_with(suffix)) continue;
    number.remove_suffix(suffix.size());
    unit = factor;
    break;
  }
  const auto value = parse_double(number);
  if (!value || unit == 0 || !(std::abs(*value) * unit < 9e18)) {
    return Error::usage(fmt::format("'{}' is no time", *text))
        .hint("a time is a number of ns, or has a unit: 12us, 3.5ms, 1.25s");
  }
  return std::optional<std::int64_t>(static_cast<std::int64_t>(*value * unit));
}

class EventsCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("PATH", path_, "a trace")
        .values("-l,--location", "ID", locations_, "only this location (the id the file uses; * and ? match)")
        .values("-k,--kind", "KIND", kinds_,
                "only this kind: enter, leave, sample, send, recv, collective, complete, state, counter, marker")
        .values("-n,--name", "NAME", names_, "only events of this name (* and ? match)")
        .value("--from-time", "T", &from_, "not before T: ns on the trace's clock, or with a unit (1.5s)")
        .value("--to-time", "T", &to_, "before T")
        .value("--limit", "N", &limit_, "stop after N events")
        .flag("--messages", messages_,
              "matched messages instead: sender, receiver, tag, communicator, bytes, both times")
        .flag("--no-detail", no_detail_, "leave the detail column empty: faster")
        .example("fathom events run.meta --kind send --location 0", "what rank 0 sends")
        .example("fathom events run.meta --csv > events.csv", "everything, for other programs");
  }

  Result<int> run(Session& session) override {
    FATHOM_TRY(const DatasetPtr dataset, session.open(path_));
    FATHOM_TRY(const auto trace, dataset->trace());
    TimeWindow window;
    FATHOM_TRY(const auto from, time_of(from_));
    FATHOM_TRY(const auto to, time_of(to_));
    if (from) window.from_ns = *from;
    if (to) window.to_ns = *to;
    if (messages_) return messages(session, *trace, window);
    std::bitset<kEventKinds> kinds;
    FATHOM_CHECK(choose_kinds(kinds));
    std::vector<LocationId> chosen;
    FATHOM_CHECK(choose_locations(*trace, chosen));

    std::vector<std::string> labels(trace->location_count());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels[i] = trace->definitions().system.location_label(LocationId(i));
      if (session.csv() && labels[i].find_first_of(",\"\r\n") != std::string::npos) labels[i] = csv_quote(labels[i]);
    }
    FATHOM_TRY(auto merged, MergedEvents::over(*trace, chosen, window));
    const bool csv = session.csv();
    Output& out = session.out();
    if (csv) out.write("time_ns,location,kind,name,detail\n");
    std::string detail;
    std::string line;
    std::uint64_t shown = 0;
    while (const Event* event = merged.next()) {
      if (!kinds[static_cast<std::size_t>(event->kind)]) continue;
      const std::string_view name = trace->name(*event);
      if (!names_.empty() && !wanted(name)) continue;
      detail.clear();
      if (!no_detail_) FATHOM_CHECK(trace->detail(*event, detail));
      line.clear();
      if (csv) {
        if (event->has_time) fmt::format_to(std::back_inserter(line), "{}", event->time_ns);
        line += ',';
        line += labels[event->location.index()];
        line += ',';
        line += to_string(event->kind);
        line += ',';
        append_csv(name, line);
        line += ',';
        append_csv(detail, line);
      } else {
        const std::string time = event->has_time ? seconds(event->time_ns) : "-";
        fmt::format_to(std::back_inserter(line), "{:>20}  {:<8} {:<10} {}", time, labels[event->location.index()],
                       to_string(event->kind), name);
        if (!detail.empty()) line += "  " + detail;
      }
      line += '\n';
      out.write(line);
      if (++shown == limit_ || out.closed()) break;
    }
    FATHOM_CHECK(merged.status());
    return kDone;
  }

 private:
  static std::string seconds(std::int64_t ns) {
    const std::uint64_t magnitude = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    return fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", magnitude / 1'000'000'000, magnitude % 1'000'000'000);
  }
  static void append_csv(std::string_view text, std::string& line) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
      line += text;
    } else {
      line += csv_quote(text);
    }
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
    const char separator = session.csv() ? ',' : '\t';
    std::string header = "src,dst,tag,comm,bytes,t_send,t_recv\n";
    for (char& c : header) {
      if (c == ',') c = separator;
    }
    out.write(header);
    std::uint64_t shown = 0;
    const auto time = [](const std::optional<std::int64_t>& ns) { return ns ? std::to_string(*ns) : std::string(); };
    FATHOM_CHECK(trace.messages(window, [&](const Message& message) {
      std::string comm;
      if (message.communicator.valid()) {
        comm = trace.communicators()[message.communicator.index()].name;
        if (comm.empty()) comm = std::to_string(message.communicator.value);
      }
      out.write(fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5}{0}{6}{0}{7}\n", separator, message.from_rank, message.to_rank,
                            message.tag, comm, message.bytes, time(message.sent_ns), time(message.received_ns)));
      return ++shown != limit_ && !out.closed();
    }));
    return kDone;
  }

  std::string path_;
  std::vector<std::string> locations_;
  std::vector<std::string> kinds_;
  std::vector<std::string> names_;
  std::optional<std::string> from_;
  std::optional<std::string> to_;
  std::uint64_t limit_ = 0;
  bool messages_ = false;
  bool no_detail_ = false;
};

}  // namespace

std::unique_ptr<Command> make_events_command() { return std::make_unique<EventsCommand>(); }

}  // namespace fathom::cli
