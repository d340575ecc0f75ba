#include <gtest/gtest.h>

#include <map>
#include <random>

#include "../cube/dump_csv.hpp"
#include "formats/cube3/cube3_format.hpp"
#include "io/file.hpp"
#include "io/inflate.hpp"

namespace fathom {
namespace {

const char* const kSmall = R"(<?xml version="1.0" encoding="UTF-8"?>
<cube version="3.0">
  <attr key="a" value="b"/>
  <metrics><metric id="4"><disp_name>Time</disp_name><uniq_name>time</uniq_name><dtype>FLOAT</dtype><uom>sec</uom>
    <metric id="7"><uniq_name>n</uniq_name><disp_name>N</disp_name><dtype>INTEGER</dtype></metric></metric></metrics>
  <program><region id="0" mod="x.c" begin="1" end="2"><name>a&amp;b</name></region>
    <cnode id="3" calleeId="0"><cnode id="1" line="5" mod="x.c" calleeId="0"></cnode></cnode></program>
  <system><machine Id="0"><name>m</name><node Id="0"><name>n</name><process Id="0"><rank>2</rank>
    <thread Id="1"><rank>1</rank></thread><thread Id="0"><rank>0</rank></thread></process></node></machine></system>
  <severity><matrix metricId="4"><row cnodeId="3">1.5
-2e3</row><row cnodeId="1">7</row></matrix>
  <matrix metricId="7"><row cnodeId="1">9007199254740993 +3</row></matrix></severity>
</cube>
)";

Result<ProfilePtr> open_text(const std::string& text, const Work& work) {
  FATHOM_TRY(auto dataset, cube3::format().open(Source::of(Blob::own("small.cube", text)), work));
  // The profile keeps what it needs of the dataset.
  return dataset->profile();
}

TEST(Cube3, ReadsASmallDocument) {
  const auto profile = open_text(kSmall, make_work());
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  const Definitions& defs = (*profile)->defs();
  EXPECT_EQ(defs.metrics.size(), 2u);
  EXPECT_EQ(defs.metric(MetricId(1)).parent, MetricId(0));
  EXPECT_EQ(defs.regions[0].name, "a&b");
  EXPECT_EQ(defs.contexts[ContextId(1)].line, 5);
  EXPECT_EQ(defs.system.location(LocationId(0)).rank, 0);
  EXPECT_EQ(defs.system.location(LocationId(0)).name, "Thread 0");
  const auto time = compute(**profile, MetricId(0), {{}, {}, {0, 2}, false});
  ASSERT_TRUE(time.ok());
  EXPECT_EQ(time->scalar(0, 0), 1.5);
  EXPECT_EQ(time->scalar(0, 1), -2000);
  EXPECT_EQ(time->scalar(1, 0), 7);
  EXPECT_EQ(time->scalar(1, 1), 0);
  const auto n = compute(**profile, MetricId(1), {{}, {}, {0, 2}, false});
  ASSERT_TRUE(n.ok());
  EXPECT_EQ(n->at(1, 0).text(), "9007199254740993");
  EXPECT_EQ(n->scalar(1, 1), 3);
}

TEST(Cube3, WhatIsCutOrReplacedIsTold) {
  std::string text = kSmall;
  const std::string row = R"(<row cnodeId="1">9007199254740993 +3</row>)";
  text.replace(
      text.find(row), row.size(),
      R"(<row cnodeId="3">18446744073709551615 1.5</row><row cnodeId="1">4 4</row><row cnodeId="1">5 2e3</row>)");
  const std::string system = "</system>";
  text.insert(text.find(system), R"(<topologies><cart ndims="1"><dim size="2" periodic="false"/>
    <coord thrdId="0">1</coord><coord thrdId="9">0</coord></cart></topologies>)");
  const Work work = make_work();
  const auto profile = open_text(text, work);
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  EXPECT_EQ((*profile)->defs().system.topologies[0].coordinates.size(), 1u);
  for (int i = 0; i < 2; ++i) {  // told once, however often it is read
    const auto n = compute(**profile, MetricId(1), {{}, {}, {0, 2}, false});
    ASSERT_TRUE(n.ok());
    EXPECT_EQ(n->at(0, 0).text(), "9223372036854775807");
    EXPECT_EQ(n->scalar(0, 1), 1);
    EXPECT_EQ(n->scalar(1, 0), 5);
    EXPECT_EQ(n->scalar(1, 1), 2000);
  }
  std::map<std::string, std::uint64_t> told;
  for (const Diagnostic& one : work->diagnostics.all()) told[one.id] += one.count;
  EXPECT_EQ(told, (std::map<std::string, std::uint64_t>{
                      {"cube3.coordinate", 1}, {"cube3.duplicate_row", 1}, {"cube3.integer", 2}}));
}

TEST(Cube3, EveryTruncationIsSurvived) {
  const std::string text = kSmall;
  for (std::size_t length = 0; length < text.size() - 10; ++length) {
    const Work work = make_work();
    const auto profile = open_text(text.substr(0, length), work);
    if (profile.ok()) {
      EXPECT_TRUE(work->diagnostics.defective()) << length;
    } else {
      EXPECT_FALSE(profile.error().place().file.empty()) << length;
    }
  }
}

TEST(Cube3, BitFlipsAreSurvived) {
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    std::string text = kSmall;
    text[random() % text.size()] ^= static_cast<char>(1u << (random() % 8));
    const auto profile = open_text(text, make_work());
    if (!profile.ok()) continue;
    for (std::size_t m = 0; m < (*profile)->defs().metrics.size(); ++m) {
      (void)compute(**profile, MetricId(m), {{}, {}, all_locations((*profile)->defs()), true});
    }
  }
}

