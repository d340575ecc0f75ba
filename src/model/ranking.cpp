#include "model/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/number.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "experiment/unit.hpp"
#include "model/predict.hpp"

namespace fathom {
namespace {

constexpr double kWorthSaying = 0.01;  // share of the total from which a model can be a bug

std::optional<Exponent> parse_exponent(std::string_view text) {
  text = trim(text);
  if (text.starts_with('(') && text.ends_with(')')) text = trim(text.substr(1, text.size() - 2));
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const auto above = parse_integer<std::int64_t>(trim(text.substr(0, slash)));
    const auto below = parse_integer<std::int64_t>(trim(text.substr(slash + 1)));
    if (!above || !below || *below <= 0) return std::nullopt;
    return Exponent::fraction(*above, *below);
  }
  if (const auto whole = parse_integer<std::int64_t>(text)) return Exponent::fraction(*whole);
  if (const auto number = parse_double(text)) return Exponent::decimal(*number);
  return std::nullopt;
}

}  // namespace

Result<std::vector<Growth>> parse_expectation(std::string_view text, std::span<const std::string> parameters) {
  std::vector<Growth> expected(parameters.size());
  const auto wrong = [&](std::string_view part) {
    return Error::usage(fmt::format("cannot understand '{}' in the expectation '{}'", part, text))
        .hint("write a product such as 'log2(p)', 'p^(1/2) * log2(p)^2' or '1'");
  };
  std::vector<std::string> names(parameters.begin(), parameters.end());
  for (std::string_view part : split(text, '*')) {
    part = trim(part);
    if (part.empty()) return wrong(part);
    if (part == "1" || equal_ignoring_case(part, "constant")) continue;
    const bool log = part.starts_with("log2(") || part.starts_with("log(");
    std::string_view name;
    std::string_view rest;
    if (log) {
      const auto open = part.find('(');
      const auto close = part.find(')');
      if (close == std::string_view::npos) return wrong(part);
      name = trim(part.substr(open + 1, close - open - 1));
      rest = trim(part.substr(close + 1));
    } else {
      const auto hat = part.find('^');
      name = trim(part.substr(0, hat));
      rest = hat == std::string_view::npos ? std::string_view{} : part.substr(hat);
    }
    Exponent exponent = Exponent::fraction(1);
    if (!rest.empty()) {
      const auto parsed = rest.front() == '^' ? parse_exponent(rest.substr(1)) : std::nullopt;
      if (!parsed) return wrong(part);
      exponent = *parsed;
    }
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      return Error::usage(
                 fmt::format("the expectation names '{}', which is no parameter{}", name, did_you_mean(name, names)))
          .hint(fmt::format("parameters are: {}", fmt::join(names, ", ")));
    }
    Growth& g = expected[static_cast<std::size_t>(found - names.begin())];
    (log ? g.log : g.power) = exponent;
  }
  return expected;
}

std::vector<double> largest_point(const Experiment& e) {
  std::vector<double> largest(e.parameters().size(), -INFINITY);
  for (std::size_t i = 0; i < e.point_count(); ++i) {
    const auto point = e.point(i);
    for (std::size_t p = 0; p < largest.size() && p < point.size(); ++p) largest[p] = std::max(largest[p], point[p]);
  }
  return largest;
}

std::string named_point(const Experiment& e, std::span<const double> point) {
  std::string out;
  for (std::size_t i = 0; i < point.size() && i < e.parameters().size(); ++i) {
    // 100000, not 1e+05: process counts are read digit by digit.
    const double x = point[i];
    const bool whole = x == std::floor(x) && std::fabs(x) < 1e15;
    out +=
        fmt::format("{}{}={}", i > 0 ? ", " : "", e.parameters()[i], whole ? fmt::format("{:.0f}", x) : exact_text(x));
  }
  return out;
}

Result<std::vector<double>> parse_point(std::string_view text, std::span<const std::string> parameters,
                                        std::span<const double> otherwise) {
  std::vector<double> point(otherwise.begin(), otherwise.end());
  std::vector<bool> given(parameters.size(), !otherwise.empty());
  std::vector<bool> named(parameters.size(), false);
  point.resize(parameters.size(), 0);
  const std::vector<std::string> names(parameters.begin(), parameters.end());
  for (const std::string_view part : split(text, ',')) {
    if (trim(part).empty()) continue;
    const auto equals = part.find('=');
    const std::string_view name = trim(part.substr(0, equals));
    const auto value = equals == std::string_view::npos ? std::nullopt : parse_double(trim(part.substr(equals + 1)));
    if (!value) {
      return Error::usage(fmt::format("'{}' is not PARAMETER=NUMBER", part)).hint("write a point as p=1024,n=4096");
    }
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      return Error::usage(fmt::format("there is no parameter '{}'{}", name, did_you_mean(name, names)))
          .hint(fmt::format("parameters are: {}", fmt::join(names, ", ")));
    }
    if (!std::isfinite(*value)) return Error::usage(fmt::format("'{}' is no place to measure at", part));
    const auto at = static_cast<std::size_t>(found - names.begin());
    if (named[at]) return Error::usage(fmt::format("the point '{}' gives two values for parameter '{}'", text, name));
    point[at] = *value;
    given[at] = named[at] = true;
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) return Error::usage(fmt::format("the point '{}' gives no value for parameter '{}'", text, names[i]));
  }
  return point;
}

