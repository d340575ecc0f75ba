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
#include "base/share_out.hpp"
#include "io/external_sort.hpp"
#include "trace/extent.hpp"

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

// Reads the ends of messages of one location, as many at a time as are wanted.
class HalfReader {
 public:
  static Result<HalfReader> open(const Trace& trace, LocationId location, std::int32_t rank) {
    FATHOM_TRY(auto stream, trace.open(location, {}));
    return HalfReader(std::move(stream), location, rank);
  }

  // Until `most` of either kind are there; false = that was all.
  Result<bool> read(std::vector<Half>& sends, std::vector<Half>& receives, std::size_t most) {
    while (const Event* event = cursor_.next()) {
      if (event->kind != EventKind::send && event->kind != EventKind::recv) continue;
      unknown_ += event->peer == kUnknownPeer ? 1 : 0;
      if (event->peer < 0) continue;
      const bool is_send = event->kind == EventKind::send;
      auto& list = is_send ? sends : receives;
      list.push_back({.to = is_send ? event->peer : rank_,
                      .from = is_send ? rank_ : event->peer,
                      .communicator = event->communicator.value,
                      .tag = event->tag,
                      .posted = event->has_value ? event->value : 0,
                      .order = event->origin != Event::kNoRecord ? event->origin : event->record,
                      .serial = serial_++,
                      .record = event->record,
                      .bytes = event->bytes,
                      .time_ns = event->time_ns,
                      .location = location_,
                      .has_time = event->has_time});
      if (list.size() >= most) return true;
    }
    FATHOM_CHECK(cursor_.status());
    return false;
  }
  [[nodiscard]] std::uint64_t unknown() const { return unknown_; }

 private:
  HalfReader(std::unique_ptr<EventStream> stream, LocationId location, std::int32_t rank)
      : cursor_(std::move(stream), 1024), location_(location), rank_(rank) {}

  EventCursor cursor_;
  LocationId location_;
  std::int32_t rank_;
  std::uint64_t serial_ = 0;
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

// All messages of two processes in one communicator, where some receives take any tag.
void match_pair(std::vector<Half>& sends, const std::vector<Half>& receives, TimeWindow window,
                std::vector<Message>& out, Unmatched& unmatched) {
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
    if (send->inside(window) || receive->inside(window)) out.push_back(joined(*send, *receive));
  }
}

// The ends of messages, put together in order.
class Matcher {
 public:
  Matcher(Halves& sends, Halves& receives, TimeWindow window, const Work& work, Unmatched& unmatched)
      : sends_(sends), receives_(receives), window_(window), work_(work), unmatched_(unmatched) {}

  // Appends some messages; false = there are no more.
  Result<bool> next(std::vector<Message>& out) {
    if (!begun_) {
      begun_ = true;
      send_ = sends_.next();
      receive_ = receives_.next();
    }
    if (cancelled()) return cancelled_error();
    for (std::size_t steps = 0; steps < kAtOnce && (send_ != nullptr || receive_ != nullptr); ++steps) {
      FATHOM_CHECK(one(out));
    }
    FATHOM_CHECK(sends_.status());
    FATHOM_CHECK(receives_.status());
    return send_ != nullptr || receive_ != nullptr;
  }

 private:
  static constexpr std::size_t kAtOnce = 65536;

  Result<void> one(std::vector<Message>& out) {
    // Receives of any tag sort before the others of the two processes.
    if (receive_ != nullptr && receive_->tag < 0 && (send_ == nullptr || !(send_->pair() < receive_->pair()))) {
      return any_tag(out);
    }
    if (receive_ == nullptr || (send_ != nullptr && send_->key() < receive_->key())) {
      ++unmatched_.sends;
      send_ = sends_.next();
      return {};
    }
    if (send_ == nullptr || receive_->key() < send_->key()) {
      ++unmatched_.receives;
      receive_ = receives_.next();
      return {};
    }
    if (send_->inside(window_) || receive_->inside(window_)) out.push_back(joined(*send_, *receive_));
    send_ = sends_.next();
    receive_ = receives_.next();
    return {};
  }

