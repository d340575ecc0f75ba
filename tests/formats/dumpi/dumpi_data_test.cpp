// The real traces: rewritten, mapped to the trace level, counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/text.hpp"
#include "formats/dumpi/dumpi_trace.hpp"
#include "formats/dumpi/statistics.hpp"
#include "formats/dumpi/writer.hpp"
#include "io/file.hpp"
#include "io/line_cursor.hpp"
#include "table_rows.hpp"
#include "trace/merge.hpp"

namespace fathom::dumpi {
namespace {

namespace fs = std::filesystem;

const fs::path kData = fs::path(FATHOM_SHARED_DATA) / "dumpi";

class DumpiData : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kData)) GTEST_SKIP() << "no reference data";
  }
  static std::shared_ptr<RankSet> open(const fs::path& path) {
    const Work work = make_work();
    auto source = Source::at(path, work);
    EXPECT_TRUE(source.ok()) << path;
    auto set = RankSet::open(*source, work);
    EXPECT_TRUE(set.ok()) << path << ": " << (set.ok() ? "" : set.error().text());
    return *set;
  }
};

std::vector<fs::path> rank_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kData)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".bin") || name.ends_with(".bin.gz")) files.push_back(entry.path());
  }
  return files;
}

TEST_F(DumpiData, RewrittenFilesAreEqualByteForByte) {
  const fs::path target = fs::path(::testing::TempDir()) / "dumpi_rewritten.bin";
  std::size_t compared = 0;
  for (const fs::path& path : rank_files()) {
    if (path.string().find("truncated") != std::string::npos) continue;
    const auto set = open(path);
    ASSERT_TRUE(rewrite_set(*set, Filter{}, target).ok());
    auto written = map_file(target);
    ASSERT_TRUE(written.ok());
    EXPECT_TRUE(written->text() == set->files()[0].file.hold()->text()) << path;
    ++compared;
  }
  EXPECT_GT(compared, 40U);
}

TEST_F(DumpiData, CutFileIsReadUpToTheLastWholeRecordAndCanBeRepaired) {
  const auto set = open(kData / "truncated" / "killed-0000.bin");
  EXPECT_TRUE(set->files()[0].file.cut_off());
  auto scans = set->scans();
  ASSERT_TRUE(scans.ok());
  const std::uint64_t records = (**scans)[0].records;
  EXPECT_GT(records, 390U);
  EXPECT_TRUE(set->work()->diagnostics.defective());
  const fs::path target = fs::path(::testing::TempDir()) / "dumpi_repaired.bin";
  ASSERT_TRUE(rewrite_set(*set, Filter{}, target).ok());
  const auto repaired = open(target);
  EXPECT_FALSE(repaired->files()[0].file.cut_off());
  auto again = repaired->scans();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((**again)[0].records, records);
  EXPECT_FALSE(repaired->work()->diagnostics.defective());
}

TEST_F(DumpiData, FiltersKeepWhatIsAskedForAndCountTheRestAsIgnored) {
  const auto set = open(kData / "ring4" / "ring4-0001.bin");
  auto before = set->scans();
  ASSERT_TRUE(before.ok());
  WriteOptions options;
  options.options = {{"without", "MPI_Comm_*"}, {"drop", "cpu,statuses"}};
  auto filter = Filter::from_options(options);
  ASSERT_TRUE(filter.ok());
  const fs::path target = fs::path(::testing::TempDir()) / "dumpi_filtered.bin";
  ASSERT_TRUE(rewrite_set(*set, *filter, target).ok());
  const auto got = open(target);
  auto after = got->scans();
  ASSERT_TRUE(after.ok());
  const ScanResult& a = (**before)[0];
  const ScanResult& b = (**after)[0];
  EXPECT_FALSE(b.any_cpu);
  EXPECT_FALSE(b.damage.has_value());
  for (const Function& function : functions()) {
    const bool dropped = function.name.starts_with("MPI_Comm_");
    EXPECT_EQ(b.per_function[function.id], dropped ? 0 : a.per_function[function.id]) << function.name;
    if (function.id < kFunctions) {
      const Footer& footer = got->files()[0].file.sections().footer;
      EXPECT_EQ(footer.called[function.id] - footer.ignored[function.id], b.per_function[function.id]) << function.name;
    }
  }
}

