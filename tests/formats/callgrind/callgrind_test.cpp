#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

#include "formats/callgrind/callgrind_format.hpp"
#include "formats/registry.hpp"
#include "profile/compute.hpp"
#include "temporary_directory.hpp"

namespace fathom {
namespace {

// Two parts of two threads: numbers for names, relative and hexadecimal positions, inlined files, jumps, left-out
// zeros.
const char* const kText = R"(# callgrind format
version: 1
creator: by hand
cmd: ./a.out
part: 1
thread: 1
positions: instr line
event: Ir : Instruction Fetch
event: Sum = Ir + Dr
events: Ir Dr
summary: 0

ob=(1) /bin/a
fl=(1) a.c
fn=(1) main
0x10 5 10 1
+4 +1 0x5
fi=(2) inline.h
* * 1 1
fe=(1)
jcnd=1/2 +8 7
+2 -1
cfi=(3) b.c
cfn=(2) f
calls=3 0x100 *
* 7 90 9
cfn=(3) g
calls=1 0x200 1
+1 +1 7

fl=(3)
fn=(2)
0x100 1 60 6
cfn=(2)
calls=2 0x100 1
* 2 20
fn=(3) g
0x200 1 7

part: 2
thread: 2
events: Dr Ir
fl=(1)
fn=(1)
1 1 3 100

totals: 5 103
)";

Result<ProfilePtr> open_text(const std::string& text, const Work& work) {
  FATHOM_TRY(auto dataset, callgrind::format().open(Source::of(Blob::own("x.callgrind", text)), work));
  return dataset->profile();
}

// By "name file location" and scope.
std::map<std::string, std::string> values(const Profile& profile, std::string_view metric, std::string_view scope) {
  std::map<std::string, std::string> out;
  const Definitions& defs = profile.defs();
  Selection selection;
  selection.flavour = {Flavour::Kind::named, std::string(scope)};
  if (scope.empty()) selection.flavour = {Flavour::Kind::exclusive, {}};
  selection.locations = all_locations(defs);
  const auto cells = compute(profile, defs.find_metric(metric), selection);
  EXPECT_TRUE(cells.ok());
  for (std::size_t row = 0; row < cells->rows(); ++row) {
    const Region& region = defs.region_of(ContextId(row));
    for (std::size_t column = 0; column < cells->columns(); ++column) {
      if (cells->is_zero(row, column)) continue;
      out[region.name + " " + region.file + " " + std::to_string(column)] = cells->at(row, column).text();
    }
  }
  return out;
}
using Values = std::map<std::string, std::string>;

TEST(Callgrind, EveryRuleOfTheText) {
  const Work work = make_work();
  const auto profile = open_text(kText, work);
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  // g is called from main as a function of main's file, and defined in another: two functions.
  EXPECT_EQ(values(**profile, "Ir", ""),
            (Values{{"main a.c 0", "16"}, {"main a.c 1", "100"}, {"f b.c 0", "60"}, {"g b.c 0", "7"}}));
  EXPECT_EQ(values(**profile, "Dr", ""), (Values{{"main a.c 0", "2"}, {"main a.c 1", "3"}, {"f b.c 0", "6"}}));
  // With what is called; a function that calls itself has that already.
  EXPECT_EQ(values(**profile, "Ir", "inclusive").at("main a.c 0"), "113");
  EXPECT_EQ(values(**profile, "Ir", "inclusive").at("f b.c 0"), "60");
  EXPECT_EQ(values(**profile, "calls", ""), (Values{{"f b.c 0", "5"}, {"g a.c 0", "1"}}));
  EXPECT_EQ((*profile)->defs().metrics[0].display_name, "Instruction Fetch");
  std::set<std::string> ids;
  for (const Diagnostic& one : work->diagnostics.all()) ids.insert(one.id);
  // The totals of the text are wrong on purpose.
  EXPECT_EQ(ids, (std::set<std::string>{"callgrind.totals", "callgrind.derived_event", "profile.flat"}));
}

TEST(Callgrind, AnEventThatIsNamedTwiceIsTold) {
  const Work work = make_work();
  const auto profile = open_text("events: Ir Ir\nfn=f\n1 3 4\n", work);
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  EXPECT_EQ(values(**profile, "Ir", ""), (Values{{"f  0", "7"}}));
  EXPECT_EQ(work->diagnostics.all()[0].id, "callgrind.event_twice");
}

TEST(Callgrind, JumpsDefineNamesToo) {
  const Work work = make_work();
  const auto profile = open_text(
      "events: Ir\nfl=(1) a.c\nfn=(1) f\n1 1\njfi=(2) b.c\njfn=(2) g\njump=1 5\n2\n3 4\nfl=(2)\nfn=(2)\n5 6\n", work);
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  EXPECT_EQ(values(**profile, "Ir", ""), (Values{{"f a.c 0", "5"}, {"g b.c 0", "6"}}));
  for (const Diagnostic& one : work->diagnostics.all()) EXPECT_NE(one.id, "callgrind.name") << one.text;
}

// Plain lines of costs are read in a way of their own; whatever stands between them, the sums are those of all lines.
TEST(Callgrind, PlainAndOtherLinesOfCostsAddUp) {
  std::mt19937_64 random(4);
  std::string text = "events: Ir Dr\nfn=f\n";
  std::uint64_t ir = 0, dr = 0;
  std::uint64_t too_many = 0;  // the line that has more numbers than there are events
  for (std::uint64_t line = 3; line < 4000; ++line) {
    const std::uint64_t a = random() % (random() % 2 == 0 ? 100 : 100'000'000'000);
    const std::uint64_t b = random() % 10'000'000;
    const char* const position = std::array{"*", "+3", "-1", "12", "0x1f", "123456789"}[random() % 6];
    const char* const blank = std::array{" ", "  ", "\t"}[random() % 8 < 6 ? 0 : 1 + random() % 2];
    const char* const end = std::array{"\n", " \n", "\r\n"}[random() % 8 < 6 ? 0 : 1 + random() % 2];
    const bool both = random() % 3 != 0;
    text += position + std::string(blank) + std::to_string(a) + (both ? blank + std::to_string(b) : "");
    if (line == 2000 && both) {
      text += " 5";
      too_many = line;
    }
    text += end;
    ir += a;
    dr += both ? b : 0;
  }
  const Work work = make_work();
  const auto profile = open_text(text, work);
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  EXPECT_EQ(values(**profile, "Ir", ""), (Values{{"f  0", std::to_string(ir)}}));
  EXPECT_EQ(values(**profile, "Dr", ""), (Values{{"f  0", std::to_string(dr)}}));
  std::uint64_t told = 0;
  for (const Diagnostic& one : work->diagnostics.all())
    told += one.id == "callgrind.cost_count" ? one.place.line.value_or(0) : 0;
  EXPECT_EQ(told, too_many);
  // A sum that is nearly full is cut, in the line that fills it.
  const Work full = make_work();
  const auto cut = open_text("events: Ir\nfn=f\n1 9223372036854775800\n2 7\n3 1\n4 1111111111\n", full);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(values(**cut, "Ir", ""), (Values{{"f  0", "9223372036854775807"}}));
  std::vector<std::uint64_t> lines;
  for (const Diagnostic& one : full->diagnostics.all()) {
    if (one.id == "callgrind.overflow") lines.push_back(one.place.line.value_or(0));
  }
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front(), 5u);
}

// No file and a file without a name are the same: so is the function in them.
// valgrind leaves out the file of what is called where it is the one of the inlined code that calls.
TEST(Callgrind, InlinedCodeCallsIntoItsOwnFile) {
  const auto profile = open_text(
      "events: Ir\n"
      "fl=(1) header.h\nfn=(1) leaf\n3 40\n"
      "fl=(2) a.c\nfn=(2) outer\n9 4\n"
      "fi=(1)\n-1 1\ncfn=(1)\ncalls=1 3\n* 15\n"
      "fe=(2)\n+1 1\ncfn=(3) other\ncalls=1 20\n* 7\n"
      "fi=(1)\n-1 2\nfn=(3)\n20 7\ncfn=(4) last\ncalls=1 30\n* 25\n"
      "fn=(4)\n30 25\n",
      make_work());
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  std::set<std::string> functions;
  for (const Region& region : (*profile)->defs().regions) functions.insert(region.name + " " + region.file);
  EXPECT_EQ(functions, (std::set<std::string>{"leaf header.h", "outer a.c", "other a.c", "last a.c"}));
}

TEST(Callgrind, AnEmptyNameIsNone) {
  const auto profile =
      open_text("events: Ir\nfn=main\n1 5\ncfn=f\ncalls=1 1\n1 2\nfl=\nfn=main\n2 6\nfn=f\n3 2\n", make_work());
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  EXPECT_EQ((*profile)->defs().contexts.size(), 2U);
  EXPECT_EQ(values(**profile, "Ir", ""), (Values{{"main  0", "11"}, {"f  0", "2"}}));
  EXPECT_EQ(values(**profile, "Ir", "inclusive"), (Values{{"main  0", "13"}, {"f  0", "2"}}));
  EXPECT_EQ(values(**profile, "calls", ""), (Values{{"f  0", "1"}}));
}

TEST(Callgrind, CostsThatAreNoNumbersAreRefusedWithTheirLine) {
  const auto refused = open_text("events: Ir\nfn=f\n1 2\n* *\n", make_work());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().place().line, 4u);
  EXPECT_FALSE(open_text("fn=f\n1 2\n", make_work()).ok());
  EXPECT_FALSE(open_text("hello\n", make_work()).ok());
}

