// The two ends of messages: equal sender, receiver, communicator and tag match in the order of posting. Receives of any
// tag whose status is not known (a tag below 0) take part as in Trace::messages.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>

#include "base/parallel.hpp"
#include "trace/analysis/calls_parts.hpp"
#include "trace/analysis/reader_tables.hpp"
#include "trace/analysis/team_lists.hpp"
#include "trace/waiting_receives.hpp"

namespace fathom::analysis {

namespace {

// What a receiver needs to know of a send.
struct SendEnd {
  std::uint32_t location;
  std::uint32_t send;
  std::uint32_t process;  // that it goes to
  std::uint32_t issuing;
  Channel channel;  // peer = the sender's rank
  SendMode mode;
  bool by_send_receive;
  std::int64_t sent;
  std::int64_t bytes;
};

SendEnd end_of(const RunCalls& run, std::uint32_t location, std::uint32_t send, std::uint32_t to) {
  const LocationCalls& from = run.locations[location];
  const Send& half = from.sends[send];
  Channel channel = from.channels[half.receiver];
  channel.peer = from.rank;
  return {location, send, to, half.call, channel, half.mode, half.by_send_receive, half.posted, half.bytes};
}

std::uint64_t posting_record(const Receive& unmatched) { return static_cast<std::uint64_t>(unmatched.sent_bytes); }

// What the receiver tells the sender.
struct MatchedSend {
  std::uint32_t location;
  std::uint32_t send;
  std::uint32_t receiver;
  std::uint32_t completed;
  std::uint32_t posting;
  std::int64_t posted;
};

void set_receiver(RunCalls& run, const MatchedSend& matched) {
  Send& half = run.locations[matched.location].sends[matched.send];
  half.receiver = matched.receiver;
  half.completed = matched.completed;
  half.posting = matched.posting;
  half.posted = matched.posted;
}

// Messages from one rank with one communicator and tag, in the order in which they were sent: sends of a location, or
// ends where several threads sent them or another process of a team has read them.
struct Lane {
  std::uint32_t location = kNone;
  std::uint32_t next = kNone;
  const SendEnd* next_end = nullptr;
  const SendEnd* last_end = nullptr;

  bool take(const RunCalls& run, std::uint32_t process, SendEnd& out) {
    if (next != kNone) {
      const auto& sends = run.locations[location].sends;
      out = end_of(run, location, next, process);
      next = sends[next].posting;
      if (next != kNone) __builtin_prefetch(&sends[next]);
      return true;
    }
    if (next_end == last_end) return false;
    out = *next_end++;
    return true;
  }
};

struct ChannelHash {
  std::size_t operator()(const Channel& channel) const {
    const std::uint64_t ends = std::uint64_t{static_cast<std::uint32_t>(channel.peer)} << 32 | channel.communicator;
    return static_cast<std::size_t>(scattered(scattered(ends) + static_cast<std::uint32_t>(channel.tag)));
  }
};
using Lanes = std::unordered_map<Channel, Lane, ChannelHash>;

// Of ends that are sorted by channel and time.
void add_lanes(std::span<const SendEnd> ends, Lanes& lanes) {
  for (std::size_t begin = 0; begin < ends.size();) {
    std::size_t end = begin;
    while (end < ends.size() && ends[end].channel == ends[begin].channel) ++end;
    Lane& lane = lanes[ends[begin].channel];
    lane.next_end = ends.data() + begin;
    lane.last_end = ends.data() + end;
    begin = end;
  }
}
// Equal ones stay in the order of locations and sends.
void sort_ends(std::span<SendEnd> ends) {
  std::stable_sort(ends.begin(), ends.end(), [](const SendEnd& a, const SendEnd& b) {
    return std::tie(a.channel, a.sent) < std::tie(b.channel, b.sent);
  });
}

// All messages to one process.
template <class Found>
class Receiver {
 public:
  Receiver(RunCalls& run, std::uint32_t process, Lanes& lanes, const Found& found)
      : run_(run), process_(process), lanes_(lanes), found_(found) {}

  // Returns how many there are.
  std::uint64_t match() {
    const auto& locations = run_.processes[process_];
    find_any_tag(locations);
    if (!any_tag_.empty()) of_any_tag(locations);
    if (locations.size() == 1 && any_tag_.empty()) {
      in_order(locations[0]);
    } else {
      by_time(locations, [&](std::uint32_t location, std::uint32_t i) { return !takes_any_tag(location, i); });
    }
    return messages_;
  }

