#include "report/model_print.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "report/format_string.hpp"

namespace fathom {
namespace {

// Their names come from files.
std::vector<std::string> shown_parameters(const Experiment& e) {
  std::vector<std::string> out;
  for (const std::string& name : e.parameters()) out.push_back(visible(name));
  return out;
}

std::string short_point(std::span<const double> point) {
  std::string out = "(";
  for (std::size_t i = 0; i < point.size(); ++i) out += fmt::format("{}{:.2E}", i > 0 ? "," : "", point[i]);
  return out + ")";
}

// The model of a series, or none.
const Model* find_model(const ModelSet* set, std::int64_t series) {
  if (set == nullptr || series < 0) return nullptr;
  for (const Model& m : set->models) {
    if (m.series == series) return &m;
  }
  return nullptr;
}

std::string names(const std::vector<Named>& list) {
  std::string out;
  for (const Named& n : list) out += visible(n.name) + "\n";
  return out;
}

std::string functions(const Experiment& e, const ModelSet* set, FunctionForm form) {
  std::string out;
  if (set == nullptr) return out;
  for (const Model& model : set->models) {
    const auto pieces = texts(model.function, shown_parameters(e), form);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (pieces.size() > 1) out += fmt::format("Model {}: ", i + 1);
      out += pieces[i] + "\n";
    }
  }
  return out;
}

std::string all(const Experiment& e, const ModelSet* set, FunctionForm form, Pairs pairs) {
  std::string out;
  std::vector<const Model*> of_series(e.series().size(), nullptr);
  if (set != nullptr) {
    for (const Model& m : set->models) of_series[m.series] = &m;
  }
  for (std::size_t c = 0; c < e.callpaths().size(); ++c) {
    std::string title = "Callpath: " + visible(e.callpaths()[c].name) + "\n";
    for (std::size_t m = 0; m < e.metrics().size(); ++m) {
      const std::int64_t index = e.find_series(static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(m));
      if (pairs == Pairs::modelled && (index < 0 || of_series[static_cast<std::size_t>(index)] == nullptr)) continue;
      out += std::exchange(title, {}) + "\tMetric: " + visible(e.metrics()[m].name) + "\n";
      std::vector<std::int64_t> at(e.point_count(), -1);
      if (index >= 0) {
        const Series& s = e.series()[static_cast<std::size_t>(index)];
        const auto points = e.points_of(s);
        for (std::size_t k = 0; k < points.size(); ++k) at[points[k]] = static_cast<std::int64_t>(s.first + k);
      }
      for (std::size_t p = 0; p < e.point_count(); ++p) {
        const double mean = at[p] < 0 ? 0 : e.means()[static_cast<std::size_t>(at[p])];
        const double median = at[p] < 0 ? 0 : e.medians()[static_cast<std::size_t>(at[p])];
        out += fmt::format("\t\tMeasurement point: {} Mean: {:.2E} Median: {:.2E}\n", short_point(e.point(p)), mean,
                           median);
      }
      const Model* model = index < 0 ? nullptr : of_series[static_cast<std::size_t>(index)];
      if (model == nullptr) {
        out += fmt::format("\t\tModel: None\n\t\tRSS: {:.2E}\n\t\tAdjusted R^2: {:.2E}\n", 0.0, 0.0);
        continue;
      }
      const auto pieces = texts(model->function, shown_parameters(e), form);
      if (pieces.size() == 1) {
        out += fmt::format("\t\tModel: {}\n\t\tRSS: {:.2E}\n\t\tAdjusted R^2: {:.2E}\n", pieces[0], model->quality.rss,
                           model->quality.ar2);
        continue;
      }
      for (std::size_t i = 0; i < pieces.size(); ++i) out += fmt::format("\t\tModel {}: {}\n", i + 1, pieces[i]);
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        const Quality q = i < model->segment_quality.size() ? model->segment_quality[i] : Quality{};
        out += fmt::format("\t\tRSS Model {}: {:.2E}\n\t\tAdjusted R^2 Model {}: {:.2E}\n", i + 1, q.rss, i + 1, q.ar2);
      }
    }
  }
  return out;
}

// One expansion of a format string: everything a placeholder may name.
class Expansion {
 public:
  Expansion(const Experiment& e, const Model& model, std::string_view last_callpath, std::string_view last_metric,
            bool first)
      : e_(e), model_(model), last_callpath_(last_callpath), last_metric_(last_metric), first_(first) {}

  Result<std::string> operator()(const Placeholder& p) const {
    const Series& series = e_.series()[model_.series];
    const std::string& callpath = e_.callpaths()[series.callpath].name;
    const std::string& metric = e_.metrics()[series.metric].name;
    if (p.name == "callpath") return callpath;
    if (p.name == "metric") return metric;
    if (p.name == "?callpath") return unless_repeated(callpath, last_callpath_);
    if (p.name == "?metric") return unless_repeated(metric, last_metric_);
    if (p.name == "model") {
      const std::string_view form = trim(p.rest);
      if (form.empty()) return text(model_.function, shown_parameters(e_));
      if (form == "python") return text(model_.function, shown_parameters(e_), FunctionForm::python);
      if (form == "latex") return text(model_.function, shown_parameters(e_), FunctionForm::latex);
      return invalid(p);
    }
    if (p.name == "parameters" || p.name == "?parameters") return parameters(p);
    if (p.name == "points" || p.name == "?points") return points(p);
    if (p.name == "measurements") return measurements(p);
    const std::pair<std::string_view, double> figures[] = {{"smape", model_.quality.smape},
                                                           {"rrss", model_.quality.rrss},
                                                           {"rss", model_.quality.rss},
                                                           {"ar2", model_.quality.ar2},
                                                           {"re", model_.quality.re}};
    for (const auto& [name, value] : figures) {
      if (p.name == name) return python_format(value, p.rest);
    }
    return invalid(p);
  }

