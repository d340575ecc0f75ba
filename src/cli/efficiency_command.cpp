// fathom efficiency: how well runs use their machine, as the table that consultants make.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/share_out.hpp"
#include "cli/analysis_output.hpp"
#include "cli/commands.hpp"
#include "cli/company.hpp"
#include "findings/run_efficiency.hpp"
#include "findings/trace_tables.hpp"
#include "formats/registry.hpp"

namespace fathom::cli {

namespace {

namespace fs = std::filesystem;

class EfficiencyCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("PATH", paths_, "traces or profiles, or a directory with one in each of its folders")
        .choice("--scaling", scaling_, {"strong", "weak"},
                "several runs: the same problem on more ranks, or one that grows with them")
        .choice("--of", of_, {"ranks", "threads"},
                "threads: also tasks and GPUs, of OTF2, ovni, samples of HPCToolkit; unasked where there is no MPI")
        .example("fathom efficiency run.meta", "one run")
        .example("fathom efficiency ovni/ --of threads", "how well threads and tasks use their cores")
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
      if (!fs::is_directory(path, ignored) || is_one_run(path, session.work())) {
        paths.emplace_back(path);
        continue;
      }
      std::vector<fs::path> inside;
      for (const auto& entry : fs::directory_iterator(path, ignored)) {
        if (entry.is_directory() || entry.path().extension() == ".meta" || entry.path().extension() == ".cubex")
          inside.push_back(entry.path());
      }
      std::sort(inside.begin(), inside.end());
      paths.insert(paths.end(), inside.begin(), inside.end());
    }
    if (of_ == "threads") {
      FATHOM_CHECK(first_alone(session, "what threads do is"));
      return show_threads(session, paths);
    }
    std::vector<RunEfficiency> runs;
    if (paths.size() == 1) {
      auto run = one_run(session, paths[0]);
      if (!run && run.error().kind() == ErrorKind::usage && has_threads(session, paths[0])) {
        return show_threads(session, paths);
      }
      if (!run) return std::move(run).error();
      runs.push_back(std::move(*run));
    } else {
      FATHOM_TRY(runs, all_runs(session, paths));
    }
    if (runs.empty()) return Error("no run has MPI calls with times", Place::in(paths_.front()));
    const bool weak = scaling_ == "weak";
    const auto falling = falls_first(runs, weak);
    print_table(session, efficiency_table(std::move(runs), weak), true);
    if (!session.json() && !session.csv() && falling) session.out().write("\n" + falling_text(*falling) + "\n");
    return kDone;
  }

 private:
  static Result<analysis::ThreadEfficiencies> threads_of(Session& session, const fs::path& path) {
    FATHOM_TRY(const DatasetPtr dataset, session.open(path));
    FATHOM_TRY(const auto trace, dataset->trace());
    return analysis::thread_efficiencies(*trace, session.work());
  }
  static bool has_threads(Session& session, const fs::path& path) { return threads_of(session, path).ok(); }
  static Result<int> show_threads(Session& session, const std::vector<fs::path>& paths) {
    std::vector<RunThreads> runs;
    for (const fs::path& path : paths) {
      FATHOM_TRY(auto numbers, threads_of(session, path));
      runs.push_back({run_name(path), numbers});
    }
    print_table(session, thread_table(runs), true);
    return kDone;
  }
  static Result<RunEfficiency> one_run(Session& session, const fs::path& path) {
    FATHOM_TRY(const DatasetPtr dataset, session.open(path));
    const auto levels = dataset->levels();
    const bool stored = std::find(levels.begin(), levels.end(), Level::profile) != levels.end();
    if (stored) FATHOM_CHECK(first_alone(session, "reading a stored profile is"));
    return run_efficiency(*dataset, session.work());
  }

  // What became of a run.
  struct Outcome {
    RunEfficiency run;
    std::optional<Error> error;
  };
  template <class Pack>
  friend void pack_fields(Pack& pack, Outcome& outcome) {
    pack(outcome.run, outcome.error);
  }

  // Every process of a team analyses some of them, one after the other.
  static Result<std::vector<RunEfficiency>> all_runs(Session& session, const std::vector<fs::path>& paths) {
    FATHOM_TRY(Share share, Share::of("analysing runs", paths.size(), {}));
    std::vector<Outcome> outcomes(paths.size());
    for (const std::size_t i : share.mine()) {
      const TeamScope alone(nullptr);
      auto run = one_run(session, paths[i]);
      if (!run && run.error().kind() == ErrorKind::cancelled) return std::move(run).error();
      if (run) {
        outcomes[i].run = std::move(*run);
      } else {
        outcomes[i].error = std::move(run).error();
      }
    }
    if (!share.alone()) FATHOM_CHECK(bring_together(share, outcomes, Holder::first));
    std::vector<RunEfficiency> runs;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (outcomes[i].error) {
        session.warn(fmt::format("{} is left out: {}", paths[i].string(), outcomes[i].error->text()));
      } else {
        runs.push_back(std::move(outcomes[i].run));
      }
    }
    return runs;
  }

  std::vector<std::string> paths_;
  std::string scaling_ = "strong";
  std::string of_ = "ranks";
};

}  // namespace

std::unique_ptr<Command> make_efficiency_command() { return std::make_unique<EfficiencyCommand>(); }

}  // namespace fathom::cli
