// Blocks that are not in the index but read again from the trace answer the same as blocks that hold their transitions.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <random>

#include "../../temporary_directory.hpp"
#include "../made_trace.hpp"
#include "trace/summary/timeline.hpp"

namespace fathom::summary {
namespace {

namespace fs = std::filesystem;

// Samples in functions, loops and lines. `stay`: how many samples follow each other in one context, about.
void fill(test::MadeTrace& trace, std::uint32_t seed, std::size_t samples, std::uint32_t stay) {
  std::mt19937 random(seed);
  ContextTreeBuilder contexts;
  for (std::uint32_t i = 0; i < 300; ++i) {
    // Some functions are called from several places, which is one context here.
    const std::uint32_t region = trace.region("f" + std::to_string(i / 2));
    const Edge edge = i % 5 == 4 ? Edge::lexical : Edge::call;
    contexts.add(i == 0 ? ContextTreeBuilder::kRoot : (i - 1) / 3, RegionId(region / 2), i, -1, edge);
  }
  trace.use_contexts(std::move(contexts).build());
  for (std::size_t l = 0; l < trace.location_count(); ++l) {
    std::int64_t time = 1'700'000'000'000'000'000 + static_cast<std::int64_t>(random() % 1000);
    std::uint32_t context = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      // Some at the same moment, some in nothing.
      if (random() % 10 != 0) time += 1 + static_cast<std::int64_t>(random() % 1000);
      if (random() % 500 == 0) time += 1'000'000;
      if (random() % stay == 0) context = static_cast<std::uint32_t>(random() % 300);
      trace.add(EventKind::sample, time, random() % 30 == 0 ? Event::kNoName : context, l);
    }
  }
}

class PlacedTrace final : public test::MadeTrace, public SampleRecords {
 public:
  using MadeTrace::MadeTrace;
  [[nodiscard]] bool in_time_order(LocationId) const override {
    ++looked;
    return true;
  }
  void believe_in_time_order(LocationId) const override { ++believed; }
  std::size_t read_samples(LocationId location, std::uint64_t record, std::span<PlacedSample> out) const override {
    const std::vector<Event>& all = events[location.index()];
    std::size_t count = 0;
    for (; count < out.size() && record + count < all.size(); ++count) {
      out[count] = {all[record + count].time_ns, all[record + count].context()};
    }
    most_at_once = std::max<std::size_t>(most_at_once, count);
    return count;
  }
  mutable std::atomic<int> looked{0};
  mutable std::atomic<int> believed{0};
  mutable std::size_t most_at_once = 0;
};

// Tiles of all rows at every zoom, somewhere in the middle.
std::vector<std::string> tiles(const Timeline& timeline) {
  std::vector<std::string> out;
  TileRequest request;
  for (std::uint32_t i = 0; i < timeline.row_count(); ++i) request.rows.push_back({i});
  const std::int64_t span = timeline.end_ns() - timeline.begin_ns();
  for (request.k = 0; (std::int64_t{1} << request.k) < span; ++request.k) {
    request.first_ns = std::max<std::int64_t>(0, span / 3 - (std::int64_t{256} << request.k));
    for (const std::uint32_t depth : {255U, 2U}) {
      request.depth = depth;
      out.push_back(encode_tile(timeline, request));
    }
  }
  request.rows = {{0, 1}};
  request.k = 12;
  out.push_back(encode_tile(timeline, request));
  request.rows = {{1}};
  request.depth = 0;
  request.lanes = 4;
  out.push_back(encode_tile(timeline, request));
  return out;
}

std::vector<Transition> all_of(const BlockTree& tree) {
  std::vector<Transition> out;
  BlockReader reader(tree);
  for (std::size_t b = 0; b < tree.blocks(); ++b) {
    for (const Transition& t : reader.read(b)) out.push_back(t);
  }
  return out;
}

TEST(ReadAgain, AnswersAreThoseOfPackedBlocks) {
  for (const std::uint32_t stay : {1U, 3U, 10U}) {
    test::MadeTrace packed(2);
    PlacedTrace placed(2);
    fill(packed, stay, 20000, stay);
    fill(placed, stay, 20000, stay);
    const auto a = Timeline::build(packed, {}, make_work()).value();
    const auto b = Timeline::build(placed, {}, make_work()).value();
    ASSERT_EQ(a->progress().transitions, b->progress().transitions);
    EXPECT_EQ(a->progress().events, b->progress().events);
    for (std::size_t row = 0; row < 2; ++row) {
      const auto x = all_of(a->row(row)->tree);
      const auto y = all_of(b->row(row)->tree);
      ASSERT_EQ(x.size(), y.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(x[i].time_ns, y[i].time_ns) << i;
        ASSERT_EQ(x[i].context, y[i].context) << i;
      }
    }
    EXPECT_TRUE(tiles(*a) == tiles(*b)) << stay;
    EXPECT_FALSE(a->row(0)->tree.needs_trace());
    // Where few samples change anything, a block of changes is many samples: it is packed, and still smaller than them.
    const BlockTree::Layout& layout = b->row(0)->tree.layout();
    EXPECT_EQ(layout.packed_bytes == 0, stay < 10) << stay;
    const auto bytes_per_sample = static_cast<double>(layout.bytes() - 8 * layout.sampled) / 20000;
    EXPECT_LT(bytes_per_sample, 1.2) << stay;  // a tenth of 12
  }
}

TEST(ReadAgain, AFileNeedsNoSecondLookAtTheOrder) {
  const TemporaryDirectory directory;
  PlacedTrace trace(2);
  fill(trace, 1, 5000, 1);
  IndexPlace place;
  place.file = directory.path() / "a.fathom-index";
  const auto made = Timeline::build(trace, {}, make_work(), place).value();
  const auto expected = tiles(*made);
  trace.looked = trace.believed = 0;
  trace.most_at_once = 0;
  const auto stored = Timeline::build(trace, {}, make_work(), place).value();
  EXPECT_TRUE(stored->progress().stored);
  EXPECT_TRUE(tiles(*stored) == expected);
  EXPECT_EQ(trace.looked, 0);
  EXPECT_EQ(trace.believed, 2);
  EXPECT_LE(trace.most_at_once, BlockPlace::kMostRecords);
  // A trace that cannot be read again from a place has no use for it.
  test::MadeTrace packed(2);
  fill(packed, 1, 5000, 1);
  const auto refused = read_index(place.file, place.key, packed);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(), "the index reads from another kind of trace");
}

// Whoever changes the samples below an index that is in use gets other answers, never a crash.
TEST(ReadAgain, SamplesThatAreNoneOfThoseThatWereIndexed) {
  PlacedTrace trace(2);
  fill(trace, 1, 5000, 1);
  const auto timeline = Timeline::build(trace, {}, make_work()).value();
  for (Event& event : trace.events[0]) event.time_ns = 0;
  for (Event& event : trace.events[1]) event.name = 0x7FFFFFFF;
  EXPECT_FALSE(tiles(*timeline).empty());
  trace.events[0].resize(100);
  EXPECT_FALSE(tiles(*timeline).empty());
}

}  // namespace
}  // namespace fathom::summary
