// The report of a trace: its analysis in numbers, and what they mean.
#pragma once

#include "findings/finding.hpp"
#include "trace/analysis/analysis.hpp"

namespace fathom {

// Everything but path and format.
Report trace_report(const analysis::Analysis& analysis);

// Parts of it, for commands that show one of them.
std::vector<WaitState> wait_state_numbers(const analysis::Analysis& analysis);
std::vector<PathPart> critical_path_numbers(const analysis::Analysis& analysis);
EfficiencyNumbers efficiency_numbers(const analysis::Efficiencies& efficiencies);

// The largest of values by location (ns), those of at least `least` of `total`.
LocationShares largest_locations(const analysis::RunCalls& run, const std::vector<double>& ns, double total,
                                 double least = 0);

}  // namespace fathom
