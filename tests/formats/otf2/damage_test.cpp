// Damaged archives: what is sound is used, what is not is told with its place, and nothing crashes.
#include <random>

#include "formats/otf2/clock.hpp"
#include "formats/otf2/event_file.hpp"
#include "formats/otf2/pending_table.hpp"
#include "otf2_cases.hpp"
#include "trace/merge.hpp"

namespace fathom::otf2 {
namespace {

// An archive in memory, so that any byte of it can be changed.
class MemoryFiles : public Files {
 public:
  static std::shared_ptr<MemoryFiles> read(const std::filesystem::path& anchor) {
    auto made = std::make_shared<MemoryFiles>();
    const auto base = std::filesystem::path(anchor).replace_extension();
    const auto load = [&](const std::filesystem::path& path, const std::string& key) {
      std::ifstream file(path, std::ios::binary);
      if (file) made->bytes[key] = std::string(std::istreambuf_iterator<char>(file), {});
    };
    load(anchor, "otf2");
    load(base.string() + ".def", "def");
    load(base.string() + ".marker", "marker");
    for (const auto& entry : std::filesystem::directory_iterator(base)) {
      load(entry.path(), entry.path().filename().string());
    }
    return made;
  }
  [[nodiscard]] Result<std::optional<Blob>> of_archive(std::string_view extension) const override {
    return find(std::string(extension));
  }
  [[nodiscard]] Result<std::optional<Blob>> of_location(std::uint64_t id, std::string_view extension) const override {
    return find(std::to_string(id) + '.' + std::string(extension));
  }
  [[nodiscard]] std::string name(std::uint64_t location, std::string_view extension) const override {
    return std::to_string(location) + '.' + std::string(extension);
  }
  std::map<std::string, std::string> bytes;

