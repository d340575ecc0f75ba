// Matching of messages from the events of the level: the mapping has resolved wildcards and communicators, so that
// the MPI rule is left: equal (sender, receiver, communicator, tag) match in the order of posting.
#include <algorithm>
#include <tuple>

#include "base/parallel.hpp"
#include "trace/trace.hpp"

namespace fathom {

namespace {

struct Half {
  std::int32_t from;
  std::int32_t to;
  std::uint32_t communicator;
  std::int32_t tag;
  LocationId location;
  std::int64_t posted;  // time of posting, where known
  std::uint64_t order;  // of posting in the stream
  std::uint64_t record;
  std::int64_t bytes;
  std::int64_t time_ns;
  bool has_time;

  [[nodiscard]] auto key() const { return std::tie(to, from, communicator, tag); }
};

bool earlier(const Half& a, const Half& b) {
  return std::tuple(a.key(), a.posted, a.order, a.location) < std::tuple(b.key(), b.posted, b.order, b.location);
}

std::optional<std::int32_t> rank_of(const Definitions& definitions, LocationId location) {
  const SystemNodeId group = definitions.system.group_of(location);
  if (!group.valid()) return std::nullopt;
  const auto& rank = definitions.system.nodes[group.index()].rank;
  if (!rank) return std::nullopt;
  return static_cast<std::int32_t>(*rank);
}

}  // namespace

Result<void> Trace::messages(TimeWindow window, const MessageSink& sink) const {
  const std::size_t count = location_count();
  std::vector<std::vector<Half>> sends(count);
  std::vector<std::vector<Half>> receives(count);
  // The whole trace takes part in the matching, the window only chooses what is shown: otherwise a receive near its
  // edge would take a later send.
  FATHOM_CHECK(parallel_for(count, [&](std::size_t i) -> Result<void> {
    const LocationId location(i);
    const auto rank = rank_of(definitions_, location);
    if (!rank) return {};
    FATHOM_TRY(auto stream, open(location, {}));
    EventCursor cursor(std::move(stream), 1024);
    while (const Event* event = cursor.next()) {
      if (event->kind != EventKind::send && event->kind != EventKind::recv) continue;
      if (event->peer < 0) continue;
      const bool is_send = event->kind == EventKind::send;
      const std::uint64_t order = event->origin != Event::kNoRecord ? event->origin : event->record;
      (is_send ? sends : receives)[i].push_back({is_send ? *rank : event->peer, is_send ? event->peer : *rank,
                                                 event->communicator.value, event->tag, location,
                                                 event->has_value ? event->value : 0, order, event->record,
                                                 event->bytes, event->time_ns, event->has_time});
    }
    return cursor.status();
  }));

  std::vector<Half> from;
  std::vector<Half> to;
  for (auto& part : sends) {
    from.insert(from.end(), part.begin(), part.end());
    part = {};
  }
  for (auto& part : receives) {
    to.insert(to.end(), part.begin(), part.end());
    part = {};
  }
  std::sort(from.begin(), from.end(), earlier);
  std::sort(to.begin(), to.end(), earlier);
  auto s = from.begin();
  for (const Half& r : to) {
    while (s != from.end() && s->key() < r.key()) ++s;
    if (s == from.end()) break;
    if (s->key() != r.key()) continue;
    const Half& send = *s++;
    const auto inside = [&](const Half& half) {
      return !half.has_time || (half.time_ns >= window.from_ns && half.time_ns < window.to_ns);
    };
    if (!inside(send) && !inside(r)) continue;
    Message message;
    message.from = send.location;
    message.to = r.location;
    message.from_rank = send.from;
    message.to_rank = send.to;
    message.tag = send.tag;
    message.communicator = CommunicatorId(send.communicator);
    message.bytes = send.bytes;
    if (send.has_time) message.sent_ns = send.time_ns;
    if (r.has_time) message.received_ns = r.time_ns;
    message.send_record = send.record;
    message.recv_record = r.record;
    if (!sink(message)) break;
  }
  return {};
}

}  // namespace fathom
