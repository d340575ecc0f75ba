#include "trace/aggregate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/self_profile.hpp"
#include "base/share_out.hpp"
#include "base/text.hpp"
#include "trace/extent.hpp"
#include "trace/open_names.hpp"
#include "trace/per_region.hpp"
#include "trace/samples.hpp"

namespace fathom {

template <class Pack>
static void pack_fields(Pack& pack, TraceTotals& totals) {
  pack(totals.regions, totals.states, totals.counters, totals.messages, totals.kinds, totals.first_ns, totals.last_ns);
}

namespace {

// The events of one location, one after the other.
class Follower {
 public:
  Follower(const Trace& trace, LocationId location, TimeWindow window) : trace_(trace), window_(window) {
    const SystemTree& system = trace.definitions().system;
    const SystemNodeId group = system.group_of(location);
    if (group.valid()) rank_ = system.nodes[group.index()].rank;
    region_count_ = trace.definitions().regions.size();
    channels_.resize(trace.channels().size());
  }

  void take(const Event& event) {
    if (event.has_time) advance(event.time_ns);
    const bool inside = !event.carried;
    if (inside) ++totals_.kinds[static_cast<std::size_t>(event.kind)];
    switch (event.kind) {
      case EventKind::enter:
        open_.push_back(event.name);
        names_.add(event.name);
        if (inside && !event.resumed) count(event.name);
        break;
      case EventKind::leave:
        leave(event.name);
        break;
      case EventKind::sample:
        sample(event, inside);
        break;
      case EventKind::send:
      case EventKind::recv:
        message(event);
        break;
      case EventKind::collective:
        if (RegionTotals* region = at(event.name)) {
          region->sent += event.bytes;
          region->received += event.value;
          region->moves_bytes = true;
        }
        break;
      case EventKind::state:
        state(event, inside);
        break;
      case EventKind::counter:
        if (inside) counter(event);
        break;
      case EventKind::complete:
      case EventKind::marker:
        break;
    }
  }

  TraceTotals finish() {
    // The last event is the end of everything that is still open, unless the window goes on.
    if (totals_.last_ns) advance(*totals_.last_ns);
    for (std::size_t i = 0; i < channels_.size(); ++i) close_channel(i);
    regions_.each([&](std::uint32_t number, const RegionTotals& region) {
      if (region.count > 0 || region.wall_ns != 0 || region.moves_bytes) totals_.regions[number] = region;
    });
    if (idle_.count > 0 || idle_.wall_ns != 0) totals_.regions[TraceTotals::kIdle] = idle_;
    return std::move(totals_);
  }

 private:
  struct Current {
    std::optional<std::int64_t> value;
    std::int64_t since_ns = 0;
  };

  RegionTotals* at(std::uint32_t region) { return region < region_count_ ? &regions_[region] : nullptr; }
  void count(std::uint32_t region) {
    if (RegionTotals* found = at(region)) ++found->count;
  }

  // The time since the event before belongs to whatever was innermost.
  void advance(std::int64_t to) {
    to = std::clamp(to, window_.from_ns, window_.to_ns);
    if (now_ && to > *now_) {
      const std::int64_t since = passed(*now_, to);
      if (sampled_) {
        if (RegionTotals* region = sampled_region_ == TraceTotals::kIdle ? &idle_ : at(sampled_region_)) {
          region->wall_ns += since;
        }
      } else if (!open_.empty()) {
        if (RegionTotals* region = at(open_.back())) region->wall_ns += since;
      }
    }
    now_ = to;
    if (!totals_.first_ns) totals_.first_ns = to;
    totals_.last_ns = to;
  }

  // Leaves what was entered; what was left open inside of it (a damaged trace) is left with it.
  void leave(std::uint32_t region) {
    if (!names_.has(region)) return;
    while (true) {
      const std::uint32_t innermost = open_.back();
      open_.pop_back();
      names_.remove(innermost);
      if (innermost == region) return;
    }
  }

  void sample(const Event& event, bool inside) {
    const ContextTree& tree = trace_.definitions().contexts;
    const ContextId frame = frame_at(tree, event.context(), std::nullopt);
    const RegionId region = frame.valid() ? tree[frame].region : RegionId();
    sampled_ = true;
    sampled_region_ = region.valid() ? region.value : TraceTotals::kIdle;
    if (!inside) return;
    if (sampled_region_ == TraceTotals::kIdle) {
      ++idle_.count;
    } else {
      count(sampled_region_);
    }
  }

  void message(const Event& event) {
    const bool sends = event.kind == EventKind::send;
    if (RegionTotals* region = at(event.name)) {
      (sends ? region->sent : region->received) += event.bytes;
      region->moves_bytes = true;
      // Where messages are all there is of a region.
      if (open_.empty()) ++region->count;
    }
    if (!sends || event.peer < 0 || !rank_) return;
    MessageTotals& pair = totals_.messages[{*rank_, event.peer}];
    ++pair.count;
    pair.bytes += event.bytes;
  }

