#include "experiment/collect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <span>

#include "base/text.hpp"
#include "base/time_unit.hpp"
#include "defs/context_name.hpp"
#include "experiment/builder.hpp"
#include "experiment/call_path.hpp"
#include "experiment/run_filters.hpp"
#include "experiment/unit.hpp"
#include "profile/absent.hpp"
#include "profile/compute.hpp"
#include "profile/export/void_metrics.hpp"
#include "profile/views.hpp"

namespace fathom {
namespace {

// Unsigned counters just below 2^64 are small negative numbers that went wrong; as doubles all of them are 2^64.
constexpr double kWrapped = 18446744073709551616.0;

// Values on their way to whoever computes with them: contexts that have any stored are noted, so that nothing is read
// twice. MT: safe, as the source behind it is.
class NotingSource final : public ValueSource {
 public:
  NotingSource(std::shared_ptr<const ValueSource> source, std::size_t contexts)
      : source_(std::move(source)), stored_(contexts) {}

  [[nodiscard]] Axis cheap_axis() const override { return source_->cheap_axis(); }
  [[nodiscard]] bool reads_well_by(Axis axis) const override { return source_->reads_well_by(axis); }
  Result<void> scan(const Box& box, const RunVisitor& visit) const override {
    return source_->scan(box, [&](const Run& run) {
      if (run.along == Axis::location) {
        note(run.context.index());
      } else {
        for (std::size_t i = 0; i < run.count; ++i) {
          note(run.positions.empty() ? run.first + i : run.positions[i]);
        }
      }
      return visit(run);
    });
  }
  [[nodiscard]] bool stored(std::size_t context) const { return stored_[context] != 0; }

 private:
  void note(std::size_t context) const {
    std::atomic_ref<std::uint8_t>(stored_[context]).store(1, std::memory_order_relaxed);
  }
  std::shared_ptr<const ValueSource> source_;
  mutable std::vector<std::uint8_t> stored_;
};

// Contexts that are call paths: their names and what they are told apart by.
class CallPaths {
 public:
  static Result<CallPaths> of(const Profile& profile, const CollectOptions& options) {
    CallPaths paths(profile.defs(), options);
    FATHOM_CHECK(paths.find(profile.work->budget));
    return paths;
  }

  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }
  [[nodiscard]] const std::string& path(std::size_t context) const { return paths_[context]; }
  // Nothing when the context lacks one of them.
  [[nodiscard]] std::optional<std::vector<double>> parameters(std::size_t context) const {
    if (parameters_.empty()) return std::vector<double>();
    std::vector<double> out;
    for (const std::optional<double>& value : parameters_[context]) {
      if (!value) return std::nullopt;
      out.push_back(*value);
    }
    return out;
  }

 private:
  CallPaths(const Definitions& defs, const CollectOptions& options) : defs_(defs), options_(options) {}

  // A path repeats all that is above it: a chain of calls needs memory with the square of its length, which is asked
  // for before any of it is used.
  Result<void> find(Budget& budget) {
    const std::size_t count = defs_.contexts.size();
    std::vector<std::string> names(count);
    std::vector<std::uint64_t> sizes(count);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const ContextId parent = defs_.contexts[ContextId(i)].parent;
      sizes[i] = parent.valid() ? sizes[parent.index()] : 0;
      if (stands_for_itself(i)) {
        names[i] = path_level(name_of(ContextId(i)));
        sizes[i] += (sizes[i] > 0 ? std::string_view(kPathSeparator).size() : 0) + names[i].size();
      }
      bytes += sizes[i];
    }
    FATHOM_TRY(memory_, budget.reserve(bytes, "the text of the call paths"));
    paths_.resize(count);
    parameters_.resize(options_.parameters_from.empty() ? 0 : count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const ContextId parent = defs_.contexts[ContextId(i)].parent;
      std::string& path = paths_[i];
      path.reserve(sizes[i]);
      if (parent.valid()) path = paths_[parent.index()];
      if (stands_for_itself(i)) {
        if (!path.empty()) path += kPathSeparator;
        path += names[i];
        order_.push_back(i);
      }
      if (!parameters_.empty()) find_parameters(i);
    }
    // In the order of the ids that the file uses.
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return defs_.contexts[ContextId(a)].file_id < defs_.contexts[ContextId(b)].file_id;
    });
    return {};
  }
  [[nodiscard]] bool stands_for_itself(std::size_t i) const {
    const Context& context = defs_.contexts[ContextId(i)];
    return options_.lines || context.edge != Edge::lexical || !context.parent.valid();
  }
  [[nodiscard]] std::string name_of(ContextId id) const {
    return context_name_without(defs_, id, options_.parameters_from);
  }
  void find_parameters(std::size_t i) {
    const Context& context = defs_.contexts[ContextId(i)];
    auto& own = parameters_[i];
    own.resize(options_.parameters_from.size());
    if (context.parent.valid()) own = parameters_[context.parent.index()];
    for (const ContextParameter& parameter : defs_.contexts.details(ContextId(i)).parameters) {
      const auto at = std::find(options_.parameters_from.begin(), options_.parameters_from.end(), parameter.key);
      if (at == options_.parameters_from.end()) continue;
      const double* number = std::get_if<double>(&parameter.value);
      const auto value =
          number != nullptr ? std::optional(*number) : parse_double(std::get<std::string>(parameter.value));
      own[static_cast<std::size_t>(at - options_.parameters_from.begin())] = value;
    }
  }

  const Definitions& defs_;
  const CollectOptions& options_;
  Budget::Reservation memory_;
  std::vector<std::string> paths_;
  std::vector<std::vector<std::optional<double>>> parameters_;
  std::vector<std::uint32_t> order_;
};

