#include "experiment/strong_scaling.hpp"

#include <gtest/gtest.h>

#include <array>

#include "experiment/builder.hpp"

namespace fathom {
namespace {

// time = n / p on p in 1, 2, 4 and n in 8, 16; the second call path is not the program's own time.
ExperimentPtr experiment(const char* metric = "time") {
  ExperimentBuilder builder("x", make_work());
  builder.parameter("n");
  builder.parameter("p");
  const auto m = builder.metric(metric);
  const auto main = builder.callpath("Main");
  const auto idle = builder.callpath("Main->GPU IDLE");
  builder.callpath_tags(idle) = {{"agg__category", "\"GPU IDLE\""}};
  for (const double n : {8.0, 16.0}) {
    for (const double p : {1.0, 2.0, 4.0}) {
      const auto point = builder.point(std::array{n, p});
      builder.add(main, m, point, std::array{n / p, n / p + 2});
      builder.add(idle, m, point, std::array{1000 * p});
    }
  }
  return std::move(builder).finish().value();
}

TEST(StrongScaling, FindsTheParameterThatShrinksTheTime) {
  const auto e = experiment();
  EXPECT_EQ(shrinking_metrics(*e), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(strong_scaling_parameter(*e), 1u);
  EXPECT_EQ(shrinking_metrics(*experiment("visits")), (std::vector<std::uint32_t>{0, 1}));
}

TEST(StrongScaling, NoneWhenItGrows) {
  const auto grown = multiplied_by(*multiplied_by(*experiment(), 1, make_work()).value(), 1, make_work()).value();
  EXPECT_EQ(strong_scaling_parameter(*grown), std::nullopt);
}

TEST(StrongScaling, MultipliesEverything) {
  const auto before = experiment();
  const auto after = multiplied_by(*before, 1, make_work()).value();
  EXPECT_EQ(after->scaling(), Scaling::strong);
  ASSERT_EQ(after->measurement_count(), before->measurement_count());
  ASSERT_EQ(after->callpaths()[1].tags, before->callpaths()[1].tags);
  for (const Series& s : before->series()) {
    const auto points = before->points_of(s);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double p = before->point(points[k])[1];
      const std::size_t m = s.first + k;
      EXPECT_EQ(after->means()[m], before->means()[m] * p);
      EXPECT_EQ(after->medians()[m], before->medians()[m] * p);
      EXPECT_EQ(after->minima()[m], before->minima()[m] * p);
      EXPECT_EQ(after->maxima()[m], before->maxima()[m] * p);
      EXPECT_EQ(after->deviations()[m], before->deviations()[m] * p);
      EXPECT_EQ(after->repetitions()[m], before->repetitions()[m]);
      EXPECT_EQ(after->values(m).back(), before->values(m).back() * p);
    }
  }
}

}  // namespace
}  // namespace fathom
