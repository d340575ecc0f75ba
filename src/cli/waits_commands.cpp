// fathom waits, critical-path: parts of the analysis of a trace as tables.
#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/analysis_output.hpp"
#include "cli/commands.hpp"
#include "findings/trace_tables.hpp"

namespace fathom::cli {

namespace {

Result<std::unique_ptr<analysis::Analysis>> analysis_of(Session& session, const std::string& path,
                                                        analysis::Depth depth) {
  FATHOM_TRY(DatasetPtr dataset, session.open(path));
  Dataset& kept = session.keep(std::move(dataset));
  FATHOM_TRY(const auto trace, kept.trace());
  return analysis::analyse(*trace, session.work(), depth);
}

class WaitsCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("PATH", path_, "a trace of an MPI program")
        .values("--by", "WHAT", by_,
                "sum up by kind (default), rank (who waits), culprit (for whom), call; several make finer rows")
        .example("fathom waits run.meta", "how much is waited, by kind of waiting")
        .example("fathom waits run.meta --by kind --by call", "and in which calls")
        .example("fathom waits run.meta --by rank --by culprit --csv", "who waits for whom, for programs")
        .about(
            "Waiting is the part of a call in which it could not go on because another rank had not come yet. "
            "docs/findings.md explains the kinds.");
  }

  Result<int> run(Session& session) override {
    WaitGrouping grouping;
    for (const std::string& by : by_) {
      if (by == "kind") {
        grouping.kind = true;
      } else if (by == "rank" || by == "location") {
        grouping.rank = true;
      } else if (by == "culprit") {
        grouping.culprit = true;
      } else if (by == "call") {
        grouping.call = true;
      } else {
        const std::vector<std::string> known = {"kind", "rank", "culprit", "call"};
        return Error::usage(
            fmt::format("--by {}: waiting is summed up by kind, rank, culprit or call{}", by, did_you_mean(by, known)));
      }
    }
    if (by_.empty()) grouping.kind = true;
    FATHOM_TRY(const auto analysis, analysis_of(session, path_, analysis::Depth::waits));
    FATHOM_TRY(const Table table, wait_table(*analysis, grouping));
    print_table(session, table);
    if (table.rows() == 0 && !session.json() && !session.csv()) session.note("nobody waits in this trace");
    return kDone;
  }

 private:
  std::string path_;
  std::vector<std::string> by_;
};

class CriticalPathCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("PATH", path_, "a trace of an MPI program")
        .example("fathom critical-path run.meta", "which ranks and activities decide how long the run takes")
        .about(
            "The critical path is the chain of work and messages from the end of the run back to its beginning: what "
            "is "
            "not on it could be slower without harm. Imbalance is what the path has more of than a rank on average: "
            "at most that much can be gained by balancing.");
  }

  Result<int> run(Session& session) override {
    FATHOM_TRY(const auto analysis, analysis_of(session, path_, analysis::Depth::everything));
    print_table(session, critical_path_table(*analysis));
    return kDone;
  }

 private:
  std::string path_;
};

}  // namespace

std::unique_ptr<Command> make_waits_command() { return std::make_unique<WaitsCommand>(); }
std::unique_ptr<Command> make_critical_path_command() { return std::make_unique<CriticalPathCommand>(); }

}  // namespace fathom::cli
