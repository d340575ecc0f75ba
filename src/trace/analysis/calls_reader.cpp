// Events to calls: one task per process, whose threads are read together because they share requests.
#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/share_out.hpp"
#include "trace/analysis/calls.hpp"
#include "trace/analysis/calls_parts.hpp"
#include "trace/analysis/loops.hpp"
#include "trace/analysis/reader_tables.hpp"
#include "trace/extent.hpp"
#include "trace/merge.hpp"

namespace fathom::analysis {

namespace {

// Reads the locations of one process.
class ProcessReader {
 public:
  ProcessReader(const Trace& trace, const Names& names, RunCalls& run, std::uint32_t process, PartsByGroup& parts,
                PathTable& paths, ReaderArrays& arrays)
      : trace_(trace), names_(names), run_(run), parts_(parts), arrays_(arrays) {
    for (const std::uint32_t location : run.processes[process]) {
      at_[run.locations[location].id] = states_.size();
      State state(paths);
      state.location = location;
      state.tokens = arrays.tokens.take();
      LocationCalls& here = run.locations[location];
      here.calls = arrays.calls.take();
      here.sends = arrays.sends.take();
      here.receives = arrays.receives.take();
      here.sends_done = arrays.sends_done.take();
      here.parts = arrays.parts.take();
      states_.push_back(std::move(state));
    }
  }

  Result<void> read() {
    if (states_.size() == 1) {
      FATHOM_TRY(auto stream, trace_.open(run_.locations[states_[0].location].id, {}));
      EventCursor cursor(std::move(stream));
      while (const Event* event = cursor.next()) take(states_[0], *event);
      FATHOM_CHECK(cursor.status());
    } else {
      std::vector<LocationId> ids;
      for (const State& state : states_) ids.push_back(run_.locations[state.location].id);
      FATHOM_TRY(auto events, MergedEvents::over(trace_, ids));
      while (const Event* event = events.next()) take(states_[at_.at(event->location)], *event);
      FATHOM_CHECK(events.status());
    }
    for (State& state : states_) finish(state);
    return {};
  }

 private:
  struct State {
    explicit State(PathTable& table) : paths(table) {}
    ComputePaths paths;
    ChannelNumbers channels;
    bool has_regions = false;  // of the program itself
    std::uint32_t location = 0;
    std::uint32_t depth = 0;  // of calls inside calls
    bool untimed = false;     // the call around has no time
    bool has_part = false;
    CommunicatorId communicator;  // that the call names
    std::uint64_t record = 0;     // of the call
    std::uint32_t token = 0;
    std::int64_t inside = 0;  // time in calls that are over
    LargeArray<std::uint32_t> tokens;
    struct Reading {
      bool known = false;
      std::int64_t time = 0;
      std::int64_t value = 0;
    };
    std::array<Reading, 2> readings;
  };

  static std::uint32_t mixed(std::uint32_t token, std::uint64_t with) {
    const std::uint64_t h = (token ^ (with + 0x9E3779B97F4A7C15U)) * 0xBF58476D1CE4E5B9U;
    return static_cast<std::uint32_t>(h >> 31);
  }

  void take(State& state, const Event& event) {
    LocationCalls& here = run_.locations[state.location];
    switch (event.kind) {
      case EventKind::enter:
        enter(state, here, event);
        break;
      case EventKind::leave:
        leave(state, here, event);
        break;
      case EventKind::send:
        send(state, here, event);
        break;
      case EventKind::recv:
        receive(state, here, event);
        break;
      case EventKind::complete:
        complete(state, here, event);
        break;
      case EventKind::collective:
        collective(state, here, event);
        break;
      case EventKind::counter:
        counter(state, here, event);
        break;
      case EventKind::marker:
        if (event.has_time) here.markers.emplace_back(event.time_ns, event.name);
        window(state, here, event);
        break;
      default:
        break;
    }
  }

  [[nodiscard]] std::uint16_t name_of(const Event& event) const {
    return event.name < names_.of_region.size() ? names_.of_region[event.name] : kNoName;
  }
  [[nodiscard]] static bool inside(const State& state) { return state.depth > 0 && !state.untimed; }
  [[nodiscard]] static std::uint32_t current(const LocationCalls& here) {
    return static_cast<std::uint32_t>(here.calls.size() - 1);
  }

