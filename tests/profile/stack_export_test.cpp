#include "profile/export/stack_export.hpp"

#include <gtest/gtest.h>

#include <map>

#include "profile/build/profile_builder.hpp"

namespace fathom {
namespace {

std::map<std::string, std::int64_t> exported(const Profile& profile, const StackExport& values) {
  std::map<std::string, std::int64_t> out;
  const auto done = values.visit([&](ContextId context, LocationId, std::span<const std::int64_t> value) {
    out[profile.defs().path(context)] = value.front();
    return Result<void>();
  });
  EXPECT_TRUE(done.ok());
  return out;
}

// A format may define scopes that a file does not use: what is there counts, whichever stands first.
TEST(StackExport, AMetricHasValuesInAnyScope) {
  ProfileBuilder builder(make_work(), "x");
  Metric metric;
  metric.name = "time";
  metric.unit = "sec";
  metric.type = {ValueKind::f64, 0};
  metric.scopes = {{Scope::named, "point"}, {Scope::inclusive, {}}};
  const MetricId time = builder.add_metric(std::move(metric));
  // One that can never be written.
  Metric least;
  least.name = "least";
  least.type = {ValueKind::min_f64, 0};
  const MetricId extreme = builder.add_metric(std::move(least));
  const LocationId location = add_single_location(builder.system);
  const auto main = builder.child(ProfileBuilder::kRoot, builder.region("main"));
  const auto leaf = builder.child(main, builder.region("leaf"));
  builder.add(location, time, main, 5.0, 1);
  builder.add(location, time, leaf, 2.0, 1);
  builder.add(location, extreme, main, 1.0);
  const auto profile = std::move(builder).finish();
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  for (const bool one_metric : {false, true}) {
    const auto values = StackExport::plan(**profile, {.format = "x", .one_metric = one_metric});
    ASSERT_TRUE(values.ok()) << values.error().text();
    EXPECT_EQ(exported(**profile, *values),
              (std::map<std::string, std::int64_t>{{"main", 3'000'000'000}, {"main->leaf", 2'000'000'000}}));
  }
}

// Nobody could read what would be written.
TEST(StackExport, AProfileWithoutMetricsIsRefused) {
  ProfileBuilder builder(make_work(), "x");
  add_single_location(builder.system);
  builder.child(ProfileBuilder::kRoot, builder.region("main"));
  const auto profile = std::move(builder).finish();
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  const auto values = StackExport::plan(**profile, {.format = "pprof"});
  ASSERT_FALSE(values.ok());
  EXPECT_NE(values.error().text().find("a profile without metrics is nothing that can be written as pprof"),
            std::string::npos);
}

// Whole numbers are written as they are, with a unit that readers know.
TEST(StackExport, WholeTimesKeepTheirUnit) {
  for (const auto& [unit, written] : {std::pair{"sec", "seconds"},
                                      {"usec", "microseconds"},
                                      {"ms", "milliseconds"},
                                      {"ns", "nanoseconds"},
                                      {"bytes", "bytes"},
                                      {"occ", "occ"}}) {
    ProfileBuilder builder(make_work(), "x");
    Metric metric;
    metric.name = "m";
    metric.unit = unit;
    metric.type = {ValueKind::i64, 0};
    const MetricId id = builder.add_metric(std::move(metric));
    const LocationId location = add_single_location(builder.system);
    builder.add(location, id, builder.child(ProfileBuilder::kRoot, builder.region("main")), std::int64_t{7});
    const auto profile = std::move(builder).finish();
    ASSERT_TRUE(profile.ok()) << profile.error().text();
    const auto values = StackExport::plan(**profile, {.format = "x"});
    ASSERT_TRUE(values.ok()) << values.error().text();
    EXPECT_EQ(values->metrics().front().unit, written);
    EXPECT_EQ(exported(**profile, *values), (std::map<std::string, std::int64_t>{{"main", 7}}));
  }
}

}  // namespace
}  // namespace fathom
