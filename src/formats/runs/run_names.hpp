// Names of runs and the parameter values in them: "app.p8.n100.r1" is p=8, n=100, repetition 1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace fathom::runs {

struct NamedPoint {
  std::vector<std::string> names;
  std::vector<double> values;
};

// [prefix.]name number name number ...[.r<repetition>]. Numbers are digits with one '.' or ',' as decimal separator;
// between parameters '.' and ',' may stand as well.
Result<NamedPoint> parse_run_name(std::string_view name);

}  // namespace fathom::runs