  void enter(State& state, LocationCalls& here, const Event& event) {
    const std::uint16_t name = name_of(event);
    if (name == kNoName) {
      if (!event.has_time || state.depth > 0) return;
      // Nothing is to be followed before the first of them.
      if (!state.has_regions && !here.calls.empty()) state.paths.resume(event.time_ns);
      state.has_regions = true;
      state.paths.enter(event.name, event.time_ns);
      return;
    }
    if (state.depth++ > 0) return;
    if (state.has_regions) state.paths.pause(event.time_ns);
    state.untimed = !event.has_time || here.calls.size() >= Send::kMostCalls;
    if (state.untimed) {
      ++here.untimed;
      return;
    }
    Call call;
    // Streams are in order; where a file is not, the call begins where the last one ended.
    call.entry = here.calls.empty() ? event.time_ns : std::max(event.time_ns, here.calls.back().exit);
    call.exit = call.entry;
    call.name = name;
    call.kind = names_.names[name].facts.kind;
    call.flags = Call::kUnfinished;
    if (event.peer == kUnknownPeer) {
      call.flags |= Call::kAnySource;
      if (call.kind == CallKind::begin_receive) any_source_.insert(event.record);
    }
    if (call.kind == CallKind::fence && event.tag != 0) call.flags |= Call::kNoWait;
    if (is_window_sync(call.kind) && event.communicator.valid()) {
      WindowCall window{static_cast<std::uint32_t>(here.calls.size()), event.communicator.value, event.tag};
      window.target = event.peer;
      if (call.kind == CallKind::window_lock) {
        window.exclusive = event.origin != 0;
      } else if (event.origin < kNone) {
        window.group = static_cast<std::uint32_t>(event.origin);
      }
      here.window_calls.push_back(window);
    }
    const SendMode mode = names_.names[name].facts.mode;
    if (call.kind == CallKind::other && mode != SendMode::standard) made_[event.record] = mode;
    if (state.has_regions) state.paths.end_gap(static_cast<std::uint32_t>(here.calls.size()), here.path_times);
    if (here.calls.empty()) here.first_path = state.paths.top();
    if (here.calls.size() % LocationCalls::kInsideStep == 0) here.inside.push_back(state.inside);
    here.calls.push_back(call);
    state.communicator = event.communicator;
    state.record = event.record;
    state.has_part = false;
    state.token = mixed(0, name);
  }

  void leave(State& state, LocationCalls& here, const Event& event) {
    if (name_of(event) == kNoName) {
      if (event.has_time && state.depth == 0) state.paths.leave(event.name, event.time_ns);
      return;
    }
    if (state.depth == 0 || --state.depth > 0 || state.untimed) return;
    if (state.has_regions) state.paths.resume(event.time_ns);
    Call& call = here.calls.back();
    if (event.has_time) call.exit = std::max(call.entry, event.time_ns);
    call.flags &= static_cast<std::uint8_t>(~Call::kUnfinished);
    state.inside += call.exit - call.entry;
    if (call.kind == CallKind::probe && event.peer >= 0) {
      here.probed.push_back({current(here), event.peer, event.tag});
    }
    if (call.kind == CallKind::finalize) {
      add_part(state, here, whole_run(), kNoPeer);
    } else if (call.kind == CallKind::init) {
      add_part(state, here, whole_run() + 1, kNoPeer);
    } else if (!state.has_part && state.communicator.valid() && is_collective(call.kind)) {
      add_part(state, here, state.communicator.value, kNoPeer);
    }
    state.tokens.push_back(state.token);
  }

  // Behind the communicators: everybody, in Finalize; one more for Init.
  [[nodiscard]] std::uint32_t whole_run() const { return static_cast<std::uint32_t>(trace_.communicators().size()); }

