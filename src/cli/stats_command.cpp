// fathom stats: what a trace spends its time and bytes on.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "cli/time_argument.hpp"
#include "formats/reading_options.hpp"
#include "formats/registry.hpp"
#include "report/table_output.hpp"
#include "report/wrapped.hpp"
#include "trace/window_calls.hpp"

namespace fathom::cli {

namespace {

class StatsCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("PATH", path_, "a trace")
        .choice("--clock", clock_, {"start", "run", "raw"},
                "moments in text since the first event (start, the default), on the trace's clock (run), or as stored "
                "(raw; DUMPI: otherwise the clocks of several nodes are brought together)")
        .values("--by", "WHAT", by_,
                "further tables; DUMPI: kind, rank, rank-call, rank-size, size, counter, bin, bin-call, bin-peer, "
                "bin-size, bin-counter, bin-total; ovni: model, thread; samples: location, context, gpu-idle; others: "
                "location, state, counter, kind")
        .value("--table", "NAME", &table_, "this table alone: calls, matrix, or what --by takes")
        .values("-l,--location", "ID", locations_, "only these locations")
        .value("--from-time", "T", &from_,
               "only calls that begin at T or later since the first event: ns, or with a unit (1.5s); @T is on the "
               "trace's clock")
        .value("--to-time", "T", &to_, "only calls that begin before T")
        .flag("--clip", clip_,
              "time cut at the borders of the window, by function: with callees (wall_s) and without (own_s); calls "
              "that begin in it, with their mean, least and most")
        .value("--depth", "N", &depth_, "samples: the function at depth N of the call stack (0 = outermost)")
        .values(
            "--option", "KEY=VALUE", options_,
            "DUMPI: calls=GROUP|REGEX, bins=N|RANGE, mark=/BEGIN/END/, gather=/BEGIN/END/; columns of a table of your "
            "own: count, time, sent, recvd, exchange, lump, perfctr, each =GROUP|REGEX")
        .flag("--matrix", matrix_, "print the communication matrix, too (it is always part of --json)")
        .example("fathom stats run.meta", "calls, time and bytes per function")
        .example("fathom stats run.meta --by rank --by bin --option bins=20", "and per rank and over time")
        .example("fathom stats run.d --depth 2 --by location", "HPCToolkit: time per function at depth 2, per profile")
        .example("fathom stats run.d --table gpu-idle", "HPCToolkit: which CPU code ran while the GPU was idle")
        .example("fathom stats run.meta --option 'calls=coll'", "collectives alone")
        .example("fathom stats run.meta --option count=mpi --option time=coll --option bins=all", "columns as you like")
        .example("fathom stats run.meta --csv --table rank-call", "one table as CSV")
        .about(
            "Byte counts follow the rules of the community's statistics tool: sends and receives count what was "
            "posted, "
            "persistent requests count when they are made.");
  }

