// Messages of a trace by the time they were sent, so that those of a window are found without looking at the others.
#pragma once

#include <memory>
#include <vector>

#include "io/large_array.hpp"
#include "trace/trace.hpp"

namespace fathom::summary {

struct StoredMessage {
  std::int64_t sent_ns = 0;
  std::int64_t received_ns = 0;
  std::int64_t bytes = 0;
  std::uint32_t from = 0;  // locations
  std::uint32_t to = 0;
  std::int32_t tag = 0;
  std::uint32_t communicator = 0xFFFFFFFF;
  std::int32_t from_rank = 0;
  std::int32_t to_rank = 0;
};

// MT: safe (const).
class MessageStore {
 public:
  // Reads all messages once; what does not fit into memory goes to a file.
  static Result<std::shared_ptr<const MessageStore>> build(const Trace& trace, const Work& work);

  [[nodiscard]] std::size_t size() const { return messages_.size(); }
  [[nodiscard]] std::uint64_t untimed() const { return untimed_; }  // left out
  // Those that are under way at some moment of the window, in the order in which they were sent.
  template <class Visit>
  void each(std::int64_t from_ns, std::int64_t to_ns, Visit&& visit) const {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_[b].first_sent >= to_ns) return;
      if (blocks_[b].last_received < from_ns) continue;
      const std::size_t end = std::min(messages_.size(), (b + 1) * kBlock);
      for (std::size_t i = b * kBlock; i < end; ++i) {
        const StoredMessage& message = messages_[i];
        if (message.sent_ns >= to_ns) return;
        if (message.received_ns >= from_ns) visit(message);
      }
    }
  }

 private:
  static constexpr std::size_t kBlock = 256;
  struct Block {
    std::int64_t first_sent = 0;
    std::int64_t last_received = 0;
  };
  std::unique_ptr<ArrayPool> pool_;
  LargeArray<StoredMessage> messages_;
  std::vector<Block> blocks_;
  std::uint64_t untimed_ = 0;
  Budget::Reservation reserved_;
};

}  // namespace fathom::summary
