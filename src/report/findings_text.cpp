#include <fmt/format.h>

#include <algorithm>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"
#include "report/findings_output.hpp"
#include "report/markdown.hpp"
#include "report/text_table.hpp"
#include "report/wrapped.hpp"

namespace fathom {

namespace {

Style style_of(FindingLevel level) {
  return level == FindingLevel::problem ? Style::red : level == FindingLevel::warning ? Style::yellow : Style::dim;
}

std::string seconds(double s) { return readable(s, "sec"); }
std::string share(double part) { return fmt::format("{:.1f}%", part * 100); }

std::string readable_kind(std::string kind) {
  for (char& c : kind) {
    if (c == '_') c = ' ';
  }
  return kind;
}

std::string headline(const Report& report) {
  std::string out = visible(report.path);
  if (report.locations > 0) {
    out += fmt::format(": {} location{}", grouped(report.locations), report.locations == 1 ? "" : "s");
  }
  if (report.runtime_s) out += fmt::format(", {}", seconds(*report.runtime_s));
  return out;
}

// The factors as a sentence: which one falls behind most.
std::string efficiency_sentence(const EfficiencyNumbers& numbers) {
  std::string out = fmt::format("Of all time {} is computation: load balance {} x communication {}",
                                share(numbers.parallel), share(numbers.load_balance), share(numbers.communication));
  if (numbers.serialisation && numbers.transfer) {
    out += fmt::format(" (of which serialisation {} x transfer {})", share(*numbers.serialisation),
                       share(*numbers.transfer));
  } else if (!numbers.why_not.empty()) {
    out += fmt::format(" (its parts are not known: {})", numbers.why_not);
  }
  return out + ".";
}

// The same for threads: what the sum of inefficiencies is made of.
std::string thread_sentence(const analysis::ThreadEfficiencies& numbers) {
  std::string out = fmt::format("Of the time of {:.0f} thread{} {} is useful", numbers.threads,
                                numbers.threads == 1 ? "" : "s", share(numbers.parallel));
  if (numbers.threads > 1 || numbers.process < 1) {
    out += fmt::format(
        " (lost: {} while processes do not work at all, {} in serial sections, {} inside of parallel "
        "regions and tasks)",
        share(1 - numbers.process), share(1 - numbers.serial_region), share(1 - numbers.parallel_region));
  }
  out += ".";
  // Else nobody would understand why nothing is useful where all work is the GPU's.
  constexpr double kMostly = 0.5;
  if (numbers.offload && *numbers.offload < kMostly) {
    out +=
        fmt::format(" Of the time in which threads do anything {} are calls of the GPU's runtime, which do not count.",
                    share(1 - *numbers.offload));
  }
  return out;
}

std::string no_waits_sentence(const std::string& why) {
  return fmt::format("Who waits for whom is not known: {}.", why);
}

// Runs over scale, as many columns as people look at.
const std::vector<std::pair<const char*, const char*>>& run_columns() {
  static const std::vector<std::pair<const char*, const char*>> kColumns = {
      {"global", "GLOBAL"},           {"parallel", "PARALLEL"},           {"load_balance", "LOAD BALANCE"},
      {"communication", "COMMUNIC."}, {"serialisation", "SERIALISATION"}, {"transfer", "TRANSFER"},
      {"computation", "COMPUTATION"}};
  return kColumns;
}
std::string cell_of(const Column& column, std::size_t row) {
  return column.is_null(row) ? std::string("-") : share(column.real(row));
}
std::string scaling_sentence(const Report& report) {
  return fmt::format("Computation is compared for {}.", report.runs_weak
                                                            ? "a problem that grows with the ranks (weak scaling)"
                                                            : "a problem that stays the same (strong scaling)");
}

std::string iteration_sentence(const IterationNumbers& numbers) {
  std::string out = fmt::format("{} steps of {} each", grouped(numbers.count), seconds(numbers.median_s));
  if (numbers.phases.size() > 1) {
    const std::string& name = numbers.phases[1].name;
    out += fmt::format("; from {} on{} a step takes {} instead of {}", seconds(numbers.phases[1].from_s),
                       name.empty() ? std::string() : fmt::format(" ({})", name), seconds(numbers.phases[1].median_s),
                       seconds(numbers.phases[0].median_s));
  }
  return out + ".";
}

std::vector<WaitState> by_time(std::vector<WaitState> states) {
  std::stable_sort(states.begin(), states.end(), [](const WaitState& a, const WaitState& b) { return a.s > b.s; });
  return states;
}

std::string nothing_found(const Report& report) {
  return report.efficiencies ? "Nothing stands out: no finding above a note." : "Nothing stands out.";
}

bool any_above_note(const Report& report) {
  for (const Finding& finding : report.findings) {
    if (finding.level != FindingLevel::note) return true;
  }
  return false;
}

}  // namespace

std::string report_text(const Report& report, const Terminal& terminal) {
  const std::size_t width = terminal.width == Terminal::kUnlimited ? 100 : std::min<std::size_t>(terminal.width, 100);
  std::string out = terminal.paint(headline(report), Style::bold) + "\n\n";
  if (!any_above_note(report)) out += nothing_found(report) + "\n";
  std::size_t number = 0;
  for (const Finding& finding : report.findings) {
    const std::string label = fmt::format("{}. {} ({}, {})", ++number, readable_kind(finding.kind),
                                          to_string(finding.level), share(finding.severity));
    out += terminal.paint(label, style_of(finding.level)) + "\n";
    out += wrapped(visible(finding.text), width, "   ");
    if (!finding.advice.empty()) out += wrapped("-> " + visible(finding.advice), width, "   ");
  }
  if (report.efficiencies) out += "\n" + wrapped(visible(efficiency_sentence(*report.efficiencies)), width, "");
  if (report.threads) out += "\n" + wrapped(thread_sentence(*report.threads), width, "");
  if (!report.why_no_waits.empty()) out += wrapped(visible(no_waits_sentence(report.why_no_waits)), width, "");
  if (report.runs) {
    TextTable table;
    table.column("RUN").column("LOCATIONS", Align::right).column("RUNTIME", Align::right);
    for (const auto& [name, title] : run_columns()) table.column(title, Align::right);
    for (std::size_t row = 0; row < report.runs->rows(); ++row) {
      std::vector<Cell> cells = {std::string(report.runs->column("run").text(row)),
                                 grouped(static_cast<std::uint64_t>(report.runs->column("locations").real(row))),
                                 seconds(report.runs->column("runtime_s").real(row))};
      for (const auto& [name, title] : run_columns()) cells.emplace_back(cell_of(report.runs->column(name), row));
      table.row(std::move(cells));
    }
    out += "\n" + table.text(terminal) + scaling_sentence(report) + "\n";
  }
  if (report.iterations) out += wrapped(visible(iteration_sentence(*report.iterations)), width, "");
  if (report.critical_path && !report.critical_path->empty()) {
    const PathPart& first = report.critical_path->front();
    out += wrapped(visible(fmt::format("The longest part of the critical path is {} on {} ({}).", first.activity,
                                       first.rank >= 0 ? fmt::format("rank {}", first.location) : first.location,
                                       share(first.share))),
                   width, "");
  }
  if (report.wait_states && !report.wait_states->empty()) {
    TextTable table;
    table.column("WAITING").column("TIME", Align::right).column("SHARE", Align::right).column("CALLS", Align::right);
    table.column("MOST IN").column("BECAUSE OF");
    for (const WaitState& state : by_time(*report.wait_states)) {
      table.row({readable_kind(state.kind), seconds(state.s), share(state.share), grouped(state.count),
                 state.regions.empty() ? "" : state.regions[0].name,
                 state.culprits.list.empty() ? "" : ranks_text(state.culprits)});
    }
    out += "\n" + table.text(terminal);
  }
  return out;
}

std::string report_markdown(const Report& report) {
  std::string out = fmt::format("# {}\n\n", markdown_text(headline(report)));
  if (!any_above_note(report)) out += nothing_found(report) + "\n\n";
  for (const Finding& finding : report.findings) {
    out += fmt::format("## {} ({}, {})\n\n{}\n\n", readable_kind(finding.kind), to_string(finding.level),
                       share(finding.severity), markdown_text(finding.text));
    if (!finding.advice.empty()) out += fmt::format("*What to do:* {}\n\n", markdown_text(finding.advice));
  }
  if (report.efficiencies) {
    const EfficiencyNumbers& numbers = *report.efficiencies;
    const auto cell = [](const std::optional<double>& value) {
      return value ? share(*value) : std::string("not known");
    };
    out += "| parallel efficiency | load balance | communication | serialisation | transfer |\n|---|---|---|---|---|\n";
    out += fmt::format("| {} | {} | {} | {} | {} |\n\n", share(numbers.parallel), share(numbers.load_balance),
                       share(numbers.communication), cell(numbers.serialisation), cell(numbers.transfer));
  }
  if (report.threads) out += thread_sentence(*report.threads) + "\n\n";
  if (!report.why_no_waits.empty()) out += markdown_text(no_waits_sentence(report.why_no_waits)) + "\n\n";
  if (report.runs) {
    std::string titles = "| run | locations | runtime |";
    std::string line = "|---|---:|---:|";
    for (const auto& [name, title] : run_columns()) {
      titles += fmt::format(" {} |", to_lower(title));
      line += "---:|";
    }
    out += titles + "\n" + line + "\n";
    for (std::size_t row = 0; row < report.runs->rows(); ++row) {
      out += fmt::format("| {} | {} | {} |", markdown_text(report.runs->column("run").text(row)),
                         static_cast<std::uint64_t>(report.runs->column("locations").real(row)),
                         seconds(report.runs->column("runtime_s").real(row)));
      for (const auto& [name, title] : run_columns()) {
        out += fmt::format(" {} |", cell_of(report.runs->column(name), row));
      }
      out += "\n";
    }
    out += "\n" + scaling_sentence(report) + "\n\n";
  }
  if (report.iterations) out += markdown_text(iteration_sentence(*report.iterations)) + "\n\n";
  if (report.wait_states && !report.wait_states->empty()) {
    out += "| waiting | time | share | calls | most in | because of |\n|---|---:|---:|---:|---|---|\n";
    for (const WaitState& state : by_time(*report.wait_states)) {
      out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", readable_kind(state.kind), seconds(state.s),
                         share(state.share), grouped(state.count),
                         state.regions.empty() ? "" : markdown_text(state.regions[0].name),
                         state.culprits.list.empty() ? "" : markdown_text(ranks_text(state.culprits)));
    }
  }
  return out;
}

}  // namespace fathom