TEST(Cube3, TextsOfOldWritersAreRead) {
  const auto name_for = [](const std::string& written) {
    std::string text = kSmall;
    text.replace(text.find("a&amp;b"), 7, written);
    const auto profile = open_text(text, make_work());
    if (!profile.ok()) return profile.error().text();
    EXPECT_EQ(compute(**profile, MetricId(0), {{}, {}, {0, 2}, false})->scalar(0, 1), -2000);
    return (*profile)->defs().regions[0].name;
  };
  EXPECT_EQ(name_for("a && b"), "a && b");
  EXPECT_EQ(name_for("operator&;"), "operator&;");
  EXPECT_EQ(name_for("f&nbsp;g"), "f&nbsp;g");
  EXPECT_EQ(name_for("f&#65;&lt;"), "fA<");
  EXPECT_EQ(name_for("L\xf6sung"), "L\xc3\xb6sung");  // Latin-1 in a document that claims UTF-8
  std::string text = kSmall;
  text.replace(text.find("UTF-8"), 5, "windows-1252");
  EXPECT_TRUE(open_text(text, make_work()).ok());
}

TEST(Cube3, WrongNumbersHaveAPlace) {
  std::string text = kSmall;
  text.replace(text.find("-2e3"), 4, "zwei");
  const auto profile = open_text(text, make_work());
  ASSERT_TRUE(profile.ok());
  const auto cells = compute(**profile, MetricId(0), {{}, {}, {0, 2}, false});
  ASSERT_FALSE(cells.ok());
  EXPECT_NE(cells.error().text().find("found 'zwei'"), std::string::npos);
  EXPECT_EQ(cells.error().place().offset, std::uint64_t{text.find("zwei")});
}

TEST(Cube3, AgreesWithTheReferenceDumps) {
  const auto folder = test::shared_cube() / "cube3";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no shared data";
  for (const char* name : {"cmp_a", "cmp_ne1", "empty", "example", "simple", "tau_small"}) {
    SCOPED_TRACE(name);
    const ProfilePtr profile = test::open_profile(folder / (std::string(name) + ".cube.gz"));
    ASSERT_TRUE(profile);
    for (const bool inclusive : {false, true}) {
      const auto path = folder / (std::string(name) + ".cube_dump." + (inclusive ? "incl" : "excl") + ".csv.gz");
      const auto text = open_file(path, make_work());
      ASSERT_TRUE(text.ok());
      EXPECT_GT(test::compare_with_dump(*profile, std::string(text->text()),
                                        inclusive ? Flavour::Kind::inclusive : Flavour::Kind::exclusive),
                0u);
    }
  }
  EXPECT_TRUE(test::open_profile(folder / "simple.cube"));
}

}  // namespace
}  // namespace fathom