// The reference's own table: calls, times, bytes per rank, and bytes to each rank.
TEST_F(DumpiData, StatisticsEqualTheReferenceTables) {
  std::size_t rows = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kData)) {
    if (entry.path().filename() != "dumpistats.tbl") continue;
    const fs::path folder = entry.path().parent_path().parent_path();
    const auto set = open(folder);
    StatisticsOptions options;
    options.by = {"rank"};
    options.options = {{"calls", "mpi"}, {"persistent", "made"}};
    auto statistics = fathom::dumpi::statistics(*set, options);
    ASSERT_TRUE(statistics.ok()) << folder << statistics.error().text();
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> matrix;
    for (const MatrixEntry& cell : statistics->matrix) matrix[{cell.src, cell.dst}] = cell.bytes;
    // The same columns asked for one by one.
    StatisticsOptions chosen;
    chosen.options = {{"count", "mpi"}, {"time", "mpi"}, {"sent", "mpi"}, {"recvd", "mpi"}};
    auto columns = fathom::dumpi::statistics(*set, chosen);
    ASSERT_TRUE(columns.ok()) << folder << columns.error().text();
    const auto by_columns = table_rows(columns->tables.at(0));
    const auto by_rank = table_rows(statistics->tables.at(0));
    ASSERT_EQ(by_columns.size(), by_rank.size());
    for (std::size_t n = 0; n < by_columns.size(); ++n) {
      const auto& one_by_one = by_columns[n];
      const auto& together = by_rank[n];
      EXPECT_TRUE(std::equal(one_by_one.begin() + 4, one_by_one.end(), together.begin() + 4, together.end())) << folder;
    }
    auto blob = map_file(entry.path());
    ASSERT_TRUE(blob.ok());
    LineCursor lines(*blob);
    std::size_t rank = 0;
    while (const auto line = lines.next()) {
      if (line->starts_with('#')) continue;
      std::vector<std::string> cells;
      for (const std::string_view cell : split(*line, ' ')) {
        if (!cell.empty()) cells.emplace_back(cell);
      }
      if (cells.size() < 12) continue;
      const auto& row = by_rank.at(rank);
      // rank, intervals, first, last, active, calls, CPU inside and outside, wall inside and outside, sent, received
      EXPECT_EQ(row[0], cells[0]);
      // Sums above 2.147 s overflow there.
      const bool overflowed =
          std::any_of(cells.begin() + 4, cells.begin() + 10, [](const auto& cell) { return cell.starts_with('-'); });
      for (std::size_t n = 1; n < row.size(); ++n) {
        if (overflowed && n >= 3 && n <= 8 && n != 4) continue;
        EXPECT_EQ(row[n], cells[n + 1]) << folder << " rank " << rank << " " << column_names(statistics->tables[0])[n];
      }
      for (std::size_t to = 0; to + 12 < cells.size(); ++to) {
        const auto it = matrix.find({static_cast<std::int64_t>(rank), static_cast<std::int64_t>(to)});
        EXPECT_EQ(std::to_string(it == matrix.end() ? 0 : it->second), cells[12 + to]) << folder << rank << "->" << to;
      }
      ++rank;
      ++rows;
    }
  }
  EXPECT_GT(rows, 15U);
}

TEST_F(DumpiData, EventsAreInOrderBalancedAndMatchTheRecords) {
  for (const auto& entry : fs::directory_iterator(kData)) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    if (name == "legacy" || name == "synth") continue;
    const auto set = open(entry.path());
    auto scans = set->scans();
    ASSERT_TRUE(scans.ok());
    auto trace = DumpiTrace::make(set);
    ASSERT_TRUE(trace.ok()) << name;
    auto merged = MergedEvents::over(**trace);
    ASSERT_TRUE(merged.ok());
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    std::map<std::uint32_t, std::int64_t> depth;
    std::uint64_t enters = 0;
    while (const Event* event = merged->next()) {
      if (event->has_time) {
        ASSERT_GE(event->time_ns, last) << name;
        last = event->time_ns;
      }
      if (event->kind == EventKind::enter) {
        ++depth[event->location.value];
        ++enters;
      }
      if (event->kind == EventKind::leave) {
        ASSERT_GE(--depth[event->location.value], 0) << name;
      }
    }
    ASSERT_TRUE(merged->status().ok());
    std::uint64_t records = 0;
    for (const ScanResult& scan : **scans) {
      for (std::size_t id = 0; id < kFunctions; ++id) records += scan.per_function[id];
    }
    EXPECT_EQ(enters, records) << name;
    for (const auto& [location, open_regions] : depth) EXPECT_EQ(open_regions, 0) << name;
  }
}