// Memory for what is collected, asked for piece by piece: how much it will be is known when it is there.
class Growing {
 public:
  explicit Growing(Budget& budget) : budget_(budget) {}

  Result<void> add(const RunValues& values) {
    constexpr std::uint64_t kPiece = std::uint64_t{16} << 20;
    bytes_ += sizeof values + values.metric.size() + values.callpath.size() + values.values.size() * sizeof(double);
    if (bytes_ < kPiece) return {};
    FATHOM_TRY(Budget::Reservation more, budget_.reserve(bytes_, "the values of a run"));
    held_.push_back(std::move(more));
    bytes_ = 0;
    return {};
  }

 private:
  Budget& budget_;
  std::uint64_t bytes_ = 0;
  std::vector<Budget::Reservation> held_;
};

bool any_value(const Cells& cells, std::size_t row) {
  for (std::size_t l = 0; l < cells.columns(); ++l) {
    if (!cells.is_zero(row, l)) return true;
  }
  return false;
}

// All locations together.
double combined(const RunValues& run) {
  switch (run.combine) {
    case RunValues::Combine::minimum:
      return *std::min_element(run.values.begin(), run.values.end());
    case RunValues::Combine::maximum:
      return *std::max_element(run.values.begin(), run.values.end());
    case RunValues::Combine::sum:
      break;
  }
  double sum = 0;
  for (const double x : run.values) sum += x;
  return sum;
}

// Why no values of a metric can be had, whatever is stored for it; empty when they can. A profile of no threads has no
// data, rather than none of its threads.
std::string why_not_collected(const Profile& profile, MetricId id) {
  std::string why = why_unavailable(profile, id);
  const Definitions& defs = profile.defs();
  const bool stored = !defs.metric(id).scopes.empty() || defs.metric(id).derived();
  if (why.empty() && !stored && defs.system.location_count() > 0) why = "no values of single threads are stored";
  return why;
}

struct Chosen {
  std::vector<MetricId> metrics;
  std::vector<MetricId> hidden;  // not chosen, although they are no part of another
};
Chosen chosen_metrics(const Profile& profile, const CollectOptions& options) {
  const Definitions& defs = profile.defs();
  const auto& names = options.metrics;
  Chosen chosen;
  std::vector<MetricId> all;
  bool any = false;  // judged by what is declared: runs of one program are to give the same metrics
  for (std::size_t i = 0; i < defs.metrics.size(); ++i) {
    const Metric& metric = defs.metrics[i];
    const MetricId id(i);
    if (!names.empty()) {
      if (std::find(names.begin(), names.end(), metric.name) != names.end()) chosen.metrics.push_back(id);
      continue;
    }
    if (metric.parent.valid()) continue;
    all.push_back(id);
    (metric.hidden ? chosen.hidden : chosen.metrics).push_back(id);
    any = any || (!metric.hidden && !metric.switched_off && why_not_collected(profile, id).empty());
  }
  // All hidden: better than nothing.
  if (names.empty() && !any) chosen = {std::move(all), {}};
  return chosen;
}

// The units of metrics: that of the first run which has one. Other times become that one.
class UnitsOfRuns {
 public:
  Result<std::string_view> of(const std::string& metric, std::string_view unit, const std::string& run,
                              const Work& work) {
    const auto found = units_.try_emplace(metric).first;
    std::string& known = found->second;
    if (known.empty()) known = unit;
    if (same_unit(unit, known)) return std::string_view(known);
    if (!told_.emplace(metric, unit).second) return std::string_view(known);
    const std::string text = fmt::format("metric '{}' is in '{}' here and in '{}' in another run", metric, unit, known);
    if (other_time_unit(unit, known)) {
      work->diagnostics.info("runs.other_unit", Place::in(run), text + ": converted");
    } else {
      FATHOM_CHECK(work->diagnostics.warn("runs.other_unit", Place::in(run), text + "; taken as it is"));
    }
    return std::string_view(known);
  }

