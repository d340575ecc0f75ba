#include "serve/report_timeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/json.hpp"
#include "base/text.hpp"
#include "trace/window_calls.hpp"

namespace fathom::serve {

namespace {

constexpr std::size_t kMostRows = 256;
constexpr std::size_t kFewestGroups = 16;  // fewer say less than some of the locations
constexpr std::size_t kLevels = 3;
constexpr std::int64_t kMostTiles = 2;  // over the whole span on the coarsest level
constexpr std::uint32_t kDepths = 4;
constexpr std::int64_t kInnermost = 255;
constexpr std::size_t kMostChannels = 6;
constexpr std::size_t kMostCounters = 8;
constexpr std::size_t kMostDurations = 12;
// Lengths of calls need a pass over the trace for every function.
constexpr std::uint64_t kMostForDurations = 5'000'000;

using Query = std::map<std::string, std::string, std::less<>>;

class TimelineQuestions {
 public:
  TimelineQuestions(TimelineAnswers& timeline, std::size_t number, const std::string& name, const TakeQuestion& take)
      : timeline_(timeline), number_(number), name_(name), take_(take) {
    rows_ = report_rows(timeline.trace().definitions().system);
    const auto active = timeline.trace().activity_channels();
    activity_ = active.empty() ? -1 : static_cast<std::int64_t>(active.back().index());
    channels_.push_back(activity_);
    const auto all = static_cast<std::int64_t>(timeline.trace().channels().size());
    for (std::int64_t c = 0; c < all && channels_.size() < kMostChannels; ++c) {
      if (c != activity_) channels_.push_back(c);
    }
  }

  Result<void> ask() {
    FATHOM_CHECK(ask_channel(activity_));
    // The page asks without a channel first, to hear which one to ask for.
    if (activity_ >= 0) FATHOM_CHECK(ask_rows(-1, {}, {}));
    FATHOM_CHECK(ask_tables());
    for (const std::int64_t channel : channels_) {
      if (channel != activity_) FATHOM_CHECK(ask_channel(channel));
    }
    return {};
  }

 private:
  Result<void> put(const std::string& what, const Query& query, std::string title, const Query& told_apart_by) {
    ReportQuestion asked = report_question(path(what), query, std::move(title));
    asked.address = report_question(path(what), told_apart_by, {}).address;
    return take_(asked);
  }
  [[nodiscard]] std::string path(const std::string& what) const { return fmt::format("{}/{}", number_, what); }

  // Rows, contexts and what there is of the picture.
  Result<void> ask_rows(std::int64_t channel, const std::vector<unsigned>& levels,
                        const std::vector<std::int64_t>& depths) {
    ReportQuestion asked = report_question(path("timeline"), {{"channel", std::to_string(channel)}}, title());
    auto answer = timeline_.timeline(asked.request);
    if (!answer) return take_(asked);  // the question itself tells why
    Output out;
    JsonWriter json(out);
    json.begin_object().key("rows").begin_array();
    for (const std::string& row : rows_.rows) json.value(std::string_view(row));
    json.end_array();
    const auto numbers = [&](std::string_view key, const auto& list) {
      json.key(key).begin_array();
      for (const auto number : list) json.value(number);
      json.end_array();
    };
    numbers("levels", levels);
    numbers("depths", depths);
    numbers("channels", channels_);
    json.member("text", std::string_view("summarised for this report: " + rows_.text)).end_object();
    // One member more than the server tells.
    answer->body.resize(answer->body.rfind('}'));
    answer->body += fmt::format(",\"held\":{}}}", out.text());
    asked.answer = *std::move(answer);
    return take_(asked);
  }

  Result<void> ask_channel(std::int64_t channel) {
    const std::string text = std::to_string(channel);
    FATHOM_TRY(const auto index, timeline_.index({{}, {{"channel", text}}, {}}));
    index->wait();
    if (index->progress().error) return ask_rows(channel, {}, {});
    const std::int64_t span = index->end_ns() - index->begin_ns();
    std::vector<unsigned> levels = report_levels(span);
    if (channel != activity_) levels.resize(1);
    std::vector<std::int64_t> depths;
    std::uint32_t deepest = 0;
    for (const auto& node : *index->contexts().first) deepest = std::max(deepest, node.depth);
    for (std::uint32_t d = 0; channel == activity_ && d < std::min(deepest, kDepths); ++d) depths.push_back(d);
    FATHOM_CHECK(ask_rows(channel, levels, depths));
    FATHOM_CHECK(ask_tiles(channel, levels[0], kInnermost, span));
    const Query shares = {{"channel", text}, {"bins", "320"}, {"top", "10"}};
    FATHOM_CHECK(put("shares", shares, title(), shares));
    FATHOM_CHECK(put("window", {{"channel", text}}, "times of functions in " + name_, {{"channel", text}}));
    for (const std::int64_t depth : depths) FATHOM_CHECK(ask_tiles(channel, levels[0], depth, span));
    for (std::size_t i = 1; i < levels.size(); ++i) FATHOM_CHECK(ask_tiles(channel, levels[i], kInnermost, span));
    return {};
  }

