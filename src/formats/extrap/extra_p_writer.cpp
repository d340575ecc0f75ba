#include "formats/extrap/extra_p_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "formats/extrap/extra_p_models.hpp"
#include "formats/extrap/kept_values.hpp"

namespace fathom::extrap {

// The version of the format that is written: what the release that reads it back calls itself.
constexpr const char* kVersion = "4.2.5";

std::string stored_text(double value) {
  const std::string text = python_number(value);
  return std::isfinite(value) ? text : '"' + text + '"';
}

namespace {

std::string exponent_json(const Exponent& e, bool log) {
  // Whole logarithm exponents are plain integers in the reference, which it writes as decimals.
  if (!e.is_fraction() || (log && e.denominator == 1)) return stored_text(e.value);
  return '"' + e.text() + '"';
}

std::string function_json(const Function& f, bool multi);

std::string segments_part(std::span<const Segment> segments) {
  std::string functions;
  std::string intervals;
  for (const Segment& s : segments) {
    if (!functions.empty()) {
      functions += ", ";
      intervals += ", ";
    }
    functions += function_json(s.function, false);
    intervals += "[" + stored_text(s.from) + ", " + stored_text(s.to) + "]";
  }
  return "\"segments\": [" + functions + "], \"intervals\": [" + intervals + "]";
}

// {"coefficient": c, "simple_terms": [...]} of the factors of one parameter.
std::string compound_json(double coefficient, std::span<const Factor> factors) {
  std::string simple;
  for (const Factor& f : factors) {
    if (!f.power.zero()) {
      simple += (simple.empty() ? "" : ", ") + std::string("{\"term_type\": \"polynomial\", \"exponent\": ") +
                exponent_json(f.power, false) + "}";
    }
    if (!f.log.zero()) {
      simple += (simple.empty() ? "" : ", ") + std::string("{\"term_type\": \"logarithm\", \"exponent\": ") +
                exponent_json(f.log, true) + "}";
    }
  }
  return "{\"coefficient\": " + stored_text(coefficient) + ", \"simple_terms\": [" + simple + "]}";
}

std::string function_json(const Function& f, bool multi) {
  if (!f.segments.empty()) return "{" + segments_part(f.segments) + ", \"$type\": \"SegmentedFunction\"}";
  std::string out = "{\"constant_coefficient\": " + stored_text(f.constant);
  if (f.terms.empty()) return out + ", \"$type\": \"ConstantFunction\"}";
  out += ", \"compound_terms\": [";
  bool first = true;
  for (const Term& term : f.terms) {
    out += first ? "" : ", ";
    first = false;
    if (!multi) {
      out += compound_json(term.coefficient, term.factors);
      continue;
    }
    out += "{\"coefficient\": " + stored_text(term.coefficient) + ", \"parameter_term_pairs\": {";
    std::vector<std::uint32_t> parameters;
    for (const Factor& factor : term.factors) {
      if (std::find(parameters.begin(), parameters.end(), factor.parameter) == parameters.end()) {
        parameters.push_back(factor.parameter);
      }
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      std::vector<Factor> own;
      for (const Factor& factor : term.factors) {
        if (factor.parameter == parameters[i]) own.push_back(factor);
      }
      out += fmt::format("{}\"{}\": ", i > 0 ? ", " : "", parameters[i]);
      out += own.front().segments.empty()
                 ? compound_json(1, own)
                 : "{" + segments_part(own.front().segments) + ", \"$variant\": \"SegmentedTerm\"}";
    }
    out += "}}";
  }
  return out + "], \"$type\": \"" + (multi ? "MultiParameterFunction" : "SingleParameterFunction") + "\"}";
}

std::string hypothesis_json(const Function& f, const Quality& q, bool multi, Measure measure) {
  const bool constant = f.is_constant();
  std::string name(to_string(measure));
  for (char& c : name) c = static_cast<char>(c - 'a' + 'A');
  return "{\"function\": " + function_json(f, multi && f.segments.empty()) + ", \"RSS\": " + stored_text(q.rss) +
         ", \"rRSS\": " + stored_text(q.rrss) + ", \"nRSS\": " + stored_text(q.nrss) +
         ", \"SMAPE\": " + stored_text(q.smape) + (constant ? "" : ", \"AR2\": " + stored_text(q.ar2)) +
         ", \"RE\": " + stored_text(q.re) + ", \"_use_median\": " + (measure == Measure::median ? "true" : "false") +
         ", \"_use_measure\": \"" + name + "\", \"_costs_are_calculated\": true, \"$type\": \"" +
         (constant ? "Constant"
          : multi  ? "MultiParameter"
                   : "SingleParameter") +
         "Hypothesis\"}";
}

std::string entity_json(const Named& named) {
  std::string tags;
  for (const auto& [key, value] : named.tags) tags += (tags.empty() ? "" : ", ") + json_quote(key) + ": " + value;
  return "{\"name\": " + json_quote(named.name) + ", \"tags\": {" + tags + "}}";
}

std::string model_json(const Model& model, const Experiment& e, Measure measure) {
  const bool multi = e.parameters().size() > 1;
  std::string out = "{\"hypothesis\": " + hypothesis_json(model.function, model.quality, multi, measure) +
                    ", \"annotations\": " + (model.annotations.empty() ? "[]" : model.annotations);
  if (model.function.segments.empty()) return out + "}";
  const Series& series = e.series()[model.series];
  out += ", \"segment_models\": [";
  for (std::size_t i = 0; i < model.function.segments.size(); ++i) {
    const Quality q = i < model.segment_quality.size() ? model.segment_quality[i] : Quality{};
    out += (i > 0 ? ", " : "") + std::string("{\"hypothesis\": ") +
           hypothesis_json(model.function.segments[i].function, q, false, measure) +
           ", \"callpath\": " + entity_json(e.callpaths()[series.callpath]) +
           ", \"metric\": " + entity_json(e.metrics()[series.metric]) + ", \"annotations\": []}";
  }
  out += "], \"changing_points\": [";
  bool first = true;
  const auto points = e.points_of(series);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const double x = e.point(points[k])[0];
    const bool border = std::any_of(model.function.segments.begin(), model.function.segments.end(),
                                    [&](const Segment& s) { return x == s.from || x == s.to; });
    if (!border) continue;
    out += (first ? "" : ", ") + measurement_json(e, series, k, "null", true);
    first = false;
  }
  return out + "], \"$type\": \"SegmentedModel\"}";
}

}  // namespace

