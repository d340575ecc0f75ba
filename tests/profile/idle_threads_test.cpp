#include "profile/algebra/idle_threads.hpp"

#include <gtest/gtest.h>

#include "memory_profile.hpp"
#include "profile/compute.hpp"

namespace fathom {
namespace {

std::vector<double> row(const Profile& profile, const char* metric, std::size_t context, Flavour::Kind kind) {
  const auto cells =
      compute(profile, profile.defs().find_metric(metric), {{kind, {}}, {}, all_locations(profile.defs()), false});
  if (!cells.ok()) return {};
  const auto values = cells->reals(context);
  return {values.begin(), values.end()};
}
std::vector<double> exclusive(const Profile& profile, const char* metric, std::size_t context) {
  return row(profile, metric, context, Flavour::Kind::exclusive);
}

using Values = std::vector<double>;

// One process with three threads: the first works all the time, the third leaves the parallel region early.
ProfilePtr threaded(Scope scope) {
  test::MemoryProfile make({"0", "1", "2"});
  const MetricId time = make.metric("time", ValueKind::f64, scope);
  for (const char* path : {"main", "main/!$omp parallel @x.c:3", "main/!$omp parallel @x.c:3/work", "main/io"}) {
    make.context(path);
  }
  const bool whole = scope == Scope::inclusive;
  make.values<double>(time, "main", whole ? Values{10, 4, 1.5} : Values{2, 0, 0});
  make.values<double>(time, "main/!$omp parallel @x.c:3", whole ? Values{4, 4, 1.5} : Values{1, 1, 0.5});
  make.values<double>(time, "main/!$omp parallel @x.c:3/work", {3, 3, 1});
  make.values<double>(time, "main/io", {4, 0, 0});
  return make.build();
}

TEST(IdleThreads, WorkersIdleWhileTheFirstThreadWorksAlone) {
  for (const Scope scope : {Scope::exclusive, Scope::inclusive}) {
    const auto with = algebra::with_idle_threads(threaded(scope));
    ASSERT_TRUE(with.ok()) << with.error().text();
    const Profile& profile = **with;
    EXPECT_EQ(exclusive(profile, "omp_idle_threads", 0), (Values{0, 2, 2}));
    EXPECT_EQ(exclusive(profile, "omp_idle_threads", 3), (Values{0, 4, 4}));
    EXPECT_EQ(exclusive(profile, "omp_limited_parallelism", 3), (Values{0, 0, 0}));
    // 4 - 1.5 in the region as a whole, none of it below.
    EXPECT_EQ(exclusive(profile, "omp_limited_parallelism", 1), (Values{0, 0, 2.5}));
    EXPECT_EQ(exclusive(profile, "omp_idle_threads", 1), (Values{0, 0, 2.5}));
    EXPECT_EQ(exclusive(profile, "omp_idle_threads", 2), (Values{0, 0, 0}));
    // What is reserved for the threads is the same for all of them, busy or not.
    EXPECT_EQ(row(profile, "time", 0, Flavour::Kind::inclusive), (Values{10, 10, 10}));
    const Definitions& defs = profile.defs();
    EXPECT_EQ(defs.metric(defs.find_metric("omp_limited_parallelism")).parent, defs.find_metric("omp_idle_threads"));
    EXPECT_EQ(defs.metric(defs.find_metric("omp_idle_threads")).parent, defs.find_metric("time"));
  }
}

TEST(IdleThreads, WithoutParallelRegionsNothingChanges) {
  test::MemoryProfile make({"0", "1"});
  make.metric("time");
  make.context("main");
  const ProfilePtr profile = make.build();
  const auto with = algebra::with_idle_threads(profile);
  ASSERT_TRUE(with.ok());
  EXPECT_EQ(*with, profile);
}

TEST(IdleThreads, NeedsTheTime) {
  test::MemoryProfile make({"0", "1"});
  make.metric("visits");
  make.context("!$omp parallel");
  const auto with = algebra::with_idle_threads(make.build());
  ASSERT_FALSE(with.ok());
  EXPECT_NE(with.error().text().find("'time'"), std::string::npos);
}

}  // namespace
}  // namespace fathom
