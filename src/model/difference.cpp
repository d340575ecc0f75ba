#include "model/difference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "experiment/builder.hpp"

namespace fathom {

namespace {

using Key = std::pair<std::string, std::string>;  // call path and metric

Key key_of(const Experiment& e, const Model& m) {
  const Series& s = e.series()[m.series];
  return {e.callpaths()[s.callpath].name, e.metrics()[s.metric].name};
}

bool piecewise(const Function& function) {
  const auto in_pieces = [](const Term& term) {
    return std::any_of(term.factors.begin(), term.factors.end(), [](const Factor& f) { return !f.segments.empty(); });
  };
  return !function.segments.empty() || std::any_of(function.terms.begin(), function.terms.end(), in_pieces);
}

bool same_factors(const Term& a, const Term& b) {
  return std::equal(a.factors.begin(), a.factors.end(), b.factors.begin(), b.factors.end(),
                    [](const Factor& x, const Factor& y) {
                      return x.parameter == y.parameter && x.power == y.power && x.log == y.log;
                    });
}

Function minus(Function a, const Function& b) {
  a.constant -= b.constant;
  for (const Term& term : b.terms) {
    const auto same =
        std::find_if(a.terms.begin(), a.terms.end(), [&](const Term& t) { return same_factors(t, term); });
    if (same != a.terms.end()) {
      same->coefficient -= term.coefficient;
    } else {
      a.terms.push_back({-term.coefficient, term.factors});
    }
  }
  std::erase_if(a.terms, [](const Term& t) { return t.coefficient == 0; });
  return a;
}

// The figure of a series at every point.
std::map<std::vector<double>, double> values_of(const Experiment& e, const Model& m, Measure measure) {
  const Series& s = e.series()[m.series];
  const auto figures = e.measure(measure);
  const auto points = e.points_of(s);
  std::map<std::vector<double>, double> out;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto p = e.point(points[k]);
    out[{p.begin(), p.end()}] = figures[s.first + k];
  }
  return out;
}

}  // namespace

Result<ModelDifference> difference(const Experiment& a, const ModelSet& a_set, const Experiment& b,
                                   const ModelSet& b_set, const Work& work) {
  if (a.parameters() != b.parameters()) {
    return Error::usage(fmt::format("models over other parameters cannot be compared: {} against {}",
                                    fmt::join(a.parameters(), ", "), fmt::join(b.parameters(), ", ")));
  }
  ModelDifference out;
  std::map<Key, const Model*> others;
  for (const Model& m : b_set.models) others[key_of(b, m)] = &m;
  ExperimentBuilder builder(a.name() + " - " + b.name(), work);
  for (const std::string& name : a.parameters()) builder.parameter(name);
  builder.set_scaling(a.scaling());
  std::vector<Model> models;
  for (const Model& m : a_set.models) {
    const auto other = others.find(key_of(a, m));
    if (other == others.end()) {
      ++out.only_a;
      continue;
    }
    const Model& before = *other->second;
    others.erase(other);
    if (piecewise(m.function) || piecewise(before.function)) {
      ++out.piecewise;
      continue;
    }
    const Series& s = a.series()[m.series];
    const auto callpath = builder.callpath(a.callpaths()[s.callpath].name);
    const auto metric = builder.metric(a.metrics()[s.metric].name);
    builder.metric_tags(metric) = a.metrics()[s.metric].tags;
    const auto now = values_of(a, m, a_set.modeler.measure);
    const auto then = values_of(b, before, b_set.modeler.measure);
    bool any = false;
    for (const auto& [point, value] : now) {
      const auto there = then.find(point);
      if (there == then.end()) continue;
      const double change = value - there->second;
      builder.add(callpath, metric, builder.point(point), std::span(&change, 1));
      any = true;
    }
    if (!any) {
      ++out.only_a;
      continue;
    }
    models.push_back({});
    models.back().function = minus(m.function, before.function);
    out.pairs.push_back({&m, &before});
  }
  out.only_b = others.size();
  if (models.empty()) {
    return Error("have no call path and metric with common points").hint("compare runs of one program");
  }
  FATHOM_TRY(out.experiment, std::move(builder).finish());
  // Every pair made one series, in this order.
  for (std::size_t i = 0; i < models.size(); ++i) models[i].series = static_cast<std::uint32_t>(i);
  out.set.name = "difference";
  out.set.modeler = a_set.modeler;
  out.set.models = std::move(models);
  return out;
}

}  // namespace fathom
