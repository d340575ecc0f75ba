// fathom stats: what a trace spends its time and bytes on.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/session.hpp"
#include "cli/time_argument.hpp"
#include "report/csv.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

namespace {

bool is_number(std::string_view text) {
  // JSON's idea of a number: no plus, no bare dot, no leading zeros beyond one.
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) return false;
  if (text.size() > 1 && text[0] == '0' && text[1] != '.') return false;
  return text.front() != '.' && text.back() != '.' && std::count(text.begin(), text.end(), '.') <= 1;
}

class StatsCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("PATH", path_, "a trace")
        .choice("--clock", clock_, {"run", "raw"},
                "DUMPI: times with the clocks of several nodes brought together (run), or as stored (raw)")
        .values("--by", "WHAT", by_,
                "further tables; DUMPI: kind, rank, rank-call, rank-size, size, counter, bin, bin-call, bin-peer, "
                "bin-size, bin-counter; ovni: model, thread; samples: location, context, gpu-idle")
        .value("--table", "NAME", &table_, "this table alone: calls, matrix, or what --by takes")
        .values("-l,--location", "ID", locations_, "only these locations")
        .value("--from-time", "T", &from_,
               "only calls that begin at T or later: ns on the trace's clock, or with a unit (1.5s)")
        .value("--to-time", "T", &to_, "only calls that begin before T")
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
    if (clock_ == "raw") session.work()->options["clock"] = clock_;
    FATHOM_TRY(const DatasetPtr dataset, session.open(path_));
    StatisticsOptions options;
    options.by = by_;
    options.locations = locations_;
    FATHOM_TRY(options.from_ns, time_argument(from_));
    FATHOM_TRY(options.to_ns, time_argument(to_));
    const bool of_by = table_ && *table_ != "calls" && *table_ != "matrix";
    if (of_by) {
      options.by = {*table_};
    } else if (session.csv() && !table_ && by_.size() > 1) {
      return Error::usage("CSV is one table; several were asked for").hint("choose with --table, or use --json");
    }
    if (depth_) options.options.emplace_back("depth", std::to_string(*depth_));
    for (const std::string& text : options_) {
      const auto equals = text.find('=');
      if (equals == std::string::npos) return Error::usage(fmt::format("--option needs KEY=VALUE, found '{}'", text));
      options.options.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    if (!session.json() && !session.csv() && !table_) {
      FATHOM_TRY(const bool printed, dataset->statistics_text(options, [&](std::string_view text) {
        session.out().write(text);
        return !session.out().closed();
      }));
      if (printed) return kDone;
    }
    FATHOM_TRY(const TraceStatistics statistics, dataset->statistics(options));
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
  static void write_json(Session& session, const TraceStatistics& statistics) {
    JsonWriter json(session.out());
    json.begin_object();
    json.key("calls").begin_object();
    for (const CallStatistics& call : statistics.calls) {
      json.key(call.name).begin_object();
      json.member("count", call.count);
      if (call.wall_s) json.member("wall_s", *call.wall_s);
      if (call.cpu_s) json.member("cpu_s", *call.cpu_s);
      if (call.bytes) json.member("bytes", *call.bytes);
      if (call.sent) json.member("sent", *call.sent);
      if (call.received) json.member("received", *call.received);
      json.end_object();
    }
    json.end_object();
    if (statistics.has_matrix) {
      json.key("matrix").begin_array();
      for (const MatrixEntry& entry : statistics.matrix) {
        json.begin_object().member("src", entry.src).member("dst", entry.dst);
        json.member("messages", entry.messages).member("bytes", entry.bytes).end_object();
      }
      json.end_array();
    }
    for (const StatisticsTable& table : statistics.tables) {
      json.key(table.name).begin_array();
      for (const auto& row : table.rows) {
        json.begin_object();
        for (std::size_t i = 0; i < table.columns.size() && i < row.size(); ++i) {
          json.key(table.columns[i]);
          if (is_number(row[i])) {
            json.raw(row[i]);
          } else {
            json.value(std::string_view(row[i]));
          }
        }
        json.end_object();
      }
      json.end_array();
    }
    session.write_diagnostics(json);
    json.end_object();
  }

  // One table: the one that was asked for, or the calls.
  void write_csv(Session& session, const TraceStatistics& statistics) const {
    CsvWriter csv(session.out());
    if (table_ ? *table_ == "matrix" : matrix_ && statistics.has_matrix) {
      csv.header({"src", "dst", "messages", "bytes"});
      for (const MatrixEntry& entry : statistics.matrix) {
        csv.field(entry.src);
        csv.field(entry.dst);
        csv.field(entry.messages);
        csv.field(entry.bytes);
        csv.end_row();
      }
      return;
    }
    if (!statistics.tables.empty() && table_ != "calls") {
      const StatisticsTable& table = statistics.tables.back();
      for (const std::string& column : table.columns) csv.field(std::string_view(column));
      csv.end_row();
      for (const auto& row : table.rows) {
        for (const std::string& cell : row) csv.field(std::string_view(cell));
        csv.end_row();
      }
      return;
    }
    csv.header({"call", "count", "wall_s", "cpu_s", "bytes", "sent", "received"});
    for (const CallStatistics& call : statistics.calls) {
      csv.field(std::string_view(call.name));
      csv.field(call.count);
      const auto optional = [&](const auto& value) {
        if (value) {
          csv.field(*value);
        } else {
          csv.field("");
        }
      };
      optional(call.wall_s);
      optional(call.cpu_s);
      optional(call.bytes);
      optional(call.sent);
      optional(call.received);
      csv.end_row();
    }
  }

  void write_text(Session& session, const TraceStatistics& statistics) const {
    if (!table_ || *table_ == "calls") write_calls(session, statistics);
    if (!table_) write_messages(session, statistics);
    if (table_ ? *table_ == "matrix" : matrix_) write_matrix(session, statistics);
    if (table_ == "calls" || table_ == "matrix") return;
    for (const StatisticsTable& extra : statistics.tables) {
      TextTable text;
      for (const std::string& column : extra.columns) {
        const bool name = column == "call" || column == "counter" || column == "kind";
        text.column(is_duration(column) ? column.substr(0, column.size() - kSeconds.size()) : column,
                    name ? Align::left : Align::right);
      }
      for (const auto& row : extra.rows) {
        std::vector<Cell> cells;
        for (std::size_t i = 0; i < row.size(); ++i) cells.emplace_back(for_people(extra.columns[i], row[i]));
        text.row(std::move(cells));
      }
      if (!table_) session.out().write(fmt::format("\n{}\n", extra.name));
      session.out().write(text.text(session.terminal()));
      if (extra.rows.empty())
        session.note(fmt::format("the trace holds nothing that goes into the table {}", extra.name));
    }
  }

  static constexpr std::string_view kSeconds = "_s";
  // Points in time keep all their digits, so that they can be found again.
  static bool is_duration(std::string_view column) {
    return column.ends_with(kSeconds) && column != "first_s" && column != "last_s" && column != "from_s" &&
           column != "to_s";
  }
  // A cell of a further table, whose texts are exact: with a unit where the column says which.
  static std::string for_people(std::string_view column, const std::string& text) {
    const auto number = parse_double(text);
    if (!number) return text;
    if (is_duration(column)) return readable(*number, "sec");
    if (column == "share") return percent(*number, 1);
    if (column == "sent" || column == "received" || column == "bytes" || column == "file_bytes") {
      return readable(*number, "bytes");
    }
    return text;
  }

  static void write_calls(Session& session, const TraceStatistics& statistics) {
    auto calls = statistics.calls;
    std::stable_sort(calls.begin(), calls.end(), [](const CallStatistics& a, const CallStatistics& b) {
      return a.wall_s.value_or(0) > b.wall_s.value_or(0);
    });
    double total = 0;
    for (const CallStatistics& call : calls) total += call.wall_s.value_or(0);
    TextTable table;
    table.column("call", Align::left, true).column("count", Align::right).column("wall", Align::right);
    table.column("", Align::right)
        .column("cpu", Align::right)
        .column("sent", Align::right)
        .column("received", Align::right);
    for (const CallStatistics& call : calls) {
      table.row({call.name, grouped(call.count), call.wall_s ? readable(*call.wall_s, "sec") : "",
                 call.wall_s ? percent(*call.wall_s, total) : "", call.cpu_s ? readable(*call.cpu_s, "sec") : "",
                 call.sent ? readable(static_cast<double>(*call.sent), "bytes") : "",
                 call.received ? readable(static_cast<double>(*call.received), "bytes") : ""});
    }
    session.out().write(table.text(session.terminal()));
  }

  static void write_messages(Session& session, const TraceStatistics& statistics) {
    if (!statistics.has_matrix || statistics.matrix.empty()) return;
    std::uint64_t messages = 0;
    double bytes = 0;
    for (const MatrixEntry& entry : statistics.matrix) {
      messages += entry.messages;
      bytes += static_cast<double>(entry.bytes);
    }
    session.out().write(fmt::format("\n{} point-to-point messages, {}, between {} pairs of ranks\n", grouped(messages),
                                    readable(bytes, "bytes"), grouped(statistics.matrix.size())));
  }

  void write_matrix(Session& session, const TraceStatistics& statistics) const {
    TextTable matrix;
    matrix.column("from", Align::right)
        .column("to", Align::right)
        .column("messages", Align::right)
        .column("bytes", Align::right);
    for (const MatrixEntry& entry : statistics.matrix) {
      matrix.row({std::to_string(entry.src), std::to_string(entry.dst), grouped(entry.messages),
                  readable(static_cast<double>(entry.bytes), "bytes")});
    }
    if (!table_) session.out().write("\n");
    session.out().write(matrix.text(session.terminal()));
  }

  std::string clock_ = "run";
  std::string path_;
  std::vector<std::string> by_;
  std::vector<std::string> locations_;
  std::vector<std::string> options_;
  std::optional<std::string> table_;
  std::optional<std::string> from_;
  std::optional<std::string> to_;
  std::optional<std::size_t> depth_;
  bool matrix_ = false;
};

}  // namespace

std::unique_ptr<Command> make_stats_command() { return std::make_unique<StatsCommand>(); }

}  // namespace fathom::cli
