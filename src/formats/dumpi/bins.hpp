// Bins of time as users write them, and as annotations make them.
#pragma once

#include "formats/dumpi/rank_set.hpp"

namespace fathom::dumpi {

// A piece of time, from inclusive, to exclusive.
struct Interval {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::uint64_t bin = 0;  // several pieces may be one bin
};

// One way of cutting time; the pieces of a rank do not overlap and are in order.
struct Bins {
  std::vector<std::vector<Interval>> ranks;  // one list for all, or one per file
  [[nodiscard]] const std::vector<Interval>& of(std::size_t file) const {
    return ranks.size() == 1 ? ranks[0] : ranks[file];
  }
  // The piece that holds a moment, or null.
  [[nodiscard]] const Interval* find(std::size_t file, std::int64_t time_ns) const;
};

// "12" (that many equal bins), "all", "mpi", "A to B", the latter three with "by T"; A and B are start, end, init,
// finalize or a time, plus or minus a time; a time is [[hh:]mm:]ss[.fff]. The same for all ranks, on the trace's clock.
Result<Bins> parse_bins(std::string_view text, const RankSet& set, const std::vector<ScanResult>& scans);

// "/begin/end/": from an annotation that matches the first regular expression to the next one that matches the second,
// on each rank by its own annotations. Every such piece is a bin, or all of them are one (`gathered`).
Result<Bins> bins_of_marks(std::string_view text, bool gathered, const RankSet& set,
                           const std::vector<ScanResult>& scans);

}  // namespace fathom::dumpi
