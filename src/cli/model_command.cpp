// fathom model: scaling models of an experiment or a directory of runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/commands.hpp"
#include "cli/company.hpp"
#include "cli/model_output.hpp"
#include "cli/model_remarks.hpp"
#include "cli/model_sets.hpp"
#include "cli/reading_options.hpp"
#include "cli/session.hpp"
#include "experiment/usual_metric.hpp"
#include "formats/experiment_dataset.hpp"
#include "formats/registry.hpp"
#include "io/opened_files.hpp"
#include "io/output_file.hpp"
#include "model/difference.hpp"
#include "model/fit.hpp"
#include "model/predict.hpp"
#include "model/ranking.hpp"
#include "report/model_plot.hpp"
#include "report/model_print.hpp"
#include "report/plot_image.hpp"

namespace fathom::cli {

namespace {

constexpr std::uint64_t kRows = 20;

class ModelCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("PATH", paths_, "an experiment, a directory of runs, or the runs themselves")
        .value("--modeler", "M", &modeler_, "default, basic, refining, segmented, multi-parameter or robust")
        .choice("--measure", measure_, {"mean", "median", "minimum", "maximum"}, "which figure of the repetitions")
        .values("--option", "KEY=VALUE", settings_,
                "an option of the modeler (allow_log_terms=false, sp.NAME=..., ...)");
    experiment_.declare(options);
    options.flag("--keep-values", keep_values_, "save the single values, not only their statistics");
    options.flag("--stored", stored_, "the models that the file holds instead of new ones");
    choice_of_sets_.declare(options);
    options.values("-m,--metric", "M", metrics_, "only this metric (a name or a pattern)")
        .values("--callpath", "C", callpaths_, "only this call path (a name or a pattern)")
        .values("--predict", "P=N,...", predict_, "the models' values at this point")
        .value("--expect", "GROWTH", &expect_,
               "what growth is acceptable, e.g. \"log2(p)\", the default; strong scaling: 1")
        .value("--at", "P=N,...", &at_, "the scale that matters; default 16 times the largest of the first parameter")
        .value("-n,--number", "N", &number_, "rows of the table; 0 = all")
        .value("--print", "WHAT", &print_, "as Extra-P prints it: all, functions, callpaths, ..., or a format string")
        .value("-o,--output", "FILE", &out_, "also write what --print prints to a file")
        .was("--out")
        .value("--save", "FILE", &save_, "write the experiment with its models as .extra-p")
        .value("--model-set-name", "NAME", &set_name_, "name of the saved models; default 'New model'")
        .value("--plot", "FILE", &plot_, "draw points and models; FILE ends in .svg, .pdf or .png")
        .choice("--plot-as", plot_as_, {"map", "contour", "surface"}, "how two parameters are drawn; default map")
        .value("--minus", "PATH", &minus_,
               "these models less those of another experiment, or with --stored of another set: table and plot")
        .flag("--fail-on-bug", fail_on_bug_, "exit status 1 when something grows faster than --expect allows")
        .example("fathom model runs/ --at p=65536", "what hurts at 65536 processes")
        .example("fathom model experiment.txt --predict p=1024 --json", "models and predictions for scripts")
        .example("fathom model experiment.txt --metric time --plot time.pdf", "points and models as a figure")
        .example("fathom model runs/ --at p=65536 --fail-on-bug", "a gate for CI");
  }

