// fathom report: what a consultant would say first.
#include <fmt/format.h>

#include <algorithm>

#include "cli/analysis_output.hpp"
#include "cli/commands.hpp"
#include "cli/company.hpp"
#include "cli/session.hpp"
#include "findings/dataset_report.hpp"
#include "findings/kinds.hpp"
#include "io/opened_files.hpp"
#include "io/output_file.hpp"
#include "report/findings_output.hpp"
#include "serve/report_page.hpp"

namespace fathom::cli {

namespace {

class ReportCommand final : public Command {
 public:
  void declare(Options& options) override {
    options
        .positionals(
            "PATH", paths_,
            "a trace, a profile, an experiment or a directory of runs; two are compared, the earlier one first: "
            "profiles, traces, or directories with repetitions of one run",
            false)
        .value("-o,--output", "FILE.html", &target_,
               "write a page with findings, call trees, distributions, comparison and models: one file that opens from "
               "disk and asks nobody; of any number of datasets")
        .flag("--anonymous", anonymous_, "leave names of people, machines and folders out of the page")
        .values("--source", "DIR", sources_, "take texts of source files from below this folder into the page")
        .flag("--markdown", markdown_, "Markdown on stdout, for a ticket or a pull request")
        .value("--fail-above", "S", &fail_above_,
               "exit with status 1 when a finding costs at least this share of all time (0.1 = a tenth)")
        .flag("--kinds", kinds_, "list what can be found, and in what")
        .example("fathom report run.meta", "what is wrong, why, and what to do about it")
        .example("fathom report profile.cubex", "the same of a profile: imbalance, hot spots, MPI, files")
        .example("fathom report before.cubex after.cubex", "what became slower")
        .example("fathom report before/ after/", "the same with repetitions: what is more than noise")
        .example("fathom report study/", "runs at different scale: what falls first, what will not scale")
        .example("fathom report run.cubex -o report.html", "one page to share, at most 10 MB")
        .example("fathom report run.meta --json", "the same for programs, with all numbers")
        .example("fathom report run.meta --fail-above 0.1", "for CI: a problem is an error")
        .about(
            "Findings are ranked by the time that they cost, as a share of all time (ranks x runtime): a problem from "
            "10 "
            "% on, a warning from 2 % on, a note below. docs/findings.md says how each number is defined.");
  }

  Result<int> run(Session& session) override {
    if (kinds_) {
      print_table(session, finding_kind_table());
      return kDone;
    }
    if (paths_.empty()) return Error::usage("report needs a dataset").hint("fathom report PATH, or --kinds");
    if (target_) {
      FATHOM_CHECK(first_alone(session, "making a page is"));
      return write_page(session);
    }
    if (anonymous_ || !sources_.empty()) return Error::usage("--anonymous and --source go with -o FILE.html");
    if (paths_.size() > 2) {
      return Error::usage("report takes one dataset, or two to compare").hint("fathom efficiency shows many runs");
    }
    FATHOM_TRY(const Report report, make(session));
    if (session.json()) {
      JsonWriter json(session.out());
      json.begin_object();
      write_report(json, report);
      session.write_diagnostics(json);
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
  // The datasets with all their views in one file.
  Result<int> write_page(Session& session) const {
    if (fail_above_) return Error::usage("--fail-above looks at findings, not at pages: leave out -o");
    std::vector<DatasetPtr> datasets;
    for (const std::string& path : paths_) {
      FATHOM_TRY(DatasetPtr dataset, session.open(path));
      datasets.push_back(std::move(dataset));
    }
    FATHOM_CHECK(spare_inputs(*target_));
    std::vector<std::filesystem::path> sources(sources_.begin(), sources_.end());
    serve::Viewer viewer(std::move(datasets), {{}, std::move(sources)});
    serve::ReportPageOptions options;
    options.anonymous = anonymous_;
    FATHOM_TRY(const serve::ReportPage page, serve::make_report_page(viewer, options));
    FATHOM_CHECK(write_file(*target_, page.html));
    for (const std::string& left_out : page.left_out) session.note("not in the report: " + left_out);
    return kDone;
  }

  Result<Report> make(Session& session) const {
    if (paths_.size() == 2) {
      FATHOM_CHECK(first_alone(session, "comparing runs is"));
      const auto open = [&](const std::filesystem::path& path) { return session.open(path); };
      return make_report(paths_[0], paths_[1], open);
    }
    FATHOM_TRY(const DatasetPtr dataset, session.open(paths_.front()));
    if (!is_reported_together(*dataset)) FATHOM_CHECK(first_alone(session, "the report of stored numbers is"));
    FATHOM_TRY(const ReportInput input, report_input(*dataset));
    return make_report(input);
  }

  std::vector<std::string> paths_;
  std::vector<std::string> sources_;
  std::optional<std::string> target_;
  bool anonymous_ = false;
  bool markdown_ = false;
  bool kinds_ = false;
  std::optional<double> fail_above_;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace fathom::cli
