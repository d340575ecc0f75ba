// Metrics that a written format has no place for: told together, with their names, since one note after the other would
// show the first and count the rest.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/profile.hpp"

namespace fathom {

class LeftOutMetrics {
 public:
  void add(const Metric& metric, std::string_view why);
  // One warning about all of them; nothing where there are none.
  Result<void> tell(const Profile& profile, std::string_view id) const;

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason_;
};

}  // namespace fathom
