#include "profile/reduce/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/self_profile.hpp"
#include "base/share_out.hpp"
#include "base/text.hpp"
#include "profile/reduce/context_union.hpp"
#include "profile/reduce/reduced_source.hpp"
#include "trace/extent.hpp"

namespace fathom {

using namespace reduction;

namespace {

constexpr std::size_t kBatch = 256;  // events in a thread's buffer: what the nearest cache holds

// What becomes of one location.
struct Reduced {
  std::vector<LocationTree> parts;
  std::vector<Budget::Reservation> reserved;
  Remarks remarks;
  Told told;
};
template <class Pack>
void pack_fields(Pack& pack, Reduced& reduced) {
  Told& told = reduced.told;
  pack(reduced.parts, reduced.remarks, told.visits, told.cpu_time, told.sent, told.received, told.messages_sent,
       told.messages_received, told.samples, told.counters);
}

class Reduction {
 public:
  Reduction(const Trace& trace, const ReduceOptions& options, const Work& work)
      : trace_(trace), options_(options), work_(work), rules_(trace, options) {}

  Result<ProfilePtr> run() {
    if (options_.waits) {
      if (!options_.window.everything() || !rules_.channels.empty()) {
        return Error::usage(
            "wait states are found in the whole of a trace with calls: not in a window, nor by channels");
      }
      FATHOM_TRY(rules_.charges, WaitCharges::find(trace_, work_));
    }
    FATHOM_CHECK(find_parts());
    const auto weight = [&](std::size_t i) { return extent(trace_, LocationId(i)); };
    const auto one = [&](std::size_t i, Reduced& result) { return reduce_location(LocationId(i), result); };
    FATHOM_TRY(reduced_, share_out<Reduced>("reducing", trace_.location_count(), weight, Holder::first, one));
    for (Reduced& location : reduced_) {
      remarks_.add(location.remarks);
      told_.add(location.told);
      if (!location.reserved.empty()) continue;
      // What another process has made counts here from now on.
      std::uint64_t bytes = 0;
      for (const LocationTree& tree : location.parts) bytes += tree.bytes();
      FATHOM_TRY(location.reserved.emplace_back(), work_->budget.reserve(bytes, "contexts of a trace"));
    }
    FATHOM_CHECK(report());
    return assemble();
  }

 private:
  // Where the parts end; the last one is the end of the window. Spans are found only where they are needed.
  Result<void> find_parts() {
    if (options_.parts == 0) return Error::usage("a trace cannot be cut into 0 parts");
    if (options_.window.everything() && options_.parts == 1) {
      spans_.resize(trace_.location_count());
      return parallel_for(spans_.size(), [&](std::size_t i) -> Result<void> {
        spans_[i] = trace_.location_span(LocationId(i));
        return {};
      });
    }
    FATHOM_TRY(spans_, location_spans(trace_));
    if (options_.parts == 1) return {};
    std::optional<TimeWindow> all;
    for (const auto& span : spans_) {
      if (!span) continue;
      if (!all) all = span;
      all->from_ns = std::min(all->from_ns, span->from_ns);
      all->to_ns = std::max(all->to_ns, span->to_ns);
    }
    if (!all) return Error::usage("no event of the trace has a time: it cannot be cut into parts");
    const std::int64_t from = std::max(all->from_ns, options_.window.from_ns);
    const std::int64_t to = std::min(all->to_ns, options_.window.to_ns);
    if (to <= from) return Error::usage("the trace has no events in the window that is to be cut into parts");
    const auto length = static_cast<Int128>(to) - from;
    for (std::uint32_t i = 1; i < options_.parts; ++i) {
      cuts_.push_back(static_cast<std::int64_t>(from + length * i / options_.parts));
    }
    return {};
  }

