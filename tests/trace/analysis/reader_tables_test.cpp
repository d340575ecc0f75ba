#include "trace/analysis/reader_tables.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <tuple>

namespace fathom::analysis {
namespace {

// Against a map of queues, with records that come back and stand for several sends at once.
TEST(ReaderTables, OpenSendsComeBackInTheOrderOfTheirRecord) {
  std::mt19937 random(7);
  OpenSends table;
  std::map<std::uint64_t, std::deque<std::uint32_t>> expected;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const std::uint64_t record = random() % (i < 10'000 ? 700 : 40);
    if (random() % 5 < 3) {
      table.add({record, 1, i});
      expected[record].push_back(i);
      continue;
    }
    OpenSends::Item found{};
    const bool there = table.take(record, found);
    auto& queue = expected[record];
    ASSERT_EQ(there, !queue.empty());
    if (!there) continue;
    ASSERT_EQ(found.record, record);
    ASSERT_EQ(found.send, queue.front());
    queue.pop_front();
  }
}

// As most programs do it, with one now and then that is over too early, and others that nobody began.
TEST(ReaderTables, OpenSendsAreMostlyOverInOrder) {
  std::mt19937 random(5);
  OpenSends table;
  std::deque<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    if (expected.size() < 3 || (expected.size() < 9 && random() % 2 == 0)) {
      table.add({i, 1, i});
      expected.push_back(i);
      continue;
    }
    OpenSends::Item found{};
    if (random() % 50 == 0) {
      ASSERT_FALSE(table.take(30'000, found));
    }
    const auto at = static_cast<std::ptrdiff_t>(random() % 50 == 0 ? random() % expected.size() : 0);
    ASSERT_TRUE(table.take(expected[static_cast<std::size_t>(at)], found));
    ASSERT_EQ(found.send, expected[static_cast<std::size_t>(at)]);
    expected.erase(expected.begin() + at);
  }
}

TEST(ReaderTables, ChannelsAreNumberedInTheOrderInWhichTheyCome) {
  ArrayPool pool(std::uint64_t{1} << 20);
  LargeArray<Channel> channels(pool);
  ChannelNumbers numbers;
  std::map<std::tuple<std::int32_t, std::uint32_t, std::int32_t>, std::uint32_t> expected;
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    const Channel channel{static_cast<std::int32_t>(random() % 20), static_cast<std::uint32_t>(random() % 3),
                          static_cast<std::int32_t>(random() % 40) - 1};
    const auto [known, is_new] = expected.try_emplace({channel.peer, channel.communicator, channel.tag},
                                                      static_cast<std::uint32_t>(expected.size()));
    ASSERT_EQ(numbers.of(channel, channels), known->second);
    ASSERT_EQ(channels[known->second], channel);
  }
  EXPECT_EQ(channels.size(), expected.size());
}

}  // namespace
}  // namespace fathom::analysis
