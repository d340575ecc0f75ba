#include "profile/aggregate.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "formats/registry.hpp"
#include "profile/views.hpp"

namespace fathom {
namespace {

// Hands on what another source has and counts the values.
class CountingSource : public ValueSource {
 public:
  explicit CountingSource(std::shared_ptr<const ValueSource> from) : from_(std::move(from)) {}
  [[nodiscard]] Axis cheap_axis() const override { return from_->cheap_axis(); }
  [[nodiscard]] bool reads_well_by(Axis axis) const override { return from_->reads_well_by(axis); }
  Result<void> scan(const Box& box, const RunVisitor& visit) const override {
    return from_->scan(box, [&](const Run& run) {
      values += run.count;
      return visit(run);
    });
  }
  mutable std::atomic<std::uint64_t> values{0};

 private:
  std::shared_ptr<const ValueSource> from_;
};

class ReadOnce : public testing::Test {
 protected:
  void SetUp() override {
    auto dataset = open_dataset(FATHOM_SOURCE_DIR "/examples/stencil.cubex", make_work());
    ASSERT_TRUE(dataset.ok());
    auto profile = (*dataset)->profile();
    ASSERT_TRUE(profile.ok());
    dataset_ = *std::move(dataset);
    profile_ = **profile;
    counting_ = std::make_shared<CountingSource>(profile_.values);
    profile_.values = counting_;
  }
  // Values handed over since the last time.
  std::uint64_t taken() { return counting_->values.exchange(0); }

  DatasetPtr dataset_;
  Profile profile_;
  std::shared_ptr<CountingSource> counting_;
};

TEST_F(ReadOnce, FlavoursAreThoseThatComputeGivesOneByOne) {
  const Definitions& defs = profile_.defs();
  const std::vector<Flavour> flavours = {{Flavour::Kind::inclusive, {}}, {Flavour::Kind::exclusive, {}}};
  for (const bool aggregate : {true, false}) {
    for (std::size_t m = 0; m < defs.metrics.size(); ++m) {
      const Selection selection{{}, {}, all_locations(defs), aggregate};
      const auto together = compute_flavours(profile_, MetricId(m), flavours, selection);
      ASSERT_TRUE(together.ok()) << defs.metrics[m].name;
      ASSERT_EQ(together->size(), 2U);
      for (std::size_t f = 0; f < flavours.size(); ++f) {
        Selection one = selection;
        one.flavour = flavours[f];
        const auto alone = compute(profile_, MetricId(m), one);
        ASSERT_TRUE(alone.ok());
        ASSERT_EQ((*together)[f].rows(), alone->rows());
        for (std::size_t row = 0; row < alone->rows(); ++row) {
          for (std::size_t column = 0; column < alone->columns(); ++column) {
            EXPECT_EQ((*together)[f].at(row, column).text(), alone->at(row, column).text());
          }
        }
      }
    }
  }
}

TEST_F(ReadOnce, AFlatProfileAndATreeTakeEveryStoredValueOnce) {
  const MetricId time = profile_.defs().find_metric("time");
  ASSERT_TRUE(time.valid());
  taken();
  ASSERT_TRUE(compute(profile_, time, {{}, {}, all_locations(profile_.defs()), true}).ok());
  const std::uint64_t once = taken();
  ASSERT_GT(once, 0U);
  const ViewInput input{time, {}, {}};
  ASSERT_TRUE(flat_profile(profile_, input, GroupBy::region).ok());
  EXPECT_EQ(taken(), once);
  ASSERT_TRUE(top_down(profile_, input).ok());
  EXPECT_EQ(taken(), once);
  ASSERT_TRUE(bottom_up(profile_, input).ok());
  EXPECT_EQ(taken(), once);
}

}  // namespace
}  // namespace fathom
