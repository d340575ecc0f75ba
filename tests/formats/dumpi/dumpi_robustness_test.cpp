// Small traces made here: every kind of damage, versions, long runs, sets of ranks.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "fathom/dumpi.hpp"
#include "formats/dumpi/check.hpp"
#include "formats/dumpi/dump.hpp"
#include "formats/dumpi/dumpi_trace.hpp"
#include "formats/dumpi/statistics.hpp"
#include "formats/dumpi/text_reader.hpp"
#include "formats/dumpi/trace_maker.hpp"
#include "trace/merge.hpp"

namespace fathom::dumpi {
namespace {

namespace fs = std::filesystem;

std::string small_trace() {
  TraceMaker maker;
  maker.send("MPI_Send", 10, 9, 0, 3, 2);
  maker.recv(10, 9, -1, -1, 2, got(40, 0, 3));
  maker.call("MPI_Barrier", {{"comm", 2}});
  return maker.finish();
}

// Everything that reads, on whatever bytes; only the absence of crashes and the presence of places is asked for.
void exercise(std::string bytes) {
  const Work work = make_work(false, std::uint64_t{64} << 20);
  auto file = File::open(Blob::own("damaged.bin", std::move(bytes)), work);
  if (!file.ok()) {
    EXPECT_FALSE(file.error().place().file.empty()) << file.error().text();
    return;
  }
  const auto set = RankSet::of(*std::move(file), 0, work);
  auto scans = set->scans();
  ASSERT_TRUE(scans.ok());
  EXPECT_TRUE(dump(set->files()[0].file, (**scans)[0], {}, [](std::string_view) { return true; }).ok());
  EXPECT_TRUE(statistics(*set, {}).ok());
  EXPECT_TRUE(check_set(set).ok());
  auto trace = DumpiTrace::make(set);
  ASSERT_TRUE(trace.ok());
  auto merged = MergedEvents::over(**trace);
  ASSERT_TRUE(merged.ok());
  std::string detail;
  while (const Event* event = merged->next()) EXPECT_TRUE((*trace)->detail(*event, detail).ok());
}

TEST(DumpiRobustness, TruncatedAtEveryByte) {
  const std::string whole = small_trace();
  for (std::size_t length = 0; length < whole.size(); ++length) exercise(whole.substr(0, length));
}

TEST(DumpiRobustness, FlippedBits) {
  const std::string whole = small_trace();
  std::mt19937 random(42);
  for (int n = 0; n < 1000; ++n) {
    std::string bytes = whole;
    for (int flips = 0; flips < 3; ++flips) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    }
    exercise(std::move(bytes));
  }
}

TEST(DumpiRobustness, FlippedBitsOfEveryFunction) {
  const fs::path path =
      fs::path(FATHOM_SHARED_DATA) / "dumpi" / "synth" / "all-functions-15" / "all-functions-15-0000.bin";
  if (!fs::exists(path)) GTEST_SKIP() << "no reference data";
  std::ifstream in(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  std::mt19937 random(43);
  for (int n = 0; n < 60; ++n) {
    std::string bytes = whole;
    for (int flips = 0; flips < 4; ++flips) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    }
    exercise(std::move(bytes));
  }
}

TEST(DumpiRobustness, DamagedTextHasAPlace) {
  const Work work = make_work();
  auto file = File::open(Blob::own("small.bin", small_trace()), work);
  ASSERT_TRUE(file.ok());
  auto found = scan(*file, work);
  ASSERT_TRUE(found.ok());
  std::string text;
  ASSERT_TRUE(dump(*file, *found, {}, [&](std::string_view part) {
                text += part;
                return true;
              }).ok());
  text.resize(std::min(text.size(), std::size_t{3000}));
  for (std::size_t length = 0; length < text.size(); ++length) {
    auto binary = binary_of_text(Blob::own("cut.txt", text.substr(0, length)), work);
    if (binary.ok()) continue;
    EXPECT_TRUE(binary.error().place().line.has_value()) << length;
  }
}

TEST(DumpiRobustness, SecondsRollOver) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  TraceMaker maker;
  const auto barrier = [&](std::int64_t from, std::int64_t to) {
    maker.at(from * kSecond, (to - from) * kSecond).call("MPI_Barrier", {{"comm", 2}});
  };
  barrier(65535, 65535);
  barrier(65535, 65538);  // begins before, ends behind the roll-over
  barrier(65539, 65540);
  barrier(105536, 105536);
  barrier(131071, 131071);
  barrier(131073, 131073);  // a second time
  const Work work = make_work();
  auto file = File::open(Blob::own("long.bin", maker.finish()), work);
  ASSERT_TRUE(file.ok());
  auto found = scan(*file, work);
  ASSERT_TRUE(found.ok());
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> stops;
  for (const Chunk& chunk : found->chunks) {
    for_each_call(*file, chunk, [&](const Call& call) {
      starts.push_back(call.wall_start_ns / 1'000'000'000 - 1000);
      stops.push_back(call.wall_stop_ns / 1'000'000'000 - 1000);
      return true;
    });
  }
  EXPECT_EQ(starts, (std::vector<std::int64_t>{65535, 65535, 65539, 105536, 131071, 131073}));
  EXPECT_EQ(stops, (std::vector<std::int64_t>{65535, 65538, 65540, 105536, 131071, 131073}));
}

using DumpiSet = DumpiRun;

TEST_F(DumpiSet, RenamedSetWithMissingRanksAndOtherWidths) {
  write("new.meta", "hostname=x\nnumprocs=4\nfileprefix=/gone/old\nunknown=1\n");
  write("new-0000.bin", small_trace());
  write("new-00002.bin", small_trace());
  auto set = open("new.meta");
  ASSERT_TRUE(set.ok()) << set.error().text();
  EXPECT_EQ((*set)->world_size(), 4U);
  ASSERT_EQ((*set)->files().size(), 2U);
  EXPECT_EQ((*set)->files()[1].rank, 2U);
  const auto noticed = work_->diagnostics.all();
  ASSERT_EQ(noticed.size(), 1U);
  EXPECT_EQ(noticed[0].id, "dumpi.missing_ranks");
}

TEST_F(DumpiSet, WrongMetafiles) {
  write("none.meta", "numprocs=4\nfileprefix=nowhere\n");
  auto set = open("none.meta");
  ASSERT_FALSE(set.ok());
  EXPECT_NE(set.error().text().find("nowhere-0000.bin"), std::string::npos) << set.error().text();
  // A claim of many ranks costs nothing.
  write("many-0000.bin", small_trace());
  write("many.meta", "numprocs=4000000000\nfileprefix=many\n");
  auto many = open("many.meta");
  ASSERT_TRUE(many.ok());
  EXPECT_EQ((*many)->files().size(), 1U);
}

TEST_F(DumpiSet, MetafilesThatSayTooLittleOrTooMuch) {
  write("run-0000.bin", small_trace());
  write("run-0001.bin", small_trace());
  // Fewer ranks than files: the files count.
  write("run.meta", "numprocs=1\nfileprefix=run\n");
  auto set = open("run.meta");
  ASSERT_TRUE(set.ok());
  EXPECT_EQ((*set)->world_size(), 2U);
  EXPECT_EQ(noticed(), (std::vector<std::string>{"dumpi.metafile_numprocs"}));
  write("run.meta", "numprocs=many\nfileprefix=run\nno equals sign\n");
  set = open("run.meta");
  ASSERT_TRUE(set.ok());
  EXPECT_EQ((*set)->files().size(), 2U);
  EXPECT_EQ(noticed(), (std::vector<std::string>{"dumpi.metafile_numprocs", "dumpi.metafile_line"}));
}

TEST_F(DumpiSet, DirectoriesWithSeveralRuns) {
  write("a-0000.bin", small_trace());
  write("b-0000.bin", small_trace());
  auto set = open();
  ASSERT_FALSE(set.ok());
  EXPECT_NE(set.error().text().find("rank files of 2 runs"), std::string::npos) << set.error().text();
  write("a.meta", "numprocs=1\nfileprefix=a\n");
  EXPECT_TRUE(open().ok());  // the only metafile says which one is meant
  write("b.meta", "numprocs=1\nfileprefix=b\n");
  set = open();
  ASSERT_FALSE(set.ok());
  EXPECT_NE(set.error().text().find("a.meta"), std::string::npos) << set.error().text();
  EXPECT_TRUE(open("b.meta").ok());
}

TEST_F(DumpiSet, UnreadableRanksAreMissingAndTheOthersAreUsed) {
  write("run.meta", "numprocs=3\nfileprefix=run\n");
  write("run-0000.bin", small_trace());
  write("run-0001.bin", "");  // died before the first flush
  write("run-0002.bin", "something else entirely");
  auto set = open("run.meta");
  ASSERT_TRUE(set.ok());
  EXPECT_EQ((*set)->files().size(), 1U);
  EXPECT_EQ(noticed_times("dumpi.unreadable_rank"), 2);
  auto numbers = statistics(**set, {});
  ASSERT_TRUE(numbers.ok());
  EXPECT_EQ(numbers->calls.size(), 3U);
  // Alone it is an error with a place.
  auto alone = open("run-0001.bin");
  EXPECT_FALSE(alone.ok());
}

TEST_F(DumpiSet, NewerVersionsAreReadWithAWarning) {
  TraceMaker maker({14, 2, 0});
  maker.call("MPI_Barrier", {{"comm", 2}});
  write("run-0000.bin", maker.finish());
  auto set = open("run-0000.bin");
  ASSERT_TRUE(set.ok());
  EXPECT_EQ((*(*set)->scans())->front().records, 1U);
  EXPECT_EQ(noticed(), (std::vector<std::string>{"dumpi.version"}));
}

// Offsets that lead nowhere cost the section, not the stream.
TEST_F(DumpiSet, IndexesThatLie) {
  const std::string whole = small_trace();
  for (std::size_t entry = 0; entry < 7; ++entry) {
    const bool stream = entry == 4;
    std::string bytes = whole;
    for (std::size_t n = 0; n < 8; ++n) bytes[bytes.size() - 56 + 8 * entry + n] = static_cast<char>(n < 2 ? 0 : 0x7F);
    write("run-0000.bin", bytes);
    auto set = open("run-0000.bin");
    EXPECT_EQ(set.ok(), !stream) << entry;
    if (!set.ok()) continue;
    auto scans = (*set)->scans();
    ASSERT_TRUE(scans.ok());
    EXPECT_EQ((**scans)[0].records, 3U) << entry;
    EXPECT_GE(noticed_times("dumpi.section_offset"), 1) << entry;
  }
}

// A count in front of an array is a claim until the bytes are there.
TEST_F(DumpiSet, LyingLengths) {
  TraceMaker maker;
  maker.call("MPI_Barrier", {{"comm", 2}});
  const std::size_t second = maker.cut().size();
  maker.call("MPI_Waitall", {{"requests", list({2, 3})}, {"statuses", statuses({{}, {}})}});
  for (const std::int32_t claim : {1'000'000'000, -1}) {
    std::string bytes = maker.finish();
    ByteText number;
    number.number(claim);
    bytes.replace(second + 29 + 4, 4, number.text());  // behind head and count
    write("run-0000.bin", bytes);
    auto set = open("run-0000.bin");
    ASSERT_TRUE(set.ok());
    auto scans = (*set)->scans();
    ASSERT_TRUE(scans.ok());
    EXPECT_EQ((**scans)[0].records, 1U) << claim;
    ASSERT_TRUE((**scans)[0].damage.has_value()) << claim;
    EXPECT_EQ((**scans)[0].damage->place().offset, second) << claim;
    EXPECT_NE((**scans)[0].damage->text().find("MPI_Waitall"), std::string::npos);
  }
}

// Old files keep one element of some arrays: how many there were is a claim, too, but for the array beside it.
TEST_F(DumpiSet, LyingLengthsOfArraysThatAreNotKept) {
  for (const std::int64_t claim : {2'000'000'000, -1, 2}) {
    TraceMaker maker({0, 6, 7});
    const Arguments arguments = {{"ndim", Value(claim)},
                                 {"comm", 2},
                                 {"dims", list({2, 2})},
                                 {"periods", list({0, 0})},
                                 {"coords", list({1, 1})}};
    maker.call("MPI_Cart_get", arguments);
    write("run-0000.bin", maker.finish());
    auto trace = TraceSet::open((folder_ / "run-0000.bin").string());
    ASSERT_EQ(trace.error(), "");
    auto reader = trace.reader(0);
    const Call* const call = reader.next();
    ASSERT_NE(call, nullptr);
    EXPECT_EQ(call->values(3).size(), 2U);
    EXPECT_EQ(call->values(5).size(), claim < 0 ? 0U : 2U) << claim;
  }
}

TEST_F(DumpiSet, PublicReaderGivesEveryCall) {
  write("run-0000.bin", small_trace());
  auto trace = TraceSet::open((folder_ / "run-0000.bin").string());
  ASSERT_EQ(trace.error(), "");
  ASSERT_EQ(trace.ranks(), 1U);
  auto reader = trace.reader(0);
  std::vector<std::string> names;
  std::int64_t bytes = 0;
  while (const Call* call = reader.next()) {
    names.emplace_back(call->name());
    if (call->id == id_of("MPI_Send")) {
      bytes = call->integer(0) * trace.datatype_size(0, call->integer(1));
      EXPECT_EQ(call->wall_start_ns, 1000'000'000'000);
    }
    if (call->id == id_of("MPI_Recv")) {
      ASSERT_EQ(call->statuses(5).size(), 1U);
      EXPECT_EQ(call->statuses(5)[0].bytes, 40);
    }
  }
  EXPECT_EQ(reader.error(), "");
  EXPECT_EQ(names, (std::vector<std::string>{"MPI_Send", "MPI_Recv", "MPI_Barrier"}));
  EXPECT_EQ(bytes, 40);
  EXPECT_NE(TraceSet::open((folder_ / "missing").string()).error(), "");
}

// What handles mean, at each call: the same id is another communicator and another type later on.
TEST_F(DumpiSet, PublicReaderKnowsWhatHandlesMean) {
  std::vector<TraceMaker> ranks(3);
  for (int r = 0; r < 3; ++r) {
    auto& rank = ranks[static_cast<std::size_t>(r)];
    rank.call("MPI_Comm_split", {{"oldcomm", 2}, {"color", 0}, {"key", -r}, {"newcomm", 4}});
    rank.call("MPI_Type_contiguous", {{"count", 3}, {"oldtype", 9}, {"newtype", 28}});
    rank.send("MPI_Send", 1, 28, 0, 0, 4);
    rank.call("MPI_Comm_free", {{"comm", 4}});
    rank.call("MPI_Comm_dup", {{"oldcomm", 2}, {"newcomm", 4}});
    rank.call("MPI_Type_contiguous", {{"count", 5}, {"oldtype", 9}, {"newtype", 28}});
    rank.send("MPI_Send", 1, 28, 0, 0, 4);
  }
  (void)run(ranks);
  auto trace = TraceSet::open((folder_ / "run.meta").string());
  auto unresolved = trace.reader(1);
  ASSERT_NE(unresolved.next(), nullptr);
  EXPECT_EQ(unresolved.world_rank(2, 1), kNotKnown);
  ASSERT_TRUE(trace.resolve()) << trace.error();
  auto reader = trace.reader(1);
  std::vector<std::array<std::int64_t, 3>> found;
  while (const Call* call = reader.next()) {
    if (call->id != id_of("MPI_Send")) continue;
    found.push_back({reader.size_of(call->integer(1)), reader.world_rank(call->integer(4), call->integer(2)),
                     reader.size_of_communicator(call->integer(4))});
  }
  EXPECT_EQ(found, (std::vector<std::array<std::int64_t, 3>>{{12, 2, 3}, {20, 0, 3}}));
  EXPECT_EQ(reader.world_rank(4, -1), kNobody);
  EXPECT_EQ(reader.global_id(77), -1);
}

TEST(DumpiTable, IdsAndPositionsHold) {
  EXPECT_EQ(functions().size(), kIds);
  EXPECT_EQ(id_of("MPI_Sendrecv"), ids::kSendrecv);
  EXPECT_EQ(id_of("MPI_Alltoallw"), ids::kAlltoallw);
  EXPECT_EQ(id_of("MPIO_Testsome"), ids::kMpioTestsome);
  // The positions that transfer.cpp and event_stream.cpp rely on.
  EXPECT_EQ(function("MPI_Isend")->find("request"), 5);
  EXPECT_EQ(function("MPI_Sendrecv")->find("comm"), 8);
  EXPECT_EQ(function("MPI_Sendrecv_replace")->find("comm"), 6);
  EXPECT_EQ(function("MPI_Gatherv")->find("recvtype"), 8);
  EXPECT_EQ(function("MPI_Scatterv")->find("sendcounts"), 7);
  EXPECT_EQ(function("MPI_Waitsome")->find("indices"), 3);
  EXPECT_EQ(function("MPIO_Testany")->find("index"), 3);
  EXPECT_EQ(function("MPI_Type_create_darray")->find("newtype"), 9);
  EXPECT_TRUE(function("MPI_Send")->fixed);
  EXPECT_EQ(function("MPI_Send")->fixed_size, 16U);
  EXPECT_EQ(function("MPI_None"), nullptr);
}

}  // namespace
}  // namespace fathom::dumpi
