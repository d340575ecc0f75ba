// The tree of two profiles.
#include "serve/compare_answers.hpp"

#include <gtest/gtest.h>

#include "profile/expression/derive.hpp"
#include "profile/memory_profile.hpp"

namespace fathom::serve {
namespace {

// foo is called from two places of main, which are one node where names count.
ProfilePtr sample() {
  test::MemoryProfile make({"0", "1"});
  const MetricId time = make.metric("time");
  const MetricId visits = make.metric("visits");
  const MetricId shortest = make.metric("shortest", ValueKind::min_f64);
  for (const char* path : {"main", "main/foo"}) make.context(path);
  ContextTreeBuilder builder;
  const auto main = builder.add(ContextTreeBuilder::kRoot, RegionId(0U), 0);
  builder.add(main, RegionId(1U), 1);
  builder.add(main, RegionId(1U), 2);
  const ProfilePtr made = make.build();
  auto definitions = std::make_shared<Definitions>(*made->definitions);
  definitions->contexts = std::move(builder).build();
  auto source = std::make_shared<test::MemorySource>();
  source->value_size = {8, 8, 8};
  const auto row = [&](MetricId metric, std::uint32_t context, double first, double second) {
    const double values[] = {first, second};
    std::vector<std::byte> bytes(sizeof(values));
    std::memcpy(bytes.data(), values, sizeof(values));
    source->rows[{metric.value, context}] = std::move(bytes);
  };
  for (std::uint32_t c = 0; c < 3; ++c) {
    row(time, c, 2 + c, 4 + c);
    row(visits, c, 1 + c, 1 + c);
    row(shortest, c, 5 - c, 7 - c);
  }
  auto out = std::make_shared<Profile>(*made);
  out->definitions = std::move(definitions);
  out->values = std::move(source);
  return with_derived(out, "per = time / visits").value();
}

std::string column(const ProfilePtr& profile, const char* metric, std::string_view name) {
  Request request;
  request.query["metric"] = metric;
  const auto answer = compare_tree(profile, profile, request);
  EXPECT_TRUE(answer.ok());
  const std::size_t at = answer->body.find("\"" + std::string(name) + "\": [");
  EXPECT_NE(at, std::string::npos) << answer->body;
  const std::size_t begin = answer->body.find('[', at);
  std::string out = answer->body.substr(begin, answer->body.find(']', begin) + 1 - begin);
  std::erase_if(out, [](char c) { return c == ' ' || c == '\n'; });
  return out;
}

TEST(CompareAnswers, NodesOfSeveralContextsHaveWhatTheyHaveTogether) {
  const ProfilePtr profile = sample();
  EXPECT_EQ(column(profile, "time", "before_exclusive"), "[6,18]");     // 2 + 4; 3 + 5 + 4 + 6
  EXPECT_EQ(column(profile, "shortest", "before_exclusive"), "[5,3]");  // of 4, 6, 3, 5
  EXPECT_EQ(column(profile, "shortest", "after_exclusive"), "[5,3]");
  EXPECT_EQ(column(profile, "per", "before_exclusive"), "[3,1.8]");  // 6 / 2; 18 / (2 * 2 + 2 * 3)
}

}  // namespace
}  // namespace fathom::serve
