#include "formats/paraver/trace_writer.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <fstream>

#include "formats/paraver/prv_file.hpp"
#include "formats/paraver/state_cursor.hpp"
#include "formats/registry.hpp"
#include "io/file.hpp"
#include "temporary_directory.hpp"

namespace fathom::paraver {
namespace {

class MadeStream : public EventStream {
 public:
  explicit MadeStream(std::span<const Event> events) : events_(events) {}
  Result<std::size_t> next(std::span<Event> out) override {
    const std::size_t count = std::min(out.size(), events_.size());
    std::copy_n(events_.begin(), count, out.begin());
    events_ = events_.subspan(count);
    return count;
  }

 private:
  std::span<const Event> events_;
};

// Two processes, defined in the wrong order of ranks; every kind of event once.
class MadeTrace : public Trace {
 public:
  MadeTrace() {
    SystemTree& tree = definitions_.system;
    SystemNode node;
    node.name = "host";
    const SystemNodeId host = tree.add(node);
    for (const int rank : {1, 0}) {
      SystemNode process;
      process.parent = host;
      process.kind = SystemKind::group;
      process.name = "rank " + std::to_string(rank);
      process.rank = rank;
      const SystemNodeId group = tree.add(process);
      SystemNode thread;
      thread.parent = group;
      thread.kind = SystemKind::location;
      thread.name = "thread\n0";
      tree.add_location(thread);
    }
    for (const char* name : {"MPI_Send", "MPI_Recv", "solve", "MPI_Bcast", "inner"}) {
      Region region;
      region.name = name;
      region.paradigm = std::string_view(name).starts_with("MPI") ? "mpi" : "user";
      definitions_.regions.push_back(region);
    }
    Metric cycles;
    cycles.name = "cycles";
    cycles.type = {ValueKind::i64, 0};
    Metric power;
    power.name = "power";
    power.type = {ValueKind::f64, 0};
    definitions_.metrics = {cycles, power};
    channels_ = {{"cpu", "CPU", false, {{0, "CPU 0"}, {1, "CPU 1"}}}};
    markers_ = {"phase"};
    communicators_ = {{"", {1, 0}, {}}};
    events_.resize(2);
    // Location 0 is rank 1.
    add(0, 1000, EventKind::enter, 2);
    add(0, 1010, EventKind::enter, 1);
    add(0, 1100, EventKind::recv, 1).peer = 0;
    events_[0].back().bytes = 64;
    events_[0].back().tag = 7;
    events_[0].back().communicator = CommunicatorId(0);
    add(0, 1100, EventKind::leave, 1);
    add(0, 0, EventKind::marker, 0).has_time = false;
    events_[0].back().value = -5;
    add(0, 1200, EventKind::leave, 2);
    // Location 1 is rank 0.
    add(1, 1005, EventKind::state, 0).value = 0;
    add(1, 1020, EventKind::enter, 2);
    add(1, 1030, EventKind::enter, 4);
    add(1, 1040, EventKind::enter, 0);
    add(1, 1040, EventKind::send, 0).peer = 1;
    events_[1].back().bytes = 64;
    events_[1].back().tag = 7;
    events_[1].back().communicator = CommunicatorId(0);
    add(1, 1050, EventKind::leave, 0);
    add(1, 1060, EventKind::leave, 4);
    add(1, 1070, EventKind::enter, 3);
    add(1, 1070, EventKind::collective, 3).bytes = 8;
    events_[1].back().value = 16;
    events_[1].back().peer = 0;
    events_[1].back().communicator = CommunicatorId(0);
    add(1, 1080, EventKind::leave, 3);
    add(1, 1090, EventKind::counter, 0).value = 123456789012345;
    add(1, 1090, EventKind::counter, 1).value = std::bit_cast<std::int64_t>(2.6);
    add(1, 1095, EventKind::state, 0).has_value = false;
    add(1, 1100, EventKind::leave, 2);
  }
  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow) const override {
    return std::unique_ptr<EventStream>(std::make_unique<MadeStream>(events_[location.index()]));
  }

  void add_what_is_lost() {
    add(0, 1300, EventKind::send, 0).peer = 1;  // nobody receives it
    add(0, 1301, EventKind::marker, 0).bytes = 100;
    add(0, 1302, EventKind::state, 0).value = -1;  // shown higher by one, as 0
    add(0, 1303, EventKind::marker, 77);
    add(0, 1304, EventKind::enter, 77);
    ContextTreeBuilder contexts;
    const auto outer = contexts.add(ContextTreeBuilder::kRoot, RegionId(2), 0);
    (void)contexts.add(outer, RegionId(4), 1);
    definitions_.contexts = std::move(contexts).build();
    add(0, 1305, EventKind::sample, 0);
    add(0, 1306, EventKind::sample, 1);
  }

