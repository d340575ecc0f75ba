#include "cli/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "base/team.hpp"
#include "base/visible.hpp"
#include "cli/company.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress_bar.hpp"
#include "formats/registry.hpp"
#include "profile/expression/program.hpp"
#include "report/table_output.hpp"
#include "report/wrapped.hpp"

namespace fathom::cli {

void declare(GlobalOptions& options, Options& declared) {
  declared.flag("--json", options.json, "JSON on stdout instead of text")
      .flag("--csv", options.csv, "CSV on stdout instead of text")
      .value("--format", "F", &options.from, "take the input as format F instead of recognising it")
      .was("--from")
      .flag("--strict", options.strict, "stop at the first defect of the data, with exit status 1")
      .value("--threads", "N", &options.threads, "use N threads (default: all cores)")
      .size("--max-memory", "SIZE", options.max_memory, "most memory for tables, e.g. 512M or 4G")
      .value("--max-steps", "N", &options.max_steps, "most steps for a value of a derived metric (default: 2 million)")
      .flag("--quiet,-q", options.quiet, "no warnings, no progress")
      .flag("--help,-h", options.help, "this text")
      .flag("--version,-v", options.version, "the version of Fathom");
}

Session::Session(const GlobalOptions& options, Output& out, Output& err)
    : options_(options),
      out_(out),
      err_(err),
      terminal_(Terminal::of(STDOUT_FILENO)),
      error_terminal_(Terminal::of(STDERR_FILENO)),
      work_(make_work(options.strict, options.max_memory.value_or(default_memory()))),
      execution_(options.threads > 0 ? static_cast<unsigned>(options.threads) : default_threads(), interrupt_flag(),
                 options.quiet ? ProgressSink() : team().progress(progress_bar())),
      scope_(execution_) {
  if (options.max_steps) work_->options.set(expression::kMaxSteps, *options.max_steps);
}

void Session::say(std::string_view label, Style style, std::string_view text) {
  const std::string lead = fmt::format("fathom: {}{}", label, label.empty() ? "" : " ");
  // Colours are no part of the width: they come last.
  std::string lines = wrapped(lead + visible(text), error_terminal_.width, "  ", "");
  if (lines.starts_with(lead)) {
    lines.replace(0, lead.size(),
                  fmt::format("fathom: {}{}", error_terminal_.paint(label, style), label.empty() ? "" : " "));
  }
  err_.write(lines);
  err_.flush();
}

void Session::note(std::string_view text) {
  if (!options_.quiet) say("", Style::plain, text);
}

void Session::warn(std::string_view text) {
  if (!options_.quiet) say("warning:", Style::yellow, text);
}

Result<DatasetPtr> Session::open(const std::filesystem::path& path) { return open_dataset(path, work_, options_.from); }

Result<std::shared_ptr<const Profile>> Session::open_profile(const std::filesystem::path& path) {
  FATHOM_TRY(DatasetPtr dataset, open(path));
  opened_.push_back(std::move(dataset));
  const std::vector<Level> levels = opened_.back()->levels();
  if (std::find(levels.begin(), levels.end(), Level::profile) != levels.end() &&
      !reads_values_in_parts(*opened_.back())) {
    FATHOM_CHECK(first_alone(*this, "reading this profile is"));
  }
  return opened_.back()->profile();
}

Result<void> Session::show_rows(const TableSource& source, const ScanRequest& request, const TableLook& look,
                                const std::optional<RowProgress>& progress) {
  // Rows that run over the terminal say themselves how far they are; a bar would stand in their way.
  const std::optional<RowProgress> shown = terminal_.bars ? std::nullopt : progress;
  if (csv()) return write_rows(out_, RowForm::csv, source, request, shown);
  if (json()) return write_rows(out_, RowForm::json, source, request, shown);
  TableLook fitting = look;
  if (terminal_.bars) fitting.line_width = terminal_.width;
  return write_text(out_, source, request, fitting);
}

void Session::show_table(const Table& table, std::string_view key, const TableLook& look) {
  if (csv()) {
    write_csv(out_, table);
  } else if (json()) {
    JsonWriter writer(out_);
    writer.begin_object().key(key);
    write_json(writer, table);
    write_diagnostics(writer);
    writer.end_object();
  } else {
    out_.write(table_text(table, terminal_, look));
  }
}

void write_diagnostic(JsonWriter& json, const Diagnostic& diagnostic) {
  json.begin_object();
  json.member("id", diagnostic.id).member("severity", to_string(diagnostic.severity));
  json.member("file", diagnostic.place.file);
  if (diagnostic.place.offset) json.member("offset", *diagnostic.place.offset);
  if (diagnostic.place.line) json.member("line", *diagnostic.place.line);
  json.member("count", diagnostic.count).member("text", diagnostic.text);
  json.end_object();
}

void Session::write_diagnostics(JsonWriter& json) const {
  // Files are read in parallel, so that what is noticed comes in any order: here it does not.
  std::vector<Diagnostic> all = work_->diagnostics.all();
  std::stable_sort(all.begin(), all.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.place.file, a.id) < std::tie(b.place.file, b.id);
  });
  json.key("diagnostics").begin_array();
  for (const Diagnostic& diagnostic : all) write_diagnostic(json, diagnostic);
  json.end_array();
}

void Session::show_diagnostics() {
  std::vector<Diagnostic> all = work_->diagnostics.all();
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::exchange(shown_, all.size())));
  if (options_.quiet) all.clear();
  for (const Diagnostic& diagnostic : summarised(std::move(all))) {
    const bool info = diagnostic.severity == Severity::info;
    const std::string label = info ? "note:" : diagnostic.severity == Severity::data_loss ? "data lost:" : "warning:";
    const std::string place = diagnostic.place.text();
    say(label, info ? Style::dim : Style::yellow,
        fmt::format("{}{}{}{}", visible(place), place.empty() ? "" : ": ", visible(diagnostic.text),
                    diagnostic.count > 1 ? fmt::format(" ({} times)", diagnostic.count) : ""));
  }
}

void Session::show_error(const Error& error) {
  say("error:", Style::red, visible(error.text()));
  if (error.hint().empty()) return;
  err_.write(wrapped(visible(error.hint()), error_terminal_.width, "  "));
  err_.flush();
}

int exit_status(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::refused:
      return kRefused;
    case ErrorKind::cancelled:
      return interrupted_status();
    case ErrorKind::unusable:
    case ErrorKind::usage:
      break;
  }
  return 2;
}

}  // namespace fathom::cli
