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

std::size_t Requests::Queue::find_among_several(std::uint16_t thread) const {
  for (std::size_t at = head; at < items.size(); ++at) {
    if (items[at].thread == thread) return at;
  }
  return head;
}

void Requests::Queue::take_of_several(std::size_t at) {
  if (at != head) {
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
    return;
  }
  ++head;
  if (head == items.size()) {
    items.clear();
    head = 0;
  } else if (head >= 1024 && 2 * head >= items.size()) {
    items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(head));
    head = 0;
  }
}

Pending& Requests::settle(Queue& queue) {
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
  return queue.items.back();
}

std::vector<std::uint64_t> cancelled_sends(const File& file, const ScanResult& scan, Tables tables) {
  struct Listener {
    std::vector<std::uint64_t> found;
    void begun(const Call&, const Pending&) {}
    void completed(const Call&, const Pending& pending, const Status* status) {
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