  Result<int> run(Session& session) override {
    if (plot_) FATHOM_CHECK(check_figure_name(*plot_));
    FATHOM_CHECK(choice_of_sets_.check(stored_));
    FATHOM_CHECK(experiment_.apply(*session.work()));
    FATHOM_TRY(const DatasetPtr dataset, open_experiment(session, paths_));
    experiment_.tell_unused(session, *dataset);
    for (const auto& target : {plot_, out_}) {
      if (target) FATHOM_CHECK(spare_inputs(*target));
    }
    FATHOM_CHECK(first_alone(session, "modelling is"));
    FATHOM_TRY(experiment_data_, dataset->experiment());
    const Experiment& e = *experiment_data_;
    if (choice_of_sets_.list) return list_model_sets(session, *dataset);
    FATHOM_TRY(ModelSets sets, stored_ ? stored_model_sets(*dataset) : fitted(session));
    if (stored_) FATHOM_CHECK(choice_of_sets_.change(sets, save_.has_value()));
    // What is saved is everything; what is shown is what was asked for.
    if (save_) FATHOM_CHECK(save(session, *dataset, sets));
    if (stored_) {
      for (const ModelSet& set : sets) other_sets_[set.name] = set;
      FATHOM_CHECK(choice_of_sets_.choose(session, sets, print_.has_value()));
    }
    if (!metrics_.empty() || !callpaths_.empty()) whole_ = sets.front();
    for (ModelSet& set : sets) FATHOM_CHECK(filter(set));
    if (stored_) options_.measure = sets.front().modeler.measure;
    if (minus_) return write_difference(session, sets.front());
    if (plot_) FATHOM_CHECK(plot(session, sets.front()));
    if (print_) return print(session, sets);
    std::vector<std::vector<double>> points;
    for (const std::string& text : predict_) {
      FATHOM_TRY(auto point, parse_point(text, e.parameters()));
      points.push_back(std::move(point));
    }
    if (!points.empty()) {
      std::vector<const Model*> models;
      for (const Model& m : sets.front().models) models.push_back(&m);
      FATHOM_TRY(forecasts_, forecasts(models, points));
      for (std::size_t at = 0; at < points.size(); ++at)
        warn_of_guesses(session, e, models, points[at], forecasts_, at);
    }
    const ShownModels shown{e, sets.front(), points, forecasts_};
    if (session.json() || session.csv()) {
      FATHOM_TRY(const Ranking ranking, ranked(sets.front()));
      if (session.json()) {
        write_models_json(session, shown, ranking);
      } else {
        write_models_csv(session, shown);
      }
      return verdict(session, ranking);
    }
    if (save_ || plot_) {
      if (points.empty() && at_.empty() && !expect_ && !fail_on_bug_) return kDone;
    }
    if (points.empty()) return write_table(session, sets.front());
    session.out().write(predictions_text(shown, session.terminal()));
    if (!fail_on_bug_) return kDone;
    FATHOM_TRY(const Ranking ranking, ranked(sets.front()));
    return verdict(session, ranking);
  }

 private:
  Result<ModelSets> fitted(Session& session) {
    Measure measure = Measure::mean;
    for (const Measure m : {Measure::median, Measure::minimum, Measure::maximum}) {
      if (measure_ == to_string(m)) measure = m;
    }
    FATHOM_TRY(options_, fit_options(modeler_, experiment_data_->parameters().size(), measure, settings_));
    FATHOM_TRY(ModelSet set, fit(*experiment_data_, options_, session.work()));
    set.name = set_name_;
    ModelSets sets;
    sets.push_back(std::move(set));
    return sets;
  }