  void send(State& state, LocationCalls& here, const Event& event) {
    if (!inside(state)) return;
    Call& call = here.calls.back();
    call.flags |= Call::kSends;
    state.token = mixed(state.token, static_cast<std::uint64_t>(event.bytes) * 2 + 1);
    if (event.peer < 0) return;
    Send half;
    half.bytes = event.bytes;
    half.posted = call.entry;
    half.call = current(here) & Send::kMostCalls;
    half.receiver = state.channels.of({event.peer, event.communicator.value, event.tag}, here.channels);
    half.by_send_receive = call.kind == CallKind::send_receive;
    half.mode = names_.names[call.name].facts.mode;
    if (!made_.empty()) {
      if (const auto made = made_.find(event.origin); made != made_.end()) half.mode = made->second;
    }
    const auto number = static_cast<std::uint32_t>(here.sends.size());
    here.sends.push_back(half);
    if (half.receiver == kNone || here.sends.size() == number) return;  // no room for it, as the pool knows
    ChannelUse& use = use_of(here, half.receiver);
    (use.first_send == kNone ? use.first_send : here.sends[use.last_send].posting) = number;
    use.last_send = number;
    if (call.kind == CallKind::send || call.kind == CallKind::send_receive) {
      here.sends_done.push_back({half.call, state.location, number});
    } else {
      open_.add({event.record, state.location, number});
    }
  }
  static ChannelUse& use_of(LocationCalls& here, std::uint32_t channel) {
    if (channel >= here.channel_uses.size()) here.channel_uses.resize(channel + std::size_t{1});
    return here.channel_uses[channel];
  }

  // Mostly every record is a call, so that the number of the one that posted a receive tells which.
  static std::uint32_t posting_call(const State& state, const LocationCalls& here, std::int64_t posted,
                                    std::uint64_t record) {
    const auto& calls = here.calls;
    const std::uint64_t guess = calls.size() - 1 - (state.record - record);
    if (guess < calls.size() && calls[guess].entry == posted && (guess == 0 || calls[guess - 1].entry < posted)) {
      return static_cast<std::uint32_t>(guess);
    }
    return here.entered_lately(posted);
  }

  void receive(State& state, LocationCalls& here, const Event& event) {
    if (!inside(state)) return;
    Receive half;
    half.posted = event.has_value ? event.value : here.calls.back().entry;
    half.bytes = static_cast<std::uint32_t>(std::clamp<std::int64_t>(event.bytes, 0, Receive::kMostBytes)) &
                 static_cast<std::uint32_t>(Receive::kMostBytes);
    half.call = current(here);
    half.any_source = here.calls.back().has(Call::kAnySource);
    if (!any_source_.empty() && event.origin != Event::kNoRecord) {
      half.any_source = any_source_.erase(event.origin) > 0 || half.any_source;
    }
    if (event.peer < 0) return;
    half.channel = state.channels.of({event.peer, event.communicator.value, event.tag}, here.channels);
    if (half.channel == kNone) return;  // no room for it, as the pool knows
    const std::uint64_t record = event.origin != Event::kNoRecord ? event.origin : event.record;
    half.posting = posting_call(state, here, half.posted, record);
    half.sent_bytes = static_cast<std::int64_t>(record);
    here.receives.push_back(half);
    ChannelUse& use = use_of(here, half.channel);
    if (std::tie(half.posted, record) < std::tie(use.posted, use.record)) use.in_order = false;
    use.posted = half.posted;
    use.record = record;
  }

  void complete(State& state, LocationCalls& here, const Event& event) {
    // Operations of one record are over in the order in which they were begun.
    OpenSends::Item begun{};
    if (!open_.take(event.origin, begun) || !inside(state)) return;
    here.sends_done.push_back({current(here), begun.location, begun.send});
  }

  void collective(State& state, LocationCalls& here, const Event& event) {
    if (!inside(state)) return;
    state.has_part = true;
    const Call& call = here.calls.back();
    state.token = mixed(mixed(state.token, event.communicator.value), static_cast<std::uint64_t>(event.bytes));
    if (!event.communicator.valid()) return;
    if (call.kind != CallKind::init && call.kind != CallKind::finalize) {
      add_part(state, here, event.communicator.value, event.peer, std::max(event.bytes, event.value));
    }
    if (names_.names[call.name].facts.counts) {
      here.counts += trace_.communicators()[event.communicator.index()].ranks.size();
      here.zero_counts += static_cast<std::uint64_t>(std::max(event.tag, 0));
    }
  }

