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
#include "formats/dumpi/writer.hpp"
#include "io/output_file.hpp"
#include "trace/merge.hpp"

namespace fathom::dumpi {
namespace {

namespace fs = std::filesystem;

// Builds a stream record by record.
class Maker {
 public:
  Maker() {
    out_.bytes(kMagic);
    out_.number(std::int32_t{100});   // CPU bias
    out_.number(std::int32_t{1000});  // wall bias
  }
  void head(std::string_view name, std::uint32_t start_s, std::uint32_t start_ns, std::uint32_t stop_s,
            std::uint32_t stop_ns, std::uint16_t thread = 0) {
    out_.number(id_of(name));
    out_.number(std::uint8_t{kMaskStatus | kMaskWall | kMaskThread});
    out_.number(thread);
    out_.number(static_cast<std::uint16_t>(start_s));
    out_.number(start_ns);
    out_.number(static_cast<std::uint16_t>(stop_s));
    out_.number(stop_ns);
  }
  void send(std::uint32_t at_s, std::int32_t count, std::int32_t dest, std::int32_t tag, std::int16_t comm = 2) {
    head("MPI_Send", at_s, 10, at_s, 20);
    out_.number(count);
    out_.number(std::int16_t{9});  // MPI_INT
    out_.number(dest);
    out_.number(tag);
    out_.number(comm);
  }
  void recv(std::uint32_t at_s, std::int32_t count, std::int32_t source, std::int32_t tag, std::int32_t from,
            std::int32_t got_tag, std::int16_t comm = 2) {
    head("MPI_Recv", at_s, 10, at_s, 500);
    out_.number(count);
    out_.number(std::int16_t{9});
    out_.number(source);
    out_.number(tag);
    out_.number(comm);
    out_.number(std::int32_t{1});
    out_.number(std::int32_t{4 * count});
    out_.number(from);
    out_.number(std::int8_t{0});
    out_.number(std::int8_t{0});
    out_.number(got_tag);
  }
  void split(std::uint32_t at_s, std::int32_t color, std::int32_t key, std::int16_t made) {
    head("MPI_Comm_split", at_s, 0, at_s, 5);
    out_.number(std::int16_t{2});
    out_.number(color);
    out_.number(key);
    out_.number(made);
  }
  void barrier(std::uint32_t at_s, std::uint32_t stop_s) {
    head("MPI_Barrier", at_s, 0, stop_s, 1);
    out_.number(std::int16_t{2});
  }
  std::string finish() {
    out_.number(kEndOfStream);
    Sections sections;
    sections.header.host = "here";
    sections.header.user = "me";
    out_.bytes(encode_sections(sections, Layout{}, out_.size()));
    return out_.text();
  }

 private:
  ByteText out_;
};

std::string small_trace() {
  Maker maker;
  maker.send(1, 10, 0, 3);
  maker.recv(2, 10, -1, -1, 0, 3);
  maker.barrier(3, 4);
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
  EXPECT_TRUE(check_set(*set).ok());
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
  Maker maker;
  maker.barrier(65535, 65535);
  maker.barrier(65535, 2);  // begins before, ends behind the roll-over
  maker.barrier(3, 4);
  maker.barrier(40000, 40000);
  maker.barrier(65535, 65535);
  maker.barrier(1, 1);  // a second time
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

class DumpiSet : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("dumpi_set_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) { ASSERT_TRUE(write_file(folder_ / name, text).ok()); }
  Result<std::shared_ptr<RankSet>> open(const std::string& name) {
    work_ = make_work();
    FATHOM_TRY(const Source source, Source::at(name.empty() ? folder_ : folder_ / name, work_));
    return RankSet::open(source, work_);
  }
  fs::path folder_;
  Work work_;
};

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

// Ranks 0 and 2 in one part, 1 and 3 in the other, in opposite order: ranks of the run come out right.
TEST_F(DumpiSet, SplitCommunicatorsAreResolvedToRanksOfTheRun) {
  write("run.meta", "numprocs=4\nfileprefix=run\n");
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    Maker maker;
    // Local ids differ between the ranks on purpose.
    const auto made = static_cast<std::int16_t>(4 + rank);
    maker.split(1, rank % 2, -rank, made);
    // In the new communicator the higher rank of the run is 0.
    const bool is_first = rank >= 2;
    if (is_first) {
      maker.send(2, 5, 1, 7, made);
    } else {
      maker.recv(3, 5, -1, 7, 0, 7, made);
    }
    write("run-000" + std::to_string(rank) + ".bin", maker.finish());
  }
  auto set = open("run.meta");
  ASSERT_TRUE(set.ok());
  auto trace = DumpiTrace::make(*set);
  ASSERT_TRUE(trace.ok());
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  ASSERT_TRUE((*trace)
                  ->messages({},
                             [&](const Message& message) {
                               pairs.emplace_back(message.from_rank, message.to_rank);
                               EXPECT_EQ(message.bytes, 20);
                               return true;
                             })
                  .ok());
  EXPECT_EQ(pairs, (std::vector<std::pair<std::int32_t, std::int32_t>>{{2, 0}, {3, 1}}));
  auto numbers = statistics(**set, {});
  ASSERT_TRUE(numbers.ok());
  ASSERT_EQ(numbers->matrix.size(), 2U);
  EXPECT_EQ(numbers->matrix[0].src, 2);
  EXPECT_EQ(numbers->matrix[0].dst, 0);
  EXPECT_EQ(numbers->matrix[1].bytes, 20);
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
      EXPECT_EQ(call->wall_start_ns, 1001'000'000'010);
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
