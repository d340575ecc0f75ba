// Archives as Score-P writes them, made with the reference library: what only the analysis reads of them.
#if __has_include(<otf2/otf2.h>)
#include <otf2/otf2.h>

#include <array>

#include "otf2_cases.hpp"
#include "trace/analysis/analysis.hpp"

namespace fathom::otf2 {
namespace {

using analysis::WaitKind;

enum : OTF2_RegionRef { kInit, kPost, kStart, kComplete, kWait, kFinalize, kRegions };

OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
OTF2_TimeStamp no_time(void*, OTF2_FileType, OTF2_LocationRef) { return 0; }

// Two ranks whose calls carry readings of instructions and cycles at both ends; times in ms.
class MadeArchive {
 public:
  explicit MadeArchive(const std::filesystem::path& folder)
      : archive_(OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 20,
                                   OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE)) {
    static const OTF2_FlushCallbacks kFlush = {flush_always, no_time};
    OTF2_Archive_SetFlushCallbacks(archive_, &kFlush, nullptr);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive_);
    OTF2_Archive_OpenEvtFiles(archive_);
    for (OTF2_LocationRef l = 0; l < 2; ++l) writers_[l] = OTF2_Archive_GetEvtWriter(archive_, l);
  }

  // Outside of calls a rank executes 2000 instructions in 1000 cycles per ms, inside 10 in 1000.
  void call(std::size_t rank, OTF2_RegionRef region, std::uint64_t from, std::uint64_t to,
            OTF2_GroupRef group = OTF2_UNDEFINED_GROUP) {
    OTF2_EvtWriter* out = writers_[rank];
    instructions_[rank] += 2000 * (from - last_[rank]);
    read(rank, from);
    OTF2_EvtWriter_Enter(out, nullptr, from, region);
    if (group != OTF2_UNDEFINED_GROUP) {
      OTF2_EvtWriter_RmaGroupSync(out, nullptr, to, OTF2_RMA_SYNC_LEVEL_PROCESS, 0, group);
    }
    instructions_[rank] += 10 * (to - from);
    read(rank, to);
    OTF2_EvtWriter_Leave(out, nullptr, to, region);
    last_[rank] = to;
  }

  void close() {
    for (OTF2_EvtWriter* writer : writers_) OTF2_Archive_CloseEvtWriter(archive_, writer);
    OTF2_Archive_CloseEvtFiles(archive_);
    OTF2_Archive_OpenDefFiles(archive_);
    for (OTF2_LocationRef l = 0; l < 2; ++l) {
      OTF2_Archive_CloseDefWriter(archive_, OTF2_Archive_GetDefWriter(archive_, l));
    }
    OTF2_Archive_CloseDefFiles(archive_);
    define();
    OTF2_Archive_Close(archive_);
  }

