#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "base/execution.hpp"
#include "experiment/experiment.hpp"
#include "formats/caliper/caliper_format.hpp"
#include "formats/conversions.hpp"
#include "formats/registry.hpp"
#include "profile/compute.hpp"
#include "profile/views.hpp"
#include "temporary_directory.hpp"

namespace fathom {
namespace {

// Attributes 20 function, 21 loop (nested), 30 time (double, value, unit), 31 mpi.rank (int, value), 32 block (int,
// value), 33 inclusive time, 40 jobsize (global).
std::string stream(int jobsize, double seconds) {
  std::string text = R"(__rec=node,id=12,attr=10,data=64,parent=3
__rec=node,id=14,attr=8,data=attribute.unit,parent=12
__rec=node,id=19,attr=10,data=276,parent=3
__rec=node,id=20,attr=8,data=function,parent=19
__rec=node,id=21,attr=8,data=loop,parent=19
__rec=node,id=22,attr=14,data=sec,parent=5
__rec=node,id=23,attr=10,data=65,parent=22
__rec=node,id=30,attr=8,data=sum#time.duration,parent=23
__rec=node,id=33,attr=8,data=inclusive#sum#time.duration,parent=23
__rec=node,id=24,attr=10,data=65,parent=1
__rec=node,id=31,attr=8,data=mpi.rank,parent=24
__rec=node,id=32,attr=8,data=block,parent=24
__rec=node,id=39,attr=10,data=577,parent=1
__rec=node,id=40,attr=8,data=jobsize,parent=39
__rec=node,id=50,attr=20,data=main
__rec=node,id=51,attr=21,data=a\,b\=c\\d,parent=50
)";
  text += "__rec=ctx,ref=50,attr=30=33=31,data=" + std::to_string(seconds) + "=" + std::to_string(seconds) + "=0\n";
  text += "__rec=ctx,ref=50,attr=30=33=31,data=2=9=1\n__rec=ctx,ref=51,attr=30=33=31,data=4=4=1\n";
  text += "__rec=ctx,ref=51,attr=30=33=31=32,data=0.5=0.5=1=7\n__rec=ctx,attr=30=31,data=1=0\n";
  text += "__rec=globals,attr=40,data=" + std::to_string(jobsize) + "\n";
  return text;
}

Result<ProfilePtr> open_text(const std::string& text, const Work& work, const Format& format = caliper::format()) {
  FATHOM_TRY(auto dataset, format.open(Source::of(Blob::own("x.cali", text)), work));
  return dataset->profile();
}

std::map<std::string, std::string> values(const Profile& profile, std::string_view metric) {
  std::map<std::string, std::string> out;
  const Definitions& defs = profile.defs();
  Selection selection;
  selection.locations = all_locations(defs);
  const auto cells = compute(profile, defs.find_metric(metric), selection);
  EXPECT_TRUE(cells.ok());
  for (std::size_t row = 0; row < cells->rows(); ++row) {
    for (std::uint32_t column = 0; column < cells->columns(); ++column) {
      if (cells->is_zero(row, column)) continue;
      out[defs.path(ContextId(row)) + " @" + defs.system.location_label(LocationId{column})] =
          cells->at(row, column).text();
    }
  }
  return out;
}
using Values = std::map<std::string, std::string>;

// As versions 1.x write: nothing is marked as nested, units are told by an attribute that comes later, events are there
// beside what the program set. The body never ends.
TEST(Caliper, OldStreamsTellTheirUnitsLater) {
  const std::string text = R"(__rec=node,id=13,attr=10,data=12,parent=3
__rec=node,id=14,attr=8,data=cali.caliper.version,parent=13
__rec=node,id=23,attr=10,data=84,parent=3
__rec=node,id=39,attr=8,data=event.end#phase,parent=23
__rec=node,id=21,attr=10,data=20,parent=3
__rec=node,id=38,attr=8,data=phase,parent=21
__rec=node,id=32,attr=22,data=usec,parent=2
__rec=node,id=35,attr=10,data=85,parent=32
__rec=node,id=36,attr=8,data=time.offset,parent=35
__rec=node,id=37,attr=8,data=time.inclusive.duration,parent=35
__rec=node,id=22,attr=8,data=time.unit,parent=21
__rec=node,id=59,attr=10,data=20,parent=1
__rec=node,id=60,attr=8,data=iteration,parent=59
__rec=node,id=15,attr=14,data=1.5.dev
__rec=node,id=45,attr=39,data=loop
__rec=node,id=49,attr=38,data=body
__rec=node,id=50,attr=38,data=loop,parent=49
__rec=node,id=51,attr=60,data=0,parent=50
__rec=node,id=52,attr=60,data=1,parent=50
__rec=ctx,ref=51=15,attr=36=37,data=100=70
__rec=ctx,ref=52=15,attr=36=37,data=180=80
__rec=ctx,ref=45=50=15,attr=36=37,data=190=160
)";
  const auto profile = open_text(text, make_work());
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  const Definitions& defs = (*profile)->defs();
  ASSERT_EQ(defs.metrics.size(), 1u);
  EXPECT_EQ(defs.metrics[0].unit, "usec");
  EXPECT_EQ(defs.metrics[0].stored_as(Scope::inclusive), 0);
  const auto total = metric_total(**profile, MetricId(std::size_t{0}), {});
  ASSERT_TRUE(total.ok());
  EXPECT_EQ(total->scalar(), 160);
  EXPECT_EQ(values(**profile, "time.inclusive.duration"), (Values{{"body @0", "160"},
                                                                  {"body->loop @0", "160"},
                                                                  {"body->loop->iteration=0 @0", "70"},
                                                                  {"body->loop->iteration=1 @0", "80"}}));
}