 private:
  [[nodiscard]] Result<std::optional<Blob>> find(const std::string& key) const {
    const auto at = bytes.find(key);
    if (at == bytes.end()) return std::optional<Blob>();
    return std::optional<Blob>(Blob::own(key, at->second));
  }
};

// Everything a command would ask; how many events there were.
std::size_t read_all(const std::shared_ptr<const Files>& files, const Work& work) {
  auto archive = Archive::open(files, work);
  if (!archive.ok()) return 0;
  auto trace = Otf2Trace::make(*archive);
  if (!trace.ok()) return 0;
  auto merged = MergedEvents::over(**trace);
  if (!merged.ok()) return 0;
  std::size_t count = 0;
  std::string detail;
  while (const Event* event = merged->next()) {
    ++count;
    detail.clear();
    (void)(*trace)->detail(*event, detail);
    if (event->kind == EventKind::enter && event->name != Event::kNoName) {
      EXPECT_LT(event->name, (*trace)->definitions().regions.size());
    }
  }
  (void)(*trace)->known_span();
  return count;
}

struct Opened {
  Work work = make_work();
  std::shared_ptr<const Otf2Trace> trace;
};
Opened open_malformed(const char* name) {
  Opened made;
  const auto archive = open_archive(data_directory() / "malformed" / name / "traces.otf2", made.work);
  if (archive == nullptr) return made;
  auto trace = Otf2Trace::make(archive);
  EXPECT_TRUE(trace.ok()) << trace.error().text();
  if (trace.ok()) made.trace = *trace;
  return made;
}
std::size_t records(const Otf2Trace& trace, std::size_t location) {
  return all_events(trace, LocationId(location)).size();
}
const Diagnostic* find(const std::vector<Diagnostic>& all, std::string_view id) {
  for (const Diagnostic& one : all) {
    if (one.id == id) return &one;
  }
  return nullptr;
}

// pingpong has 60 events on each of its two locations.
TEST(Otf2Damage, CutEventsAreReadAsFarAsTheyGo) {
  if (!has_data()) GTEST_SKIP() << "needs " << data_directory();
  const Opened one = open_malformed("trunc_evt");
  ASSERT_NE(one.trace, nullptr);
  EXPECT_EQ(records(*one.trace, 1), 60U);
  const std::size_t left = records(*one.trace, 0);
  EXPECT_GT(left, 20U);
  EXPECT_LT(left, 60U);
  const auto all = one.work->diagnostics.all();
  const Diagnostic* const told = find(all, "otf2.damaged_events");
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->count, 1U);  // however often it is read
  EXPECT_TRUE(told->place.offset.has_value());
  (void)records(*one.trace, 0);
  EXPECT_EQ(find(one.work->diagnostics.all(), "otf2.damaged_events")->count, 1U);
}

TEST(Otf2Damage, AMissingOrEmptyStreamLeavesTheOthers) {
  if (!has_data()) GTEST_SKIP() << "needs " << data_directory();
  const Opened missing = open_malformed("missing_evt");
  ASSERT_NE(missing.trace, nullptr);
  EXPECT_EQ(records(*missing.trace, 0), 60U);
  EXPECT_EQ(records(*missing.trace, 1), 0U);
  EXPECT_TRUE(has_diagnostic(missing.work, "otf2.damaged_events"));
  const Opened empty = open_malformed("empty_evt");
  ASSERT_NE(empty.trace, nullptr);
  EXPECT_EQ(records(*empty.trace, 0), 0U);
  EXPECT_EQ(records(*empty.trace, 1), 60U);
  EXPECT_TRUE(has_diagnostic(empty.work, "otf2.damaged_events"));
}

TEST(Otf2Damage, MissingLocalDefinitionsAreTold) {
  if (!has_data()) GTEST_SKIP() << "needs " << data_directory();
  const Opened one = open_malformed("missing_localdef");
  ASSERT_NE(one.trace, nullptr);
  EXPECT_EQ(records(*one.trace, 0), 60U);
  EXPECT_EQ(records(*one.trace, 1), 60U);
  EXPECT_TRUE(has_diagnostic(one.work, "otf2.missing_local_definitions"));
}

TEST(Otf2Damage, LostDefinitionsGiveRegionsTheirNumbers) {
  if (!has_data()) GTEST_SKIP() << "needs " << data_directory();
  const Opened one = open_malformed("trunc_def");
  ASSERT_NE(one.trace, nullptr);
  ASSERT_EQ(one.trace->location_count(), 2U);
  bool named = false;
  for (const Event& event : all_events(*one.trace, LocationId(0))) {
    named = named || one.trace->name(event) == "region 148";
  }
  EXPECT_TRUE(named);
  EXPECT_TRUE(has_diagnostic(one.work, "otf2.damaged_records"));
  EXPECT_TRUE(has_diagnostic(one.work, "otf2.lost_region"));
}

TEST(Otf2Damage, ABadSizeEndsTheChunkWithItsOffset) {
  if (!has_data()) GTEST_SKIP() << "needs " << data_directory();
  auto files = MemoryFiles::read(data_directory() / "pingpong/traces.otf2");
  std::string& bytes = files->bytes["0.evt"];
  // The first Enter: its id cannot have nine bytes.
  constexpr std::size_t kEnter = 0x33;
  ASSERT_EQ(bytes.substr(kEnter, 3), std::string("\x0c\x01\x03"));
  bytes[kEnter + 1] = 9;
  const Work work = make_work();
  const auto archive = Archive::open(files, work);
  ASSERT_TRUE(archive.ok());
  const auto trace = Otf2Trace::make(*archive);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(records(**trace, 0), 1U);  // what stands before it
  EXPECT_EQ(records(**trace, 1), 60U);
  const auto all = work->diagnostics.all();
  const Diagnostic* const told = find(all, "otf2.damaged_events");
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->place.file, "0.evt");
  EXPECT_EQ(told->place.offset, kEnter);
  EXPECT_EQ(told->count, 1U);
}

// The sample of that name has a wrong byte in a time, which then goes back.
TEST(Otf2Damage, ABadTimeIsSortedAndTold) {
  if (!has_data()) GTEST_SKIP() << "needs " << data_directory();
  const Opened one = open_malformed("bad_size");
  ASSERT_NE(one.trace, nullptr);
  EXPECT_EQ(records(*one.trace, 0) + records(*one.trace, 1), 120U);
  EXPECT_TRUE(has_diagnostic(one.work, "otf2.unsorted"));
}

TEST(Otf2Damage, UnknownEventsAreCountedMarkers) {
  if (!has_data()) GTEST_SKIP() << "needs " << data_directory();
  const Opened one = open_malformed("unknown_event");
  ASSERT_NE(one.trace, nullptr);
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    for (const Event& event : all_events(*one.trace, LocationId(i))) {
      if (event.kind == EventKind::marker && one.trace->name(event) == "unknown record") {
        ++unknown;
        EXPECT_EQ(event.value, 200);
      }
    }
  }
  EXPECT_EQ(unknown, 1U);
  EXPECT_TRUE(has_diagnostic(one.work, "otf2.unknown_event"));
}

TEST(Otf2Damage, TimesThatGoBackAreSorted) {
  if (!has_data()) GTEST_SKIP() << "needs " << data_directory();
  const Opened one = open_malformed("backwards");
  ASSERT_NE(one.trace, nullptr);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto events = all_events(*one.trace, LocationId(i));
    EXPECT_EQ(events.size(), 60U);
    EXPECT_TRUE(std::is_sorted(events.begin(), events.end(),
                               [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; }));
  }
  EXPECT_TRUE(has_diagnostic(one.work, "otf2.unsorted"));
}