TEST(Callgrind, TabsLineEndsAndNumbersOfAllKinds) {
  const Work work = make_work();
  const auto profile = open_text(
      "\xEF\xBB\xBF# callgrind format\r\npositions:\tinstr\tline\r\nevents:\tIr\tDr\r\n\r\nfn=(4294967296) f\r\n"
      "0xff\t3\t9223372036854775800\t0X1F\r\n+0x1 * 1\r\n-3 -1\r\nfn=(70000) g\r\n1 1 5\r\nfn=(4294967296)\r\n1 1 0 "
      "1\r\n"
      "cfn=(70000)\r\ncalls=2\t1 1\r\n* *\t5\r\ntotals:\t0x7FFFFFFFFFFFFFFE 32\r\n",
      work);
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  EXPECT_EQ(values(**profile, "Ir", ""), (Values{{"f  0", "9223372036854775801"}, {"g  0", "5"}}));
  EXPECT_EQ(values(**profile, "Dr", ""), (Values{{"f  0", "32"}}));
  EXPECT_EQ(values(**profile, "calls", ""), (Values{{"g  0", "2"}}));
  for (const Diagnostic& one : work->diagnostics.all()) EXPECT_EQ(one.id, "profile.flat") << one.text;
  const Work strained = make_work();
  ASSERT_TRUE(open_text("events: Ir\nfn=f\n1 9223372036854775807\n1 18446744073709551615 4\n", strained).ok());
  std::set<std::string> ids;
  for (const Diagnostic& one : strained->diagnostics.all()) ids.insert(one.id);
  EXPECT_EQ(ids, (std::set<std::string>{"callgrind.cost_count", "callgrind.overflow", "profile.flat"}));
  EXPECT_EQ(open_text("events: Ir\nfn=f\n1 18446744073709551616\n", make_work()).error().place().line, 3u);
}