  void close_channel(std::size_t channel) {
    Current& current = channels_[channel];
    if (!current.value || !now_) return;
    totals_.states[{static_cast<std::uint32_t>(channel), *current.value}].wall_ns += passed(current.since_ns, *now_);
  }
  void state(const Event& event, bool inside) {
    if (event.name >= channels_.size()) return;
    close_channel(event.name);
    Current& current = channels_[event.name];
    current.value = event.has_value ? std::optional(event.value) : std::nullopt;
    current.since_ns = now_.value_or(0);
    if (inside && current.value) ++totals_.states[{event.name, *current.value}].count;
  }

  void counter(const Event& event) {
    const auto& metrics = trace_.definitions().metrics;
    if (event.name >= metrics.size()) return;
    const double value =
        metrics[event.name].type.is_double() ? std::bit_cast<double>(event.value) : static_cast<double>(event.value);
    CounterTotals& totals = totals_.counters[event.name];
    totals.minimum = totals.count == 0 ? value : std::min(totals.minimum, value);
    totals.maximum = totals.count == 0 ? value : std::max(totals.maximum, value);
    totals.sum += value;
    ++totals.count;
  }

  const Trace& trace_;
  TimeWindow window_;
  std::optional<std::int64_t> rank_;
  TraceTotals totals_;
  std::size_t region_count_ = 0;
  PerRegion<RegionTotals> regions_;
  RegionTotals idle_;
  std::vector<Current> channels_;
  std::vector<std::uint32_t> open_;
  OpenNames names_;  // that are in it
  std::optional<std::int64_t> now_;
  bool sampled_ = false;
  std::uint32_t sampled_region_ = TraceTotals::kIdle;
};

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

Result<std::vector<LocationId>> chosen_locations(const Trace& trace, const std::vector<std::string>& patterns) {
  std::vector<LocationId> chosen;
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    const std::string label = trace.definitions().system.location_label(LocationId(i));
    const bool wanted = patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& one) {
                          return matches_pattern(one, label);
                        });
    if (wanted) chosen.emplace_back(i);
  }
  if (chosen.empty() && !patterns.empty()) return Error::usage("no location has such an id");
  return chosen;
}

std::string region_name(const Trace& trace, std::uint32_t region) {
  return region == TraceTotals::kIdle ? std::string(kNoActivity) : trace.definitions().regions[region].name;
}

// By name: a trace may define a region more than once.
std::vector<CallStatistics> calls_of(const Trace& trace, const TraceTotals& totals) {
  std::map<std::string, RegionTotals> by_name;
  for (const auto& [region, found] : totals.regions) {
    RegionTotals& sum = by_name[region_name(trace, region)];
    sum.count += found.count;
    sum.wall_ns += found.wall_ns;
    sum.sent += found.sent;
    sum.received += found.received;
    sum.moves_bytes = sum.moves_bytes || found.moves_bytes;
  }
  std::vector<CallStatistics> calls;
  for (const auto& [name, sum] : by_name) {
    CallStatistics call;
    call.name = name;
    call.count = sum.count;
    call.wall_s = seconds(sum.wall_ns);
    if (sum.moves_bytes) {
      call.bytes = CappedSum(sum.sent) += sum.received;
      call.sent = sum.sent;
      call.received = sum.received;
    }
    calls.push_back(std::move(call));
  }
  return calls;
}

Table states_table(const Trace& trace, const TraceTotals& totals) {
  TableBuilder table({"states",
                      {{"channel", ColumnType::text},
                       {"value", ColumnType::int64},
                       {"label", ColumnType::text},
                       {"count", ColumnType::uint64, "occ"},
                       {"wall_s", ColumnType::seconds, "s"}}});
  for (const auto& [key, state] : totals.states) {
    const Channel& channel = trace.channels()[key.first];
    const auto label = channel.values.find(key.second);
    table.row(channel.name, key.second, label == channel.values.end() ? std::string() : label->second, state.count,
              state.wall_ns.value());
  }
  return std::move(table).finish();
}

Table counters_table(const Trace& trace, const TraceTotals& totals) {
  TableBuilder table({"counters",
                      {{"counter", ColumnType::text},
                       {"count", ColumnType::uint64, "occ"},
                       {"minimum", ColumnType::float64},
                       {"mean", ColumnType::float64},
                       {"maximum", ColumnType::float64}}});
  for (const auto& [metric, found] : totals.counters) {
    table.row(trace.definitions().metrics[metric].name, found.count, found.minimum,
              found.sum / static_cast<double>(found.count), found.maximum);
  }
  return std::move(table).finish();
}

