#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "formats/paraver/prv_file.hpp"
#include "formats/paraver/view_writer.hpp"
#include "formats/registry.hpp"
#include "formats/slice_traces.hpp"
#include "io/file.hpp"
#include "temporary_directory.hpp"
#include "trace/analysis/threads.hpp"
#include "trace/merge.hpp"

namespace fathom::paraver {
namespace {

const std::string kTrace =
    "#Paraver (01/02/20 at 10:11):500_ns:1(4):1:2(2:1,1:1)\n"
    "c:1:1:2:1:2\n"
    "1:1:1:1:1:0:100:1\n"
    "2:1:1:1:2:50:6000:7:6001:0\n"
    "3:1:1:1:1:110:120:3:1:2:1:115:300:4096:9\n"
    "2:3:1:2:1:400:6000:8\n";

TEST(Paraver, ReadsStatesEventsAndMessages) {
  const Work work = make_work();
  auto file = read_prv(Blob::own("a.prv", kTrace), work);
  ASSERT_TRUE(file.ok()) << file.error().text();
  EXPECT_EQ(file->final_time, 500);
  EXPECT_EQ(file->unit_ns, 1);
  ASSERT_EQ(file->threads.size(), 3U);
  EXPECT_EQ(file->threads[2].task, 1U);
  ASSERT_EQ(file->changes.size(), 2U);
  ASSERT_EQ(file->events.size(), 3U);
  EXPECT_EQ(file->events[0].thread, 1U);
  EXPECT_EQ(file->events[2].thread, 2U);
  ASSERT_EQ(file->messages.size(), 1U);
  EXPECT_EQ(file->messages[0].bytes, 4096);
  EXPECT_EQ(file->messages[0].received, 300);
  EXPECT_FALSE(work->diagnostics.defective());
}

// The number of communicators stands behind the tasks of an application; some writers have the next one there.
TEST(Paraver, HeadersInAllForms) {
  for (const char* applications : {"2:2(2:1,1:1),3:1(1:1),1", "2:2(2:1,1:1):1(1:1)", "2:2(2:1,1:1),1(1:1),14"}) {
    const Work work = make_work();
    const auto file =
        read_prv(Blob::own("a.prv", "#Paraver (01/02/20 at 10:11):500_ns:1(4):" + std::string(applications) +
                                        "\n2:1:2:1:1:50:6000:7\n"),
                 work);
    ASSERT_TRUE(file.ok()) << applications << file.error().text();
    ASSERT_EQ(file->threads.size(), 4U) << applications;
    EXPECT_EQ(file->threads[3].application, 1U) << applications;
    ASSERT_EQ(file->events.size(), 1U) << applications;
    EXPECT_EQ(file->events[0].thread, 3U) << applications;
    EXPECT_TRUE(work->diagnostics.all().empty()) << applications;
  }
}

// Wherever they stand: in the middle of the file, and where it ends without a line end.
TEST(Paraver, NumbersOfAnyLength) {
  const std::string head = "#Paraver (01/02/20 at 10:11):9223372036854775807_ns:1(1):1:1(1:1)\n";
  for (const char* number : {"0", "7", "12345678", "123456789", "1234567890123456", "12345678901234567",
                             "9223372036854775807", "00000000000000000042", "-5"}) {
    const std::int64_t expected = std::stoll(number);
    for (const char* behind : {"", "\n", "\r\n", ":6001:3\n", "\n2:1:1:1:1:9223372036854775807:6000:1\n"}) {
      const Work work = make_work();
      const auto file = read_prv(Blob::own("a.prv", head + "2:1:1:1:1:0:6000:" + number + behind), work);
      ASSERT_TRUE(file.ok());
      ASSERT_FALSE(file->events.empty()) << number << behind;
      EXPECT_EQ(file->events[0].value, expected) << behind;
      EXPECT_TRUE(work->diagnostics.all().empty()) << number << behind;
    }
  }
  for (const char* wrong : {"", "9223372036854775808", "1x", "1 ", "+1", "12345678x", "1234567890123456x"}) {
    for (const char* behind : {"", "\n", "\n2:1:1:1:1:9223372036854775807:6000:1\n"}) {
      const Work work = make_work();
      const auto file = read_prv(Blob::own("a.prv", head + "2:1:1:1:1:0:6000:" + wrong + behind), work);
      ASSERT_TRUE(file.ok());
      ASSERT_EQ(work->diagnostics.all().size(), 1U) << wrong << behind;
      EXPECT_EQ(work->diagnostics.all()[0].id, "paraver.bad_record");
      EXPECT_EQ(work->diagnostics.all()[0].place.line, 2U);
    }
  }
}

// States, events and ends of messages follow one another in time, whatever their order in the file; where times are
// equal states come first and messages last.
TEST(Paraver, WhatOverlapsIsPutInOrder) {
  TemporaryDirectory scratch;
  std::ofstream(scratch / "a.prv") << "#Paraver (01/02/20 at 10:11):500_ns:1(1):1:2(1:1,1:1)\n"
                                      "1:1:1:1:1:10:40:1\n1:1:1:1:1:20:30:2\n"
                                      "2:1:1:1:1:20:6000:7\n2:1:1:1:1:15:6000:8\n"
                                      "3:1:1:1:1:20:20:1:1:2:1:0:5:8:0\n3:1:1:2:1:0:0:1:1:1:1:0:20:8:0\n";
  auto dataset = open_dataset(scratch / "a.prv", make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ((*trace)->location_span(LocationId(0)), (TimeWindow{10, 40}));
  auto stream = (*trace)->open(LocationId(0), {});
  ASSERT_TRUE(stream.ok());
  EventCursor cursor(*std::move(stream));
  std::string text;
  while (const Event* event = cursor.next()) {
    text += fmt::format("{} {}{}\n", event->time_ns, (*trace)->name(*event),
                        event->has_value ? fmt::format(" {}", event->value) : "");
  }
  EXPECT_EQ(text,
            "10 state 1\n15 type 6000 8\n20 state 2\n20 type 6000 7\n20 send 0\n20 receive 0\n30 state\n40 state\n");
}

// What is too much for the memory is kept in temporary files.
TEST(Paraver, TracesMayBeLargerThanTheMemory) {
  TemporaryDirectory scratch;
  constexpr int kRecords = 20'000;  // 24 bytes each
  {
    std::ofstream out(scratch / "a.prv");
    out << "#Paraver (01/02/20 at 10:11):500_ns:1(1):1:2(1:1,1:1)\n";
    for (int i = 0; i < kRecords; ++i) out << "2:1:1:" << 1 + i % 2 << ":1:" << i << ":6000:" << i + 1 << '\n';
  }
  auto dataset = open_dataset(scratch / "a.prv", make_work(false, 200'000));
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  auto merged = MergedEvents::over(**trace);
  ASSERT_TRUE(merged.ok());
  for (int i = 0; i < kRecords; ++i) {
    const Event* event = merged->next();
    ASSERT_NE(event, nullptr);
    ASSERT_EQ(event->value, i + 1);
  }
}

// Extrae puts a message where its data left: behind records that are later than the call which sends it.
TEST(Paraver, MessagesStandWhereTheDataLeft) {
  const Work work = make_work();
  const auto file = read_prv(Blob::own("a.prv",
                                       "#Paraver (01/02/20 at 10:11):500_ns:1(4):1:2(1:1,1:1)\n"
                                       "1:1:1:1:1:100:120:4\n1:1:1:1:1:120:300:1\n"
                                       "3:1:1:1:1:100:120:2:1:2:1:90:200:8:0\n2:1:1:1:1:110:6000:0\n"),
                             work);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->messages.size(), 1U);
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].place.line, 5U);  // the event, which runs backwards
}

TEST(Paraver, MapsToTheTraceLevel) {
  TemporaryDirectory scratch;
  std::ofstream(scratch / "a.prv") << kTrace;
  std::ofstream(scratch / "a.pcf") << "STATES\n1 Running\n\nEVENT_TYPE\n0 6000 Phase\nVALUES\n7 solve\n8 write\n";
  std::ofstream(scratch / "a.row") << "LEVEL THREAD SIZE 3\none\ntwo\nthree\n";
  auto dataset = open_dataset(scratch / "a.prv", make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_EQ((*trace)->definitions().system.location(LocationId(2)).name, "three");
  auto merged = MergedEvents::over(**trace);
  ASSERT_TRUE(merged.ok());
  std::string text;
  while (const Event* event = merged->next()) {
    text += std::to_string(event->time_ns) + ' ' + std::string(to_string(event->kind)) + ' ' +
            std::string((*trace)->name(*event)) + ' ' + (event->has_value ? std::to_string(event->value) : "-") + '\n';
  }
  EXPECT_EQ(text,
            "0 state state 1\n50 state state 0\n50 state Phase 7\n50 state type 6001 -\n50 state state -\n"
            "100 state state -\n110 send send 0\n300 state state 0\n300 recv receive 0\n400 state Phase 8\n"
            "400 state state -\n");
  std::size_t messages = 0;
  ASSERT_TRUE((*trace)
                  ->messages({},
                             [&](const Message& message) {
                               ++messages;
                               EXPECT_EQ(message.from_rank, 0);
                               EXPECT_EQ(message.to_rank, 1);
                               EXPECT_EQ(message.bytes, 4096);
                               return true;
                             })
                  .ok());
  EXPECT_EQ(messages, 1U);
}

// The line of a message says which ends belong together: the second of one tag may arrive first.
TEST(Paraver, MessagesOfOneTagMayOvertakeEachOther) {
  TemporaryDirectory scratch;
  std::ofstream(scratch / "a.prv") << "#Paraver (01/02/20 at 10:11):500_ns:1(4):1:2(2:1,1:1)\n"
                                      "3:1:1:1:1:10:10:3:1:2:1:20:400:7:9\n"
                                      "3:2:1:1:2:15:15:3:1:2:1:20:200:6:9\n"
                                      "3:1:1:1:1:30:30:3:1:2:1:40:300:8:9\n";
  auto dataset = open_dataset(scratch / "a.prv", make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  using Seen = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t>;
  const auto seen = [&](TimeWindow window) {
    std::vector<Seen> all;
    EXPECT_TRUE((*trace)
                    ->messages(window,
                               [&](const Message& one) {
                                 all.emplace_back(one.from.value, *one.sent_ns, *one.received_ns, one.bytes);
                                 return true;
                               })
                    .ok());
    return all;
  };
  EXPECT_EQ(seen({}), (std::vector<Seen>{{0, 10, 400, 7}, {1, 15, 200, 6}, {0, 30, 300, 8}}));
  EXPECT_EQ(seen({200, 300}), (std::vector<Seen>{{1, 15, 200, 6}}));
}

// To Paraver a thread is in state 0 as long as no record says otherwise, and of all states only 1 is useful work.
TEST(Paraver, ThreadsWithoutStatesAreIdle) {
  TemporaryDirectory scratch;
  std::ofstream(scratch / "a.prv") << "#Paraver (01/02/20 at 10:11):1000_ns:1(2):1:2(1:1,1:1)\n"
                                      "1:1:1:1:1:0:400:1\n1:1:1:1:1:400:1000:3\n"
                                      "2:2:1:2:1:100:6000:7\n2:2:1:2:1:900:6000:0\n";
  std::ofstream(scratch / "a.pcf") << "STATES\n0 Nothing\n1 Running\n3 Waiting a message\n";
  auto dataset = open_dataset(scratch / "a.prv", make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  auto profile = (*dataset)->profile();
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  const MetricId time = (*profile)->defs().find_metric("time");
  ASSERT_TRUE(time.valid());
  const std::map<std::string, double> own = test::own_by_region(**profile, time);
  EXPECT_DOUBLE_EQ(own.at("Running"), 400e-9);
  EXPECT_DOUBLE_EQ(own.at("Waiting a message"), 600e-9);
  EXPECT_DOUBLE_EQ(own.at("Nothing"), 800e-9);
  EXPECT_DOUBLE_EQ(own.count("State") > 0 ? own.at("State") : 0, 0);
  const auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok());
  const auto threads = analysis::thread_efficiencies(**trace, make_work());
  ASSERT_TRUE(threads.ok()) << threads.error().text();
  EXPECT_DOUBLE_EQ(threads->parallel, 0.4);
}

TEST(Paraver, StatesHaveNamesWithoutAnybodyWhoSaysThem) {
  TemporaryDirectory scratch;
  const auto useful = [&](const char* records, const char* names) {
    std::ofstream(scratch / "a.prv") << "#Paraver (01/02/20 at 10:11):1000_ns:1(1):1:1(1:1)\n" << records;
    std::filesystem::remove(scratch / "a.pcf");
    if (*names != 0) std::ofstream(scratch / "a.pcf") << names;
    auto dataset = open_dataset(scratch / "a.prv", make_work());
    EXPECT_TRUE(dataset.ok());
    const auto trace = (*dataset)->trace();
    EXPECT_TRUE(trace.ok());
    const auto threads = analysis::thread_efficiencies(**trace, make_work());
    EXPECT_TRUE(threads.ok());
    const auto& states = (*trace)->channels()[0].values;
    return std::pair(states.contains(4) ? states.at(4) : "", threads.ok() ? threads->parallel : -1);
  };
  using Found = std::pair<std::string, double>;
  EXPECT_EQ(useful("1:1:1:1:1:0:250:1\n1:1:1:1:1:250:1000:4\n", ""), Found("Blocking Send", 0.25));
  EXPECT_EQ(useful("1:1:1:1:1:0:250:1\n1:1:1:1:1:250:1000:4\n", "STATES\n1 Running\n4 Sending\n"),
            Found("Sending", 0.25));
  // Names alone say of nobody that it does not run.
  EXPECT_EQ(useful("2:1:1:1:1:0:6000:7\n2:1:1:1:1:1000:6000:0\n", "STATES\n1 Running\n"), Found("", 1));
}

TEST(Paraver, WindowsOfViews) {
  TemporaryDirectory scratch;
  ViewWriter writer(scratch / "out", true);
  const std::vector<View> views = {
      {"thread", {"one"}, {{13, "nOS-V subsystem of the ACTIVE thread", {}}, {7, "Flush ", {}}}}};
  ASSERT_TRUE(writer.begin(views).ok());
  ASSERT_TRUE(writer.end(views, 5).ok());
  auto blob = map_file(scratch / "out/cfg/thread/13-nos-v-subsystem-of-the-active-thread.cfg");
  ASSERT_TRUE(blob.ok()) << blob.error().text();
  EXPECT_TRUE(blob->starts_with("#ParaverCFG\n"));
  EXPECT_NE(blob->text().find("\nwindow_filter_module evt_type 1 13\n"), std::string_view::npos);
  EXPECT_NE(blob->text().find("\nwindow_name thread: nOS-V subsystem of the ACTIVE thread\n"), std::string_view::npos);
  EXPECT_TRUE(map_file(scratch / "out/cfg/thread/7-flush.cfg").ok());
}

TEST(Paraver, DamageIsReportedWithItsLine) {
  const Work work = make_work();
  auto file = read_prv(Blob::own("a.prv", kTrace + "2:1:1:9:1:5:1:1\nnonsense\n"), work);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->events.size(), 3U);
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].place.line, 7U);
  EXPECT_EQ(work->diagnostics.all()[0].count, 2U);
  EXPECT_FALSE(read_prv(Blob::own("a.prv", std::string("#Paraver (x):5:1:1:1(4000000000:1)\n")), make_work()).ok());
  std::mt19937 random(3);
  for (int round = 0; round < 1000; ++round) {
    std::string text = kTrace;
    text[random() % text.size()] ^= static_cast<char>(1U << random() % 8);
    auto flipped = read_prv(Blob::own("a.prv", text), make_work());
    if (!flipped.ok()) {
      EXPECT_TRUE(flipped.error().place().line.has_value() || flipped.error().place().file.empty());
    }
  }
}

}  // namespace
}  // namespace fathom::paraver