// The same timers in today's form: nanoseconds, paths that are marked.
TEST(Caliper, TimersOfRegionsAreInclusive) {
  const auto profile = open_text(R"(__rec=node,id=19,attr=10,data=276,parent=3
__rec=node,id=20,attr=8,data=region,parent=19
__rec=node,id=12,attr=10,data=64,parent=3
__rec=node,id=22,attr=8,data=time.unit,parent=12
__rec=node,id=32,attr=22,data=nsec,parent=2
__rec=node,id=35,attr=10,data=2133,parent=32
__rec=node,id=36,attr=8,data=time.offset.ns,parent=35
__rec=node,id=37,attr=8,data=time.inclusive.duration.ns,parent=35
__rec=node,id=50,attr=20,data=main
__rec=node,id=51,attr=20,data=solve,parent=50
__rec=ctx,ref=51,attr=36=37,data=100=70
__rec=ctx,ref=51,attr=36=37,data=300=30
)",
                                 make_work());
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  ASSERT_EQ((*profile)->defs().metrics.size(), 1u);
  EXPECT_EQ((*profile)->defs().metrics[0].unit, "nsec");
  EXPECT_EQ(values(**profile, "time.inclusive.duration.ns"), (Values{{"main @0", "100"}, {"main->solve @0", "100"}}));
}

TEST(Caliper, SumsOfOldVersionsAreMicroseconds) {
  const auto unit = [](std::string_view version, std::string_view value, std::string_view base = "") {
    std::string text = fmt::format(R"(__rec=node,id=12,attr=10,data=577,parent=3
__rec=node,id=14,attr=8,data=cali.caliper.version,parent=12
__rec=node,id=15,attr=14,data={}
__rec=node,id=19,attr=10,data=276,parent=3
__rec=node,id=20,attr=8,data=function,parent=19
{}__rec=node,id=24,attr=10,data=1,parent=5
__rec=node,id=30,attr=8,data=sum#time.duration,parent=24
__rec=node,id=31,attr=8,data=avg#time.duration,parent=24
__rec=node,id=50,attr=20,data=main
__rec=ctx,ref=50,attr=30=31,data={}=0.5
__rec=globals,ref=15
)",
                                   version, base, value);
    const auto profile = open_text(text, make_work());
    EXPECT_TRUE(profile.ok());
    return profile.ok() ? (*profile)->defs().metrics[0].unit : std::string();
  };
  EXPECT_EQ(unit("1.9.1", "2500.000000"), "usec");
  EXPECT_EQ(unit("2.1.0-dev", "2500"), "usec");
  EXPECT_EQ(unit("2.3.0", "3"), "usec");
  // Seconds could be asked for.
  EXPECT_EQ(unit("2.2.0-dev", "0.002500"), "sec");
  EXPECT_EQ(unit("2.4.0", "3"), "sec");
  EXPECT_EQ(unit("2.14.0", "3"), "sec");
  // What was summed says it.
  EXPECT_EQ(unit("2.4.0", "3",
                 "__rec=node,id=40,attr=8,data=time.unit,parent=3\n__rec=node,id=41,attr=40,data=usec,parent=5\n"
                 "__rec=node,id=42,attr=8,data=time.duration,parent=41\n"),
            "usec");
}

