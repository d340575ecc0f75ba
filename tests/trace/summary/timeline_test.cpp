// The index of a timeline as a whole: made in the background, kept in a file, taken from there, refused when damaged.
#include "trace/summary/timeline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "../../temporary_directory.hpp"
#include "../made_tasks.hpp"
#include "trace/summary/index_build.hpp"

namespace fathom::summary {
namespace {

namespace fs = std::filesystem;

// Calls of a few functions inside each other, different in every location.
void fill(test::MadeTrace& trace, std::size_t locations, std::size_t calls) {
  for (const char* name : {"main", "solve", "stencil", "MPI_Send"}) trace.region(name);
  for (std::size_t l = 0; l < locations; ++l) {
    std::mt19937 random(static_cast<std::uint32_t>(l));
    std::int64_t time = 1000 + static_cast<std::int64_t>(l);
    trace.add(EventKind::enter, time, 0, l);
    for (std::size_t i = 0; i < calls; ++i) {
      const auto region = static_cast<std::uint32_t>(1 + random() % 3);
      time += 1 + static_cast<std::int64_t>(random() % 50);
      trace.add(EventKind::enter, time, region, l);
      time += 1 + static_cast<std::int64_t>(random() % 100);
      trace.add(EventKind::leave, time, region, l);
    }
    trace.add(EventKind::leave, time + 10, 0, l);
  }
}

TileRequest whole(const Timeline& timeline) {
  TileRequest request;
  for (std::uint32_t i = 0; i < timeline.row_count(); ++i) request.rows.push_back({i});
  while ((std::int64_t{512} << request.k) < timeline.end_ns() - timeline.begin_ns()) ++request.k;
  return request;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(Timeline, AFileGivesTheSameTilesAsTheTrace) {
  const TemporaryDirectory directory;
  test::MadeTrace trace(5);
  fill(trace, 5, 3000);
  const Work work = make_work();
  IndexPlace place;
  place.file = directory.path() / "sub" / "a.fathom-index";
  place.key = std::string(32, 'k');
  const auto made = Timeline::build(trace, {}, work, place).value();
  ASSERT_TRUE(fs::exists(place.file));
  EXPECT_EQ(fs::status(place.file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(place.file.parent_path()).permissions(), fs::perms::owner_all);
  EXPECT_FALSE(made->progress().stored);
  const auto again = Timeline::build(trace, {}, work, place).value();
  EXPECT_TRUE(again->progress().stored);
  EXPECT_EQ(again->begin_ns(), made->begin_ns());
  EXPECT_EQ(again->end_ns(), made->end_ns());
  EXPECT_EQ(again->progress().transitions, made->progress().transitions);
  EXPECT_EQ(encode_tile(*again, whole(*again)), encode_tile(*made, whole(*made)));
  const auto plain = Timeline::build(trace, {}, work).value();
  EXPECT_EQ(encode_tile(*plain, whole(*plain)), encode_tile(*made, whole(*made)));
  // The file does not depend on who was done first.
  const std::string first = bytes_of(place.file);
  fs::remove(place.file);
  (void)Timeline::build(trace, {}, work, place).value();
  EXPECT_EQ(bytes_of(place.file), first);
}

// `fathom index` and the viewer make one and the same file; it is made once.
TEST(Timeline, BuiltBeforehandItIsTheSameFile) {
  const TemporaryDirectory directory;
  test::MadeTrace trace(5);
  fill(trace, 5, 3000);
  const Work work = make_work();
  IndexPlace place;
  place.file = directory.path() / "viewer" / "a.fathom-index";
  place.key = std::string(32, 'k');
  const auto timeline = Timeline::build(trace, {}, work, place).value();
  IndexPlace other = place;
  other.file = directory.path() / "sub" / "b.fathom-index";
  const BuiltIndex built = build_index(trace, {}, work, other).value();
  EXPECT_TRUE(built.made);
  EXPECT_EQ(built.rows, 5U);
  EXPECT_EQ(built.events, 5U * (2 * 3000 + 2));
  EXPECT_EQ(built.transitions, timeline->progress().transitions);
  EXPECT_EQ(built.bytes, fs::file_size(other.file));
  EXPECT_EQ(bytes_of(other.file), bytes_of(place.file));
  EXPECT_EQ(fs::status(other.file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(other.file.parent_path()).permissions(), fs::perms::owner_all);
  EXPECT_TRUE(Timeline::build(trace, {}, work, other).value()->progress().stored);
  EXPECT_FALSE(build_index(trace, {}, work, other).value().made);
  EXPECT_EQ(work->diagnostics.size(), 0U);
  // Cut short it is made anew, and that is told.
  fs::resize_file(other.file, fs::file_size(other.file) - 9);
  EXPECT_TRUE(build_index(trace, {}, work, other).value().made);
  EXPECT_EQ(bytes_of(other.file), bytes_of(place.file));
  ASSERT_EQ(work->diagnostics.size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].id, "view.index_remade");
}

// Whatever a file holds: it is refused or answers, and nothing outside of it is touched.
TEST(Timeline, ADamagedFileIsMadeAnew) {
  const TemporaryDirectory directory;
  test::MadeTrace trace(3);
  fill(trace, 3, 500);
  IndexPlace place;
  place.file = directory.path() / "a.fathom-index";
  place.key = std::string(32, 'k');
  const auto made = Timeline::build(trace, {}, make_work(), place).value();
  const std::string good = bytes_of(place.file);
  const std::string expected = encode_tile(*made, whole(*made));
  const auto put = [&](const std::string& bytes) {
    fs::remove(place.file);
    std::ofstream(place.file, std::ios::binary) << bytes;
  };
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::string bad = good;
    if (i % 3 == 0) {
      bad.resize(random() % bad.size());
    } else {
      bad[random() % bad.size()] ^= static_cast<char>(1 + random() % 255);
    }
    put(bad);
    const auto read = read_index(place.file, place.key, trace);
    if (!read.ok()) continue;
    // Only packed blocks have no checksum: unpacking them stays inside.
    for (const RowPtr& row : read->rows) {
      BlockReader reader(row->tree);
      for (std::size_t b = 0; b < row->tree.blocks(); ++b) {
        for (const Transition& t : reader.read(b)) EXPECT_TRUE(t.context == kNothing || t.context < row->global.size());
      }
    }
  }
  std::string cut = good;
  cut.resize(cut.size() - 9);
  put(cut);
  const Work work = make_work();
  const auto remade = Timeline::build(trace, {}, work, place).value();
  EXPECT_FALSE(remade->progress().stored);
  EXPECT_EQ(encode_tile(*remade, whole(*remade)), expected);
  ASSERT_EQ(work->diagnostics.size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].id, "view.index_remade");
  // One of another version, even if all else fits.
  std::string older = good;
  older[7] = '1';
  put(older);
  const auto refused = read_index(place.file, place.key, trace);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(), "the index is of another version");
  EXPECT_FALSE(Timeline::build(trace, {}, work, place).value()->progress().stored);
  EXPECT_EQ(bytes_of(place.file), good);
  // Another input has another key.
  IndexPlace other = place;
  other.key = std::string(32, 'x');
  EXPECT_FALSE(read_index(other.file, other.key, trace).ok());
}

TEST(Timeline, AGroupIsTheSumOfItsMembers) {
  test::MadeTrace trace(2);
  const std::uint32_t a = trace.region("a");
  const std::uint32_t b = trace.region("b");
  // Of 1,024 ns one location spends all in a, the other three quarters in b.
  trace.add(EventKind::enter, 0, a, 0);
  trace.add(EventKind::leave, 1024, a, 0);
  trace.add(EventKind::enter, 0, b, 1);
  trace.add(EventKind::leave, 768, b, 1);
  trace.add(EventKind::enter, 768, a, 1);
  trace.add(EventKind::leave, 1024, a, 1);
  const auto timeline = Timeline::build(trace, {}, make_work()).value();
  TileRequest request;
  request.rows = {{0, 1}};
  request.k = 10;
  request.bins = 1;
  const std::string tile = encode_tile(*timeline, request);
  // Header of 32 bytes, one name, one cell: a has 1,024 + 256 of 2,048.
  ASSERT_EQ(tile.size(), 32U + 4 + 4);
  std::uint32_t context = 0;
  std::memcpy(&context, tile.data() + 32, 4);
  const auto nodes = timeline->contexts().first;
  EXPECT_EQ(timeline->name((*nodes)[context]), "a");
  EXPECT_EQ(static_cast<unsigned char>(tile[32 + 4 + 2]), std::lround(255 * 1280.0 / 2048));
  // One function alone, however little it has of the pixel.
  request.focus = RegionId(b);
  const std::string focused = encode_tile(*timeline, request);
  std::memcpy(&context, focused.data() + 32, 4);
  EXPECT_EQ(timeline->name((*nodes)[context]), "b");
  EXPECT_EQ(static_cast<unsigned char>(focused[32 + 4 + 2]), std::lround(255 * 768.0 / 2048));
}

TEST(Timeline, LanesAreLevelsOfTheStack) {
  test::MadeTrace trace(1);
  const std::uint32_t outer = trace.region("outer");
  const std::uint32_t inner = trace.region("inner");
  trace.add(EventKind::enter, 0, outer);
  trace.add(EventKind::enter, 256, inner);
  trace.add(EventKind::leave, 512, inner);
  trace.add(EventKind::leave, 1024, outer);
  const auto timeline = Timeline::build(trace, {}, make_work()).value();
  TileRequest request;
  request.rows = {{0}};
  request.lanes = 3;
  request.depth = 0;
  request.k = 8;
  request.bins = 4;
  const std::string tile = encode_tile(*timeline, request);
  ASSERT_EQ(tile.size(), 32U + 2 * 4 + 12 * 4);
  const auto cell = [&](int row, int bin) {
    std::uint16_t place = 0;
    std::memcpy(&place, tile.data() + 32 + 8 + 2 * (row * 4 + bin), 2);
    if (place == 0xFFFF) return std::string("-");
    std::uint32_t context = 0;
    std::memcpy(&context, tile.data() + 32 + 4 * place, 4);
    return timeline->name((*timeline->contexts().first)[context]);
  };
  EXPECT_EQ(cell(0, 0), "outer");
  EXPECT_EQ(cell(0, 1), "outer");
  EXPECT_EQ(cell(1, 0), "-");
  EXPECT_EQ(cell(1, 1), "inner");
  EXPECT_EQ(cell(1, 2), "-");
  EXPECT_EQ(cell(2, 1), "-");
}

// What a suspended task has open is neither below nor above what runs meanwhile.
TEST(Timeline, OfTasksTheOneThatRunsIsShown) {
  const test::MadeTrace trace = test::with_tasks();
  const auto timeline = Timeline::build(trace, {}, make_work()).value();
  const auto nodes = timeline->contexts().first;
  std::string shown;
  const TimelineRow& row = *timeline->row(0);
  row.tree.each(0, 1000, [&](const Transition& t, std::int64_t until) {
    std::string path;
    for (std::uint32_t at = row.global[t.context]; at != kNothing; at = (*nodes)[at].parent) {
      path = timeline->name((*nodes)[at]) + (path.empty() ? "" : "/") + path;
    }
    shown += std::to_string(t.time_ns) + "-" + std::to_string(until) + " " + path + "\n";
    return true;
  });
  EXPECT_EQ(shown,
            "0-100 main\n100-150 first\n150-200 first/inner\n200-300 second\n300-400 main\n400-450 first/inner\n"
            "450-500 first\n500-1000 main\n");
}

TEST(Timeline, WhatIsThereBeforeTheEndIsMarkedAndCancelEndsIt) {
  // A trace whose second location never ends until it is told to.
  class Endless final : public test::MadeTrace {
   public:
    Endless() : MadeTrace(2) {}
    Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow window) const override {
      if (location.index() == 0) return MadeTrace::open(location, window);
      class Unending final : public EventStream {
       public:
        Result<std::size_t> next(std::span<Event> out) override {
          for (Event& event : out) {
            event = Event{};
            event.kind = at_ % 2 == 0 ? EventKind::enter : EventKind::leave;
            event.name = 0;
            event.time_ns = at_++;
          }
          return out.size();
        }
        std::int64_t at_ = 0;
      };
      return std::unique_ptr<EventStream>(std::make_unique<Unending>());
    }
  };
  Endless trace;
  const std::uint32_t a = trace.region("a");
  trace.add(EventKind::enter, 0, a, 0);
  trace.add(EventKind::leave, 1000, a, 0);
  const auto timeline = Timeline::start(trace, {}, make_work());
  const auto partly = [&] { return timeline->row(0) != nullptr && timeline->row(1) != nullptr; };
  for (int i = 0; i < 2000 && !partly(); ++i) timeline->wait(std::chrono::milliseconds(10));
  ASSERT_TRUE(partly());
  EXPECT_TRUE(timeline->row(0)->whole);
  EXPECT_FALSE(timeline->row(1)->whole);
  EXPECT_GT(timeline->row(1)->tree.transitions(), 10000U);
  TileRequest request;
  request.rows = {{0}, {1}};
  std::uint32_t flags = 0;
  std::memcpy(&flags, encode_tile(*timeline, request).data() + 4, 4);
  EXPECT_EQ(flags, 2U);
  request.rows = {{0}};
  std::memcpy(&flags, encode_tile(*timeline, request).data() + 4, 4);
  EXPECT_EQ(flags, 1U);
  timeline->cancel();
  timeline->wait();
  EXPECT_EQ(timeline->progress().state, TimelineProgress::State::cancelled);
  EXPECT_TRUE(timeline->row(0)->whole);
}

// Trees that do not fit into their share of memory go on in files.
TEST(Timeline, ALittleMemoryIsEnough) {
  test::MadeTrace trace(4);
  fill(trace, 4, 100000);
  const auto roomy = Timeline::build(trace, {}, make_work()).value();
  const auto narrow = Timeline::build(trace, {}, make_work(false, 1U << 20)).value();
  EXPECT_EQ(encode_tile(*narrow, whole(*narrow)), encode_tile(*roomy, whole(*roomy)));
}

}  // namespace
}  // namespace fathom::summary
