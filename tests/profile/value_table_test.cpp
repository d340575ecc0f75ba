#include "profile/value_table.hpp"

#include <gtest/gtest.h>

#include "memory_profile.hpp"

namespace fathom {
namespace {

// time (1, 2), (4, 8) and, as parts of it, mpi (0.5, 1), (1, 2) and one that is void.
ProfilePtr nested() {
  test::MemoryProfile make;
  const MetricId time = make.metric("time");
  const MetricId mpi = make.metric("mpi", ValueKind::f64, Scope::exclusive, time);
  const MetricId off = make.metric("off", ValueKind::f64, Scope::exclusive, time);
  make.defs().metrics[off.index()].switched_off = true;
  make.context("main");
  make.context("main/foo");
  make.values<double>(time, "main", {1, 2});
  make.values<double>(time, "main/foo", {4, 8});
  make.values<double>(mpi, "main", {0.5, 1});
  make.values<double>(mpi, "main/foo", {1, 2});
  make.values<double>(off, "main", {100, 200});
  return make.build();
}

std::vector<double> values(const char* metric, SystemLevel level, bool metric_exclusive) {
  const ProfilePtr profile = nested();
  ValueChoice choice{.metrics = {profile->defs().find_metric(metric)},
                     .contexts = std::nullopt,
                     .locations = {LocationId(0U), LocationId(1U)},
                     .flavour = {},
                     .metric_exclusive = metric_exclusive};
  if (level != SystemLevel::thread) choice.groups = system_groups(profile->defs().system, level);
  const auto table = read_all(*value_table(profile, choice));
  EXPECT_TRUE(table.ok());
  std::vector<double> out;
  for (std::size_t i = 0; table.ok() && i < table->rows(); ++i) out.push_back(table->column("value").real(i));
  return out;
}

TEST(ValueTable, WithoutThePartsOfAMetric) {
  EXPECT_EQ(values("time", SystemLevel::thread, true), (std::vector<double>{0.5, 1, 3, 6}));
  EXPECT_EQ(values("time", SystemLevel::process, true), (std::vector<double>{1.5, 9}));
  EXPECT_EQ(values("time", SystemLevel::node, true), (std::vector<double>{1.5, 9}));
  EXPECT_EQ(values("time", SystemLevel::process, false), (std::vector<double>{3, 12}));
}

// What is stored, whoever it is shown for.
TEST(ValueTable, VoidMetrics) {
  EXPECT_EQ(values("off", SystemLevel::thread, false), (std::vector<double>{100, 200}));
  EXPECT_EQ(values("off", SystemLevel::process, false), (std::vector<double>{300}));
}

}  // namespace
}  // namespace fathom
