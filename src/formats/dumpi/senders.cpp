#include "formats/dumpi/senders.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "base/share_out.hpp"

namespace fathom::dumpi {

namespace {

constexpr std::uint32_t kNoStranger = std::numeric_limits<std::uint32_t>::max();
constexpr std::int32_t kAnyTag = -1;
constexpr std::size_t kMostSteps = 100'000'000;
constexpr std::size_t kFirstEnds = 64;  // that memory is asked for at a time; later half as many as there are

// Messages to one rank in one communicator.
using Target = std::pair<std::int32_t, std::uint32_t>;

struct SendEnd {
  std::int32_t to;
  std::uint32_t communicator;
  std::int32_t from;
  std::int32_t tag;
  std::int64_t sent;
  bool has_time;
};

struct ReceiveEnd {
  std::int32_t to;
  std::uint32_t communicator;
  std::int32_t from;
  std::int32_t tag;
  std::int64_t posted;
  std::uint64_t record;
  std::int64_t done;
  std::uint32_t location;
  std::uint32_t stranger;  // which one of the location, or kNoStranger
  bool has_time;
};

struct Ends {
  std::vector<SendEnd> sends;
  std::vector<ReceiveEnd> receives;
  bool too_many = false;
};

template <class Pack>
void pack_fields(Pack& pack, Ends& ends) {
  pack(ends.sends, ends.receives, ends.too_many);
}

template <class End>
bool same_target(const End& a, const End& b) {
  return a.to == b.to && a.communicator == b.communicator;
}

// Until `body` says that it is enough.
template <class Body>
Result<void> for_each_event(const Trace& trace, std::size_t location, const Body& body) {
  FATHOM_TRY(auto stream, trace.open(LocationId(location), {}));
  EventCursor cursor(std::move(stream), 1024);
  while (const Event* event = cursor.next()) {
    if ((event->kind == EventKind::send || event->kind == EventKind::recv) && !body(*event)) return {};
  }
  return cursor.status();
}

// All ends that lead to one rank in one communicator, or those of them with one tag. Strangers get their senders when
// as many messages are left as there are strangers.
class Group {
 public:
  Group(std::vector<SendEnd> sends, std::vector<ReceiveEnd> receives)
      : sends_(std::move(sends)), receives_(std::move(receives)) {
    leave_out_those_that_got_nothing();
    const auto strangers = std::count_if(receives_.begin(), receives_.end(),
                                         [](const ReceiveEnd& end) { return end.stranger != kNoStranger; });
    for (const SendEnd& end : sends_) ++left_[end.from];
    for (const ReceiveEnd& end : receives_) {
      if (end.stranger == kNoStranger) --left_[end.from];
    }
    sound_ = strangers > 0;
    std::int64_t left = 0;
    for (const auto& [sender, count] : left_) {
      sound_ = sound_ && count >= 0;
      left += count;
    }
    // More: some were never received. Fewer: some of the strangers received from the null process, or from a rank that
    // is not there.
    sound_ = sound_ && left == strangers;
  }

  // tell(stranger, sender, sure)
  template <class Tell>
  void resolve(const Tell& tell) {
    if (!sound_) return;
    if (const auto only = only_sender()) {
      for (const ReceiveEnd& end : receives_) {
        if (end.stranger != kNoStranger) tell(end, *only, true);
      }
      return;
    }
    const auto timed = [](const auto& end) { return end.has_time; };
    if (!std::ranges::all_of(sends_, timed) || !std::ranges::all_of(receives_, timed)) return;
    std::ranges::stable_sort(sends_, {}, &SendEnd::sent);
    std::ranges::stable_sort(receives_, {}, [](const ReceiveEnd& end) { return std::tie(end.posted, end.record); });
    in_parts(tell);
  }