 private:
  void pair(Lane& lane, std::uint32_t location, std::uint32_t number) {
    SendEnd from;
    if (lane.take(run_, process_, from)) pair(from, location, number);
  }
  void pair(const SendEnd& from, std::uint32_t location, std::uint32_t number) {
    Receive& to = run_.locations[location].receives[number];
    to.sender = from.location;
    to.issuing = from.issuing;
    to.sent = from.sent;
    to.sent_bytes = from.bytes;
    to.mode = from.mode;
    to.by_send_receive = from.by_send_receive;
    ++messages_;
    found_(MatchedSend{from.location, from.send, location, to.call, to.posting, to.posted});
  }

  // Mostly receives of a channel are over in the order in which they were posted. Those of other channels are sorted.
  void in_order(std::uint32_t location) {
    const LocationCalls& here = run_.locations[location];
    std::vector<Lane*> lanes(here.channels.size());
    for (std::size_t c = 0; c < lanes.size(); ++c) {
      const auto lane = lanes_.find(here.channels[c]);
      if (lane != lanes_.end() && here.channel_uses[c].in_order) lanes[c] = &lane->second;
    }
    for (std::uint32_t i = 0; i < here.receives.size(); ++i) {
      if (Lane* lane = lanes[here.receives[i].channel]) pair(*lane, location, i);
    }
    const auto unsorted = [&](std::uint32_t, std::uint32_t i) {
      return !here.channel_uses[here.receives[i].channel].in_order;
    };
    if (!std::all_of(here.channel_uses.begin(), here.channel_uses.end(),
                     [](const ChannelUse& use) { return use.in_order; }))
      by_time(std::span(&location, 1), unsorted);
  }

  // A receive and when it was posted.
  struct Key {
    Channel channel;
    std::uint32_t location;
    std::uint32_t number;
    std::int64_t posted;
    std::uint64_t order;

    [[nodiscard]] std::pair<std::int64_t, std::uint64_t> when() const { return {posted, order}; }
  };
  template <class Wanted>
  [[nodiscard]] std::vector<Key> keys_of(std::span<const std::uint32_t> locations, const Wanted& wanted) const {
    std::vector<Key> keys;
    for (const std::uint32_t location : locations) {
      const LocationCalls& here = run_.locations[location];
      for (std::uint32_t i = 0; i < here.receives.size(); ++i) {
        if (!wanted(location, i)) continue;
        const Receive& half = here.receives[i];
        keys.push_back({here.channels[half.channel], location, i, half.posted, posting_record(half)});
      }
    }
    return keys;
  }

  // Senders from whom any tag is received in a communicator.
  using Pair = std::pair<std::int32_t, std::uint32_t>;
  static Pair pair_of(const Channel& channel) { return {channel.peer, channel.communicator}; }
  void find_any_tag(std::span<const std::uint32_t> locations) {
    for (const std::uint32_t location : locations) {
      const LocationCalls& here = run_.locations[location];
      for (const Channel& channel : here.channels) {
        if (channel.tag < 0) any_tag_.insert(pair_of(channel));
      }
    }
  }
  [[nodiscard]] bool takes_any_tag(std::uint32_t location, std::uint32_t number) const {
    const LocationCalls& here = run_.locations[location];
    return any_tag_.contains(pair_of(here.channels[here.receives[number].channel]));
  }

  void of_any_tag(std::span<const std::uint32_t> locations) {
    std::map<Pair, std::vector<SendEnd>> sends;
    for (auto& [channel, lane] : lanes_) {
      if (!any_tag_.contains(pair_of(channel))) continue;
      SendEnd end;
      while (lane.take(run_, process_, end)) sends[pair_of(channel)].push_back(end);
    }
    auto receives =
        keys_of(locations, [&](std::uint32_t location, std::uint32_t i) { return takes_any_tag(location, i); });
    std::stable_sort(receives.begin(), receives.end(), [](const Key& a, const Key& b) { return a.when() < b.when(); });
    std::map<Pair, WaitingReceives<Key>> waiting;
    for (const Key& key : receives) waiting[pair_of(key.channel)].post(key.channel.tag, key);
    for (auto& [pair, ends] : sends) {
      std::sort(ends.begin(), ends.end(), [](const SendEnd& a, const SendEnd& b) {
        return std::tie(a.sent, a.location, a.send) < std::tie(b.sent, b.location, b.send);
      });
      WaitingReceives<Key>& of_pair = waiting[pair];
      for (const SendEnd& end : ends) {
        if (const Key* key = of_pair.take(end.channel.tag)) this->pair(end, key->location, key->number);
      }
    }
  }

