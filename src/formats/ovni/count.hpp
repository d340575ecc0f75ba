// How often each event occurs: over the whole trace, per model, per stream.
#pragma once

#include "formats/ovni/native_trace.hpp"

namespace fathom::ovni {

struct CodeCount {
  Mcv mcv = 0;
  std::uint64_t count = 0;
};

struct StreamCounts {
  std::vector<CodeCount> codes;  // in no order
  std::uint64_t events = 0;
  std::int64_t first_clock = 0;
  std::int64_t last_clock = 0;
};

// One pass over all streams, in parallel.
Result<std::vector<StreamCounts>> count_events(const NativeTrace& trace, const Work& work);

// Over all streams: by count, the most frequent first, then by code.
std::vector<CodeCount> sum_counts(const std::vector<StreamCounts>& counts);

// One line per code: "MCV      count".
std::string counts_text(const std::vector<CodeCount>& counts);

}  // namespace fathom::ovni
