#include "profile/export/stack_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "base/cancel.hpp"
#include "base/text.hpp"
#include "defs/sample_weight.hpp"
#include "profile/absent.hpp"
#include "profile/compute.hpp"
#include "profile/export/void_metrics.hpp"
#include "profile/expression/program.hpp"
#include "profile/selection.hpp"

namespace fathom {

namespace {

// Locations that are computed at once: at least so many, and more as long as there are no more values than that. Some
// formats go through all of a row for each block.
constexpr std::uint32_t kBlock = 64;
constexpr std::size_t kValues = std::size_t{4} << 20;
constexpr double kLargest = 9.2e18;  // below the largest 64-bit integer
constexpr std::pair<double, const char*> kTimeUnits[] = {
    {1, "seconds"}, {1e-3, "milliseconds"}, {1e-6, "microseconds"}, {1e-9, "nanoseconds"}};

Selection own_values(const Definitions& defs, IndexRange locations, bool sum) {
  Selection selection;
  selection.flavour.kind = defs.contexts.only_calls() ? Flavour::Kind::exclusive : Flavour::Kind::own;
  selection.locations = locations;
  selection.aggregate = sum;
  return selection;
}

std::vector<IndexRange> blocks_of(const Definitions& defs, bool all_at_once) {
  const IndexRange all = all_locations(defs);
  if (all_at_once) return {all};
  std::vector<IndexRange> out;
  const std::size_t column = std::max<std::size_t>(1, defs.contexts.size() * defs.metrics.size());
  const auto block = static_cast<std::uint32_t>(std::max<std::size_t>(kBlock, kValues / column));
  for (std::uint32_t begin = all.begin; begin < all.end; begin += std::min(block, all.end - begin)) {
    out.push_back({begin, begin + std::min(block, all.end - begin)});
  }
  return out;
}

// What happened to numbers on the way.
struct Changes {
  std::uint64_t rounded = 0;
  double largest = 0;  // part that was lost by rounding, in seconds or whatever the metric counts in
  std::uint64_t beyond = 0;

