#include "cli/diff_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/visible.hpp"
#include "cli/profile_arguments.hpp"
#include "io/output_file.hpp"
#include "report/changes_json.hpp"
#include "report/csv.hpp"
#include "report/markdown.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

namespace {

constexpr std::size_t kBarWidth = 8;

std::string growth_text(double relative) {
  if (std::isinf(relative)) return relative > 0 ? "new" : "-new";
  return fmt::format("{:+.1f}%", relative * 100);
}

std::string signed_text(double value, std::string_view unit) {
  return value > 0 ? "+" + readable(value, unit) : readable(value, unit);
}

Style colour(double change) { return change > 0 ? Style::red : change < 0 ? Style::green : Style::dim; }

// Of before, after and change, without rounding.
std::string number_text(const Table& table, std::string_view name, std::size_t row, std::string_view missing) {
  const Column& column = exact_or_rounded(table, name, row);
  if (column.is_null(row)) return std::string(missing);
  return column.type() == ColumnType::int128 ? exact_text(column.values<Int128>()[row]) : exact_text(column.real(row));
}

}  // namespace

DiffReport::DiffReport(const std::vector<MetricChanges>& changes, DiffLook look)
    : look_(std::move(look)), totals_(totals_table(changes)), rows_(changes_table(changes)) {
  counts_.assign(rows_.rows(), false);
  row_failed_.assign(rows_.rows(), false);
  std::size_t row = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    metrics_.push_back({row, row + changes[i].rows.size(), 0, false});
    row += changes[i].rows.size();
    judge(i);
    failed_ = failed_ || metrics_[i].failed;
  }
  for (std::size_t i = 0; i < rows_.rows(); ++i) repeated_ = repeated_ || !rows_.column("significant").is_null(i);
}

// A change within the scatter of the repetitions is none.
bool DiffReport::grew_too_much(const Table& table, std::size_t row) const {
  const Column& significant = table.column("significant");
  const bool noise = !significant.is_null(row) && significant.values<std::uint8_t>()[row] == 0;
  // What cannot be compared (nan) has not been seen to stay as it is.
  return look_.fail_above && !noise && !(table.column("relative").real(row) <= *look_.fail_above);
}

void DiffReport::judge(std::size_t index) {
  Metric& metric = metrics_[index];
  const auto size = [](const Table& table, std::size_t row) {
    const auto of = [&](std::string_view side) {
      const Column& column = table.column(side);
      return column.is_null(row) || !std::isfinite(column.real(row)) ? 0 : std::abs(column.real(row));
    };
    return std::max(of("before"), of("after"));
  };
  const double least = size(totals_, index) * look_.least_share;
  metric.failed = grew_too_much(totals_, index);
  for (std::size_t row = metric.begin; row < metric.end; ++row) {
    if (rows_.column("change").real(row) != 0) ++metric.changed;
    counts_[row] = size(rows_, row) >= least || std::isnan(rows_.column("relative").real(row));
    row_failed_[row] = counts_[row] && grew_too_much(rows_, row);
    metric.failed = metric.failed || row_failed_[row];
  }
}

std::size_t DiffReport::shown(const Metric& metric) const {
  return look_.number == 0 ? metric.changed : std::min<std::size_t>(metric.changed, look_.number);
}

std::string DiffReport::name_at(std::size_t row) const {
  const std::string name(rows_.column("path").text(row));
  return look_.match == "name" || look_.match == "line" ? shown_name(name, look_.full_names) : name;
}

