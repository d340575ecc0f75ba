#include "trace/window_calls.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <queue>
#include <tuple>

#include "base/cancel.hpp"
#include "base/parallel.hpp"
#include "trace/summary/activity.hpp"
#include "trace/task_stacks.hpp"

namespace fathom {

namespace {

using summary::Contexts;
using summary::kNothing;
using summary::Step;
using summary::StepKind;

// A call that is over, or cut at the end of the window.
using CallSink = std::function<void(std::uint32_t region, std::int64_t begin, std::int64_t length)>;

struct OwnSums {
  std::int64_t own_ns = 0;
  std::uint64_t calls = 0;
};

// One location.
class Reader {
 public:
  Reader(const Trace& trace, const WindowOptions& options, CallSink sink)
      : trace_(trace), options_(options), sink_(std::move(sink)), activity_(trace, contexts_, options.channel) {}

  Result<void> read(LocationId location) {
    const TimeWindow& window = options_.window;
    FATHOM_TRY(const auto first, first_event(location));
    if (first && *first < window.from_ns) begun_ = window.from_ns;
    // Beyond the window: whether the location goes on behind it.
    FATHOM_TRY(auto stream, trace_.open(location, {window.from_ns, TimeWindow{}.to_ns}));
    EventCursor cursor(std::move(stream), 1024);
    std::uint64_t count = 0;
    bool beyond = false;
    while (const Event* event = cursor.next()) {
      if (++count % 65536 == 0 && cancelled()) return cancelled_error();
      if (event->carried) {
        take(*event);
        continue;
      }
      if (!event->has_time) continue;
      if (event->time_ns >= window.to_ns) {
        // It began before: what is in effect holds until the end. Otherwise it is not there yet.
        beyond = begun_.has_value();
        break;
      }
      if (!begun_) begun_ = std::max(event->time_ns, window.from_ns);
      advance(event->time_ns);
      take(*event);
    }
    FATHOM_CHECK(cursor.status());
    if (beyond) advance(window.to_ns);
    tasks_.each([&](auto& open) { close_to(open, 0); });
    return {};
  }

  [[nodiscard]] const Contexts& contexts() const { return contexts_; }
  [[nodiscard]] const std::vector<OwnSums>& sums() const { return sums_; }

 private:
  struct Open {
    std::uint32_t region;
    std::int64_t begin;
    bool counts;
  };

  Result<std::optional<std::int64_t>> first_event(LocationId location) const {
    if (options_.window.from_ns == TimeWindow{}.from_ns) return std::optional<std::int64_t>();
    if (const auto span = trace_.location_span(location)) return std::optional(span->from_ns);
    FATHOM_TRY(auto stream, trace_.open(location, {}));
    EventCursor cursor(std::move(stream), 16);
    std::optional<std::int64_t> time;
    while (const Event* event = cursor.next()) {
      if (!event->has_time) continue;
      time = event->time_ns;
      break;
    }
    FATHOM_CHECK(cursor.status());
    return time;
  }
  OwnSums& of(std::uint32_t context) {
    if (sums_.size() <= context) sums_.resize(contexts_.nodes().size());
    return sums_[context];
  }
  void advance(std::int64_t time) {
    const std::int64_t from = last_ ? *last_ : *begun_;
    if (time <= from) {
      last_ = from;
      return;
    }
    std::uint32_t context = activity_.current();
    if (context == kNothing && !options_.channel.valid()) context = idle();
    if (context != kNothing) of(context).own_ns += time - from;
    last_ = time;
  }
  // Before anything is known a location computes, as a profile has it.
  std::uint32_t idle() {
    if (sampled_) return kNothing;
    return contexts_.child(kNothing, {StepKind::compute, 0});
  }
  void take(const Event& event) {
    if (event.kind == EventKind::sample) sampled_ = true;
    const bool changed = activity_.take(event);
    const std::uint32_t now = activity_.current();
    if (options_.channel.valid()) {
      if (changed && !event.carried && now != kNothing) ++of(now).calls;
      return;
    }
    switch (event.kind) {
      case EventKind::enter:
        tasks_.open().push_back({event.name, event.time_ns, !event.carried});
        if (!event.carried && !event.resumed && now != kNothing) ++of(now).calls;
        return;
      case EventKind::leave: {
        auto& open = tasks_.open();
        std::size_t at = open.size();
        while (at > 0 && open[at - 1].region != event.name) --at;
        if (at > 0) close_to(open, at - 1);
        return;
      }
      case EventKind::marker:
        tasks_.take(trace_.meaning(event), event.value, [&](auto& open) { close_to(open, 0); });
        return;
      case EventKind::sample:
        if (!event.carried && now != kNothing) ++of(now).calls;
        return;
      default:
        return;
    }
  }
  void close_to(std::vector<Open>& stack, std::size_t size) {
    for (; stack.size() > size; stack.pop_back()) {
      const Open& open = stack.back();
      if (open.counts && sink_) sink_(open.region, open.begin, last_.value_or(open.begin) - open.begin);
    }
  }