  Result<void> reduce_location(LocationId location, Reduced& result) const {
    FATHOM_TRY(auto stream, trace_.open(location, options_.window));
    const auto& span = spans_[location.index()];
    std::optional<std::int64_t> begin;
    std::optional<std::int64_t> end;
    if (span) {
      begin = std::max(span->from_ns, options_.window.from_ns);
      end = std::max(*begin, std::min(span->to_ns, options_.window.to_ns));
    }
    LocationReducer reducer(rules_, location, begin, !span || span->from_ns >= options_.window.from_ns);
    std::size_t cut = 0;
    const auto cut_until = [&](std::int64_t time) {
      for (; cut < cuts_.size() && time >= cuts_[cut]; ++cut) {
        const bool inside = !begin || cuts_[cut] > *begin;
        result.parts.push_back(reducer.finish_part(inside ? std::optional(cuts_[cut]) : std::nullopt));
      }
    };
    std::vector<Event> buffer(kBatch);
    std::uint64_t reserved = 0;
    while (true) {
      FATHOM_TRY(const std::size_t count, stream->next(buffer));
      if (count == 0) break;
      if (cuts_.empty()) {
        reducer.take(std::span<const Event>(buffer).first(count));
      } else {
        for (std::size_t i = 0; i < count; ++i) {
          if (buffer[i].has_time && !buffer[i].carried) cut_until(buffer[i].time_ns);
          reducer.take({&buffer[i], 1});
        }
      }
      // In steps, so that the budget is asked now and then only.
      if (const std::uint64_t bytes = reducer.bytes(); bytes > reserved) {
        FATHOM_TRY(auto more, work_->budget.reserve(bytes - reserved, "contexts of a trace"));
        result.reserved.push_back(std::move(more));
        reserved = bytes;
      }
    }
    if (end) cut_until(*end);
    const std::size_t open = options_.window.everything() ? reducer.open_regions() : 0;
    result.parts.push_back(reducer.finish_part(end));
    result.parts.resize(cuts_.size() + 1);
    result.remarks = reducer.remarks();
    result.remarks.open_at_end += open;
    result.told = reducer.told();
    return {};
  }

  Result<void> report() {
    const Place place = Place::in(options_.name);
    const auto add = [&](std::string_view id, Severity severity, std::uint64_t count, std::string_view text) {
      return count == 0 ? success() : work_->diagnostics.add(id, severity, place, std::string(text), count);
    };
    FATHOM_CHECK(add("reduce.unmatched_leave", Severity::warning, remarks_.unmatched_leaves,
                     "a region is left that was not entered; ignored in the profile"));
    FATHOM_CHECK(add("reduce.crossed_leave", Severity::warning, remarks_.crossed_leaves,
                     "a region is left while one inside of it is open; that one is taken to end there, too"));
    FATHOM_CHECK(add("reduce.late_event", Severity::warning, remarks_.late,
                     "an event is earlier than the one before it; no time is counted for it"));
    return add("reduce.open_region", Severity::info, remarks_.open_at_end,
               "a region is open at the end of its location; it is taken to end there");
  }

  // How the value of a metric is found in a node.
  struct Column {
    std::uint64_t (*of)(const Sums&) = nullptr;  // bits; null = a counter
    std::uint32_t counter = 0;
    std::uint32_t wait_metric = kNoMetric;
  };

