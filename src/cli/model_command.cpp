// fathom model: scaling models of an experiment or a directory of runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/experiment_options.hpp"
#include "cli/session.hpp"
#include "experiment/collect.hpp"
#include "experiment/strong_scaling.hpp"
#include "experiment/unit.hpp"
#include "findings/model_ranking.hpp"
#include "formats/extrap/extra_p_writer.hpp"
#include "formats/registry.hpp"
#include "io/output_file.hpp"
#include "model/fit.hpp"
#include "model/predict.hpp"
#include "report/csv.hpp"
#include "report/model_plot.hpp"
#include "report/model_print.hpp"
#include "report/text_table.hpp"

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
    declare_experiment_options(options, experiment_);
    declare_keep_values(options, experiment_);
    options.flag("--stored", stored_, "the models that the file holds instead of new ones")
        .flag("--sets", list_sets_, "list the sets of models that the file holds")
        .value("--set", "NAME", &set_, "with --stored: this set of models, where the file holds several")
        .values("--rename-set", "OLD=NEW", rename_sets_, "with --stored --save: give a set another name")
        .values("--delete-set", "NAME", delete_sets_, "with --stored --save: leave a set out")
        .values("-m,--metric", "M", metrics_, "only this metric (a name or a pattern)")
        .values("--callpath", "C", callpaths_, "only this call path (a name or a pattern)")
        .values("--predict", "P=N,...", predict_, "the models' values at this point")
        .value("--expect", "GROWTH", &expect_,
               "what growth is acceptable, e.g. \"log2(p)\", the default; strong scaling: 1")
        .value("--at", "P=N,...", &at_, "the scale that matters; default 16 times the largest of the first parameter")
        .value("-n,--number", "N", &number_, "rows of the table; 0 = all")
        .value("--print", "WHAT", &print_, "as Extra-P prints it: all, functions, callpaths, ..., or a format string")
        .value("--out", "FILE", &out_, "also write what --print prints to a file")
        .value("--save", "FILE", &save_, "write the experiment with its models as .extra-p")
        .value("--model-set-name", "NAME", &set_name_, "name of the saved models; default 'New model'")
        .value("--plot", "FILE.svg", &plot_, "draw points and models (one or two parameters)")
        .example("fathom model runs/ --at p=65536", "what hurts at 65536 processes")
        .example("fathom model experiment.txt --predict p=1024 --json", "models and predictions for scripts")
        .example("fathom model experiment.txt --metric time --plot time.svg", "points and models as a figure");
  }

  Result<int> run(Session& session) override {
    apply_experiment_options(experiment_, *session.work());
    FATHOM_TRY(const DatasetPtr dataset, open_experiment(session, paths_));
    FATHOM_TRY(experiment_data_, dataset->experiment());
    const Experiment& e = *experiment_data_;
    if (list_sets_) return list_sets(session, *dataset);
    FATHOM_TRY(ModelSets sets, stored_ ? stored_sets(*dataset) : fitted(session));
    if (stored_) FATHOM_CHECK(change_sets(sets));
    // What is saved is everything; what is shown is what was asked for.
    if (save_) FATHOM_CHECK(save(session, *dataset, sets));
    if (stored_) FATHOM_CHECK(choose_set(session, sets));
    if (!metrics_.empty() || !callpaths_.empty()) whole_ = sets.front();
    for (ModelSet& set : sets) FATHOM_CHECK(filter(set));
    if (stored_) options_.measure = sets.front().modeler.measure;
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
      for (std::size_t at = 0; at < points.size(); ++at) warn_of_guesses(session, models, points[at], at);
    }
    if (session.json()) {
      write_json(session, sets.front(), points);
      return kDone;
    }
    if (session.csv()) {
      write_csv(session, sets.front(), points);
      return kDone;
    }
    if (save_ || plot_) {
      if (points.empty() && at_.empty() && !expect_) return kDone;
    }
    if (!points.empty()) return write_predictions(session, sets.front(), points);
    return write_table(session, sets.front());
  }

 private:
  static Result<ModelSets> stored_sets(Dataset& dataset) {
    FATHOM_TRY(const auto models, dataset.models());
    if (models->empty()) return Error("the file holds no models").hint("leave out --stored to make some");
    return ModelSets(*models);
  }

  static std::vector<std::string> names_of(const ModelSets& sets) {
    std::vector<std::string> names;
    for (const ModelSet& set : sets) names.push_back(set.name);
    return names;
  }

  static Result<ModelSets::iterator> find_set(ModelSets& sets, const std::string& name) {
    const auto found = std::find_if(sets.begin(), sets.end(), [&](const ModelSet& set) { return set.name == name; });
    if (found != sets.end()) return found;
    return Error::usage(fmt::format("no set of models is called '{}'{}", name, did_you_mean(name, names_of(sets))))
        .hint(fmt::format("there are: {}", fmt::join(names_of(sets), ", ")));
  }

  Result<void> change_sets(ModelSets& sets) const {
    if ((!rename_sets_.empty() || !delete_sets_.empty()) && !save_) {
      return Error::usage("--rename-set and --delete-set need --save FILE");
    }
    for (const std::string& change : rename_sets_) {
      const auto equals = change.find('=');
      if (equals == std::string::npos) return Error::usage(fmt::format("'{}' is not OLD=NEW", change));
      FATHOM_TRY(const auto set, find_set(sets, change.substr(0, equals)));
      set->name = change.substr(equals + 1);
    }
    for (const std::string& name : delete_sets_) {
      FATHOM_TRY(const auto set, find_set(sets, name));
      sets.erase(set);
    }
    if (sets.empty()) return Error::usage("no set of models is left");
    return {};
  }

  // The one that was named becomes the only one.
  Result<void> choose_set(Session& session, ModelSets& sets) const {
    if (set_) {
      FATHOM_TRY(const auto set, find_set(sets, *set_));
      ModelSet chosen = std::move(*set);
      sets.clear();
      sets.push_back(std::move(chosen));
    } else if (sets.size() > 1 && !print_) {
      session.note(fmt::format("the file holds {} sets of models, '{}' is shown; --set NAME takes another: {}",
                               sets.size(), sets.front().name, fmt::join(names_of(sets), ", ")));
    }
    return {};
  }

  static Result<int> list_sets(Session& session, Dataset& dataset) {
    FATHOM_TRY(const ModelSets sets, stored_sets(dataset));
    if (session.json()) {
      JsonWriter json(session.out());
      json.begin_array();
      for (const ModelSet& set : sets) {
        json.begin_object().member("name", std::string_view(set.name));
        json.member("models", std::uint64_t{set.models.size()}).end_object();
      }
      json.end_array();
      return kDone;
    }
    if (session.csv()) {
      CsvWriter csv(session.out());
      csv.header({"name", "models"});
      for (const ModelSet& set : sets) {
        csv.field(set.name);
        csv.field(std::to_string(set.models.size()));
        csv.end_row();
      }
      return kDone;
    }
    TextTable table;
    table.column("SET", Align::left, true).column("MODELS", Align::right);
    for (const ModelSet& set : sets) table.row({{set.name}, {grouped(set.models.size())}});
    session.out().write(table.text(session.terminal()));
    return kDone;
  }

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
    if (!target.has_extension()) target += ".extra-p";
    // Models that the file holds stay; the new ones are added to them.
    ModelSets all;
    const auto levels = dataset.levels();
    if (!stored_ && std::find(levels.begin(), levels.end(), Level::model) != levels.end()) {
      FATHOM_TRY(const auto kept, dataset.models());
      all = *kept;
    }
    all.insert(all.end(), sets.begin(), sets.end());
    FATHOM_CHECK(extrap::write_extra_p(*experiment_data_, all, target, experiment_.keep_values));
    session.note(fmt::format("wrote {}", target.string()));
    return {};
  }

  Result<void> plot(Session& session, const ModelSet& set) const {
    const Experiment& e = *experiment_data_;
    std::optional<std::vector<double>> reach;
    if (!at_.empty()) {
      FATHOM_TRY(reach, parse_point(at_, e.parameters(), largest_point(e)));
    }
    FATHOM_TRY(const Figure figure, plot_models(e, set, Predictor(e, options_), reach));
    FATHOM_CHECK(write_file(*plot_, figure.svg));
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

  // Says what of the forecasts at a point (the one numbered `at` in forecasts_) is no more than a guess.
  void warn_of_guesses(Session& session, std::span<const Model* const> models, std::span<const double> point,
                       std::size_t at) const {
    const Experiment& e = *experiment_data_;
    std::set<std::uint32_t> judged;  // point sets
    double distance = 1;
    std::size_t wide = 0;
    const Model* widest = nullptr;
    double most = kWideInterval;
    for (std::size_t i = 0; i < models.size(); ++i) {
      const Series& s = e.series()[models[i]->series];
      if (judged.insert(s.point_set).second) distance = std::max(distance, extrapolation(e, s, point));
      const double factor = uncertainty(forecasts_[i][at]);
      if (!(factor > kWideInterval)) continue;
      ++wide;
      if (factor > most) {
        most = factor;
        widest = models[i];
      }
    }
    if (distance > kFarExtrapolation) {
      session.warn(fmt::format("{} lies {:.0f} times outside what was measured: predictions there are guesses",
                               named_point(e, point), distance));
    }
    if (widest == nullptr) return;
    const Series& s = e.series()[widest->series];
    session.warn(
        fmt::format("at {} {} of {} models {} known only to within a factor of {:.0f} or more; worst: '{}' of {}, a "
                    "factor of {:.2g}",
                    named_point(e, point), wide, models.size(), wide == 1 ? "is" : "are", kWideInterval,
                    e.metrics()[s.metric].name, e.callpaths()[s.callpath].name, most));
  }

  // Per model, one for each point.
  Result<std::vector<std::vector<Forecast>>> forecasts(std::span<const Model* const> models,
                                                       const std::vector<std::vector<double>>& points) const {
    const Predictor predictor(*experiment_data_, options_);
    std::vector<std::vector<Forecast>> out(models.size());
    FATHOM_CHECK(parallel_for(models.size(), [&](std::size_t i) -> Result<void> {
      out[i] = predictor.at(*models[i], points);
      return {};
    }));
    return out;
  }

  void write_json(Session& session, const ModelSet& set, const std::vector<std::vector<double>>& points) const {
    const Experiment& e = *experiment_data_;
    JsonWriter json(session.out());
    json.begin_array();
    for (std::size_t i = 0; i < set.models.size(); ++i) {
      if (session.out().closed()) return;
      const Model& model = set.models[i];
      const Series& s = e.series()[model.series];
      json.begin_object()
          .member("callpath", std::string_view(e.callpaths()[s.callpath].name))
          .member("metric", std::string_view(e.metrics()[s.metric].name))
          .member("function", std::string_view(text(model.function, e.parameters())));
      if (model.function.segments.empty()) {
        json.key("terms").raw(terms_json(model.function, e.parameters()));
      } else {
        json.key("segments").raw(segments_json(model.function.segments, e.parameters()));
      }
      const Quality& q = model.quality;
      json.member("RSS", q.rss).member("rRSS", q.rrss).member("SMAPE", q.smape).member("AR2", q.ar2).member("RE", q.re);
      json.key("predictions").begin_array();
      for (std::size_t at = 0; at < points.size(); ++at) {
        json.begin_object().key("point").begin_object();
        for (std::size_t p = 0; p < points[at].size(); ++p) json.member(e.parameters()[p], points[at][p]);
        const Forecast& f = forecasts_[i][at];
        json.end_object().member("value", f.value);
        json.member("low", f.prediction.low).member("high", f.prediction.high).end_object();
      }
      json.end_array().end_object();
    }
    json.end_array();
  }

  // One row per model, or per model and point of --predict; without the latter its columns are empty.
  void write_csv(Session& session, const ModelSet& set, const std::vector<std::vector<double>>& points) const {
    const Experiment& e = *experiment_data_;
    CsvWriter csv(session.out());
    csv.header(
        {"callpath", "metric", "function", "RSS", "rRSS", "SMAPE", "AR2", "RE", "point", "value", "low", "high"});
    for (std::size_t i = 0; i < set.models.size() && !csv.closed(); ++i) {
      const Model& model = set.models[i];
      const Series& s = e.series()[model.series];
      const std::string function = text(model.function, e.parameters());
      for (std::size_t at = 0; at < std::max<std::size_t>(points.size(), 1); ++at) {
        csv.field(e.callpaths()[s.callpath].name);
        csv.field(e.metrics()[s.metric].name);
        csv.field(function);
        const Quality& q = model.quality;
        for (const double figure : {q.rss, q.rrss, q.smape, q.ar2, q.re}) csv.field(figure);
        if (points.empty()) {
          for (int column = 0; column < 4; ++column) csv.field("");
        } else {
          const Forecast& f = forecasts_[i][at];
          csv.field(named_point(e, points[at]));
          for (const double figure : {f.value, f.prediction.low, f.prediction.high}) csv.field(figure);
        }
        csv.end_row();
      }
    }
  }

  Result<int> write_predictions(Session& session, const ModelSet& set,
                                const std::vector<std::vector<double>>& points) const {
    const Experiment& e = *experiment_data_;
    TextTable table;
    table.column("call path", Align::left, true).column("metric").column("model", Align::left, true);
    for (const auto& point : points) table.column(named_point(e, point), Align::right);
    for (std::size_t i = 0; i < set.models.size(); ++i) {
      const Model& model = set.models[i];
      const Series& s = e.series()[model.series];
      std::vector<Cell> cells = {{e.callpaths()[s.callpath].name}, {shown_metric(s)}, {short_model(model)}};
      for (const Forecast& f : forecasts_[i]) {
        std::string shown = fmt::format("{:.4g}", f.value);
        if (std::isfinite(f.prediction.low)) {
          shown += fmt::format(" [{:.4g}, {:.4g}]", f.prediction.low, f.prediction.high);
        }
        cells.emplace_back(std::move(shown));
      }
      table.row(std::move(cells));
    }
    session.out().write(table.text(session.terminal()));
    return kDone;
  }

  [[nodiscard]] std::string shown_metric(const Series& series) const {
    const Named& metric = experiment_data_->metrics()[series.metric];
    const std::string unit = unit_of(metric);
    return unit.empty() ? metric.name : fmt::format("{} [{}]", metric.name, unit);
  }

  // Coefficients with four digits: enough for reading.
  [[nodiscard]] std::string short_model(const Model& model) const {
    Function shown = model.function;
    const auto cut = [](double v) { return std::isfinite(v) ? std::stod(fmt::format("{:.4g}", v)) : v; };
    const auto cut_all = [&](Function& f) {
      f.constant = cut(f.constant);
      for (Term& t : f.terms) t.coefficient = cut(t.coefficient);
    };
    cut_all(shown);
    for (Segment& s : shown.segments) cut_all(s.function);
    std::string out = text(shown, experiment_data_->parameters());
    std::replace(out.begin(), out.end(), '\n', ';');
    return out;
  }

  Result<int> write_table(Session& session, const ModelSet& set) {
    const Experiment& e = *experiment_data_;
    if (const auto shrinking = strong_scaling_parameter(e); shrinking && e.scaling() != Scaling::strong) {
      session.note(
          fmt::format("values get smaller with '{0}'; --multiply-by {0} models the cost of all of them together",
                      e.parameters()[*shrinking]));
    }
    RankingOptions options;
    options.expect = expect_;
    if (!at_.empty()) {
      FATHOM_TRY(options.at, parse_point(at_, e.parameters(), largest_point(e)));
    }
    // Shares are of everything, whatever is shown of it.
    FATHOM_TRY(Ranking ranking, rank_models(e, whole_.models.empty() ? set : whole_, options));
    std::set<std::uint32_t> chosen;
    std::size_t extremes = 0;
    for (const Model& m : set.models) {
      // Minima and maxima are no part of anything, so that they are only ranked when asked for.
      const bool extreme = find_tag(e.metrics()[e.series()[m.series].metric].tags, kExtremeTag) != nullptr;
      if (extreme && metrics_.empty()) {
        ++extremes;
      } else {
        chosen.insert(m.series);
      }
    }
    std::erase_if(ranking.models, [&](const RankedModel& r) { return !chosen.contains(r.model->series); });
    if (extremes > 0) {
      session.note(fmt::format("{} models of minima and maxima are not ranked (--metric NAME does)", extremes));
    }
    const bool several_metrics = e.metrics().size() > 1;
    TextTable table;
    table.column("").column("call path", Align::left, true);
    if (several_metrics) table.column("metric");
    table.column("model", Align::left, true).column("growth").column("SMAPE", Align::right);
    table.column("share now", Align::right).column("at target", Align::right);
    const std::size_t rows =
        number_ == 0 ? ranking.models.size() : std::min<std::size_t>(number_, ranking.models.size());
    std::vector<const Model*> shown;
    // The worst are enough to judge: intervals cost more than models.
    for (std::size_t i = 0; i < std::min<std::size_t>(rows, kRows); ++i) shown.push_back(ranking.models[i].model);
    FATHOM_TRY(forecasts_, forecasts(shown, {ranking.target}));
    warn_of_guesses(session, shown, ranking.target, 0);
    for (std::size_t i = 0; i < rows; ++i) {
      const RankedModel& r = ranking.models[i];
      const Series& s = e.series()[r.model->series];
      std::string growth;
      for (std::size_t p = 0; p < r.growth.size(); ++p) {
        if (r.growth[p].constant()) continue;
        growth += (growth.empty() ? "" : ", ") + r.growth[p].text(e.parameters()[p]);
      }
      if (growth.empty()) growth = "constant";
      std::vector<Cell> cells = {{r.bug ? "!" : (r.unsure ? "?" : ""), Style::red}, {e.callpaths()[s.callpath].name}};
      if (several_metrics) cells.emplace_back(shown_metric(s));
      cells.emplace_back(short_model(*r.model));
      cells.emplace_back(growth, r.bug ? Style::red : Style::plain);
      cells.emplace_back(fmt::format("{:.1f}%", r.model->quality.smape));
      cells.emplace_back(percent(r.share_now, 1));
      cells.emplace_back(percent(r.share_then, 1), heat(r.share_then));
      table.row(std::move(cells));
    }
    std::string text = fmt::format("{} models; now: {}; target: {}\n\n", ranking.models.size(),
                                   named_point(e, ranking.largest), named_point(e, ranking.target));
    text += table.text(session.terminal());
    if (rows < ranking.models.size())
      text += fmt::format("… and {} more (-n 0 shows all)\n", ranking.models.size() - rows);
    const auto list = [&](std::string_view title, bool RankedModel::*which) {
      bool first = true;
      for (std::size_t i = 0; i < rows; ++i) {
        if (!(ranking.models[i].*which)) continue;
        text += fmt::format("{}  {}\n", first ? fmt::format("\n{}:\n", title) : "", ranking.models[i].explanation);
        first = false;
      }
    };
    list("Scalability bugs (!)", &RankedModel::bug);
    list("Not sure (?)", &RankedModel::unsure);
    session.out().write(text);
    return kDone;
  }

  std::vector<std::string> paths_;
  std::string modeler_ = "default";
  std::string measure_ = "mean";
  std::vector<std::string> settings_;
  ExperimentOptions experiment_;
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
  ExperimentPtr experiment_data_;
  ModelSet whole_;  // before anything was filtered; without models where nothing was
  std::optional<std::string> set_;
  bool list_sets_ = false;
  std::vector<std::string> rename_sets_;
  std::vector<std::string> delete_sets_;
  FitOptions options_;                            // of the fit; stored models: the defaults
  std::vector<std::vector<Forecast>> forecasts_;  // per shown model and point of --predict or --at
};

}  // namespace

std::unique_ptr<Command> make_model_command() { return std::make_unique<ModelCommand>(); }

}  // namespace fathom::cli
