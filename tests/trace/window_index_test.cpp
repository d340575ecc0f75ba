#include "trace/window_index.hpp"

#include <gtest/gtest.h>

#include <random>

#include "trace/made_trace.hpp"

namespace fathom {
namespace {

using test::MadeTrace;

// Long enough for several places to seek to; nested regions, channels, counters, a few events without a time.
MadeTrace made(std::uint64_t seed) {
  MadeTrace trace;
  for (const char* name : {"a", "b", "c"}) trace.region(name);
  for (const char* name : {"x", "y"}) trace.channel(name);
  trace.metric("instructions");
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); };
  std::vector<std::uint32_t> open;
  std::int64_t time = 1000;
  for (int i = 0; i < 150'000; ++i) {
    time += pick(3);
    switch (pick(6)) {
      case 0:
        if (open.size() < 20) open.push_back(pick(3)), trace.add(EventKind::enter, time, open.back());
        break;
      case 1:
        if (!open.empty()) trace.add(EventKind::leave, time, open.back()), open.pop_back();
        break;
      case 2:
        trace.add(EventKind::state, time, pick(2)).value = pick(5);
        trace.events[0].back().has_value = pick(4) != 0;
        break;
      case 3:
        trace.add(EventKind::counter, time, 0).value = i;
        break;
      default:
        trace.add(EventKind::marker, time).has_time = pick(10) != 0;
    }
  }
  return trace;
}

TEST(WindowIndex, AnyWindowIsCutOutOfTheWhole) {
  const MadeTrace trace = made(1);
  const auto& whole = trace.events[0];
  std::mt19937_64 random(2);
  const std::int64_t last = whole.back().time_ns + 10;
  for (int i = 0; i < 40; ++i) {
    TimeWindow window{static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last)), 0};
    window.to_ns = window.from_ns + static_cast<std::int64_t>(random() % (i % 2 == 0 ? 100 : 50'000));
    if (i == 7) window.from_ns = std::numeric_limits<std::int64_t>::min();
    if (i == 8) window.to_ns = std::numeric_limits<std::int64_t>::max();
    auto stream = trace.open(LocationId(0), window);
    ASSERT_TRUE(stream.ok());
    const auto got = test::read_all(**stream);
    const auto expected = test::cut_out(whole, window);
    ASSERT_EQ(got.size(), expected.size()) << window.from_ns << " to " << window.to_ns;
    const std::size_t e = test::first_difference(got, expected);
    ASSERT_EQ(e, got.size()) << test::text_of(got[e]) << " instead of " << test::text_of(expected[e]);
  }
}

// A small window behind the index reads what lies between two places, not what comes before.
TEST(WindowIndex, SmallWindowsDoNotReadFromTheStart) {
  const MadeTrace trace = made(3);
  std::uint64_t read = 0;
  class Counting : public CopyableStream {
   public:
    Counting(const std::vector<Event>& events, std::uint64_t& read) : events_(events), read_(read) {}
    Result<std::size_t> next(std::span<Event> out) override {
      std::size_t count = 0;
      for (; count < out.size() && at_ < events_.size(); ++count) out[count] = events_[at_++];
      read_ += count;
      return count;
    }
    [[nodiscard]] std::unique_ptr<CopyableStream> copy() const override { return std::make_unique<Counting>(*this); }
    [[nodiscard]] std::uint64_t bytes() const override { return sizeof *this; }

   private:
    const std::vector<Event>& events_;
    std::uint64_t& read_;
    std::size_t at_ = 0;
  };
  WindowIndex index;
  const Work work = make_work();
  const auto& whole = trace.events[0];
  const auto fresh = [&] { return std::make_unique<Counting>(whole, read); };
  const std::int64_t late = whole[whole.size() - 100].time_ns;
  ASSERT_TRUE(index.open({late, late + 5}, fresh, work).ok());
  read = 0;
  auto again = index.open({late, late + 5}, fresh, work);
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(test::read_all(**again).empty());
  EXPECT_LT(read, 40'000U);
}

}  // namespace
}  // namespace fathom