 private:
  Event& add(std::size_t location, std::int64_t time, EventKind kind, std::uint32_t name) {
    Event event;
    event.location = LocationId(location);
    event.time_ns = time;
    event.kind = kind;
    event.name = name;
    return events_[location].emplace_back(event);
  }
  std::vector<std::vector<Event>> events_;
};

std::string read(const std::filesystem::path& path) {
  auto blob = map_file(path);
  return blob.ok() ? std::string(blob->text()) : "(missing)";
}

TEST(ParaverWriter, EveryKindOfEvent) {
  TemporaryDirectory scratch;
  const Work work = make_work();
  const auto status = write_trace(MadeTrace(), scratch / "made.prv", work);
  ASSERT_TRUE(status.ok()) << status.error().text();
  // Tasks follow the ranks: location 1 is task 1. Times count from 1000.
  EXPECT_EQ(read(scratch / "made.prv"),
            "#Paraver (01/01/70 at 00:00):00000000000000000200_ns:1(2):1:2(1:1,1:1),1\n"
            "c:1:1:2:2:1\n"
            "1:2:1:2:1:0:10:1\n"
            "2:2:1:2:1:0:90000002:3\n"
            "1:1:1:1:1:5:40:1\n"
            "2:1:1:1:1:5:91000001:1\n"
            "1:2:1:2:1:10:100:3\n"
            "2:2:1:2:1:10:90000001:2\n"
            "2:1:1:1:1:20:90000002:3\n"
            "2:1:1:1:1:30:90000002:5\n"
            "1:1:1:1:1:40:50:4\n"
            "2:1:1:1:1:40:90000001:1\n"
            "3:1:1:1:1:40:40:2:1:2:1:100:100:64:7\n"
            "1:1:1:1:1:50:70:1\n"
            "2:1:1:1:1:50:90000001:0\n"
            "2:1:1:1:1:60:90000002:3\n"
            "1:1:1:1:1:70:80:13\n"
            "2:1:1:1:1:70:90000001:4\n"
            "2:1:1:1:1:70:94000001:4:94000002:8:94000003:16:94000004:1:94000005:1\n"
            "1:1:1:1:1:80:100:1\n"
            "2:1:1:1:1:80:90000001:0\n"
            "2:1:1:1:1:90:42000000:123456789012345\n"
            "2:1:1:1:1:90:42000001:3\n"
            "2:1:1:1:1:95:91000001:0\n"
            "1:2:1:2:1:100:200:1\n"
            "2:2:1:2:1:100:90000001:0\n"
            "2:2:1:2:1:100:92000001:1:93000001:-5\n"
            "2:1:1:1:1:100:90000002:0\n"
            "2:2:1:2:1:200:90000002:0\n");
  EXPECT_EQ(read(scratch / "made.row"),
            "LEVEL CPU SIZE 2\n1.host\n2.host\n\nLEVEL NODE SIZE 1\nhost\n\nLEVEL TASK SIZE 2\nrank 0\nrank 1\n\n"
            "LEVEL THREAD SIZE 2\nrank 0 thread 0\nrank 1 thread 0\n");
  auto pcf = map_file(scratch / "made.pcf");
  ASSERT_TRUE(pcf.ok());
  const PcfNames names = read_pcf(*pcf);
  EXPECT_EQ(names.types.at(90000001), "mpi region");
  EXPECT_EQ(names.values.at(90000001).at(4), "MPI_Bcast");
  EXPECT_FALSE(names.values.at(90000001).contains(3));
  EXPECT_EQ(names.values.at(90000002).at(5), "inner");
  EXPECT_EQ(names.values.at(91000001).at(1), "CPU 0");
  EXPECT_EQ(names.values.at(91000001).at(0), "(none)");
  EXPECT_EQ(names.types.at(42000001), "power");
  EXPECT_EQ(names.values.at(92000001).at(1), "phase");
  EXPECT_EQ(names.values.at(94000004).at(1), "communicator 0");
  EXPECT_EQ(names.states.at(13), "Group Communication");
  // 2.6 is written as 3.
  const auto notes = work->diagnostics.all();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].id, "paraver.rounded_value");
}

// What has no place in a Paraver trace is counted, whatever it is.
TEST(ParaverWriter, LossesAreSaid) {
  TemporaryDirectory scratch;
  MadeTrace trace;
  trace.add_what_is_lost();
  const Work work = make_work();
  ASSERT_TRUE(write_trace(trace, scratch / "made.prv", work).ok());
  std::map<std::string, std::uint64_t> counts;
  EXPECT_TRUE(work->diagnostics.defective());  // so that --strict refuses
  for (const Diagnostic& note : work->diagnostics.all()) counts[std::string(note.id)] = note.count;
  EXPECT_EQ(counts["paraver.unmatched"], 1U);
  EXPECT_EQ(counts["paraver.marker_detail"], 1U);
  EXPECT_EQ(counts["paraver.zero_value"], 1U);
  EXPECT_EQ(counts["paraver.nameless"], 2U);
  EXPECT_EQ(counts["paraver.call_path"], 1U);
}