TEST(Caliper, PathsRanksAndTimeSeries) {
  const Work work = make_work();
  const auto profile = open_text(stream(8, 3), work);
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  EXPECT_EQ(values(**profile, "sum#time.duration"), (Values{{"main @0", "3"},
                                                            {"main @1", "2"},
                                                            {"main->a,b=c\\d @1", "4"},
                                                            {"main->a,b=c\\d (block=7) @1", "0.5"},
                                                            {"(unattributed) @0", "1"}}));
  EXPECT_EQ((*profile)->defs().metrics[0].unit, "sec");
  EXPECT_EQ((*profile)->defs().metrics.size(), 1u);  // the inclusive twin is left out, with a note
  EXPECT_EQ(*find_attribute((*profile)->defs().attributes, "jobsize"), "8");
  ASSERT_EQ(work->diagnostics.all().size(), 1u);
  EXPECT_EQ(work->diagnostics.all()[0].id, "caliper.inclusive");
}

// Lines are taken apart many at once: values, escaped names and the places of bad lines are the same for any number of
// threads.
TEST(Caliper, AnyNumberOfThreadsMakesTheSame) {
  std::string text = stream(8, 0);
  std::mt19937 random(11);
  std::map<int, int> sums;  // by rank
  std::uint64_t bad_line = 0;
  for (int i = 0; i < 40'000; ++i) {
    const int rank = static_cast<int>(random() % 300);
    const int value = static_cast<int>(1 + random() % 5);
    text += "__rec=ctx,ref=60,attr=30=31,data=" + std::to_string(value) + "=" + std::to_string(rank) + "\n";
    sums[rank] += value;
    if (i == 20'000) {
      text += "__rec=ctx,ref=x,attr=30,data=1\n";
      bad_line = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    }
  }
  const std::string node = "__rec=node,id=60,attr=20,data=a\\,name,parent=50\n";
  text.insert(text.find("__rec=ctx"), node);
  Values expected;
  for (const auto& [rank, sum] : sums) expected["main->a,name @" + std::to_string(rank)] = std::to_string(sum);
  for (const unsigned threads : {1U, 4U}) {
    const Execution execution(threads);
    const ExecutionScope scope(execution);
    const Work work = make_work();
    const auto profile = open_text(text, work);
    ASSERT_TRUE(profile.ok()) << profile.error().text();
    Values found = values(**profile, "sum#time.duration");
    std::erase_if(found, [](const auto& one) { return !one.first.starts_with("main->a,name"); });
    EXPECT_EQ(found, expected);
    const auto notes = work->diagnostics.all();
    const auto bad = std::find_if(notes.begin(), notes.end(), [](const auto& one) { return one.id == "caliper.line"; });
    ASSERT_NE(bad, notes.end());
    EXPECT_EQ(bad->place.line, bad_line + 1);  // the node was put in before it
  }
}

TEST(Caliper, AppendedStreamsAndDamage) {
  // The second stream gives the number 50 to another function.
  std::string second = stream(8, 3);
  second.replace(second.find("data=main"), 9, "data=late");
  const auto both = open_text(stream(8, 3) + second, make_work());
  ASSERT_TRUE(both.ok());
  const Values seen = values(**both, "sum#time.duration");
  EXPECT_EQ(seen.at("main @0"), "3");
  EXPECT_EQ(seen.at("late @0"), "3");
  const std::string text = stream(8, 3);
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto cut = open_text(text.substr(0, length), make_work());
    EXPECT_TRUE(cut.ok() || !cut.error().place().file.empty());
  }
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    std::string flipped = text;
    for (int k = 0; k < 3; ++k) flipped[random() % flipped.size()] ^= static_cast<char>(1 << random() % 7);
    (void)open_text(flipped, make_work());
  }
  // A node that is its own ancestor ends.
  EXPECT_TRUE(open_text("__rec=node,id=50,attr=20,data=x,parent=50\n__rec=ctx,ref=50\n", make_work()).ok());
}

