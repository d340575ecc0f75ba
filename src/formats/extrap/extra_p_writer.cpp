#include "formats/extrap/extra_p_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/json.hpp"
#include "formats/extrap/kept_values.hpp"

namespace fathom::extrap {

// The version of the format that is written: what the release that reads it back calls itself.
constexpr const char* kVersion = "4.2.5";

namespace {

// Doubles as the reference writes them: a decimal point always, nan and inf as texts.
JsonWriter& number(JsonWriter& json, double value) {
  const std::string text = python_number(value);
  return std::isfinite(value) ? json.raw(text) : json.value(text);
}

JsonWriter& number(JsonWriter& json, std::string_view key, double value) { return number(json.key(key), value); }

void exponent(JsonWriter& json, std::string_view type, const Exponent& e) {
  if (e.zero()) return;
  json.begin_object().member("term_type", type).key("exponent");
  // Whole logarithm exponents are plain integers in the reference, which it writes as decimals.
  const bool plain = !e.is_fraction() || (type == "logarithm" && e.denominator == 1);
  (plain ? number(json, e.value) : json.value(e.text())).end_object();
}

void function(JsonWriter& json, const Function& f, bool multi);

// The members of an object that has pieces.
void segments(JsonWriter& json, std::span<const Segment> list) {
  json.key("segments").begin_array();
  for (const Segment& s : list) function(json, s.function, false);
  json.end_array().key("intervals").begin_array();
  for (const Segment& s : list) {
    json.begin_array();
    number(json, s.from);
    number(json, s.to).end_array();
  }
  json.end_array();
}

// The factors of one parameter.
void compound(JsonWriter& json, double coefficient, std::span<const Factor> factors) {
  number(json.begin_object(), "coefficient", coefficient).key("simple_terms").begin_array();
  for (const Factor& f : factors) {
    exponent(json, "polynomial", f.power);
    exponent(json, "logarithm", f.log);
  }
  json.end_array().end_object();
}

// A product over parameters: the factors of each are an object of their own.
void product(JsonWriter& json, const Term& term) {
  number(json.begin_object(), "coefficient", term.coefficient).key("parameter_term_pairs").begin_object();
  std::vector<std::uint32_t> parameters;
  for (const Factor& factor : term.factors) {
    if (std::find(parameters.begin(), parameters.end(), factor.parameter) == parameters.end()) {
      parameters.push_back(factor.parameter);
    }
  }
  for (const std::uint32_t parameter : parameters) {
    std::vector<Factor> own;
    for (const Factor& factor : term.factors) {
      if (factor.parameter == parameter) own.push_back(factor);
    }
    json.key(std::to_string(parameter));
    if (own.front().segments.empty()) {
      compound(json, 1, own);
    } else {
      segments(json.begin_object(), own.front().segments);
      json.member("$variant", "SegmentedTerm").end_object();
    }
  }
  json.end_object().end_object();
}

void function(JsonWriter& json, const Function& f, bool multi) {
  json.begin_object();
  if (!f.segments.empty()) {
    segments(json, f.segments);
    json.member("$type", "SegmentedFunction").end_object();
    return;
  }
  number(json, "constant_coefficient", f.constant);
  if (f.terms.empty()) {
    json.member("$type", "ConstantFunction").end_object();
    return;
  }
  json.key("compound_terms").begin_array();
  for (const Term& term : f.terms) {
    if (multi) {
      product(json, term);
    } else {
      compound(json, term.coefficient, term.factors);
    }
  }
  json.end_array().member("$type", multi ? "MultiParameterFunction" : "SingleParameterFunction").end_object();
}

std::string measure_name(Measure measure) {
  std::string name(to_string(measure));
  for (char& c : name) c = static_cast<char>(c - 'a' + 'A');
  return name;
}

void hypothesis(JsonWriter& json, const Function& f, const Quality& q, bool multi, Measure measure) {
  const bool constant = f.is_constant();
  json.begin_object().key("function");
  function(json, f, multi && f.segments.empty());
  number(json, "RSS", q.rss);
  number(json, "rRSS", q.rrss);
  number(json, "nRSS", q.nrss);
  number(json, "SMAPE", q.smape);
  if (!constant) number(json, "AR2", q.ar2);
  number(json, "RE", q.re);
  const std::string_view kind = constant ? "Constant" : multi ? "MultiParameter" : "SingleParameter";
  json.member("_use_median", measure == Measure::median)
      .member("_use_measure", measure_name(measure))
      .member("_costs_are_calculated", true)
      .member("$type", fmt::format("{}Hypothesis", kind))
      .end_object();
}

void tags(JsonWriter& json, const Named& named) {
  json.key("tags").begin_object();
  for (const auto& [key, value] : named.tags) json.key(key).raw(value);
  json.end_object();
}

void entity(JsonWriter& json, const Named& named) {
  tags(json.begin_object().member("name", named.name), named);
  json.end_object();
}

// What a measurement says of its single values: where they lie in the archive.
using KeptAt = std::optional<std::pair<std::uint64_t, std::uint64_t>>;

void measurement(JsonWriter& json, const Experiment& e, const Series& series, std::size_t k, const KeptAt& values,
                 bool with_names) {
  const std::size_t m = series.first + k;
  json.begin_object().key("coordinate").begin_array();
  for (const double x : e.point(e.points_of(series)[k])) number(json, x);
  json.end_array();
  if (with_names) {
    entity(json.key("metric"), e.metrics()[series.metric]);
    entity(json.key("callpath"), e.callpaths()[series.callpath]);
  }
  number(json, "median", e.medians()[m]);
  number(json, "mean", e.means()[m]);
  number(json, "minimum", e.minima()[m]);
  number(json, "maximum", e.maxima()[m]);
  number(json, "std", e.deviations()[m]);
  json.key("repetitions");
  e.repetitions()[m] == 0 ? json.value(nullptr) : json.value(e.repetitions()[m]);
  json.key("values");
  if (values) {
    json.begin_array().value(values->first).value(values->second).end_array();
  } else {
    json.value(nullptr);
  }
  json.end_object();
}

void write_model(JsonWriter& json, const Model& model, const Experiment& e, Measure measure) {
  hypothesis(json.begin_object().key("hypothesis"), model.function, model.quality, e.parameters().size() > 1, measure);
  json.key("annotations").raw(model.annotations.empty() ? "[]" : model.annotations);
  if (model.function.segments.empty()) {
    json.end_object();
    return;
  }
  const Series& series = e.series()[model.series];
  json.key("segment_models").begin_array();
  for (std::size_t i = 0; i < model.function.segments.size(); ++i) {
    const Quality q = i < model.segment_quality.size() ? model.segment_quality[i] : Quality{};
    hypothesis(json.begin_object().key("hypothesis"), model.function.segments[i].function, q, false, measure);
    entity(json.key("callpath"), e.callpaths()[series.callpath]);
    entity(json.key("metric"), e.metrics()[series.metric]);
    json.key("annotations").raw("[]").end_object();
  }
  json.end_array().key("changing_points").begin_array();
  const auto points = e.points_of(series);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const double x = e.point(points[k])[0];
    const bool border = std::any_of(model.function.segments.begin(), model.function.segments.end(),
                                    [&](const Segment& s) { return x == s.from || x == s.to; });
    if (border) measurement(json, e, series, k, std::nullopt, true);
  }
  json.end_array().member("$type", "SegmentedModel").end_object();
}

// Things of an experiment by call path, in the order in which call paths first come: the file has one object for each.
template <class Thing, class CallpathOf>
class ByCallpath {
 public:
  ByCallpath(std::size_t callpaths, std::span<const Thing> things, const CallpathOf& callpath_of) : lists_(callpaths) {
    for (const Thing& thing : things) {
      auto& list = lists_[callpath_of(thing)];
      if (list.empty()) order_.push_back(callpath_of(thing));
      list.push_back(&thing);
    }
  }
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }
  [[nodiscard]] const std::vector<const Thing*>& of(std::uint32_t callpath) const { return lists_[callpath]; }