  Result<int> run(Session& session) override {
    if (clock_ == "raw") session.work()->options.set(kClock, clock_);
    FATHOM_TRY(const DatasetPtr dataset, session.open(path_));
    StatisticsOptions options;
    options.by = by_;
    options.locations = locations_;
    if (from_ || to_) {
      FATHOM_TRY(const auto trace, dataset->trace());
      FATHOM_TRY(const TimeWindow window, window_argument(session, *trace, from_, to_));
      if (from_) options.from_ns = window.from_ns;
      if (to_) options.to_ns = window.to_ns;
    }
    if (clip_) return run_clipped(session, *dataset, options);
    const bool of_by = table_ && *table_ != "calls" && *table_ != "matrix";
    if (of_by) {
      options.by = {*table_};
    } else if (session.csv() && !table_ && by_.size() > 1) {
      return Error::usage("CSV is one table; several were asked for").hint("choose with --table, or use --json");
    }
    for (const std::string& text : options_) {
      const auto equals = text.find('=');
      if (equals == std::string::npos) return Error::usage(fmt::format("--option needs KEY=VALUE, found '{}'", text));
      options.options.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    if (depth_) options.options.emplace_back("depth", std::to_string(*depth_));
    FATHOM_CHECK(
        check_options(dataset->format(), dataset->format().options.statistics, options.options, "for statistics"));
    if (!session.json() && !session.csv() && !table_) {
      FATHOM_TRY(const bool printed, dataset->statistics_text(options, [&](std::string_view text) {
        session.out().write(text);
        return !session.out().closed();
      }));
      if (printed) return kDone;
    }
    // People see all ranks of a bin together; rank by rank it is --table bin.
    const bool people = !session.json() && !session.csv();
    if (people && !table_)
      std::replace(options.by.begin(), options.by.end(), std::string("bin"), std::string("bin-total"));
    FATHOM_TRY(TraceStatistics statistics, dataset->statistics(options));
    const auto has_moments = [](const Table& table) {
      return std::any_of(table.schema.columns.begin(), table.schema.columns.end(), is_moment);
    };
    if (people && clock_ == "start" && std::any_of(statistics.tables.begin(), statistics.tables.end(), has_moments)) {
      FATHOM_TRY(const auto trace, dataset->trace());
      FATHOM_TRY(const auto first, first_time(*trace));
      for (Table& table : statistics.tables) since(first.value_or(0), table);
    }
    if (session.json()) {
      write_json(session, statistics);
    } else if (session.csv()) {
      write_csv(session, statistics);
    } else {
      write_text(session, statistics);
    }
    return kDone;
  }

 private:
  static Result<int> run_clipped(Session& session, Dataset& dataset, const StatisticsOptions& asked) {
    FATHOM_TRY(const auto trace, dataset.trace());
    WindowOptions options;
    if (asked.from_ns) options.window.from_ns = *asked.from_ns;
    if (asked.to_ns) options.window.to_ns = *asked.to_ns;
    for (std::size_t i = 0; i < trace->location_count(); ++i) {
      const std::string label = trace->definitions().system.location_label(LocationId(i));
      const bool wanted = std::any_of(asked.locations.begin(), asked.locations.end(),
                                      [&](const std::string& pattern) { return matches_pattern(pattern, label); });
      if (wanted) options.locations.emplace_back(i);
    }
    if (!asked.locations.empty() && options.locations.empty()) {
      return Error::usage(fmt::format("there is no location '{}'", asked.locations.front()));
    }
    const auto channels = trace->activity_channels();
    if (!channels.empty()) options.channel = channels.back();
    FATHOM_TRY(const auto calls, window_calls(*trace, options));
    const Table table = window_table(calls);
    if (session.json()) {
      JsonWriter json(session.out());
      json.begin_object().key("calls");
      write_json_by_key(json, table, {.skip_missing = true});
      session.write_diagnostics(json);
      json.end_object();
    } else if (session.csv()) {
      fathom::write_csv(session.out(), table);
    } else {
      session.out().write(table_text(table, session.terminal()));
    }
    return kDone;
  }

  static void write_json(Session& session, const TraceStatistics& statistics) {
    JsonWriter json(session.out());
    json.begin_object().key("calls");
    write_json_by_key(json, calls_table(statistics.calls), {.skip_missing = true});
    if (statistics.has_matrix) {
      json.key("matrix");
      fathom::write_json(json, matrix_table(statistics.matrix));
    }
    for (const Table& table : statistics.tables) {
      json.key(table.schema.name);
      fathom::write_json(json, table);
    }
    session.write_diagnostics(json);
    json.end_object();
  }

  // One table: the one that was asked for, or the calls.
  void write_csv(Session& session, const TraceStatistics& statistics) const {
    if (table_ ? *table_ == "matrix" : matrix_ && statistics.has_matrix) {
      fathom::write_csv(session.out(), matrix_table(statistics.matrix));
    } else if (!statistics.tables.empty() && table_ != "calls") {
      fathom::write_csv(session.out(), statistics.tables.back());
    } else {
      fathom::write_csv(session.out(), calls_table(statistics.calls));
    }
  }

  void write_text(Session& session, const TraceStatistics& statistics) const {
    if (!table_ || *table_ == "calls") write_calls(session, statistics);
    if (!table_) write_messages(session, statistics);
    if (table_ ? *table_ == "matrix" : matrix_) {
      if (!table_) session.out().write("\n");
      session.out().write(table_text(matrix_table(statistics.matrix), session.terminal()));
    }
    if (table_ == "calls" || table_ == "matrix") return;
    for (const Table& extra : statistics.tables) {
      if (!table_) session.out().write(fmt::format("\n{}\n", extra.schema.name));
      write_extra(session, extra);
      if (extra.rows() == 0)
        session.note(fmt::format("the trace holds nothing that goes into the table {}", extra.schema.name));
    }
  }

  static void write_extra(Session& session, const Table& table) {
    if (table.schema.name == "ranks") {
      const std::optional<std::size_t> late = late_rank(table);
      TableLook look{{{"rank"},
                      {"calls"},
                      {"wall_s", Show::automatic, "IN CALLS"},
                      {"wall_s", Show::bar},
                      {"wall_outside_s", Show::automatic, "BETWEEN"},
                      {"cpu_s"},
                      {"sent"},
                      {"received"},
                      {"active_s"}}};
      look.style = [late](const Table&, std::size_t row) { return row == late ? Style::yellow : Style::plain; };
      session.out().write(table_text(table, session.terminal(), look));
      if (late) {
        const Column& wall = table.column("wall_s");
        session.out().write(wrapped(
            fmt::format("rank {} spends the least time in calls, {} where the median is {}: the others wait for it",
                        exact_cell(table.column("rank"), *late), readable(wall.real(*late), "s"),
                        readable(median(wall), "s")),
            session.terminal().width, ""));
      }
      return;
    }
    TableLook look = look_of(table.schema);
    if (table.schema.name != "bin_totals") {
      session.out().write(table_text(table, session.terminal(), look));
      return;
    }
    // Calls count where they begin: the time of long ones may be more than a bin has, which is no share of it.
    std::erase_if(look.columns, [](const auto& column) { return column.show == Show::share; });
    look.columns.push_back({"wall_s", Show::bar});
    // A bin with few calls is a phase in which everybody computes, or waits for somebody.
    const double usual = median(table.column("calls"));
    std::string slow;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      if (table.column("calls").real(row) < kFewCalls * usual) {
        slow += (slow.empty() ? "" : ", ") + exact_cell(table.column("bin"), row);
      }
    }
    look.style = [usual](const Table& rows, std::size_t row) {
      return rows.column("calls").real(row) < kFewCalls * usual ? Style::yellow : Style::plain;
    };
    session.out().write(table_text(table, session.terminal(), look));
    if (!slow.empty()) {
      session.out().write(
          wrapped(fmt::format("far fewer calls than usual in bin {}: a phase of computing, or a late rank", slow),
                  session.terminal().width, ""));
    }
  }

