// fathom advise: which points to measure next under a budget.
#include <fmt/format.h>

#include <algorithm>

#include "base/number.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/reading_options.hpp"
#include "cli/session.hpp"
#include "model/advisor.hpp"
#include "model/fit.hpp"
#include "model/ranking.hpp"
#include "report/text_table.hpp"

namespace fathom::cli {

namespace {

class AdviseCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("PATH", paths_, "an experiment, a directory of runs, or the runs themselves")
        .value("--budget", "COST", &budget_,
               "what measuring may cost in all: processes times the metric's unit, or core hours (500h) of seconds")
        .value("--process-parameter", "P", &process_parameter_, "the parameter that is the number of processes")
        .value("--processes", "N", &processes_, "the number of processes where no parameter is it")
        .value("-m,--metric", "M", &metric_, "the metric that measures cost; default the first")
        .values("--callpath", "C", callpaths_, "only these call paths (names or patterns)")
        .values("--values", "P=A,B,...", values_, "values of a parameter to choose from")
        .about(
            "Suggests points that make better models: first lines of five points per parameter (base), then the "
            "cheapest further points (add), then those where a Gaussian process is least sure for what they cost "
            "(gpr). "
            "The process has no random start: the same input gives the same advice.");
    experiment_.declare(options);
    options.example("fathom advise experiment.txt --budget 500h --process-parameter p", "what to measure next");
  }

  Result<int> run(Session& session) override {
    FATHOM_CHECK(experiment_.apply(*session.work()));
    FATHOM_TRY(const DatasetPtr dataset, open_experiment(session, paths_));
    experiment_.tell_unused(session, *dataset);
    FATHOM_TRY(const ExperimentPtr experiment, dataset->experiment());
    const Experiment& e = *experiment;
    FATHOM_TRY(const AdvisorOptions options, advisor_options(e));
    FATHOM_TRY(const FitOptions fitting, fit_options("default", e.parameters().size()));
    FATHOM_TRY(const ModelSet models, fit(e, fitting, session.work()));
    FATHOM_TRY(const Advice advice, advise(e, models, options, session.work()));
    if (session.json()) {
      write_json(session, e, advice);
    } else {
      write_text(session, e, advice, options);
    }
    return kDone;
  }

 private:
  static Result<std::uint32_t> parameter(const Experiment& e, std::string_view name) {
    const auto found = std::find(e.parameters().begin(), e.parameters().end(), name);
    if (found == e.parameters().end()) {
      return Error::usage(fmt::format("there is no parameter '{}'{}", name, did_you_mean(name, e.parameters())));
    }
    return static_cast<std::uint32_t>(found - e.parameters().begin());
  }

  Result<AdvisorOptions> advisor_options(const Experiment& e) const {
    AdvisorOptions options;
    FATHOM_TRY(options.budget, cost_of(budget_));
    if (process_parameter_) {
      FATHOM_TRY(options.process_parameter, parameter(e, *process_parameter_));
    } else if (processes_) {
      options.processes = *processes_;
    } else {
      options.process_parameter = 0;
    }
    if (metric_) {
      std::vector<std::string> names;
      for (const Named& m : e.metrics()) names.push_back(m.name);
      const auto found = std::find(names.begin(), names.end(), *metric_);
      if (found == names.end()) {
        return Error::usage(fmt::format("there is no metric '{}'{}", *metric_, did_you_mean(*metric_, names)));
      }
      options.metric = static_cast<std::uint32_t>(found - names.begin());
    }
    for (const std::string& pattern : callpaths_) {
      for (std::size_t i = 0; i < e.callpaths().size(); ++i) {
        if (e.callpaths()[i].name == pattern || matches_pattern(pattern, e.callpaths()[i].name)) {
          options.callpaths.push_back(static_cast<std::uint32_t>(i));
        }
      }
      if (options.callpaths.empty()) return Error::usage(fmt::format("no call path matches '{}'", pattern));
    }
    for (const std::string& text : values_) {
      const auto equals = text.find('=');
      FATHOM_TRY(const std::uint32_t p, parameter(e, std::string_view(text).substr(0, equals)));
      std::vector<double>& list = options.values[p];
      for (const std::string_view part :
           split(equals == std::string::npos ? std::string_view{} : std::string_view(text).substr(equals + 1), ',')) {
        const auto value = parse_double(trim(part));
        if (!value) return Error::usage(fmt::format("'{}' is not a number in --values {}", part, text));
        list.push_back(*value);
      }
    }
    return options;
  }

