#include "formats/extrap/extra_p_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"

namespace fathom::extrap {
namespace {

namespace dom = simdjson::dom;

constexpr int kDeepest = 6;  // a function inside a segment inside a factor inside a function

Result<Exponent> exponent(dom::element value) {
  // Only texts with a slash are fractions; "2" and 2.0 both read as the decimal 2.0.
  if (std::string_view text; value.get(text) == simdjson::SUCCESS) {
    if (const auto slash = text.find('/'); slash != std::string_view::npos) {
      const auto above = parse_integer<std::int64_t>(text.substr(0, slash));
      const auto below = parse_integer<std::int64_t>(text.substr(slash + 1));
      if (!above || !below || *below <= 0 || std::abs(*above) > 1'000'000'000) {
        return Error(fmt::format("'{}' is not a fraction", fit(text, 30)));
      }
      return Exponent::fraction(*above, *below);
    }
  }
  FATHOM_TRY(const double number, stored_number(value));
  return Exponent::decimal(number);
}

Result<double> number_at(dom::object& object, std::string_view key, double otherwise) {
  dom::element value;
  if (object[key].get(value) != simdjson::SUCCESS || value.is_null()) return otherwise;
  auto number = stored_number(value);
  if (!number) return std::move(number).error().with(std::string(key));
  return number;
}

Result<Function> function(dom::object object, int depth);

Result<std::vector<Segment>> segments(dom::object& object, int depth) {
  dom::array functions;
  dom::array intervals;
  if (object["segments"].get(functions) != simdjson::SUCCESS ||
      object["intervals"].get(intervals) != simdjson::SUCCESS || functions.size() != intervals.size()) {
    return Error("'segments' and 'intervals' must be lists of one length");
  }
  std::vector<Segment> result;
  auto interval = intervals.begin();
  for (const dom::element piece : functions) {
    dom::array bounds;
    dom::object body;
    if ((*interval).get(bounds) != simdjson::SUCCESS || bounds.size() != 2 || piece.get(body) != simdjson::SUCCESS) {
      return Error("malformed segment");
    }
    ++interval;
    Segment segment;
    FATHOM_TRY(segment.from, stored_number(bounds.at(0).value_unsafe()));
    FATHOM_TRY(segment.to, stored_number(bounds.at(1).value_unsafe()));
    FATHOM_TRY(segment.function, function(body, depth + 1));
    result.push_back(std::move(segment));
  }
  if (result.empty()) return Error("a segmented function without segments");
  return result;
}

// {"coefficient": c, "simple_terms": [{"term_type","exponent"}]}: its factors, and the coefficient multiplied in.
Result<void> compound(dom::object object, std::uint32_t parameter, Term& term, int depth) {
  if (dom::element unused; object["segments"].get(unused) == simdjson::SUCCESS) {
    Factor factor;
    factor.parameter = parameter;
    FATHOM_TRY(factor.segments, segments(object, depth));
    term.factors.push_back(std::move(factor));
    return {};
  }
  FATHOM_TRY(const double coefficient, number_at(object, "coefficient", 1));
  term.coefficient *= coefficient;
  dom::array simple_terms;
  if (object["simple_terms"].get(simple_terms) != simdjson::SUCCESS) return Error("'simple_terms' is missing");
  Factor factor;
  factor.parameter = parameter;
  for (const dom::element item : simple_terms) {
    dom::object simple;
    std::string_view type;
    dom::element value;
    if (item.get(simple) != simdjson::SUCCESS || simple["term_type"].get(type) != simdjson::SUCCESS ||
        simple["exponent"].get(value) != simdjson::SUCCESS) {
      return Error("malformed simple term");
    }
    FATHOM_TRY(const Exponent e, exponent(value));
    Exponent* target = type == "polynomial" ? &factor.power : type == "logarithm" ? &factor.log : nullptr;
    if (target == nullptr) return Error(fmt::format("unknown term type '{}'", fit(type, 30)));
    if (!target->zero() || (target == &factor.power && !factor.log.zero())) {
      term.factors.push_back(factor);
      factor = Factor{};
      factor.parameter = parameter;
      target = type == "polynomial" ? &factor.power : &factor.log;
    }
    *target = e;
  }
  term.factors.push_back(std::move(factor));
  return {};
}

Result<Function> function(dom::object object, int depth) {
  if (depth > kDeepest) return Error("functions are nested too deeply");
  Function result;
  if (dom::element unused; object["segments"].get(unused) == simdjson::SUCCESS) {
    FATHOM_TRY(result.segments, segments(object, depth));
    return result;
  }
  FATHOM_TRY(result.constant, number_at(object, "constant_coefficient", 0));
  dom::array terms;
  if (object["compound_terms"].get(terms) != simdjson::SUCCESS) return result;
  for (const dom::element item : terms) {
    dom::object body;
    if (item.get(body) != simdjson::SUCCESS) return Error("malformed compound term");
    Term term;
    dom::object pairs;
    if (body["parameter_term_pairs"].get(pairs) == simdjson::SUCCESS) {
      FATHOM_TRY(term.coefficient, number_at(body, "coefficient", 1));
      for (const auto pair : pairs) {
        const auto parameter = parse_integer<std::uint32_t>(pair.key);
        dom::object inner;
        if (!parameter || pair.value.get(inner) != simdjson::SUCCESS) return Error("malformed parameter term");
        FATHOM_CHECK(compound(inner, *parameter, term, depth));
      }
    } else {
      FATHOM_CHECK(compound(body, 0, term, depth));
    }
    result.terms.push_back(std::move(term));
  }
  return result;
}

struct Hypothesis {
  Function function;
  Quality quality;
};

Result<Hypothesis> hypothesis(dom::object object) {
  Hypothesis result;
  dom::object body;
  if (object["function"].get(body) != simdjson::SUCCESS) return Error("a hypothesis without function");
  FATHOM_TRY(result.function, function(body, 0));
  Quality& q = result.quality;
  FATHOM_TRY(q.rss, number_at(object, "RSS", 0));
  FATHOM_TRY(q.rrss, number_at(object, "rRSS", 0));
  FATHOM_TRY(q.nrss, number_at(object, "nRSS", 0));
  FATHOM_TRY(q.smape, number_at(object, "SMAPE", 0));
  FATHOM_TRY(q.ar2, number_at(object, "AR2", 1));  // constant hypotheses do not write it
  FATHOM_TRY(q.re, number_at(object, "RE", 0));
  return result;
}

class SetReader {
 public:
  SetReader(const Experiment& experiment, const NameMap& names, const Work& work, const Place& place)
      : experiment_(experiment), names_(names), work_(work), place_(place) {
    for (std::size_t i = 0; i < experiment.callpaths().size(); ++i) {
      callpaths_.emplace(experiment.callpaths()[i].name, static_cast<std::uint32_t>(i));
    }
    for (std::size_t i = 0; i < experiment.metrics().size(); ++i) {
      metrics_.emplace(experiment.metrics()[i].name, static_cast<std::uint32_t>(i));
    }
  }

