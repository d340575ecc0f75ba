// Bins of time as users write them.
#pragma once

#include "formats/dumpi/statistics.hpp"

namespace fathom::dumpi {

// "12" (that many equal bins), "all", "mpi", "A to B", each with "by T"; A and B are start, end, init, finalize or a
// time, plus or minus a time; a time is [[hh:]mm:]ss[.fff].
Result<Bins> parse_bins(std::string_view text, const RankSet& set, const std::vector<ScanResult>& scans);
// "/begin/end/": from an annotation that matches the first regular expression to the next that matches the second.
Result<Bins> bins_of_marks(std::string_view text, const RankSet& set, const std::vector<ScanResult>& scans);

}  // namespace fathom::dumpi