  static void write_json(Session& session, const Experiment& e, const Advice& advice) {
    JsonWriter json(session.out());
    json.begin_object().member("mode", to_string(advice.mode));
    const auto lists = [&](const char* key, const std::vector<std::vector<double>>& all) {
      json.key(key).begin_object();
      for (std::size_t p = 0; p < all.size(); ++p) {
        json.key(e.parameters()[p]).begin_array();
        for (const double v : all[p]) json.value(v);
        json.end_array();
      }
      json.end_object();
    };
    lists("value_series", advice.values);
    lists("extended_series", advice.extended);
    json.key("step").begin_object();
    for (std::size_t p = 0; p < advice.steps.size(); ++p) {
      json.key(e.parameters()[p]).begin_array();
      json.value(advice.steps[p].factor ? "*" : "+").value(advice.steps[p].size).end_array();
    }
    json.end_object();
    json.member("current_cost", advice.current_cost).member("noise", advice.noise);
    json.key("suggested").begin_array();
    for (const Suggestion& s : advice.suggestions) {
      json.begin_object().key("point").begin_object();
      for (std::size_t p = 0; p < s.point.size(); ++p) json.member(e.parameters()[p], s.point[p]);
      json.end_object().member("cost", s.cost).member("repetition", s.repetition).end_object();
    }
    json.end_array();
    session.write_diagnostics(json);
    json.end_object();
  }

  // A number; with an h behind it core hours, where values are seconds.
  static Result<double> cost_of(std::string_view text) {
    constexpr double kSecondsPerHour = 3600;
    const bool hours = text.ends_with('h');
    const auto number = parse_double(hours ? text.substr(0, text.size() - 1) : text);
    if (!number || !(*number > 0)) {
      return Error::usage("say what measuring may cost: --budget COST, more than 0")
          .hint("1.8e6, or 500h for core hours");
    }
    return *number * (hours ? kSecondsPerHour : 1);
  }

  static void write_text(Session& session, const Experiment& e, const Advice& advice, const AdvisorOptions& options) {
    const char* why = advice.mode == AdviceMode::base  ? "some parameter has no line of five points yet"
                      : advice.mode == AdviceMode::add ? "every parameter has its line; the cheapest further points"
                                                       : "where the models are least sure for what it costs";
    std::string text =
        fmt::format("measured so far: cost {}, noise {}\nsuggested ({}: {}):\n", exact_text(advice.current_cost),
                    percent(advice.noise, 1), to_string(advice.mode), why);
    session.out().write(text);
    if (advice.suggestions.empty()) {
      session.out().write(fmt::format("  nothing fits into a budget of {}\n", exact_text(options.budget)));
      return;
    }
    TextTable table;
    table.column("point").column("repetition", Align::right).column("expected cost", Align::right);
    for (const Suggestion& s : advice.suggestions) {
      table.row({{named_point(e, s.point)}, {fmt::format("{}", s.repetition)}, {fmt::format("{:.4g}", s.cost)}});
    }
    session.out().write(table.text(session.terminal()));
  }

  std::vector<std::string> paths_;
  std::string budget_;
  std::optional<std::string> process_parameter_;
  std::optional<double> processes_;
  std::optional<std::string> metric_;
  std::vector<std::string> callpaths_;
  std::vector<std::string> values_;
  ReadingOptions experiment_;
};

}  // namespace

std::unique_ptr<Command> make_advise_command() { return std::make_unique<AdviseCommand>(); }

}  // namespace fathom::cli
