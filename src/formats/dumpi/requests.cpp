#include "formats/dumpi/requests.hpp"

#include <algorithm>

namespace fathom::dumpi {

namespace {

constexpr std::array<bool, kIds> make_touching() {
  std::array<bool, kIds> touching{};
  for (const auto id :
       {ids::kIsend,           ids::kIbsend,          ids::kIssend,       ids::kIrsend,      ids::kIrecv,
        ids::kSendInit,        ids::kBsendInit,       ids::kSsendInit,    ids::kRsendInit,   ids::kRecvInit,
        ids::kStart,           ids::kStartall,        ids::kWait,         ids::kTest,        ids::kWaitany,
        ids::kTestany,         ids::kWaitall,         ids::kTestall,      ids::kWaitsome,    ids::kTestsome,
        ids::kMpioTest,        ids::kMpioWait,        ids::kMpioTestall,  ids::kMpioWaitall, ids::kMpioTestany,
        ids::kMpioWaitany,     ids::kMpioWaitsome,    ids::kMpioTestsome, ids::kRequestFree, ids::kCancel,
        ids::kGrequestStart,   ids::kFileIreadAt,     ids::kFileIwriteAt, ids::kFileIread,   ids::kFileIwrite,
        ids::kFileIreadShared, ids::kFileIwriteShared}) {
    touching[id] = true;
  }
  return touching;
}
// Completions may not be recorded at all: then what shares an id must not pile up.
constexpr std::size_t kMostShared = std::size_t{1} << 16;

bool is_io_completion(std::uint16_t id) { return id >= ids::kMpioTest && id <= ids::kMpioTestsome; }

// Sends and receives from nobody share a handle when they are over at once.
bool may_share(const Pending& pending) {
  if (pending.persistent) return false;
  return pending.kind == Pending::Kind::send || (pending.kind == Pending::Kind::recv && pending.peer < 0);
}

bool share(const Pending& a, const Pending& b) {
  if (!may_share(a) || !may_share(b)) return false;
  return a.thread == b.thread || (a.kind == Pending::Kind::send && b.kind == Pending::Kind::send);
}

}  // namespace

namespace detail {
constinit const std::array<bool, kIds> kTouching = make_touching();
}

std::size_t Requests::Queue::find(std::uint16_t thread) const {
  for (std::size_t at = head; at < items.size(); ++at) {
    if (items[at].thread == thread) return at;
  }
  return head;
}

void Requests::Queue::take(std::size_t at) {
  if (at != head) {
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
    return;
  }
  ++head;
  if (head == items.size() || (head >= 1024 && 2 * head >= items.size())) {
    items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(head));
    head = 0;
  }
}

Requests::Queue* Requests::find(Queues& queues, std::int64_t id) {
  Queue* queue = queues.find(id);
  return queue == nullptr || queue->empty() ? nullptr : queue;
}

Pending& Requests::add(Queues& queues, std::int64_t id, const Call& call, Pending::Kind kind, bool persistent,
                       std::int32_t peer) {
  Queue& queue = queues.at(id);
  {
    Pending& fresh = queue.items.emplace_back();
    fresh.kind = kind;
    fresh.persistent = persistent;
    fresh.thread = call.thread;
    fresh.peer = peer;
    fresh.record = call.number;
    fresh.made = call.number;
  }
  for (std::size_t at = queue.head; at + 1 < queue.items.size();) {
    Pending& fresh = queue.items.back();
    Pending& other = queue.items[at];
    if (share(fresh, other)) {
      fresh.shared = other.shared = true;
      break;
    }
    if (other.thread != fresh.thread) {
      ++at;
      continue;
    }
    // Its completion was not seen. What comes next is where it was, or at the new front.
    const bool first = at == queue.head;
    queue.take(at);
    if (first) at = queue.head;
  }
  if (queue.items.size() - queue.head > kMostShared) queue.take(queue.head);
  Pending& fresh = queue.items.back();
  if (!persistent) fresh.sequence = begun_++;
  return fresh;
}

void Requests::start(std::int64_t id, const Call& call, std::int64_t posted_ns, RequestListener& listener) {
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

void Requests::complete(std::int64_t id, const Call& call, const Status* status, RequestListener& listener) {
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

void Requests::completions(const Call& call, RequestListener& listener) {
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

void Requests::follow(const Call& call, const Tables& tables, std::int64_t posted_ns, RequestListener& listener) {
  const Role role = role_of(call.id);
  switch (role) {
    case Role::send:
    case Role::recv:
    case Role::send_init:
    case Role::recv_init: {
      // count datatype peer tag comm request
      const bool receives = role == Role::recv || role == Role::recv_init;
      const bool persistent = role == Role::send_init || role == Role::recv_init;
      Pending& pending = add(requests_, id(call.integer(5)), call, receives ? Pending::Kind::recv : Pending::Kind::send,
                             persistent, static_cast<std::int32_t>(call.integer(2)));
      pending.active = !persistent;
      pending.posted_ns = posted_ns;
      pending.tag = static_cast<std::int32_t>(call.integer(3));
      pending.bytes = static_cast<std::int64_t>(static_cast<std::uint64_t>(call.integer(0)) *
                                                static_cast<std::uint64_t>(tables.size_of(call.integer(1))));
      pending.communicator = tables.communicator(call.integer(4));
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

std::vector<std::uint64_t> cancelled_sends(const File& file, const ScanResult& scan, Tables tables) {
  struct Listener final : RequestListener {
    std::vector<std::uint64_t> found;
    void begun(const Call&, const Pending&) override {}
    void completed(const Call&, const Pending& pending, const Status* status) override {
      // Statuses of sends hold anything but the answer to this question.
      if (pending.kind != Pending::Kind::send || !pending.cancelling) return;
      if (status != nullptr && status->cancelled != 0) found.push_back(pending.sequence);
    }
  } listener;
  if (scan.per_function[ids::kCancel] == 0) return {};
  Requests requests(file.decoder().rules());
  for (const Chunk& chunk : scan.chunks) {
    for_each_call(file, chunk, [&](const Call& call) {
      if (!touches_requests(call.id)) return true;
      tables.advance(call.number);
      requests.follow(call, tables, 0, listener);
      return true;
    });
  }
  std::sort(listener.found.begin(), listener.found.end());
  return std::move(listener.found);
}

}  // namespace fathom::dumpi