  Result<void> ask_tiles(std::int64_t channel, unsigned k, std::int64_t depth, std::int64_t span) {
    const std::int64_t tile_ns = static_cast<std::int64_t>(TimelineAnswers::kTileBins) << k;
    for (std::size_t block = 0; block * TimelineAnswers::kTileRows < rows_.rows.size(); ++block) {
      const std::size_t first = block * TimelineAnswers::kTileRows;
      const std::size_t last = std::min(rows_.rows.size(), first + TimelineAnswers::kTileRows);
      const std::string rows =
          fmt::format("{}", fmt::join(rows_.rows.begin() + static_cast<std::ptrdiff_t>(first),
                                      rows_.rows.begin() + static_cast<std::ptrdiff_t>(last), ","));
      for (std::int64_t i = 0; i * tile_ns <= span; ++i) {
        const Query same = {{"channel", std::to_string(channel)},
                            {"depth", std::to_string(depth)},
                            {"k", std::to_string(k)},
                            {"i", std::to_string(i)}};
        Query query = same;
        query["rows"] = rows;
        Query place = same;
        place["r"] = std::to_string(block);
        FATHOM_CHECK(put("tile", query, title(), place));
      }
    }
    return {};
  }

  // What the tabs below the picture show of the whole trace.
  Result<void> ask_tables() {
    const std::string channel = std::to_string(activity_);
    const Query shares = {{"channel", channel}, {"bins", "400"}, {"top", "14"}, {"depth", std::to_string(kInnermost)}};
    FATHOM_CHECK(put("shares", shares, title(), shares));
    FATHOM_CHECK(put("messages", {{"most", "2000"}}, "messages of " + name_, {}));
    for (const char* what : {"matrix", "waits", "collectives", "counters"}) {
      FATHOM_CHECK(put(what, {}, fmt::format("{} of {}", what, name_), {}));
    }
    FATHOM_CHECK(put("row_times", {{"channel", channel}}, "times by row of " + name_, {{"channel", channel}}));
    const auto& metrics = timeline_.trace().definitions().metrics;
    for (std::size_t m = 0; m < std::min(metrics.size(), kMostCounters); ++m) {
      const std::string metric = std::to_string(m);
      FATHOM_CHECK(
          put("counters", {{"metric", metric}, {"bins", "400"}}, "counters of " + name_, {{"metric", metric}}));
    }
    FATHOM_TRY(const auto index, timeline_.index({{}, {{"channel", channel}}, {}}));
    if (activity_ >= 0 || index->progress().transitions > kMostForDurations) return {};
    const auto calls = window_calls(timeline_.trace(), {});
    if (!calls) return {};  // the table of functions has told
    std::size_t listed = 0;
    for (const WindowCalls& call : *calls) {
      if (!call.region.valid() || listed++ >= kMostDurations) continue;
      const std::string region = std::to_string(call.region.index());
      FATHOM_CHECK(put("durations", {{"region", region}, {"most", "300"}}, "lengths of calls in " + name_,
                       {{"region", region}}));
    }
    return {};
  }

  [[nodiscard]] std::string title() const { return "timeline of " + name_; }

  TimelineAnswers& timeline_;
  std::size_t number_;
  const std::string& name_;
  const TakeQuestion& take_;
  ReportRows rows_;
  std::int64_t activity_ = -1;
  std::vector<std::int64_t> channels_;
};

}  // namespace

ReportRows report_rows(const SystemTree& system) {
  const std::size_t count = system.location_count();
  ReportRows out;
  if (count <= kMostRows) {
    for (std::size_t i = 0; i < count; ++i) out.rows.push_back(std::to_string(i));
    out.text = count == 1 ? "its one row" : fmt::format("all {} rows", count);
    return out;
  }
  // By level from the top: of each group one of its locations and how many it has.
  struct Group {
    std::size_t members = 0;
    std::size_t location = 0;
  };
  std::vector<std::map<std::size_t, Group>> groups;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::size_t> above;
    for (SystemNodeId at = system.locations[i]; at.valid(); at = system.nodes[at.index()].parent) {
      if (system.nodes[at.index()].kind != SystemKind::location) above.push_back(at.index());
    }
    if (groups.size() < above.size()) groups.resize(above.size());
    for (std::size_t level = 0; level < above.size(); ++level) {
      Group& group = groups[level][above[above.size() - 1 - level]];
      ++group.members;
      group.location = i;
    }
  }
  // A level that has no more groups than the one above only repeats it.
  const std::map<std::size_t, Group>* best = nullptr;
  for (const auto& level : groups) {
    const bool fits = level.size() >= kFewestGroups && level.size() <= kMostRows;
    if (fits && (best == nullptr || level.size() > best->size())) best = &level;
  }
  if (best != nullptr) {
    for (const auto& [node, group] : *best) {
      out.rows.push_back(group.members > 1 ? fmt::format("g{}", node) : std::to_string(group.location));
    }
    out.text = fmt::format("{} groups of its {} rows", out.rows.size(), count);
    return out;
  }
  for (std::size_t i = 0; i < kMostRows; ++i) out.rows.push_back(std::to_string(i * count / kMostRows));
  out.text = fmt::format("{} of its {} rows, at equal distances", kMostRows, count);
  return out;
}

std::vector<unsigned> report_levels(std::int64_t span_ns) {
  unsigned k = 0;
  const auto width = static_cast<std::int64_t>(TimelineAnswers::kTileBins) * kMostTiles;
  while (span_ns >> k >= width) ++k;
  std::vector<unsigned> out;
  for (std::size_t i = 0; i < kLevels && i <= k; ++i) out.push_back(k - static_cast<unsigned>(i));
  return out;
}

Result<void> ask_timeline(Viewer& viewer, std::size_t number, const std::string& name, const TakeQuestion& take) {
  auto trace = viewer.trace_answers(number);
  if (!trace) {
    // The question itself tells why.
    return take(report_question(fmt::format("{}/timeline", number), {{"channel", "-1"}}, "timeline of " + name));
  }
  return TimelineQuestions((*trace)->timeline(), number, name, take).ask();
}

}  // namespace fathom::serve
