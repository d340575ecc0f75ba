// Dumps of the reference tool (one line per context and location) and how a profile compares with them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "formats/dataset.hpp"
#include "formats/registry.hpp"
#include "io/file.hpp"
#include "profile/compute.hpp"

namespace fathom::test {

inline std::filesystem::path shared_cube() {
#ifdef FATHOM_SHARED_DATA
  return std::filesystem::path(FATHOM_SHARED_DATA) / "cube";
#else
  return {};
#endif
}

inline ProfilePtr open_profile(const std::filesystem::path& path) {
  auto dataset = open_dataset(path, make_work());
  if (!dataset.ok()) {
    ADD_FAILURE() << dataset.error().text();
    return nullptr;
  }
  auto profile = (*dataset)->profile();
  if (!profile.ok()) {
    ADD_FAILURE() << profile.error().text();
    return nullptr;
  }
  return *profile;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Six significant digits of the larger of the two, or nothing at all.
inline bool close(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return true;
  if (std::abs(a) < 1e-14 && std::abs(b) < 1e-14) return true;
  return std::abs(a - b) <= 1e-5 * std::max(std::abs(a), std::abs(b));
}

// Compares every column whose metric the profile has, save the named ones. Says how many values were compared.
inline std::size_t compare_with_dump(const Profile& profile, const std::string& text, Flavour::Kind flavour,
                                     const std::set<std::string>& leave_out = {}) {
  std::istringstream in(text);
  std::string header;
  std::getline(in, header);
  const auto names = split(header, ',');
  const Definitions& defs = profile.defs();
  std::vector<Cells> tables;
  std::vector<bool> use;
  for (std::size_t i = 2; i < names.size(); ++i) {
    const std::string name(trim(names[i]));
    const MetricId id = defs.find_metric(name);
    EXPECT_TRUE(id.valid()) << "no metric " << name;
    use.push_back(id.valid() && !leave_out.contains(name));
    tables.emplace_back();
    if (!use.back()) continue;
    auto cells = compute(profile, id, {{flavour, {}}, {}, all_locations(defs), false});
    EXPECT_TRUE(cells.ok()) << (cells.ok() ? "" : cells.error().text());
    if (cells.ok()) {
      tables.back() = std::move(*cells);
    } else {
      use.back() = false;
    }
  }
  std::size_t compared = 0;
  std::size_t wrong = 0;
  std::set<std::pair<std::uint64_t, std::string>> rows;
  std::string line;
  while (std::getline(in, line)) {
    const auto fields = split(line, ',');
    if (fields.size() != names.size()) {
      ADD_FAILURE() << "odd line " << line;
      continue;
    }
    const auto context_id = parse_integer<std::uint64_t>(trim(fields[0])).value_or(0);
    const ContextId context = defs.contexts.find(context_id);
    const LocationId location = defs.system.find_location(trim(fields[1]));
    if (!context.valid() || !location.valid()) {
      ADD_FAILURE() << "no context or location for " << line;
      return compared;
    }
    rows.emplace(context_id, std::string(trim(fields[1])));
    for (std::size_t i = 0; i < tables.size(); ++i) {
      if (!use[i]) continue;
      const double expected = std::strtod(std::string(fields[i + 2]).c_str(), nullptr);
      const double got = tables[i].scalar(context.index(), location.index());
      ++compared;
      if (!close(expected, got) && ++wrong <= 5) {
        ADD_FAILURE() << names[i + 2] << " of context " << fields[0] << ", location " << fields[1] << ": expected "
                      << expected << ", got " << got;
      }
    }
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(rows.size(), defs.contexts.size() * defs.system.location_count());
  return compared;
}

}  // namespace fathom::test
