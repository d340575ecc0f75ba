// Messages, the matrix, counters, waits and collectives of a window.
#include <algorithm>
#include <map>

#include "base/json.hpp"
#include "base/text.hpp"
#include "serve/window_answers.hpp"
#include "trace/analysis/analysis.hpp"

namespace fathom::serve {

namespace {
constexpr std::int64_t kMostListed = 20000;
constexpr std::size_t kRowBlocks = 48;  // of bundles
constexpr std::size_t kTimeBlocks = 48;
constexpr std::size_t kMostCells = 512;  // of a side of the matrix

// What a trace cannot tell is no failure: the answer says why there is nothing.
Result<Answer> why_not(const Error& error) {
  if (error.kind() != ErrorKind::usage) return error;
  Output out;
  JsonWriter json(out);
  json.begin_object().member("count", 0).member("sum_ns", 0).member("why", std::string_view(error.message()));
  for (const std::string_view list : {"kinds", "waits", "collectives"}) json.key(list).begin_array().end_array();
  json.end_object();
  return Answer::json(out.text());
}

struct Bundle {
  std::uint64_t count = 0;
  std::int64_t bytes = 0;
  double sent = 0;
  double received = 0;
  double latency = 0;
};
}  // namespace

Result<std::shared_ptr<const summary::MessageStore>> WindowAnswers::message_store() {
  const std::lock_guard lock(mutex_);
  if (messages_ == nullptr) {
    FATHOM_TRY(messages_, summary::MessageStore::build(timeline_.trace(), timeline_.work()));
  }
  return messages_;
}

Result<std::shared_ptr<const summary::CounterStore>> WindowAnswers::counter_store() {
  const std::lock_guard lock(mutex_);
  if (counters_ == nullptr) {
    FATHOM_TRY(counters_, summary::CounterStore::build(timeline_.trace(), timeline_.work()));
  }
  return counters_;
}

Result<analysis::Analysis*> WindowAnswers::analysis() {
  const std::lock_guard lock(mutex_);
  if (analysis_ == nullptr) {
    FATHOM_TRY(analysis_, analysis::analyse(timeline_.trace(), timeline_.work(), analysis::Depth::waits));
  }
  return analysis_.get();
}

Result<Answer> WindowAnswers::messages(const Request& request) {
  FATHOM_TRY(const auto made, timeline_.index(request));
  FATHOM_TRY(const Window window, window_of(request, *made));
  FATHOM_TRY(const auto locations, timeline_.locations_of(request.get("rows")));
  FATHOM_TRY(const std::int64_t most, request.integer("most", 2000));
  FATHOM_TRY(const std::int64_t src, request.integer("src", -1));
  FATHOM_TRY(const std::int64_t dst, request.integer("dst", -1));
  if (most < 0 || most > kMostListed) return Error::usage("at most 20,000 messages are listed");
  FATHOM_TRY(const auto store, message_store());
  const std::size_t rows = timeline_.trace().location_count();
  std::vector<std::uint8_t> shown(rows, request.get("rows").empty() ? 1 : 0);
  for (const std::uint32_t location : locations) shown[location] = 1;
  // One by one as long as there are few; bundles of all at the same time.
  std::vector<summary::StoredMessage> listed;
  std::map<std::array<std::uint32_t, 3>, Bundle> bundles;
  std::uint64_t count = 0;
  std::int64_t bytes = 0;
  const std::size_t block = (rows + kRowBlocks - 1) / kRowBlocks;
  const double part = std::max(1.0, static_cast<double>(window.to_ns - window.from_ns) / kTimeBlocks);
  store->each(window.from_ns, window.to_ns, [&](const summary::StoredMessage& message) {
    if (shown[message.from] == 0 && shown[message.to] == 0) return;
    if ((src >= 0 && message.from_rank != src) || (dst >= 0 && message.to_rank != dst)) return;
    ++count;
    bytes += message.bytes;
    if (count <= static_cast<std::uint64_t>(most)) listed.push_back(message);
    const double when = std::clamp(static_cast<double>(message.sent_ns - window.from_ns) / part, 0.0,
                                   static_cast<double>(kTimeBlocks - 1));
    Bundle& bundle = bundles[{static_cast<std::uint32_t>(message.from / block),
                              static_cast<std::uint32_t>(message.to / block), static_cast<std::uint32_t>(when)}];
    ++bundle.count;
    bundle.bytes += message.bytes;
    bundle.sent += static_cast<double>(message.sent_ns - made->begin_ns());
    bundle.received += static_cast<double>(message.received_ns - made->begin_ns());
    bundle.latency += static_cast<double>(message.received_ns - message.sent_ns);
  });
  Output out;
  JsonWriter json(out);
  json.begin_object().member("all", store->size()).member("count", count).member("bytes", bytes);
  json.member("untimed", store->untimed());
  if (count <= static_cast<std::uint64_t>(most)) {
    json.key("messages").begin_array();
    for (const summary::StoredMessage& m : listed) {
      json.begin_array().value(m.from).value(m.to).value(m.sent_ns - made->begin_ns());
      json.value(m.received_ns - made->begin_ns()).value(m.bytes).value(m.tag);
      json.value(m.communicator == 0xFFFFFFFF ? std::int64_t{-1} : std::int64_t{m.communicator});
      json.value(m.from_rank).value(m.to_rank).end_array();
    }
    json.end_array();
  } else {
    json.member("row_block", block).key("bundles").begin_array();
    for (const auto& [place, bundle] : bundles) {
      const auto n = static_cast<double>(bundle.count);
      json.begin_array().value(place[0]).value(place[1]).value(bundle.sent / n).value(bundle.received / n);
      json.value(bundle.count).value(bundle.bytes).value(bundle.latency / n).end_array();
    }
    json.end_array();
  }
  json.key("communicators").begin_array();
  for (const Communicator& communicator : timeline_.trace().communicators()) {
    json.value(std::string_view(communicator.name));
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

Result<Answer> WindowAnswers::matrix(const Request& request) {
  FATHOM_TRY(const auto made, timeline_.index(request));
  FATHOM_TRY(const Window window, window_of(request, *made));
  StatisticsOptions options;
  if (!window.all) {
    options.from_ns = window.from_ns;
    options.to_ns = window.to_ns;
  }
  FATHOM_TRY(const TraceStatistics statistics, statistics_(options));
  Output out;
  JsonWriter json(out);
  std::int64_t ranks = 0;
  std::uint64_t all_messages = 0;
  std::int64_t all_bytes = 0;
  for (const MatrixEntry& entry : statistics.matrix) {
    ranks = std::max({ranks, entry.src + 1, entry.dst + 1});
    all_messages += entry.messages;
    all_bytes += entry.bytes;
  }
  const SystemTree& system = timeline_.trace().definitions().system;
  for (const SystemNode& node : system.nodes) {
    if (node.kind == SystemKind::group && node.rank) ranks = std::max(ranks, *node.rank + 1);
  }
  const std::int64_t per = std::max<std::int64_t>(
      1, (ranks + static_cast<std::int64_t>(kMostCells) - 1) / static_cast<std::int64_t>(kMostCells));
  struct Cell {
    std::uint64_t messages = 0;
    std::int64_t bytes = 0;
    std::uint64_t matched = 0;
    double latency = 0;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Cell> cells;
  for (const MatrixEntry& entry : statistics.matrix) {
    Cell& cell = cells[{entry.src / per, entry.dst / per}];
    cell.messages += entry.messages;
    cell.bytes += entry.bytes;
  }
  if (!statistics.matrix.empty()) {
    FATHOM_TRY(const auto store, message_store());
    store->each(window.from_ns, window.to_ns, [&](const summary::StoredMessage& message) {
      if (message.sent_ns < window.from_ns || message.from_rank < 0 || message.to_rank < 0) return;
      const auto cell = cells.find({message.from_rank / per, message.to_rank / per});
      if (cell == cells.end()) return;
      ++cell->second.matched;
      cell->second.latency += static_cast<double>(message.received_ns - message.sent_ns);
    });
  }
  json.begin_object().member("ranks", ranks).member("per_cell", per).member("messages", all_messages);
  json.member("bytes", all_bytes).member("span_ns", window.to_ns - window.from_ns);
  // From, to, messages, bytes, mean time on the way in ns (nothing = no message of them was matched).
  json.key("cells").begin_array();
  for (const auto& [pair, cell] : cells) {
    json.begin_array().value(pair.first).value(pair.second).value(cell.messages).value(cell.bytes);
    if (cell.matched > 0) {
      json.value(cell.latency / static_cast<double>(cell.matched));
    } else {
      json.value(nullptr);
    }
    json.end_array();
  }
  json.end_array();
  // Node of each rank, for sums by node.
  json.key("nodes").begin_array();
  std::map<std::int64_t, std::string> nodes;
  for (const SystemNode& node : system.nodes) {
    if (node.kind != SystemKind::group || !node.rank) continue;
    SystemNodeId at = node.parent;
    nodes[*node.rank] = at.valid() ? system.nodes[at.index()].name : std::string();
  }
  for (std::int64_t rank = 0; rank < ranks && rank < 100000; ++rank) json.value(std::string_view(nodes[rank]));
  json.end_array().end_object();
  return Answer::json(out.text());
}

Result<Answer> WindowAnswers::counters(const Request& request) {
  FATHOM_TRY(const auto made, timeline_.index(request));
  FATHOM_TRY(const Window window, window_of(request, *made));
  FATHOM_TRY(const auto locations, timeline_.locations_of(request.get("rows")));
  FATHOM_TRY(const std::int64_t bins, request.integer("bins", 512));
  FATHOM_TRY(const std::int64_t metric, request.integer("metric", -1));
  if (bins < 1 || bins > 4096) return Error::usage("1 to 4,096 bins");
  FATHOM_TRY(const auto store, counter_store());
  const auto& metrics = timeline_.trace().definitions().metrics;
  Output out;
  JsonWriter json(out);
  json.begin_object().key("metrics").begin_array();
  for (const std::uint32_t id : store->metrics()) {
    json.begin_object().member("id", id).member("name", std::string_view(metrics[id].name));
    json.member("unit", std::string_view(metrics[id].unit)).member("readings", store->readings(id)).end_object();
  }
  json.end_array();
  if (metric >= 0) {
    constexpr std::size_t kMostLines = 1024;
    json.key("lines").begin_array();
    std::size_t lines = 0;
    for (const std::uint32_t location : locations) {
      if (!store->has(static_cast<std::uint32_t>(metric), location) || ++lines > kMostLines) continue;
      const auto line = store->bins(static_cast<std::uint32_t>(metric), location, window.from_ns, window.to_ns,
                                    static_cast<std::size_t>(bins));
      json.begin_object().member("row", location);
      const auto column = [&](std::string_view name, double summary::CounterBin::*value) {
        json.key(name).begin_array();
        for (const summary::CounterBin& bin : line) {
          if (bin.any) {
            json.value(bin.*value);
          } else {
            json.value(nullptr);
          }
        }
        json.end_array();
      };
      column("least", &summary::CounterBin::least);
      column("most", &summary::CounterBin::most);
      column("mean", &summary::CounterBin::mean);
      column("last", &summary::CounterBin::last);
      json.end_object();
    }
    json.end_array().member("left_out", lines > kMostLines ? lines - kMostLines : 0);
  }
  json.end_object();
  return Answer::json(out.text());
}

Result<Answer> WindowAnswers::waits(const Request& request) {
  FATHOM_TRY(const auto made, timeline_.index(request));
  FATHOM_TRY(const Window window, window_of(request, *made));
  FATHOM_TRY(const std::int64_t most, request.integer("most", 4000));
  if (most < 0 || most > kMostListed) return Error::usage("at most 20,000 waits are listed");
  const auto found_analysis = this->analysis();
  if (!found_analysis.ok()) return why_not(found_analysis.error());
  const analysis::Analysis* analysis = *found_analysis;
  const analysis::RunCalls& run = analysis->run;
  struct Found {
    const analysis::Wait* wait;
    std::uint32_t location;
  };
  std::vector<Found> found;
  std::array<std::int64_t, analysis::kWaitKinds> ns{};
  std::array<std::uint64_t, analysis::kWaitKinds> count{};
  std::int64_t sum = 0;
  for (std::uint32_t l = 0; l < run.locations.size(); ++l) {
    for (const analysis::Wait& wait : analysis->waits.locations[l].waits) {
      if (wait.until <= window.from_ns || wait.until - wait.length >= window.to_ns) continue;
      ns[static_cast<std::size_t>(wait.kind)] += wait.length;
      ++count[static_cast<std::size_t>(wait.kind)];
      sum += wait.length;
      found.push_back({&wait, l});
    }
  }
  const std::size_t all = found.size();
  const auto listed = std::min(found.size(), static_cast<std::size_t>(most));
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(listed), found.end(),
                    [](const Found& a, const Found& b) {
                      return std::tuple(-a.wait->length, a.wait->until, a.location) <
                             std::tuple(-b.wait->length, b.wait->until, b.location);
                    });
  found.resize(listed);
  Output out;
  JsonWriter json(out);
  json.begin_object().member("count", all).member("sum_ns", sum).key("kinds").begin_array();
  for (std::size_t k = 0; k < analysis::kWaitKinds; ++k) {
    if (count[k] == 0) continue;
    json.begin_object().member("kind", analysis::to_string(static_cast<analysis::WaitKind>(k)));
    json.member("count", count[k]).member("ns", ns[k]).end_object();
  }
  // Row, begin, end, kind, the row that it waited for, the call.
  json.end_array().key("waits").begin_array();
  for (const Found& one : found) {
    const analysis::LocationCalls& location = run.locations[one.location];
    json.begin_array().value(location.id.index()).value(one.wait->until - one.wait->length - made->begin_ns());
    json.value(one.wait->until - made->begin_ns()).value(analysis::to_string(one.wait->kind));
    json.value(run.locations[one.wait->culprit].id.index());
    json.value(run.name_of(location.calls[one.wait->call])).end_array();
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

Result<Answer> WindowAnswers::collectives(const Request& request) {
  FATHOM_TRY(const auto made, timeline_.index(request));
  FATHOM_TRY(const Window window, window_of(request, *made));
  FATHOM_TRY(const std::int64_t most, request.integer("most", 2000));
  if (most < 0 || most > kMostListed) return Error::usage("at most 20,000 collectives are listed");
  const auto found_analysis = this->analysis();
  if (!found_analysis.ok()) return why_not(found_analysis.error());
  const analysis::Analysis* analysis = *found_analysis;
  const analysis::RunCalls& run = analysis->run;
  Output out;
  JsonWriter json(out);
  std::uint64_t count = 0;
  json.begin_object().key("collectives").begin_array();
  for (std::size_t g = 0; g < run.groups.size(); ++g) {
    const analysis::Group& group = run.groups[g];
    for (std::uint32_t i = 0; i < group.instances; ++i) {
      std::int64_t first = std::numeric_limits<std::int64_t>::max();
      std::int64_t last_enter = std::numeric_limits<std::int64_t>::min();
      std::int64_t last = std::numeric_limits<std::int64_t>::min();
      double inside = 0;
      double waiting = 0;
      std::size_t low = std::numeric_limits<std::size_t>::max();
      std::size_t high = 0;
      std::uint32_t members = 0;
      std::size_t late = 0;
      std::string_view name;
      for (std::uint32_t m = 0; m < group.members.size(); ++m) {
        const analysis::CallPlace place = group.call(m, i);
        if (place.location == analysis::kNone) continue;
        const analysis::Call& call = run.at(place);
        ++members;
        first = std::min(first, call.entry);
        last = std::max(last, call.exit);
        inside += static_cast<double>(call.exit - call.entry);
        const std::size_t row = run.locations[place.location].id.index();
        if (call.entry > last_enter) {
          last_enter = call.entry;
          late = row;
        }
        low = std::min(low, row);
        high = std::max(high, row);
        name = run.name_of(call);
      }
      if (members < 2 || last < window.from_ns || first >= window.to_ns) continue;
      // Until the last one is there nobody can go on: at most that much is waiting.
      for (std::uint32_t m = 0; m < group.members.size(); ++m) {
        const analysis::CallPlace place = group.call(m, i);
        if (place.location == analysis::kNone) continue;
        const analysis::Call& call = run.at(place);
        waiting += static_cast<double>(std::max<std::int64_t>(0, std::min(last_enter, call.exit) - call.entry));
      }
      if (++count > static_cast<std::uint64_t>(most)) continue;
      json.begin_array().value(name).value(first - made->begin_ns()).value(last - made->begin_ns());
      json.value(last_enter - made->begin_ns()).value(late).value(members).value(low).value(high);
      json.value(inside > 0 ? waiting / inside : 0.0).end_array();
    }
  }
  json.end_array().member("count", count).end_object();
  return Answer::json(out.text());
}

}  // namespace fathom::serve
