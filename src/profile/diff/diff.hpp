// Two profiles, or repetitions of two, compared.
#pragma once

#include <span>

#include "profile/diff/changes.hpp"
#include "profile/profile.hpp"

namespace fathom {

// What makes a thing the same on both sides.
enum class MatchBy : std::uint8_t {
  name,  // regions by their names, wherever they are called from: code that was moved is the same
  path,  // contexts by all names from the root down
  line,  // regions by file and first line: code that was renamed is the same; by name where a region has no line
  file,  // the files that regions are in
};

struct DiffOptions {
  MatchBy match = MatchBy::name;
  bool inclusive = false;
};

// The metric of that name, summed over the locations, on both sides; each side is one profile or several repetitions.
// A side whose profiles lack the metric is an error.
Result<MetricChanges> diff(std::span<const ProfilePtr> before, std::span<const ProfilePtr> after,
                           const std::string& metric, const DiffOptions& options);

}  // namespace fathom