std::string DiffReport::failure_text(const Metric& metric, std::size_t number) const {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> names;
  std::size_t rows = 0;
  bool unknown = false;
  for (std::size_t row = metric.begin; row < metric.end; ++row) {
    if (!row_failed_[row]) continue;
    if (++rows <= kNamed) names.push_back(name_at(row));
    unknown = unknown || std::isnan(rows_.column("relative").real(row));
  }
  std::string what = grew_too_much(totals_, number) ? "the total" : "";
  if (rows > 0) {
    what +=
        fmt::format("{}{} ({}{})", what.empty() ? "" : " and ", rows == 1 ? "one row" : fmt::format("{} rows", rows),
                    fmt::join(names, ", "), rows > kNamed ? ", …" : "");
  }
  return fmt::format("FAILED: {} grew by more than {}%{}", what, exact_text(*look_.fail_above * 100),
                     unknown ? " or cannot be compared (nan)" : "");
}

void DiffReport::write_text(Session& session) const {
  const Terminal& terminal = session.terminal();
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const Metric& metric = metrics_[i];
    const std::string unit(totals_.column("unit").text(i));
    const double relative = totals_.column("relative").real(i);
    session.out().write(fmt::format("{}{}: {} → {} ({}), {} of {} rows changed\n", i > 0 ? "\n" : "",
                                    terminal.paint(visible(totals_.column("metric").text(i)), Style::bold),
                                    readable(totals_.column("before").real(i), unit),
                                    readable(totals_.column("after").real(i), unit),
                                    terminal.paint(growth_text(relative), colour(relative)), grouped(metric.changed),
                                    grouped(metric.end - metric.begin)));
    if (metric.changed > 0) {
      TextTable table;
      table.column("BEFORE", Align::right).column("AFTER", Align::right).column("CHANGE", Align::right);
      table.column("%", Align::right);
      if (terminal.bars) table.column("");
      table.column(look_.match == "path" ? "CONTEXT" : look_.match == "file" ? "FILE" : "REGION", Align::left, true);
      if (repeated_) table.column("");
      if (look_.fail_above) table.column("");
      const double largest = std::abs(rows_.column("change").real(metric.begin));
      for (std::size_t row = metric.begin; row < metric.begin + shown(metric); ++row) {
        const double change = rows_.column("change").real(row);
        const Style style = colour(change);
        const auto side = [&](std::string_view name) {
          const Column& column = rows_.column(name);
          return column.is_null(row) ? std::string("-") : readable(column.real(row), unit);
        };
        std::vector<Cell> cells{{side("before"), Style::dim},
                                {side("after"), Style::plain},
                                {signed_text(change, unit), style},
                                {growth_text(rows_.column("relative").real(row)), style}};
        if (terminal.bars) cells.emplace_back(bar_text(std::abs(change) / largest, kBarWidth), style);
        cells.emplace_back(name_at(row));
        const Column& significant = rows_.column("significant");
        if (repeated_) {
          const bool noise = !significant.is_null(row) && significant.values<std::uint8_t>()[row] == 0;
          cells.emplace_back(noise ? "noise" : "", Style::dim);
        }
        if (look_.fail_above) cells.emplace_back(row_failed_[row] ? "FAILED" : "", Style::red);
        table.row(std::move(cells));
      }
      session.out().write("\n" + table.text(terminal));
      if (shown(metric) < metric.changed) {
        session.out().write(
            terminal.paint(fmt::format("… {} more (-n 0 shows all)", grouped(metric.changed - shown(metric))),
                           Style::dim) +
            "\n");
      }
    }
    if (metric.failed) session.out().write(terminal.paint(visible(failure_text(metric, i)), Style::red) + "\n");
  }
}

void DiffReport::write_json(Session& session) const {
  JsonWriter json(session.out());
  json.begin_object().member("before", std::string_view(look_.before)).member("after", std::string_view(look_.after));
  json.member("match", std::string_view(look_.match));
  if (!look_.flavour.empty()) json.member("flavour", std::string_view(look_.flavour));
  if (look_.fail_above) json.member("fail_above", *look_.fail_above).member("failed", failed_);
  ChangesVerdict verdict{{}, row_failed_};
  for (const Metric& metric : metrics_) verdict.metrics.push_back(metric.failed);
  write_changes(json, totals_, rows_, look_.fail_above ? &verdict : nullptr);
  session.write_diagnostics(json);
  json.end_object();
}

