#include "trace/summary/message_store.hpp"

#include <algorithm>
#include <tuple>

namespace fathom::summary {

Result<std::shared_ptr<const MessageStore>> MessageStore::build(const Trace& trace, const Work& work) {
  auto store = std::make_shared<MessageStore>();
  constexpr std::uint64_t kMostMemory = std::uint64_t{128} << 20;
  const std::uint64_t memory = std::min(kMostMemory, work->budget.limit() / 16);
  FATHOM_TRY(store->reserved_, work->budget.reserve(memory, "the messages of a timeline"));
  store->pool_ = std::make_unique<ArrayPool>(memory);
  store->messages_ = LargeArray<StoredMessage>(*store->pool_);
  FATHOM_CHECK(trace.messages({}, [&](const Message& message) {
    if (!message.sent_ns || !message.received_ns || !message.from.valid() || !message.to.valid()) {
      ++store->untimed_;
      return true;
    }
    store->messages_.push_back(
        {*message.sent_ns, *message.received_ns, message.bytes, static_cast<std::uint32_t>(message.from.index()),
         static_cast<std::uint32_t>(message.to.index()), message.tag,
         message.communicator.valid() ? static_cast<std::uint32_t>(message.communicator.index()) : 0xFFFFFFFF,
         message.from_rank, message.to_rank});
    return true;
  }));
  FATHOM_CHECK(store->pool_->status());
  std::sort(store->messages_.begin(), store->messages_.end(), [](const StoredMessage& a, const StoredMessage& b) {
    return std::tie(a.sent_ns, a.from, a.to, a.received_ns, a.tag) <
           std::tie(b.sent_ns, b.from, b.to, b.received_ns, b.tag);
  });
  for (std::size_t i = 0; i < store->messages_.size(); ++i) {
    const StoredMessage& message = store->messages_[i];
    if (i % kBlock == 0) store->blocks_.push_back({message.sent_ns, message.received_ns});
    store->blocks_.back().last_received = std::max(store->blocks_.back().last_received, message.received_ns);
  }
  return std::shared_ptr<const MessageStore>(std::move(store));
}

}  // namespace fathom::summary
