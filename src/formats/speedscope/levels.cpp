#include "formats/speedscope/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/speedscope/profile_lists.hpp"
#include "profile/build/profile_builder.hpp"
#include "trace/open_names.hpp"
#include "trace/stored_trace.hpp"

namespace fathom::speedscope {

namespace {

Region region_of(const Frame& frame, std::size_t number) {
  Region region;
  region.name = frame.name;
  region.file = frame.file;
  region.begin_line = frame.line;
  region.file_id = number;
  return region;
}

Result<void> note_bad(std::uint64_t bad, const Blob& blob, const Work& work) {
  if (bad == 0) return {};
  return work->diagnostics.add("speedscope.malformed", Severity::data_loss, blob.place(),
                               fmt::format("{} events or samples cannot be read or name no frame; left out", bad), bad);
}

constexpr double kMost = 4e18;  // nanoseconds

std::int64_t end_of(const StoredProfile& profile, double scale) {
  const double end = profile.end * scale;
  return std::isfinite(end) && std::abs(end) <= kMost ? std::llround(end) : INT64_MIN;
}

class EventedTrace : public StoredTrace {
 public:
  explicit EventedTrace(const Work& work) : StoredTrace(work) {}

  Result<void> fill(const SpeedscopeFile& file, const Blob& blob) {
    for (std::size_t i = 0; i < file.frames.size(); ++i) definitions_.regions.push_back(region_of(file.frames[i], i));
    SystemNode group;
    group.kind = SystemKind::group;
    group.type = "process";
    group.name = file.name.empty() ? "process" : file.name;
    group.rank = 0;
    const SystemNodeId parent = definitions_.system.add(std::move(group));
    std::vector<RowNode> nodes;
    std::uint64_t bad = 0;
    std::uint64_t unordered = 0, unclosed = 0;
    std::uint64_t record = 0;
    for (const StoredProfile& profile : file.profiles) {
      if (!profile.evented) continue;
      const auto row = static_cast<std::uint32_t>(nodes.size());
      const double scale = nanoseconds_of(profile.unit);
      std::int64_t before = INT64_MIN;
      std::vector<std::uint32_t> open;
      OpenNames names;
      FATHOM_TRY(const std::uint64_t malformed,
                 each_event(profile, work_, [&](bool opens, FrameNumber number, double at) {
                   if (number >= file.frames.size() || !std::isfinite(at) || std::abs(at * scale) > kMost) {
                     ++bad;
                     return;
                   }
                   const std::int64_t time = std::llround(at * scale);
                   if (time < before) ++unordered;
                   before = time;
                   ++record;
                   if (opens) {
                     open.push_back(number);
                     names.add(number);
                     store_.begin(row, time, number, record);
                   } else {
                     // What is open inside ends with it.
                     for (bool found = !names.has(number); !found; open.pop_back()) {
                       found = open.back() == number;
                       names.remove(open.back());
                     }
                     store_.end(row, time, number, record);
                   }
                 }));
      bad += malformed;
      // What is never closed lasts as long as the profile.
      if (const std::int64_t end = end_of(profile, scale); end >= before) {
        unclosed += open.size();
        for (; !open.empty(); open.pop_back()) store_.end(row, end, open.back(), ++record);
      }
      SystemNode node;
      node.parent = parent;
      node.kind = SystemKind::location;
      node.type = "thread";
      node.name = profile.name;
      node.rank = row;
      node.file_id = row;
      if (!profile.unit.empty()) node.attributes.emplace_back("unit", profile.unit);
      nodes.push_back({row, std::move(node)});
    }
    FATHOM_CHECK(note_bad(bad, blob, work_));
    if (unclosed > 0) {
      FATHOM_CHECK(work_->diagnostics.add(
          "trace.unfinished", Severity::info, blob.place(),
          fmt::format("{} slices have no end; they last until the end of their profile", unclosed), unclosed));
    }
    if (unordered > 0) {
      FATHOM_CHECK(work_->diagnostics.add("speedscope.unordered", Severity::warning, blob.place(),
                                          fmt::format("{} events are earlier than the one before them", unordered),
                                          unordered));
    }
    const auto rows = static_cast<std::uint32_t>(nodes.size());
    return finish(std::move(nodes), rows, Place::in(blob.name()));
  }
};

}  // namespace

Result<std::shared_ptr<const Trace>> trace_of(const SpeedscopeFile& file, const Blob& blob, const Work& work) {
  auto trace = std::make_shared<EventedTrace>(work);
  FATHOM_CHECK(trace->fill(file, blob));
  return std::shared_ptr<const Trace>(std::move(trace));
}

Result<ProfilePtr> profile_of(const SpeedscopeFile& file, const Blob& blob, const Work& work) {
  ProfileBuilder builder(work, file.name.empty() ? blob.name() : file.name);
  std::vector<RegionId> regions;
  for (std::size_t i = 0; i < file.frames.size(); ++i)
    regions.push_back(builder.add_region(region_of(file.frames[i], i)));
  SystemNode group;
  group.kind = SystemKind::group;
  group.type = "process";
  group.name = file.name.empty() ? "process" : file.name;
  group.rank = 0;
  const SystemNodeId parent = builder.system.add(std::move(group));
  std::uint64_t bad = 0;
  std::int64_t number = 0;
  std::vector<std::string> units;                                  // by metric, as the file names them
  std::vector<std::pair<FrameNumber, ProfileBuilder::Node>> open;  // the stack that was looked for before
  // The root where it names no frame.
  const auto find = [&](std::span<const FrameNumber> stack) {
    // What it shares with the one before it is not looked up again.
    std::size_t same = 0;
    while (same < std::min(stack.size(), open.size()) && open[same].first == stack[same]) ++same;
    open.resize(same);
    ProfileBuilder::Node context = same == 0 ? ProfileBuilder::kRoot : open.back().second;
    for (const FrameNumber frame : stack.subspan(same)) {
      if (frame >= regions.size()) return ProfileBuilder::kRoot;
      context = builder.child(context, regions[frame]);
      open.emplace_back(frame, context);
    }
    // Nothing was on the stack: time of nobody.
    return stack.empty() ? builder.child(context, builder.region("(idle)")) : context;
  };
  for (const StoredProfile& profile : file.profiles) {
    if (profile.evented) continue;
    const bool is_time = nanoseconds_of(profile.unit) != 1 || profile.unit == "nanoseconds";
    // Our own files say which metric it is.
    const bool named = file.exporter == "fathom" && !file.name.empty();
    const std::string name = named ? file.name : is_time ? "time" : profile.unit == "bytes" ? "bytes" : "weight";
    // Profiles of one file may count time in different units; the first one's is that of all.
    MetricId metric = builder.find_metric(name);
    double scale = 1;
    if (metric.valid() && units[metric.index()] != profile.unit) {
      scale = nanoseconds_of(profile.unit) / nanoseconds_of(units[metric.index()]);
      if (!is_time) metric = {};
    }
    if (!metric.valid()) {
      Metric made;
      made.name = made.display_name = name;
      made.unit = profile.unit == "seconds" ? "s" : profile.unit == "none" ? "" : profile.unit;
      made.type = {ValueKind::f64, 0};
      metric = builder.add_metric(std::move(made));
      units.push_back(profile.unit);
    }
    SystemNode node;
    node.parent = parent;
    node.kind = SystemKind::location;
    node.type = "thread";
    node.name = profile.name;
    node.rank = number;
    node.file_id = static_cast<std::uint64_t>(number++);
    const LocationId location = builder.system.add_location(std::move(node));
    FATHOM_TRY(const std::uint64_t malformed, each_sample(profile, work, find, [&](std::uint32_t end, double weight) {
                 if (end == ProfileBuilder::kRoot) {
                   ++bad;
                 } else {
                   builder.add(location, metric, end, weight * scale);
                 }
               }));
    bad += malformed;
  }
  FATHOM_CHECK(note_bad(bad, blob, work));
  return std::move(builder).finish();
}

}  // namespace fathom::speedscope
