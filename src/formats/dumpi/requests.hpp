// Requests of one rank, followed from the call that begins an operation to the one that completes it.
#pragma once

#include <unordered_map>
#include <vector>

#include "formats/dumpi/transfer.hpp"

namespace fathom::dumpi {

// An operation that was begun.
struct Pending {
  enum class Kind : std::uint8_t { send, recv, io, other };
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

class RequestListener {
 public:
  virtual ~RequestListener() = default;
  // A send, receive or anything else is under way: posted, or a persistent one was started.
  virtual void begun(const Call& call, const Pending& pending) = 0;
  // It is over. No status = it was not recorded.
  virtual void completed(const Call& call, const Pending& pending, const Status* status) = 0;
};

// Whether a call begins, ends or changes requests.
namespace detail {
extern const std::array<bool, kIds> kTouching;
}
inline bool touches_requests(std::uint16_t id) { return id < kIds && detail::kTouching[id]; }

// All threads of a process share its requests: every call that touches them must come here, in stream order.
class Requests {
 public:
  explicit Requests(const Rules& rules) : narrow_(rules.narrow_requests) {}
  void follow(const Call& call, const Tables& tables, std::int64_t posted_ns, RequestListener& listener);
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
    // The first one of the thread, or of all where it has none.
    [[nodiscard]] std::size_t find(std::uint16_t thread) const;
    Pending& of(std::uint16_t thread) { return items[find(thread)]; }
    void take(std::size_t at);
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
  static Queue* find(Queues& queues, std::int64_t id);
  // A new one under the id, to be filled in where it stands.
  Pending& add(Queues& queues, std::int64_t id, const Call& call, Pending::Kind kind, bool persistent,
               std::int32_t peer);
  void start(std::int64_t id, const Call& call, std::int64_t posted_ns, RequestListener& listener);
  void complete(std::int64_t id, const Call& call, const Status* status, RequestListener& listener);
  void completions(const Call& call, RequestListener& listener);

  bool narrow_;  // old files keep the low 8 bits of ids
  std::uint64_t begun_ = 0;
  Queues requests_;
  Queues io_requests_;  // numbers of their own
};

// Sends that were cancelled before anybody received them, by sequence, in ascending order.
std::vector<std::uint64_t> cancelled_sends(const File& file, const ScanResult& scan, Tables tables);

}  // namespace fathom::dumpi
