// What readers of tables do with a request.
#pragma once

#include <vector>

#include "base/table.hpp"

namespace fathom {

// Positions of the columns to deliver; all when none is named.
inline std::vector<std::size_t> wanted_columns(const Schema& schema, const ScanRequest& request) {
  if (!request.columns.empty()) return request.columns;
  std::vector<std::size_t> all(schema.columns.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

}  // namespace fathom
