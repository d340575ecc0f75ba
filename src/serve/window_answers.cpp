#include "serve/window_answers.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "base/json.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "trace/analysis/analysis.hpp"
#include "trace/window_calls.hpp"

namespace fathom::serve {

namespace {

constexpr std::int64_t kMostBins = 4096;

// What a function takes of a window, as the index knows it.
struct Known {
  double own = 0;
  double total = 0;
};

// Own and inclusive time by name (demangled later), from parts of pixels.
class NameSums {
 public:
  NameSums(const summary::Timeline& timeline, const std::vector<summary::Contexts::Node>& nodes) : nodes_(nodes) {
    // One number per name.
    std::unordered_map<std::string, std::uint32_t> places;
    for (const auto& node : nodes) {
      const auto [place, fresh] = places.emplace(timeline.name(node), static_cast<std::uint32_t>(names_.size()));
      if (fresh) {
        names_.push_back(place->first);
        regions_.push_back(timeline.region(node));
      }
      number_.push_back(place->second);
    }
    outermost_ = summary::outermost(nodes_, number_);
  }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::string& name(std::size_t i) const { return names_[i]; }
  [[nodiscard]] RegionId region(std::size_t i) const { return regions_[i]; }
  [[nodiscard]] std::uint32_t number(std::uint32_t context) const { return number_[context]; }
  [[nodiscard]] const std::vector<summary::Contexts::Node>& nodes() const { return nodes_; }
  // Calls visit(number of the name) for every function around a context, each once.
  template <class Visit>
  void around(std::uint32_t context, Visit&& visit) const {
    for (std::uint32_t at = context; at != summary::kNothing; at = nodes_[at].parent) {
      if (outermost_[at]) visit(number_[at]);
    }
  }

 private:
  const std::vector<summary::Contexts::Node>& nodes_;
  std::vector<std::string> names_;
  std::vector<RegionId> regions_;
  std::vector<std::uint32_t> number_;  // by context
  std::vector<bool> outermost_;
};

class EachPart final : public summary::BlockTree::PixelSink {
 public:
  using Visit = std::function<void(std::size_t bin, std::uint32_t context, bool below, double time)>;
  EachPart(const summary::TimelineRow& row, std::size_t contexts, Visit visit)
      : row_(row), contexts_(contexts), visit_(std::move(visit)) {}
  void pixel(std::size_t index, std::span<const summary::Part> parts, double) override {
    for (const summary::Part& part : parts) {
      const std::uint32_t plain = part.context & ~summary::kBelow;
      const bool below = (part.context & summary::kBelow) != 0;
      std::uint32_t context = summary::kNothing;
      if (plain != summary::kNothing) {
        context = row_.global[plain];
        if (context >= contexts_) continue;
      } else if (!below) {
        continue;  // nothing is known to happen there
      }
      visit_(index, context, below, part.time_ns);
    }
  }

