// The block tree against a naive scan over the same transitions.
#include "trace/summary/block_tree.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

namespace fathom::summary {
namespace {

struct Made {
  Contexts contexts;
  std::vector<Transition> transitions;
  std::int64_t end = 0;
};

// A walk over a call tree with bursts and pauses.
Made make(std::uint32_t seed, std::size_t count) {
  Made made;
  std::mt19937 random(seed);
  std::uint32_t at = kNothing;
  std::int64_t time = static_cast<std::int64_t>(random() % 1000) - 500;
  for (std::size_t i = 0; i < count; ++i) {
    const bool down = at == kNothing || (random() % 2 == 0 && made.contexts[at].depth < 10);
    at = down ? made.contexts.child(at, {StepKind::region, static_cast<std::int64_t>(random() % 5)})
              : made.contexts[at].parent;
    made.transitions.push_back({time, at});
    time += random() % 20 == 0 ? 10000 + random() % 100000 : 1 + random() % 50;
  }
  made.end = time;
  return made;
}

BlockTree build(const Made& made) {
  BlockTreeBuilder builder(made.contexts);
  for (const Transition& t : made.transitions) builder.add(t);
  return std::move(builder).finish(made.end).value();
}

using Pixel = std::map<std::uint32_t, double>;
class Collect final : public BlockTree::PixelSink {
 public:
  std::map<std::size_t, Pixel> pixels;
  void pixel(std::size_t index, std::span<const Part> parts, double) override {
    for (const Part& part : parts) pixels[index][part.context] += part.time_ns;
  }
};

std::map<std::size_t, Pixel> naive(const Made& made, std::int64_t from, double width, std::size_t count) {
  std::map<std::size_t, Pixel> out;
  for (std::size_t i = 0; i < made.transitions.size(); ++i) {
    const double begin = static_cast<double>(made.transitions[i].time_ns - from);
    const double end =
        static_cast<double>((i + 1 < made.transitions.size() ? made.transitions[i + 1].time_ns : made.end) - from);
    for (std::size_t p = 0; p < count; ++p) {
      const double overlap =
          std::min(end, width * static_cast<double>(p + 1)) - std::max(begin, width * static_cast<double>(p));
      if (overlap > 0) out[p][made.transitions[i].context] += overlap;
    }
  }
  return out;
}

TEST(BlockTree, KeepsEveryTransition) {
  const Made made = make(1, 5000);
  const BlockTree tree = build(made);
  std::vector<Transition> all;
  BlockReader reader(tree);
  for (std::size_t b = 0; b < tree.blocks(); ++b) {
    const auto block = reader.read(b);
    all.insert(all.end(), block.begin(), block.end());
  }
  ASSERT_EQ(all.size(), made.transitions.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].time_ns, made.transitions[i].time_ns);
    EXPECT_EQ(all[i].context, made.transitions[i].context);
  }
}

// Pixels narrower than blocks are exact.
TEST(BlockTree, NarrowPixelsAreWhatANaiveScanGives) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const Made made = make(seed, 2000);
    const BlockTree tree = build(made);
    std::mt19937 random(seed);
    const std::int64_t from = made.transitions[random() % made.transitions.size()].time_ns;
    const double width = 1 + static_cast<double>(random() % 3);
    Collect got;
    tree.query(from, width, 200, true, got);
    const auto expected = naive(made, from, width, 200);
    ASSERT_EQ(got.pixels.size(), expected.size()) << seed;
    for (const auto& [index, pixel] : expected) {
      for (const auto& [context, time] : pixel) EXPECT_NEAR(got.pixels[index][context], time, 1e-6) << seed;
    }
  }
}

