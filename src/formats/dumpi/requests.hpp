// Requests of one rank, followed from the call that begins an operation to the one that completes it.
#pragma once

#include <unordered_map>
#include <vector>

#include "formats/dumpi/transfer.hpp"

namespace fathom::dumpi {

// An operation that was begun.
struct Pending {
  enum class Kind : std::uint8_t { send, recv, io, other };
  Pending() {}  // not "= default": all of it would be cleared first, with an instruction that is slow for so little
  Kind kind = Kind::send;
  bool persistent = false;
  bool active = true;        // persistent: started and not completed yet
  bool shared = false;       // others were pending under the same id: a receive is one from nobody
  bool cancelling = false;   // MPI_Cancel was called for it
  std::uint16_t thread = 0;  // that began it
  std::int64_t posted_ns = 0;
  std::uint64_t record = 0;    // that began it
  std::uint64_t made = 0;      // that made the request; another one for persistent requests only
  std::uint64_t sequence = 0;  // of all operations that were begun in the stream: several of one record differ
  std::int32_t peer = 0;       // as posted, in the communicator
  std::int32_t tag = 0;
  std::int64_t bytes = 0;
  CommunicatorView communicator;
};

// Whether a call begins, ends or changes requests.
namespace detail {
extern const std::array<bool, kIds> kTouching;
}
inline bool touches_requests(std::uint16_t id) { return id < kIds && detail::kTouching[id]; }

// All threads of a process share its requests: every call that touches them must come here, in stream order. The
// listener is told
//   begun(call, pending)              a send, receive or anything else is under way: posted, or a persistent one
//   started completed(call, pending, status)  it is over; no status = it was not recorded
class Requests {
 public:
  explicit Requests(const Rules& rules) : narrow_(rules.narrow_requests) {}
  template <class Listener>
  void follow(const Call& call, const Tables& tables, std::int64_t posted_ns, Listener& listener);
  // Memory, roughly.
  [[nodiscard]] std::uint64_t bytes() const {
    return (requests_.size() + io_requests_.size()) * (sizeof(Pending) + sizeof(Queue) + 64);
  }

 private:
  // One id can stand for several pending sends at once (libraries share a handle between sends that were over at
  // once), and ids come back all the time: hence a queue per id. Its memory is kept, as ids are. Among threads a handle
  // may come back in one before the record of the call that completed it in another is written.
  struct Queue {
    std::vector<Pending> items;
    std::size_t head = 0;
    [[nodiscard]] bool empty() const { return head == items.size(); }
    [[nodiscard]] bool single() const { return head + 1 == items.size(); }
    // The first one of the thread, or of all where it has none.
    [[nodiscard]] std::size_t find(std::uint16_t thread) const { return single() ? head : find_among_several(thread); }
    Pending& of(std::uint16_t thread) { return items[find(thread)]; }
    void take(std::size_t at) {
      if (!single()) return take_of_several(at);
      items.clear();
      head = 0;
    }

   private:
    [[nodiscard]] std::size_t find_among_several(std::uint16_t thread) const;
    void take_of_several(std::size_t at);
  };
  // By id. Most ids are small numbers that come back all the time: these are found without a search.
  class Queues {
   public:
    Queue& at(std::int64_t id) {
      if (id < 0 || id >= kSmall) return others_[id];
      const auto index = static_cast<std::size_t>(id);
      if (index >= small_.size()) small_.resize(index + 1);
      return small_[index];
    }
    Queue* find(std::int64_t id) {
      if (id >= 0 && id < kSmall) {
        const auto index = static_cast<std::size_t>(id);
        return index < small_.size() ? &small_[index] : nullptr;
      }
      const auto found = others_.find(id);
      return found == others_.end() ? nullptr : &found->second;
    }
    [[nodiscard]] std::size_t size() const { return small_.size() + others_.size(); }

   private:
    static constexpr std::int64_t kSmall = 1024;
    std::vector<Queue> small_;
    std::unordered_map<std::int64_t, Queue> others_;
  };

  [[nodiscard]] std::int64_t id(std::int64_t raw) const { return narrow_ ? raw & 0xFF : raw; }
  static Queue* find(Queues& queues, std::int64_t id) {
    Queue* queue = queues.find(id);
    return queue == nullptr || queue->empty() ? nullptr : queue;
  }
  // A new one under the id, to be filled in where it stands.
  Pending& add(Queues& queues, std::int64_t id, const Call& call, Pending::Kind kind, bool persistent,
               std::int32_t peer) {
    Queue& queue = queues.at(id);
    const bool alone = queue.empty();
    Pending* fresh = &queue.items.emplace_back();
    fresh->kind = kind;
    fresh->persistent = persistent;
    fresh->thread = call.thread;
    fresh->peer = peer;
    fresh->record = call.number;
    fresh->made = call.number;
    if (!alone) fresh = &settle(queue);
    if (!persistent) fresh->sequence = begun_++;
    return *fresh;
  }
  // What becomes of those before the last one, which is new and returned.
  static Pending& settle(Queue& queue);
  template <class Listener>
  void start(std::int64_t id, const Call& call, std::int64_t posted_ns, Listener& listener);
  template <class Listener>
  void complete(std::int64_t id, const Call& call, const Status* status, Listener& listener);
  template <class Listener>
  void completions(const Call& call, Listener& listener);

