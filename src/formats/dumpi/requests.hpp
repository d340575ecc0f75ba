// Pending requests of one rank: what a wait or test completes.
#pragma once

#include <deque>
#include <unordered_map>

#include "formats/dumpi/transfer.hpp"

namespace fathom::dumpi {

struct Pending {
  enum class Kind : std::uint8_t { send, recv, io };
  Kind kind = Kind::send;
  bool persistent = false;
  bool active = true;   // persistent: started and not completed yet
  bool shared = false;  // others were pending under the same id: a receive is one from nobody
  std::int64_t posted_ns = 0;
  std::uint64_t record = 0;  // that began it
  std::int32_t source = 0;   // as posted, in the communicator
  std::int32_t tag = 0;
  std::int64_t bytes = 0;
  std::int32_t thread = 0;
  std::uint16_t call = 0;  // id of the function that began it
  CommunicatorView communicator;
};

// One id can stand for several pending sends at once (libraries share a handle between sends that completed at once),
// and ids come back all the time: hence a queue per id.
class Requests {
 public:
  void begin(std::int64_t id, Pending pending) {
    auto& queue = pending_[id];
    if (!queue.empty()) {
      // Sends and receives from nobody share a handle when they are over at once; anything else under an id that is
      // still taken means that its completion was not seen.
      if (!may_share(pending) || !may_share(queue.front())) {
        queue.clear();
      } else {
        pending.shared = queue.front().shared = true;
      }
    }
    queue.push_back(pending);
  }
  // A persistent request is started again.
  Pending* restart(std::int64_t id, std::uint64_t record, std::int64_t posted_ns) {
    const auto it = pending_.find(id);
    if (it == pending_.end() || it->second.empty() || !it->second.front().persistent) return nullptr;
    it->second.front().active = true;
    it->second.front().record = record;
    it->second.front().posted_ns = posted_ns;
    return &it->second.front();
  }
  // The oldest operation of that id is over; nothing when it is not known.
  std::optional<Pending> complete(std::int64_t id) {
    const auto it = pending_.find(id);
    if (it == pending_.end() || it->second.empty()) return std::nullopt;
    Pending& front = it->second.front();
    if (front.persistent) {
      if (!front.active) return std::nullopt;
      front.active = false;
      return front;
    }
    const Pending done = front;
    it->second.pop_front();
    return done;
  }
  void free(std::int64_t id) {
    const auto it = pending_.find(id);
    if (it != pending_.end() && !it->second.empty()) it->second.pop_front();
  }

 private:
  static bool may_share(const Pending& pending) {
    if (pending.persistent) return false;
    return pending.kind == Pending::Kind::send || (pending.kind == Pending::Kind::recv && pending.source < 0);
  }
  std::unordered_map<std::int64_t, std::deque<Pending>> pending_;
};

}  // namespace fathom::dumpi