Table kinds_table(const TraceTotals& totals) {
  TableBuilder table({"kinds", {{"kind", ColumnType::text}, {"count", ColumnType::uint64, "occ"}}});
  for (std::size_t kind = 0; kind < kEventKinds; ++kind) {
    if (totals.kinds[kind] > 0) table.row(to_string(static_cast<EventKind>(kind)), totals.kinds[kind]);
  }
  return std::move(table).finish();
}

}  // namespace

void TraceTotals::merge(const TraceTotals& other) {
  for (const auto& [region, found] : other.regions) {
    RegionTotals& sum = regions[region];
    sum.count += found.count;
    sum.wall_ns += found.wall_ns;
    sum.sent += found.sent;
    sum.received += found.received;
    sum.moves_bytes = sum.moves_bytes || found.moves_bytes;
  }
  for (const auto& [key, found] : other.states) {
    states[key].count += found.count;
    states[key].wall_ns += found.wall_ns;
  }
  for (const auto& [metric, found] : other.counters) {
    const auto [at, fresh] = counters.try_emplace(metric, found);
    if (fresh) continue;
    at->second.count += found.count;
    at->second.minimum = std::min(at->second.minimum, found.minimum);
    at->second.maximum = std::max(at->second.maximum, found.maximum);
    at->second.sum += found.sum;
  }
  for (const auto& [pair, found] : other.messages) {
    messages[pair].count += found.count;
    messages[pair].bytes += found.bytes;
  }
  for (std::size_t kind = 0; kind < kEventKinds; ++kind) kinds[kind] += other.kinds[kind];
  if (other.first_ns) first_ns = std::min(first_ns.value_or(*other.first_ns), *other.first_ns);
  if (other.last_ns) last_ns = std::max(last_ns.value_or(*other.last_ns), *other.last_ns);
}

Result<TraceTotals> aggregate(const Trace& trace, LocationId location, TimeWindow window) {
  FATHOM_TRY(auto stream, trace.open(location, window));
  EventCursor cursor(std::move(stream));
  Follower follower(trace, location, window);
  while (const Event* event = cursor.next()) follower.take(*event);
  FATHOM_CHECK(cursor.status());
  return follower.finish();
}

Result<TraceStatistics> trace_statistics(const Trace& trace, const StatisticsOptions& options) {
  const Phase phase("count");
  static constexpr std::array<std::string_view, 4> kTables = {"location", "state", "counter", "kind"};
  for (const std::string& by : options.by) {
    if (std::find(kTables.begin(), kTables.end(), by) == kTables.end()) {
      return Error::usage(fmt::format("there are no statistics by '{}' of this trace", by))
          .hint("--by takes: location, state, counter, kind");
    }
  }
  if (!options.options.empty()) {
    return Error::usage(fmt::format("statistics of this trace know no option '{}'", options.options.front().first));
  }
  TimeWindow window;
  if (options.from_ns) window.from_ns = *options.from_ns;
  if (options.to_ns) window.to_ns = *options.to_ns;
  FATHOM_TRY(const std::vector<LocationId> locations, chosen_locations(trace, options.locations));
  TableBuilder by_location({"location",
                            {{"location", ColumnType::text},
                             {"call", ColumnType::text},
                             {"count", ColumnType::uint64, "occ"},
                             {"wall_s", ColumnType::float64, "s"},
                             {"sent", ColumnType::int64, "bytes"},
                             {"received", ColumnType::int64, "bytes"}}});
  const bool each = std::find(options.by.begin(), options.by.end(), "location") != options.by.end();
  TraceTotals all;
  const auto make = [&](std::size_t i, TraceTotals& part) -> Result<void> {
    FATHOM_TRY(part, aggregate(trace, locations[i], window));
    return {};
  };
  const auto take = [&](std::size_t i, const TraceTotals& part) {
    all.merge(part);
    if (!each) return;
    const std::string label = trace.definitions().system.location_label(locations[i]);
    for (const CallStatistics& call : calls_of(trace, part)) {
      by_location.row(label, call.name, call.count, call.wall_s, call.sent, call.received);
    }
  };
  const auto weight = [&](std::size_t i) { return extent(trace, locations[i]); };
  FATHOM_CHECK(share_and_fold<TraceTotals>("stats", locations.size(), weight, make, take));
  TraceStatistics out;
  out.calls = calls_of(trace, all);
  out.has_matrix = !all.messages.empty();
  for (const auto& [pair, found] : all.messages) {
    out.matrix.push_back({pair.first, pair.second, found.count, found.bytes});
  }
  if (!all.states.empty() && options.by.empty()) out.tables.push_back(states_table(trace, all));
  for (const std::string& by : options.by) {
    if (by == "location") out.tables.push_back(std::move(by_location).finish());
    if (by == "state") out.tables.push_back(states_table(trace, all));
    if (by == "counter") out.tables.push_back(counters_table(trace, all));
    if (by == "kind") out.tables.push_back(kinds_table(all));
  }
  return out;
}

}  // namespace fathom