  static bool wanted(const std::vector<std::string>& patterns, const std::string& name) {
    return patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                           [&](const std::string& p) { return p == name || matches_pattern(p, name); });
  }

  Result<void> filter(ModelSet& set) const {
    const Experiment& e = *experiment_data_;
    std::erase_if(set.models, [&](const Model& m) {
      const Series& s = e.series()[m.series];
      return !wanted(metrics_, e.metrics()[s.metric].name) || !wanted(callpaths_, e.callpaths()[s.callpath].name);
    });
    if (!set.models.empty() || (metrics_.empty() && callpaths_.empty())) return {};
    std::vector<std::string> names;
    const bool metric = !metrics_.empty();
    for (const Named& n : metric ? e.metrics() : e.callpaths()) names.push_back(n.name);
    const std::string& asked = metric ? metrics_.front() : callpaths_.front();
    return Error::usage(fmt::format("no model matches {} '{}'{}", metric ? "--metric" : "--callpath", asked,
                                    did_you_mean(asked, names)));
  }

  Result<void> save(Session& session, Dataset& dataset, const ModelSets& sets) const {
    std::filesystem::path target = *save_;
    const std::string name = target.filename().string();
    if (name.empty() || name == "." || name == "..") {
      return Error::usage(fmt::format("--save {} is a directory, no file", visible(*save_)));
    }
    if (!target.has_extension() && !is_stream_target(target)) target += ".extra-p";
    // Models that the file holds stay; the new ones are added to them.
    ModelSets all;
    const auto levels = dataset.levels();
    if (!stored_ && std::find(levels.begin(), levels.end(), Level::model) != levels.end()) {
      FATHOM_TRY(const auto kept, dataset.models());
      all = *kept;
    }
    all.insert(all.end(), sets.begin(), sets.end());
    FATHOM_TRY(const Format* format, find_format("extra-p"));
    if (format != &dataset.format()) FATHOM_CHECK(spare_inputs(target));
    // What reading was told to do to the experiment is done: nothing of it a second time.
    ExperimentDataset saved(*format, target, make_work(), experiment_data_);
    saved.use_as_it_is();
    saved.set_models(std::move(all));
    WriteOptions how;
    how.options.emplace_back("keep-values", keep_values_ ? "true" : "false");
    FATHOM_CHECK(format->write(saved, target, how));
    session.note(fmt::format("wrote {}", target.string()));
    return {};
  }

  Result<void> plot(Session& session, const ModelSet& set) const {
    const Experiment& e = *experiment_data_;
    FATHOM_TRY(const RankingOptions ranking, ranking_options(e));
    const Predictor predictor(e, options_);
    // One metric in a figure: the one that the table shows.
    std::vector<std::uint32_t> there;
    for (const Model& m : set.models) there.push_back(e.series()[m.series].metric);
    ModelSet drawn = set;
    if (const auto usual = usual_metric(e, there); usual && metrics_.empty()) {
      std::erase_if(drawn.models, [&](const Model& m) { return e.series()[m.series].metric != *usual; });
    }
    FATHOM_TRY(const Figure figure, plot_models(e, drawn, &predictor, {ranking, !at_.empty(), plot_as_}));
    return write_plot(session, figure);
  }

  Result<void> write_plot(Session& session, const Figure& figure) const {
    FATHOM_CHECK(write_figure(*plot_, figure.svg));
    if (!figure.note.empty()) session.note(figure.note);
    session.note(fmt::format("wrote {}", *plot_));
    return {};
  }

  Result<int> print(Session& session, const ModelSets& sets) const {
    const bool chosen = !metrics_.empty() || !callpaths_.empty();
    FATHOM_TRY(const std::string text,
               print_models(*experiment_data_, sets, *print_, chosen ? Pairs::modelled : Pairs::every));
    if (out_) FATHOM_CHECK(write_file(*out_, text));
    session.out().write(text);
    session.out().write("\n");
    return kDone;
  }

  // Per model, one for each point.
  Result<std::vector<std::vector<Forecast>>> forecasts(std::span<const Model* const> models,
                                                       const std::vector<std::vector<double>>& points) const {
    const Predictor predictor(*experiment_data_, options_, models);
    std::vector<std::vector<Forecast>> out(models.size());
    FATHOM_CHECK(parallel_for(models.size(), [&](std::size_t i) -> Result<void> {
      out[i] = predictor.at(*models[i], points);
      return {};
    }));
    return out;
  }

  Result<Ranking> ranked(const ModelSet& set) const {
    const Experiment& e = *experiment_data_;
    FATHOM_TRY(const RankingOptions options, ranking_options(e));
    // Shares are of everything, whatever is shown of it.
    FATHOM_TRY(Ranking ranking, rank_models(e, whole_.models.empty() ? set : whole_, options));
    if (metrics_.empty()) spare_extremes(e, ranking);
    if (whole_.models.empty()) return ranking;
    std::set<std::uint32_t> chosen;
    for (const Model& m : set.models) chosen.insert(m.series);
    std::erase_if(ranking.models, [&](const RankedModel& r) { return !chosen.contains(r.model->series); });
    return ranking;
  }

  Result<RankingOptions> ranking_options(const Experiment& e) const {
    RankingOptions options;
    options.expect = expect_;
    if (!at_.empty()) {
      FATHOM_TRY(options.at, parse_point(at_, e.parameters(), largest_point(e)));
    }
    return options;
  }

  Result<int> write_table(Session& session, const ModelSet& set) {
    const Experiment& e = *experiment_data_;
    note_strong_scaling(session, e);
    FATHOM_TRY(Ranking ranking, ranked(set));
    if (metrics_.empty()) keep_usual_metric(session, e, ranking);
    const std::size_t rows =
        number_ == 0 ? ranking.models.size() : std::min<std::size_t>(number_, ranking.models.size());
    std::vector<const Model*> shown;
    // The worst are enough to judge: intervals cost more than models.
    for (std::size_t i = 0; i < std::min<std::size_t>(rows, kRows); ++i) shown.push_back(ranking.models[i].model);
    FATHOM_TRY(forecasts_, forecasts(shown, {ranking.target}));
    warn_of_guesses(session, e, shown, ranking.target, forecasts_, 0);
    session.out().write(ranking_text(e, ranking, rows, session.terminal()));
    return verdict(session, ranking);
  }

  // --fail-on-bug: 1 when something grows faster than it may.
  [[nodiscard]] int verdict(Session& session, const Ranking& ranking) const {
    if (!fail_on_bug_) return kDone;
    const auto bugs = std::count_if(ranking.models.begin(), ranking.models.end(), [](const auto& r) { return r.bug; });
    if (bugs == 0) return kDone;
    session.warn(fmt::format("--fail-on-bug: {} of {} models grow{} faster than {}", bugs, ranking.models.size(),
                             bugs == 1 ? "s" : "", expect_ ? *expect_ : "expected"));
    return kRefused;
  }

  // --minus: this experiment's models less those of another, or less another set of the same file.
  Result<int> write_difference(Session& session, const ModelSet& set) {
    const Experiment& e = *experiment_data_;
    ExperimentPtr other = experiment_data_;
    ModelSet subtracted;
    if (stored_ && other_sets_.contains(*minus_)) {
      subtracted = other_sets_.at(*minus_);
    } else {
      FATHOM_TRY(const DatasetPtr dataset, open_experiment(session, {*minus_}));
      FATHOM_TRY(other, dataset->experiment());
      if (plot_) FATHOM_CHECK(spare_inputs(*plot_));
      FATHOM_TRY(subtracted, fit(*other, options_, session.work()));
    }
    FATHOM_TRY(const ModelDifference changed, difference(e, set, *other, subtracted, session.work()));
    if (changed.only_a + changed.only_b + changed.piecewise > 0) {
      session.note(fmt::format("left out: {} models of the first only, {} of the second only, {} in pieces",
                               changed.only_a, changed.only_b, changed.piecewise));
    }
    FATHOM_TRY(const RankingOptions options, ranking_options(e));
    if (plot_) {
      const FigureOptions figure_options{options, !at_.empty(), plot_as_};
      FATHOM_TRY(const Figure figure, plot_models(*changed.experiment, changed.set, nullptr, figure_options));
      FATHOM_CHECK(write_plot(session, figure));
    }
    std::vector<double> target = options.at;
    if (target.empty()) {
      target = largest_point(e);
      target[0] *= kFarExtrapolation;
    }
    return show_difference(session, changed, largest_point(*changed.experiment), target, number_);
  }

  std::vector<std::string> paths_;
  std::string modeler_ = "default";
  std::string measure_ = "mean";
  std::vector<std::string> settings_;
  ReadingOptions experiment_;
  bool keep_values_ = false;
  bool stored_ = false;
  std::vector<std::string> metrics_;
  std::vector<std::string> callpaths_;
  std::vector<std::string> predict_;
  std::optional<std::string> expect_;
  std::string at_;
  std::uint64_t number_ = kRows;
  std::optional<std::string> print_;
  std::optional<std::string> out_;
  std::optional<std::string> save_;
  std::string set_name_ = "New model";
  std::optional<std::string> plot_;
  std::string plot_as_;
  std::optional<std::string> minus_;
  bool fail_on_bug_ = false;
  std::map<std::string, ModelSet> other_sets_;  // --stored: by name
  ExperimentPtr experiment_data_;
  ModelSet whole_;  // before anything was filtered; without models where nothing was
  ModelSetChoice choice_of_sets_;
  FitOptions options_;                            // of the fit; stored models: the defaults
  std::vector<std::vector<Forecast>> forecasts_;  // per shown model and point of --predict or --at
};

}  // namespace

std::unique_ptr<Command> make_model_command() { return std::make_unique<ModelCommand>(); }

}  // namespace fathom::cli