 private:
  std::map<std::string, std::string, std::less<>> units_;
  std::set<std::pair<std::string, std::string>> told_;
};

bool holds_values(const Profile& profile, MetricId id) {
  if (!why_not_collected(profile, id).empty()) return false;
  const auto total = metric_total(profile, id, {});
  return !total.ok() || (has_value(*total) && !total->is_zero());
}

}  // namespace

Result<std::vector<RunValues>> values_of_run(const Profile& profile, const CollectOptions& options, LeftOut& left_out) {
  const Definitions& defs = profile.defs();
  FATHOM_TRY(const CallPaths paths, CallPaths::of(profile, options));
  std::vector<RunValues> result;
  Growing memory(profile.work->budget);
  std::set<std::uint32_t> without;
  const Chosen chosen = chosen_metrics(profile, options);
  for (const MetricId id : chosen.hidden) {
    if (holds_values(profile, id)) left_out.hidden.push_back(defs.metric(id).name);
  }
  FATHOM_TRY(const std::vector<MetricId> counted, without_void_metrics(profile, chosen.metrics, "an experiment"));
  for (const MetricId id : chosen.metrics) {
    const Metric& metric = defs.metric(id);
    const bool off = std::find(counted.begin(), counted.end(), id) == counted.end();
    if (const std::string why = off ? "declared void" : why_not_collected(profile, id); !why.empty()) {
      left_out.others.emplace(metric.name, why);
      continue;
    }
    // Where one flavour is stored and every edge is a call (Cube), a row that is there counts although it is zero.
    // Otherwise values tell. Nodes of one path (functions of one name, one called from several lines) are one, unless
    // the runs are of a format whose reference has them as repetitions.
    const bool as_stored = defs.contexts.only_calls() && metric.scopes.size() <= 1;
    std::shared_ptr<const NotingSource> noted;
    std::optional<Profile> noting;
    if (as_stored && !metric.derived()) {
      noted = std::make_shared<const NotingSource>(profile.values, defs.contexts.size());
      noting = profile;
      noting->values = noted;
    }
    Selection selection;
    selection.flavour.kind = options.inclusive ? Flavour::Kind::inclusive
                             : options.lines   ? Flavour::Kind::own
                                               : Flavour::Kind::exclusive;
    selection.locations = all_locations(defs);
    // All locations together: of what is derived or composite that is no sum of theirs (a ratio of sums is no sum of
    // ratios).
    selection.aggregate = options.scaling == Scaling::strong && (metric.derived() || metric.type.is_composite());
    auto cells = compute(noting ? *noting : profile, id, selection);
    if (!cells) return std::move(cells).error().with(fmt::format("metric '{}'", metric.name));
    const std::size_t before = result.size();
    bool lacks_parameters = false;
    std::map<std::pair<std::string_view, std::vector<double>>, std::size_t> same;
    for (const std::uint32_t c : paths.order()) {
      if (as_stored ? noted != nullptr && !noted->stored(c) : !any_value(*cells, c)) continue;
      auto parameters = paths.parameters(c);
      if (!parameters) {
        without.insert(c);
        lacks_parameters = true;
        continue;
      }
      RunValues values;
      values.metric = metric.name;
      values.values.reserve(cells->columns());
      using Combine = RunValues::Combine;
      values.combine = metric.type.kind == ValueKind::min_f64   ? Combine::minimum
                       : metric.type.kind == ValueKind::max_f64 ? Combine::maximum
                                                                : Combine::sum;
      for (std::size_t l = 0; l < cells->columns(); ++l) {
        if (!has_value(*cells, c, l)) continue;  // the extreme of nothing
        const double value = cells->scalar(c, l);
        const bool wrapped = metric.type.kind == ValueKind::u64 && value >= kWrapped;
        if (wrapped) ++left_out.wrapped;
        values.values.push_back(wrapped ? 0 : value);
      }
      if (!as_stored || !options.equal_paths_repeat) {
        const auto [at, is_new] = same.try_emplace({paths.path(c), *parameters}, result.size());
        if (!is_new) {
          add_values(result[at->second], values);
          continue;
        }
      }
      values.callpath = paths.path(c);
      values.parameters = std::move(*parameters);
      FATHOM_CHECK(memory.add(values));
      result.push_back(std::move(values));
    }
    if (result.size() != before) continue;
    if (lacks_parameters) {
      left_out.others.emplace(metric.name, fmt::format("no call path with values has the parameter {}",
                                                       fmt::join(options.parameters_from, " and ")));
    } else {
      left_out.metrics.push_back(metric.name);
    }
  }
  left_out.without_parameters += without.size();
  return result;
}