 private:
  std::vector<std::vector<const Thing*>> lists_;
  std::vector<std::uint32_t> order_;
};

void model_set(JsonWriter& json, const ModelSet& set, const Experiment& e) {
  json.begin_object().member("name", set.name).key("modeler").begin_object();
  json.member("use_median", set.modeler.measure == Measure::median)
      .member("use_measure", measure_name(set.modeler.measure));
  for (const auto& [key, value] : set.modeler.options) json.key(key).raw(value);
  json.member("$type", set.modeler.type).end_object().key("models").begin_object();
  const ByCallpath models(e.callpaths().size(), std::span<const Model>(set.models),
                          [&](const Model& model) { return e.series()[model.series].callpath; });
  for (const std::uint32_t callpath : models.order()) {
    json.key(e.callpaths()[callpath].name).begin_object();
    for (const Model* model : models.of(callpath)) {
      write_model(json.key(e.metrics()[e.series()[model->series].metric].name), *model, e, set.modeler.measure);
    }
    json.end_object();
  }
  json.end_object().end_object();
}

void tagged(JsonWriter& json, std::string_view key, const std::vector<Named>& list) {
  const auto has_tags = [](const Named& named) { return !named.tags.empty(); };
  if (std::none_of(list.begin(), list.end(), has_tags)) return;
  json.key(key).begin_object();
  for (const Named& named : list) {
    if (!has_tags(named)) continue;
    tags(json.key(named.name).begin_object(), named);
    json.end_object();
  }
  json.end_object();
}

void measurements(JsonWriter& json, const Experiment& e, bool keep_values, KeptValuesWriter& kept) {
  const ByCallpath series(e.callpaths().size(), std::span<const Series>(e.series()),
                          [](const Series& s) { return s.callpath; });
  if (series.order().empty()) return;
  json.key("measurements").begin_object();
  for (const std::uint32_t callpath : series.order()) {
    json.key(e.callpaths()[callpath].name).begin_object();
    for (const Series* s : series.of(callpath)) {
      json.key(e.metrics()[s->metric].name).begin_array();
      for (std::size_t k = 0; k < e.points_of(*s).size(); ++k) {
        KeptAt values;
        if (keep_values && !e.values(s->first + k).empty()) {
          values = kept.add(e.values(s->first + k), e.shape(s->first + k));
        }
        measurement(json, e, *s, k, values, false);
      }
      json.end_array();
    }
    json.end_object();
  }
  json.end_object();
}

}  // namespace

Result<void> write_extra_p(const Experiment& e, const ModelSets& models, const std::filesystem::path& target,
                           bool keep_values) {
  Output text;
  JsonWriter json(text);
  json.begin_object().member("Extra-P", kVersion);
  if (e.scaling() != Scaling::none) json.member("scaling", to_string(e.scaling()));
  if (!e.parameters().empty()) {
    json.key("parameters").begin_array();
    for (const std::string& parameter : e.parameters()) json.value(parameter);
    json.end_array();
  }
  tagged(json, "callpaths", e.callpaths());
  tagged(json, "metrics", e.metrics());
  KeptValuesWriter kept;
  measurements(json, e, keep_values, kept);
  if (!models.empty()) {
    json.key("modelers").begin_array();
    for (const ModelSet& set : models) model_set(json, set, e);
    json.end_array();
  }
  json.end_object();
  std::vector<ZipMember> members = std::move(kept).members();
  members.push_back({"experiment.json", text.text(), true});
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
