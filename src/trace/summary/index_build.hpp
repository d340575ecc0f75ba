// The index of a timeline made beforehand, by all processes of a team: each reads rows of its own and writes them to
// their places in the one file.
#pragma once

#include "trace/summary/index_file.hpp"

namespace fathom::summary {

struct BuiltIndex {
  bool made = false;  // false: it was there, of this input
  std::uint64_t rows = 0;
  std::uint64_t events = 0;
  std::uint64_t transitions = 0;
  std::uint64_t bytes = 0;  // of the file
};

// The file is that of Timeline, byte for byte, for any number of processes. Of the place the first process's counts;
// the first has the result, the others are told to leave (elsewhere()).
Result<BuiltIndex> build_index(const Trace& trace, ChannelId channel, const Work& work, const IndexPlace& place);

}  // namespace fathom::summary