  std::int64_t whole(double value, double scale) {
    const double scaled = value * scale;
    if (!(std::abs(scaled) < kLargest)) {
      ++beyond;
      if (std::isnan(scaled)) return 0;
      return scaled < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
    }
    const double nearest = std::nearbyint(scaled);
    // A number that was whole before it was divided by the scale comes back as it was.
    if (const double off = std::abs(nearest / scale - value); off > std::abs(value) * 1e-15) {
      ++rounded;
      largest = std::max(largest, off);
    }
    return static_cast<std::int64_t>(nearest);
  }
  std::int64_t whole(Int128 value) {
    constexpr Int128 kMost = std::numeric_limits<std::int64_t>::max();
    if (value > kMost || value < -kMost) {
      ++beyond;
      return value < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
    }
    return static_cast<std::int64_t>(value);
  }
};

}  // namespace

double seconds_of_unit(std::string_view unit) {
  static const std::map<std::string_view, double> kUnits = {
      {"s", 1},       {"sec", 1},     {"secs", 1},          {"second", 1},
      {"seconds", 1}, {"ms", 1e-3},   {"msec", 1e-3},       {"milliseconds", 1e-3},
      {"us", 1e-6},   {"µs", 1e-6},   {"usec", 1e-6},       {"microseconds", 1e-6},
      {"ns", 1e-9},   {"nsec", 1e-9}, {"nanoseconds", 1e-9}};
  const std::string lower = to_lower(unit);
  const auto found = kUnits.find(lower);
  return found == kUnits.end() ? 0 : found->second;
}

void stack_of(const ContextTree& contexts, ContextId context, std::vector<StackFrame>& frames) {
  frames.clear();
  std::int64_t line = -1;
  while (context.valid()) {
    const Context& at = contexts[context];
    if (at.edge == Edge::lexical && at.parent.valid()) {
      if (line < 0) line = at.line;
    } else {
      frames.push_back({context, line});
      line = at.line;
    }
    context = at.parent;
  }
}

std::string frame_name(const Definitions& defs, ContextId context) {
  std::string name = defs.contexts[context].region.valid() ? defs.context_name(context) : std::string();
  return name.empty() ? "<unknown>" : name;
}

Result<StackExport> StackExport::plan(const Profile& profile, const ExportOptions& options) {
  StackExport out(profile, options);
  FATHOM_CHECK(out.choose());
  return out;
}

Result<std::uint64_t> StackExport::stored_values(MetricId id) const {
  const Metric& metric = profile_.defs().metric(id);
  if (metric.scopes.empty() || metric.derived() || !metric.unusable.empty()) return std::uint64_t{0};
  // Of the scope that has most: a file need not store the first.
  std::uint64_t most = 0;
  for (std::uint32_t scope = 0; scope < metric.scopes.size(); ++scope) {
    const StoredMetric stored{id, scope};
    std::uint64_t count = 0;
    FATHOM_CHECK(profile_.values->scan({{&stored, 1},
                                        {0, static_cast<std::uint32_t>(profile_.defs().contexts.size())},
                                        all_locations(profile_.defs())},
                                       [&](const Run& run) -> Result<void> {
                                         count += run.count;
                                         return {};
                                       }));
    most = std::max(most, count);
  }
  return most;
}

Result<bool> StackExport::all_whole(MetricId id) const {
  const Definitions& defs = profile_.defs();
  for (const IndexRange block : blocks_of(defs, false)) {
    FATHOM_TRY(const Cells cells, compute(profile_, id, own_values(defs, block, false)));
    for (std::size_t row = 0; row < cells.rows(); ++row) {
      for (const double value : cells.reals(row)) {
        if (!(std::abs(value) < kLargest) || value != std::nearbyint(value)) return false;
      }
    }
  }
  return true;
}

Result<std::string> StackExport::judge(MetricId id) {
  const Metric& metric = profile_.defs().metric(id);
  if (metric.hidden) return std::string("hidden metrics");
  if (!metric.type.is_plain_number()) return std::string("metrics that are no plain numbers");
  if (!why_unavailable(profile_, id).empty()) return std::string("metrics that cannot be read");
  const auto program = profile_.programs.find(id);
  const bool adds_up =
      metric.derivation != Derivation::post && (program == profile_.programs.end() || !program->second->aggregate);
  if (!adds_up) return std::string("derived metrics, whose values do not add up");
  ExportedMetric out{id, metric.name, metric.unit, 1};
  // Whole numbers stay as they are; their unit is called as readers of all these formats know it.
  if (const double seconds = seconds_of_unit(metric.unit); seconds > 0) {
    for (const auto& [one, name] : kTimeUnits) {
      if (seconds == one) out.unit = name;
    }
  }
  if (metric.type.kind == ValueKind::f64) {
    // Without a unit the name tells: these are in seconds wherever Fathom makes them.
    const bool named_time = metric.unit.empty() && (metric.name == "time" || metric.name == "cpu_time");
    const double seconds = named_time ? 1 : seconds_of_unit(metric.unit);
    if (seconds > 0) {
      out.unit = "nanoseconds";
      out.scale = seconds == 1 ? 1e9 : seconds == 1e-3 ? 1e6 : seconds == 1e-6 ? 1e3 : 1;
    } else if (metric.unit == "J" || equal_ignoring_case(metric.unit, "joules")) {
      out.unit = "microjoules";
      out.scale = 1e6;
    } else {
      FATHOM_TRY(const bool whole, all_whole(id));
      if (!whole) return std::string("metrics with fractions in a unit that has no smaller one");
    }
  }
  metrics_.push_back(std::move(out));
  return std::string();
}

Result<void> StackExport::choose() {
  const Definitions& defs = profile_.defs();
  std::vector<MetricId> wanted;
  if (options_.metrics.empty()) {
    for (std::size_t i = 0; i < defs.metrics.size(); ++i) wanted.emplace_back(i);
    // What readers show unasked is the first: the weight of samples, or time, whatever it is called.
    const auto rank = [&](MetricId id) {
      const Metric& metric = defs.metric(id);
      return weighs_samples(metric)                                  ? 0
             : equal_ignoring_case(metric.name, "time")              ? 1
             : !metric.derived() && seconds_of_unit(metric.unit) > 0 ? 2
                                                                     : 3;
    };
    std::stable_sort(wanted.begin(), wanted.end(), [&](MetricId a, MetricId b) { return rank(a) < rank(b); });
  } else {
    FATHOM_TRY(wanted, choose_metrics(defs, options_.metrics));
  }
  FATHOM_TRY(wanted, without_void_metrics(profile_, wanted, options_.format));
  struct LeftOut {
    std::vector<std::string> names;
    std::uint64_t values = 0;
  };
  std::map<std::string, LeftOut> left_out;
  for (const MetricId id : wanted) {
    std::string why;
    if (options_.one_metric && !metrics_.empty()) {
      why = "more than one metric";
    } else {
      // Of several the first that has anything to show.
      if (options_.one_metric && wanted.size() > 1 && !defs.metric(id).derived()) {
        FATHOM_TRY(const std::uint64_t values, stored_values(id));
        if (values == 0) continue;
      }
      FATHOM_TRY(why, judge(id));
    }
    if (why.empty()) continue;
    LeftOut& group = left_out[why];
    group.names.push_back(defs.metric(id).name);
    FATHOM_TRY(const std::uint64_t values, stored_values(id));
    group.values += values;
  }
  if (metrics_.empty() && left_out.empty() && !wanted.empty()) {
    FATHOM_TRY([[maybe_unused]] const std::string why, judge(wanted.front()));  // none has values
  }
  std::string texts;
  std::uint64_t count = 0;
  for (const auto& [why, group] : left_out) {
    texts += fmt::format("{}{} ({} left out: {}; {} values)", texts.empty() ? "" : "; ", why, group.names.size(),
                         fmt::join(group.names, ", "), group.values);
    count += group.names.size();
  }
  if (count > 0) {
    FATHOM_CHECK(profile_.work->diagnostics.add("convert.metric_left_out", Severity::warning, Place::in(profile_.name),
                                                fmt::format("{} has no place for {}", options_.format, texts), count));
  }
  if (metrics_.empty()) {
    return Error(
        fmt::format("{} can be written as {}",
                    defs.metrics.empty() ? "a profile without metrics is nothing that" : "no metric of the profile",
                    options_.format),
        Place::in(profile_.name));
  }
  if (options_.sum_locations && defs.system.location_count() > 1) {
    FATHOM_CHECK(profile_.work->diagnostics.add("convert.locations_summed", Severity::warning, Place::in(profile_.name),
                                                fmt::format("{} knows no locations: the values of {} are summed",
                                                            options_.format, defs.system.location_count())));
  }
  return {};
}

void StackExport::note(std::string_view id, std::uint64_t count, std::string_view text) const {
  if (count == 0) return;
  (void)profile_.work->diagnostics.add(id, Severity::info, Place::in(profile_.name), std::string(text), count);
}

// What has no value has no stack: it is nowhere in the output.
void StackExport::report_contexts(std::vector<bool> written) const {
  const ContextTree& contexts = profile_.defs().contexts;
  std::uint64_t empty = 0;
  std::uint64_t lexical = 0;
  for (std::size_t i = contexts.size(); i-- > 0;) {
    const Context& context = contexts[ContextId(i)];
    if (written[i] && context.parent.valid()) written[context.parent.index()] = true;
    if (context.edge == Edge::lexical && context.parent.valid()) {
      ++lexical;
    } else if (!written[i]) {
      ++empty;
    }
  }
  note("convert.lines", lexical, "a loop or line is written as part of its function");
  if (!options_.frame) return;
  note("convert.empty_contexts", empty, "a context without any value is not written");
  note("convert.joined_contexts", joined_stacks(written),
       "a context differs from another in lines, loops or source places only: they are one stack of functions");
}

// Contexts come depth first, so that the one above is known already.
std::uint64_t StackExport::joined_stacks(const std::vector<bool>& written) const {
  const Definitions& defs = profile_.defs();
  std::uint64_t joined = 0;
  std::map<std::string, std::uint32_t> frames;
  std::unordered_map<std::uint64_t, std::uint32_t> stacks;  // the stack above and the frame
  std::vector<std::uint32_t> stack_of_context(defs.contexts.size());
  for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
    if (!written[i]) continue;
    const Context& context = defs.contexts[ContextId(i)];
    const std::uint32_t above = context.parent.valid() ? stack_of_context[context.parent.index()] : 0;
    if (context.edge == Edge::lexical && context.parent.valid()) {
      stack_of_context[i] = above;
      continue;
    }
    const auto number = static_cast<std::uint32_t>(frames.size());
    const std::uint32_t frame = frames.try_emplace(options_.frame(defs, ContextId(i)), number).first->second;
    const auto next = static_cast<std::uint32_t>(stacks.size() + 1);
    const auto [at, fresh] = stacks.try_emplace(std::uint64_t{above} << 32 | frame, next);
    stack_of_context[i] = at->second;
    joined += fresh ? 0 : 1;
  }
  return joined;
}

