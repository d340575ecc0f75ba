// Ranks that are told by names of processes only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace fathom {

// "rank 3", "MPI Rank 3 (host)": 3.
inline std::optional<std::int64_t> rank_in_name(std::string_view name) {
  const std::string lower = to_lower(name);
  const std::size_t at = lower.find("rank ");
  if (at == std::string::npos || (at != 0 && lower[at - 1] != ' ')) return std::nullopt;
  const std::string_view digits = std::string_view(lower).substr(at + 5);
  std::size_t count = 0;
  while (count < digits.size() && digits[count] >= '0' && digits[count] <= '9') ++count;
  return parse_integer<std::int64_t>(digits.substr(0, count));
}

}  // namespace fathom