namespace {

constexpr std::size_t kModelsPerTask = 128;

// What was measured at a point; nothing where this series has no such point.
std::optional<double> measured_at(const Experiment& e, std::uint32_t series, std::span<const double> point) {
  const Series& s = e.series()[series];
  const auto points = e.points_of(s);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto at = e.point(points[k]);
    if (std::equal(at.begin(), at.end(), point.begin(), point.end())) return e.means()[s.first + k];
  }
  return std::nullopt;
}

// One model by itself: how it grows, and what it counts as at the target.
RankedModel judged(const Experiment& e, const Model& model, Measure measure, std::span<const Growth> expected,
                   const Ranking& ranking) {
  RankedModel r;
  r.model = &model;
  r.now = model.function(ranking.largest);
  // A model that is below zero there says nothing about what it takes.
  if (!(r.now > 0)) r.now = measured_at(e, model.series, ranking.largest).value_or(r.now);
  r.growth.reserve(expected.size());
  for (std::uint32_t p = 0; p < expected.size(); ++p) {
    r.growth.push_back(leading_growth(model.function, p, Terms::positive));
    // Only parameters that the target moves can hurt there.
    if (ranking.target[p] <= ranking.largest[p] || !grows_faster(r.growth[p], expected[p])) continue;
    // Growth that may be noise does not count at the target either.
    auto tamed = within(expected[p], e, model.series, r.counted(), measure, p);
    r.suspect.push_back({p, !tamed});
    if (tamed) r.tame = std::move(tamed);
  }
  r.then = r.counted()(ranking.target);
  return r;
}

}  // namespace

Result<Ranking> rank_models(const Experiment& e, const ModelSet& set, const RankingOptions& options) {
  Ranking ranking;
  const std::size_t parameters = e.parameters().size();
  ranking.largest = largest_point(e);
  ranking.target = options.at.empty() ? ranking.largest : options.at;
  if (options.at.empty() && parameters > 0) ranking.target[0] *= kFarExtrapolation;
  const Growth usual = e.scaling() == Scaling::strong ? Growth{} : Growth{{}, Exponent::fraction(1)};
  std::vector<Growth> expected(parameters, usual);
  if (options.expect) {
    FATHOM_TRY(expected, parse_expectation(*options.expect, e.parameters()));
  }
  ranking.models.resize(set.models.size());
  FATHOM_CHECK(parallel_blocks(set.models.size(), kModelsPerTask, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      ranking.models[i] = judged(e, set.models[i], set.modeler.measure, expected, ranking);
    }
    return Result<void>();
  }));
  std::map<std::uint32_t, std::pair<double, double>> totals;  // per metric, now and then
  for (const RankedModel& r : ranking.models) {
    const auto positive = [](double v) { return std::isfinite(v) && v > 0 ? v : 0; };
    auto& total = totals[e.series()[r.model->series].metric];
    total.first += positive(r.now);
    total.second += positive(r.then);
  }
  for (RankedModel& r : ranking.models) {
    const Series& series = e.series()[r.model->series];
    const auto [now, then] = totals[series.metric];
    r.share_now = now > 0 ? std::max(r.now, 0.0) / now : 0;
    r.share_then = then > 0 ? std::max(r.then, 0.0) / then : 0;
    if (r.suspect.empty()) continue;
    const double as_modelled = then > 0 ? r.model->function(ranking.target) / then : 0;
    for (const auto& [p, sure] : r.suspect) {
      if (r.bug || (r.unsure && !sure) || (sure ? r.share_then : as_modelled) < kWorthSaying) continue;
      r.bug = sure;
      r.unsure = !sure;
      const std::string what =
          fmt::format("'{}' of {}", e.metrics()[series.metric].name, e.callpaths()[series.callpath].name);
      const std::string unit = unit_of(e.metrics()[series.metric]);
      const std::string allowed = expected[p].constant() ? "a constant" : expected[p].text(e.parameters()[p]);
      r.explanation =
          sure ? fmt::format("{} grows like {}, faster than {}: from {} ({}) at {} to {} ({}) at {}.", what,
                             r.growth[p].text(e.parameters()[p]), allowed, readable(r.now, unit),
                             percent(r.share_now, 1), named_point(e, ranking.largest), readable(r.then, unit),
                             percent(r.share_then, 1), named_point(e, ranking.target))
               : fmt::format(
                     "{} may grow like {}, but the measurements scatter too much to rule out {}; at {} it is "
                     "counted as the latter.",
                     what, r.growth[p].text(e.parameters()[p]), allowed, named_point(e, ranking.target));
    }
  }
  // Sorted without the models, which are large.
  struct Key {
    bool bug = false;
    double share = 0;
    std::size_t at = 0;
  };
  std::vector<Key> keys(ranking.models.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = {ranking.models[i].bug, ranking.models[i].share_then, i};
  std::stable_sort(keys.begin(), keys.end(),
                   [](const Key& a, const Key& b) { return a.bug != b.bug ? a.bug : a.share > b.share; });
  // In place, cycle by cycle: each model is moved once.
  for (std::size_t first = 0; first < keys.size(); ++first) {
    if (keys[first].at == first) continue;
    RankedModel moved = std::move(ranking.models[first]);
    std::size_t to = first;
    for (std::size_t from = keys[to].at; from != first; from = keys[to].at) {
      ranking.models[to] = std::move(ranking.models[from]);
      keys[to].at = to;
      to = from;
    }
    ranking.models[to] = std::move(moved);
    keys[to].at = to;
  }
  return ranking;
}

}  // namespace fathom