  const Trace& trace_;
  const WindowOptions& options_;
  CallSink sink_;
  Contexts contexts_;
  summary::Activity activity_;
  std::vector<OwnSums> sums_;
  TaskStacks<Open> tasks_;
  std::optional<std::int64_t> begun_;
  std::optional<std::int64_t> last_;
  bool sampled_ = false;
};

std::string name_of(const Trace& trace, ChannelId channel, const Step& step) {
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

std::vector<LocationId> chosen(const Trace& trace, const WindowOptions& options) {
  if (!options.locations.empty()) return options.locations;
  std::vector<LocationId> all;
  for (std::size_t i = 0; i < trace.location_count(); ++i) all.emplace_back(i);
  return all;
}

}  // namespace

Result<std::vector<WindowCalls>> window_calls(const Trace& trace, const WindowOptions& options) {
  const auto locations = chosen(trace, options);
  const std::size_t regions = trace.definitions().regions.size();
  std::mutex mutex;
  std::map<std::pair<StepKind, std::int64_t>, WindowCalls> sums;
  const auto read = [&](std::size_t i) -> Result<void> {
    struct Lengths {
      std::uint64_t count = 0;
      std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
      std::int64_t longest = 0;
      std::int64_t sum = 0;
    };
    std::vector<Lengths> lengths(regions);
    Reader reader(trace, options, [&](std::uint32_t region, std::int64_t, std::int64_t length) {
      if (region >= lengths.size()) return;
      Lengths& of = lengths[region];
      ++of.count;
      of.shortest = std::min(of.shortest, length);
      of.longest = std::max(of.longest, length);
      of.sum += length;
    });
    FATHOM_CHECK(reader.read(locations[i]));
    const std::lock_guard lock(mutex);
    const auto nodes = reader.contexts().nodes();
    // One number per function. Of those around a context each counts once: what is in all of a context, from the
    // innermost ones up, goes to its function where none of that function is around it.
    std::vector<WindowCalls*> functions;
    std::vector<std::uint32_t> numbers;
    std::map<std::pair<StepKind, std::int64_t>, std::uint32_t> known;
    for (const auto& node : nodes) {
      const std::pair key(node.step.kind, node.step.id);
      const auto [place, fresh] = known.emplace(key, static_cast<std::uint32_t>(functions.size()));
      if (fresh) functions.push_back(nullptr);
      numbers.push_back(place->second);
    }
    const std::vector<bool> outermost = summary::outermost(nodes, numbers);
    std::vector<OwnSums> whole = reader.sums();
    whole.resize(nodes.size());
    for (std::size_t c = nodes.size(); c-- > 0;) {
      if (whole[c].own_ns == 0 && whole[c].calls == 0) continue;
      WindowCalls*& mine = functions[numbers[c]];
      if (mine == nullptr) mine = &sums[{nodes[c].step.kind, nodes[c].step.id}];
      if (c < reader.sums().size()) {
        mine->own_ns += reader.sums()[c].own_ns;
        mine->calls += reader.sums()[c].calls;
      }
      if (outermost[c]) mine->total_ns += whole[c].own_ns;
      if (nodes[c].parent == kNothing) continue;
      whole[nodes[c].parent].own_ns += whole[c].own_ns;
      whole[nodes[c].parent].calls += whole[c].calls;
    }
    for (std::size_t r = 0; r < regions; ++r) {
      if (lengths[r].count == 0) continue;
      WindowCalls& of = sums[{StepKind::region, static_cast<std::int64_t>(r)}];
      of.shortest_ns = of.timed == 0 ? lengths[r].shortest : std::min(of.shortest_ns, lengths[r].shortest);
      of.longest_ns = std::max(of.longest_ns, lengths[r].longest);
      of.sum_ns += lengths[r].sum;
      of.timed += lengths[r].count;
    }
    return {};
  };
  FATHOM_CHECK(parallel_for(locations.size(), read));
  // Regions of the same name are one to the user.
  std::vector<WindowCalls> out;
  std::map<std::string, std::size_t> places;
  for (auto& [key, one] : sums) {
    const auto& [kind, id] = key;
    one.name = name_of(trace, options.channel, {kind, id});
    if (kind == StepKind::region) one.region = RegionId(static_cast<std::size_t>(id));
    const auto [place, fresh] = places.emplace(one.name, out.size());
    if (fresh) {
      out.push_back(one);
      continue;
    }
    WindowCalls& all = out[place->second];
    all.calls += one.calls;
    all.own_ns += one.own_ns;
    all.total_ns += one.total_ns;
    if (one.timed > 0) {
      all.shortest_ns = all.timed == 0 ? one.shortest_ns : std::min(all.shortest_ns, one.shortest_ns);
      all.longest_ns = std::max(all.longest_ns, one.longest_ns);
      all.sum_ns += one.sum_ns;
      all.timed += one.timed;
    }
    if (!all.region.valid()) all.region = one.region;
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const WindowCalls& a, const WindowCalls& b) { return a.own_ns > b.own_ns; });
  return out;
}

Table window_table(const std::vector<WindowCalls>& calls) {
  TableBuilder table({"calls",
                      {{"call", ColumnType::text},
                       {"count", ColumnType::uint64, "occ"},
                       {"wall_s", ColumnType::seconds, "s"},
                       {"own_s", ColumnType::seconds, "s"},
                       {"mean_s", ColumnType::float64, "s"},
                       {"min_s", ColumnType::seconds, "s"},
                       {"max_s", ColumnType::seconds, "s"}}});
  for (const WindowCalls& call : calls) {
    const bool timed = call.timed > 0;
    table.row(
        call.name, call.calls, call.total_ns, call.own_ns,
        timed ? std::optional(static_cast<double>(call.sum_ns) / static_cast<double>(call.timed) * 1e-9) : std::nullopt,
        timed ? std::optional(call.shortest_ns) : std::nullopt, timed ? std::optional(call.longest_ns) : std::nullopt);
  }
  return std::move(table).finish();
}

double Durations::lower_ns(std::size_t bin) {
  return bin == 0 ? 0 : std::exp2(static_cast<double>(bin) / static_cast<double>(kPerOctave));
}

std::size_t Durations::bin_of(std::int64_t length_ns) {
  if (length_ns < 2) return 0;
  auto bin = static_cast<std::size_t>(std::log2(static_cast<double>(length_ns)) * kPerOctave);
  while (lower_ns(bin + 1) <= static_cast<double>(length_ns)) ++bin;
  while (bin > 0 && lower_ns(bin) > static_cast<double>(length_ns)) --bin;
  return bin;
}

Result<Durations> call_durations(const Trace& trace, const WindowOptions& options, std::string_view name,
                                 std::int64_t shortest_ns, std::int64_t longest_ns, std::size_t most) {
  const auto locations = chosen(trace, options);
  std::vector<std::uint8_t> wanted;
  for (const Region& region : trace.definitions().regions) wanted.push_back(region.name == name ? 1 : 0);
  Durations made;
  std::mutex mutex;
  const auto longer = [](const WindowCall& a, const WindowCall& b) {
    return std::tuple(-a.length_ns, a.begin_ns, a.location.index()) <
           std::tuple(-b.length_ns, b.begin_ns, b.location.index());
  };
  const auto read = [&](std::size_t i) -> Result<void> {
    Durations one;
    std::priority_queue<WindowCall, std::vector<WindowCall>, decltype(longer)> kept(longer);
    Reader reader(trace, options, [&](std::uint32_t region, std::int64_t begin, std::int64_t length) {
      if (region >= wanted.size() || wanted[region] == 0) return;
      const std::size_t bin = Durations::bin_of(length);
      if (one.bins.size() <= bin) one.bins.resize(bin + 1);
      ++one.bins[bin].count;
      one.bins[bin].sum_ns += length;
      ++one.count;
      if (length < shortest_ns || length > longest_ns) return;
      kept.push({locations[i], begin, length});
      if (kept.size() > most) kept.pop();
    });
    FATHOM_CHECK(reader.read(locations[i]));
    const std::lock_guard lock(mutex);
    made.count += one.count;
    if (made.bins.size() < one.bins.size()) made.bins.resize(one.bins.size());
    for (std::size_t b = 0; b < one.bins.size(); ++b) {
      made.bins[b].count += one.bins[b].count;
      made.bins[b].sum_ns += one.bins[b].sum_ns;
    }
    for (; !kept.empty(); kept.pop()) made.calls.push_back(kept.top());
    std::sort(made.calls.begin(), made.calls.end(), longer);
    if (made.calls.size() > most) made.calls.resize(most);
    return {};
  };
  FATHOM_CHECK(parallel_for(locations.size(), read));
  return made;
}

}  // namespace fathom