  static constexpr double kFewCalls = 0.25;  // of the median
  static double median(const Column& column) {
    std::vector<double> values;
    for (std::size_t row = 0; row < column.size(); ++row) values.push_back(column.real(row));
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }
  // The rank with the least time in calls, where it is far below the others: they wait inside of their calls for it.
  static std::optional<std::size_t> late_rank(const Table& ranks) {
    constexpr double kFarBelow = 0.8;
    constexpr std::size_t kEnoughRanks = 3;
    if (ranks.rows() < kEnoughRanks) return std::nullopt;
    const Column& wall = ranks.column("wall_s");
    std::size_t least = 0;
    for (std::size_t row = 1; row < ranks.rows(); ++row) {
      if (wall.real(row) < wall.real(least)) least = row;
    }
    if (wall.real(least) < kFarBelow * median(wall)) return least;
    return std::nullopt;
  }

  static bool is_moment(const ColumnSpec& spec) {
    return spec.type == ColumnType::seconds && (spec.name.starts_with("first_") || spec.name.starts_with("last_") ||
                                                spec.name == "from_s" || spec.name == "to_s");
  }
  // Moments as times since the first event, as --from-time takes them.
  static void since(std::int64_t first_ns, Table& table) {
    for (std::size_t i = 0; i < table.schema.columns.size(); ++i) {
      if (!is_moment(table.schema.columns[i])) continue;
      Column& column = table.data.columns[i];
      const auto values = column.values<std::int64_t>();
      std::vector<std::int64_t> moments(values.begin(), values.end());
      for (std::int64_t& moment : moments) moment -= first_ns;
      const std::vector<std::uint64_t> validity(column.validity().begin(), column.validity().end());
      column = Column::seconds(std::move(moments));
      if (!validity.empty()) column = std::move(column).with_validity(validity);
    }
  }

