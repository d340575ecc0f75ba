// Matching of messages from the events of the level: the mapping has resolved wildcards and communicators, so that
// the MPI rule is left: equal (sender, receiver, communicator, tag) match in the order of posting. A receive of any tag
// whose status is not known (a tag below 0) takes part as well: messages between two processes stay in order, and each
// goes to the receive that was posted first among those that take it.
#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <tuple>

#include "base/cancel.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "io/external_sort.hpp"
#include "trace/trace.hpp"

namespace fathom {

namespace {

struct Half {
  std::int32_t to;
  std::int32_t from;
  std::uint32_t communicator;
  std::int32_t tag;
  std::int64_t posted;   // time of posting, where known
  std::uint64_t order;   // of posting in the stream
  std::uint64_t serial;  // of the location's messages: tells those apart that one record posts
  std::uint64_t record;
  std::int64_t bytes;
  std::int64_t time_ns;
  LocationId location;
  bool has_time;

  [[nodiscard]] auto key() const { return std::tie(to, from, communicator, tag); }
  [[nodiscard]] auto pair() const { return std::tie(to, from, communicator); }
  [[nodiscard]] auto when() const { return std::tie(posted, order, location, serial); }
  [[nodiscard]] bool inside(TimeWindow window) const {
    return !has_time || (time_ns >= window.from_ns && time_ns < window.to_ns);
  }
};

struct Earlier {
  bool operator()(const Half& a, const Half& b) const {
    if (a.key() != b.key()) return a.key() < b.key();
    return a.when() < b.when();
  }
};
using Halves = ExternalSorter<Half, Earlier>;

// Most memory that the ends of messages take; what is more goes to a temporary file.
constexpr std::uint64_t kMostMemory = std::uint64_t{256} << 20;
constexpr std::uint64_t kLeastMemory = std::uint64_t{1} << 20;

std::optional<std::int32_t> rank_of(const Definitions& definitions, LocationId location) {
  const SystemNodeId group = definitions.system.group_of(location);
  if (!group.valid()) return std::nullopt;
  const auto& rank = definitions.system.nodes[group.index()].rank;
  if (!rank) return std::nullopt;
  return static_cast<std::int32_t>(*rank);
}

// The ends of messages of a few locations, handed over in runs.
class HalfCollector {
 public:
  HalfCollector(Halves& sends, Halves& receives, std::size_t run) : sends_(sends), receives_(receives), run_(run) {}

  Result<void> read(const Trace& trace, LocationId location, std::int32_t rank) {
    FATHOM_TRY(auto stream, trace.open(location, {}));
    EventCursor cursor(std::move(stream), 1024);
    std::uint64_t serial = 0;
    while (const Event* event = cursor.next()) {
      if (event->kind != EventKind::send && event->kind != EventKind::recv) continue;
      unknown_ += event->peer == kUnknownPeer ? 1 : 0;
      if (event->peer < 0) continue;
      const bool is_send = event->kind == EventKind::send;
      auto& list = is_send ? own_sends_ : own_receives_;
      list.push_back({.to = is_send ? event->peer : rank,
                      .from = is_send ? rank : event->peer,
                      .communicator = event->communicator.value,
                      .tag = event->tag,
                      .posted = event->has_value ? event->value : 0,
                      .order = event->origin != Event::kNoRecord ? event->origin : event->record,
                      .serial = serial++,
                      .record = event->record,
                      .bytes = event->bytes,
                      .time_ns = event->time_ns,
                      .location = location,
                      .has_time = event->has_time});
      if (list.size() == run_) FATHOM_CHECK((is_send ? sends_ : receives_).add(list));
    }
    return cursor.status();
  }
  Result<void> finish() {
    FATHOM_CHECK(sends_.add(own_sends_));
    return receives_.add(own_receives_);
  }
  [[nodiscard]] std::uint64_t unknown() const { return unknown_; }

