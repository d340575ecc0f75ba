#include "cli/time_argument.hpp"

#include <fmt/format.h>

#include <limits>

#include "base/number.hpp"
#include "base/time_text.hpp"
#include "trace/merge.hpp"

namespace fathom::cli {

Result<std::optional<std::int64_t>> time_argument(const std::optional<std::string>& text) {
  if (!text) return std::optional<std::int64_t>();
  // A fraction of a nanosecond is none: a unit was forgotten.
  const bool bare = text->find_first_not_of("+-0123456789.") == std::string::npos;
  const auto time = bare && text->find('.') != std::string::npos ? std::nullopt : parse_time_ns(*text, 1);
  if (!time) {
    return Error::usage(fmt::format("'{}' is no time", *text))
        .hint("a time is a number of ns, or has a unit: 12us, 3.5ms, 1.25s");
  }
  return std::optional<std::int64_t>(*time);
}

Result<std::optional<std::int64_t>> first_time(const Trace& trace) {
  if (const auto span = trace.known_span()) return std::optional(span->from_ns);
  std::optional<std::int64_t> first;
  FATHOM_TRY(auto merged, MergedEvents::over(trace));
  while (const Event* event = merged.next()) {
    if (!event->has_time) continue;
    first = event->time_ns;
    break;
  }
  FATHOM_CHECK(merged.status());
  return first;
}

Result<TimeWindow> window_argument(Session& session, const Trace& trace, const std::optional<std::string>& from,
                                   const std::optional<std::string>& to) {
  TimeWindow window;
  if (!from && !to) return window;
  FATHOM_TRY(const std::optional<std::int64_t> first, first_time(trace));
  const std::optional<TimeWindow> span = trace.known_span();
  const auto moment = [&](const std::optional<std::string>& text, std::int64_t& out) -> Result<void> {
    if (!text) return {};
    const bool on_clock = text->starts_with('@');
    FATHOM_TRY(const auto time, time_argument(on_clock ? text->substr(1) : *text));
    out = *time;
    if (on_clock || !first) return {};
    std::int64_t since = 0;
    const bool beyond = __builtin_add_overflow(*time, *first, &since) || (span && since > span->to_ns);
    if (beyond && span && *time >= span->from_ns && *time <= span->to_ns) {
      session.note(fmt::format(
          "{0} is taken as a time of the trace's clock; write @{0} (times are since the first event)", *text));
      return {};
    }
    out = beyond ? std::numeric_limits<std::int64_t>::max() : since;
    return {};
  };
  FATHOM_CHECK(moment(from, window.from_ns));
  FATHOM_CHECK(moment(to, window.to_ns));
  const bool empty =
      window.from_ns >= window.to_ns || (span && (window.from_ns > span->to_ns || window.to_ns <= span->from_ns));
  if (empty) {
    std::string text = "nothing of the trace lies in this window";
    if (span) {
      text += fmt::format(": it spans 0 s to {}, on its clock @{}ns to @{}ns",
                          readable(static_cast<double>(span->to_ns - span->from_ns), "ns"), span->from_ns, span->to_ns);
    }
    session.warn(text);
  }
  return window;
}

}  // namespace fathom::cli
