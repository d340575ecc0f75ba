// Matching of messages from the events of the level: the mapping has resolved wildcards and communicators, so that
// the MPI rule is left: equal (sender, receiver, communicator, tag) match in the order of posting. A receive of any tag
// whose status is not known (a tag below 0) takes part as well: messages between two processes stay in order, and each
// goes to the receive that was posted first among those that take it. Receives whose sender is not known match nothing;
// where a sender has messages left, they may have taken some of its, and matches behind them are counted as uncertain.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/cancel.hpp"
#include "base/share_out.hpp"
#include "trace/message_ends.hpp"
#include "trace/waiting_receives.hpp"

namespace fathom {

using messages::Half, messages::Halves, messages::Unmatched;

namespace {

// Most memory that the ends of messages take; what is more goes to a temporary file.
constexpr std::uint64_t kMostMemory = std::uint64_t{256} << 20;
constexpr std::uint64_t kLeastMemory = std::uint64_t{1} << 20;

void report(const Unmatched& unmatched, Diagnostics& diagnostics) {
  const auto note = [&](std::string_view id, std::uint64_t count, std::string_view what) {
    if (count > 0) (void)diagnostics.add(id, Severity::info, Place{}, std::string(what), count);
  };
  note("trace.unmatched_send", unmatched.sends, "a send has no matching receive in the trace");
  note("trace.unmatched_receive", unmatched.receives, "a receive has no matching send in the trace");
  note("trace.uncertain_message", unmatched.uncertain,
       "a receive may have got a later message than shown: one whose sender is not known was posted before it");
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
  std::vector<const Half*> order;
  for (const Half& receive : receives) order.push_back(&receive);
  std::sort(order.begin(), order.end(), [&](const Half* a, const Half* b) { return by_time(*a, *b); });
  WaitingReceives<Half> waiting;
  for (const Half* receive : order) waiting.post(receive->tag, *receive);
  std::vector<std::pair<const Half*, const Half*>> pairs;
  for (const Half& send : sends) {
    if (const Half* receive = waiting.take(send.tag)) {
      pairs.emplace_back(&send, receive);
    } else {
      ++unmatched.sends;
    }
  }
  unmatched.receives += waiting.size();
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
    if (send_ == nullptr && receive_ == nullptr) end_lane();
    FATHOM_CHECK(sends_.status());
    FATHOM_CHECK(receives_.status());
    return send_ != nullptr || receive_ != nullptr;
  }

 private:
  static constexpr std::size_t kAtOnce = 65536;

  Result<void> one(std::vector<Message>& out) {
    // They sort before all others of their receiver.
    if (receive_ != nullptr && receive_->from == kUnknownPeer && (send_ == nullptr || send_->to >= receive_->to)) {
      add_stranger(*receive_);
      receive_ = receives_.next();
      return {};
    }
    // Receives of any tag sort before the others of the two processes.
    if (receive_ != nullptr && receive_->tag < 0 && (send_ == nullptr || !(send_->pair() < receive_->pair()))) {
      return any_tag(out);
    }
    if (receive_ == nullptr || (send_ != nullptr && send_->key() < receive_->key())) {
      begin_lane(*send_);
      ++unmatched_.sends;
      left_ = true;
      send_ = sends_.next();
      return {};
    }
    if (send_ == nullptr || receive_->key() < send_->key()) {
      ++unmatched_.receives;
      receive_ = receives_.next();
      return {};
    }
    begin_lane(*send_);
    behind_ += behind_stranger(*receive_) ? 1 : 0;
    if (send_->inside(window_) || receive_->inside(window_)) out.push_back(joined(*send_, *receive_));
    send_ = sends_.next();
    receive_ = receives_.next();
    return {};
  }

  // A lane: messages of one sender, receiver, communicator and tag.
  void begin_lane(const Half& half) {
    if (half.key() == lane_.key()) return;
    end_lane();
    lane_ = half;
  }
  void end_lane() {
    if (left_) unmatched_.uncertain += behind_;
    behind_ = 0;
    left_ = false;
  }

  void add_stranger(const Half& half) {
    if (half.to != strangers_of_) strangers_.clear();
    strangers_of_ = half.to;
    for (const std::int32_t tag : {std::max(half.tag, kAnyTag), kAllTags}) {
      const auto [at, is_new] = strangers_.try_emplace({half.communicator, tag}, half);
      if (!is_new && half.when() < at->second.when()) at->second = half;
    }
  }
  // Whether a receive from somebody unknown that could have taken the message was posted before.
  [[nodiscard]] bool behind_stranger(const Half& receive) const {
    if (receive.to != strangers_of_) return false;
    const auto before = [&](std::int32_t tag) {
      const auto found = strangers_.find({receive.communicator, tag});
      return found != strangers_.end() && found->second.when() < receive.when();
    };
    return before(kAnyTag) || before(receive.tag < 0 ? kAllTags : receive.tag);
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
    const std::uint64_t before = unmatched_.sends;
    match_pair(some_sends, some_receives, window_, out, unmatched_);
    if (unmatched_.sends == before) return {};
    unmatched_.uncertain += static_cast<std::uint64_t>(std::count_if(
        some_receives.begin(), some_receives.end(), [&](const Half& half) { return behind_stranger(half); }));
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
  // Receives from somebody unknown, of one receiver: the first by communicator and tag.
  static constexpr std::int32_t kAnyTag = -1;
  static constexpr std::int32_t kAllTags = -2;
  std::map<std::pair<std::uint32_t, std::int32_t>, Half> strangers_;
  std::int32_t strangers_of_ = kNoPeer;
  Half lane_{};
  std::uint64_t behind_ = 0;  // messages of the lane whose receive was posted behind a stranger
  bool left_ = false;         // sends of the lane
};

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
  FATHOM_CHECK(read_ends(*this, sends, receives, run, unmatched));
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
    FATHOM_TRY(
        const auto sums,
        team().sum({static_cast<std::int64_t>(unmatched.sends), static_cast<std::int64_t>(unmatched.receives),
                    static_cast<std::int64_t>(unmatched.unknown), static_cast<std::int64_t>(unmatched.uncertain)}));
    FATHOM_CHECK(first_goes_on());
    unmatched.sends = static_cast<std::uint64_t>(sums[0]);
    unmatched.receives = static_cast<std::uint64_t>(sums[1]);
    unmatched.unknown = static_cast<std::uint64_t>(sums[2]);
    unmatched.uncertain = static_cast<std::uint64_t>(sums[3]);
    if (ended) return {};
  }
  if (work_ != nullptr) report(unmatched, work_->diagnostics);
  return {};
}

}  // namespace fathom
