// fathom diff: what changed from profile or trace A to B.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/output_arguments.hpp"
#include "cli/profile_arguments.hpp"
#include "profile/algebra/algebra.hpp"
#include "profile/compute.hpp"
#include "profile/views.hpp"
#include "report/csv.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

namespace {

constexpr std::size_t kBarWidth = 8;

// One row of one input, or nothing where the input has none.
struct Side {
  Value value;
  double number = 0;
  bool present = false;
};

struct Change {
  std::string name;
  Side a;
  Side b;
  bool failed = false;
  [[nodiscard]] double by() const { return b.number - a.number; }
};

struct MetricChange {
  std::string metric;
  std::string unit;
  double total_a = 0;
  double total_b = 0;
  bool failed = false;
  std::vector<Change> rows;  // largest first
};

// From a to b in percent; infinite when something came from nothing.
double growth(double a, double b) {
  if (a == b) return 0;
  return a == 0 ? std::copysign(INFINITY, b) : (b - a) / std::abs(a) * 100;
}

std::string growth_text(double a, double b) {
  const double percent = growth(a, b);
  if (std::isinf(percent)) return percent > 0 ? "new" : "-new";
  return fmt::format("{:+.1f}%", percent);
}

std::string signed_text(double value, std::string_view unit) {
  return value > 0 ? "+" + readable(value, unit) : readable(value, unit);
}

// What `stats` knows of a call.
struct CallNumber {
  std::string_view name;
  std::string_view unit;
  std::optional<Value> (*of)(const CallStatistics&);
};
std::optional<Value> as_value(std::optional<double> number) {
  if (!number) return std::nullopt;
  return Value(ValueType{ValueKind::f64, 0}, *number);
}
std::optional<Value> as_value(std::optional<std::int64_t> number) {
  if (!number) return std::nullopt;
  return Value(ValueType{ValueKind::i64, 0}, Int128{*number});
}
constexpr CallNumber kCallNumbers[] = {
    {"wall_s", "sec", [](const CallStatistics& call) { return as_value(call.wall_s); }},
    {"cpu_s", "sec", [](const CallStatistics& call) { return as_value(call.cpu_s); }},
    {"count", "occ",
     [](const CallStatistics& call) {
       return as_value(std::optional<std::int64_t>(static_cast<std::int64_t>(call.count)));
     }},
    {"bytes", "bytes", [](const CallStatistics& call) { return as_value(call.bytes); }},
    {"sent", "bytes", [](const CallStatistics& call) { return as_value(call.sent); }},
    {"received", "bytes", [](const CallStatistics& call) { return as_value(call.received); }},
};

class DiffCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("A", a_, "the profile or trace before").positional("B", b_, "the one after");
    arguments_.declare_metrics(options, "compare this metric (default: time); patterns; may be repeated");
    options.choice("--by", by_, {"region", "context", "file"}, "what a row is (default: region)")
        .flag("--inclusive", inclusive_, "compare inclusive values")
        .value("-n,--number", "N", &number_, "how many rows (default: 20; 0 = all)")
        .value("--fail-above", "%", &fail_above_,
               "exit status 1 when a total, or a row with at least --min of it, grew by more than this")
        .value("--min", "%", &minimum_, "share of the total from which on a row counts for --fail-above (default: 1)");
    output_.declare_target(options, "also write the profile A - B");
    options.choice("--system", system_, {"strict", "reduce", "collapse"},
                   "how the system trees are united for -o (default: strict)");
    arguments_.declare_derive(options);
    arguments_.declare_names(options);
    output_.declare_format(options);
    options
        .about(
            "Rows are matched by name, contexts by all names from the root down. Changes are B - A: growth is +. Of "
            "traces the statistics of calls are compared: wall_s, cpu_s, count, bytes, sent, received.")
        .example("fathom diff before.cubex after.cubex", "which functions became slower or faster")
        .example("fathom diff base.cubex new.cubex --fail-above 5", "in CI: fail when something grew by over 5 %")
        .example("fathom diff before.meta after.meta -m wall_s -m count", "MPI calls of two traces")
        .example("fathom diff a.cubex b.cubex -o delta.cubex", "the difference as a profile");
  }

  Result<int> run(Session& session) override {
    FATHOM_TRY(const DatasetPtr first, session.open(a_));
    FATHOM_TRY(const DatasetPtr second, session.open(b_));
    if (is_trace(*first) && is_trace(*second)) {
      FATHOM_TRY(const std::vector<MetricChange> changes, compare_traces(*first, *second));
      return write(session, changes);
    }
    FATHOM_TRY(ProfilePtr a, first->profile());
    FATHOM_TRY(ProfilePtr b, second->profile());
    FATHOM_TRY(a, arguments_.with_derived_metrics(std::move(a)));
    FATHOM_TRY(b, arguments_.with_derived_metrics(std::move(b)));
    FATHOM_TRY(const std::vector<MetricId> metrics, choose_or_guess_metrics(*a, arguments_.metrics));
    std::vector<MetricChange> changes;
    for (const MetricId metric : metrics) {
      const std::string& name = a->defs().metric(metric).name;
      const MetricId other = b->defs().find_metric(name);
      if (!other.valid()) {
        if (metrics.size() > 1) continue;
        return Error::usage(
            fmt::format("{} has no metric '{}'{}", b_, name, did_you_mean(name, b->defs().metric_names())));
      }
      FATHOM_TRY(MetricChange change, compare(*a, metric, *b, other));
      changes.push_back(std::move(change));
    }
    if (!output_.target.empty()) FATHOM_CHECK(write_profile(session, a, b, &first->format()));
    return write(session, changes);
  }

 private:
  int write(Session& session, const std::vector<MetricChange>& changes) const {
    const bool failed = std::any_of(changes.begin(), changes.end(), [](const auto& change) { return change.failed; });
    if (session.json()) {
      write_json(session, changes, failed);
    } else if (session.csv()) {
      write_csv(session, changes);
    } else {
      for (const MetricChange& change : changes) write_text(session, change, &change != &changes.front());
    }
    return failed ? kRefused : kDone;
  }

  static bool is_trace(const Dataset& dataset) {
    const auto levels = dataset.levels();
    return std::find(levels.begin(), levels.end(), Level::trace) != levels.end() &&
           std::find(levels.begin(), levels.end(), Level::profile) == levels.end();
  }

  Result<std::vector<MetricChange>> compare_traces(Dataset& first, Dataset& second) const {
    if (!output_.target.empty()) return Error::usage("the difference of two traces cannot be written as a trace");
    if (by_ != "region" || inclusive_) return Error::usage("calls of traces are compared by name and as they are");
    FATHOM_TRY(const TraceStatistics a, first.statistics({}));
    FATHOM_TRY(const TraceStatistics b, second.statistics({}));
    std::vector<std::string> wanted = arguments_.metrics;
    const bool timed = std::any_of(a.calls.begin(), a.calls.end(), [](const auto& call) { return call.wall_s; }) &&
                       std::any_of(b.calls.begin(), b.calls.end(), [](const auto& call) { return call.wall_s; });
    if (wanted.empty()) wanted = {timed ? "wall_s" : "count"};
    std::vector<MetricChange> changes;
    for (const CallNumber& number : kCallNumbers) {
      const bool chosen = std::any_of(wanted.begin(), wanted.end(), [&](const std::string& pattern) {
        return matches_pattern(pattern, number.name);
      });
      if (chosen) changes.push_back(compare_calls(number, a, b));
    }
    if (!changes.empty()) return changes;
    std::vector<std::string> names;
    for (const CallNumber& number : kCallNumbers) names.emplace_back(number.name);
    return Error::usage(fmt::format("traces have no '{}'{}", wanted.front(), did_you_mean(wanted.front(), names)))
        .hint(fmt::format("-m takes: {}", fmt::join(names, ", ")));
  }

  MetricChange compare_calls(const CallNumber& number, const TraceStatistics& a, const TraceStatistics& b) const {
    MetricChange out;
    out.metric = number.name;
    out.unit = number.unit;
    std::unordered_map<std::string, std::size_t> rows;
    const auto take = [&](const TraceStatistics& statistics, Side Change::*side, double& total) {
      for (const CallStatistics& call : statistics.calls) {
        const std::optional<Value> value = number.of(call);
        if (!value) continue;
        const auto [found, fresh] = rows.try_emplace(call.name, out.rows.size());
        if (fresh) out.rows.push_back({.name = call.name, .a = {}, .b = {}});
        out.rows[found->second].*side = {*value, value->scalar(), true};
        total += value->scalar();
      }
    };
    take(a, &Change::a, out.total_a);
    take(b, &Change::b, out.total_b);
    finish(out);
    return out;
  }

  Result<void> write_profile(Session& session, const ProfilePtr& a, const ProfilePtr& b, const Format* format) const {
    using algebra::SystemMatch;
    const algebra::Options options{system_ == "reduce"     ? SystemMatch::reduce
                                   : system_ == "collapse" ? SystemMatch::collapse
                                                           : SystemMatch::strict};
    FATHOM_TRY(const ProfilePtr difference, algebra::diff(a, b, options));
    return output_.write(session, difference, format);
  }

  // Names joined by a character that no name has, so that paths are compared name by name.
  [[nodiscard]] static std::string key(const Profile& profile, const FlatProfile::Row& row) {
    if (!row.context.valid()) return row.name;
    std::string out;
    for (ContextId at = row.context; at.valid(); at = profile.defs().contexts[at].parent) {
      out += profile.defs().region_of(at).name + '\x1f';
    }
    return out;
  }

  Result<MetricChange> compare(const Profile& a, MetricId metric_a, const Profile& b, MetricId metric_b) const {
    const GroupBy by = by_ == "context" ? GroupBy::context : by_ == "file" ? GroupBy::file : GroupBy::region;
    MetricChange out;
    out.metric = a.defs().metric(metric_a).name;
    out.unit = a.defs().metric(metric_a).unit;
    std::unordered_map<std::string, std::size_t> rows;
    const auto take = [&](const Profile& profile, MetricId metric, Side Change::*side, double& total) -> Result<void> {
      FATHOM_TRY(const FlatProfile flat, flat_profile(profile, {.metric = metric, .locations = {}, .filter = {}}, by));
      FATHOM_TRY(const Value sum, metric_total(profile, metric, {}));
      total = sum.scalar();
      for (std::size_t i = 0; i < flat.rows.size(); ++i) {
        const auto [found, fresh] = rows.try_emplace(key(profile, flat.rows[i]), out.rows.size());
        if (fresh) out.rows.push_back({.name = flat.rows[i].name, .a = {}, .b = {}});
        const Value value = (inclusive_ ? flat.inclusive : flat.exclusive).at(i, 0);
        out.rows[found->second].*side = {value, value.scalar(), true};
      }
      return {};
    };
    FATHOM_CHECK(take(a, metric_a, &Change::a, out.total_a));
    FATHOM_CHECK(take(b, metric_b, &Change::b, out.total_b));
    finish(out);
    return out;
  }

  void finish(MetricChange& change) const {
    judge(change);
    std::stable_sort(change.rows.begin(), change.rows.end(),
                     [](const Change& x, const Change& y) { return std::abs(x.by()) > std::abs(y.by()); });
  }

  void judge(MetricChange& change) const {
    if (!fail_above_) return;
    change.failed = growth(change.total_a, change.total_b) > *fail_above_;
    const double least = std::max(std::abs(change.total_a), std::abs(change.total_b)) * minimum_ / 100;
    for (Change& row : change.rows) {
      const bool counts = std::max(std::abs(row.a.number), std::abs(row.b.number)) >= least;
      row.failed = counts && growth(row.a.number, row.b.number) > *fail_above_;
      change.failed = change.failed || row.failed;
    }
  }

  void write_text(Session& session, const MetricChange& change, bool gap) const {
    const Terminal& terminal = session.terminal();
    std::size_t changed = 0;
    double largest = 0;
    for (const Change& row : change.rows) {
      if (row.by() != 0) ++changed;
      largest = std::max(largest, std::abs(row.by()));
    }
    session.out().write(fmt::format(
        "{}{}: {} → {} ({}), {} of {} rows changed\n", gap ? "\n" : "", terminal.paint(change.metric, Style::bold),
        readable(change.total_a, change.unit), readable(change.total_b, change.unit),
        terminal.paint(growth_text(change.total_a, change.total_b), colour(change.total_b - change.total_a)),
        grouped(changed), grouped(change.rows.size())));
    if (changed == 0) return;
    TextTable table;
    table.column("BEFORE", Align::right).column("AFTER", Align::right).column("CHANGE", Align::right);
    table.column("%", Align::right);
    if (terminal.bars) table.column("");
    table.column(by_ == "context" ? "CONTEXT" : by_ == "file" ? "FILE" : "REGION", Align::left, true);
    if (fail_above_) table.column("");
    std::size_t shown = 0;
    for (const Change& row : change.rows) {
      if (row.by() == 0 || (number_ > 0 && shown == number_)) break;
      ++shown;
      const Style style = colour(row.by());
      std::vector<Cell> cells{{row.a.present ? readable(row.a.number, change.unit) : "-", Style::dim},
                              {row.b.present ? readable(row.b.number, change.unit) : "-", Style::plain},
                              {signed_text(row.by(), change.unit), style},
                              {growth_text(row.a.number, row.b.number), style}};
      if (terminal.bars) cells.emplace_back(bar_text(std::abs(row.by()) / largest, kBarWidth), style);
      cells.emplace_back(by_ == "region" ? shown_name(row.name, arguments_.full_names) : row.name);
      if (fail_above_) cells.emplace_back(row.failed ? "FAILED" : "", Style::red);
      table.row(std::move(cells));
    }
    session.out().write("\n" + table.text(terminal));
    if (shown < changed) {
      session.out().write(
          terminal.paint(fmt::format("… {} more (-n 0 shows all)", grouped(changed - shown)), Style::dim) + "\n");
    }
    if (change.failed) {
      session.out().write(
          terminal.paint(fmt::format("FAILED: grew by more than {}%", exact_text(*fail_above_)), Style::red) + "\n");
    }
  }

  static Style colour(double change) { return change > 0 ? Style::red : change < 0 ? Style::green : Style::dim; }

  void write_json(Session& session, const std::vector<MetricChange>& changes, bool failed) const {
    JsonWriter json(session.out());
    json.begin_object().member("a", std::string_view(a_)).member("b", std::string_view(b_));
    json.member("by", std::string_view(by_)).member("flavour", inclusive_ ? "inclusive" : "exclusive");
    if (fail_above_) json.member("fail_above", *fail_above_).member("failed", failed);
    json.key("metrics").begin_array();
    for (const MetricChange& change : changes) {
      json.begin_object()
          .member("metric", std::string_view(change.metric))
          .member("unit", std::string_view(change.unit));
      json.member("a", change.total_a).member("b", change.total_b).member("change", change.total_b - change.total_a);
      json.member("percent", growth(change.total_a, change.total_b));
      json.key("rows").begin_array();
      for (const Change& row : change.rows) {
        json.begin_object().member("name", std::string_view(row.name));
        const auto side = [&](std::string_view name, const Side& one) {
          json.key(name);
          if (one.present) {
            write_value(json, one.value);
          } else {
            json.value(nullptr);
          }
        };
        side("a", row.a);
        side("b", row.b);
        json.member("change", row.by()).member("percent", growth(row.a.number, row.b.number));
        if (fail_above_) json.member("failed", row.failed);
        json.end_object();
      }
      json.end_array().end_object();
    }
    json.end_array();
    session.write_diagnostics(json);
    json.end_object();
  }

  static void write_csv(Session& session, const std::vector<MetricChange>& changes) {
    CsvWriter csv(session.out());
    csv.header({"metric", "name", "a", "b", "change", "percent"});
    for (const MetricChange& change : changes) {
      for (const Change& row : change.rows) {
        csv.field(change.metric);
        csv.field(row.name);
        csv.field(row.a.present ? row.a.value.text() : "");
        csv.field(row.b.present ? row.b.value.text() : "");
        csv.field(row.by());
        csv.field(growth(row.a.number, row.b.number));
        csv.end_row();
      }
    }
  }

  std::string a_;
  std::string b_;
  ProfileArguments arguments_;
  OutputArguments output_;
  std::string by_ = "region";
  std::string system_ = "strict";
  bool inclusive_ = false;
  std::uint64_t number_ = 20;
  std::optional<double> fail_above_;
  double minimum_ = 1;
};

}  // namespace

std::unique_ptr<Command> make_diff_command() { return std::make_unique<DiffCommand>(); }

}  // namespace fathom::cli
