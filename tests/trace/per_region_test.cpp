#include "trace/per_region.hpp"

#include <gtest/gtest.h>

#include <map>

namespace fathom {
namespace {

TEST(PerRegion, KeepsWhatWasPutIn) {
  PerRegion<int> values;
  const std::map<std::uint32_t, int> expected{{0, 1}, {4095, 2}, {4096, 3}, {5000, 4}, {0xFFFFFFFF, 5}};
  for (const auto& [region, value] : expected) values[region] = value;
  std::map<std::uint32_t, int> found;
  values.each([&](std::uint32_t region, int value) {
    if (value != 0) found[region] += value;
  });
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace fathom
