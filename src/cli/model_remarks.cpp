#include "cli/model_remarks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "cli/model_output.hpp"
#include "experiment/strong_scaling.hpp"
#include "experiment/usual_metric.hpp"

namespace fathom::cli {
namespace {

std::string named_model(const Experiment& e, const Model& model) {
  const Series& s = e.series()[model.series];
  return fmt::format("'{}' of {}", e.metrics()[s.metric].name, e.callpaths()[s.callpath].name);
}

}  // namespace

void warn_of_guesses(Session& session, const Experiment& e, std::span<const Model* const> models,
                     std::span<const double> point, const std::vector<std::vector<Forecast>>& forecasts,
                     std::size_t at) {
  std::set<std::uint32_t> judged;  // point sets
  double distance = 1;
  std::size_t wide = 0;
  std::size_t nowhere = 0;
  const Model* undefined = nullptr;
  const Model* widest = nullptr;
  double most = kWideInterval;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Series& s = e.series()[models[i]->series];
    if (judged.insert(s.point_set).second) distance = std::max(distance, extrapolation(e, s, point));
    if (std::isnan(forecasts[i][at].value) && !std::isnan(models[i]->function.constant)) {
      if (nowhere++ == 0) undefined = models[i];
    }
    const double factor = uncertainty(forecasts[i][at]);
    if (!(factor > kWideInterval)) continue;
    ++wide;
    if (factor > most) {
      most = factor;
      widest = models[i];
    }
  }
  if (distance > kFarExtrapolation) {
    session.warn(fmt::format("{} lies {} times outside what was measured: predictions there are guesses",
                             named_point(e, point),
                             distance < 1e6 ? fmt::format("{:.0f}", distance) : fmt::format("{:.2g}", distance)));
  }
  if (undefined != nullptr) {
    session.warn(fmt::format("at {} {} of {} models {} no value, such as {}: the function is not defined there",
                             named_point(e, point), nowhere, models.size(), nowhere == 1 ? "has" : "have",
                             named_model(e, *undefined)));
  }
  if (widest == nullptr) return;
  const std::string worst = named_model(e, *widest);
  if (!std::isfinite(most)) {
    session.warn(fmt::format(
        "at {} {} of {} models {} no upper limit, such as {}: the points do not show how the parameters act "
        "together; measure some where several of them are large",
        named_point(e, point), wide, models.size(), wide == 1 ? "has" : "have", worst));
    return;
  }
  session.warn(
      fmt::format("at {} {} of {} models {} known only to within a factor of {:.0f} or more; worst: {}, a "
                  "factor of {:.2g}",
                  named_point(e, point), wide, models.size(), wide == 1 ? "is" : "are", kWideInterval, worst, most));
}

void keep_usual_metric(Session& session, const Experiment& e, Ranking& ranking) {
  const auto metric_of = [&](const RankedModel& r) { return e.series()[r.model->series].metric; };
  std::vector<std::uint32_t> there;
  for (const RankedModel& r : ranking.models) there.push_back(metric_of(r));
  const auto usual = usual_metric(e, there);
  if (!usual) return;
  std::erase_if(ranking.models, [&](const RankedModel& r) { return metric_of(r) != *usual; });
  std::set<std::string> others;
  for (const std::uint32_t m : there) {
    if (m != *usual) others.insert(e.metrics()[m].name);
  }
  if (others.empty()) return;
  session.note(fmt::format("these are the models of '{}'; -m NAME shows another metric ({}), -m '*' all of them",
                           e.metrics()[*usual].name, fit(fmt::format("{}", fmt::join(others, ", ")), 60)));
}

void spare_extremes(const Experiment& e, Ranking& ranking) {
  const auto extreme = [&](const RankedModel& r) {
    return is_extreme(e.metrics()[e.series()[r.model->series].metric]);
  };
  if (std::all_of(ranking.models.begin(), ranking.models.end(), extreme)) return;
  for (RankedModel& r : ranking.models) {
    if (!extreme(r)) continue;
    r.bug = r.unsure = false;
    r.explanation.clear();
  }
}

void note_strong_scaling(Session& session, const Experiment& e) {
  if (const auto shrinking = strong_scaling_parameter(e); shrinking && e.scaling() != Scaling::strong) {
    session.note(fmt::format("values get smaller with '{0}'; --multiply-by {0} models the cost of all of them together",
                             e.parameters()[*shrinking]));
  }
}

}  // namespace fathom::cli