  // What was counted between two calls. A reading at an entry may come before or behind it.
  void counter(State& state, LocationCalls& here, const Event& event) {
    if (event.name >= names_.counters.size() || names_.counters[event.name] < 0 || !event.has_time) return;
    const bool instructions = names_.counters[event.name] == 0;
    State::Reading& last = state.readings[instructions ? 0 : 1];
    std::size_t before = here.calls.size();
    const bool at_entry = inside(state) && here.calls.back().entry == event.time_ns;
    if (at_entry) --before;
    if (last.known && before > 0 && (at_entry || state.depth == 0) && last.time >= here.calls[before - 1].exit) {
      const bool is_double = trace_.definitions().metrics[event.name].type.is_double();
      const double counted = is_double ? std::bit_cast<double>(event.value) - std::bit_cast<double>(last.value)
                                       : static_cast<double>(event.value - last.value);
      (instructions ? here.instructions : here.cycles) += std::max(0.0, counted);
    }
    last = {true, event.time_ns, event.value};
  }

  // Where the events inside of the call say which window it is about.
  void window(State& state, LocationCalls& here, const Event& event) {
    if (!inside(state) || !event.communicator.valid()) return;
    const CallKind kind = here.calls.back().kind;
    if (!is_window_sync(kind)) return;
    if (!here.window_calls.empty() && here.window_calls.back().call == current(here)) return;
    WindowCall window{current(here), event.communicator.value, event.value};
    if (kind == CallKind::window_lock || kind == CallKind::window_unlock) {
      const MarkerMeaning meaning = trace_.meaning(event);
      if (meaning != (kind == CallKind::window_lock ? MarkerMeaning::lock : MarkerMeaning::unlock)) return;
      if (event.peer < 0) return;
      window.target = event.peer;
    } else if (event.origin < trace_.communicators().size()) {
      window.group = static_cast<std::uint32_t>(event.origin);
    } else if (kind == CallKind::window_post || kind == CallKind::window_start) {
      return;
    }
    here.window_calls.push_back(window);
  }

  void add_part(State& state, LocationCalls& here, std::uint32_t group, std::int32_t root, std::int64_t bytes = 0) {
    const auto& communicators = trace_.communicators();
    if (group < communicators.size() &&
        (communicators[group].ranks.empty() || !communicators[group].remote_ranks.empty())) {
      return;
    }
    auto& list = parts_[group];
    here.parts.push_back({current(here), group, static_cast<std::uint32_t>(list.size()), root, bytes});
    list.push_back({state.location, current(here)});
  }

  void finish(State& state) {
    LocationCalls& here = run_.locations[state.location];
    if (state.tokens.size() == here.calls.size()) find_loop(here, state.tokens);
    arrays_.tokens.give_back(std::move(state.tokens));
    here.calls = arrays_.calls.settled(std::move(here.calls));
    here.sends = arrays_.sends.settled(std::move(here.sends));
    here.receives = arrays_.receives.settled(std::move(here.receives));
    here.sends_done = arrays_.sends_done.settled(std::move(here.sends_done));
    here.parts = arrays_.parts.settled(std::move(here.parts));
  }

