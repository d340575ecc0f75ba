#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <limits>

#include "base/json.hpp"
#include "report/csv.hpp"
#include "report/text_table.hpp"

namespace fathom {
namespace {

TEST(JsonWriter, WritesNestedValuesAndSpecialNumbers) {
  Output out;
  JsonWriter json(out);
  json.begin_object().member("a", 1).member("b", std::string_view("x\"\n"));
  json.key("c").begin_array().value(std::numeric_limits<double>::infinity()).value(nullptr).value(true).end_array();
  json.key("d").begin_array().end_array();
  json.member("e", 18446744073709551615ULL);
  json.end_object();
  EXPECT_EQ(out.text(),
            "{\n  \"a\": 1,\n  \"b\": \"x\\\"\\n\",\n  \"c\": [\"inf\", null, true],\n  \"d\": [],\n"
            "  \"e\": 18446744073709551615\n}\n");
}

TEST(CsvWriter, QuotesOnlyWhatNeedsIt) {
  Output out;
  CsvWriter csv(out);
  csv.header({"name", "value"});
  csv.field("f(int, int)");
  csv.field(0.1);
  csv.end_row();
  EXPECT_EQ(out.text(), "name,value\n\"f(int, int)\",0.1\n");
}

TEST(TextTable, AlignsAndLeavesNamesWholeInAPipe) {
  TextTable table;
  table.column("NAME", Align::left, true).column("TIME", Align::right);
  table.row({"main", "1 s"});
  table.row({"a_rather_long_name_of_a_function", "10 ms"});
  EXPECT_EQ(table.text({}),
            "NAME                               TIME\n"
            "main                                1 s\n"
            "a_rather_long_name_of_a_function  10 ms\n");
}

TEST(TextTable, CutsElasticColumnsOnANarrowTerminal) {
  TextTable table;
  table.column("NAME", Align::left, true).column("TIME", Align::right);
  table.row({"a_rather_long_name_of_a_function", "10 ms"});
  const Terminal narrow{.colour = false, .bars = true, .width = 30};
  const std::string text = table.text(narrow);
  EXPECT_NE(text.find("…"), std::string::npos);
  EXPECT_NE(text.find("10 ms"), std::string::npos);
}

TEST(Bar, IsAsWideAsAsked) {
  EXPECT_EQ(bar_text(0, 3), "   ");
  EXPECT_EQ(bar_text(1, 3), "███");
  EXPECT_EQ(bar_text(0.5, 3), "█▌ ");
  EXPECT_EQ(bar_text(std::numeric_limits<double>::quiet_NaN(), 2), "  ");
}

TEST(Output, AReaderThatWentAwayIsNoError) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  signal(SIGPIPE, SIG_IGN);
  Output out(ends[1]);
  out.write("text");
  out.flush();
  EXPECT_TRUE(out.closed());
  EXPECT_TRUE(out.finish().ok());
  close(ends[1]);
}

TEST(Output, AFullDiskIsAnError) {
  FILE* full = fopen("/dev/full", "w");
  if (full == nullptr) GTEST_SKIP() << "no /dev/full";
  Output out(fileno(full));
  out.write("text");
  EXPECT_FALSE(out.finish().ok());
  fclose(full);
}

}  // namespace
}  // namespace fathom