// Another stream whose attributes have the numbers of the first one and other meanings.
TEST(Caliper, AppendedStreamsDoNotMix) {
  const std::string other = R"(__rec=node,id=19,attr=10,data=256,parent=3
__rec=node,id=20,attr=8,data=region,parent=19
__rec=node,id=23,attr=10,data=65,parent=1
__rec=node,id=30,attr=8,data=count,parent=23
__rec=node,id=50,attr=20,data=other
__rec=node,id=51,attr=20,data=inner,parent=50
__rec=ctx,ref=51,attr=30,data=12
__rec=ctx,ref=50=51,attr=30,data=1
)";
  const Work work = make_work();
  const auto profile = open_text(stream(8, 3) + other, work);
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  EXPECT_EQ(values(**profile, "sum#time.duration").at("main @0"), "3");
  EXPECT_EQ(values(**profile, "count"), (Values{{"other->inner @2", "12"}, {"other->other->inner @2", "1"}}));
  EXPECT_EQ((*profile)->defs().metric((*profile)->defs().find_metric("count")).type.kind, ValueKind::i64);
}

TEST(Caliper, CirclesNumbersThatAreNoneAndMarks) {
  const std::string text = std::string("\xEF\xBB\xBF") + R"(__rec=node,id=19,attr=10,data=276,parent=3
__rec=node,id=20,attr=8,data=function,parent=19
__rec=node,id=23,attr=10,data=65,parent=1
__rec=node,id=30,attr=8,data=count,parent=23
__rec=node,id=60,attr=20,data=a,parent=61
__rec=node,id=61,attr=20,data=b,parent=60
__rec=node,id=18446744073709551614,attr=20,data=far
__rec=ctx,ref=9223372036854775807,attr=30,data=5
__rec=ctx,ref=x,attr=30,data=5
__rec=ctx,attr=30=30,data=99999999999999999999=7

__rec=new,id=3
)";
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  const Work work = make_work();
  const auto profile = open_text(crlf + "__rec=ctx,ref=60,attr=30,data=2\r\n", work);
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  std::set<std::string> ids;
  for (const Diagnostic& one : work->diagnostics.all()) ids.insert(one.id);
  EXPECT_EQ(ids, (std::set<std::string>{"caliper.line", "caliper.reference", "caliper.value"}));
  // What is below a circle belongs nowhere: 5 + 7 + 2.
  EXPECT_EQ(values(**profile, "count"), (Values{{"(unattributed) @0", "14"}}));
}

TEST(Caliper, JsonSplit) {
  const std::string text = R"({"data":[[3.5,0,null,1],[1.0,1,0,0],[2.5,1,0,null]],
    "columns":["time","mpi.rank","other","path"],
    "column_metadata":[{"is_value":true,"attribute.unit":"sec"},{"is_value":true},{"is_value":false},{"is_value":false}],
    "nodes":[{"label":"main","column":"path"},{"label":"f","column":"path","parent":0}],"jobsize":"4"})";
  const auto profile = open_text(text, make_work(), caliper::json_format());
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  EXPECT_EQ(values(**profile, "time"), (Values{{"main->f @0", "3.5"}, {"main @1", "1"}, {"(unattributed) @1", "2.5"}}));
  EXPECT_FALSE(open_text("{\"data\":1}", make_work(), caliper::json_format()).ok());
  EXPECT_FALSE(open_text("[", make_work(), caliper::json_format()).ok());
}

