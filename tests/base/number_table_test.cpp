#include "base/number_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace fathom {
namespace {

TEST(NumberTable, NumbersThingsInTheOrderOfTheirFirstAppearance) {
  std::mt19937 random(3);
  std::map<std::string, std::uint32_t> expected;
  std::vector<std::string> things;
  NumberTable table;
  for (int i = 0; i < 2'000; ++i) {
    const std::string thing = std::to_string(random() % 500);
    const auto next = static_cast<std::uint32_t>(things.size());
    const std::uint64_t hash = thing.size();  // few different ones: things are told apart by what they are
    const auto found = table.find_or_add(hash, next, [&](std::uint32_t n) { return things[n] == thing; });
    if (found == next) things.push_back(thing);
    ASSERT_EQ(found, expected.try_emplace(thing, next).first->second);
  }
  EXPECT_EQ(table.size(), expected.size());
}

TEST(NumberTable, GrowsToAnySize) {
  NumberTable table;
  const auto same_as = [](std::uint32_t i) { return [i](std::uint32_t n) { return n == i; }; };
  for (std::uint32_t i = 0; i < 100'000; ++i) ASSERT_EQ(table.find_or_add(i, i, same_as(i)), i);
  for (std::uint32_t i = 0; i < 100'000; ++i) ASSERT_EQ(table.find_or_add(i, 7'000'000, same_as(i)), i);
}

}  // namespace
}  // namespace fathom