 private:
  void read(std::size_t rank, std::uint64_t now) {
    OTF2_Type types[2] = {OTF2_TYPE_UINT64, OTF2_TYPE_UINT64};
    OTF2_MetricValue values[2];
    values[0].unsigned_int = instructions_[rank];
    values[1].unsigned_int = 1000 * now;
    OTF2_EvtWriter_Metric(writers_[rank], nullptr, now, 0, 2, types, values);
  }
  OTF2_StringRef text(const char* name) {
    OTF2_GlobalDefWriter_WriteString(out_, strings_, name);
    return strings_++;
  }
  void define() {
    out_ = OTF2_Archive_GetGlobalDefWriter(archive_);
    OTF2_GlobalDefWriter_WriteClockProperties(out_, 1000, 0, 200, OTF2_UNDEFINED_TIMESTAMP);
    const OTF2_StringRef empty = text("");
    OTF2_GlobalDefWriter_WriteSystemTreeNode(out_, 0, text("node0"), text("node"), OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (OTF2_LocationRef l = 0; l < 2; ++l) {
      OTF2_GlobalDefWriter_WriteLocationGroup(out_, static_cast<OTF2_LocationGroupRef>(l), text("MPI Rank"),
                                              OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP);
      OTF2_GlobalDefWriter_WriteLocation(out_, l, text("Master thread"), OTF2_LOCATION_TYPE_CPU_THREAD, 0,
                                         static_cast<OTF2_LocationGroupRef>(l));
    }
    const char* names[kRegions] = {"MPI_Init",         "MPI_Win_post", "MPI_Win_start",
                                   "MPI_Win_complete", "MPI_Win_wait", "MPI_Finalize"};
    for (OTF2_RegionRef r = 0; r < kRegions; ++r) {
      const OTF2_StringRef name = text(names[r]);
      OTF2_GlobalDefWriter_WriteRegion(out_, r, name, name, empty, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI,
                                       OTF2_REGION_FLAG_NONE, empty, 0, 0);
    }
    const std::uint64_t members[2] = {0, 1};
    const auto group = [&](OTF2_GroupRef id, OTF2_GroupType type, std::uint32_t count, const std::uint64_t* list) {
      OTF2_GlobalDefWriter_WriteGroup(out_, id, empty, type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count, list);
    };
    group(0, OTF2_GROUP_TYPE_COMM_LOCATIONS, 2, members);
    group(1, OTF2_GROUP_TYPE_COMM_GROUP, 2, members);
    group(2, OTF2_GROUP_TYPE_COMM_GROUP, 1, &members[0]);
    group(3, OTF2_GROUP_TYPE_COMM_GROUP, 1, &members[1]);
    OTF2_GlobalDefWriter_WriteComm(out_, 0, text("MPI_COMM_WORLD"), 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    OTF2_GlobalDefWriter_WriteRmaWin(out_, 0, text("window"), 0, OTF2_RMA_WIN_FLAG_NONE);
    OTF2_MetricMemberRef both[2] = {0, 1};
    for (OTF2_MetricMemberRef m = 0; m < 2; ++m) {
      OTF2_GlobalDefWriter_WriteMetricMember(out_, m, text(m == 0 ? "PAPI_TOT_INS" : "PAPI_TOT_CYC"), empty,
                                             OTF2_METRIC_TYPE_PAPI, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64,
                                             OTF2_BASE_DECIMAL, 0, empty);
    }
    OTF2_GlobalDefWriter_WriteMetricClass(out_, 0, 2, both, OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
  }

  OTF2_Archive* archive_;
  OTF2_GlobalDefWriter* out_ = nullptr;
  std::array<OTF2_EvtWriter*, 2> writers_{};
  std::array<std::uint64_t, 2> instructions_{};
  std::array<std::uint64_t, 2> last_{};
  OTF2_StringRef strings_ = 0;
};

TEST(Otf2Analysis, GroupsOfWindowsAndCountersOfComputation) {
  const TemporaryDirectory scratch;
  MadeArchive made(scratch.path());
  // Rank 1 posts 30 ms after rank 0 wants to begin; rank 0 completes 40 ms after rank 1 waits for it.
  made.call(0, kInit, 0, 1);
  made.call(1, kInit, 0, 1);
  made.call(0, kStart, 10, 41, 3);
  made.call(1, kPost, 40, 41, 2);
  made.call(1, kWait, 50, 91, 2);
  made.call(0, kComplete, 90, 91, 3);
  made.call(0, kFinalize, 100, 101);
  made.call(1, kFinalize, 100, 101);
  made.close();

  const Work work = make_work();
  auto dataset = open_dataset(scratch / "traces.otf2", work);
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  const auto analysed = analysis::analyse(**trace, work);
  ASSERT_TRUE(analysed.ok()) << analysed.error().text();
  const analysis::Analysis& found = **analysed;
  constexpr std::int64_t kMs = 1'000'000;
  ASSERT_EQ(found.waits.locations.size(), 2U);
  EXPECT_EQ(found.waits.locations[0].ns[static_cast<std::size_t>(WaitKind::late_post)], 30 * kMs);
  EXPECT_EQ(found.waits.locations[1].ns[static_cast<std::size_t>(WaitKind::early_wait)], 40 * kMs);
  EXPECT_EQ(found.waits.locations[0].total(), 30 * kMs);
  EXPECT_EQ(found.waits.locations[1].total(), 40 * kMs);
  // Between calls: 9 + 49 + 9 ms on rank 0, 39 + 9 + 9 on rank 1.
  ASSERT_TRUE(found.efficiencies.instructions.has_value());
  ASSERT_TRUE(found.efficiencies.cycles.has_value());
  EXPECT_DOUBLE_EQ(*found.efficiencies.instructions, 2000.0 * (67 + 57));
  EXPECT_DOUBLE_EQ(*found.efficiencies.cycles, 1000.0 * (67 + 57));
}

}  // namespace
}  // namespace fathom::otf2
#endif