  // Turns are counted by what ends them: the last collective of everybody, or the last call that completes something.
  void find_loop(LocationCalls& here, const LargeArray<std::uint32_t>& all) const {
    std::size_t from = 0;
    std::size_t to = here.calls.size();
    while (from < to && !communicates(here.calls[from].kind)) ++from;
    while (to > from && here.calls[to - 1].kind == CallKind::finalize) --to;
    const std::span<const std::uint32_t> tokens(all.data() + from, to - from);
    here.loop.period = find_period(tokens);
    if (here.loop.period == 0) return;
    const auto turn = first_turn(tokens, here.loop.period);
    if (!turn) return;
    std::set<std::uint32_t> everybody;  // calls of the turn that are collectives of the whole run
    const auto first = static_cast<std::uint32_t>(from + *turn);
    const auto* part = std::lower_bound(here.parts.begin(), here.parts.end(), first,
                                        [](const Part& p, std::uint32_t call) { return p.call < call; });
    for (; part != here.parts.end() && part->call < first + here.loop.period; ++part) {
      const bool whole = part->group < trace_.communicators().size() &&
                         trace_.communicators()[part->group].ranks.size() >= run_.processes.size();
      const CallKind kind = here.calls[part->call].kind;
      if (whole && (kind == CallKind::n_to_n || kind == CallKind::barrier)) everybody.insert(part->call - first);
    }
    const auto anchors = [&](const auto& is_anchor) {
      std::vector<std::uint32_t> out;
      std::size_t at = here.loop.period;
      while (at > 0 && !is_anchor(static_cast<std::uint32_t>(at - 1))) --at;
      if (at == 0) return out;
      const std::uint32_t token = tokens[*turn + at - 1];
      std::size_t per_turn = 0;
      for (std::size_t i = 0; i < here.loop.period; ++i) per_turn += tokens[*turn + i] == token ? 1 : 0;
      std::size_t seen = 0;
      for (std::size_t i = *turn; i < tokens.size(); ++i) {
        if (tokens[i] == token && ++seen % per_turn == 0) out.push_back(static_cast<std::uint32_t>(from + i));
      }
      return out;
    };
    here.loop.collective_anchors = anchors([&](std::uint32_t offset) { return everybody.count(offset) > 0; });
    here.loop.completion_anchors = anchors([&](std::uint32_t offset) {
      const CallKind kind = here.calls[first + offset].kind;
      return is_wait(kind) || kind == CallKind::receive || kind == CallKind::send_receive;
    });
  }
  static bool communicates(CallKind kind) {
    return kind != CallKind::other && kind != CallKind::init && kind != CallKind::finalize &&
           kind != CallKind::make_communicator && kind != CallKind::make_window && !is_io(kind);
  }

  const Trace& trace_;
  const Names& names_;
  RunCalls& run_;
  PartsByGroup& parts_;
  ReaderArrays& arrays_;
  std::map<LocationId, std::size_t> at_;
  std::vector<State> states_;
  OpenSends open_;  // nonblocking sends by the record that began them
  std::unordered_map<std::uint64_t, SendMode>
      made_;  // persistent sends that are not standard, by the record that made them
  std::unordered_set<std::uint64_t> any_source_;  // receives from anybody that are under way
};

}  // namespace

Result<RunCalls> read_calls(const Trace& trace, const Work& work, Kept kept) {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
  const std::uint64_t limit = work != nullptr ? work->budget.limit() : Budget::default_limit();
  const std::uint64_t used = work != nullptr ? std::min(work->budget.used(), limit) : 0;
  RunCalls run(std::max(kLeast, (limit - used) / 4 * 3));
  run.trace = &trace;
  lay_out(trace, run);
  Names names = call_names(trace.definitions());
  std::vector<PartsByGroup> parts(run.processes.size());
  const auto weight = [&](std::size_t i) {
    std::uint64_t sum = 0;
    for (const std::uint32_t location : run.processes[i]) sum += extent(trace, run.locations[location].id);
    return sum;
  };
  std::vector<PathTable> paths(run.processes.size());
  ReaderArrays arrays(*run.pool);
  FATHOM_TRY(Share share, Share::of("reading calls", run.processes.size(), weight));
  FATHOM_CHECK(share.each([&](std::size_t i) {
    return ProcessReader(trace, names, run, static_cast<std::uint32_t>(i), parts[i], paths[i], arrays).read();
  }));
  FATHOM_CHECK(run.pool->status());
  if (!share.alone()) {
    std::vector<std::uint64_t> weights(run.processes.size());
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = weight(i);
    std::vector<unsigned> owner = deal(weights, team().size());
    FATHOM_CHECK(match_together(share, owner, run));
    FATHOM_CHECK(kept == Kept::apart ? keep_apart(share, std::move(owner), run)
                                     : bring_to_first(share, run, parts, paths));
  }
  join_paths(run, paths);
  run.names = std::move(names.names);
  make_groups(trace, run, parts);
  std::uint64_t untimed = 0;
  for (const LocationCalls& here : run.locations) untimed += here.untimed;
  if (run.apart()) {
    FATHOM_TRY(const auto all, team().sum({static_cast<std::int64_t>(untimed)}));
    untimed = static_cast<std::uint64_t>(all[0]);
  }
  if (untimed > 0 && work != nullptr) {
    FATHOM_CHECK(work->diagnostics.add("analysis.untimed_call", Severity::warning, Place{},
                                       "a call without a time takes no part in the analysis", untimed));
  }
  return run;
}

}  // namespace fathom::analysis