// A callback inside of an MPI call is still that call; the state of a deep stack is not looked for in all of it.
TEST(ParaverStates, DeepStacksTakeTimeByTheirDepth) {
  constexpr std::int64_t kDeep = 1'000'000;
  Definitions definitions;
  for (const char* name : {"solve", "MPI_Recv"}) definitions.regions.emplace_back().name = name;
  const RegionStates states(definitions);
  std::vector<Event> events;
  const auto add = [&](EventKind kind, std::uint32_t name) {
    Event event;
    event.kind = kind;
    event.time_ns = static_cast<std::int64_t>(events.size());
    event.name = name;
    events.push_back(event);
  };
  for (std::int64_t i = 0; i < kDeep; ++i) add(EventKind::enter, 0);
  add(EventKind::enter, 1);
  add(EventKind::enter, 0);
  add(EventKind::leave, 0);
  add(EventKind::leave, 1);
  for (std::int64_t i = 0; i < kDeep; ++i) add(EventKind::leave, 0);
  StateCursor cursor(std::make_unique<MadeStream>(events), states);
  std::vector<std::pair<State, std::int64_t>> found;
  StateInterval interval;
  while (cursor.next(interval)) found.emplace_back(interval.state, interval.end_ns - interval.begin_ns);
  EXPECT_EQ(found, (std::vector<std::pair<State, std::int64_t>>{
                       {State::running, kDeep}, {State::waiting_message, 3}, {State::running, kDeep}}));
}

TEST(ParaverWriter, OwnReaderUnderstandsIt) {
  TemporaryDirectory scratch;
  ASSERT_TRUE(write_trace(MadeTrace(), scratch / "made.prv", make_work()).ok());
  auto dataset = open_dataset(scratch / "made.prv", make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_EQ((*trace)->location_count(), 2U);
  EXPECT_EQ((*trace)->definitions().system.location(LocationId(1)).name, "rank 1 thread 0");
  std::size_t count = 0;
  ASSERT_TRUE((*trace)
                  ->messages({},
                             [&](const Message& message) {
                               ++count;
                               EXPECT_EQ(message.from_rank, 0);
                               EXPECT_EQ(message.to_rank, 1);
                               EXPECT_EQ(message.bytes, 64);
                               EXPECT_EQ(message.sent_ns, 40);
                               EXPECT_EQ(message.received_ns, 100);
                               return true;
                             })
                  .ok());
  EXPECT_EQ(count, 1U);
  // Kinds that last no longer than a moment are what they were.
  std::vector<Event> points;
  for (std::size_t i = 0; i < 2; ++i) {
    auto stream = (*trace)->open(LocationId(i), {});
    ASSERT_TRUE(stream.ok());
    EventCursor cursor(*std::move(stream));
    while (const Event* event = cursor.next()) {
      const bool lasts = event->kind == EventKind::state;
      if (!lasts && event->kind != EventKind::send && event->kind != EventKind::recv) points.push_back(*event);
    }
  }
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0].kind, EventKind::collective);
  EXPECT_EQ((*trace)->name(points[0]), "MPI_Bcast");
  EXPECT_EQ(points[0].bytes, 8);
  EXPECT_EQ(points[0].value, 16);
  EXPECT_EQ(points[0].peer, 0);
  EXPECT_EQ((*trace)->communicators()[points[0].communicator.index()].name, "communicator 0");
  EXPECT_EQ((*trace)->communicators()[points[0].communicator.index()].ranks, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(points[1].kind, EventKind::counter);
  EXPECT_EQ((*trace)->name(points[1]), "cycles");
  EXPECT_EQ(points[1].value, 123456789012345);
  EXPECT_EQ((*trace)->name(points[2]), "power");
  EXPECT_EQ(points[2].value, 3);
  EXPECT_EQ(points[3].kind, EventKind::marker);
  EXPECT_EQ((*trace)->name(points[3]), "phase");
  EXPECT_EQ(points[3].value, -5);
  // The same format again is a copy of all three files.
  auto done = (*dataset)->rewrite(scratch / "copy.prv", {});
  ASSERT_TRUE(done.ok() && *done);
  for (const char* extension : {".prv", ".pcf", ".row"}) {
    EXPECT_EQ(read(scratch / (std::string("copy") + extension)), read(scratch / (std::string("made") + extension)));
  }
}

}  // namespace
}  // namespace fathom::paraver
