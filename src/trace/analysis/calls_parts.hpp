// The steps of read_calls(): who is there, what each process of the trace has, and how it comes to the first process of
// a team that has read it together.
#pragma once

#include <map>

#include "base/share_out.hpp"
#include "trace/analysis/calls.hpp"

namespace fathom::analysis {

inline constexpr std::uint16_t kNoName = 0xFFFF;

// Which regions are calls, and which metrics tell how much was computed.
struct Names {
  std::vector<std::uint16_t> of_region;
  std::vector<CallName> names;
  std::vector<std::int8_t> counters;  // by metric: 0 = instructions, 1 = cycles, -1 = neither
};
Names call_names(const Definitions& definitions);

// Collectives of one process by communicator.
using PartsByGroup = std::map<std::uint32_t, std::vector<CallPlace>>;

// Locations by rank, processes, and whose clocks they have.
void lay_out(const Trace& trace, RunCalls& run);
// Communicators with the collectives of their members. `parts`: by process.
void make_groups(const Trace& trace, RunCalls& run, std::vector<PartsByGroup>& parts);
// One tree of call paths for all, in the order of processes.
void join_paths(RunCalls& run, const std::vector<PathTable>& paths);

// Finds the other end of every message while each process of the team has the calls of its share: ends of sends go to
// whoever has read the receiver, and back with what was found. match_messages() has nothing left to do then. `owner`:
// by process of the trace.
Result<void> match_together(const Share& share, const std::vector<unsigned>& owner, RunCalls& run);
// Every process of the team sends what it has read, one process of the trace after the other.
Result<void> bring_to_first(Share& share, RunCalls& run, std::vector<PartsByGroup>& parts,
                            std::vector<PathTable>& paths);
// Every process of the team keeps it instead, and knows who has what.
Result<void> keep_apart(Share& share, std::vector<unsigned> owner, RunCalls& run);

}  // namespace fathom::analysis
