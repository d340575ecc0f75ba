#include "trace/summary/timeline.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/parallel.hpp"

namespace fathom::summary {

namespace {

struct Built {
  TimelineRow row;
  std::optional<std::int64_t> first;
  std::int64_t last = 0;
};

Result<Built> build_row(const Trace& trace, LocationId location, ChannelId channel) {
  Built built;
  Activity activity(trace, built.row.contexts, channel);
  BlockTreeBuilder builder(built.row.contexts);
  FATHOM_TRY(auto stream, trace.open(location, {}));
  EventCursor cursor(std::move(stream), 1024);
  while (const Event* event = cursor.next()) {
    if (!event->has_time) continue;
    if (!built.first) built.first = event->time_ns;
    built.last = std::max(built.last, event->time_ns);
    if (activity.take(*event)) builder.add({event->time_ns, activity.current()});
  }
  FATHOM_CHECK(cursor.status());
  built.row.tree = std::move(builder).finish(built.last);
  return built;
}

std::string step_name(const Trace& trace, ChannelId channel, const Step& step) {
  switch (step.kind) {
    case StepKind::compute:
      return "compute";
    case StepKind::region:
      return trace.definitions().region(RegionId(static_cast<std::size_t>(step.id))).name;
    case StepKind::value:
      break;
  }
  const auto& values = trace.channels()[channel.index()].values;
  const auto found = values.find(step.id);
  return found == values.end() ? std::to_string(step.id) : found->second;
}

}  // namespace

Result<std::shared_ptr<const Timeline>> Timeline::build(const Trace& trace, ChannelId channel, const Work& work,
                                                        const std::function<void(std::size_t)>& done) {
  auto timeline = std::make_shared<Timeline>();
  const std::size_t count = trace.location_count();
  timeline->rows_.resize(count);
  timeline->memory_.resize(count);
  std::vector<std::optional<std::int64_t>> first(count);
  std::vector<std::int64_t> last(count, std::numeric_limits<std::int64_t>::min());
  std::atomic<std::size_t> ready{0};
  FATHOM_CHECK(parallel_for(count, [&](std::size_t i) -> Result<void> {
    FATHOM_TRY(Built built, build_row(trace, LocationId(i), channel));
    FATHOM_TRY(timeline->memory_[i], work->budget.reserve(built.row.tree.bytes(), "the index of a timeline"));
    timeline->rows_[i] = std::move(built.row);
    first[i] = built.first;
    last[i] = built.last;
    if (done) done(++ready);
    return {};
  }));
  timeline->unite(trace, channel);
  timeline->begin_ns_ = std::numeric_limits<std::int64_t>::max();
  timeline->end_ns_ = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < count; ++i) {
    if (!first[i]) continue;
    timeline->begin_ns_ = std::min(timeline->begin_ns_, *first[i]);
    timeline->end_ns_ = std::max(timeline->end_ns_, last[i]);
  }
  if (timeline->end_ns_ < timeline->begin_ns_) timeline->begin_ns_ = timeline->end_ns_ = 0;
  return std::shared_ptr<const Timeline>(std::move(timeline));
}

// In the order of the locations, so that numbers do not depend on who was done first.
void Timeline::unite(const Trace& trace, ChannelId channel) {
  for (TimelineRow& row : rows_) {
    row.global.clear();
    for (const Contexts::Node& node : row.contexts.nodes()) {
      const std::uint32_t above = node.parent == kNothing ? kNothing : row.global[node.parent];
      row.global.push_back(contexts_.child(above, node.step));
    }
  }
  for (const Contexts::Node& node : contexts_.nodes()) names_.push_back(step_name(trace, channel, node.step));
}

std::uint64_t Timeline::transitions() const {
  std::uint64_t sum = 0;
  for (const TimelineRow& row : rows_) sum += row.tree.transitions();
  return sum;
}

std::uint64_t Timeline::bytes() const {
  std::uint64_t sum = 0;
  for (const TimelineRow& row : rows_) sum += row.tree.bytes();
  return sum;
}

}  // namespace fathom::summary
