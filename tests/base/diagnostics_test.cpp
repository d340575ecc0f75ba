#include "base/diagnostics.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fathom {
namespace {

TEST(Diagnostics, CountsTheSameInTheSameFile) {
  Diagnostics diagnostics;
  for (std::uint64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(diagnostics.warn("a.b", Place::at_offset("x", i), "first text wins").ok());
    ASSERT_TRUE(diagnostics.warn("a.b", Place::in("y"), "other file").ok());
  }
  const auto all = diagnostics.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].count, 10U);
  EXPECT_EQ(all[0].place.offset, 0U);
  EXPECT_EQ(all[1].place.file, "y");
}

TEST(Diagnostics, ListsEveryOccurrenceUpToABound) {
  Diagnostics diagnostics;
  diagnostics.list_every_occurrence();
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    ASSERT_TRUE(diagnostics.warn("a.b", Place::at_offset("x", i), "text").ok());
  }
  const auto all = diagnostics.all();
  ASSERT_EQ(all.size(), 1000U);
  std::uint64_t counted = 0;
  for (const Diagnostic& one : all) counted += one.count;
  EXPECT_EQ(counted, 200'000U);
}

TEST(Diagnostics, ManyFilesBecomeOneEntryForPeople) {
  std::vector<Diagnostic> list;
  for (int i = 0; i < 25; ++i) {
    list.push_back({"a.empty", Severity::data_loss, Place::in("rank" + std::to_string(i)), 2, "is empty"});
    if (i < 2) list.push_back({"b.other", Severity::warning, Place::in("rank" + std::to_string(i)), 1, "else"});
  }
  const auto shown = summarised(list);
  ASSERT_EQ(shown.size(), 3U);
  EXPECT_EQ(shown[0].place.file, "rank0");
  EXPECT_EQ(shown[0].count, 50U);
  EXPECT_NE(shown[0].text.find("24 other files"), std::string::npos);
  EXPECT_EQ(shown[1].id, "b.other");
}

// Threads notice things in any order; people see one.
TEST(Diagnostics, TheFirstFileIsNamedWhateverCameFirst) {
  std::vector<Diagnostic> list;
  for (const char* file : {"c", "a", "e", "b", "d"}) {
    list.push_back({"a.empty", Severity::warning, Place::in(file), 1, std::string("empty ") + file});
  }
  const auto shown = summarised(list);
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0].place.file, "a");
  EXPECT_EQ(shown[0].text, "empty a; 4 other files have the like");
  list.resize(3);
  const auto few = summarised(list);
  ASSERT_EQ(few.size(), 3U);
  EXPECT_EQ(few[0].place.file, "a");
  EXPECT_EQ(few[2].place.file, "e");
}

TEST(Error, TellsItsPlaceOnce) {
  const Error error = Error("is empty", Place::at_offset("x.bin", 0)).with("header");
  EXPECT_EQ(error.message(), "header: is empty");
  EXPECT_EQ(error.text(), "x.bin:0x0: header: is empty");
}

}  // namespace
}  // namespace fathom