std::string measurement_json(const Experiment& e, const Series& series, std::size_t k, const std::string& values,
                             bool with_names) {
  const std::size_t m = series.first + k;
  std::string out = "{\"coordinate\": [";
  bool first = true;
  for (const double x : e.point(e.points_of(series)[k])) {
    out += (first ? "" : ", ") + stored_text(x);
    first = false;
  }
  out += "]";
  if (with_names) {
    out += ", \"metric\": " + entity_json(e.metrics()[series.metric]) +
           ", \"callpath\": " + entity_json(e.callpaths()[series.callpath]);
  }
  out += ", \"median\": " + stored_text(e.medians()[m]) + ", \"mean\": " + stored_text(e.means()[m]) +
         ", \"minimum\": " + stored_text(e.minima()[m]) + ", \"maximum\": " + stored_text(e.maxima()[m]) +
         ", \"std\": " + stored_text(e.deviations()[m]) +
         ", \"repetitions\": " + (e.repetitions()[m] == 0 ? "null" : std::to_string(e.repetitions()[m])) +
         ", \"values\": " + values;
  return out + "}";
}

std::string model_set_json(const ModelSet& set, const Experiment& e) {
  std::string name(to_string(set.modeler.measure));
  for (char& c : name) c = static_cast<char>(c - 'a' + 'A');
  std::string out = "{\"name\": " + json_quote(set.name) +
                    ", \"modeler\": {\"use_median\": " + (set.modeler.measure == Measure::median ? "true" : "false") +
                    ", \"use_measure\": \"" + name + "\"";
  for (const auto& [key, value] : set.modeler.options) out += ", " + json_quote(key) + ": " + value;
  out += ", \"$type\": " + json_quote(set.modeler.type) + "}, \"models\": {";
  // One object per call path: its models may lie apart.
  std::vector<std::vector<const Model*>> of_callpath(e.callpaths().size());
  std::vector<std::uint32_t> order;
  for (const Model& model : set.models) {
    auto& list = of_callpath[e.series()[model.series].callpath];
    if (list.empty()) order.push_back(e.series()[model.series].callpath);
    list.push_back(&model);
  }
  for (std::size_t c = 0; c < order.size(); ++c) {
    out += (c > 0 ? ", " : "") + json_quote(e.callpaths()[order[c]].name) + ": {";
    bool first = true;
    for (const Model* model : of_callpath[order[c]]) {
      out += (first ? "" : ", ") + json_quote(e.metrics()[e.series()[model->series].metric].name) + ": " +
             model_json(*model, e, set.modeler.measure);
      first = false;
    }
    out += "}";
  }
  return out + "}}";
}