 private:
  Halves& sends_;
  Halves& receives_;
  std::size_t run_;
  std::vector<Half> own_sends_, own_receives_;
  std::uint64_t unknown_ = 0;
};

struct Unmatched {
  std::uint64_t sends = 0;
  std::uint64_t receives = 0;
  std::atomic<std::uint64_t> unknown = 0;  // peer
};

void report(const Unmatched& unmatched, Diagnostics& diagnostics) {
  const auto note = [&](std::string_view id, std::uint64_t count, std::string_view what) {
    if (count > 0) (void)diagnostics.add(id, Severity::info, Place{}, std::string(what), count);
  };
  note("trace.unmatched_send", unmatched.sends, "a send has no matching receive in the trace");
  note("trace.unmatched_receive", unmatched.receives, "a receive has no matching send in the trace");
  note("trace.unknown_peer", unmatched.unknown, "a message with a peer that the trace does not tell is not matched");
}

Message joined(const Half& send, const Half& receive) {
  Message message;
  message.from = send.location;
  message.to = receive.location;
  message.from_rank = send.from;
  message.to_rank = send.to;
  message.tag = send.tag;
  message.communicator = CommunicatorId(send.communicator);
  message.bytes = send.bytes;
  if (send.has_time) message.sent_ns = send.time_ns;
  if (receive.has_time) message.received_ns = receive.time_ns;
  message.send_record = send.record;
  message.recv_record = receive.record;
  return message;
}

// All messages of two processes in one communicator, where some receives take any tag. False when the sink ends it.
bool match_pair(std::vector<Half>& sends, const std::vector<Half>& receives, TimeWindow window, const MessageSink& sink,
                Unmatched& unmatched) {
  const auto by_time = [](const Half& a, const Half& b) { return a.when() < b.when(); };
  std::sort(sends.begin(), sends.end(), by_time);
  std::map<std::int32_t, std::deque<const Half*>> waiting;  // by tag; -1 = any
  std::vector<const Half*> order;
  for (const Half& receive : receives) order.push_back(&receive);
  std::sort(order.begin(), order.end(), [&](const Half* a, const Half* b) { return by_time(*a, *b); });
  for (const Half* receive : order) waiting[std::max(receive->tag, -1)].push_back(receive);
  std::deque<const Half*>& any = waiting[-1];
  std::vector<std::pair<const Half*, const Half*>> pairs;
  for (const Half& send : sends) {
    const auto exact = waiting.find(send.tag);
    const Half* first = exact != waiting.end() && !exact->second.empty() ? exact->second.front() : nullptr;
    if (!any.empty() && (first == nullptr || any.front()->when() < first->when())) {
      first = any.front();
      any.pop_front();
    } else if (first != nullptr) {
      exact->second.pop_front();
    } else {
      ++unmatched.sends;
      continue;
    }
    pairs.emplace_back(&send, first);
  }
  for (const auto& [tag, list] : waiting) unmatched.receives += list.size();
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const auto& a, const auto& b) { return a.first->tag < b.first->tag; });
  for (const auto& [send, receive] : pairs) {
    if ((send->inside(window) || receive->inside(window)) && !sink(joined(*send, *receive))) return false;
  }
  return true;
}

}  // namespace

Result<void> Trace::messages(TimeWindow window, const MessageSink& sink) const {
  std::uint64_t memory = kMostMemory;
  Budget::Reservation reserved;
  if (work_ != nullptr) {
    const Budget& budget = work_->budget;
    memory = std::clamp((budget.limit() - std::min(budget.used(), budget.limit())) / 2, kLeastMemory, kMostMemory);
    FATHOM_TRY(reserved, work_->budget.reserve(memory, "matching of messages"));
  }
  // Half for what is kept, half for runs being made and for the merge; both of two kinds.
  Halves sends(memory / 4);
  Halves receives(memory / 4);
  const std::size_t run = std::max<std::size_t>(memory / 4 / thread_count() / sizeof(Half), 64);
  const std::size_t count = location_count();
  const std::size_t groups = std::min(count, std::size_t{8} * thread_count());
  Unmatched unmatched;
  // The whole trace takes part in the matching, the window only chooses what is shown: otherwise a receive near its
  // edge would take a later send.
  {
    Progress progress("reading messages", count);
    const auto read_group = [&](std::size_t group) -> Result<void> {
      HalfCollector collector(sends, receives, run);
      for (std::size_t i = group; i < count; i += groups) {
        if (const auto rank = rank_of(definitions_, LocationId(i))) {
          FATHOM_CHECK(collector.read(*this, LocationId(i), *rank));
        }
        progress.advance();
      }
      unmatched.unknown += collector.unknown();
      return collector.finish();
    };
    FATHOM_CHECK(parallel_for(groups, read_group));
  }

  const Half* send = sends.next();
  const Half* receive = receives.next();
  std::uint64_t steps = 0;
  while (send != nullptr || receive != nullptr) {
    if (++steps % 65536 == 0 && cancelled()) return cancelled_error();
    // Receives of any tag sort before the others of the two processes.
    if (receive != nullptr && receive->tag < 0 && (send == nullptr || !(send->pair() < receive->pair()))) {
      const Half first = *receive;
      std::vector<Half> some_sends;
      std::vector<Half> some_receives;
      for (; receive != nullptr && receive->pair() == first.pair(); receive = receives.next()) {
        some_receives.push_back(*receive);
      }
      for (; send != nullptr && send->pair() == first.pair(); send = sends.next()) some_sends.push_back(*send);
      Budget::Reservation taken;
      if (work_ != nullptr) {
        FATHOM_TRY(taken, work_->budget.reserve((some_sends.size() + some_receives.size()) * sizeof(Half),
                                                "matching of receives of any tag"));
      }
      if (!match_pair(some_sends, some_receives, window, sink, unmatched)) return {};
      continue;
    }
    if (receive == nullptr || (send != nullptr && send->key() < receive->key())) {
      ++unmatched.sends;
      send = sends.next();
      continue;
    }
    if (send == nullptr || receive->key() < send->key()) {
      ++unmatched.receives;
      receive = receives.next();
      continue;
    }
    if ((send->inside(window) || receive->inside(window)) && !sink(joined(*send, *receive))) return {};
    send = sends.next();
    receive = receives.next();
  }
  FATHOM_CHECK(sends.status());
  FATHOM_CHECK(receives.status());
  if (work_ != nullptr) report(unmatched, work_->diagnostics);
  return {};
}

}  // namespace fathom
