// fathom report: what a consultant would say first.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/profile_arguments.hpp"
#include "cli/session.hpp"
#include "findings/experiment_report.hpp"
#include "findings/profile_report.hpp"
#include "findings/trace_report.hpp"
#include "formats/format.hpp"
#include "report/findings_output.hpp"

namespace fathom::cli {

namespace {

class ReportCommand final : public Command {
 public:
  void declare(Options& options) override {
    options
        .positionals("PATH", paths_,
                     "a trace, a profile, an experiment or a directory of runs; two profiles are compared, the earlier "
                     "one first")
        .flag("--markdown", markdown_, "Markdown on stdout, for a ticket or a pull request")
        .value("--fail-above", "S", &fail_above_,
               "exit with status 1 when a finding costs at least this share of all time (0.1 = a tenth)")
        .example("fathom report run.meta", "what is wrong, why, and what to do about it")
        .example("fathom report profile.cubex", "the same of a profile: imbalance, hot spots, MPI, files")
        .example("fathom report before.cubex after.cubex", "what became slower")
        .example("fathom report run.meta --json", "the same for programs, with all numbers")
        .example("fathom report run.meta --fail-above 0.1", "for CI: a problem is an error")
        .about(
            "Findings are ranked by the time that they cost, as a share of all time (ranks x runtime): a problem from "
            "10 "
            "% on, a warning from 2 % on, a note below. docs/findings.md says how each number is defined.");
  }

  Result<int> run(Session& session) override {
    if (paths_.size() > 2) {
      return Error::usage("report takes one dataset, or two to compare").hint("fathom efficiency shows many runs");
    }
    FATHOM_TRY(const DatasetPtr dataset, session.open(paths_.back()));
    FATHOM_TRY(Report report, paths_.size() == 2 ? make_pair(session, *dataset) : make(session, *dataset));
    report.path = paths_.back();
    report.format = dataset->format().name;
    if (session.json()) {
      JsonWriter json(session.out());
      json.begin_object();
      write_report(json, report);
      write_sorted_diagnostics(session, json);
      json.end_object();
      session.forget_diagnostics();
    } else {
      session.out().write(markdown_ ? report_markdown(report) : report_text(report, session.terminal()));
    }
    const bool failed = fail_above_ && std::any_of(report.findings.begin(), report.findings.end(),
                                                   [&](const Finding& f) { return f.severity >= *fail_above_; });
    return failed ? kRefused : kDone;
  }

 private:
  // Files are read in parallel, so that what is noticed comes in any order: here it does not.
  static void write_sorted_diagnostics(const Session& session, JsonWriter& json) {
    std::vector<Diagnostic> all = session.work()->diagnostics.all();
    std::stable_sort(all.begin(), all.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::tie(a.place.file, a.id, a.place.offset) < std::tie(b.place.file, b.id, b.place.offset);
    });
    json.key("diagnostics").begin_array();
    for (const Diagnostic& diagnostic : all) write_diagnostic(json, diagnostic);
    json.end_array();
  }

  static bool has(const Dataset& dataset, Level level) {
    const auto levels = dataset.levels();
    return std::find(levels.begin(), levels.end(), level) != levels.end();
  }

  static Result<Report> make(Session& session, Dataset& dataset) {
    if (has(dataset, Level::profile)) {
      FATHOM_TRY(const auto profile, dataset.profile());
      FATHOM_TRY(const auto metrics, choose_or_guess_metrics(*profile, {}));
      return profile_report(*profile, metrics.front());
    }
    if (has(dataset, Level::experiment)) {
      FATHOM_TRY(const auto experiment, dataset.experiment());
      return experiment_report(*experiment, session.work());
    }
    FATHOM_TRY(const auto trace, dataset.trace());
    FATHOM_TRY(const auto analysis, analysis::analyse(*trace, session.work()));
    return trace_report(*analysis);
  }

  Result<Report> make_pair(Session& session, Dataset& after) const {
    FATHOM_TRY(const DatasetPtr before, session.open(paths_.front()));
    FATHOM_TRY(const auto a, before->profile());
    FATHOM_TRY(const auto b, after.profile());
    FATHOM_TRY(const auto metrics, choose_or_guess_metrics(*a, {}));
    const std::string& name = a->defs().metric(metrics.front()).name;
    const MetricId other = b->defs().find_metric(name);
    if (!other.valid()) return Error::usage(fmt::format("{} has no metric '{}'", paths_.back(), name));
    return pair_report({a.get(), metrics.front()}, {b.get(), other});
  }

  std::vector<std::string> paths_;
  bool markdown_ = false;
  std::optional<double> fail_above_;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace fathom::cli
