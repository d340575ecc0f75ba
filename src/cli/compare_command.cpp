// fathom compare: are profiles equal.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/profile_arguments.hpp"
#include "profile/inspect/inspect.hpp"

namespace fathom::cli {

namespace {

class CompareCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("PATH", paths_, "two or more profiles: each is compared with the first")
        .values("-m,--metric", "METRIC", metrics_, "compare these only; patterns; repeatable")
        .value("--tolerance", "X", &tolerance_,
               "relative difference that counts as equal; default: two units in the last place")
        .value("--absolute", "X", &absolute_, "difference that counts as equal, in the metric's unit")
        .about(
            "Are profiles equal: trees, ids and every stored value? Exit status 1 when not. What changed between two "
            "profiles is the business of diff.")
        .example("fathom compare before.cubex after.cubex", "equal, or the first difference")
        .example("fathom compare run*.cubex -m visits", "did all runs do the same?");
  }
  Result<int> run(Session& session) override {
    if (paths_.size() < 2) return Error::usage("compare needs two profiles or more");
    FATHOM_TRY(const ProfilePtr first, session.open_profile(paths_[0]));
    FATHOM_TRY(const auto chosen, choose_metrics(first->defs(), metrics_));
    std::vector<std::string> names;
    for (const MetricId id : chosen) names.push_back(first->defs().metric(id).name);
    inspect::Comparison shown;
    for (std::size_t i = 1; i < paths_.size(); ++i) {
      FATHOM_TRY(const ProfilePtr other, session.open_profile(paths_[i]));
      FATHOM_TRY(const inspect::Comparison result, inspect::compare(*first, *other, tolerance_, names, absolute_));
      // One result is told: the first that is not equal, or the last.
      if (shown.equal()) shown = result;
      if (!session.json()) print(session, result, paths_.size() > 2 ? paths_[i] + ": " : "");
    }
    if (session.json()) write_json(session, shown);
    return shown.equal() ? kDone : kRefused;
  }

 private:
  static void print(Session& session, const inspect::Comparison& result, const std::string& lead) {
    if (result.equal()) {
      session.out().write(fmt::format("{}equal: {} values\n", lead, result.values));
    } else if (result.different > 0) {
      session.out().write(fmt::format("{}different: {} of {} values; first: {}\n", lead, result.different,
                                      result.values, result.first_difference));
    } else {
      session.out().write(fmt::format("{}different: {}\n", lead, result.first_difference));
    }
  }
  static void write_json(Session& session, const inspect::Comparison& result) {
    JsonWriter json(session.out());
    json.begin_object();
    json.member("equal", result.equal());
    json.member("metrics_equal", result.metrics_equal);
    json.member("contexts_equal", result.contexts_equal);
    json.member("system_equal", result.system_equal);
    json.member("values", result.values);
    json.member("different", result.different);
    json.member("first_difference", result.first_difference);
    session.write_diagnostics(json);
    json.end_object();
  }

  std::vector<std::string> paths_;
  std::vector<std::string> metrics_;
  double tolerance_ = 0;
  double absolute_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace fathom::cli
