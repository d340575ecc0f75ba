#include "trace/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/capped_sum.hpp"
#include "base/share_out.hpp"
#include "base/text.hpp"
#include "trace/extent.hpp"
#include "trace/gpu_idleness.hpp"

namespace fathom {

namespace {

struct Spent {
  std::uint64_t samples = 0;
  CappedSum ns;
  void add(const Spent& other) {
    samples += other.samples;
    ns += other.ns;
  }
};
// By the function's context at the depth; the invalid id is idleness.
using SpentByFrame = std::map<std::uint32_t, Spent>;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

Result<SpentByFrame> spent_at(const Trace& trace, LocationId location, const StatisticsOptions& options,
                              std::optional<std::size_t> depth) {
  const std::int64_t from = options.from_ns.value_or(TimeWindow{}.from_ns);
  const std::int64_t to = options.to_ns.value_or(TimeWindow{}.to_ns);
  // A sample from before the window may reach into it, so that the whole line is read.
  FATHOM_TRY(auto stream, trace.open(location, {}));
  EventCursor cursor(std::move(stream));
  SpentByFrame out;
  std::optional<Event> before;
  const auto close = [&](std::int64_t end) {
    if (!before) return;
    const std::int64_t begin = std::max(before->time_ns, from);
    const bool inside = before->time_ns >= from && before->time_ns < to;
    const std::int64_t ns = std::max<std::int64_t>(0, passed(begin, std::min(end, to)));
    if (!inside && ns == 0) return;
    const ContextId frame = frame_at(trace.definitions().contexts, ContextId(before->name), depth);
    out[frame.valid() ? frame.value : ContextId().value].add({inside ? 1U : 0U, ns});
  };
  while (const Event* event = cursor.next()) {
    if (event->kind != EventKind::sample) continue;
    close(event->time_ns);
    before = *event;
  }
  FATHOM_CHECK(cursor.status());
  if (before) close(before->time_ns);
  return out;
}

}  // namespace

ContextId frame_at(const ContextTree& tree, ContextId context, std::optional<std::size_t> depth) {
  if (!context.valid() || context.index() >= tree.size()) return {};
  const auto function_of = [&](ContextId id) {
    while (tree[id].edge == Edge::lexical && tree[id].parent.valid()) id = tree[id].parent;
    return id;
  };
  const ContextId innermost = function_of(context);
  if (!depth) return innermost;
  std::size_t above = 0;
  for (ContextId at = innermost; tree[at].parent.valid(); at = function_of(tree[at].parent)) ++above;
  ContextId frame = innermost;
  for (; above > *depth; --above) frame = function_of(tree[frame].parent);
  return frame;
}

Result<TraceStatistics> sample_statistics(const Trace& trace, const StatisticsOptions& options) {
  const Definitions& defs = trace.definitions();
  for (const std::string& by : options.by) {
    if (by == "location" || by == "context" || by == "gpu-idle") continue;
    return Error::usage(fmt::format("--by {}: samples are counted by location, context or gpu-idle", by));
  }
  std::optional<std::size_t> depth;
  for (const auto& [key, value] : options.options) {
    depth = key == kDepth.name ? parse_integer<std::size_t>(value) : std::nullopt;
    if (!depth) return Error::usage(fmt::format("option {}={}: samples take depth=N", key, value));
  }
  const auto asked = [&](std::string_view what) {
    return std::find(options.by.begin(), options.by.end(), what) != options.by.end();
  };
  std::vector<LocationId> chosen;
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    const std::string label = defs.system.location_label(LocationId(i));
    const bool wanted = options.locations.empty() ||
                        std::any_of(options.locations.begin(), options.locations.end(),
                                    [&](const std::string& pattern) { return matches_pattern(pattern, label); });
    if (wanted) chosen.emplace_back(i);
  }
  if (chosen.empty() && !options.locations.empty()) return Error::usage("no location has such an id");
  const auto read = [&](std::size_t i, SpentByFrame& here) -> Result<void> {
    FATHOM_TRY(here, spent_at(trace, chosen[i], options, depth));
    return {};
  };
  const auto weight = [&](std::size_t i) { return extent(trace, chosen[i]); };
  FATHOM_TRY(const auto spent, share_out<SpentByFrame>("reading samples", chosen.size(), weight, Holder::first, read));
  const auto name_of = [&](std::uint32_t frame) {
    const ContextId id{frame};
    return id.valid() ? defs.region_of(id).name : std::string(kNoActivity);
  };
  TraceStatistics out;
  std::map<std::string, Spent> by_name;
  SpentByFrame by_frame;
  TableBuilder locations({"location",
                          {{"location", ColumnType::text},
                           {"call", ColumnType::text},
                           {"count", ColumnType::uint64, "occ"},
                           {"wall_s", ColumnType::float64, "s"}}});
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::map<std::string, Spent> here;
    for (const auto& [frame, time] : spent[i]) {
      here[name_of(frame)].add(time);
      by_frame[frame].add(time);
    }
    for (const auto& [name, time] : here) {
      by_name[name].add(time);
      locations.row(defs.system.location_label(chosen[i]), name, time.samples, seconds(time.ns));
    }
  }
  for (const auto& [name, time] : by_name) {
    CallStatistics call;
    call.name = name;
    call.count = time.samples;
    call.wall_s = seconds(time.ns);
    out.calls.push_back(std::move(call));
  }
  if (asked("location")) out.tables.push_back(std::move(locations).finish());
  if (asked("context")) {
    TableBuilder table({"context",
                        {{"context", ColumnType::uint64},
                         {"call", ColumnType::text},
                         {"count", ColumnType::uint64, "occ"},
                         {"wall_s", ColumnType::float64, "s"}}});
    for (const auto& [frame, time] : by_frame) {
      const ContextId id{frame};
      if (id.valid()) {
        table.row(defs.contexts[id].file_id, defs.path(id), time.samples, seconds(time.ns));
      } else {
        table.row(kMissing, kNoActivity, time.samples, seconds(time.ns));
      }
    }
    out.tables.push_back(std::move(table).finish());
  }
  if (asked("gpu-idle")) {
    FATHOM_TRY(const GpuIdleness idleness, gpu_idleness(trace, chosen, options, depth));
    out.tables.push_back(idleness.table());
  }
  return out;
}

}  // namespace fathom