 private:
  // Strangers of a tag of which nothing is left: where the library records the null process as anybody, it was that.
  void leave_out_those_that_got_nothing() {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> left;  // by tag and sender
    for (const SendEnd& end : sends_) ++left[{end.tag, end.from}];
    for (const ReceiveEnd& end : receives_) {
      if (end.stranger == kNoStranger && end.tag >= 0) --left[{end.tag, end.from}];
    }
    std::set<std::int32_t> tags;
    for (const auto& [key, count] : left) {
      if (count > 0) tags.insert(key.first);
    }
    std::erase_if(receives_, [&](const ReceiveEnd& end) {
      return end.stranger != kNoStranger && end.tag >= 0 && !tags.contains(end.tag);
    });
  }

  [[nodiscard]] std::optional<std::int32_t> only_sender() const {
    std::optional<std::int32_t> only;
    for (const auto& [sender, count] : left_) {
      if (count == 0) continue;
      if (only) return std::nullopt;
      only = sender;
    }
    return only;
  }

  // At a moment at which no receive is under way and as much was received as had been sent, all of it has arrived: what
  // comes later has nothing to do with it.
  template <class Tell>
  void in_parts(const Tell& tell) {
    std::size_t first_send = 0;
    std::size_t first = 0;
    std::int64_t busy_until = std::numeric_limits<std::int64_t>::min();
    for (std::size_t i = 0; i < receives_.size(); ++i) {
      busy_until = std::max(busy_until, receives_[i].done);
      const bool last = i + 1 == receives_.size();
      const std::size_t end = last ? sends_.size() : i + 1;
      if (!last && (receives_[i + 1].posted < busy_until || sent_before(busy_until) > end ||
                    sent_before(receives_[i + 1].posted) < end)) {
        continue;
      }
      part(std::span(sends_).subspan(first_send, end - first_send), std::span(receives_).subspan(first, i + 1 - first),
           tell);
      first_send = end;
      first = i + 1;
    }
  }
  [[nodiscard]] std::size_t sent_before(std::int64_t time) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(sends_, time, {}, &SendEnd::sent) - sends_.begin());
  }

  // What one sender has sent and nobody has taken, in order.
  struct Sender {
    std::deque<const SendEnd*> all;  // those that were taken by tag are at the front for a while
    std::map<std::int32_t, std::deque<const SendEnd*>> by_tag;
    std::set<const SendEnd*> taken;
    std::int64_t left = 0;                        // for strangers
    std::map<std::int32_t, std::int64_t> of_tag;  // of the messages: how many there are more than are asked for by tag

    const SendEnd* next(std::int32_t tag) {
      std::deque<const SendEnd*>& queue = tag < 0 ? all : by_tag[tag];
      while (!queue.empty() && taken.erase(queue.front()) > 0) queue.pop_front();
      return queue.empty() ? nullptr : queue.front();
    }
    const SendEnd* take(std::int32_t tag) {
      const SendEnd* const one = next(tag);
      if (one == nullptr) return nullptr;
      (tag < 0 ? all : by_tag[tag]).pop_front();
      taken.insert(one);  // it is in the other queue still
      return one;
    }
  };

  // Receives in the order of posting. A stranger gets what was sent first of what senders have left for strangers: sure
  // where only one has.
  template <class Tell>
  static void part(std::span<const SendEnd> sends, std::span<const ReceiveEnd> receives, const Tell& tell) {
    std::map<std::int32_t, Sender> senders;
    for (const SendEnd& end : sends) {
      Sender& sender = senders[end.from];
      sender.all.push_back(&end);
      sender.by_tag[end.tag].push_back(&end);
      ++sender.of_tag[end.tag];
      ++sender.left;
    }
    for (const ReceiveEnd& end : receives) {
      if (end.stranger != kNoStranger) continue;
      --senders[end.from].left;
      if (end.tag >= 0) --senders[end.from].of_tag[end.tag];
    }
    const auto open = [](const auto& entry) { return entry.second.left > 0; };
    const bool sure = std::ranges::count_if(senders, open) == 1;
    // Each stranger looks at every sender: a guess is not worth any time.
    if (!sure && receives.size() > kMostSteps / senders.size()) return;
    for (const ReceiveEnd& end : receives) {
      if (end.stranger == kNoStranger) {
        Sender& sender = senders[end.from];
        const SendEnd* const taken = sender.take(end.tag);
        if (taken != nullptr && end.tag < 0) --sender.of_tag[taken->tag];
        continue;
      }
      Sender* best = nullptr;
      const SendEnd* message = nullptr;
      bool best_fits = false;
      for (auto& [from, sender] : senders) {
        const SendEnd* const next = sender.left > 0 ? sender.next(end.tag) : nullptr;
        if (next == nullptr) continue;
        // Not one that a receive by name is left without, or that was sent later.
        const bool fits = sender.of_tag[next->tag] > 0 && next->sent <= end.done;
        if (message != nullptr && (fits != best_fits ? best_fits : next->sent >= message->sent)) continue;
        best = &sender;
        message = next;
        best_fits = fits;
      }
      if (best == nullptr) continue;
      tell(end, message->from, sure);
      best->take(end.tag);
      --best->of_tag[message->tag];
      --best->left;
    }
  }