 private:
  static Error invalid(const Placeholder& p) {
    return Error::usage(fmt::format("Invalid placeholder: {}", p.text))
        .hint("there are callpath, metric, model, smape, rrss, rss, ar2, re, parameters, points and measurements");
  }

  [[nodiscard]] std::string unless_repeated(const std::string& name, std::string_view last) const {
    return !first_ && name == last ? std::string(name.size(), ' ') : name;
  }

  Result<std::string> parameters(const Placeholder& p) const {
    FATHOM_TRY(const ListOptions options, list_options(p.rest));
    std::string out;
    for (std::size_t i = 0; i < e_.parameters().size(); ++i) {
      if (i > 0) out += options.separator.value_or(" ");
      if (!options.format) {
        out += shown_parameters(e_)[i];
        continue;
      }
      FATHOM_TRY(const std::string item, expand(*options.format, [&](const Placeholder& q) -> Result<std::string> {
                   return q.name == "parameter" ? Result<std::string>(shown_parameters(e_)[i]) : invalid(q);
                 }));
      out += item;
    }
    return out;
  }

  // {point: sep:'..'; format:'..'} of one point.
  Result<std::string> point(const Placeholder& p, std::span<const double> at) const {
    FATHOM_TRY(const ListOptions options, list_options(p.rest));
    std::string out;
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (i > 0) out += options.separator.value_or(", ");
      if (!options.format) {
        out += fmt::format("{:.2E}", at[i]);
        continue;
      }
      FATHOM_TRY(const std::string item, expand(*options.format, [&](const Placeholder& q) -> Result<std::string> {
                   if (q.name == "parameter" && i < e_.parameters().size()) return shown_parameters(e_)[i];
                   if (q.name == "coordinate") return python_format(at[i], q.rest);
                   return invalid(q);
                 }));
      out += item;
    }
    return out;
  }

  Result<std::string> points(const Placeholder& p) const {
    FATHOM_TRY(const ListOptions options, list_options(p.rest));
    std::string out;
    for (std::size_t i = 0; i < e_.point_count(); ++i) {
      if (i > 0) out += options.separator.value_or(" | ");
      FATHOM_TRY(const std::string item,
                 expand(options.format.value_or("({point})"), [&](const Placeholder& q) -> Result<std::string> {
                   return q.name == "point" ? point(q, e_.point(i)) : invalid(q);
                 }));
      out += item;
    }
    return out;
  }

  Result<std::string> measurements(const Placeholder& p) const {
    FATHOM_TRY(const ListOptions options, list_options(p.rest));
    const Series& series = e_.series()[model_.series];
    const auto set = e_.points_of(series);
    std::string out;
    for (std::size_t k = 0; k < set.size(); ++k) {
      if (k > 0) out += options.separator.value_or("\n");
      const std::size_t m = series.first + k;
      FATHOM_TRY(const std::string item,
                 expand(options.format.value_or("({point}) Mean: {mean:.2E} Median: {median:.2E}"),
                        [&](const Placeholder& q) -> Result<std::string> {
                          if (q.name == "point") return point(q, e_.point(set[k]));
                          if (q.name == "mean") return python_format(e_.means()[m], q.rest);
                          if (q.name == "median") return python_format(e_.medians()[m], q.rest);
                          if (q.name == "std") return python_format(e_.deviations()[m], q.rest);
                          if (q.name == "min") return python_format(e_.minima()[m], q.rest);
                          if (q.name == "max") return python_format(e_.maxima()[m], q.rest);
                          return invalid(q);
                        }));
      out += item;
    }
    return out;
  }

  const Experiment& e_;
  const Model& model_;
  std::string_view last_callpath_;
  std::string_view last_metric_;
  bool first_;
};

Result<std::string> formatted(const Experiment& e, std::span<const ModelSet> sets, std::string_view format) {
  std::string out;
  for (const ModelSet& set : sets) {
    if (sets.size() > 1) out += "Modeler: " + visible(set.name) + "\n";
    std::string_view last_callpath;
    std::string_view last_metric;
    bool first = true;
    for (std::size_t m = 0; m < e.metrics().size(); ++m) {
      for (std::size_t c = 0; c < e.callpaths().size(); ++c) {
        const Model* model =
            find_model(&set, e.find_series(static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(m)));
        if (model == nullptr) continue;
        FATHOM_TRY(const std::string line, expand(format, Expansion(e, *model, last_callpath, last_metric, first)));
        out += line + "\n";
        last_callpath = e.callpaths()[c].name;
        last_metric = e.metrics()[m].name;
        first = false;
      }
    }
  }
  return out;
}

}  // namespace

Result<std::string> print_models(const Experiment& e, std::span<const ModelSet> sets, std::string_view what,
                                 Pairs pairs) {
  const ModelSet* first = sets.empty() ? nullptr : &sets.front();
  const std::string kind = to_lower(what);
  if (kind == "all") return all(e, first, FunctionForm::plain, pairs);
  if (kind == "all-python") return all(e, first, FunctionForm::python, pairs);
  if (kind == "all-latex") return all(e, first, FunctionForm::latex, pairs);
  if (kind == "callpaths") return names(e.callpaths());
  if (kind == "metrics") return names(e.metrics());
  if (kind == "functions") return functions(e, first, FunctionForm::plain);
  if (kind == "functions-python") return functions(e, first, FunctionForm::python);
  if (kind == "functions-latex") return functions(e, first, FunctionForm::latex);
  if (kind == "parameters") {
    std::string out;
    for (const std::string& p : shown_parameters(e)) out += p + "\n";
    return out;
  }
  return formatted(e, sets, what);
}

}  // namespace fathom