Result<ExperimentPtr> collect(std::string name, const std::vector<std::string>& parameters,
                              std::vector<RunAtPoint> runs, const CollectOptions& options, const Work& work) {
  // In order of the points, so that they come out ascending.
  std::stable_sort(runs.begin(), runs.end(),
                   [](const RunAtPoint& a, const RunAtPoint& b) { return a.point < b.point; });
  if (options.scaling == Scaling::weak) FATHOM_CHECK(same_locations(runs));
  if (options.missing == CollectOptions::Missing::merge) merge_missing(runs, options);
  if (options.small) FATHOM_CHECK(drop_small(runs, *options.small, options));
  ExperimentBuilder builder(std::move(name), work, ExperimentBuilder::Repeats::collect);
  for (const std::string& p : parameters) builder.parameter(p);
  builder.set_scaling(options.scaling);
  std::vector<double> kept;
  std::uint64_t equal = 0;
  const RunAtPoint* first_equal = nullptr;
  std::string equal_path;
  UnitsOfRuns units;
  for (const RunAtPoint& run : runs) {
    const auto point = builder.point(run.point);
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (const RunValues& v : run.values) {
      if (!seen.emplace(v.metric, v.callpath).second && equal++ == 0) {
        first_equal = &run;
        equal_path = v.callpath;
      }
      const auto callpath = builder.callpath(v.callpath);
      const auto metric = builder.metric(v.metric);
      std::string_view unit;
      if (const auto found = run.units.find(v.metric); found != run.units.end()) {
        set_unit(builder.metric_tags(metric), found->second);
        unit = found->second;
      }
      FATHOM_TRY(const std::string_view in_unit, units.of(v.metric, unit, run.name, work));
      const auto add = [&](std::span<const ShapeToken> shape) {
        if (other_time_unit(unit, in_unit)) {
          for (double& x : kept) x = in_time_unit(x, unit, in_unit);
        }
        builder.add(callpath, metric, point, kept, 1, shape);
      };
      if (const auto text = run.descriptions.find(v.metric); text != run.descriptions.end()) {
        set_description(builder.metric_tags(metric), text->second);
      }
      if (v.combine != RunValues::Combine::sum) {
        Tags& tags = builder.metric_tags(metric);
        if (find_tag(tags, kExtremeTag) == nullptr) tags.emplace_back(kExtremeTag, "true");
      }
      kept.clear();
      if (options.scaling == Scaling::strong) {
        if (v.values.empty()) continue;
        kept.push_back(combined(v));
        add({});
        continue;
      }
      for (const double x : v.values) {
        if (options.scaling != Scaling::weak_threaded || x != 0) kept.push_back(x);
      }
      if (kept.empty()) kept = v.values;
      if (kept.empty()) continue;
      const ShapeToken shape[] = {1 * 2 + 1, static_cast<ShapeToken>(kept.size() * 2)};
      add(shape);
    }
  }
  FATHOM_CHECK(builder.status());
  if (equal > 0) {
    FATHOM_CHECK(work->diagnostics.add(
        "runs.equal_callpaths", Severity::warning, Place::in(first_equal->name),
        fmt::format("several call nodes have the path '{}'; each counts as a repetition of its own", equal_path),
        equal));
  }
  if (options.missing != CollectOptions::Missing::keep) {
    FATHOM_CHECK(builder.leave_out_incomplete(work, options.parameters_from.size()));
  }
  FATHOM_TRY(ExperimentPtr experiment, std::move(builder).finish());
  return experiment;
}

Result<ExperimentPtr> collect_parts(const Profile& profile, std::size_t parts, const CollectOptions& options,
                                    const Work& work) {
  LeftOut left_out;
  FATHOM_TRY(const std::vector<RunValues> all, values_of_run(profile, options, left_out));
  std::vector<RunAtPoint> runs(parts);
  for (std::size_t part = 0; part < parts; ++part) {
    RunAtPoint& run = runs[part];
    run.point = {static_cast<double>(part + 1)};
    run.name = profile.name;
    for (const Metric& metric : profile.defs().metrics) {
      run.units.emplace(metric.name, metric.unit);
      run.descriptions.emplace(metric.name, metric.description);
    }
    for (const RunValues& values : all) {
      RunValues& own = run.values.emplace_back(RunValues{values.metric, values.callpath, {}});
      // The parts of a location are neighbours.
      for (std::size_t at = part; at < values.values.size(); at += parts) own.values.push_back(values.values[at]);
    }
  }
  return collect(profile.name, {"part"}, std::move(runs), options, work);
}

}  // namespace fathom
