// Databases as read_database.py reads them, which shares nothing with the readers of the project.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include "base/text.hpp"
#include "profile/compute.hpp"

namespace fathom::hpctoolkit {

namespace fs = std::filesystem;

// (metric, scope, context, profile) -> value, and context -> parent, as the independent reader prints them.
struct Printed {
  std::map<std::string, double> values;
  std::map<std::string, std::string> parents;
  int status = -1;
  std::string text;
};

inline Printed read_independently(const fs::path& database) {
  Printed out;
  const std::string command =
      "python3 " FATHOM_SOURCE_DIR "/tests/formats/hpctoolkit/read_database.py '" + database.string() + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  char buffer[65536];
  std::size_t count = 0;
  while ((count = fread(buffer, 1, sizeof buffer, pipe)) > 0) out.text.append(buffer, count);
  out.status = pclose(pipe);
  for (const std::string_view line : split(out.text, '\n')) {
    const auto tab = line.rfind('\t');
    if (tab == std::string_view::npos) continue;
    const std::string key(line.substr(0, tab));
    const std::string value(line.substr(tab + 1));
    if (key.starts_with("parent\t")) {
      out.parents[key.substr(7)] = value;
    } else {
      out.values[key] = std::strtod(value.c_str(), nullptr);
    }
  }
  return out;
}

// What a database of this profile must hold in the two scopes that every generation stores.
inline std::map<std::string, double> expected_values(const Profile& profile) {
  std::map<std::string, double> out;
  const Definitions& defs = profile.defs();
  for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
    if (defs.metrics[m].scopes.empty()) continue;
    std::vector<double> totals(defs.system.location_count());
    for (const auto& [kind, scope] :
         {std::pair(Flavour::Kind::inclusive, "execution"), std::pair(Flavour::Kind::exclusive, "function")}) {
      Selection selection;
      selection.flavour.kind = kind;
      selection.locations = all_locations(defs);
      auto cells = compute(profile, MetricId(m), selection);
      EXPECT_TRUE(cells.ok());
      if (!cells.ok()) continue;
      for (std::size_t row = 0; row < cells->rows(); ++row) {
        for (std::size_t column = 0; column < cells->columns(); ++column) {
          const double value = cells->scalar(row, column);
          if (value == 0) continue;
          out[defs.metrics[m].name + "\t" + scope + "\t" + std::to_string(row + 1) + "\t" +
              std::to_string(column + 1)] = value;
          if (kind == Flavour::Kind::inclusive && !defs.contexts[ContextId(row)].parent.valid())
            totals[column] += value;
        }
      }
    }
    for (std::size_t column = 0; column < totals.size(); ++column) {
      if (totals[column] == 0) continue;
      out[defs.metrics[m].name + "\texecution\t0\t" + std::to_string(column + 1)] = totals[column];
    }
  }
  return out;
}

inline void expect_same(const std::map<std::string, double>& expected, const Printed& printed,
                        const std::string& what) {
  ASSERT_EQ(printed.status, 0) << what << ": " << printed.text.substr(0, 500);
  std::size_t seen = 0;
  for (const auto& [key, value] : printed.values) {
    if (key.find("\tpoint\t") != std::string::npos || key.find("\tlex_aware\t") != std::string::npos) continue;
    ++seen;
    const auto found = expected.find(key);
    ASSERT_NE(found, expected.end()) << what << ": unexpected " << key << " = " << value;
    EXPECT_NEAR(value, found->second, 1e-12 * std::abs(found->second)) << what << ": " << key;
  }
  EXPECT_EQ(seen, expected.size()) << what;
}

}  // namespace fathom::hpctoolkit