TEST(Otf2Damage, StrictStopsAtTheFirstDefect) {
  if (!has_data()) GTEST_SKIP() << "needs " << data_directory();
  for (const char* name : {"trunc_def", "missing_localdef"}) {
    const Work work = make_work(true);
    const auto archive = Archive::open(files_beside(data_directory() / "malformed" / name / "traces.otf2"), work);
    EXPECT_FALSE(archive.ok() && Otf2Trace::make(*archive).ok()) << name;
  }
  const Work work = make_work(true);
  const auto archive = Archive::open(files_beside(data_directory() / "malformed/trunc_evt/traces.otf2"), work);
  ASSERT_TRUE(archive.ok());
  const auto trace = Otf2Trace::make(*archive);
  ASSERT_TRUE(trace.ok());
  auto stream = (*trace)->open(LocationId(0), {});
  ASSERT_TRUE(stream.ok());
  EventCursor cursor(std::move(*stream));
  while (cursor.next() != nullptr) {
  }
  EXPECT_FALSE(cursor.status().ok());
}

TEST(Otf2Damage, EveryTruncationOfEveryFile) {
  if (!has_data()) GTEST_SKIP() << "needs " << data_directory();
  const auto whole = MemoryFiles::read(data_directory() / "kinds/traces.otf2");
  const std::size_t sound = read_all(whole, make_work());
  EXPECT_GT(sound, 150U);
  for (const auto& [name, bytes] : whole->bytes) {
    if (name.ends_with(".snap")) continue;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      auto cut = std::make_shared<MemoryFiles>(*whole);
      cut->bytes[name].resize(size);
      EXPECT_LE(read_all(cut, make_work()), sound + 64) << name << " cut at " << size;
    }
  }
}

TEST(Otf2Damage, FlippedBits) {
  if (!has_data()) GTEST_SKIP() << "needs " << data_directory();
  const auto whole = MemoryFiles::read(data_directory() / "kinds/traces.otf2");
  std::vector<std::string> names;
  for (const auto& [name, bytes] : whole->bytes) {
    if (!name.ends_with(".snap")) names.push_back(name);
  }
  std::mt19937 random(16);
  std::size_t read = 0;
  for (int round = 0; round < 3000; ++round) {
    auto changed = std::make_shared<MemoryFiles>(*whole);
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) {
      std::string& bytes = changed->bytes[names[random() % names.size()]];
      if (bytes.empty()) continue;
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    }
    read += read_all(changed, make_work(false, std::uint64_t{256} << 20));
  }
  EXPECT_GT(read, 0U);
}

TEST(Otf2Clock, NanosecondsAreExactAndRoundedDown) {
  std::mt19937_64 random(1);
  for (const std::uint64_t resolution : {1ULL, 3ULL, 1000ULL, 1'000'000ULL, 999'999'937ULL, 1'000'000'000ULL,
                                         2'095'197'216ULL, 3'699'958'577ULL, 17'999'999'999ULL, 40'000'000'001ULL}) {
    const std::uint64_t offset = random() >> 8;
    TickClock clock(resolution, offset);
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t passed = random() >> (random() % 40 + 24);
      const bool before = random() % 16 == 0 && passed < offset;
      const std::uint64_t ticks = before ? offset - passed : offset + passed;
      const __int128 product = (static_cast<__int128>(ticks) - static_cast<__int128>(offset)) * 1'000'000'000;
      __int128 wanted = product / static_cast<__int128>(resolution);
      if (wanted * static_cast<__int128>(resolution) > product) --wanted;
      if (wanted > INT64_MAX || wanted < INT64_MIN) continue;
      ASSERT_EQ(clock(ticks), static_cast<std::int64_t>(wanted)) << resolution << " " << ticks - offset;
    }
  }
}

TEST(Otf2PendingTable, BehavesAsAMap) {
  PendingTable table;
  std::map<std::uint64_t, std::uint64_t> wanted;
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t key = random() % 300 * (random() % 2 == 0 ? 1 : 0x100000000ULL);
    if (random() % 3 == 0) {
      table.erase(key);
      wanted.erase(key);
    } else {
      table.put(key, {std::uint64_t(i), 0});
      wanted[key] = std::uint64_t(i);
    }
    ASSERT_EQ(table.size(), wanted.size());
  }
  for (std::uint64_t key = 0; key < 300; ++key) {
    const Pending* const found = table.get(key);
    const auto at = wanted.find(key);
    ASSERT_EQ(found != nullptr, at != wanted.end());
    if (found != nullptr) {
      EXPECT_EQ(found->record, at->second);
    }
  }
}

}  // namespace
}  // namespace fathom::otf2
