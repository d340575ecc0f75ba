// The ends of messages, as the streams of a trace have them, before they are put together.
#pragma once

#include <atomic>
#include <tuple>

#include "io/external_sort.hpp"
#include "trace/trace.hpp"

namespace fathom::messages {

struct Half {
  std::int32_t to;
  std::int32_t from;  // kUnknownPeer: a receive from anybody whose status is not known
  std::uint32_t communicator;
  std::int32_t tag;
  std::int64_t posted;   // time of posting, where known
  std::uint64_t order;   // of posting in the stream: of a persistent request that of its start
  std::uint64_t serial;  // of the location's messages: tells those apart that one record posts
  std::uint64_t record;
  std::int64_t bytes;
  std::int64_t time_ns;
  LocationId location;
  bool has_time;

  [[nodiscard]] auto key() const { return std::tie(to, from, communicator, tag); }
  [[nodiscard]] auto pair() const { return std::tie(to, from, communicator); }
  [[nodiscard]] auto when() const { return std::tie(posted, order, location, serial); }
  [[nodiscard]] bool inside(TimeWindow window) const {
    return !has_time || (time_ns >= window.from_ns && time_ns < window.to_ns);
  }
};

struct Earlier {
  bool operator()(const Half& a, const Half& b) const {
    if (a.key() != b.key()) return a.key() < b.key();
    return a.when() < b.when();
  }
};
using Halves = ExternalSorter<Half, Earlier>;

struct Unmatched {
  std::uint64_t sends = 0;
  std::uint64_t receives = 0;
  std::uint64_t uncertain = 0;             // matched, but a receive from somebody unknown may have taken what they got
  std::atomic<std::uint64_t> unknown = 0;  // peer
};

// Reads all of them, about `run` at a time: those of the whole trace, or in a team those of messages to the receivers
// of this process, which are neighbours in the order of ranks.
Result<void> read_ends(const Trace& trace, Halves& sends, Halves& receives, std::size_t run, Unmatched& unmatched);

}  // namespace fathom::messages
