#include "serve/timeline_answers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"
#include "trace/task_stacks.hpp"

namespace fathom::serve {

namespace {
constexpr std::int64_t kActivity = -1;
constexpr std::size_t kMostEvents = 100000;  // read ahead for the end of a call
constexpr std::int64_t kFirstWait = 150;     // ms: a small trace is there at once

// "rank 3", "rank 3, thread 1": the process says more than the thread where each has one only.
std::vector<std::string> row_names(const SystemTree& system) {
  std::vector<std::size_t> members(system.nodes.size());
  for (std::size_t i = 0; i < system.location_count(); ++i) {
    const SystemNodeId group = system.group_of(LocationId(i));
    if (group.valid()) ++members[group.index()];
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < system.location_count(); ++i) {
    const SystemNodeId group = system.group_of(LocationId(i));
    const std::string& own = system.location(LocationId(i)).name;
    const std::string process = group.valid() ? system.nodes[group.index()].name : std::string();
    names.push_back(process.empty() ? own : members[group.index()] <= 1 ? process : process + ", " + own);
  }
  return names;
}

void write_progress(JsonWriter& json, const summary::TimelineProgress& now) {
  static constexpr std::string_view kStates[] = {"building", "ready", "cancelled", "failed"};
  json.member("state", kStates[static_cast<std::size_t>(now.state)]).member("version", now.version);
  json.member("rows_ready", now.ready).member("events_read", now.events).member("transitions", now.transitions);
  // How long it took is of no interest afterwards, and a page made from it would be another one each time.
  const bool building = now.state == summary::TimelineProgress::State::building;
  json.member("index_bytes", now.bytes).member("seconds", building ? now.seconds : 0).member("stored", now.stored);
  if (now.error) json.member("error", std::string_view(now.error->text()));
}
}  // namespace

Result<TimelineAnswers::Index> TimelineAnswers::index(const Request& request) {
  FATHOM_TRY(const std::int64_t channel, request.integer("channel", kActivity));
  if (channel < kActivity || channel >= static_cast<std::int64_t>(trace_->channels().size())) {
    return Error::usage("there is no such channel");
  }
  const std::lock_guard lock(mutex_);
  Index& made = made_[channel];
  if (made == nullptr ||
      (made->progress().state != summary::TimelineProgress::State::building &&
       made->progress().state != summary::TimelineProgress::State::ready && request.get("restart") == "1")) {
    const ChannelId id = channel == kActivity ? ChannelId() : ChannelId(static_cast<std::size_t>(channel));
    made = summary::Timeline::start(*trace_, id, work_, index_place(*trace_, path_, id, options_));
  }
  return made;
}

Result<std::vector<std::vector<std::uint32_t>>> TimelineAnswers::rows_of(std::string_view text) const {
  const SystemTree& system = trace_->definitions().system;
  const std::size_t count = trace_->location_count();
  std::vector<std::vector<std::uint32_t>> rows;
  const auto wrong = [&] { return Error::usage("there is no such row"); };
  for (const std::string_view piece : split(text, ',')) {
    if (piece.starts_with('g')) {
      const auto node = parse_integer<std::size_t>(piece.substr(1));
      if (!node || *node >= system.nodes.size()) return wrong();
      std::vector<std::uint32_t> members;
      for (std::size_t i = 0; i < count; ++i) {
        SystemNodeId at = system.locations[i];
        while (at.valid() && at.index() != *node) at = system.nodes[at.index()].parent;
        if (at.valid()) members.push_back(static_cast<std::uint32_t>(i));
      }
      rows.push_back(std::move(members));
      continue;
    }
    const auto dash = piece.find('-');
    const auto first = parse_integer<std::uint32_t>(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_integer<std::uint32_t>(piece.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= count) return wrong();
    for (std::uint32_t i = *first; i <= *last; ++i) rows.push_back({i});
  }
  return rows;
}

Result<std::vector<std::uint32_t>> TimelineAnswers::locations_of(std::string_view text) const {
  std::vector<std::uint32_t> all;
  if (text.empty()) {
    for (std::uint32_t i = 0; i < trace_->location_count(); ++i) all.push_back(i);
    return all;
  }
  FATHOM_TRY(const auto rows, rows_of(text));
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Result<Answer> TimelineAnswers::progress(const Request& request) {
  FATHOM_TRY(const Index made, index(request));
  if (request.get("cancel") == "1") {
    made->cancel();
    made->wait();
  }
  Output out;
  JsonWriter json(out);
  json.begin_object().member("rows", made->row_count());
  write_progress(json, made->progress());
  json.end_object();
  return Answer::json(out.text());
}

Result<Answer> TimelineAnswers::timeline(const Request& request) {
  FATHOM_TRY(const Index made, index(request));
  FATHOM_TRY(const std::int64_t wait, request.integer("wait", kFirstWait));
  if (wait < 0) {
    made->wait();
  } else {
    made->wait(std::chrono::milliseconds(std::min<std::int64_t>(wait, 10000)));
  }
  const summary::TimelineProgress now = made->progress();
  if (now.state == summary::TimelineProgress::State::failed) return *now.error;
  const Definitions& defs = trace_->definitions();
  const SystemTree& system = defs.system;
  const auto [nodes, version] = made->contexts();
  const auto& contexts = *nodes;
  Output out;
  JsonWriter json(out);
  json.begin_object();
  // A browser cannot hold such numbers: the clock travels as text, times as what has passed since.
  json.member("origin_ns", std::string_view(std::to_string(made->begin_ns())));
  json.member("span_ns", made->end_ns() - made->begin_ns());
  json.member("tile_rows", kTileRows).member("tile_bins", kTileBins);
  write_progress(json, now);
  json.member("contexts_version", version);
  json.key("contexts").begin_object();
  const auto column = [&](std::string_view name, const auto& write) {
    json.key(name).begin_array();
    for (const summary::Contexts::Node& node : contexts) write(node);
    json.end_array();
  };
  const auto region = [&](const summary::Contexts::Node& node) -> const Region* {
    const RegionId id = made->region(node);
    return id.valid() && id.index() < defs.regions.size() ? &defs.region(id) : nullptr;
  };
  const auto of_region = [&](std::string_view name, std::string Region::*text) {
    column(name, [&](const auto& node) {
      json.value(region(node) == nullptr ? std::string_view{} : std::string_view(region(node)->*text));
    });
  };
  column("name", [&](const auto& node) { json.value(std::string_view(demangle(made->name(node)))); });
  column("parent", [&](const auto& node) {
    json.value(node.parent == summary::kNothing ? std::int64_t{-1} : std::int64_t{node.parent});
  });
  column("depth", [&](const auto& node) { json.value(node.depth); });
  column("region", [&](const auto& node) { json.value(region(node) == nullptr ? std::int64_t{-1} : node.step.id); });
  of_region("paradigm", &Region::paradigm);
  of_region("role", &Region::role);
  of_region("module", &Region::module);
  of_region("file", &Region::file);
  json.end_object();
  json.key("rows").begin_object();
  json.key("label").begin_array();
  for (std::size_t i = 0; i < trace_->location_count(); ++i) {
    json.value(std::string_view(system.location_label(LocationId(i))));
  }
  json.end_array().key("name").begin_array();
  for (const std::string& name : row_names(system)) json.value(std::string_view(name));
  json.end_array().key("parent").begin_array();
  for (std::size_t i = 0; i < trace_->location_count(); ++i) {
    const SystemNodeId parent = system.location(LocationId(i)).parent;
    json.value(parent.valid() ? static_cast<std::int64_t>(parent.index()) : std::int64_t{-1});
  }
  json.end_array().key("rank").begin_array();
  for (std::size_t i = 0; i < trace_->location_count(); ++i) {
    const SystemNodeId group = system.group_of(LocationId(i));
    json.value(group.valid() ? system.nodes[group.index()].rank.value_or(-1) : std::int64_t{-1});
  }
  json.end_array().key("begin_ns").begin_array();
  for (std::size_t i = 0; i < trace_->location_count(); ++i) {
    const summary::RowPtr row = made->row(i);
    json.value(row == nullptr || row->last_ns < row->first_ns ? std::int64_t{-1} : row->first_ns - made->begin_ns());
  }
  json.end_array().end_object();
  // What lies above the rows, by its number in the system tree.
  json.key("groups").begin_array();
  for (std::size_t i = 0; i < system.nodes.size(); ++i) {
    const SystemNode& node = system.nodes[i];
    if (node.kind == SystemKind::location) continue;
    json.begin_object().member("node", i).member("name", std::string_view(node.name));
    json.member("type", std::string_view(node.type));
    json.member("parent", node.parent.valid() ? static_cast<std::int64_t>(node.parent.index()) : std::int64_t{-1});
    json.end_object();
  }
  json.end_array();
  json.key("channels").begin_array();
  for (const Channel& channel : trace_->channels()) {
    json.value(std::string_view(channel.title.empty() ? channel.name : channel.title));
  }
  json.end_array();
  // Where nothing is entered and left, what a location does is told by a channel.
  const auto active = trace_->activity_channels();
  json.member("activity_channel", active.empty() ? kActivity : static_cast<std::int64_t>(active.back().index()));
  json.key("counters").begin_array();
  for (const Metric& metric : defs.metrics) {
    json.begin_object().member("name", std::string_view(metric.name)).member("unit", std::string_view(metric.unit));
    json.end_object();
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
  FATHOM_TRY(const std::int64_t lanes, request.integer("lanes", 0));
  FATHOM_TRY(const std::int64_t focus, request.integer("focus", -1));
  FATHOM_TRY(const std::int64_t context, request.integer("context", -1));
  const std::size_t rows = made->row_count();
  constexpr std::int64_t kFarthest = std::int64_t{1} << 52;
  if (block < 0 || static_cast<std::size_t>(block) * kTileRows >= std::max<std::size_t>(rows, 1) || k < 0 || k > 42 ||
      i < 0 || i > (kFarthest >> k) || depth < 0 || depth > 255 || lanes < 0 || lanes > 64 || focus < -1 ||
      context < -1 || context >= static_cast<std::int64_t>(made->contexts().first->size()) ||
      focus >= static_cast<std::int64_t>(trace_->definitions().regions.size())) {
    return Error::usage("there is no such tile");
  }
  summary::TileRequest tile;
  if (!request.get("rows").empty()) {
    FATHOM_TRY(tile.rows, rows_of(request.get("rows")));
    if (tile.rows.size() > kTileRows || (lanes > 0 && (tile.rows.size() != 1 || tile.rows[0].size() != 1))) {
      return Error::usage(fmt::format("a tile has at most {} rows, and levels of one location alone", kTileRows));
    }
  } else {
    for (std::size_t r = static_cast<std::size_t>(block) * kTileRows;
         r < std::min(rows, (static_cast<std::size_t>(block) + 1) * kTileRows); ++r) {
      tile.rows.push_back({static_cast<std::uint32_t>(r)});
    }
    if (lanes > 0) tile.rows.resize(1);
  }
  tile.k = static_cast<unsigned>(k);
  tile.first_ns = (i * static_cast<std::int64_t>(kTileBins)) << k;
  tile.bins = kTileBins;
  tile.lanes = static_cast<std::size_t>(lanes);
  tile.depth = lanes > 0 && depth == 255 ? 0 : static_cast<std::uint32_t>(depth);
  tile.exact = quick == 0;
  if (focus >= 0) tile.focus = RegionId(static_cast<std::size_t>(focus));
  if (context >= 0) tile.focus_context = static_cast<std::uint32_t>(context);
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
  TaskStacks<Open> tasks;                // calls, from the outermost in, or the sample
  std::map<std::uint32_t, Open> states;  // by channel
  std::size_t read = 0;
  std::size_t inner = 0;  // regions that were entered behind the moment
  std::size_t ended = 0;
  std::size_t states_ended = 0;
  std::optional<std::int64_t> task;  // that runs behind the moment
  while (const Event* event = cursor.next()) {
    std::vector<Open>& open = tasks.open();
    if (event->time_ns <= time || event->carried) {
      if (event->kind == EventKind::state) {
        states.erase(event->name);
        if (event->has_value) states.insert({event->name, {*event, {}}});
      } else if (event->kind == EventKind::sample) {
        open.assign(1, {*event, {}});
      } else if (event->kind == EventKind::enter) {
        open.push_back({*event, {}});
      } else if (event->kind == EventKind::leave) {
        // As the index has it: what is open inside of it is left with it.
        for (std::size_t i = open.size(); i-- > 0;) {
          if (open[i].begun.name != event->name) continue;
          open.resize(i);
          break;
        }
      } else if (event->kind == EventKind::marker) {
        tasks.take(trace_->meaning(*event), event->value, [](const auto&) {});
      }
      continue;
    }
    if (!task) task = tasks.task();
    if (++read > kMostEvents || (ended == open.size() && states_ended == states.size())) break;
    if (event->kind == EventKind::marker) {
      const MarkerMeaning meaning = trace_->meaning(*event);
      if (meaning == MarkerMeaning::task_switch) task = event->value;
      if (meaning == MarkerMeaning::task_end && event->value == tasks.task() && event->value != 0) {
        for (Open& one : open) one.ended = one.ended ? one.ended : *event;
        ended = open.size();
      }
      if (meaning == MarkerMeaning::task_end && event->value == task) task = 0;
    }
    // What other tasks do ends none of these.
    const bool same = task == tasks.task();
    if (same && event->kind == EventKind::enter) ++inner;
    if (same && event->kind == EventKind::leave) {
      if (inner > 0) {
        --inner;
      } else if (ended < open.size()) {
        open[open.size() - 1 - ended].ended = *event;
        ++ended;
      }
    }
    if (event->kind == EventKind::state) {
      const auto changed = states.find(event->name);
      if (changed != states.end() && !changed->second.ended) {
        changed->second.ended = *event;
        ++states_ended;
      }
    }
    if (event->kind == EventKind::sample && !open.empty() && open.back().begun.kind == EventKind::sample) {
      open.back().ended = *event;  // a sample holds until the next one
      break;
    }
  }
  FATHOM_CHECK(cursor.status());
  Output out;
  JsonWriter json(out);
  json.begin_object().key("open").begin_array();
  const Definitions& defs = trace_->definitions();
  // Channels first: what is innermost comes last.
  std::vector<Open> all;
  for (const auto& [channel, state] : states) all.push_back(state);
  all.insert(all.end(), tasks.open().begin(), tasks.open().end());
  for (const Open& o : all) {
    std::string detail;
    FATHOM_CHECK(trace_->detail(o.begun, detail));
    const auto one = [&](std::string_view name, std::int64_t region, std::string_view shown) {
      json.begin_object().member("name", std::string_view(demangle(std::string(name))));
      json.member("kind", to_string(o.begun.kind)).member("begin_ns", o.begun.time_ns - made->begin_ns());
      json.member("region", region);
      if (o.ended) json.member("end_ns", o.ended->time_ns - made->begin_ns());
      json.member("detail", shown).end_object();
    };
    if (o.begun.kind == EventKind::sample && o.begun.name != Event::kNoName) {
      // The call stack of the sample, functions alone.
      std::vector<RegionId> stack;
      for (ContextId at = o.begun.context(); at.valid(); at = defs.contexts[at].parent) {
        const Context& node = defs.contexts[at];
        if (node.edge != Edge::lexical && node.region.valid()) stack.push_back(node.region);
      }
      for (std::size_t i = stack.size(); i-- > 0;) {
        one(defs.region(stack[i]).name, static_cast<std::int64_t>(stack[i].index()),
            i == 0 ? std::string_view(detail) : std::string_view{});
      }
      continue;
    }
    one(trace_->name(o.begun), o.begun.kind == EventKind::enter ? static_cast<std::int64_t>(o.begun.name) : -1, detail);
  }
  // Between calls it computes: known from the index, which says so in the picture, too.
  const summary::RowPtr known = all.empty() ? made->row(static_cast<std::size_t>(row)) : nullptr;
  if (known != nullptr) {
    const auto [nodes, version] = made->contexts();
    known->tree.each(
        time, std::max(known->last_ns, time) + 1, [&, &met = *nodes](const summary::Transition& t, std::int64_t end) {
          if (t.time_ns > time || end <= time) return true;
          const std::uint32_t context = t.context == summary::kNothing ? t.context : known->global[t.context];
          if (context == summary::kNothing || met[context].step.kind != summary::StepKind::compute) return false;
          json.begin_object().member("name", std::string_view(made->name(met[context]))).member("kind", "compute");
          json.member("begin_ns", t.time_ns - made->begin_ns()).member("region", -1);
          json.member("end_ns", std::min(end, known->last_ns) - made->begin_ns()).member("detail", "").end_object();
          return false;
        });
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

Result<Answer> TimelineAnswers::next(const Request& request) {
  FATHOM_TRY(const Index made, index(request));
  FATHOM_TRY(const std::int64_t location, request.integer("row", 0));
  FATHOM_TRY(const std::int64_t since, request.integer("t", 0));
  FATHOM_TRY(const std::int64_t region, request.integer("region", -1));
  FATHOM_TRY(const std::int64_t wanted, request.integer("context", -1));
  const bool back = request.get("back") == "1";
  const summary::RowPtr row = location < 0 ? nullptr : made->row(static_cast<std::size_t>(location));
  const std::int64_t time = made->begin_ns() + since;
  std::optional<std::int64_t> found;
  const auto [nodes, version] = made->contexts();
  if (row != nullptr && row->whole) {
    std::uint32_t before = summary::kNothing;  // what the location was in, up to the transition
    const auto counts = [&, &all = *nodes](std::uint32_t local) {
      const std::uint32_t context = local == summary::kNothing ? local : row->global[local];
      // Deeper than before, or beside it: something begins.
      const bool begins = context != summary::kNothing && context != before &&
                          (before == summary::kNothing || all[context].depth >= all[before].depth);
      before = context;
      if (!begins || (wanted >= 0 && context != static_cast<std::uint32_t>(wanted))) return false;
      if (region < 0) return true;
      return all[context].step.kind == summary::StepKind::region && all[context].step.id == region;
    };
    const std::int64_t to = back ? time : row->last_ns + 1;
    // Back: a few blocks at first, then more and more of them.
    const std::size_t here = row->tree.block_at(time);
    for (std::size_t blocks = 4;; blocks *= 8) {
      const std::size_t first = blocks > here ? 0 : here - blocks;
      const std::int64_t from = !back ? time : row->tree.blocks() > 0 ? row->tree.block_begin(first) : time;
      before = summary::kNothing;
      row->tree.each(from, to, [&](const summary::Transition& t, std::int64_t) {
        const bool hit = counts(t.context);
        if (t.time_ns < from + (back ? 0 : 1) || t.time_ns >= to || !hit) return true;
        found = t.time_ns;
        return back;  // the last one before, or the first one behind
      });
      if (!back || found || first == 0) break;
    }
  }
  Output out;
  JsonWriter json(out);
  json.begin_object();
  if (found) json.member("t", *found - made->begin_ns());
  json.end_object();
  return Answer::json(out.text());
}

}  // namespace fathom::serve
