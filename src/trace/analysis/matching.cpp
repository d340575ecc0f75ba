// The two ends of messages: equal sender, receiver, communicator and tag match in the order of posting.
#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "base/parallel.hpp"
#include "trace/analysis/calls_parts.hpp"

namespace fathom::analysis {

namespace {

// What a sender knows of a message.
struct SendEnd {
  std::uint32_t location;
  std::uint32_t send;
  std::uint32_t process;  // that it goes to
  std::int32_t from;      // rank
  std::uint32_t communicator;
  std::int32_t tag;
  std::int64_t posted;
};

SendEnd end_of(const RunCalls& run, std::uint32_t location, std::uint32_t send, std::uint32_t to) {
  const LocationCalls& from = run.locations[location];
  const Send& half = from.sends[send];
  return {location, send, to, from.rank, half.communicator, half.tag, from.calls[half.call].entry};
}

struct Key {
  std::int32_t peer;  // the sender's rank
  std::uint32_t communicator;
  std::int32_t tag;
  std::uint32_t number;  // in the list
  std::int64_t posted;
  std::uint64_t order;

  [[nodiscard]] auto channel() const { return std::tie(peer, communicator, tag); }
  friend bool operator<(const Key& a, const Key& b) {
    if (a.channel() != b.channel()) return a.channel() < b.channel();
    return std::tie(a.posted, a.order, a.number) < std::tie(b.posted, b.order, b.number);
  }
};

// All messages to one process; found(send's number among the incoming ones, receiver's location, receive).
template <class Found>
void match_receiver(RunCalls& run, std::uint32_t process, std::size_t incoming,
                    const std::function<SendEnd(std::size_t)>& end, const Found& found) {
  std::vector<Key> sends;
  sends.reserve(incoming);
  for (std::size_t i = 0; i < incoming; ++i) {
    const SendEnd one = end(i);
    sends.push_back({one.from, one.communicator, one.tag, static_cast<std::uint32_t>(i), one.posted, 0});
  }
  std::sort(sends.begin(), sends.end());
  std::vector<Key> receives;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
  for (const std::uint32_t location : run.processes[process]) {
    const LocationCalls& here = run.locations[location];
    for (std::uint32_t i = 0; i < here.receives.size(); ++i) {
      const Receive& half = here.receives[i];
      receives.push_back(
          {half.from, half.communicator, half.tag, static_cast<std::uint32_t>(places.size()), half.posted, half.order});
      places.emplace_back(location, i);
    }
  }
  std::sort(receives.begin(), receives.end());
  auto send = sends.begin();
  auto receive = receives.begin();
  while (send != sends.end() && receive != receives.end()) {
    if (send->channel() < receive->channel()) {
      ++send;
    } else if (receive->channel() < send->channel()) {
      ++receive;
    } else {
      const SendEnd from = end(send->number);
      const auto [location, number] = places[receive->number];
      Receive& to = run.locations[location].receives[number];
      to.sender = from.location;
      to.send = from.send;
      found(from, location, number);
      ++send;
      ++receive;
    }
  }
}

// What the receiver tells the sender.
struct MatchedSend {
  std::uint32_t location;
  std::uint32_t send;
  std::uint32_t receiver;
  std::uint32_t receive;
};

void set_receiver(RunCalls& run, const MatchedSend& matched) {
  Send& half = run.locations[matched.location].sends[matched.send];
  half.receiver = matched.receiver;
  half.receive = matched.receive;
}

struct SendPlace {
  std::uint32_t location;
  std::uint32_t send;
};

// Where everything is in one process.
Result<void> match_here(RunCalls& run) {
  std::vector<std::uint64_t> first(run.processes.size() + 1, 0);
  const auto each_send = [&](const auto& body) {
    for (std::uint32_t l = 0; l < run.locations.size(); ++l) {
      const auto& sends = run.locations[l].sends;
      for (std::uint32_t i = 0; i < sends.size(); ++i) {
        const std::uint32_t to = run.process_of_rank(sends[i].to);
        if (to != kNone) body(to, SendPlace{l, i});
      }
    }
  };
  each_send([&](std::uint32_t to, SendPlace) { ++first[to + 1]; });
  std::partial_sum(first.begin(), first.end(), first.begin());
  LargeArray<SendPlace> incoming(*run.pool);
  incoming.resize(first.back());
  FATHOM_CHECK(run.pool->status());
  std::vector<std::uint64_t> next(first.begin(), first.end() - 1);
  each_send([&](std::uint32_t to, SendPlace place) { incoming[next[to]++] = place; });
  FATHOM_CHECK(parallel_for(run.processes.size(), [&](std::size_t i) -> Result<void> {
    const auto process = static_cast<std::uint32_t>(i);
    const SendPlace* places = incoming.data() + first[i];
    // Written by this task alone: a send has one receiver.
    match_receiver(
        run, process, first[i + 1] - first[i],
        [&](std::size_t n) { return end_of(run, places[n].location, places[n].send, process); },
        [&](const SendEnd& from, std::uint32_t receiver, std::uint32_t receive) {
          set_receiver(run, {from.location, from.send, receiver, receive});
        });
    return {};
  }));
  return {};
}

}  // namespace

Result<void> match_together(const Share& share, const Share::Weight& weight, RunCalls& run) {
  std::vector<std::uint64_t> weights(run.processes.size());
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = weight(i);
  const std::vector<unsigned> owner = deal(weights, team().size());
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
    std::vector<std::vector<SendEnd>> to(team().size());
    for (const std::size_t process : share.mine()) {
      for (const std::uint32_t l : run.processes[process]) {
        for (std::uint32_t i = 0; i < run.locations[l].sends.size(); ++i) {
          const std::uint32_t target = run.process_of_rank(run.locations[l].sends[i].to);
          if (target != kNone && target % rounds == round) to[owner[target]].push_back(end_of(run, l, i, target));
        }
      }
    }
    std::vector<Parcel> parcels;
    for (auto& list : to) parcels.push_back(packed(std::exchange(list, {})));
    FATHOM_TRY(const std::vector<Parcel> arrived, team().exchange(std::move(parcels)));
    std::vector<SendEnd> ends;
    for (const Parcel& parcel : arrived) {
      FATHOM_TRY(const auto list, unpacked<std::vector<SendEnd>>(parcel));
      ends.insert(ends.end(), list.begin(), list.end());
    }
    // As one process goes over them.
    std::sort(ends.begin(), ends.end(), [](const SendEnd& a, const SendEnd& b) {
      return std::tie(a.process, a.location, a.send) < std::tie(b.process, b.location, b.send);
    });
    std::vector<std::vector<MatchedSend>> back(team().size());
    for (std::size_t begin = 0; begin < ends.size();) {
      std::size_t end = begin;
      while (end < ends.size() && ends[end].process == ends[begin].process) ++end;
      match_receiver(
          run, ends[begin].process, end - begin, [&](std::size_t i) { return ends[begin + i]; },
          [&](const SendEnd& from, std::uint32_t receiver, std::uint32_t receive) {
            back[owner[run.locations[from.location].process]].push_back({from.location, from.send, receiver, receive});
          });
      begin = end;
    }
    parcels.clear();
    for (auto& list : back) parcels.push_back(packed(std::exchange(list, {})));
    FATHOM_TRY(const std::vector<Parcel> answers, team().exchange(std::move(parcels)));
    for (const Parcel& parcel : answers) {
      FATHOM_TRY(const auto list, unpacked<std::vector<MatchedSend>>(parcel));
      for (const MatchedSend& matched : list) set_receiver(run, matched);
    }
  }
  return {};
}