 private:
  const summary::TimelineRow& row_;
  std::size_t contexts_;
  Visit visit_;
};

void write_times(JsonWriter& json, std::string_view name, const std::vector<double>& values) {
  json.key(name).begin_array();
  for (const double value : values) json.value(value);
  json.end_array();
}

}  // namespace

WindowAnswers::WindowAnswers(TimelineAnswers& timeline, Statistics statistics)
    : timeline_(timeline), statistics_(std::move(statistics)) {}
WindowAnswers::~WindowAnswers() = default;

Result<WindowAnswers::Window> WindowAnswers::window_of(const Request& request,
                                                       const summary::Timeline& timeline) const {
  constexpr std::int64_t kFarthest = std::int64_t{1} << 53;
  FATHOM_TRY(const std::int64_t from, request.integer("t0", 0));
  FATHOM_TRY(const std::int64_t to, request.integer("t1", -1));
  if (from < 0 || from > kFarthest || to > kFarthest || (to >= 0 && to < from)) {
    return Error::usage("there is no such window");
  }
  const bool all = request.get("t0").empty() && request.get("t1").empty();
  // The last event is part of the whole.
  const std::int64_t end = to < 0 ? timeline.end_ns() + 1 : timeline.begin_ns() + to;
  return Window{timeline.begin_ns() + from, end, all};
}

Result<Answer> WindowAnswers::window(const Request& request) {
  FATHOM_TRY(const auto made, timeline_.index(request));
  FATHOM_TRY(const Window window, window_of(request, *made));
  FATHOM_TRY(const auto locations, timeline_.locations_of(request.get("rows")));
  FATHOM_TRY(const std::int64_t channel, request.integer("channel", -1));
  Output out;
  JsonWriter json(out);
  if (request.get("quick") == "1") {
    std::vector<summary::RowPtr> rows;
    for (const std::uint32_t location : locations) rows.push_back(made->row(location));
    const auto [nodes, version] = made->contexts();
    const NameSums names(*made, *nodes);
    std::vector<Known> sums(names.size());
    double unknown = 0;
    bool whole = true;
    for (const summary::RowPtr& row : rows) {
      whole = whole && row != nullptr && row->whole;
      if (row == nullptr) continue;
      EachPart part(*row, nodes->size(), [&](std::size_t, std::uint32_t context, bool below, double time) {
        if (below) {
          unknown += time;
        } else {
          sums[names.number(context)].own += time;
        }
        if (context != summary::kNothing) names.around(context, [&](std::uint32_t n) { sums[n].total += time; });
      });
      row->tree.query(window.from_ns, static_cast<double>(window.to_ns - window.from_ns), 1, false, part);
    }
    // Anything may have up to so much more.
    json.begin_object().member("exact", false).member("bound_ns", unknown).member("whole", whole);
    json.key("rows").begin_array();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (sums[i].own == 0 && sums[i].total == 0) continue;
      json.begin_object().member("name", std::string_view(demangle(names.name(i))));
      json.member("region", names.region(i).valid() ? static_cast<std::int64_t>(names.region(i).index()) : -1);
      json.member("own_ns", sums[i].own).member("total_ns", sums[i].total).end_object();
    }
    json.end_array().end_object();
    return Answer::json(out.text());
  }
  WindowOptions options;
  options.window = {window.from_ns, window.to_ns};
  if (channel >= 0) options.channel = ChannelId(static_cast<std::size_t>(channel));
  if (!request.get("rows").empty()) {
    for (const std::uint32_t location : locations) options.locations.emplace_back(location);
  }
  FATHOM_TRY(const auto calls, window_calls(timeline_.trace(), options));
  json.begin_object().member("exact", true).key("rows").begin_array();
  for (const WindowCalls& call : calls) {
    json.begin_object().member("name", std::string_view(demangle(call.name)));
    json.member("region", call.region.valid() ? static_cast<std::int64_t>(call.region.index()) : -1);
    json.member("calls", call.calls).member("own_ns", call.own_ns).member("total_ns", call.total_ns);
    if (call.timed > 0) {
      json.member("mean_ns", static_cast<double>(call.sum_ns) / static_cast<double>(call.timed));
      json.member("min_ns", call.shortest_ns).member("max_ns", call.longest_ns);
    }
    json.end_object();
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

Result<Answer> WindowAnswers::shares(const Request& request) {
  FATHOM_TRY(const auto made, timeline_.index(request));
  FATHOM_TRY(const Window window, window_of(request, *made));
  FATHOM_TRY(const auto locations, timeline_.locations_of(request.get("rows")));
  FATHOM_TRY(const std::int64_t bins, request.integer("bins", 512));
  FATHOM_TRY(const std::int64_t depth, request.integer("depth", 255));
  FATHOM_TRY(const std::int64_t top, request.integer("top", 12));
  if (bins < 1 || bins > kMostBins || top < 1 || top > 200 || depth < 0 || depth > 255) {
    return Error::usage("there are no such shares");
  }
  const bool quick = request.get("quick") == "1";
  const auto count = static_cast<std::size_t>(bins);
  std::vector<summary::RowPtr> rows;
  bool whole = true;
  for (const std::uint32_t location : locations) {
    rows.push_back(made->row(location));
    whole = whole && rows.back() != nullptr && rows.back()->whole;
  }
  const auto [nodes, version] = made->contexts();
  const auto& all = *nodes;
  const NameSums names(*made, all);
  const std::size_t width = names.size() + 1;  // the last: not known
  const double bin_ns = static_cast<double>(window.to_ns - window.from_ns) / static_cast<double>(count);
  std::mutex mutex;
  std::map<std::size_t, std::vector<double>> sums;  // by name
  FATHOM_CHECK(parallel_blocks(rows.size(), 16, [&](std::size_t first, std::size_t last) -> Result<void> {
    std::map<std::size_t, std::vector<double>> mine;
    for (std::size_t r = first; r < last; ++r) {
      if (rows[r] == nullptr) continue;
      EachPart part(*rows[r], all.size(), [&](std::size_t bin, std::uint32_t context, bool below, double time) {
        std::size_t name = width - 1;
        if (context != summary::kNothing) {
          if (all[context].depth >= depth) {
            name = names.number(summary::at_depth(all, context, static_cast<std::uint32_t>(depth)));
          } else if (!below) {
            name = names.number(context);
          }
        }
        auto& line = mine[name];
        if (line.empty()) line.resize(count);
        line[bin] += time;
      });
      rows[r]->tree.query(window.from_ns, bin_ns, count, !quick, part);
    }
    const std::lock_guard lock(mutex);
    for (auto& [name, line] : mine) {
      auto& to = sums[name];
      if (to.empty()) to.resize(count);
      for (std::size_t i = 0; i < count; ++i) to[i] += line[i];
    }
    return {};
  }));
  std::vector<std::pair<double, std::size_t>> order;
  for (const auto& [name, line] : sums) {
    double sum = 0;
    for (const double time : line) sum += time;
    if (name != width - 1) order.emplace_back(-sum, name);
  }
  std::sort(order.begin(), order.end());
  std::vector<double> others(count);
  double others_sum = 0;
  for (std::size_t i = static_cast<std::size_t>(top); i < order.size(); ++i) {
    for (std::size_t b = 0; b < count; ++b) others[b] += sums[order[i].second][b];
    others_sum -= order[i].first;
  }
  Output out;
  JsonWriter json(out);
  json.begin_object().member("whole", whole).member("quick", quick).member("bin_ns", bin_ns);
  json.member("rows", rows.size()).key("functions").begin_array();
  for (std::size_t i = 0; i < order.size() && i < static_cast<std::size_t>(top); ++i) {
    const std::size_t name = order[i].second;
    json.begin_object().member("name", std::string_view(demangle(names.name(name))));
    json.member("region", names.region(name).valid() ? static_cast<std::int64_t>(names.region(name).index()) : -1);
    json.member("sum_ns", -order[i].first);
    write_times(json, "ns", sums[name]);
    json.end_object();
  }
  json.end_array();
  json.member("others_ns", others_sum);
  write_times(json, "others", others);
  if (sums.contains(width - 1)) write_times(json, "unknown", sums[width - 1]);
  json.end_object();
  return Answer::json(out.text());
}

Result<Answer> WindowAnswers::row_times(const Request& request) {
  FATHOM_TRY(const auto made, timeline_.index(request));
  FATHOM_TRY(const Window window, window_of(request, *made));
  FATHOM_TRY(const auto locations, timeline_.locations_of(request.get("rows")));
  std::vector<summary::RowPtr> rows;
  for (const std::uint32_t location : locations) rows.push_back(made->row(location));
  const auto [nodes, version] = made->contexts();
  const NameSums names(*made, *nodes);
  std::vector<std::map<std::uint32_t, double>> sums(rows.size());
  FATHOM_CHECK(parallel_for(rows.size(), [&, &all = *nodes](std::size_t r) -> Result<void> {
    if (rows[r] == nullptr) return {};
    EachPart part(*rows[r], all.size(), [&](std::size_t, std::uint32_t context, bool below, double time) {
      if (!below) sums[r][names.number(context)] += time;
    });
    // The whole of a window is never narrow: its ends are unpacked, the rest comes from nodes.
    rows[r]->tree.query(window.from_ns, static_cast<double>(window.to_ns - window.from_ns), 1, true, part);
    return {};
  }));
  Output out;
  JsonWriter json(out);
  json.begin_object().key("names").begin_array();
  for (std::size_t i = 0; i < names.size(); ++i) json.value(std::string_view(demangle(names.name(i))));
  json.end_array().key("rows").begin_array();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    json.begin_object().member("row", locations[r]).key("times").begin_array();
    for (const auto& [name, time] : sums[r]) json.begin_array().value(name).value(time).end_array();
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

Result<Answer> WindowAnswers::durations(const Request& request) {
  FATHOM_TRY(const auto made, timeline_.index(request));
  FATHOM_TRY(const Window window, window_of(request, *made));
  FATHOM_TRY(const auto locations, timeline_.locations_of(request.get("rows")));
  FATHOM_TRY(const std::int64_t region, request.integer("region", -1));
  FATHOM_TRY(const std::int64_t shortest, request.integer("from", 0));
  FATHOM_TRY(const std::int64_t longest, request.integer("to", std::numeric_limits<std::int64_t>::max()));
  FATHOM_TRY(const std::int64_t most, request.integer("most", 200));
  const auto& regions = timeline_.trace().definitions().regions;
  if (region < 0 || static_cast<std::size_t>(region) >= regions.size())
    return Error::usage("there is no such function");
  if (most < 0 || most > 10000) return Error::usage("at most 10,000 calls are listed");
  WindowOptions options;
  options.window = {window.from_ns, window.to_ns};
  if (!request.get("rows").empty()) {
    for (const std::uint32_t location : locations) options.locations.emplace_back(location);
  }
  const std::string& name = regions[static_cast<std::size_t>(region)].name;
  FATHOM_TRY(const Durations found,
             call_durations(timeline_.trace(), options, name, shortest, longest, static_cast<std::size_t>(most)));
  Output out;
  JsonWriter json(out);
  json.begin_object().member("name", std::string_view(demangle(name))).member("count", found.count);
  json.key("bins").begin_array();
  for (std::size_t i = 0; i < found.bins.size(); ++i) {
    if (found.bins[i].count == 0) continue;
    json.begin_object().member("from_ns", Durations::lower_ns(i)).member("to_ns", Durations::lower_ns(i + 1));
    json.member("count", found.bins[i].count).member("sum_ns", found.bins[i].sum_ns).end_object();
  }
  json.end_array().key("calls").begin_array();
  for (const WindowCall& call : found.calls) {
    json.begin_array().value(call.location.index()).value(call.begin_ns - made->begin_ns());
    json.value(call.length_ns).end_array();
  }
  json.end_array().end_object();
  return Answer::json(out.text());
}

}  // namespace fathom::serve
