// The parts in which the table of values is read: enough for several threads, bounded, and in one order.
#include <gtest/gtest.h>

#include <tuple>

#include "../profile/memory_profile.hpp"
#include "base/execution.hpp"
#include "base/parallel.hpp"
#include "profile/compute.hpp"
#include "tables/value_scan.hpp"

namespace fathom {
namespace {

constexpr std::size_t kContexts = 300;
constexpr std::size_t kLocations = 1000;

// Most cells are empty; the others are all different.
std::uint64_t value_at(std::size_t metric, std::size_t context, std::size_t location) {
  const std::size_t cell = (context * kLocations + location) * 4 + metric;
  return (context + location) % 8 == 0 ? cell + 1 : 0;
}

template <class T>
void fill(test::MemoryProfile& made, std::size_t metric) {
  for (std::size_t context = 0; context < kContexts; ++context) {
    std::vector<T> row(kLocations);
    for (std::size_t i = 0; i < kLocations; ++i) row[i] = static_cast<T>(value_at(metric, context, i));
    made.values(MetricId(metric), std::to_string(context), row);
  }
}

// Integers before doubles, so that the order of the metrics is not that of their types.
ProfilePtr make(Axis axis) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kLocations; ++i) names.push_back(std::to_string(i));
  test::MemoryProfile made(names);
  made.metric("large", ValueKind::u64);
  made.metric("small", ValueKind::u32);
  made.metric("time", ValueKind::f64);
  made.metric("more", ValueKind::f64);
  for (std::size_t i = 0; i < kContexts; ++i) made.context(std::to_string(i));
  fill<std::uint64_t>(made, 0);
  fill<std::uint32_t>(made, 1);
  fill<double>(made, 2);
  fill<double>(made, 3);
  made.source().axis = axis;
  return made.build();
}

std::unique_ptr<TableSource> scan(const ProfilePtr& profile) {
  ValueBounds bounds;
  for (std::size_t i = 0; i < profile->defs().metrics.size(); ++i) bounds.metrics.emplace_back(i);
  for (std::size_t i = 0; i < kLocations; ++i) bounds.locations.emplace_back(i);
  return std::move(*value_scan(profile, std::move(bounds)));
}

// By the number of the metric.
using Row = std::tuple<std::uint32_t, std::int64_t, std::int64_t, double>;

// The rows of every part, read by so many threads.
std::vector<std::vector<Row>> read(const TableSource& source, unsigned threads) {
  std::vector<std::vector<Row>> parts(source.parts());
  const Execution execution(threads);
  const ExecutionScope scope(execution);
  execution.run([&] {
    const auto done = parallel_for(parts.size(), [&](std::size_t part) -> Result<void> {
      FATHOM_TRY(const auto reader, source.open(part, {}));
      Batch batch;
      while (true) {
        FATHOM_TRY(const bool more, reader->next(batch));
        if (!more) return {};
        for (std::size_t i = 0; i < batch.rows; ++i) {
          parts[part].emplace_back(batch.columns[0].values<std::uint32_t>()[i],
                                   batch.columns[1].values<std::int64_t>()[i],
                                   batch.columns[2].values<std::int64_t>()[i], batch.columns[3].real(i));
        }
      }
    });
    EXPECT_TRUE(done.ok());
  });
  return parts;
}

// Doubles, integers, large integers; metric by metric, in each by context, then by location.
std::vector<Row> expected() {
  std::vector<Row> rows;
  for (const std::uint32_t metric : {2U, 3U, 1U, 0U}) {
    for (std::size_t context = 0; context < kContexts; ++context) {
      for (std::size_t i = 0; i < kLocations; ++i) {
        const std::uint64_t value = value_at(metric, context, i);
        if (value != 0) rows.emplace_back(metric, context, i, static_cast<double>(value));
      }
    }
  }
  return rows;
}

std::vector<Row> joined(const std::vector<std::vector<Row>>& parts) {
  std::vector<Row> rows;
  for (const auto& part : parts) rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

class ValueParts : public testing::TestWithParam<Axis> {};

TEST_P(ValueParts, AreTheSameRowsWithAnyNumberOfThreads) {
  const ProfilePtr profile = make(GetParam());
  const auto source = scan(profile);
  // 1.2 million cells: something to do for eight, and none that has it nearly all.
  EXPECT_GE(source->parts(), 8U);
  const auto alone = read(*source, 1);
  for (const auto& part : alone) EXPECT_LE(part.size(), 1U << 17);
  EXPECT_EQ(read(*source, 2), alone);
  EXPECT_EQ(read(*source, 8), alone);
  auto rows = joined(alone);
  auto wanted = expected();
  if (GetParam() == Axis::metric) {
    EXPECT_EQ(rows, wanted) << "metric by metric";
    return;
  }
  std::sort(rows.begin(), rows.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(rows, wanted);
}

INSTANTIATE_TEST_SUITE_P(Axes, ValueParts, testing::Values(Axis::metric, Axis::context, Axis::location));

// What is small is one part: rows of small profiles come in order from any engine.
TEST(ValueParts, SmallMetricsShareAPart) {
  test::MemoryProfile made;
  for (int i = 0; i < 50; ++i) made.metric("m" + std::to_string(i));
  made.context("main");
  for (std::size_t i = 0; i < 50; ++i) made.values<double>(MetricId(i), "main", {1, 2});
  made.source().axis = Axis::metric;
  const ProfilePtr profile = made.build();
  ValueBounds bounds;
  for (std::size_t i = 0; i < 50; ++i) bounds.metrics.emplace_back(i);
  bounds.locations = {LocationId(0), LocationId(1)};
  const auto source = value_scan(profile, bounds);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->parts(), 1U);
  const auto rows = joined(read(**source, 2));
  ASSERT_EQ(rows.size(), 100U);
  EXPECT_EQ(rows[7], Row(3, 0, 1, 2.0));
}

}  // namespace
}  // namespace fathom