// Every message that is sent to a rank is received there: these programs leave none behind.
TEST_F(DumpiData, AllMessagesOfTheStencilAreMatched) {
  const auto set = open(kData / "stencil4");
  auto trace = DumpiTrace::make(set);
  ASSERT_TRUE(trace.ok());
  std::uint64_t sends = 0;
  std::int64_t sent = 0;
  std::uint64_t receives = 0;
  auto merged = MergedEvents::over(**trace);
  ASSERT_TRUE(merged.ok());
  while (const Event* event = merged->next()) {
    if (event->kind == EventKind::send && event->peer >= 0) {
      ++sends;
      sent += event->bytes;
    }
    if (event->kind == EventKind::recv && event->peer >= 0) ++receives;
  }
  EXPECT_GT(sends, 10000U);
  EXPECT_EQ(sends, receives);
  std::uint64_t matched = 0;
  std::int64_t bytes = 0;
  std::uint64_t backwards = 0;
  ASSERT_TRUE((*trace)
                  ->messages({},
                             [&](const Message& message) {
                               ++matched;
                               bytes += message.bytes;
                               // One node, one clock: nothing arrives before it was sent.
                               if (*message.received_ns < *message.sent_ns) ++backwards;
                               return true;
                             })
                  .ok());
  EXPECT_EQ(matched, sends);
  EXPECT_EQ(bytes, sent);
  EXPECT_EQ(backwards, 0U);
}

TEST_F(DumpiData, MessagesOfTheOtherProgramsAreMatched) {
  for (const char* name : {"ring4", "comms4", "types4", "threads2", "misc4"}) {
    const auto set = open(kData / name);
    auto trace = DumpiTrace::make(set);
    ASSERT_TRUE(trace.ok());
    auto merged = MergedEvents::over(**trace);
    ASSERT_TRUE(merged.ok());
    std::uint64_t receives = 0;
    std::uint64_t sends = 0;
    std::uint64_t unknown = 0;
    while (const Event* event = merged->next()) {
      if (event->kind == EventKind::send && event->peer >= 0) ++sends;
      if (event->kind != EventKind::recv) continue;
      if (event->peer >= 0) ++receives;
      if (event->peer == kUnknownPeer) ++unknown;
    }
    std::uint64_t matched = 0;
    std::uint64_t backwards = 0;
    ASSERT_TRUE((*trace)
                    ->messages({},
                               [&](const Message& message) {
                                 ++matched;
                                 if (*message.received_ns < *message.sent_ns) ++backwards;
                                 return true;
                               })
                    .ok());
    EXPECT_EQ(matched, receives) << name;
    EXPECT_EQ(matched, sends) << name;
    EXPECT_EQ(backwards, 0U) << name;
    EXPECT_EQ(unknown, 0U) << name;
  }
}

TEST_F(DumpiData, SizesOfDerivedTypesEqualWhatTheTracerRecorded) {
  // The sizes record holds the size of the first type that got an id; where an id was used once the two must agree.
  const auto set = open(kData / "types4");
  auto scans = set->scans();
  ASSERT_TRUE(scans.ok());
  auto resolution = resolve(*set, **scans);
  ASSERT_TRUE(resolution.ok());
  for (std::size_t i = 0; i < set->files().size(); ++i) {
    const File& file = set->files()[i].file;
    const auto held = file.hold();
    const std::byte* const base = held->bytes().data();
    Call call;
    std::set<std::int64_t> seen;
    std::size_t compared = 0;
    for (const std::uint64_t offset : (**scans)[i].notable) {
      ASSERT_EQ(file.decoder().decode(base + offset, base + (**scans)[i].end, call), Decoder::Outcome::ok);
      if (call.id == ids::kTypeSize) continue;
      std::vector<std::int64_t> sizes;
      for (std::size_t id = 0; id < file.sections().sizes.size(); ++id) {
        sizes.push_back(file.datatype_size(static_cast<std::int64_t>(id)));
      }
      const auto created = created_size(call, sizes);
      if (!created || created->datatype < 28 || !seen.insert(created->datatype).second) continue;
      if (file.datatype_size(created->datatype) == 0) continue;
      EXPECT_EQ(created->bytes, file.datatype_size(created->datatype)) << call.name() << " makes " << created->datatype;
      ++compared;
    }
    EXPECT_GT(compared, 8U);
  }
}

}  // namespace
}  // namespace fathom::dumpi
