// The timeline of a report: a summary of bounded size, whatever the trace.
#pragma once

#include "defs/system_tree.hpp"
#include "serve/report_questions.hpp"

namespace fathom::serve {

// The rows that a report shows of a trace: all locations while they are few; otherwise groups of the system, the finest
// that are few enough; where there is next to no grouping, locations at equal distances.
struct ReportRows {
  std::vector<std::string> rows;  // as tiles name them: "5", "g2"
  std::string text;               // what they are: "all 16 rows"
};
ReportRows report_rows(const SystemTree& system);

// Zoom levels, the coarsest first: the first one has the whole span in two tiles at most.
std::vector<unsigned> report_levels(std::int64_t span_ns);

// Makes the index when it is not there yet.
Result<void> ask_timeline(Viewer& viewer, std::size_t number, const std::string& name, const TakeQuestion& take);

}  // namespace fathom::serve
