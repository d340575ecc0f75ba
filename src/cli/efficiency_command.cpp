// fathom efficiency: how well runs use their machine, as the table that consultants make.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/analysis_output.hpp"
#include "cli/commands.hpp"
#include "findings/trace_report.hpp"
#include "findings/trace_tables.hpp"
#include "formats/registry.hpp"

namespace fathom::cli {

namespace {

namespace fs = std::filesystem;

class EfficiencyCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("PATH", paths_, "traces, or a directory with one trace in each of its folders")
        .choice("--scaling", scaling_, {"strong", "weak"},
                "several runs: the same problem on more ranks, or one that grows with them")
        .example("fathom efficiency run.meta", "one run")
        .example("fathom efficiency study/", "a directory of runs at different scale: which factor falls first")
        .about(
            "Parallel efficiency = load balance x communication; communication = serialisation x transfer. Load "
            "balance is "
            "the mean over the highest useful time; serialisation is what is lost to waiting even on an ideal network, "
            "transfer what is lost to moving data. Global efficiency = parallel x computation, where computation "
            "compares "
            "the useful time with that of the smallest run.");
  }

  Result<int> run(Session& session) override {
    std::vector<fs::path> paths;
    for (const std::string& path : paths_) {
      std::error_code ignored;
      if (!fs::is_directory(path, ignored) || is_one_trace(session, path)) {
        paths.emplace_back(path);
        continue;
      }
      std::vector<fs::path> inside;
      for (const auto& entry : fs::directory_iterator(path, ignored)) {
        if (entry.is_directory() || entry.path().extension() == ".meta") inside.push_back(entry.path());
      }
      std::sort(inside.begin(), inside.end());
      paths.insert(paths.end(), inside.begin(), inside.end());
    }
    std::vector<RunEfficiency> runs;
    for (const fs::path& path : paths) {
      auto added = one_run(session, path);
      if (added) {
        runs.push_back(std::move(*added));
      } else if (paths.size() == 1 || added.error().kind() == ErrorKind::cancelled) {
        return std::move(added).error();
      } else {
        session.warn(fmt::format("{} is left out: {}", path.string(), added.error().text()));
      }
    }
    if (runs.empty()) return Error("no run has a trace that can be used", Place::in(paths_.front()));
    const Table table = efficiency_table(std::move(runs), scaling_ == "weak");
    print_table(session, table, true);
    const std::string falls = falls_first(table);
    if (!session.json() && !session.csv() && !falls.empty()) {
      const Column& column = table.column(falls);
      session.out().write(fmt::format(
          "\nFrom {} to {} locations {} falls most: {:.1f}% to {:.1f}%.\n", table.column("locations").real(0),
          table.column("locations").real(table.rows() - 1), falls == "load_balance" ? "load balance" : falls,
          column.real(0) * 100, column.real(table.rows() - 1) * 100));
    }
    return kDone;
  }

 private:
  static bool is_one_trace(Session& session, const std::string& path) {
    auto opened = session.open(path);
    if (!opened) return false;
    const auto levels = (*opened)->levels();
    return std::find(levels.begin(), levels.end(), Level::trace) != levels.end();
  }
  static Result<RunEfficiency> one_run(Session& session, const fs::path& path) {
    FATHOM_TRY(const DatasetPtr dataset, session.open(path));
    FATHOM_TRY(const auto trace, dataset->trace());
    FATHOM_TRY(const auto analysis, analysis::analyse(*trace, session.work()));
    RunEfficiency run;
    run.name = path.stem().empty() ? path.parent_path().stem().string() : path.stem().string();
    run.locations = analysis->run.present();
    run.numbers = efficiency_numbers(analysis->efficiencies);
    run.useful_s = run.numbers.useful_mean_s * static_cast<double>(run.locations);
    return run;
  }

  std::vector<std::string> paths_;
  std::string scaling_ = "strong";
};

}  // namespace

std::unique_ptr<Command> make_efficiency_command() { return std::make_unique<EfficiencyCommand>(); }

}  // namespace fathom::cli
