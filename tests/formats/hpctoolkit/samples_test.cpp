// Time per function from samples.
#include "trace/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "formats/hpctoolkit/sample_trace.hpp"
#include "formats/hpctoolkit/trace_db.hpp"
#include "formats/registry.hpp"
#include "io/file.hpp"
#include "io/output_file.hpp"
#include "temporary_directory.hpp"

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

// One location with one line of these times, big endian as in experiment.xml databases.
class MadeTrace {
 public:
  explicit MadeTrace(std::initializer_list<std::uint64_t> times) {
    Definitions defs;
    SystemNode node;
    node.name = "thread";
    defs.system.add_location(std::move(node));
    for (const std::uint64_t time : times) {
      for (int shift = 56; shift >= 0; shift -= 8) bytes_.push_back(static_cast<std::byte>(time >> shift));
      bytes_.resize(bytes_.size() + 4);
    }
    SampleLine line;
    line.at = bytes_.data();
    line.count = times.size();
    line.location = LocationId(0U);
    trace_.emplace(defs, ContextIndex(), std::vector{line}, Endian::big, TickScale(), nullptr, make_work());
  }
  [[nodiscard]] const SampleTrace& operator*() const { return *trace_; }

 private:
  std::vector<std::byte> bytes_;
  std::optional<SampleTrace> trace_;
};

// Neither the first nor the last sample that is stored has to be that in time.
TEST(Samples, SpanOfALineThatIsNotInTimeOrder) {
  const MadeTrace crossed({500, 900, 100, 700});
  EXPECT_EQ((*crossed).known_span(), (TimeWindow{100, 900}));
  EXPECT_EQ((*crossed).location_span(LocationId(0U)), (TimeWindow{100, 900}));
  const MadeTrace sorted({100, 700, 700, 900});
  EXPECT_EQ((*sorted).known_span(), (TimeWindow{100, 900}));
  const MadeTrace nothing({});
  EXPECT_FALSE((*nothing).known_span());
}

// `info` shows it, whatever the header of the file says.
TEST(Samples, InfoShowsTheTrueSpan) {
  const fs::path data = fs::path(FATHOM_SHARED_DATA) / "hpctoolkit/b-small";
  if (!fs::exists(data)) GTEST_SKIP() << "no shared data";
  TemporaryDirectory scratch;
  const fs::path copy = scratch.path() / "db";
  fs::copy(data, copy, fs::copy_options::recursive);
  fs::permissions(copy, fs::perms::owner_all, fs::perm_options::add);
  fs::permissions(copy / "trace.db", fs::perms::owner_write, fs::perm_options::add);
  const auto work = make_work();
  auto blob = map_file(copy / "trace.db");
  ASSERT_TRUE(blob.ok());
  std::string bytes(blob->text());
  auto trace = TraceDb::read(*blob, work);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  const auto line =
      std::find_if(trace->lines().begin(), trace->lines().end(), [](const TraceLine& one) { return one.count >= 3; });
  ASSERT_NE(line, trace->lines().end());
  // A sample in the middle of a line that is later than all others.
  const std::uint64_t late = trace->sample(*line, line->count - 1).time_ns + 1'000'000'000'000;
  std::memcpy(bytes.data() + line->begin + TraceDb::kSampleSize, &late, sizeof late);
  ASSERT_TRUE(write_file(copy / "trace.db", bytes).ok());
  auto dataset = open_dataset(copy, work);
  ASSERT_TRUE(dataset.ok());
  auto entries = (*dataset)->describe(false);
  ASSERT_TRUE(entries.ok());
  const auto last =
      std::find_if(entries->begin(), entries->end(), [](const InfoEntry& one) { return one.key == "last_ns"; });
  ASSERT_NE(last, entries->end());
  EXPECT_EQ(last->value, InfoValue(static_cast<std::int64_t>(late)));
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