// A recursion is as long as it is, and takes room in proportion: 30,000 paths of up to 30,000 calls are no 450 million
// entries of 16 bytes. Ranks stand in a tree of their own, whose nodes are named beside.
TEST(Caliper, DeepPathsTakeNoMoreRoomThanTheirTree) {
  constexpr int kDepth = 30000;
  constexpr std::uint64_t kMemory = std::uint64_t{256} << 20;
  std::string cali = stream(1, 0) + "__rec=node,id=70,attr=31,data=2\n__rec=node,id=100,attr=20,data=r\n";
  for (int i = 1; i < kDepth; ++i) {
    cali += fmt::format("__rec=node,id={},attr=20,data=r,parent={}\n__rec=ctx,ref=70={},attr=30,data=1\n", 100 + i,
                        99 + i, 100 + i);
    cali += fmt::format("__rec=ctx,ref={},attr=30=31,data=2=2\n", 100 + i);
  }
  std::string rows, nodes = R"({"label":"r","column":"path"})";
  for (int i = 1; i < kDepth; ++i) {
    rows += fmt::format("{}[3,{}]", i == 1 ? "" : ",", i);
    nodes += fmt::format(R"(,{{"label":"r","column":"path","parent":{}}})", i - 1);
  }
  const std::string json = R"({"data":[)" + rows +
                           R"(],"columns":["sum#time.duration","path"],"column_metadata":[{"is_value":true},)" +
                           R"({"is_value":false}],"nodes":[)" + nodes + "]}";
  for (const bool is_json : {false, true}) {
    const Work work = make_work(false, kMemory);
    const auto profile = open_text(is_json ? json : cali, work, is_json ? caliper::json_format() : caliper::format());
    ASSERT_TRUE(profile.ok()) << profile.error().text();
    for (const Diagnostic& one : work->diagnostics.all()) {
      EXPECT_LT(one.severity, Severity::warning) << one.id << ": " << one.text;
    }
    const Definitions& defs = (*profile)->defs();
    std::uint32_t deepest = 0;
    for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
      deepest = std::max<std::uint32_t>(deepest, defs.contexts[ContextId(i)].depth);
    }
    EXPECT_EQ(deepest, kDepth - 1U);
    const auto total = metric_total(**profile, defs.find_metric("sum#time.duration"), {});
    ASSERT_TRUE(total.ok());
    // What the short records of stream() have, 7.5, goes along.
    EXPECT_DOUBLE_EQ(total->scalar(), 3.0 * (kDepth - 1) + (is_json ? 0 : 7.5));
  }
}

// A text among numbers is one value that is none; a node above itself is no path.
TEST(Caliper, DamageInJsonCostsNoMoreThanItself) {
  const std::string text = R"({"data":[[1,2],["x",2],[4.5,0],["8",2]],"columns":["time","path"],
    "column_metadata":[{"is_value":true,"attribute.unit":"sec"},{"is_value":false}],
    "nodes":[{"label":"a","column":"path","parent":1},{"label":"b","column":"path","parent":0},
             {"label":"c","column":"path"}]})";
  const Work work = make_work();
  const auto profile = open_text(text, work, caliper::json_format());
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  EXPECT_EQ(values(**profile, "time"), (Values{{"c @0", "9"}, {"(unattributed) @0", "4.5"}}));
  std::map<std::string, std::uint64_t> said;
  for (const Diagnostic& one : work->diagnostics.all()) said[std::string(one.id)] += one.count;
  EXPECT_EQ(said, (std::map<std::string, std::uint64_t>{{"caliper.row", 1}, {"caliper.value", 1}}));
}

// Microseconds are of old versions, or of those that do not say which they are.
TEST(Caliper, JsonOfNewVersionsIsInSeconds) {
  for (const auto& [version, unit] : {std::pair{"", "usec"},
                                      {",\"cali.caliper.version\":\"2.3.0\"", "usec"},
                                      {",\"cali.caliper.version\":\"2.10.0\"", "sec"}}) {
    const auto profile =
        open_text(std::string(R"({"data":[[1.5,0]],"columns":["sum#time.duration","path"],"column_metadata":[)"
                              R"({"is_value":true},{"is_value":false}],"nodes":[{"label":"a","column":"path"}])") +
                      version + "}",
                  make_work(), caliper::json_format());
    ASSERT_TRUE(profile.ok()) << profile.error().text();
    EXPECT_EQ((*profile)->defs().metrics[0].unit, unit) << version;
  }
}

// When a step began, and which one it is, is nothing to add up.
TEST(Caliper, MomentsOfTimeSeriesAreNoMetrics) {
  const auto profile = open_text(stream(1, 1) +
                                     "__rec=node,id=60,attr=8,data=timeseries.starttime,parent=23\n"
                                     "__rec=node,id=61,attr=8,data=timeseries.snapshot,parent=24\n"
                                     "__rec=node,id=62,attr=8,data=timeseries.duration,parent=23\n"
                                     "__rec=ctx,ref=51,attr=31=32=60=61=62,data=1=8=1689118709.14=3=0.25\n",
                                 make_work());
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  EXPECT_FALSE((*profile)->defs().find_metric("timeseries.starttime").valid());
  EXPECT_FALSE((*profile)->defs().find_metric("timeseries.snapshot").valid());
  EXPECT_TRUE((*profile)->defs().find_metric("timeseries.duration").valid());
}

