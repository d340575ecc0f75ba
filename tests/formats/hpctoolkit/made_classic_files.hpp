// Files of classic databases that tests make.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace fathom::hpctoolkit {

inline std::string big_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
  return out;
}

// A row for each context, the root first.
inline std::string metric_file(const std::vector<std::vector<double>>& rows) {
  std::string out = "HPCPROF-metricdb__00.10b" + big_endian(rows.size(), 4) + big_endian(rows[0].size(), 4);
  for (const auto& row : rows) {
    for (const double value : row) out += big_endian(std::bit_cast<std::uint64_t>(value), 8);
  }
  return out;
}

}  // namespace fathom::hpctoolkit