void StackExport::report_locations(const std::vector<bool>& used) const {
  const auto idle = static_cast<std::uint64_t>(std::count(used.begin(), used.end(), false));
  note("convert.empty_locations", idle, "a location without any value is not written");
}

Result<void> StackExport::visit(const Visit& visit) const {
  const Definitions& defs = profile_.defs();
  const bool sum = options_.sum_locations;
  std::vector<Changes> changes(metrics_.size());
  std::vector<std::int64_t> values(metrics_.size());
  std::vector<bool> written(defs.contexts.size());
  std::vector<bool> used(defs.system.location_count());
  for (const IndexRange block : blocks_of(defs, sum)) {
    if (cancelled()) return cancelled_error();
    std::vector<Cells> cells;
    for (const ExportedMetric& metric : metrics_) {
      FATHOM_TRY(Cells one, compute(profile_, metric.id, own_values(defs, block, sum)));
      cells.push_back(std::move(one));
    }
    const std::size_t columns = sum ? std::min<std::size_t>(1, block.size()) : block.size();
    for (std::size_t column = 0; column < columns; ++column) {
      const LocationId location = sum ? LocationId() : LocationId(block.begin + column);
      for (std::size_t row = 0; row < defs.contexts.size(); ++row) {
        bool any = false;
        for (std::size_t m = 0; m < metrics_.size(); ++m) {
          const Cells& table = cells[m];
          values[m] = table.type().is_integer() ? changes[m].whole(table.integers(row)[column])
                                                : changes[m].whole(table.reals(row)[column], metrics_[m].scale);
          any = any || values[m] != 0;
        }
        if (!any) continue;
        if (cancelled()) return cancelled_error();  // stacks may be long
        written[row] = true;
        if (location.valid()) used[location.index()] = true;
        FATHOM_CHECK(visit(ContextId(row), location, values));
      }
    }
  }
  report_contexts(std::move(written));
  if (!sum) report_locations(used);
  std::uint64_t beyond = 0;
  std::uint64_t rounded = 0;
  std::string texts;
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    beyond += changes[m].beyond;
    rounded += changes[m].rounded;
    if (changes[m].rounded == 0) continue;
    texts += fmt::format("{}{} of {} to whole {} (by up to {:.2g} {})", texts.empty() ? "" : ", ", changes[m].rounded,
                         metrics_[m].name, metrics_[m].unit, changes[m].largest, defs.metric(metrics_[m].id).unit);
  }
  if (rounded > 0) {
    FATHOM_CHECK(profile_.work->diagnostics.add("convert.rounded", Severity::info, Place::in(profile_.name),
                                                fmt::format("{} values are rounded: {}", rounded, texts), rounded));
  }
  if (beyond == 0) return {};
  return profile_.work->diagnostics.add("convert.beyond", Severity::data_loss, Place::in(profile_.name),
                                        "a value does not fit into 64 bits; it is cut to what does", beyond);
}

}  // namespace fathom