// Rows are read piece by piece in the usual spelling, and from where the spelling is another by a JSON parser: each of
// them counts once.
TEST(Caliper, JsonOfAnySpellingAndNumberOfThreadsMakesTheSame) {
  constexpr int kCount = 60'000;
  for (const int odd : {-1, 0, 30'000, kCount - 1}) {
    std::string rows;
    std::map<int, std::int64_t> counts;  // by rank
    std::map<int, double> times;
    std::mt19937 random(5);
    for (int i = 0; i < kCount; ++i) {
      const int rank = static_cast<int>(random() % 50);
      const auto count = static_cast<int>(random() % 9);
      const double time = static_cast<double>(random() % 8) * 0.5;
      rows += fmt::format("{}[{},{:.1f},{},{},{}]", i == 0 ? "" : ",\n", i % 2, time, rank, count,
                          i == odd     ? R"("\u0041\"")"
                          : i % 3 == 0 ? "null"
                                       : R"("text")");
      counts[rank] += count;
      times[rank] += time;
    }
    const std::string text = R"({"note":"x","data":[)" + rows +
                             R"(],"columns":["path","time","mpi.rank","count","remark"],"column_metadata":[
        {"is_value":false},{"is_value":true},{"is_value":true},{"is_value":true},{"is_value":true}],
        "nodes":[{"label":"main","column":"path"},{"label":"f","column":"path","parent":0}],"jobsize":"4"})";
    for (const unsigned threads : {1U, 4U}) {
      SCOPED_TRACE(fmt::format("odd {}, {} threads", odd, threads));
      const Execution execution(threads);
      const ExecutionScope scope(execution);
      const auto profile = open_text(text, make_work(), caliper::json_format());
      ASSERT_TRUE(profile.ok()) << profile.error().text();
      const Definitions& defs = (*profile)->defs();
      EXPECT_EQ(defs.metric(defs.find_metric("count")).type.kind, ValueKind::i64);
      EXPECT_EQ(defs.metric(defs.find_metric("time")).type.kind, ValueKind::f64);
      EXPECT_FALSE(defs.find_metric("remark").valid());
      std::map<int, double> found_counts, found_times;
      const auto add = [](const Values& values, std::map<int, double>& to) {
        for (const auto& [where, value] : values) to[std::stoi(where.substr(where.find('@') + 1))] += std::stod(value);
      };
      add(values(**profile, "count"), found_counts);
      add(values(**profile, "time"), found_times);
      EXPECT_EQ(found_times, times);
      for (const auto& [rank, count] : counts) EXPECT_EQ(found_counts[rank], static_cast<double>(count));
      EXPECT_EQ(*find_attribute(defs.attributes, "note"), "x");
    }
  }
}

// A node that is not there, or a column too many, is told; what is no JSON is an error wherever it stands.
TEST(Caliper, JsonRowsThatAreNotSound) {
  const auto text = [](const std::string& rows) {
    return R"({"data":)" + rows +
           R"(,"columns":["path","count"],"column_metadata":[{"is_value":false},{"is_value":true}],)" +
           R"("nodes":[{"label":"main","column":"path"}]})";
  };
  for (const std::string rows : {"[[0,1],[7,2],[0,4]]", "[[0,1],[0,4,9],[null,2]]", "[[0,1],[99999999999,2],[0,4]]"}) {
    const Work work = make_work();
    const auto profile = open_text(text(rows), work, caliper::json_format());
    ASSERT_TRUE(profile.ok()) << profile.error().text();
    EXPECT_EQ(values(**profile, "count"), (Values{{"main @0", "5"}, {"(unattributed) @0", "2"}})) << rows;
    ASSERT_EQ(work->diagnostics.all().size(), 1U) << rows;
    EXPECT_EQ(work->diagnostics.all()[0].id, "caliper.row");
  }
  for (const char* rows :
       {"[[0,1],]", "[[0,1] [0,1]]", "[[0,01]]", "[[0,1}]", "[[0,1],{}]", "[[0,1],3]", "[[0,1],[0,+1]]"}) {
    EXPECT_FALSE(open_text(text(rows), make_work(), caliper::json_format()).ok()) << rows;
  }
  EXPECT_FALSE(open_text(text("[[0,1]]") + "]", make_work(), caliper::json_format()).ok());
}