  void declare(Definitions& defs, bool only_calls) {
    const auto add = [&](bool wanted, std::string_view name, std::string_view title, std::string_view unit,
                         ValueKind kind, std::string_view description, std::uint64_t (*of)(const Sums&)) {
      if (!wanted) return;
      Metric metric;
      metric.name = std::string(name);
      metric.display_name = std::string(title);
      metric.unit = std::string(unit);
      metric.description = std::string(description);
      metric.type = {kind, 0};
      metric.file_id = defs.metrics.size();
      metric.scopes = {{only_calls ? Scope::exclusive : Scope::own, {}}};
      defs.metrics.push_back(std::move(metric));
      columns_.push_back({of});
    };
    add(true, "time", "Time", "sec", ValueKind::f64, "Time between events of the trace",
        [](const Sums& sums) { return std::bit_cast<std::uint64_t>(static_cast<double>(sums.time_ns) / 1e9); });
    add(told_.visits, "visits", "Visits", "occ", ValueKind::u64, "Number of times a context was entered",
        [](const Sums& sums) { return sums.visits; });
    add(told_.cpu_time, "cpu_time", "CPU time", "sec", ValueKind::f64, "CPU time of the location",
        [](const Sums& sums) {
          return std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(sums.cpu_ns)) / 1e9);
        });
    add(told_.sent, "bytes_sent", "Bytes sent", "bytes", ValueKind::i64, "By messages and collectives",
        [](const Sums& sums) { return static_cast<std::uint64_t>(sums.bytes_sent); });
    add(told_.received, "bytes_received", "Bytes received", "bytes", ValueKind::i64, "By messages and collectives",
        [](const Sums& sums) { return static_cast<std::uint64_t>(sums.bytes_received); });
    add(told_.messages_sent, "messages_sent", "Messages sent", "occ", ValueKind::u64, "Point to point",
        [](const Sums& sums) { return sums.messages_sent; });
    add(told_.messages_received, "messages_received", "Messages received", "occ", ValueKind::u64, "Point to point",
        [](const Sums& sums) { return sums.messages_received; });
    add(told_.samples, "samples", "Samples", "occ", ValueKind::u64, "Number of samples that found the location there",
        [](const Sums& sums) { return sums.samples; });
    for (std::size_t i = 0; i < std::min(told_.counters.size(), trace_.definitions().metrics.size()); ++i) {
      if (told_.counters[i] == 0) continue;
      Metric metric = trace_.definitions().metric(MetricId(i));
      if (defs.find_metric(metric.name).valid()) metric.name += " (counter)";
      metric.type = {rules_.is_double[i] != 0 ? ValueKind::f64 : ValueKind::i64, 0};
      metric.parent = {};
      metric.derivation = Derivation::none;
      metric.expression.clear();
      metric.file_id = defs.metrics.size();
      metric.scopes = {{only_calls ? Scope::exclusive : Scope::own, {}}};
      defs.metrics.push_back(std::move(metric));
      columns_.push_back({nullptr, static_cast<std::uint32_t>(i)});
    }
    if (rules_.charges != nullptr) declare_waits(defs, only_calls);
  }

  void declare_waits(Definitions& defs, bool only_calls) {
    for (std::uint32_t i = 0; i < wait_metrics().size(); ++i) {
      if (told_.counters[rules_.first_wait_metric() + i] == 0) continue;
      const WaitMetric& from = wait_metrics()[i];
      Metric metric;
      metric.name = std::string(from.name);
      // A counter of the trace may have that name.
      if (defs.find_metric(metric.name).valid()) metric.name += " (waits)";
      metric.display_name = std::string(from.title);
      metric.unit = "sec";
      metric.description = std::string(from.description);
      metric.type = {ValueKind::f64, 0};
      metric.parent = defs.find_metric(from.parent);
      metric.file_id = defs.metrics.size();
      metric.scopes = {{only_calls ? Scope::exclusive : Scope::own, {}}};
      defs.metrics.push_back(std::move(metric));
      columns_.push_back({nullptr, 0, i});
    }
  }

  // By node: what its time counts for. What a call is split into belongs to the call.
  [[nodiscard]] std::vector<std::uint32_t> time_metrics(const LocationTree& tree) const {
    std::vector<std::uint32_t> out;
    if (rules_.charges == nullptr) return out;
    for (const LocationTree::Node& node : tree.nodes()) {
      std::uint32_t metric = kNoMetric;
      if (kind_of(node.step) == StepKind::region) {
        if (id_of(node.step) < rules_.time_metric.size()) metric = rules_.time_metric[id_of(node.step)];
      } else if (node.parent != kNoNode) {
        metric = out[node.parent];
      }
      out.push_back(metric);
    }
    return out;
  }

  // Seconds of a metric of wait_metrics() by node: `add(node, seconds)`, several times for a node.
  template <class Add>
  void each_waited(const LocationTree& tree, const std::vector<std::uint32_t>& time_of, std::uint32_t metric,
                   const Add& add) const {
    if (wait_metrics()[metric].source == WaitMetric::Source::time) {
      for (std::size_t i = 0; i < time_of.size(); ++i) {
        if (is_part_of(time_of[i], metric)) add(i, static_cast<double>(tree.nodes()[i].sums.time_ns) / 1e9);
      }
      return;
    }
    const bool summed = wait_metrics()[metric].source == WaitMetric::Source::summed;
    for (const LocationTree::Counted& counted : tree.counted()) {
      if (counted.metric < rules_.first_wait_metric()) continue;
      const std::uint32_t of = counted.metric - rules_.first_wait_metric();
      if (of == metric || (summed && is_part_of(of, metric))) add(counted.node, counted.real / 1e9);
    }
  }

