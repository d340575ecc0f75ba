// The numbers that statistics are made of: per rank, bin, peer and size of messages. Parts of a stream are counted one
// by one and put together in order.
#pragma once

#include <limits>
#include <map>

#include "base/capped_sum.hpp"
#include "fathom/dumpi.hpp"
#include "formats/dumpi/bins.hpp"
#include "trace/event.hpp"

namespace fathom::dumpi {

struct Sums {
  std::uint64_t count = 0;
  std::int64_t wall_ns = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t sent = 0;
  std::int64_t received = 0;
  std::int64_t io = 0;
  void add(const Sums& other);
};

// Something that runs on all the time, a clock or a counter: how far it came inside of calls and between them.
struct Gauge {
  bool any = false;
  std::int64_t first = 0, last = 0;
  std::int64_t inside = 0, outside = 0;
  // Time between two pieces that are collected is nobody's.
  static constexpr std::int64_t kNoPiece = std::numeric_limits<std::int64_t>::min();
  std::int64_t first_piece = kNoPiece;  // where it begins: pieces of a rank do not overlap
  std::int64_t last_piece = kNoPiece;

  void add(std::int64_t start, std::int64_t stop, const Interval* in = nullptr) {
    const std::int64_t piece = in != nullptr ? in->from_ns : kNoPiece;
    if (!any) {
      any = true;
      first = start;
      first_piece = piece;
    } else if (piece == last_piece) {
      outside += start - last;
    }
    inside += stop - start;
    last = stop;
    last_piece = piece;
  }
  // Calls that come after these in the stream.
  void append(const Gauge& later);
};

struct Messages {
  std::uint64_t count = 0;
  CappedSum bytes;
  void add(std::int64_t more) {
    ++count;
    bytes += more;
  }
};
struct SizeCount {
  std::uint64_t sends = 0;
  std::uint64_t receives = 0;
};

inline constexpr std::size_t kSizeClasses = 65;  // class n: sizes of n bits, so 0, 1, 2-3, 4-7, ...
std::size_t size_class(std::int64_t bytes);
// Class n of the community's tool: sizes above 2^(n-2) and up to 2^(n-1), so 0, 1, 2, 3-4, 5-8, ...
std::size_t lump_class(std::int64_t bytes);

// What one call adds.
struct Contribution {
  Sums sums;
  std::int32_t peer = kNoPeer;  // of what it sends, or of whose memory it writes or reads
  bool sends = false;
  bool receives = false;
  bool collective = false;
  bool moves = false;    // data go to the peer with this call: no persistent send, which only begins to when started
  bool fetches = false;  // they come from there
};

// The numbers behind one column that was asked for; only those of its kind are kept.
struct ColumnNumbers {
  Sums sums;
  Gauge wall, cpu;
  std::vector<Gauge> counters;
  std::map<std::int32_t, Messages> peers;  // by receiving rank
  std::map<std::size_t, SizeCount> sizes;
  void append(const ColumnNumbers& later);
};

// Calls of one rank in one bin; the maps are filled when asked for.
struct BinNumbers {
  Sums all;
  Gauge wall, cpu;
  std::vector<Gauge> counters;
  std::map<std::uint16_t, Sums> calls;
  std::map<std::int32_t, Messages> peers, fetched;
  std::map<std::size_t, SizeCount> sizes;
  std::vector<ColumnNumbers> columns;
  void append(const BinNumbers& later);
};

// Of one rank.
struct RankNumbers {
  std::array<Sums, kIds> functions{};
  std::map<std::int32_t, Messages> peers;    // by receiving rank
  std::map<std::int32_t, Messages> fetched;  // by the rank whose memory was read (MPI_Get)
  std::array<SizeCount, kSizeClasses> sizes{};
  Gauge wall, cpu;
  std::vector<Gauge> counters;
  std::vector<ColumnNumbers> columns;
  // Only bins that hold calls; (number of the cut, number of the bin).
  std::map<std::pair<std::size_t, std::uint64_t>, BinNumbers> bins;
  void append(const RankNumbers& later);
};

// For other processes.
template <class Pack>
void pack_fields(Pack& pack, ColumnNumbers& numbers) {
  pack(numbers.sums, numbers.wall, numbers.cpu, numbers.counters, numbers.peers, numbers.sizes);
}
template <class Pack>
void pack_fields(Pack& pack, BinNumbers& numbers) {
  pack(numbers.all, numbers.wall, numbers.cpu, numbers.counters, numbers.calls, numbers.peers, numbers.fetched,
       numbers.sizes, numbers.columns);
}
template <class Pack>
void pack_fields(Pack& pack, RankNumbers& numbers) {
  pack(numbers.functions, numbers.peers, numbers.fetched, numbers.sizes, numbers.wall, numbers.cpu, numbers.counters,
       numbers.columns, numbers.bins);
}

// The counters of a call, inside of it and since the one before.
void add_counters(std::vector<Gauge>& counters, const Call& call, const Interval* piece);

}  // namespace fathom::dumpi
