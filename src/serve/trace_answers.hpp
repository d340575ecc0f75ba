// All questions about a trace by their names.
#pragma once

#include "serve/timeline_answers.hpp"
#include "serve/window_answers.hpp"

namespace fathom {
struct Profile;
}

namespace fathom::serve {

// MT: internally synchronised.
class TraceAnswers {
 public:
  TraceAnswers(std::shared_ptr<const Trace> trace, Work work, std::filesystem::path path, IndexOptions index,
               WindowAnswers::Statistics statistics)
      : timeline_(std::move(trace), std::move(work), std::move(path), std::move(index)),
        window_(timeline_, std::move(statistics)) {}

  // Whether this is a question about a trace.
  static bool knows(std::string_view what);
  Result<Answer> answer(std::string_view what, const Request& request);
  // The profile of a window, "FROM-TO" in ns since the first event, as `reduce` makes it.
  Result<std::shared_ptr<const Profile>> profile_of(std::string_view window);
  [[nodiscard]] TimelineAnswers& timeline() { return timeline_; }

 private:
  TimelineAnswers timeline_;
  WindowAnswers window_;
};

}  // namespace fathom::serve
