#include "cli/model_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"
#include "experiment/unit.hpp"
#include "report/csv.hpp"
#include "report/text_table.hpp"
#include "report/wrapped.hpp"

namespace fathom::cli {

namespace {

std::string metric_title(const Experiment& e, const Series& series) {
  const Named& metric = e.metrics()[series.metric];
  const std::string unit = unit_of(metric);
  return unit.empty() ? metric.name : fmt::format("{} [{}]", metric.name, unit);
}

// Coefficients with four digits: enough for reading.
std::string short_model(const Experiment& e, const Model& model) {
  Function shown = model.function;
  const auto cut = [](double v) { return std::isfinite(v) ? std::stod(fmt::format("{:.4g}", v)) : v; };
  const auto cut_all = [&](Function& f) {
    f.constant = cut(f.constant);
    for (Term& t : f.terms) t.coefficient = cut(t.coefficient);
  };
  cut_all(shown);
  for (Segment& s : shown.segments) cut_all(s.function);
  std::string out = text(shown, e.parameters());
  std::replace(out.begin(), out.end(), '\n', ';');
  return out;
}

// "p^(3/2), n" or "constant".
std::string growth_text(const Experiment& e, const RankedModel& r) {
  std::string growth;
  for (std::size_t p = 0; p < r.growth.size(); ++p) {
    if (r.growth[p].constant()) continue;
    growth += (growth.empty() ? "" : ", ") + r.growth[p].text(e.parameters()[p]);
  }
  return growth.empty() ? "constant" : growth;
}

const char* mark(const RankedModel& r) { return r.bug ? "!" : (r.unsure ? "?" : ""); }

}  // namespace

void write_models_json(Session& session, const ShownModels& shown, const Ranking& ranking) {
  const Experiment& e = shown.experiment;
  std::map<std::uint32_t, const RankedModel*> ranks;
  for (const RankedModel& r : ranking.models) ranks[r.model->series] = &r;
  JsonWriter json(session.out());
  json.begin_array();
  for (std::size_t i = 0; i < shown.set.models.size(); ++i) {
    if (session.out().closed()) return;
    const Model& model = shown.set.models[i];
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
    for (std::size_t at = 0; at < shown.points.size(); ++at) {
      json.begin_object().key("point").begin_object();
      for (std::size_t p = 0; p < shown.points[at].size(); ++p) json.member(e.parameters()[p], shown.points[at][p]);
      const Forecast& f = shown.forecasts[i][at];
      json.end_object().member("value", f.value);
      json.member("low", f.prediction.low).member("high", f.prediction.high).end_object();
    }
    json.end_array();
    if (const auto rank = ranks.find(model.series); rank != ranks.end()) {
      const RankedModel& r = *rank->second;
      json.member("growth", std::string_view(growth_text(e, r)));
      json.member("share_now", r.share_now).member("share_target", r.share_then);
      json.member("mark", std::string_view(mark(r))).member("reason", std::string_view(r.explanation));
    }
    json.end_object();
  }
  json.end_array();
}

void write_models_csv(Session& session, const ShownModels& shown) {
  const Experiment& e = shown.experiment;
  CsvWriter csv(session.out());
  csv.header({"callpath", "metric", "function", "RSS", "rRSS", "SMAPE", "AR2", "RE", "point", "value", "low", "high"});
  for (std::size_t i = 0; i < shown.set.models.size() && !csv.closed(); ++i) {
    const Model& model = shown.set.models[i];
    const Series& s = e.series()[model.series];
    const std::string function = text(model.function, e.parameters());
    for (std::size_t at = 0; at < std::max<std::size_t>(shown.points.size(), 1); ++at) {
      csv.field(e.callpaths()[s.callpath].name);
      csv.field(e.metrics()[s.metric].name);
      csv.field(function);
      const Quality& q = model.quality;
      for (const double figure : {q.rss, q.rrss, q.smape, q.ar2, q.re}) csv.field(figure);
      if (shown.points.empty()) {
        for (int column = 0; column < 4; ++column) csv.field("");
      } else {
        const Forecast& f = shown.forecasts[i][at];
        csv.field(named_point(e, shown.points[at]));
        for (const double figure : {f.value, f.prediction.low, f.prediction.high}) csv.field(figure);
      }
      csv.end_row();
    }
  }
}

std::string predictions_text(const ShownModels& shown, const Terminal& terminal) {
  const Experiment& e = shown.experiment;
  TextTable table;
  table.column("call path", Align::left, true).column("metric").column("model", Align::left, true);
  for (const auto& point : shown.points) table.column(named_point(e, point), Align::right);
  for (std::size_t i = 0; i < shown.set.models.size(); ++i) {
    const Model& model = shown.set.models[i];
    const Series& s = e.series()[model.series];
    std::vector<Cell> cells = {{e.callpaths()[s.callpath].name}, {metric_title(e, s)}, {short_model(e, model)}};
    for (const Forecast& f : shown.forecasts[i]) {
      std::string value = fmt::format("{:.4g}", f.value);
      if (std::isfinite(f.prediction.low)) {
        value += std::isfinite(f.prediction.high)
                     ? fmt::format(" [{:.4g}, {:.4g}]", f.prediction.low, f.prediction.high)
                     : fmt::format(" [{:.4g}, ∞)", f.prediction.low);
      }
      cells.emplace_back(std::move(value));
    }
    table.row(std::move(cells));
  }
  return table.text(terminal);
}

std::string ranking_text(const Experiment& e, const Ranking& ranking, std::size_t rows, const Terminal& terminal) {
  const bool several_metrics = e.metrics().size() > 1;
  TextTable table;
  table.column("").column("call path", Align::left, true);
  if (several_metrics) table.column("metric");
  table.column("model", Align::left, true).column("growth").column("SMAPE", Align::right);
  table.column("share now", Align::right).column("at target", Align::right);
  for (std::size_t i = 0; i < rows; ++i) {
    const RankedModel& r = ranking.models[i];
    const Series& s = e.series()[r.model->series];
    std::vector<Cell> cells = {{mark(r), r.bug ? Style::red : Style::yellow}, {e.callpaths()[s.callpath].name}};
    if (several_metrics) cells.emplace_back(metric_title(e, s));
    cells.emplace_back(short_model(e, *r.model));
    cells.emplace_back(growth_text(e, r), r.bug ? Style::red : Style::plain);
    cells.emplace_back(percent(r.model->quality.smape, 100));
    cells.emplace_back(percent(r.share_now, 1));
    cells.emplace_back(percent(r.share_then, 1), heat(r.share_then));
    table.row(std::move(cells));
  }
  std::string text =
      fmt::format("{} model{}; now: {}; target: {}\n\n", ranking.models.size(), ranking.models.size() == 1 ? "" : "s",
                  visible(named_point(e, ranking.largest)), visible(named_point(e, ranking.target)));
  text += table.text(terminal);
  if (rows < ranking.models.size()) {
    text += fmt::format("… and {} more (-n 0 shows all)\n", ranking.models.size() - rows);
  }
  const auto list = [&](std::string_view title, bool RankedModel::*which) {
    bool first = true;
    for (std::size_t i = 0; i < rows; ++i) {
      if (!(ranking.models[i].*which)) continue;
      if (first) text += fmt::format("\n{}:\n", title);
      text += wrapped(visible(ranking.models[i].explanation), terminal.width, "  ");
      first = false;
    }
  };
  list("Scalability bugs (!)", &RankedModel::bug);
  list("Not sure (?)", &RankedModel::unsure);
  return text;
}

Result<int> show_difference(Session& session, const ModelDifference& changed, const std::vector<double>& now,
                            const std::vector<double>& target, std::uint64_t number) {
  const Experiment& e = *changed.experiment;
  Schema schema;
  schema.name = "models";
  schema.columns = {{"callpath"}, {"metric"}};
  const std::string here = named_point(e, now);
  const std::string there = named_point(e, target);
  for (const char* name : {"now", "now_other", "now_change", "target", "target_other", "target_change"}) {
    schema.columns.push_back({name, ColumnType::float64});
  }
  std::vector<std::size_t> order(changed.set.models.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size = [&](std::size_t i) { return std::fabs(changed.set.models[i].function(target)); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  const bool people = !session.json() && !session.csv();
  if (people && number > 0 && order.size() > number) order.resize(number);
  if (!people) {
    TableBuilder builder(schema);
    for (const std::size_t i : order) {
      const Series& s = e.series()[changed.set.models[i].series];
      const double a = changed.pairs[i].a->function(now);
      const double b = changed.pairs[i].b->function(now);
      const double a_then = changed.pairs[i].a->function(target);
      const double b_then = changed.pairs[i].b->function(target);
      builder.row(std::string_view(e.callpaths()[s.callpath].name), std::string_view(e.metrics()[s.metric].name), a, b,
                  a - b, a_then, b_then, a_then - b_then);
    }
    session.show_table(std::move(builder).finish(), "models");
    return kDone;
  }
  TextTable table;
  table.column("call path", Align::left, true).column("metric");
  table.column(here, Align::right).column("less", Align::right).column("change", Align::right);
  table.column(there, Align::right).column("less", Align::right).column("change", Align::right);
  for (const std::size_t i : order) {
    const Series& s = e.series()[changed.set.models[i].series];
    const std::string unit = unit_of(e.metrics()[s.metric]);
    std::vector<Cell> cells = {{e.callpaths()[s.callpath].name}, {e.metrics()[s.metric].name}};
    for (const auto& point : {now, target}) {
      const double a = changed.pairs[i].a->function(point);
      const double b = changed.pairs[i].b->function(point);
      cells.emplace_back(readable(a, unit));
      cells.emplace_back(readable(b, unit), Style::dim);
      cells.emplace_back((a > b ? "+" : "") + readable(a - b, unit), a > b ? Style::red : Style::green);
    }
    table.row(std::move(cells));
  }
  session.out().write(fmt::format("{} of {} models, by what changes at {}\n\n{}", order.size(),
                                  changed.set.models.size(), there, table.text(session.terminal())));
  return kDone;
}

}  // namespace fathom::cli
