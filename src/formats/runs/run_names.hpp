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

// Whether what stands before the first dot is the program's name or a parameter.
enum class FirstPart : std::uint8_t { prefix, parameter };

// [prefix.]name number name number ...[.r<repetition>]. Numbers are digits with one '.' or ',' as decimal separator;
// between parameters '.' and ',' may stand as well.
Result<NamedPoint> parse_run_name(std::string_view name, FirstPart first = FirstPart::prefix);

// What the first part of these names is: a parameter where it has the form of one in all of them and its value changes
// ("x2.y8", "x4.y8"), a prefix otherwise.
FirstPart first_part_of(const std::vector<std::string>& names);

// What is neither a parameter, nor its value, nor the number of the repetition. Numbers in the prefix (dates, jobs) are
// all the same; there may be none.
struct NameFrame {
  std::string prefix;
  std::string behind;  // the last value, and the repetition
};
NameFrame frame_of(std::string_view name, FirstPart first);

}  // namespace fathom::runs
