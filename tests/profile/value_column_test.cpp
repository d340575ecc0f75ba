#include "profile/build/value_column.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/ids.hpp"
#include "defs/definitions.hpp"

namespace fathom {
namespace {

// However many nodes there are when a value comes, it is added in the order of the values of its node.
TEST(ValueColumn, AddsUpInOrder) {
  std::mt19937 random(5);
  for (const ValueKind kind : {ValueKind::f64, ValueKind::min_f64, ValueKind::max_f64}) {
    for (const std::size_t count : {std::size_t{3}, std::size_t{100}, std::size_t{20'000}}) {
      ValueColumn column;
      std::map<std::uint32_t, double> expected;  // by number
      constexpr std::uint32_t kNodes = 1000;
      std::vector<ContextId> numbers;
      std::vector<std::uint32_t> nodes(kNodes);
      for (std::uint32_t i = 0; i < kNodes; ++i) {
        numbers.emplace_back(i * 7 % kNodes);
        nodes[i * 7 % kNodes] = i;
      }
      for (std::size_t i = 0; i < count; ++i) {
        // More and more nodes are known.
        const auto known = static_cast<std::uint32_t>(std::min<std::size_t>(kNodes, 1 + i / 4));
        const auto node = static_cast<std::uint32_t>(random() % known);
        const double value = static_cast<double>(random()) * (random() % 2 == 0 ? 1e-7 : 1e9);
        column.add(kind, node, std::bit_cast<std::uint64_t>(value), known);
        const auto [at, fresh] = expected.try_emplace(numbers[node].value, value);
        if (fresh) continue;
        at->second = kind == ValueKind::f64       ? at->second + value
                     : kind == ValueKind::min_f64 ? std::min(at->second, value)
                                                  : std::max(at->second, value);
      }
      std::vector<std::pair<std::uint32_t, double>> found;
      column.each(kind, numbers, nodes, [&](std::uint32_t number, std::uint64_t bits) {
        found.emplace_back(number, std::bit_cast<double>(bits));
      });
      EXPECT_EQ(found, (std::vector<std::pair<std::uint32_t, double>>(expected.begin(), expected.end())));
    }
  }
}

TEST(ValueColumn, SumsThatDoNotFitAreCutAndCounted) {
  for (const std::size_t others : {std::size_t{0}, std::size_t{200}}) {
    ValueColumn column;
    for (std::size_t i = 0; i < others; ++i) column.add(ValueKind::i64, 1, 1, 2);
    for (int i = 0; i < 3; ++i) column.add(ValueKind::i64, 0, static_cast<std::uint64_t>(INT64_MAX), 2);
    std::vector<std::uint64_t> found;
    column.each(ValueKind::i64, std::vector<ContextId>{ContextId(std::size_t{0}), ContextId(std::size_t{1})}, {0, 1},
                [&](std::uint32_t, std::uint64_t bits) { found.push_back(bits); });
    EXPECT_EQ(found.front(), static_cast<std::uint64_t>(INT64_MAX));
    EXPECT_EQ(column.cuts(), 2u);
  }
}

}  // namespace
}  // namespace fathom
