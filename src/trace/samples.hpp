// Traces of samples: which function ran, at any depth of the call stack, and how the time spreads.
#pragma once

#include <optional>

#include "base/option.hpp"
#include "trace/statistics.hpp"
#include "trace/trace.hpp"

namespace fathom {

// What a stream does between samples of anything, as the name of a function.
inline constexpr std::string_view kNoActivity = "<no activity>";

// The function of a context's call stack at `depth` (0 = the outermost), or the innermost one where the stack is not as
// deep or no depth is asked for. Loops and lines belong to their function. Invalid for an invalid context.
ContextId frame_at(const ContextTree& tree, ContextId context, std::optional<std::size_t> depth);

inline constexpr Option<std::uint64_t> kDepth{"depth", "N",
                                              "the function at this depth of the call stack; 0 = the outermost"};

// Time per function: a sample counts until the next one of its location, the last one not at all. Samples without a
// context are idle. kDepth chooses the function at that depth. --by location: the same per location; --by
// context: per call path down to the depth; --by gpu-idle: see gpu_idleness.hpp.
Result<TraceStatistics> sample_statistics(const Trace& trace, const StatisticsOptions& options);

}  // namespace fathom