// A directory of profiles that say which run they are is an experiment.
TEST(Caliper, JsonIsRecognisedHoweverFarApartItsKeysAre) {
  std::string nodes;
  std::string rows;
  for (int i = 0; i < 60000; ++i) {
    nodes += (i == 0 ? "" : ",") + std::string(R"({"label": "some function )") + std::to_string(i) +
             R"(", "column": "path"})";
    rows += (i == 0 ? "[" : ",[") + std::to_string(i) + ", 1]";
  }
  const std::string text = R"({"data": [)" + rows +
                           R"(], "columns": ["path", "count"], "column_metadata": [{"is_value": )" +
                           R"(false}, {"is_value": true}], "nodes": [)" + nodes + R"(], "jobsize": 8})";
  ASSERT_GT(nodes.size(), std::size_t{2} << 20);
  const auto dataset = open_source(Source::of(Blob::own("x.json", text)), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  EXPECT_EQ((*dataset)->format().name, "caliper-json");
  EXPECT_EQ((*(*dataset)->profile())->defs().contexts.size(), 60000u);
  const std::string rest = R"("data": [], "columns": [], "column_metadata": [], "nodes": []})";
  EXPECT_EQ(
      caliper::json_format().recognise(Source::of(Blob::own("x", R"({"user": "a", "jobsize": 8, )" + rest))).confidence,
      Confidence::certain);
  // Attributes of a run may be objects and lists.
  EXPECT_EQ(caliper::json_format()
                .recognise(Source::of(Blob::own("x", R"({"hosts": ["a", "b"], "build": {"flags": ["-O3"]}, )" + rest)))
                .confidence,
            Confidence::certain);
  for (const std::string& other :
       {std::string(R"({"data": [], "columns": []})"), std::string(R"({"data": [1, {"nodes": 2)"), std::string("{"),
        std::string(R"([{"data": 1}])"), std::string(R"({"measurements": {"data": 1, "nodes": [], "columns": []}})")}) {
    EXPECT_EQ(caliper::json_format().recognise(Source::of(Blob::own("x", other))).confidence, Confidence::no);
  }
}

TEST(Caliper, GlobalsAreTheParametersOfRuns) {
  const TemporaryDirectory folder;
  for (const int size : {2, 4, 8, 16, 32}) {
    std::ofstream(folder / ("run_" + std::to_string(1000 - size) + ".cali")) << stream(size, size);
  }
  const auto dataset = open_dataset(folder.path(), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  EXPECT_EQ((*dataset)->format().name, "runs");
  const auto experiment = (*dataset)->experiment();
  ASSERT_TRUE(experiment.ok()) << experiment.error().text();
  ASSERT_EQ((*experiment)->parameters().size(), 1u);
  EXPECT_EQ((*experiment)->parameters()[0], "jobsize");
}

// However deep the directories are in which they lie, and whatever numbers are in their names.
TEST(Caliper, RunsInDirectoriesOfDirectories) {
  const TemporaryDirectory folder;
  for (const int size : {2, 4, 8, 16, 32}) {
    const auto inner = folder / "study" / (size < 8 ? "2024-01-05" : "2024-02-06") / "host" / std::to_string(size);
    std::filesystem::create_directories(inner);
    std::ofstream(inner / "run.cali") << stream(size, size);
  }
  std::filesystem::create_directory_symlink(folder / "study", folder / "study" / "2024-01-05" / "again");
  auto dataset = open_dataset(folder / "study", make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  EXPECT_EQ((*dataset)->format().name, "runs");
  const auto experiment = (*dataset)->experiment();
  ASSERT_TRUE(experiment.ok()) << experiment.error().text();
  EXPECT_EQ((*experiment)->parameters(), std::vector<std::string>{"jobsize"});
  EXPECT_EQ((*experiment)->point_count(), 5U);
}

TEST(Conversions, EveryWrittenFormatSaysWhatItLoses) {
  std::set<std::string_view> to;
  for (const Conversion& one : all_conversions()) {
    EXPECT_NE(one.loses, "what it says when it is written") << one.to->name;
    to.insert(one.to->name);
  }
  for (const Format* format : all_formats()) {
    EXPECT_TRUE(format->write == nullptr || to.contains(format->name)) << format->name;
  }
}

}  // namespace
}  // namespace fathom