  std::vector<SendEnd> sends_;
  std::vector<ReceiveEnd> receives_;
  std::map<std::int32_t, std::int64_t> left_;  // by sender: what nobody received from it by name
  bool sound_ = false;
};

// Ends to one target. Where no receive takes any tag, tags have nothing to do with each other.
template <class Tell>
void resolve_target(std::span<const SendEnd> sends, std::span<const ReceiveEnd> receives, const Tell& tell) {
  if (std::ranges::any_of(receives, [](const ReceiveEnd& end) { return end.tag < 0; })) {
    Group({sends.begin(), sends.end()}, {receives.begin(), receives.end()}).resolve(tell);
    return;
  }
  std::map<std::int32_t, std::pair<std::vector<SendEnd>, std::vector<ReceiveEnd>>> by_tag;
  for (const ReceiveEnd& end : receives) by_tag[end.tag].second.push_back(end);
  for (const SendEnd& end : sends) {
    if (const auto found = by_tag.find(end.tag); found != by_tag.end()) found->second.first.push_back(end);
  }
  for (auto& [tag, ends] : by_tag) Group(std::move(ends.first), std::move(ends.second)).resolve(tell);
}

}  // namespace

Result<std::vector<std::vector<std::int32_t>>> senders_of_strangers(const DumpiTrace& trace,
                                                                    const std::vector<ScanResult>& scans) {
  const std::size_t count = trace.location_count();
  std::vector<std::vector<std::int32_t>> senders(count);
  const auto rank_of = [&](std::size_t location) {
    return static_cast<std::int32_t>(trace.set().files()[trace.where(LocationId(location)).file].rank);
  };
  if (std::ranges::none_of(scans, &ScanResult::any_source)) return senders;
  const auto weight = [&](std::size_t i) { return trace.known_records(LocationId(i)).value_or(1); };
  using Communicators = std::vector<std::uint32_t>;
  const auto look = [&](std::size_t i, Communicators& found) -> Result<void> {
    if (!scans[trace.where(LocationId(i)).file].any_source) return {};
    std::set<std::uint32_t> seen;
    FATHOM_CHECK(for_each_event(trace, i, [&](const Event& event) {
      if (event.peer <= kFirstStranger && event.communicator.valid()) seen.insert(event.communicator.value);
      return true;
    }));
    found.assign(seen.begin(), seen.end());
    return {};
  };
  FATHOM_TRY(const std::vector<Communicators> found,
             share_out<Communicators>("looking for unknown senders", count, weight, Holder::all, look));
  std::set<Target> targets;
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::uint32_t communicator : found[i]) targets.emplace(rank_of(i), communicator);
  }
  if (targets.empty()) return senders;

  const Work& work = trace.set().work();
  std::mutex mutex;
  std::vector<Budget::Reservation> reserved;
  std::atomic<bool> full = false;
  // Room for more ends, which are kept three times over while they are sorted.
  const auto has_room = [&](std::size_t& room) {
    const std::size_t more = std::max(kFirstEnds, room / 2);
    auto asked = work->budget.reserve(3 * more * sizeof(ReceiveEnd), "messages from unknown senders");
    if (!asked) {
      full = true;
      return false;
    }
    room += more;
    const std::scoped_lock lock(mutex);
    reserved.push_back(*std::move(asked));
    return true;
  };
  const auto read = [&](std::size_t i, Ends& ends) -> Result<void> {
    const std::int32_t self = rank_of(i);
    std::size_t room = 0;
    FATHOM_CHECK(for_each_event(trace, i, [&](const Event& event) {
      const bool sends = event.kind == EventKind::send;
      const std::uint32_t number = !sends && event.peer <= kFirstStranger
                                       ? static_cast<std::uint32_t>(kFirstStranger - event.peer)
                                       : kNoStranger;
      const std::int32_t to = sends ? event.peer : self;
      if (event.peer < 0 && number == kNoStranger) return true;
      if (!event.communicator.valid() || !targets.contains({to, event.communicator.value})) return true;
      if (full || (ends.sends.size() + ends.receives.size() == room && !has_room(room))) return false;
      const std::uint32_t communicator = event.communicator.value;
      if (sends) {
        ends.sends.push_back({to, communicator, self, event.tag, event.time_ns, event.has_time});
      } else {
        ends.receives.push_back({to, communicator, event.peer, std::max(event.tag, kAnyTag), event.value, event.origin,
                                 event.time_ns, static_cast<std::uint32_t>(i), number, event.has_time});
      }
      return true;
    }));
    if (full) {
      ends = {};
      ends.too_many = true;
    }
    return {};
  };
  FATHOM_TRY(std::vector<Ends> parts, share_out<Ends>("looking for unknown senders", count, weight, Holder::all, read));
  if (std::ranges::any_of(parts, &Ends::too_many)) {
    FATHOM_CHECK(work->diagnostics.warn(
        "dumpi.senders_need_memory", Place::in(trace.set().files().front().file.name()),
        "finding who sent what receives from anybody without a status got takes more memory than --max-memory leaves: "
        "the senders stay unknown"));
    return senders;
  }
  Ends all;
  for (Ends& part : parts) {
    all.sends.insert(all.sends.end(), part.sends.begin(), part.sends.end());
    all.receives.insert(all.receives.end(), part.receives.begin(), part.receives.end());
    part = {};
  }
  const auto target = [](const auto& end) { return Target(end.to, end.communicator); };
  std::ranges::stable_sort(all.sends, {}, target);
  std::ranges::stable_sort(all.receives, {}, target);

  std::uint64_t guessed = 0;
  const auto tell = [&](const ReceiveEnd& receive, std::int32_t sender, bool sure) {
    std::vector<std::int32_t>& list = senders[receive.location];
    if (list.size() <= receive.stranger) list.resize(receive.stranger + std::size_t{1}, kUnknownPeer);
    list[receive.stranger] = sender;
    guessed += sure ? 0 : 1;
  };
  // Only wall clocks can be compared.
  const bool comparable = std::ranges::all_of(scans, &ScanResult::any_wall);
  for (SendEnd& end : all.sends) end.has_time = end.has_time && comparable;
  auto send = all.sends.begin();
  for (auto receive = all.receives.begin(); receive != all.receives.end();) {
    const auto end = std::find_if(receive, all.receives.end(),
                                  [&](const ReceiveEnd& other) { return !same_target(*receive, other); });
    while (send != all.sends.end() && target(*send) < target(*receive)) ++send;
    const auto first = send;
    while (send != all.sends.end() && target(*send) == target(*receive)) ++send;
    resolve_target({first, send}, {receive, end}, tell);
    receive = end;
  }
  if (guessed > 0) {
    (void)work->diagnostics.add("dumpi.likely_sender", Severity::info,
                                Place::in(trace.set().files().front().file.name()),
                                "a receive from anybody has no status, and several processes had sent: the message "
                                "that was sent first is shown",
                                guessed);
  }
  return senders;
}

}  // namespace fathom::dumpi
