// Values by line of source.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profile/views.hpp"

namespace fathom {

struct SourceLines {
  struct Line {
    double own = 0;
    double inclusive = 0;  // with all that is called there; recursion counts once
  };
  std::string file;
  double total = 0;                                             // what is measured in its lines themselves
  double inclusive = 0;                                         // with all that is called from them
  std::map<std::int64_t, Line> lines;                           // those with values; 0 = not known
  std::vector<std::pair<std::int64_t, std::string>> functions;  // where functions begin
};

// Every file that regions name, falling by total, equal ones by inclusive value. A value belongs to the line that it
// was measured in: of a context with lines below it, what those do not cover belongs to the context's own line.
Result<std::vector<SourceLines>> source_lines(const Profile& profile, const ViewInput& input);

}  // namespace fathom