TEST(Callgrind, EveryTruncationAndManyFlipsAreSurvived) {
  const std::string text = kText;
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto profile = open_text(text.substr(0, length), make_work());
    EXPECT_TRUE(profile.ok() || !profile.error().place().file.empty());
  }
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    std::string flipped = text;
    for (int k = 0; k < 3; ++k) flipped[random() % flipped.size()] ^= static_cast<char>(1 << random() % 7);
    (void)open_text(flipped, make_work());
  }
}

// Costs below zero cannot be written; the totals are of those that are.
TEST(Callgrind, TotalsAreOfWhatIsWritten) {
  const TemporaryDirectory folder;
  const auto dataset =
      open_source(Source::of(Blob::own("x.folded", std::string("a;b -5\na 10\na;c 3\n"))), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  ASSERT_TRUE(callgrind::format().write(**dataset, folder / "out.callgrind", {}).ok());
  const Work work = make_work();
  const auto again = open_dataset(folder / "out.callgrind", work);
  ASSERT_TRUE(again.ok());
  const auto profile = (*again)->profile();
  ASSERT_TRUE(profile.ok());
  Int128 sum = 0;
  for (const auto& [name, value] : values(**profile, "samples", "")) sum += std::stoll(value);
  EXPECT_TRUE(sum == 13);
  EXPECT_FALSE(work->diagnostics.defective());
}

TEST(Callgrind, WhatIsWrittenIsReadBack) {
  const TemporaryDirectory folder;
  const auto dataset = open_dataset(FATHOM_SOURCE_DIR "/examples/stencil.cubex", make_work());
  ASSERT_TRUE(dataset.ok());
  ASSERT_TRUE(callgrind::format().write(**dataset, folder / "out.callgrind", {}).ok());
  const Work work = make_work();
  const auto again = open_dataset(folder / "out.callgrind", work);
  ASSERT_TRUE(again.ok());
  const auto profile = (*again)->profile();
  ASSERT_TRUE(profile.ok());
  Int128 visits = 0;
  for (const auto& [name, value] : values(**profile, "visits", "")) visits += std::stoll(value);
  EXPECT_TRUE(visits == 70304);  // of the example, as `fathom table --total` has them
  EXPECT_FALSE(work->diagnostics.defective());
  // A call graph written from a call graph has the same calls.
  ASSERT_TRUE(callgrind::format().write(**again, folder / "twice.callgrind", {}).ok());
  const auto twice = open_dataset(folder / "twice.callgrind", make_work());
  ASSERT_TRUE(twice.ok());
  const auto second = (*twice)->profile();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(values(**second, "time", "inclusive"), values(**profile, "time", "inclusive"));
}

}  // namespace
}  // namespace fathom
