// What a report holds: the questions whose answers go into it, the most important ones first.
#pragma once

#include <functional>
#include <optional>

#include "serve/viewer.hpp"

namespace fathom::serve {

struct ReportQuestion {
  std::string address;  // by which the page finds the answer: as it asks, or the part of it that tells answers apart
  Request request;
  std::optional<Answer> answer;  // where it was worked out already
  std::string title;             // in words: "call tree of run.cubex"
  bool needed = false;           // there is no page without it
};
using TakeQuestion = std::function<Result<void>(const ReportQuestion&)>;

// A question whose address is that of the page: parameters sorted by name, empty ones left out.
ReportQuestion report_question(std::string path, std::map<std::string, std::string, std::less<>> query,
                               std::string title);

Result<void> each_report_question(Viewer& viewer, const TakeQuestion& take);

}  // namespace fathom::serve