  template <class Wanted>
  void by_time(std::span<const std::uint32_t> locations, const Wanted& wanted) {
    std::vector<Key> keys = keys_of(locations, wanted);
    std::stable_sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
      return std::tie(a.channel, a.posted, a.order) < std::tie(b.channel, b.posted, b.order);
    });
    Lane* lane = nullptr;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i == 0 || keys[i].channel != keys[i - 1].channel) {
        const auto found = lanes_.find(keys[i].channel);
        lane = found == lanes_.end() ? nullptr : &found->second;
      }
      if (lane != nullptr) pair(*lane, keys[i].location, keys[i].number);
    }
  }

  RunCalls& run_;
  std::uint32_t process_;
  Lanes& lanes_;
  const Found& found_;
  std::set<Pair> any_tag_;
  std::uint64_t messages_ = 0;
};

// A channel in which a location sends.
struct Outgoing {
  std::uint32_t location;
  std::uint32_t channel;
};

// Where everything is in one process.
Result<void> match_here(RunCalls& run) {
  std::vector<std::vector<Outgoing>> incoming(run.processes.size());
  for (std::uint32_t l = 0; l < run.locations.size(); ++l) {
    const auto& channels = run.locations[l].channels;
    for (std::uint32_t c = 0; c < channels.size(); ++c) {
      if (run.locations[l].channel_uses[c].first_send == kNone) continue;
      const std::uint32_t to = run.process_of_rank(channels[c].peer);
      if (to != kNone) incoming[to].push_back({l, c});
    }
  }
  std::vector<std::uint64_t> counts(run.processes.size());
  FATHOM_CHECK(parallel_for(run.processes.size(), [&](std::size_t i) -> Result<void> {
    const auto process = static_cast<std::uint32_t>(i);
    Lanes lanes;
    std::vector<SendEnd> ends;  // of senders with several threads
    for (const Outgoing& out : incoming[i]) {
      const LocationCalls& from = run.locations[out.location];
      const std::uint32_t first = from.channel_uses[out.channel].first_send;
      if (run.processes[from.process].size() > 1 || run.process_of_rank(from.rank) != from.process) {
        for (std::uint32_t send = first; send != kNone; send = from.sends[send].posting) {
          ends.push_back(end_of(run, out.location, send, process));
        }
        continue;
      }
      Channel channel = from.channels[out.channel];
      channel.peer = from.rank;
      lanes[channel] = Lane{out.location, first};
    }
    sort_ends(ends);
    add_lanes(ends, lanes);
    // Written by this task alone: a send has one receiver.
    const auto found = [&](const MatchedSend& matched) { set_receiver(run, matched); };
    counts[i] = Receiver(run, process, lanes, found).match();
    return {};
  }));
  run.messages = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  return {};
}

}  // namespace

Result<void> match_together(const Share& share, const std::vector<unsigned>& owner, RunCalls& run) {
  std::int64_t sends = 0;
  for (const std::size_t process : share.mine()) {
    for (const std::uint32_t l : run.processes[process])
      sends += static_cast<std::int64_t>(run.locations[l].sends.size());
  }
  FATHOM_TRY(const auto all, team().sum({sends}));
  // Receivers take turns, so that what is under way stays small.
  constexpr std::uint64_t kMostUnderWay = std::uint64_t{64} << 20;
  const std::uint64_t each = static_cast<std::uint64_t>(all[0]) * sizeof(SendEnd) / team().size();
  const std::size_t rounds = std::min<std::uint64_t>(each / kMostUnderWay + 1, run.processes.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    Lists<SendEnd> to(team().size());
    for (const std::size_t process : share.mine()) {
      for (const std::uint32_t l : run.processes[process]) {
        for (std::uint32_t i = 0; i < run.locations[l].sends.size(); ++i) {
          const LocationCalls& here = run.locations[l];
          if (here.sends[i].matched()) continue;
          const std::uint32_t target = run.process_of_rank(here.channels[here.sends[i].receiver].peer);
          if (target != kNone && target % rounds == round) to[owner[target]].push_back(end_of(run, l, i, target));
        }
      }
    }
    FATHOM_TRY(const auto arrived, exchange_lists(std::move(to)));
    std::vector<SendEnd> ends;
    for (const auto& list : arrived) ends.insert(ends.end(), list.begin(), list.end());
    // As one process goes over them.
    std::sort(ends.begin(), ends.end(), [](const SendEnd& a, const SendEnd& b) {
      return std::tie(a.process, a.location, a.send) < std::tie(b.process, b.location, b.send);
    });
    Lists<MatchedSend> back(team().size());
    for (std::size_t begin = 0; begin < ends.size();) {
      std::size_t end = begin;
      while (end < ends.size() && ends[end].process == ends[begin].process) ++end;
      Lanes lanes;
      const std::span<SendEnd> mine(ends.data() + begin, end - begin);
      sort_ends(mine);
      add_lanes(mine, lanes);
      const auto found = [&](const MatchedSend& matched) {
        back[owner[run.locations[matched.location].process]].push_back(matched);
      };
      (void)Receiver(run, ends[begin].process, lanes, found).match();
      begin = end;
    }
    FATHOM_TRY(const auto answers, exchange_lists(std::move(back)));
    for (const auto& list : answers) {
      for (const MatchedSend& matched : list) set_receiver(run, matched);
    }
  }
  run.matched = true;
  return {};
}

