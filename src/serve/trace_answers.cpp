#include "serve/trace_answers.hpp"

#include <map>

#include "base/text.hpp"
#include "profile/reduce/reduce.hpp"

namespace fathom::serve {

namespace {
using Timeline = Result<Answer> (TimelineAnswers::*)(const Request&);
using Window = Result<Answer> (WindowAnswers::*)(const Request&);

const std::map<std::string_view, Timeline, std::less<>> kTimeline = {{"timeline", &TimelineAnswers::timeline},
                                                                     {"progress", &TimelineAnswers::progress},
                                                                     {"tile", &TimelineAnswers::tile},
                                                                     {"at", &TimelineAnswers::at},
                                                                     {"next", &TimelineAnswers::next}};
const std::map<std::string_view, Window, std::less<>> kWindow = {
    {"window", &WindowAnswers::window},       {"shares", &WindowAnswers::shares},
    {"row_times", &WindowAnswers::row_times}, {"durations", &WindowAnswers::durations},
    {"messages", &WindowAnswers::messages},   {"matrix", &WindowAnswers::matrix},
    {"counters", &WindowAnswers::counters},   {"waits", &WindowAnswers::waits},
    {"heat", &WindowAnswers::heat},           {"collectives", &WindowAnswers::collectives}};
}  // namespace

bool TraceAnswers::knows(std::string_view what) { return kTimeline.contains(what) || kWindow.contains(what); }

Result<Answer> TraceAnswers::answer(std::string_view what, const Request& request) {
  if (const auto found = kTimeline.find(what); found != kTimeline.end()) return (timeline_.*found->second)(request);
  return (window_.*kWindow.at(what))(request);
}

Result<std::shared_ptr<const Profile>> TraceAnswers::profile_of(std::string_view window) {
  const auto dash = window.find('-');
  const auto from = parse_integer<std::int64_t>(window.substr(0, dash));
  const auto to = dash == std::string_view::npos ? std::nullopt : parse_integer<std::int64_t>(window.substr(dash + 1));
  constexpr std::int64_t kFarthest = std::int64_t{1} << 53;
  if (!from || !to || *from < 0 || *to <= *from || *to > kFarthest) return Error::usage("there is no such window");
  FATHOM_TRY(const auto made, timeline_.index({}));
  ReduceOptions options;
  options.window = {made->begin_ns() + *from, made->begin_ns() + *to};
  FATHOM_TRY(std::shared_ptr<const Profile> profile, reduce(timeline_.trace(), options, timeline_.work()));
  return profile;
}

}  // namespace fathom::serve