  Result<void> any_tag(std::vector<Message>& out) {
    const Half first = *receive_;
    std::vector<Half> some_sends;
    std::vector<Half> some_receives;
    for (; receive_ != nullptr && receive_->pair() == first.pair(); receive_ = receives_.next()) {
      some_receives.push_back(*receive_);
    }
    for (; send_ != nullptr && send_->pair() == first.pair(); send_ = sends_.next()) some_sends.push_back(*send_);
    Budget::Reservation taken;
    if (work_ != nullptr) {
      FATHOM_TRY(taken, work_->budget.reserve((some_sends.size() + some_receives.size()) * sizeof(Half),
                                              "matching of receives of any tag"));
    }
    match_pair(some_sends, some_receives, window_, out, unmatched_);
    return {};
  }

  Halves& sends_;
  Halves& receives_;
  TimeWindow window_;
  const Work& work_;
  Unmatched& unmatched_;
  bool begun_ = false;
  const Half* send_ = nullptr;
  const Half* receive_ = nullptr;
};

// Which process of a team puts the messages to a rank together: neighbours go to the same one, so that the processes'
// messages one after the other are in the order of receivers.
class Receivers {
 public:
  Receivers(const Trace& trace, unsigned processes) : processes_(processes) {
    std::map<std::int32_t, std::uint64_t> weights;
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < trace.location_count(); ++i) {
      const auto rank = rank_of(trace.definitions(), LocationId(i));
      if (!rank) continue;
      const std::uint64_t weight = std::max<std::uint64_t>(extent(trace, LocationId(i)), 1);
      weights[*rank] += weight;
      all += weight;
    }
    std::uint64_t before = 0;
    for (const auto& [rank, weight] : weights) {
      const auto part = static_cast<unsigned>(static_cast<double>(before) / static_cast<double>(all) * processes_);
      if (begins_.empty() || part > begins_.back().second) begins_.emplace_back(rank, std::min(part, processes_ - 1));
      before += weight;
    }
  }
  [[nodiscard]] unsigned process(std::int32_t rank) const {
    const auto behind = std::upper_bound(begins_.begin(), begins_.end(), rank,
                                         [](std::int32_t wanted, const auto& one) { return wanted < one.first; });
    return behind == begins_.begin() ? 0 : (behind - 1)->second;
  }

 private:
  unsigned processes_;
  std::vector<std::pair<std::int32_t, unsigned>> begins_;  // first rank, process
};

// Every process reads its locations and hands each end to the one that puts it together, in rounds.
class TeamReading {
 public:
  TeamReading(const Trace& trace, Halves& sends, Halves& receives, std::size_t run, Unmatched& unmatched)
      : trace_(trace),
        sends_(sends),
        receives_(receives),
        run_(run),
        unmatched_(unmatched),
        receivers_(trace, team().size()) {}

  Result<void> read() {
    FATHOM_TRY(Share share, Share::of("reading messages", trace_.location_count(),
                                      [&](std::size_t i) { return extent(trace_, LocationId(i)); }));
    const std::vector<std::size_t>& mine = share.mine();
    std::size_t next = 0;
    std::vector<HalfReader> open;
    Progress progress("reading messages", mine.size());
    while (true) {
      while (open.size() < thread_count() && next < mine.size()) {
        const LocationId location(mine[next++]);
        const auto rank = rank_of(trace_.definitions(), location);
        if (!rank) continue;
        FATHOM_TRY(HalfReader reader, HalfReader::open(trace_, location, *rank));
        open.push_back(std::move(reader));
      }
      FATHOM_TRY(const auto busy, team().sum({open.empty() ? 0 : 1}));
      if (busy[0] == 0) return share.join_diagnostics(Holder::first);
      FATHOM_CHECK(round(open, progress));
    }
  }