Result<void> match_messages(RunCalls& run) {
  // Where processes of a team have read the calls, the ends of messages know each other.
  const bool matched = std::any_of(run.locations.begin(), run.locations.end(), [](const LocationCalls& here) {
    return std::any_of(here.receives.begin(), here.receives.end(), [](const Receive& r) { return r.send != kNone; });
  });
  if (!matched) FATHOM_CHECK(match_here(run));
  run.messages = 0;
  for (const LocationCalls& here : run.locations) {
    for (const Receive& half : here.receives) run.messages += half.send != kNone ? 1 : 0;
  }
  return {};
}

// A send that was over before its receive was posted did not wait for it: messages of its size leave at once.
void find_eager_limit(RunCalls& run) {
  std::int64_t limit = 1024;
  for (const LocationCalls& here : run.locations) {
    for (const Send& half : here.sends) {
      if (half.mode != SendMode::standard || half.bytes <= limit || half.receive == kNone) continue;
      if (half.done_call == kNone) continue;
      const std::int64_t over = run.locations[half.done_location].calls[half.done_call].exit;
      if (over < run.locations[half.receiver].receives[half.receive].posted) limit = half.bytes;
    }
  }
  run.eager_limit = limit;
}

CallPlace RunCalls::posting_call(const Send& half) const {
  const std::int64_t posted = locations[half.receiver].receives[half.receive].posted;
  const std::uint32_t found = locations[half.receiver].entered_at(posted);
  if (found != kNone) return {half.receiver, found};
  for (const std::uint32_t other : processes[locations[half.receiver].process]) {
    const std::uint32_t there = locations[other].entered_at(posted);
    if (there != kNone) return {other, there};
  }
  return {};
}

std::size_t RunCalls::present() const {
  return static_cast<std::size_t>(
      std::count_if(locations.begin(), locations.end(), [](const LocationCalls& here) { return !here.calls.empty(); }));
}

void set_time_base(RunCalls& run) {
  run.cut = false;
  const auto finalized = [&](const std::vector<std::uint32_t>& locations) {
    return std::any_of(locations.begin(), locations.end(), [&](std::uint32_t l) {
      const auto& calls = run.locations[l].calls;
      return !calls.empty() && calls.back().kind == CallKind::finalize && !calls.back().has(Call::kUnfinished);
    });
  };
  const bool any_finalized = std::any_of(run.processes.begin(), run.processes.end(), finalized);
  bool first = true;
  std::int64_t earliest_end = 0;
  for (const auto& process : run.processes) {
    bool any = false;
    std::int64_t end = 0;
    for (const std::uint32_t l : process) {
      LocationCalls& here = run.locations[l];
      if (here.calls.empty()) continue;
      std::int64_t inside = 0;
      for (Call& call : here.calls) {
        call.inside = inside;
        inside += call.exit - call.entry;
      }
      end = any ? std::max(end, here.calls.back().exit) : here.calls.back().exit;
      run.t0 = first && !any ? here.calls[0].entry : std::min(run.t0, here.calls[0].entry);
      any = true;
      run.cut = run.cut || here.cut || here.calls.back().has(Call::kUnfinished);
    }
    if (!any) continue;
    // Whoever did not come to Finalize while others did was killed, or its end is lost.
    run.cut = run.cut || (any_finalized && !finalized(process));
    run.t1 = first ? end : std::max(run.t1, end);
    earliest_end = first ? end : std::min(earliest_end, end);
    first = false;
  }
  if (run.cut) run.t1 = earliest_end;
}

}  // namespace fathom::analysis
