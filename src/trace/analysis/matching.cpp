// The two ends of messages: equal sender, receiver, communicator and tag match in the order of posting.
#include <algorithm>
#include <numeric>

#include "base/parallel.hpp"
#include "trace/analysis/calls.hpp"

namespace fathom::analysis {

namespace {

struct SendPlace {
  std::uint32_t location;
  std::uint32_t send;
};

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

// All messages to one process.
void match_receiver(RunCalls& run, std::uint32_t process, std::span<const SendPlace> incoming) {
  std::vector<Key> sends;
  sends.reserve(incoming.size());
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    const LocationCalls& from = run.locations[incoming[i].location];
    const Send& half = from.sends[incoming[i].send];
    sends.push_back(
        {from.rank, half.communicator, half.tag, static_cast<std::uint32_t>(i), from.calls[half.call].entry, 0});
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
      const SendPlace from = incoming[send->number];
      const auto [location, number] = places[receive->number];
      Receive& to = run.locations[location].receives[number];
      to.sender = from.location;
      to.send = from.send;
      // Written by this task alone: a send has one receiver.
      Send& half = run.locations[from.location].sends[from.send];
      half.receiver = location;
      half.receive = number;
      ++send;
      ++receive;
    }
  }
}

}  // namespace

Result<void> match_messages(RunCalls& run) {
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
    match_receiver(run, static_cast<std::uint32_t>(i), {incoming.data() + first[i], incoming.data() + first[i + 1]});
    return {};
  }));
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