 private:
  Result<void> round(std::vector<HalfReader>& open, Progress& progress) {
    struct Got {
      std::vector<Half> sends, receives;
      bool more = false;
    };
    std::vector<Got> got(open.size());
    FATHOM_CHECK(parallel_for(open.size(), [&](std::size_t i) -> Result<void> {
      FATHOM_TRY(got[i].more, open[i].read(got[i].sends, got[i].receives, run_));
      return {};
    }));
    std::vector<HalfReader> still;
    std::vector<std::vector<Half>> to(std::size_t{2} * team().size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      for (const Half& half : got[i].sends) to[2 * receivers_.process(half.to)].push_back(half);
      for (const Half& half : got[i].receives) to[2 * receivers_.process(half.to) + 1].push_back(half);
      if (got[i].more) {
        still.push_back(std::move(open[i]));
      } else {
        unmatched_.unknown += open[i].unknown();
        progress.advance();
      }
      got[i] = {};
    }
    open = std::move(still);
    std::vector<Parcel> parcels(team().size());
    for (std::size_t process = 0; process < parcels.size(); ++process) {
      Packer packer;
      packer(to[2 * process], to[2 * process + 1]);
      parcels[process] = std::move(packer).take();
      to[2 * process] = {};
      to[2 * process + 1] = {};
    }
    FATHOM_TRY(const std::vector<Parcel> arrived, team().exchange(std::move(parcels)));
    for (const Parcel& parcel : arrived) {
      std::vector<Half> some_sends;
      std::vector<Half> some_receives;
      Unpacker unpacker(parcel);
      unpacker(some_sends, some_receives);
      FATHOM_CHECK(unpacker.status());
      FATHOM_CHECK(sends_.add(some_sends));
      FATHOM_CHECK(receives_.add(some_receives));
    }
    return {};
  }

  const Trace& trace_;
  Halves& sends_;
  Halves& receives_;
  std::size_t run_;
  Unmatched& unmatched_;
  Receivers receivers_;
};

Result<void> read_alone(const Trace& trace, Halves& sends, Halves& receives, std::size_t run, Unmatched& unmatched) {
  const std::size_t count = trace.location_count();
  const std::size_t groups = std::min(count, std::size_t{8} * thread_count());
  Progress progress("reading messages", count);
  return parallel_for(groups, [&](std::size_t group) -> Result<void> {
    std::vector<Half> own_sends;
    std::vector<Half> own_receives;
    for (std::size_t i = group; i < count; i += groups) {
      if (const auto rank = rank_of(trace.definitions(), LocationId(i))) {
        FATHOM_TRY(HalfReader reader, HalfReader::open(trace, LocationId(i), *rank));
        for (bool more = true; more;) {
          FATHOM_TRY(more, reader.read(own_sends, own_receives, run));
          if (own_sends.size() >= run) FATHOM_CHECK(sends.add(own_sends));
          if (own_receives.size() >= run) FATHOM_CHECK(receives.add(own_receives));
        }
        unmatched.unknown += reader.unknown();
      }
      progress.advance();
    }
    FATHOM_CHECK(sends.add(own_sends));
    return receives.add(own_receives);
  });
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
  Unmatched unmatched;
  // The whole trace takes part in the matching, the window only chooses what is shown: otherwise a receive near its
  // edge would take a later send.
  FATHOM_CHECK(team().assemble("messages"));
  const bool alone = team().alone();
  FATHOM_CHECK(alone ? read_alone(*this, sends, receives, run, unmatched)
                     : TeamReading(*this, sends, receives, run / 4 + 1, unmatched).read());
  Matcher matcher(sends, receives, window, work_, unmatched);
  bool more = true;
  bool ended = false;
  const auto show = [&](const std::vector<Message>& some) {
    for (const Message& message : some) {
      ended = ended || !sink(message);
      if (ended) return false;
    }
    return true;
  };
  if (alone) {
    std::vector<Message> some;
    for (; more && !ended; some.clear()) {
      FATHOM_TRY(more, matcher.next(some));
      if (!show(some)) return {};
    }
  } else {
    const auto next = [&](Parcel& parcel) -> Result<bool> {
      if (!more) return false;
      std::vector<Message> some;
      FATHOM_TRY(more, matcher.next(some));
      parcel = packed(some);
      return true;
    };
    const auto take = [&](const Parcel& parcel) {
      const auto some = unpacked<std::vector<Message>>(parcel);
      return some.ok() && show(*some);
    };
    FATHOM_CHECK(relay_ahead(memory / 4, next, take));
    FATHOM_TRY(const auto sums,
               team().sum({static_cast<std::int64_t>(unmatched.sends), static_cast<std::int64_t>(unmatched.receives),
                           static_cast<std::int64_t>(unmatched.unknown)}));
    FATHOM_CHECK(first_goes_on());
    unmatched.sends = static_cast<std::uint64_t>(sums[0]);
    unmatched.receives = static_cast<std::uint64_t>(sums[1]);
    unmatched.unknown = static_cast<std::uint64_t>(sums[2]);
    if (ended) return {};
  }
  if (work_ != nullptr) report(unmatched, work_->diagnostics);
  return {};
}

}  // namespace fathom
