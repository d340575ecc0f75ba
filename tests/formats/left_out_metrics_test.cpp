// Writers name every metric that they leave out, not the first one alone.
#include <gtest/gtest.h>

#include "formats/profile_dataset.hpp"
#include "formats/registry.hpp"
#include "profile/memory_profile.hpp"
#include "temporary_directory.hpp"

namespace fathom {
namespace {

// time, and so many metrics that cannot be read.
ProfilePtr with_unusable_metrics(int count) {
  test::MemoryProfile make;
  const MetricId time = make.metric("time");
  for (int i = 0; i < count; ++i) {
    make.metric("bad" + std::to_string(i));
    make.defs().metrics.back().unusable = i == 1 ? "its file is lost" : "its type is not known";
  }
  make.context("main");
  make.values<double>(time, "main", {1, 2});
  return make.build();
}

std::vector<Diagnostic> told_by(const char* writer, int count) {
  const TemporaryDirectory folder;
  const ProfilePtr profile = with_unusable_metrics(count);
  const auto format = find_format(writer);
  EXPECT_TRUE(format.ok());
  const DatasetPtr dataset = make_profile_dataset(profile);
  const auto written = (*format)->write(*dataset, folder / "out", {});
  EXPECT_TRUE(written.ok()) << written.error().text();
  std::vector<Diagnostic> told;
  for (Diagnostic& one : profile->work->diagnostics.all()) {
    if (one.id.ends_with(".metric_left_out")) told.push_back(std::move(one));
  }
  return told;
}

class LeftOutMetrics : public testing::TestWithParam<const char*> {};

TEST_P(LeftOutMetrics, AreAllNamed) {
  EXPECT_TRUE(told_by(GetParam(), 0).empty());
  const auto one = told_by(GetParam(), 1);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].text, "metric 'bad0' is left out: its type is not known");
  const auto three = told_by(GetParam(), 3);
  ASSERT_EQ(three.size(), 1U);
  EXPECT_EQ(three[0].text, "metrics are left out: bad0, bad2 (its type is not known); bad1 (its file is lost)");
  EXPECT_EQ(three[0].count, 3U);
  const auto many = told_by(GetParam(), 20);
  ASSERT_EQ(many.size(), 1U);
  EXPECT_EQ(many[0].text,
            "metrics are left out: bad0, bad2, bad3, bad4, bad5, bad6, bad7, bad8, bad9, bad10 and 9 more (its type is "
            "not known); bad1 (its file is lost)");
}

INSTANTIATE_TEST_SUITE_P(Writers, LeftOutMetrics, testing::Values("cube", "hpctoolkit", "hpctoolkit-xml"));

}  // namespace
}  // namespace fathom
