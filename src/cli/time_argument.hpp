// Moments on a trace's clock as commands take them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/session.hpp"
#include "trace/trace.hpp"

namespace fathom::cli {

// A number of ns, or a number with a unit: 12us, 3.5ms, 1.25s. Nothing given, nothing returned.
Result<std::optional<std::int64_t>> time_argument(const std::optional<std::string>& text);

// --from-time and --to-time: times since the first event, or with an @ before them on the trace's own clock. A time
// that lies behind the end but would be inside of the trace on its clock is taken so, with a hint. A window in which
// nothing can be is told with the span that there is.
Result<TimeWindow> window_argument(Session& session, const Trace& trace, const std::optional<std::string>& from,
                                   const std::optional<std::string>& to);
// The first event of a trace; nothing when it has none.
Result<std::optional<std::int64_t>> first_time(const Trace& trace);

}  // namespace fathom::cli