  Result<ModelSet> read(dom::object object) {
    ModelSet set;
    if (std::string_view name; object["name"].get(name) == simdjson::SUCCESS) set.name = name;
    if (dom::object modeler; object["modeler"].get(modeler) == simdjson::SUCCESS) {
      FATHOM_CHECK(read_modeler(modeler, set.modeler));
    }
    dom::object models;
    if (object["models"].get(models) != simdjson::SUCCESS) return set;
    for (const auto callpath : models) {
      dom::object metrics;
      if (callpath.value.get(metrics) != simdjson::SUCCESS) return Error("malformed models");
      for (const auto metric : metrics) {
        const std::int64_t series = find(callpath.key, metric.key);
        if (series < 0) {
          FATHOM_CHECK(work_->diagnostics.warn(
              "extra-p.model_without_data", place_,
              fmt::format("a model for metric '{}' of '{}', which has no measurements", metric.key, callpath.key)));
          continue;
        }
        dom::object body;
        if (metric.value.get(body) != simdjson::SUCCESS) return Error("malformed model");
        auto model = read_model(body);
        if (!model) {
          return std::move(model).error().with(fmt::format("model of metric '{}' of '{}'", metric.key, callpath.key));
        }
        model->series = static_cast<std::uint32_t>(series);
        set.models.push_back(std::move(*model));
      }
    }
    std::stable_sort(set.models.begin(), set.models.end(),
                     [](const Model& a, const Model& b) { return a.series < b.series; });
    return set;
  }