  // Points in time keep all their digits, so that they can be found again.
  static TableLook look_of(const Schema& schema) {
    TableLook look;
    for (const ColumnSpec& spec : schema.columns) {
      look.columns.push_back({spec.name,
                              is_moment(spec)        ? Show::exact
                              : spec.name == "share" ? Show::share
                                                     : Show::automatic,
                              "", is_text(spec.type)});
    }
    return look;
  }

  static void write_calls(Session& session, const TraceStatistics& statistics) {
    auto calls = statistics.calls;
    std::stable_sort(calls.begin(), calls.end(), [](const CallStatistics& a, const CallStatistics& b) {
      return a.wall_s.value_or(0) > b.wall_s.value_or(0);
    });
    const bool timed =
        std::any_of(calls.begin(), calls.end(), [](const auto& call) { return call.wall_s.has_value(); });
    TableLook look{{{"call", Show::automatic, "", true}, {"count"}}};
    if (timed) {
      look.columns.insert(look.columns.end(), {{"wall_s"}, {"wall_s", Show::of_sum}, {"wall_s", Show::bar}});
    }
    for (const char* column : {"cpu_s", "sent", "received"}) look.columns.push_back({column});
    session.out().write(table_text(calls_table(calls), session.terminal(), look));
  }

  // What point-to-point calls ask to send, whether it arrives or not.
  static double bytes_posted(const TraceStatistics& statistics) {
    double sum = 0;
    for (const CallStatistics& call : statistics.calls) {
      if (call.name.find("end") != std::string::npos) sum += static_cast<double>(call.sent.value_or(0));
    }
    return sum;
  }

  static void write_messages(Session& session, const TraceStatistics& statistics) {
    if (!statistics.has_matrix || statistics.matrix.empty()) return;
    std::uint64_t messages = 0;
    double bytes = 0;
    for (const MatrixEntry& entry : statistics.matrix) {
      messages += entry.messages;
      bytes += static_cast<double>(entry.bytes);
    }
    std::string text = fmt::format("{} point-to-point messages, {}, between {} pairs of ranks", grouped(messages),
                                   readable(bytes, "bytes"), grouped(statistics.matrix.size()));
    if (const double posted = bytes_posted(statistics); posted > bytes) {
      text += fmt::format(
          ": those that reach a rank. SENT and RECEIVED count what the calls ask for, {} in point-to-point calls, also "
          "what goes to MPI_PROC_NULL or to nobody",
          readable(posted, "bytes"));
    }
    session.out().write("\n" + wrapped(text, session.terminal().width, ""));
  }

  std::string clock_ = "start";
  std::string path_;
  std::vector<std::string> by_;
  std::vector<std::string> locations_;
  std::vector<std::string> options_;
  std::optional<std::string> table_;
  std::optional<std::string> from_;
  std::optional<std::string> to_;
  std::optional<std::size_t> depth_;
  bool matrix_ = false;
  bool clip_ = false;
};

}  // namespace

std::unique_ptr<Command> make_stats_command() { return std::make_unique<StatsCommand>(); }

}  // namespace fathom::cli
