#include "io/external_sort.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <random>
#include <string>

namespace fathom {
namespace {

std::vector<std::uint64_t> numbers(std::size_t count) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = (random() << 20) | i;
  return made;
}

using Sorter = ExternalSorter<std::uint64_t, std::less<>>;

TEST(ExternalSorter, SortsWhateverTheMemory) {
  for (const std::size_t count : {0U, 1U, 1000U, 50'000U}) {
    auto expected = numbers(count);
    std::sort(expected.begin(), expected.end());
    for (const std::uint64_t memory : {0U, 1000U, 100'000U, 10'000'000U}) {
      Sorter sorter(memory);
      const auto all = numbers(count);
      for (std::size_t begin = 0; begin < count; begin += 777) {
        std::vector<std::uint64_t> run(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                       all.begin() + static_cast<std::ptrdiff_t>(std::min(count, begin + 777)));
        ASSERT_TRUE(sorter.add(run).ok());
        EXPECT_TRUE(run.empty());
      }
      EXPECT_EQ(sorter.spilled(), count * sizeof(std::uint64_t) > memory);
      std::vector<std::uint64_t> got;
      while (const std::uint64_t* next = sorter.next()) got.push_back(*next);
      ASSERT_TRUE(sorter.status().ok());
      EXPECT_EQ(got, expected) << count << " numbers in " << memory << " bytes";
      EXPECT_EQ(sorter.next(), nullptr);
    }
  }
}

TEST(ExternalSorter, SaysWhereItCannotWrite) {
  const char* before = getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("TMPDIR", "/proc/self", 1);
  Sorter sorter(0);
  auto run = numbers(10);
  const auto added = sorter.add(run);
  if (before != nullptr) {
    setenv("TMPDIR", kept.c_str(), 1);
  } else {
    unsetenv("TMPDIR");
  }
  ASSERT_FALSE(added.ok());
  EXPECT_NE(added.error().text().find("/proc/self"), std::string::npos) << added.error().text();
  EXPECT_NE(added.error().hint().find("TMPDIR"), std::string::npos);
}

}  // namespace
}  // namespace fathom