  bool narrow_;  // old files keep the low 8 bits of ids
  std::uint64_t begun_ = 0;
  Queues requests_;
  Queues io_requests_;  // numbers of their own
};

inline bool is_io_completion(std::uint16_t id) { return id >= ids::kMpioTest && id <= ids::kMpioTestsome; }

template <class Listener>
void Requests::start(std::int64_t id, const Call& call, std::int64_t posted_ns, Listener& listener) {
  Queue* queue = find(requests_, id);
  if (queue == nullptr) return;
  Pending& pending = queue->of(call.thread);
  if (!pending.persistent) return;
  pending.active = true;
  pending.cancelling = false;
  pending.record = call.number;
  pending.posted_ns = posted_ns;
  pending.sequence = begun_++;
  listener.begun(call, pending);
}

template <class Listener>
void Requests::complete(std::int64_t id, const Call& call, const Status* status, Listener& listener) {
  Queue* queue = find(is_io_completion(call.id) ? io_requests_ : requests_, id);
  if (queue == nullptr) return;  // made by a call that is not traced
  const std::size_t at = queue->find(call.thread);
  Pending& pending = queue->items[at];
  if (!pending.persistent) {
    listener.completed(call, pending, status);
    queue->take(at);
    return;
  }
  if (!pending.active) return;
  pending.active = false;
  listener.completed(call, pending, status);
}

template <class Listener>
void Requests::completions(const Call& call, Listener& listener) {
  // The request at position `index` of the list, with the status at `n`.
  const auto nth = [&](const Values& list, std::int64_t index, const Statuses& all, std::uint32_t n) {
    if (index < 0 || index >= static_cast<std::int64_t>(list.size())) return;
    const std::int64_t request = id(list[static_cast<std::size_t>(index)]);
    if (n >= all.size()) {
      complete(request, call, nullptr, listener);
      return;
    }
    const Status status = all[n];
    complete(request, call, &status, listener);
  };
  const auto one = [&](std::size_t status_argument) {
    const Statuses all = call.statuses(status_argument);
    const Status status = all.empty() ? Status{} : all[0];
    complete(id(call.integer(0)), call, all.empty() ? nullptr : &status, listener);
  };
  switch (call.id) {
    case ids::kWait:
    case ids::kMpioWait:
      one(1);
      break;
    case ids::kTest:
    case ids::kMpioTest:
      if (call.integer(1) != 0) one(2);
      break;
    case ids::kWaitany:
    case ids::kMpioWaitany:
      nth(call.values(1), call.integer(2), call.statuses(3), 0);
      break;
    case ids::kTestany:
      if (call.integer(3) != 0) nth(call.values(1), call.integer(2), call.statuses(4), 0);
      break;
    case ids::kMpioTestany:
      if (call.integer(2) != 0) nth(call.values(1), call.integer(3), call.statuses(4), 0);
      break;
    case ids::kWaitall:
    case ids::kMpioWaitall:
    case ids::kTestall:
    case ids::kMpioTestall: {
      const bool test = call.id == ids::kTestall || call.id == ids::kMpioTestall;
      if (test && call.integer(2) == 0) break;
      const Values list = call.values(1);
      const Statuses statuses = call.statuses(test ? 3 : 2);
      for (std::uint32_t n = 0; n < list.size(); ++n) nth(list, n, statuses, n);
      break;
    }
    default: {  // the four "some"
      const Values list = call.values(1);
      const Values indices = call.values(3);
      const Statuses statuses = call.statuses(4);
      for (std::uint32_t n = 0; n < indices.size(); ++n) nth(list, indices[n], statuses, n);
    }
  }
}

template <class Listener>
void Requests::follow(const Call& call, const Tables& tables, std::int64_t posted_ns, Listener& listener) {
  const Role role = role_of(call.id);
  switch (role) {
    case Role::send:
    case Role::recv:
    case Role::send_init:
    case Role::recv_init: {
      const PointToPoint message(call, true);
      const bool receives = role == Role::recv || role == Role::recv_init;
      const bool persistent = role == Role::send_init || role == Role::recv_init;
      Pending& pending = add(requests_, id(message.request), call, receives ? Pending::Kind::recv : Pending::Kind::send,
                             persistent, message.peer);
      pending.active = !persistent;
      pending.posted_ns = posted_ns;
      pending.tag = message.tag;
      pending.bytes = static_cast<std::int64_t>(static_cast<std::uint64_t>(std::int64_t{message.count}) *
                                                static_cast<std::uint64_t>(tables.size_of(message.datatype)));
      pending.communicator = tables.communicator(message.communicator);
      if (!persistent) listener.begun(call, pending);
      return;
    }
    case Role::io: {
      Pending& pending = add(io_requests_, id(call.integer(call.function().argument_count - std::size_t{1})), call,
                             Pending::Kind::io, false, 0);
      pending.posted_ns = posted_ns;
      pending.bytes = transfer_of(call, tables, ByteRules::actual).io;
      listener.begun(call, pending);
      return;
    }
    case Role::wait:
      completions(call, listener);
      return;
    default:
      break;
  }
  switch (call.id) {
    case ids::kStart:
      start(id(call.integer(0)), call, posted_ns, listener);
      break;
    case ids::kStartall: {
      const Values list = call.values(1);
      for (std::uint32_t n = 0; n < list.size(); ++n) start(id(list[n]), call, posted_ns, listener);
      break;
    }
    case ids::kGrequestStart: {
      Pending& pending = add(requests_, id(call.integer(0)), call, Pending::Kind::other, false, 0);
      pending.posted_ns = posted_ns;
      listener.begun(call, pending);
      break;
    }
    case ids::kRequestFree:
      if (Queue* queue = find(requests_, id(call.integer(0)))) queue->take(queue->find(call.thread));
      break;
    case ids::kCancel:
      if (Queue* queue = find(requests_, id(call.integer(0)))) queue->of(call.thread).cancelling = true;
      break;
    default:
      break;
  }
}

// Sends that were cancelled before anybody received them, by sequence, in ascending order.
std::vector<std::uint64_t> cancelled_sends(const File& file, const ScanResult& scan, Tables tables);

}  // namespace fathom::dumpi