Result<void> match_messages(RunCalls& run) {
  if (run.matched) {
    // Processes of a team have read the calls together: the ends of messages know each other.
    run.messages = 0;
    for (const LocationCalls& here : run.locations) {
      for (const Receive& half : here.receives) run.messages += half.matched() ? 1 : 0;
    }
  } else {
    FATHOM_CHECK(match_here(run));
  }
  run.matched = true;
  for (LocationCalls& here : run.locations) here.channel_uses = {};
  return {};
}

// A send that was over before its receive was posted did not wait for it: messages of its size leave at once.
Result<void> find_eager_limit(RunCalls& run) {
  std::vector<std::int64_t> limits(run.locations.size(), 1024);
  (void)parallel_for(run.locations.size(), [&](std::size_t l) -> Result<void> {
    const LocationCalls& here = run.locations[l];
    for (const SendDone& done : here.sends_done) {
      const Send& half = run.locations[done.location].sends[done.send];
      if (half.mode != SendMode::standard || half.bytes <= limits[l] || !half.matched()) continue;
      if (here.calls[done.call].exit < half.posted) limits[l] = half.bytes;
    }
    return {};
  });
  run.eager_limit = *std::max_element(limits.begin(), limits.end());
  if (!run.apart()) return {};
  FATHOM_TRY(const auto of_all, lists_of_all(std::vector{run.eager_limit}));
  run.eager_limit = *std::max_element(of_all.begin(), of_all.end());
  return {};
}

std::size_t RunCalls::present() const {
  const auto here = std::count_if(locations.begin(), locations.end(),
                                  [](const LocationCalls& location) { return !location.calls.empty(); });
  return static_cast<std::size_t>(here) + present_elsewhere;
}

namespace {

// From when to when a process of the trace makes calls.
struct ProcessSpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool finalized = false;
  bool cut = false;
};

std::vector<ProcessSpan> spans_here(const RunCalls& run) {
  std::vector<ProcessSpan> spans;
  for (const auto& process : run.processes) {
    ProcessSpan span{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
    bool any = false;
    for (const std::uint32_t l : process) {
      const LocationCalls& here = run.locations[l];
      if (here.calls.empty()) continue;
      any = true;
      const Call& last = here.calls.back();
      span.begin = std::min(span.begin, here.calls[0].entry);
      span.end = std::max(span.end, last.exit);
      span.cut = span.cut || here.cut || last.has(Call::kUnfinished);
      span.finalized = span.finalized || (last.kind == CallKind::finalize && !last.has(Call::kUnfinished));
    }
    if (any) spans.push_back(span);
  }
  return spans;
}

}  // namespace

Result<void> set_time_base(RunCalls& run) {
  std::vector<ProcessSpan> spans = spans_here(run);
  if (run.apart()) {
    FATHOM_TRY(spans, lists_of_all(spans));
  }
  const bool any_finalized =
      std::any_of(spans.begin(), spans.end(), [](const ProcessSpan& span) { return span.finalized; });
  run.cut = false;
  if (spans.empty()) return {};
  run.t0 = spans[0].begin;
  run.t1 = spans[0].end;
  std::int64_t earliest_end = spans[0].end;
  for (const ProcessSpan& span : spans) {
    run.t0 = std::min(run.t0, span.begin);
    run.t1 = std::max(run.t1, span.end);
    earliest_end = std::min(earliest_end, span.end);
    // Whoever did not come to Finalize while others did was killed, or its end is lost.
    run.cut = run.cut || span.cut || (any_finalized && !span.finalized);
  }
  if (run.cut) run.t1 = earliest_end;
  return {};
}

}  // namespace fathom::analysis