// Wide pixels are made of nodes, which may reach over a border by half a pixel: each has all of its time, and over the
// whole span nothing that is named gets more than the truth.
TEST(BlockTree, FoldingLosesNoTimeAndNamesNothingThatWasNot) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const Made made = make(seed, 20000);
    const BlockTree tree = build(made);
    const std::int64_t from = made.transitions.front().time_ns;
    const double span = static_cast<double>(made.end - from);
    Collect got;
    tree.query(from, span / 37, 37, true, got);
    Pixel named;
    for (const auto& [index, pixel] : got.pixels) {
      double sum = 0;
      for (const auto& [context, time] : pixel) {
        sum += time;
        named[context] += time;
      }
      EXPECT_NEAR(sum, span / 37, span * 1e-9) << seed;
    }
    const Pixel truth = naive(made, from, span, 1).at(0);
    for (const auto& [context, time] : named) {
      if ((context & kBelow) != 0) continue;
      // Shares have 16 bits, so each of the nodes may be off by a part in 65,535.
      EXPECT_LE(time, (truth.contains(context) ? truth.at(context) : 0) + span * 1e-4) << seed;
    }
  }
}

// Far steps lead where single ones do, and one pass finds what looking above each context finds.
TEST(Contexts, DepthsAndOutermostOnesAreThoseOfSingleSteps) {
  std::mt19937 random(7);
  for (const std::uint32_t bushy : {1U, 3U, 1000U}) {
    Contexts contexts;
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < 1500; ++i) {
      const auto back = static_cast<std::uint32_t>(random() % bushy);
      const std::uint32_t parent = i == 0 || random() % 400 == 0 ? kNothing : i - 1 - std::min(back, i - 1);
      ASSERT_EQ(contexts.child(parent, {StepKind::region, i}), i);
      numbers.push_back(static_cast<std::uint32_t>(random() % 40));
    }
    const std::vector<bool> found = outermost(contexts.nodes(), numbers);
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      bool above = false;
      for (std::uint32_t up = i; up != kNothing; up = contexts[up].parent) {
        ASSERT_EQ(contexts.at_depth(i, contexts[up].depth), up) << bushy;
        above = above || (up != i && numbers[up] == numbers[i]);
      }
      EXPECT_EQ(found[i], !above) << bushy;
    }
  }
}

// What is light rises to what is around it: in single steps of a deep stack it would never arrive.
TEST(BlockTree, DeepStacksTakeTimeByTheirDepth) {
  constexpr std::int64_t kDeep = 200'000;
  Made made;
  std::uint32_t at = kNothing;
  for (std::int64_t i = 0; i < kDeep; ++i) {
    at = made.contexts.child(at, {StepKind::region, i % 10});
    made.transitions.push_back({i, at});
  }
  made.end = kDeep;
  Collect got;
  build(made).query(0, static_cast<double>(kDeep) / 4, 4, true, got);
  ASSERT_EQ(got.pixels.size(), 4U);
  for (const auto& [index, pixel] : got.pixels) {
    double sum = 0;
    for (const auto& [context, time] : pixel) sum += time;
    EXPECT_NEAR(sum, static_cast<double>(kDeep) / 4, 1) << index;
  }
}

TEST(BlockTree, ALaterTransitionAtTheSameMomentWins) {
  Contexts contexts;
  const std::uint32_t a = contexts.child(kNothing, {StepKind::region, 1});
  const std::uint32_t b = contexts.child(kNothing, {StepKind::region, 2});
  BlockTreeBuilder builder(contexts);
  builder.add({10, a});
  builder.add({10, b});
  const BlockTree tree = std::move(builder).finish(20).value();
  BlockReader reader(tree);
  const auto block = reader.read(0);
  ASSERT_EQ(block.size(), 1U);
  EXPECT_EQ(block[0].context, b);
}

TEST(BlockTree, AnEmptyLocationAnswersNothing) {
  const Contexts contexts;
  const BlockTree tree = std::move(BlockTreeBuilder(contexts)).finish(0).value();
  Collect got;
  tree.query(0, 1, 10, true, got);
  EXPECT_TRUE(got.pixels.empty());
}

}  // namespace
}  // namespace fathom::summary