  // Every thread as often as there are parts.
  [[nodiscard]] SystemTree system() const {
    const SystemTree& from = trace_.definitions().system;
    if (cuts_.empty()) return from;
    SystemTree out;
    out.topologies = {};
    std::vector<SystemNodeId> group(from.nodes.size());
    for (std::size_t i = 0; i < from.nodes.size(); ++i) {
      SystemNode node = from.nodes[i];
      if (node.parent.valid()) node.parent = group[node.parent.index()];
      if (node.kind == SystemKind::location) continue;
      group[i] = out.add(std::move(node));
    }
    for (std::size_t i = 0; i < from.location_count(); ++i) {
      const LocationId id(i);
      for (std::size_t part = 0; part <= cuts_.size(); ++part) {
        SystemNode node = from.location(id);
        if (node.parent.valid()) node.parent = group[node.parent.index()];
        node.label = fmt::format("{}@{}", from.location_label(id), part);
        node.name = fmt::format("{} part {}", node.name, part);
        node.file_id = out.location_count();
        out.add_location(std::move(node));
      }
    }
    return out;
  }

  Result<LocationValues> values_of(const LocationTree& tree, const std::vector<std::uint32_t>& node_of,
                                   const std::vector<ContextId>& context_of) const {
    LocationValues out;
    struct Cell {
      std::uint32_t context;
      std::uint64_t bits;
    };
    std::vector<Cell> cells;
    const auto context = [&](std::size_t node) { return context_of[node_of[node]].value; };
    const std::vector<std::uint32_t> time_of = time_metrics(tree);
    std::vector<double> seconds;
    // Which of what was counted belongs to a counter: they may be very many.
    std::vector<std::size_t> counted_from(rules_.is_double.size() + 1);
    std::vector<std::size_t> counted_of(tree.counted().size());
    for (const auto& counted : tree.counted()) ++counted_from[counted.metric + 1];
    std::partial_sum(counted_from.begin(), counted_from.end(), counted_from.begin());
    std::vector<std::size_t> next(counted_from.begin(), counted_from.end() - 1);
    for (std::size_t i = 0; i < counted_of.size(); ++i) counted_of[next[tree.counted()[i].metric]++] = i;
    out.begin.push_back(0);
    for (const Column& column : columns_) {
      cells.clear();
      if (column.wait_metric != kNoMetric) {
        seconds.assign(tree.nodes().size(), 0);
        each_waited(tree, time_of, column.wait_metric, [&](std::size_t node, double s) { seconds[node] += s; });
        for (std::size_t i = 0; i < seconds.size(); ++i) {
          if (seconds[i] != 0) cells.push_back({context(i), std::bit_cast<std::uint64_t>(seconds[i])});
        }
      } else if (column.of != nullptr) {
        for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
          if (const std::uint64_t bits = column.of(tree.nodes()[i].sums); bits != 0)
            cells.push_back({context(i), bits});
        }
      } else {
        for (std::size_t i = counted_from[column.counter]; i < counted_from[column.counter + 1]; ++i) {
          const auto& counted = tree.counted()[counted_of[i]];
          const std::uint64_t bits = rules_.is_double[column.counter] != 0
                                         ? std::bit_cast<std::uint64_t>(counted.real)
                                         : static_cast<std::uint64_t>(counted.integer);
          if (bits != 0) cells.push_back({context(counted.node), bits});
        }
      }
      std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) { return a.context < b.context; });
      for (const Cell& cell : cells) {
        out.contexts.push_back(cell.context);
        out.values.push_back(cell.bits);
      }
      out.begin.push_back(static_cast<std::uint32_t>(out.contexts.size()));
    }
    out.contexts.shrink_to_fit();
    out.values.shrink_to_fit();
    return out;
  }

  Result<ProfilePtr> assemble() {
    ContextUnion all(rules_);
    std::vector<std::vector<std::uint32_t>> node_of;
    std::vector<Budget::Reservation> held;
    std::uint64_t reserved = 0;
    for (const Reduced& location : reduced_) {
      for (const LocationTree& tree : location.parts) {
        node_of.push_back(all.add(tree));
        const std::uint64_t bytes = all.size() * ContextUnion::kNodeBytes;
        if (bytes < reserved + (1 << 20)) continue;
        FATHOM_TRY(auto more, work_->budget.reserve(bytes - reserved, "contexts of a trace"));
        held.push_back(std::move(more));
        reserved = bytes;
      }
    }
    ContextUnion::Numbered numbered = std::move(all).number();
    auto defs = std::make_shared<Definitions>();
    defs->attributes = trace_.definitions().attributes;
    defs->mirrors = trace_.definitions().mirrors;
    defs->regions = std::move(numbered.regions);
    defs->contexts = std::move(numbered.contexts);
    defs->system = system();
    declare(*defs, defs->contexts.only_calls());

    const std::size_t parts = cuts_.size() + 1;
    std::vector<LocationValues> values(node_of.size());
    std::vector<Budget::Reservation> kept(node_of.size());
    FATHOM_CHECK(parallel_for(reduced_.size(), [&](std::size_t i) -> Result<void> {
      for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t to = i * parts + part;
        FATHOM_TRY(values[to], values_of(reduced_[i].parts[part], node_of[to], numbered.context_of_node));
        FATHOM_TRY(kept[to], work_->budget.reserve(values[to].bytes(), "values of a profile"));
        node_of[to] = {};
      }
      reduced_[i] = {};
      return {};
    }));
    for (auto& one : held) kept.push_back(std::move(one));
    auto profile = std::make_shared<Profile>();
    profile->definitions = std::move(defs);
    profile->values = std::make_shared<ReducedSource>(std::move(values), std::move(kept));
    profile->name = options_.name;
    profile->work = work_;
    return ProfilePtr(std::move(profile));
  }

  const Trace& trace_;
  const ReduceOptions& options_;
  Work work_;
  Rules rules_;
  std::vector<std::optional<TimeWindow>> spans_;
  std::vector<std::int64_t> cuts_;
  std::vector<Reduced> reduced_;
  Remarks remarks_;
  Told told_;
  std::vector<Column> columns_;
};

}  // namespace