Result<void> write_extra_p(const Experiment& e, const ModelSets& models, const std::filesystem::path& target,
                           bool keep_values) {
  std::string out = fmt::format("{{\"Extra-P\": \"{}\"", kVersion);
  if (e.scaling() != Scaling::none) out += ", \"scaling\": \"" + std::string(to_string(e.scaling())) + "\"";
  if (!e.parameters().empty()) {
    out += ", \"parameters\": [";
    for (std::size_t i = 0; i < e.parameters().size(); ++i) out += (i > 0 ? ", " : "") + json_quote(e.parameters()[i]);
    out += "]";
  }
  const auto tagged = [&](const char* key, const std::vector<Named>& list) {
    std::string entries;
    for (const Named& named : list) {
      if (named.tags.empty()) continue;
      std::string tags;
      for (const auto& [k, value] : named.tags) tags += (tags.empty() ? "" : ", ") + json_quote(k) + ": " + value;
      entries += (entries.empty() ? "" : ", ") + json_quote(named.name) + ": {\"tags\": {" + tags + "}}";
    }
    if (!entries.empty()) out += fmt::format(", \"{}\": {{", key) + entries + "}";
  };
  tagged("callpaths", e.callpaths());
  tagged("metrics", e.metrics());
  KeptValuesWriter kept;
  std::vector<std::vector<const Series*>> of_callpath(e.callpaths().size());
  std::vector<std::uint32_t> order;
  for (const Series& s : e.series()) {
    if (of_callpath[s.callpath].empty()) order.push_back(s.callpath);
    of_callpath[s.callpath].push_back(&s);
  }
  if (!order.empty()) out += ", \"measurements\": {";
  for (std::size_t c = 0; c < order.size(); ++c) {
    out += (c > 0 ? ", " : "") + json_quote(e.callpaths()[order[c]].name) + ": {";
    for (std::size_t i = 0; i < of_callpath[order[c]].size(); ++i) {
      const Series& s = *of_callpath[order[c]][i];
      out += (i > 0 ? ", " : "") + json_quote(e.metrics()[s.metric].name) + ": [";
      for (std::size_t k = 0; k < e.points_of(s).size(); ++k) {
        std::string values = "null";
        if (keep_values && !e.values(s.first + k).empty()) {
          const auto [chunk, index] = kept.add(e.values(s.first + k), e.shape(s.first + k));
          values = fmt::format("[{}, {}]", chunk, index);
        }
        out += (k > 0 ? ", " : "") + measurement_json(e, s, k, values, false);
      }
      out += "]";
    }
    out += "}";
  }
  if (!order.empty()) out += "}";
  if (!models.empty()) {
    out += ", \"modelers\": [";
    for (std::size_t i = 0; i < models.size(); ++i) out += (i > 0 ? ", " : "") + model_set_json(models[i], e);
    out += "]";
  }
  out += "}";
  std::vector<ZipMember> members = std::move(kept).members();
  members.push_back({"experiment.json", std::move(out), true});
  return write_zip(target, std::move(members));
}

Result<void> write_extra_p_dataset(Dataset& dataset, const std::filesystem::path& target, const WriteOptions& options) {
  FATHOM_TRY(const auto experiment, dataset.experiment());
  // Values that the input itself kept stay; others only when asked for.
  OptionValues given;
  for (const auto& [key, value] : options.options) FATHOM_CHECK(given.set_text(kKeepValues, value));
  const bool keep = given.get(kKeepValues).value_or(dataset.format().name == "extra-p");
  const auto levels = dataset.levels();
  if (std::find(levels.begin(), levels.end(), Level::model) != levels.end()) {
    FATHOM_TRY(const auto models, dataset.models());
    return write_extra_p(*experiment, *models, target, keep);
  }
  return write_extra_p(*experiment, {}, target, keep);
}

}  // namespace fathom::extrap