 private:
  std::int64_t find(std::string_view callpath, std::string_view metric) const {
    const auto plain = [&](std::string_view name) -> std::string_view {
      const auto found = names_.find(name);
      return found == names_.end() ? name : std::string_view(found->second);
    };
    const auto c = callpaths_.find(plain(callpath));
    const auto m = metrics_.find(plain(metric));
    return c == callpaths_.end() || m == metrics_.end() ? -1 : experiment_.find_series(c->second, m->second);
  }

  Result<void> read_modeler(dom::object object, ModelerInfo& info) {
    bool has_measure = false;
    for (const auto field : object) {
      if (field.key == "$type") {
        std::string_view type;
        if (field.value.get(type) == simdjson::SUCCESS) info.type = type;
      } else if (field.key == "use_median") {
        bool median = false;
        if (!has_measure && field.value.get(median) == simdjson::SUCCESS && median) info.measure = Measure::median;
      } else if (field.key == "use_measure") {
        std::string_view name;
        if (field.value.get(name) != simdjson::SUCCESS) continue;
        for (const Measure m : {Measure::mean, Measure::median, Measure::minimum, Measure::maximum}) {
          if (equal_ignoring_case(name, to_string(m))) {
            info.measure = m;
            has_measure = true;
          }
        }
      } else {
        info.options.emplace_back(std::string(field.key), simdjson::minify(field.value));
      }
    }
    for (const std::string_view known : {"SingleParameterModeler", "SegmentedModeler", "RefiningModeler",
                                         "AdaptiveModeler", "MultiParameterModeler", "RobustModeler"}) {
      if (info.type == known) return {};
    }
    return work_->diagnostics.warn("extra-p.unknown_modeler", place_,
                                   fmt::format("Loaded unknown modeler of type {}", info.type));
  }

  Result<Model> read_model(dom::object object) {
    Model model;
    dom::object body;
    if (object["hypothesis"].get(body) != simdjson::SUCCESS) return Error("a model without hypothesis");
    FATHOM_TRY(Hypothesis h, hypothesis(body));
    model.function = std::move(h.function);
    model.quality = h.quality;
    if (dom::array annotations; object["annotations"].get(annotations) == simdjson::SUCCESS && annotations.size() > 0) {
      model.annotations = simdjson::minify(annotations);
    }
    if (dom::array pieces; object["segment_models"].get(pieces) == simdjson::SUCCESS) {
      for (const dom::element piece : pieces) {
        dom::object inner;
        if (piece["hypothesis"].get(inner) != simdjson::SUCCESS) return Error("a segment model without hypothesis");
        FATHOM_TRY(const Hypothesis part, hypothesis(inner));
        model.segment_quality.push_back(part.quality);
      }
    }
    return model;
  }

  const Experiment& experiment_;
  const NameMap& names_;
  Work work_;
  Place place_;
  std::map<std::string, std::uint32_t, std::less<>> callpaths_;
  std::map<std::string, std::uint32_t, std::less<>> metrics_;
};

}  // namespace

Result<double> stored_number(dom::element value) {
  if (double number = 0; value.get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return Error("expected a number");
  if (text == kNotComputed) return std::numeric_limits<double>::quiet_NaN();
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const auto above = parse_double(text.substr(0, slash));
    const auto below = parse_double(text.substr(slash + 1));
    if (above && below && *below != 0) return *above / *below;
  } else if (const auto number = parse_double(to_lower(text))) {
    return *number;
  }
  return Error(fmt::format("'{}' is not a number", fit(text, 30)));
}

Result<ModelSets> read_model_sets(dom::array sets, const Experiment& experiment, const NameMap& names, const Work& work,
                                  const Place& place) {
  ModelSets result;
  SetReader reader(experiment, names, work, place);
  for (const dom::element item : sets) {
    dom::object object;
    if (item.get(object) != simdjson::SUCCESS) return Error("modelers: expected objects", place);
    auto set = reader.read(object);
    if (!set) return std::move(set).error().where(place).with("modelers");
    result.push_back(std::move(*set));
  }
  return result;
}

}  // namespace fathom::extrap