void DiffReport::write_csv(Session& session) const {
  CsvWriter csv(session.out());
  csv.header({"path", "metric", "before", "after", "change", "relative", "significant"});
  for (std::size_t row = 0; row < rows_.rows(); ++row) {
    csv.field(rows_.column("path").text(row));
    csv.field(rows_.column("metric").text(row));
    for (const std::string_view key : {"before", "after", "change"}) csv.field(number_text(rows_, key, row, ""));
    csv.field(exact_text(rows_.column("relative").real(row)));
    const Column& significant = rows_.column("significant");
    csv.field(significant.is_null(row) ? "" : significant.values<std::uint8_t>()[row] != 0 ? "true" : "false");
    csv.end_row();
  }
}

void DiffReport::write_markdown(Session& session) const {
  std::string out;
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const Metric& metric = metrics_[i];
    const std::string unit(totals_.column("unit").text(i));
    out +=
        fmt::format("{}**{}**: {} → {} ({}){}\n", i > 0 ? "\n" : "", markdown_text(totals_.column("metric").text(i)),
                    readable(totals_.column("before").real(i), unit), readable(totals_.column("after").real(i), unit),
                    growth_text(totals_.column("relative").real(i)), metric.failed ? " **FAILED**" : "");
    if (metric.changed == 0) continue;
    out += "\n| before | after | change | % | |\n|---:|---:|---:|---:|---|\n";
    for (std::size_t row = metric.begin; row < metric.begin + shown(metric); ++row) {
      const auto side = [&](std::string_view name) {
        const Column& column = rows_.column(name);
        return column.is_null(row) ? std::string("-") : readable(column.real(row), unit);
      };
      const Column& significant = rows_.column("significant");
      const bool noise = !significant.is_null(row) && significant.values<std::uint8_t>()[row] == 0;
      out += fmt::format("| {} | {} | {} | {} | {}{} |\n", side("before"), side("after"),
                         signed_text(rows_.column("change").real(row), unit),
                         growth_text(rows_.column("relative").real(row)), markdown_text(name_at(row)),
                         row_failed_[row] ? " **FAILED**"
                         : noise          ? " (noise)"
                                          : "");
    }
    if (shown(metric) < metric.changed) out += fmt::format("\n… {} more\n", grouped(metric.changed - shown(metric)));
  }
  session.out().write(out);
}

Result<void> DiffReport::write_junit(const std::filesystem::path& file) const {
  std::string cases;
  std::size_t tests = 0;
  std::size_t failures = 0;
  const auto add = [&](const Table& table, std::size_t row, std::string_view metric, std::string_view name, bool bad) {
    ++tests;
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml_escape(metric), xml_escape(name));
    if (!bad) {
      cases += "/>\n";
      return;
    }
    ++failures;
    const auto number = [&](std::string_view side) { return number_text(table, side, row, "nothing"); };
    cases += fmt::format(">\n      <failure message=\"{} from {} to {}, limit {}%\"/>\n    </testcase>\n",
                         growth_text(table.column("relative").real(row)), number("before"), number("after"),
                         exact_text(look_.fail_above.value_or(0) * 100));
  };
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const std::string_view metric = totals_.column("metric").text(i);
    add(totals_, i, metric, "total", grew_too_much(totals_, i));
    for (std::size_t row = metrics_[i].begin; row < metrics_[i].end; ++row) {
      if (counts_[row]) add(rows_, row, metric, rows_.column("path").text(row), row_failed_[row]);
    }
  }
  return write_file(file, fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite "
                                      "name=\"fathom diff\" tests=\"{}\" failures=\"{}\">\n{}  </testsuite>\n"
                                      "</testsuites>\n",
                                      tests, failures, cases));
}

}  // namespace fathom::cli
