// fathom efficiency: how well runs use their machine, as the table that consultants make.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/analysis_output.hpp"
#include "cli/commands.hpp"
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
    if (of_ == "threads") return show_threads(session, paths);
    std::vector<RunEfficiency> runs;
    for (const fs::path& path : paths) {
      auto added = one_run(session, path);
      if (added) {
        runs.push_back(std::move(*added));
      } else if (paths.size() == 1 && added.error().kind() == ErrorKind::usage && has_threads(session, path)) {
        return show_threads(session, paths);
      } else if (paths.size() == 1 || added.error().kind() == ErrorKind::cancelled) {
        return std::move(added).error();
      } else {
        session.warn(fmt::format("{} is left out: {}", path.string(), added.error().text()));
      }
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
    return run_efficiency(*dataset, session.work());
  }

  std::vector<std::string> paths_;
  std::string scaling_ = "strong";
  std::string of_ = "ranks";
};

}  // namespace

std::unique_ptr<Command> make_efficiency_command() { return std::make_unique<EfficiencyCommand>(); }

}  // namespace fathom::cli
