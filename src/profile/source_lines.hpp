// Values by line of source.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profile/views.hpp"

namespace fathom {

struct SourceLines {
  std::string file;
  double total = 0;                                             // what its lines add up to
  std::map<std::int64_t, double> lines;                         // by line; 0 = not known
  std::vector<std::pair<std::int64_t, std::string>> functions;  // where functions begin
};

// Every file that regions name, falling by total. A value belongs to the line that it was measured in: of a context
// with lines below it, what those do not cover belongs to the context's own line.
Result<std::vector<SourceLines>> source_lines(const Profile& profile, const ViewInput& input);

}  // namespace fathom
