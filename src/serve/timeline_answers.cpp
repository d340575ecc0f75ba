#include "serve/timeline_answers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"

namespace fathom::serve {

namespace {
constexpr std::int64_t kActivity = -1;
constexpr std::size_t kMostEvents = 100000;  // read ahead for the end of a call

// "rank 3", "rank 3, thread 1": the process says more than the thread where each has one only.
std::string row_name(const SystemTree& system, LocationId id) {
  const SystemNodeId group = system.group_of(id);
  const std::string& own = system.location(id).name;
  if (!group.valid() || system.nodes[group.index()].name.empty()) return own;
  const std::string& process = system.nodes[group.index()].name;
  const auto siblings = std::count_if(system.nodes.begin(), system.nodes.end(), [&](const SystemNode& node) {
    return node.kind == SystemKind::location && node.parent == group;
  });
  return siblings <= 1 ? process : process + ", " + own;
}
}  // namespace

Result<TimelineAnswers::Index> TimelineAnswers::index(const Request& request) {
  FATHOM_TRY(const std::int64_t channel, request.integer("channel", kActivity));
  if (channel < kActivity || channel >= static_cast<std::int64_t>(trace_->channels().size())) {
    return Error::usage("there is no such channel");
  }
  const std::lock_guard lock(mutex_);
  Index& made = made_[channel];
  if (made == nullptr) {
    const ChannelId id = channel == kActivity ? ChannelId() : ChannelId(static_cast<std::size_t>(channel));
    FATHOM_TRY(made, summary::Timeline::build(*trace_, id, work_));
  }
  return made;
}

Result<Answer> TimelineAnswers::timeline(const Request& request) {
  FATHOM_TRY(const Index made, index(request));
  const Definitions& defs = trace_->definitions();
  const auto contexts = made->contexts().nodes();
  Output out;
  JsonWriter json(out);
  json.begin_object();
  // A browser cannot hold such numbers: the clock travels as text, times as what has passed since.
  json.member("origin_ns", std::string_view(std::to_string(made->begin_ns())));
  json.member("span_ns", made->end_ns() - made->begin_ns());
  json.member("transitions", made->transitions()).member("index_bytes", made->bytes());
  json.member("tile_rows", kTileRows).member("tile_bins", kTileBins);
  json.key("contexts").begin_object();
  const auto column = [&](std::string_view name, const auto& write) {
    json.key(name).begin_array();
    for (std::uint32_t i = 0; i < contexts.size(); ++i) write(i);
    json.end_array();
  };
  const auto region = [&](std::uint32_t i) -> const Region* {
    const RegionId id = made->region(i);
    return id.valid() ? &defs.region(id) : nullptr;
  };
  column("name", [&](std::uint32_t i) { json.value(std::string_view(demangle(made->name(i)))); });
  column("parent", [&](std::uint32_t i) {
    json.value(contexts[i].parent == summary::kNothing ? std::int64_t{-1} : std::int64_t{contexts[i].parent});
  });
  column("depth", [&](std::uint32_t i) { json.value(contexts[i].depth); });
  column("paradigm", [&](std::uint32_t i) {
    json.value(region(i) == nullptr ? std::string_view{} : std::string_view(region(i)->paradigm));
  });
  column("role", [&](std::uint32_t i) {
    json.value(region(i) == nullptr ? std::string_view{} : std::string_view(region(i)->role));
  });
  json.end_object();
  json.key("rows").begin_object();
  json.key("label").begin_array();
  for (std::size_t i = 0; i < trace_->location_count(); ++i) {
    json.value(std::string_view(defs.system.location_label(LocationId(i))));
  }
  json.end_array().key("name").begin_array();
  for (std::size_t i = 0; i < trace_->location_count(); ++i) {
    json.value(std::string_view(row_name(defs.system, LocationId(i))));
  }
  json.end_array().end_object();
  json.key("channels").begin_array();
  for (const Channel& channel : trace_->channels()) {
    json.value(std::string_view(channel.title.empty() ? channel.name : channel.title));
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

Result<Answer> TimelineAnswers::tile(const Request& request) {
  FATHOM_TRY(const Index made, index(request));
  FATHOM_TRY(const std::int64_t block, request.integer("r", 0));
  FATHOM_TRY(const std::int64_t k, request.integer("k", 0));
  FATHOM_TRY(const std::int64_t i, request.integer("i", 0));
  FATHOM_TRY(const std::int64_t depth, request.integer("depth", 255));
  FATHOM_TRY(const std::int64_t quick, request.integer("quick", 0));
  const std::size_t rows = made->rows().size();
  constexpr std::int64_t kFarthest = std::int64_t{1} << 52;
  if (block < 0 || static_cast<std::size_t>(block) * kTileRows >= std::max<std::size_t>(rows, 1) || k < 0 || k > 42 ||
      i < 0 || i > (kFarthest >> k) || depth < 0 || depth > 255) {
    return Error::usage("there is no such tile");
  }
  summary::TileRequest tile;
  for (std::size_t r = static_cast<std::size_t>(block) * kTileRows;
       r < std::min(rows, (static_cast<std::size_t>(block) + 1) * kTileRows); ++r) {
    tile.rows.push_back(static_cast<std::uint32_t>(r));
  }
  tile.k = static_cast<unsigned>(k);
  tile.first_ns = (i * static_cast<std::int64_t>(kTileBins)) << k;
  tile.bins = kTileBins;
  tile.depth = static_cast<std::uint32_t>(depth);
  tile.exact = quick == 0;
  return Answer{200, "application/octet-stream", summary::encode_tile(*made, tile)};
}

Result<Answer> TimelineAnswers::at(const Request& request) {
  FATHOM_TRY(const Index made, index(request));
  FATHOM_TRY(const std::int64_t row, request.integer("row", 0));
  FATHOM_TRY(const std::int64_t since, request.integer("t", 0));
  if (row < 0 || static_cast<std::size_t>(row) >= trace_->location_count()) return Error::usage("there is no such row");
  const std::int64_t time = made->begin_ns() + since;
  FATHOM_TRY(auto stream, trace_->open(LocationId(static_cast<std::size_t>(row)), {time, TimeWindow{}.to_ns}));
  EventCursor cursor(std::move(stream));
  struct Open {
    Event begun;
    std::optional<Event> ended;
  };
  std::vector<Open> open;
  std::size_t read = 0;
  std::size_t inner = 0;  // regions that were entered behind the moment
  std::size_t ended = 0;
  while (const Event* event = cursor.next()) {
    if (event->time_ns <= time || event->carried) {
      if (event->kind == EventKind::enter || event->kind == EventKind::sample || event->kind == EventKind::state) {
        open.push_back({*event, {}});
      } else if (event->kind == EventKind::leave && !open.empty() && event->time_ns <= time) {
        open.pop_back();
      }
      continue;
    }
    if (++read > kMostEvents || ended == open.size()) break;
    if (event->kind == EventKind::enter) ++inner;
    if (event->kind == EventKind::leave) {
      if (inner > 0) {
        --inner;
      } else {
        open[open.size() - 1 - ended].ended = *event;
        ++ended;
      }
    }
    if (event->kind == EventKind::sample) break;
  }
  FATHOM_CHECK(cursor.status());
  Output out;
  JsonWriter json(out);
  json.begin_object().key("open").begin_array();
  for (const Open& o : open) {
    std::string detail;
    FATHOM_CHECK(trace_->detail(o.begun, detail));
    json.begin_object().member("name", std::string_view(demangle(std::string(trace_->name(o.begun)))));
    json.member("kind", to_string(o.begun.kind)).member("begin_ns", o.begun.time_ns - made->begin_ns());
    if (o.ended) json.member("end_ns", o.ended->time_ns - made->begin_ns());
    json.member("detail", std::string_view(detail)).end_object();
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

}  // namespace fathom::serve
