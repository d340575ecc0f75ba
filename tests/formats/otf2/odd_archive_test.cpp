// Archives as the reference library writes them when a program was odd or ended early.
#if __has_include(<otf2/otf2.h>)
#include <otf2/otf2.h>

#include <array>
#include <limits>

#include "formats/otf2/check.hpp"
#include "formats/otf2/local_definitions.hpp"
#include "otf2_cases.hpp"

namespace fathom::otf2 {
namespace {

OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
OTF2_TimeStamp no_time(void*, OTF2_FileType, OTF2_LocationRef) { return 0; }

using Offsets = std::vector<std::pair<std::uint64_t, std::int64_t>>;

constexpr std::uint64_t kLargeReading = 0xC000'0000'0000'0001u;  // negative, were it read with a sign

// One location: main from 100 ns on, a reading at 200, a receive that is posted at 300 and nothing else.
void write_archive(const std::filesystem::path& folder, const Offsets& offsets) {
  OTF2_Archive* const archive = OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 20,
                                                  OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  static const OTF2_FlushCallbacks kFlush = {flush_always, no_time};
  OTF2_Archive_SetFlushCallbacks(archive, &kFlush, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive);
  OTF2_Archive_OpenEvtFiles(archive);
  OTF2_EvtWriter* const events = OTF2_Archive_GetEvtWriter(archive, 0);
  OTF2_EvtWriter_Enter(events, nullptr, 100, 0);
  OTF2_Type type = OTF2_TYPE_UINT64;
  OTF2_MetricValue value;
  value.unsigned_int = kLargeReading;
  OTF2_EvtWriter_Metric(events, nullptr, 200, 0, 1, &type, &value);
  OTF2_EvtWriter_MpiIrecvRequest(events, nullptr, 300, 7);
  OTF2_Archive_CloseEvtWriter(archive, events);
  OTF2_Archive_CloseEvtFiles(archive);
  OTF2_Archive_OpenDefFiles(archive);
  OTF2_DefWriter* const local = OTF2_Archive_GetDefWriter(archive, 0);
  for (const auto& [time, offset] : offsets) OTF2_DefWriter_WriteClockOffset(local, time, offset, 0.0);
  OTF2_Archive_CloseDefWriter(archive, local);
  OTF2_Archive_CloseDefFiles(archive);
  OTF2_GlobalDefWriter* const out = OTF2_Archive_GetGlobalDefWriter(archive);
  OTF2_GlobalDefWriter_WriteClockProperties(out, 1'000'000'000, 0, 1000, OTF2_UNDEFINED_TIMESTAMP);
  OTF2_StringRef text = 0;
  for (const char* name : {"", "node0", "process", "main", "cycles"}) {
    OTF2_GlobalDefWriter_WriteString(out, text++, name);
  }
  OTF2_GlobalDefWriter_WriteSystemTreeNode(out, 0, 1, 1, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  OTF2_GlobalDefWriter_WriteLocationGroup(out, 0, 2, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                          OTF2_UNDEFINED_LOCATION_GROUP);
  OTF2_GlobalDefWriter_WriteLocation(out, 0, 2, OTF2_LOCATION_TYPE_CPU_THREAD, 3, 0);
  OTF2_GlobalDefWriter_WriteRegion(out, 0, 3, 3, 0, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER,
                                   OTF2_REGION_FLAG_NONE, 0, 0, 0);
  OTF2_GlobalDefWriter_WriteMetricMember(out, 0, 4, 0, OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT,
                                         OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, 0);
  OTF2_MetricMemberRef member = 0;
  OTF2_GlobalDefWriter_WriteMetricClass(out, 0, 1, &member, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
  OTF2_Archive_Close(archive);
}

class Otf2Odd : public testing::Test {
 protected:
  std::shared_ptr<const Otf2Trace> open(const Offsets& offsets) {
    write_archive(scratch_.path(), offsets);
    return reopen();
  }
  std::shared_ptr<const Otf2Trace> reopen() {
    const auto archive = open_archive(scratch_ / "traces.otf2", work_);
    if (archive == nullptr) return nullptr;
    auto trace = Otf2Trace::make(archive);
    EXPECT_TRUE(trace.ok()) << trace.error().text();
    return trace.ok() ? *trace : nullptr;
  }
  TemporaryDirectory scratch_;
  Work work_ = make_work();
};

// otf2-print 3.0.2 and the Python bindings show such times as they were recorded.
TEST_F(Otf2Odd, OneClockOffsetCorrectsNothing) {
  const auto trace = open({{50, 40}});
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(all_events(*trace, LocationId(0)).front().time_ns, 100);
  EXPECT_TRUE(has_diagnostic(work_, "otf2.single_offset"));
  EXPECT_FALSE(work_->diagnostics.defective());
}
TEST_F(Otf2Odd, TwoClockOffsetsCorrect) {
  const auto trace = open({{50, 40}, {1050, 40}});
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(all_events(*trace, LocationId(0)).front().time_ns, 140);
  EXPECT_FALSE(has_diagnostic(work_, "otf2.single_offset"));
}

// The receive that is posted last makes no event of its own; the location lasts until then all the same.
TEST_F(Otf2Odd, WhatBeginsLastIsSeen) {
  const auto trace = open({});
  ASSERT_NE(trace, nullptr);
  const auto events = all_events(*trace, LocationId(0));
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events.back().kind, EventKind::marker);
  EXPECT_EQ(trace->name(events.back()), "MpiIrecvRequest");
  EXPECT_EQ(events.back().time_ns, 300);
  EXPECT_EQ(trace->location_span(LocationId(0))->to_ns, 300);
}

TEST_F(Otf2Odd, ReadingsWithoutSignHaveNone) {
  const auto trace = open({});
  ASSERT_NE(trace, nullptr);
  std::string text;
  ASSERT_TRUE(trace->detail(all_events(*trace, LocationId(0))[1], text).ok());
  EXPECT_EQ(text, "value=13835058055282163713");
}

TEST_F(Otf2Odd, EventsOfNoLocationAreTold) {
  write_archive(scratch_.path(), {});
  std::filesystem::copy_file(scratch_ / "traces" / "0.evt", scratch_ / "traces" / "99.evt");
  const auto trace = reopen();
  ASSERT_NE(trace, nullptr);
  EXPECT_TRUE(check_archive(*trace).ok());
  EXPECT_TRUE(has_diagnostic(work_, "otf2.stray_events"));
}

TEST(Otf2Clock, ADriftBeyondAllTicksStaysInside) {
  // One tick in, the clocks are already as far apart as can be said: a slope that soon leaves 64 bits.
  const std::vector<ClockOffset> offsets = {{0, 0}, {1, std::numeric_limits<std::int64_t>::max()}};
  ClockCorrection correction(offsets);
  EXPECT_EQ(correction(0), 0U);
  EXPECT_EQ(correction(1000), 1000U + 9'200'000'000'000'000'000U);
}

}  // namespace
}  // namespace fathom::otf2
#endif
