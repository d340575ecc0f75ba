// Time per function from samples.
#include "trace/samples.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "formats/registry.hpp"

namespace fathom::hpctoolkit {
namespace {

namespace fs = std::filesystem;

TEST(Samples, FramesOfAStack) {
  // main (0) > line (1) > f (2) > loop (3) > g, inlined (4) > line (5)
  Definitions defs;
  defs.regions.resize(1);
  ContextTreeBuilder builder;
  const Edge edges[] = {Edge::call, Edge::lexical, Edge::call, Edge::lexical, Edge::inlined_call, Edge::lexical};
  for (std::uint32_t i = 0; i < 6; ++i) {
    builder.add(i == 0 ? ContextTreeBuilder::kRoot : i - 1, RegionId(0U), i, -1, edges[i]);
  }
  const ContextTree tree = std::move(builder).build();
  const ContextId leaf(5U);
  EXPECT_EQ(frame_at(tree, leaf, {}).value, 4U);
  EXPECT_EQ(frame_at(tree, leaf, 0).value, 0U);
  EXPECT_EQ(frame_at(tree, leaf, 1).value, 2U);
  EXPECT_EQ(frame_at(tree, leaf, 2).value, 4U);
  EXPECT_EQ(frame_at(tree, leaf, 99).value, 4U);
  EXPECT_EQ(frame_at(tree, ContextId(1U), 7).value, 0U);
  EXPECT_FALSE(frame_at(tree, ContextId(), 0).valid());
}

// The spans between samples are the time from the first to the last sample, whatever the depth.
TEST(Samples, TimeAddsUpToTheSpan) {
  const fs::path data = fs::path(FATHOM_SHARED_DATA) / "hpctoolkit";
  if (!fs::exists(data)) GTEST_SKIP() << "no shared data";
  for (const char* name : {"b-small", "a-loops-cputime", "b-inline", "c-inline"}) {
    auto dataset = open_dataset(data / name, make_work());
    ASSERT_TRUE(dataset.ok());
    auto trace = (*dataset)->trace();
    ASSERT_TRUE(trace.ok());
    double span = 0;
    std::uint64_t samples = 0;
    for (std::size_t i = 0; i < (*trace)->location_count(); ++i) {
      auto stream = (*trace)->open(LocationId(i), {});
      ASSERT_TRUE(stream.ok());
      EventCursor cursor(std::move(*stream));
      std::int64_t first = 0;
      std::int64_t last = 0;
      std::uint64_t here = 0;
      while (const Event* event = cursor.next()) {
        if (here++ == 0) first = event->time_ns;
        last = event->time_ns;
      }
      span += static_cast<double>(last - first) * 1e-9;
      samples += here;
    }
    for (const char* depth : {"", "0", "1", "3"}) {
      StatisticsOptions options;
      options.by = {"location", "context"};
      if (*depth != '\0') options.options.emplace_back("depth", depth);
      auto statistics = (*dataset)->statistics(options);
      ASSERT_TRUE(statistics.ok()) << statistics.error().text();
      double sum = 0;
      std::uint64_t count = 0;
      for (const CallStatistics& call : statistics->calls) {
        sum += *call.wall_s;
        count += call.count;
      }
      EXPECT_NEAR(sum, span, 1e-6) << name << " depth " << depth;
      EXPECT_EQ(count, samples) << name;
      ASSERT_EQ(statistics->tables.size(), 2U);
      for (const Table& table : statistics->tables) {
        double rows = 0;
        for (std::size_t row = 0; row < table.rows(); ++row) rows += table.column("wall_s").real(row);
        EXPECT_NEAR(rows, span, 1e-6) << name << " " << table.schema.name;
      }
    }
    // A window cuts what reaches over its borders.
    StatisticsOptions half;
    const auto whole = (*trace)->known_span();
    ASSERT_TRUE(whole);
    const std::int64_t middle = whole->from_ns + (whole->to_ns - whole->from_ns) / 2;
    double parts = 0;
    for (const bool second : {false, true}) {
      StatisticsOptions options;
      (second ? options.from_ns : options.to_ns) = middle;
      auto statistics = (*dataset)->statistics(options);
      ASSERT_TRUE(statistics.ok());
      for (const CallStatistics& call : statistics->calls) parts += *call.wall_s;
    }
    EXPECT_NEAR(parts, span, 1e-6) << name;
  }
}

TEST(Samples, WrongOptions) {
  const fs::path data = fs::path(FATHOM_SHARED_DATA) / "hpctoolkit";
  if (!fs::exists(data)) GTEST_SKIP() << "no shared data";
  auto dataset = open_dataset(data / "b-small", make_work());
  ASSERT_TRUE(dataset.ok());
  StatisticsOptions by;
  by.by = {"rank"};
  EXPECT_FALSE((*dataset)->statistics(by).ok());
  StatisticsOptions depth;
  depth.options = {{"depth", "deep"}};
  EXPECT_FALSE((*dataset)->statistics(depth).ok());
  StatisticsOptions locations;
  locations.locations = {"77"};
  EXPECT_FALSE((*dataset)->statistics(locations).ok());
}

}  // namespace
}  // namespace fathom::hpctoolkit