Result<std::vector<std::optional<TimeWindow>>> location_spans(const Trace& trace) {
  std::vector<std::optional<TimeWindow>> spans(trace.location_count());
  FATHOM_CHECK(parallel_for(spans.size(), [&](std::size_t i) -> Result<void> {
    spans[i] = trace.location_span(LocationId(i));
    if (spans[i]) return {};
    FATHOM_TRY(auto stream, trace.open(LocationId(i), {}));
    std::vector<Event> buffer(kBatch);
    while (true) {
      FATHOM_TRY(const std::size_t count, stream->next(buffer));
      if (count == 0) return {};
      for (std::size_t e = 0; e < count; ++e) {
        if (!buffer[e].has_time) continue;
        if (!spans[i]) spans[i] = TimeWindow{buffer[e].time_ns, buffer[e].time_ns};
        spans[i]->to_ns = std::max(spans[i]->to_ns, buffer[e].time_ns);
      }
    }
  }));
  return spans;
}

Result<ChannelId> find_channel(const Trace& trace, std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < trace.channels().size(); ++i) {
    const Channel& channel = trace.channels()[i];
    if (equal_ignoring_case(channel.name, name) || equal_ignoring_case(channel.title, name)) return ChannelId(i);
    names.push_back(channel.name);
  }
  auto error = Error::usage(fmt::format("the trace has no channel '{}'{}", name, did_you_mean(name, names)));
  return names.empty() ? error : std::move(error).hint(fmt::format("it has: {}", fmt::join(names, ", ")));
}

Result<ProfilePtr> reduce(const Trace& trace, const ReduceOptions& options, const Work& work) {
  const Phase phase("reduce");
  return Reduction(trace, options, work).run();
}

}  // namespace fathom
