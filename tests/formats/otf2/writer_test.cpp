// Traces of other formats as archives: the official tools take them without a word, and reading them back gives the
// same events at the same times.
#include <bit>

#include "formats/otf2/event_counts.hpp"
#include "formats/otf2/mpi_names.hpp"
#include "formats/otf2/otf2_format.hpp"
#include "formats/otf2/trace_writer.hpp"
#include "otf2_cases.hpp"

namespace fathom::otf2 {
namespace {

// Without the library the writer says so before it looks at anything.
bool can_write() {
  class NoTrace : public Trace {
    [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId, TimeWindow) const override {
      return Error("has no events");
    }
  };
  TemporaryDirectory made;
  const auto tried = write_trace(NoTrace(), made / "empty.otf2", make_work());
  return tried.ok() || tried.error().what().find("without the OTF2 library") == std::string::npos;
}

template <class T>
std::vector<ChannelId> activity_of(const T& trace) {
  if constexpr (requires { trace.activity_channels(); }) {
    return {trace.activity_channels().begin(), trace.activity_channels().end()};
  } else {
    return {};
  }
}

// Silent and content.
void expect_accepted(const std::filesystem::path& anchor) {
  if (!has_program("otf2-print --version")) {
    std::puts("otf2-print is not here to judge");
    return;
  }
  TemporaryDirectory made;
  const std::string said = (made / "said").string();
  const int status = std::system(("otf2-print -Werror --silent " + anchor.string() + " >/dev/null 2>" + said).c_str());
  std::ifstream file(said);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(status, 0) << text;
  EXPECT_EQ(text, "");
}

// Events by location as the official bindings count them.
void expect_counted(const std::filesystem::path& anchor, const Archive& archive) {
  if (!has_program("/usr/bin/python3 -c 'import otf2'")) {
    std::puts("python3-otf2 is not here to judge");
    return;
  }
  // The bindings of 3.0.2 take the second group of an inter-communicator for its parent and give up.
  for (const CommDef& comm : archive.definitions.comms.all) {
    if (comm.inter) return;
  }
  TemporaryDirectory made;
  const std::string script =
      "import json, sys, otf2\n"
      "from collections import Counter\n"
      "counts = Counter()\n"
      "with otf2.reader.open(sys.argv[1]) as trace:\n"
      "    for location, event in trace.events:\n"
      "        counts['%d %s' % (location._ref, type(event).__name__)] += 1\n"
      "json.dump(counts, open(sys.argv[2], 'w'))\n";
  std::ofstream(made / "count.py") << script;
  const std::string command =
      "/usr/bin/python3 " + (made / "count.py").string() + ' ' + anchor.string() + ' ' + (made / "counts").string();
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto wanted = read_json(made / "counts");
  const auto counts = count_events(archive);
  ASSERT_TRUE(counts.ok());
  std::map<std::string, std::uint64_t> found;
  for (std::size_t i = 0; i < counts->size(); ++i) {
    for (std::size_t type = 0; type < 256; ++type) {
      const RecordKind* const kind = find_event_kind(static_cast<std::uint8_t>(type));
      if ((*counts)[i].by_type[type] == 0) continue;
      ASSERT_NE(kind, nullptr);
      found[std::to_string(archive.definitions.locations.all[i].id) + ' ' + std::string(kind->name)] =
          (*counts)[i].by_type[type];
    }
  }
  EXPECT_EQ(found, (wanted.get<std::map<std::string, std::uint64_t>>()));
}

std::int64_t start_of(const Trace& trace) {
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < trace.location_count(); ++i) {
    for (const Event& event : all_events(trace, LocationId(i))) {
      if (!event.has_time) continue;
      start = std::min(start, event.time_ns);
      break;
    }
  }
  return start == std::numeric_limits<std::int64_t>::max() ? 0 : start;
}

bool is_activity(const Trace& trace, const Event& event) {
  if (event.kind != EventKind::state) return false;
  for (const ChannelId channel : activity_of(trace)) {
    if (channel.value == event.name) return true;
  }
  return false;
}

// Kinds as an archive can have them.
EventKind kept_kind(const Trace& trace, const Event& event) {
  if (event.kind != EventKind::state) return event.kind;
  if (!is_activity(trace, event)) return EventKind::counter;
  return event.has_value ? EventKind::enter : EventKind::leave;
}

void expect_same(const Trace& wanted, const Trace& found) {
  ASSERT_GE(found.location_count(), wanted.location_count());
  const std::int64_t start = start_of(wanted);
  for (std::size_t i = 0; i < wanted.location_count(); ++i) {
    const auto before = all_events(wanted, LocationId(i));
    auto after = all_events(found, LocationId(i));
    ASSERT_EQ(before.size(), after.size()) << "location " << i;
    std::int64_t now = start;
    for (std::size_t k = 0; k < before.size(); ++k) {
      const Event& a = before[k];
      const Event& b = after[k];
      if (a.has_time) now = std::max(now, a.time_ns);
      ASSERT_EQ(b.time_ns, now - start) << "location " << i << " event " << k;
      ASSERT_EQ(kept_kind(wanted, a), b.kind) << "location " << i << " event " << k;
      switch (a.kind) {
        case EventKind::enter:
        case EventKind::leave:
          if (a.name != Event::kNoName) {
            ASSERT_EQ(wanted.name(a), found.name(b));
          }
          break;
        case EventKind::send:
        case EventKind::recv:
          EXPECT_EQ(a.tag, b.tag);
          EXPECT_EQ(std::max<std::int64_t>(a.bytes, 0), b.bytes);
          EXPECT_EQ(a.peer < 0, b.peer < 0);
          if (a.peer >= 0) {
            EXPECT_EQ(a.peer, b.peer);
          }
          break;
        case EventKind::collective:
          EXPECT_EQ(a.bytes, b.bytes);
          EXPECT_EQ(a.value, b.value);
          // The root of an inter-communicator's collective may be in the other group: an archive cannot say so, which
          // is told.
          if (a.communicator.valid() && !wanted.communicators()[a.communicator.index()].remote_ranks.empty()) break;
          EXPECT_EQ(a.peer < 0, b.peer < 0);
          if (a.peer >= 0) {
            EXPECT_EQ(a.peer, b.peer);
          }
          break;
        case EventKind::sample:
          EXPECT_EQ(wanted.name(a), found.name(b));
          if (a.name != Event::kNoName) {
            EXPECT_EQ(wanted.definitions().path(a.context()), found.definitions().path(b.context()));
          }
          break;
        case EventKind::counter:
          EXPECT_EQ(wanted.name(a), found.name(b));
          EXPECT_EQ(a.value, b.value);
          break;
        case EventKind::marker:
          EXPECT_EQ(wanted.name(a), found.name(b));
          EXPECT_EQ(a.value, b.value);
          break;
        case EventKind::state:
          if (!is_activity(wanted, a) && a.has_value) {
            EXPECT_EQ(wanted.name(a), found.name(b));
            EXPECT_EQ(a.value, b.value);
          }
          break;
        default:
          break;
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

void round_trip(const Trace& trace, bool counted = true) {
  TemporaryDirectory made;
  const Work work = make_work();
  const auto anchor = made / "out.otf2";
  const auto written = write_trace(trace, anchor, work);
  ASSERT_TRUE(written.ok()) << written.error().text();
  expect_accepted(anchor);
  const Work reading = make_work();
  const auto archive = open_archive(anchor, reading);
  ASSERT_NE(archive, nullptr);
  for (std::size_t i = 0; i < archive->definitions.locations.size(); ++i) {
    const auto counts = count_events(*archive);
    EXPECT_EQ(archive->definitions.locations.all[i].events, (*counts)[i].events);
  }
  if (counted) expect_counted(anchor, *archive);
  const auto again = Otf2Trace::make(archive);
  ASSERT_TRUE(again.ok()) << again.error().text();
  expect_same(trace, **again);
  for (const Diagnostic& diagnostic : reading->diagnostics.all()) {
    EXPECT_LT(diagnostic.severity, Severity::warning) << diagnostic.id << ": " << diagnostic.text;
  }
}

class Otf2Writer : public testing::TestWithParam<const char*> {};

TEST_P(Otf2Writer, OtherTraces) {
  if (!can_write()) GTEST_SKIP() << "built without the OTF2 library";
  std::string text = GetParam();
  const bool shared = text.starts_with("shared:");
  const std::filesystem::path path =
      shared ? std::filesystem::path(FATHOM_SHARED_DATA) / text.substr(7) : std::filesystem::path(text);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs " << path;
  auto dataset = open_dataset(path, make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  round_trip(**trace);
}

INSTANTIATE_TEST_SUITE_P(Formats, Otf2Writer,
                         testing::Values("examples/ring/ring.meta", "examples/ovni", "shared:dumpi/coll4",
                                         "shared:dumpi/comms4", "shared:dumpi/types4", "shared:dumpi/misc4",
                                         "shared:dumpi/rma3", "shared:dumpi/threads2", "shared:dumpi/ring2_filter",
                                         "shared:dumpi/ring3_cpu_nostatus", "shared:hpctoolkit/b-small",
                                         "shared:hpctoolkit/b-pingpong-mpi", "shared:hpctoolkit/b-loops-cuda",
                                         "shared:otf2/kinds", "shared:otf2/eztrace_mpi4", "shared:otf2/mi300"),
                         [](const auto& one) {
                           std::string name = one.param;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

TEST(Otf2Writing, ParaverTraces) {
  if (!can_write()) GTEST_SKIP() << "built without the OTF2 library";
  TemporaryDirectory made;
  auto ring = open_dataset("examples/ring/ring.meta", make_work());
  ASSERT_TRUE(ring.ok());
  const auto paraver = find_format("paraver");
  ASSERT_TRUE((*paraver)->write(**ring, made / "ring.prv", {}).ok());
  auto dataset = open_dataset(made / "ring.prv", make_work());
  ASSERT_TRUE(dataset.ok());
  const auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok());
  round_trip(**trace);
}

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

// What real traces seldom have: times before zero, none at all, peers that are not there, an inter-communicator, names
// with anything in them, every meaning of a marker.
class MadeTrace : public Trace {
 public:
  MadeTrace() {
    for (const int rank : {3, 0}) {
      SystemNode process;
      process.kind = SystemKind::group;
      process.rank = rank;
      const SystemNodeId group = definitions_.system.add(process);
      for (const char* type : {"thread", "gpu stream"}) {
        SystemNode thread;
        thread.parent = group;
        thread.type = type;
        thread.name = "a \"name\"\nwith lines, \xc3\xa4";
        definitions_.system.add_location(thread);
      }
    }
    for (const char* name :
         {"MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Bcast", "work", "MPI_Neighbor_alltoall", ""}) {
      Region region;
      region.name = name;
      region.begin_line = 7;
      definitions_.regions.push_back(region);
    }
    Metric whole;
    whole.name = "whole";
    whole.type = {ValueKind::u64, 0};
    Metric real;
    real.name = "real";
    real.type = {ValueKind::f64, 0};
    definitions_.metrics = {whole, real};
    channels_ = {{"cpu", "CPU", false, {{-3, "none"}, {1, "CPU 1"}}}};
    markers_ = {"put", "get", "read", "write", "open", "lock", "note"};
    meanings_ = {MarkerMeaning::put,  MarkerMeaning::get,  MarkerMeaning::read, MarkerMeaning::write,
                 MarkerMeaning::open, MarkerMeaning::lock, MarkerMeaning::none};
    for (const MarkerMeaning meaning : {MarkerMeaning::update, MarkerMeaning::unlock, MarkerMeaning::task_create,
                                        MarkerMeaning::task_switch, MarkerMeaning::task_end, MarkerMeaning::fork,
                                        MarkerMeaning::join, MarkerMeaning::gap_begin, MarkerMeaning::gap_end}) {
      markers_.push_back("marker " + std::to_string(markers_.size()));
      meanings_.push_back(meaning);
    }
    handles_ = {{"out", "/tmp/out"}};
    communicators_ = {
        {"MPI_COMM_WORLD", {0, 1, 2, 3}, {}}, {"odd", {3, 1}, {}}, {"bridge", {0, 2}, {3, 1}}, {"?", {}, {}}};
    ContextTreeBuilder builder;
    const auto root = builder.add(ContextTreeBuilder::kRoot, RegionId(4), 10);
    builder.add(root, RegionId(0), 11, 33);
    definitions_.contexts = std::move(builder).build();
    events_.resize(4);
    add(0, -5000, EventKind::enter, 4);
    add(0, -4000, EventKind::enter, 1).record = 100;
    add(0, -3990, EventKind::leave, 1);
    add(0, -3900, EventKind::enter, 0).record = 101;
    message(0, -3890, EventKind::send, 0, 1, 1, 64).record = 101;
    add(0, -3880, EventKind::leave, 0);
    add(0, -100, EventKind::enter, 2);
    message(0, -50, EventKind::recv, 2, 0, 2, 128).origin = 100;
    add(0, 0, EventKind::complete, 2).origin = 101;
    events_[0].back().has_time = false;
    add(0, 10, EventKind::complete, 2).origin = 999;
    message(0, 20, EventKind::send, 4, -1, 0, 1);
    message(0, 21, EventKind::recv, 4, -2, 1, 2);
    message(0, 22, EventKind::send, 4, 1, 1, 8);
    message(0, 23, EventKind::send, 4, 3, 3, 9);
    add(0, 30, EventKind::leave, 2);
    add(0, 40, EventKind::enter, 3);
    add(0, 41, EventKind::counter, 0).value = -1;
    message(0, 50, EventKind::collective, 3, 3, 0, 16).value = 17;
    add(0, 60, EventKind::leave, 3);
    add(0, 61, EventKind::enter, 3);
    add(0, 62, EventKind::leave, 3);
    message(0, 63, EventKind::collective, 5, -1, 1, 0).value = 5;
    add(0, 70, EventKind::counter, 1).value = std::bit_cast<std::int64_t>(-1.5);
    add(0, 71, EventKind::state, 0).value = 1;
    add(0, 72, EventKind::state, 0).has_value = false;
    add(0, 73, EventKind::sample, 1);
    add(0, 74, EventKind::sample, Event::kNoName);
    add(0, 80, EventKind::leave, 4);
    // Rank 0 is location 2.
    add(2, 5, EventKind::marker, 0).peer = 3;
    events_[2].back().record = 1;
    events_[2].back().bytes = 4096;
    add(2, 6, EventKind::complete, 4).origin = 1;
    add(2, 7, EventKind::marker, 2).record = 2;
    events_[2].back().bytes = 10;
    add(2, 8, EventKind::complete, 4).origin = 2;
    events_[2].back().bytes = 9;
    add(2, 9, EventKind::marker, 6).value = -77;
    message(2, 10, EventKind::send, 4, 1, 2, 3);
    add(2, 11, EventKind::enter, Event::kNoName);
    add(2, 12, EventKind::leave, Event::kNoName);
    add(2, 13, EventKind::marker, 4);
    add(2, 14, EventKind::marker, 5).value = 12;
    message(2, 15, EventKind::marker, 6, 3, 0, 7);  // a note with more than a value
    // Everything else that a marker may mean, on rank 0's stream.
    add(3, 5, EventKind::marker, 7).peer = 3;
    events_[3].back().record = 3;
    events_[3].back().bytes = 8;
    events_[3].back().value = 16;
    events_[3].back().communicator = CommunicatorId(0);
    add(3, 6, EventKind::complete, 4).origin = 3;
    message(3, 7, EventKind::marker, 5, 3, 1, 0).value = 9;
    message(3, 8, EventKind::marker, 8, 3, 1, 0).value = 9;
    for (const std::uint32_t marker : {9U, 10U, 11U}) {
      Event& task = add(3, marker, EventKind::marker, marker);
      task.value = std::int64_t{2} << 48 | std::int64_t{3} << 32 | 7;
      task.communicator = CommunicatorId(1);
    }
    add(3, 12, EventKind::marker, 12).value = 4;
    add(3, 13, EventKind::marker, 13);
    add(3, 14, EventKind::marker, 14).value = 20;
    add(3, 30, EventKind::marker, 14).has_value = false;
    add(3, 31, EventKind::marker, 15).has_value = false;
  }
  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow) const override {
    return std::unique_ptr<EventStream>(std::make_unique<MadeStream>(events_[location.index()]));
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
  Event& message(std::size_t location, std::int64_t time, EventKind kind, std::uint32_t name, std::int32_t peer,
                 std::uint32_t communicator, std::int64_t bytes) {
    Event& event = add(location, time, kind, name);
    event.peer = peer;
    event.communicator = CommunicatorId(communicator);
    event.bytes = bytes;
    event.tag = 5;
    return event;
  }
  std::vector<std::vector<Event>> events_;
};

TEST(Otf2Writing, EveryKindOfEvent) {
  if (!can_write()) GTEST_SKIP() << "built without the OTF2 library";
  const MadeTrace trace;
  TemporaryDirectory made;
  const Work work = make_work();
  ASSERT_TRUE(write_trace(trace, made / "new", work).ok());  // no ending: a directory as Score-P makes them
  const auto anchor = made / "new/traces.otf2";
  expect_accepted(anchor);
  EXPECT_TRUE(has_diagnostic(work, "otf2.event_without_time"));
  EXPECT_TRUE(has_diagnostic(work, "otf2.missing_ranks"));
  EXPECT_TRUE(has_diagnostic(work, "otf2.unknown_operation"));
  const auto told = work->diagnostics.all();
  EXPECT_TRUE(std::any_of(told.begin(), told.end(), [](const Diagnostic& one) {
    return one.id == "otf2.lost_peer" && one.severity == Severity::data_loss && one.count == 1;  // to nobody
  }));
  const auto archive = open_archive(anchor);
  ASSERT_NE(archive, nullptr);
  EXPECT_EQ(archive->definitions.locations.size(), 6U);  // and two ranks that are not recorded
  expect_counted(anchor, *archive);
  const auto again = Otf2Trace::make(archive);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->communicators()[2].remote_ranks, (std::vector<std::int32_t>{3, 1}));
  const auto before = all_events(trace, LocationId(0));
  const auto after = all_events(**again, LocationId(0));
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (before[k].has_time) {
      EXPECT_EQ(before[k].time_ns + 5000, after[k].time_ns) << k;
    }
    if (before[k].kind == EventKind::state) continue;
    EXPECT_EQ(before[k].kind, after[k].kind) << k;
    if (before[k].kind == EventKind::send || before[k].kind == EventKind::recv) {
      EXPECT_EQ(std::max(before[k].peer, -1), std::max(after[k].peer, -1)) << k;
    }
  }
  // The receive that was posted before knows when.
  EXPECT_EQ(after[7].kind, EventKind::recv);
  EXPECT_EQ(after[7].value, 1000);
  EXPECT_NE(after[8].origin, Event::kNoRecord);
  const auto others = all_events(**again, LocationId(2));
  ASSERT_EQ(others.size(), 11U);
  EXPECT_EQ((*again)->meaning(others[0]), MarkerMeaning::put);
  EXPECT_EQ(others[0].bytes, 4096);
  EXPECT_EQ(others[0].peer, 3);
  EXPECT_EQ(others[1].kind, EventKind::complete);
  EXPECT_EQ(others[1].origin, others[0].record);
  EXPECT_EQ((*again)->meaning(others[2]), MarkerMeaning::read);
  EXPECT_EQ(others[3].bytes, 9);
  EXPECT_EQ((*again)->handles()[0].file, "/tmp/out");
  EXPECT_TRUE(has_diagnostic(work, "otf2.marker_detail"));  // of the note
  // What markers mean has records of its own, with all that they tell.
  const auto wanted = all_events(trace, LocationId(3));
  const auto meant = all_events(**again, LocationId(3));
  ASSERT_EQ(meant.size(), wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    EXPECT_EQ(meant[k].kind, wanted[k].kind) << k;
    EXPECT_EQ(meant[k].time_ns, wanted[k].time_ns + 5000) << k;
    if (wanted[k].kind != EventKind::marker) continue;
    const MarkerMeaning meaning = trace.meaning(wanted[k]);
    EXPECT_EQ((*again)->meaning(meant[k]), meaning) << k;
    EXPECT_EQ(meant[k].peer, wanted[k].peer) << k;
    EXPECT_EQ(meant[k].bytes, wanted[k].bytes) << k;
    EXPECT_EQ(meant[k].communicator, wanted[k].communicator) << k;
    EXPECT_EQ(meant[k].has_value, wanted[k].has_value) << k;
    const std::int64_t shift = meaning == MarkerMeaning::gap_begin && wanted[k].has_value ? 5000 : 0;
    EXPECT_EQ(meant[k].value, wanted[k].value + shift) << k;
  }
}

TEST(Otf2Writing, NothingIsOverwrittenThatIsNoArchive) {
  if (!can_write()) GTEST_SKIP() << "built without the OTF2 library";
  const MadeTrace trace;
  TemporaryDirectory made;
  std::filesystem::create_directory(made / "run");
  std::ofstream(made / "run/notes.txt") << "mine";
  EXPECT_FALSE(write_trace(trace, made / "run.otf2", make_work()).ok());
  EXPECT_FALSE(write_trace(trace, made / "run", make_work()).ok());
  EXPECT_TRUE(std::filesystem::exists(made / "run/notes.txt"));
  // An older archive is replaced, and nothing else is left behind.
  ASSERT_TRUE(write_trace(trace, made / "again.otf2", make_work()).ok());
  ASSERT_TRUE(write_trace(trace, made / "again.otf2", make_work()).ok());
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(made.path())) ++entries;
  EXPECT_EQ(entries, 4U);  // run, again, again.def, again.otf2
}

TEST(Otf2Writing, TheSameArchiveUnderAnotherName) {
  if (!has_data()) GTEST_SKIP() << "needs " << data_directory();
  TemporaryDirectory made;
  auto dataset = open_dataset(data_directory() / "kinds", make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto done = (*dataset)->rewrite(made / "copy.otf2", {});
  ASSERT_TRUE(done.ok() && *done);
  expect_accepted(made / "copy.otf2");
  const auto bytes = [](const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  EXPECT_EQ(bytes(made / "copy/0.evt"), bytes(data_directory() / "kinds/traces/0.evt"));
  EXPECT_EQ(bytes(made / "copy.marker"), bytes(data_directory() / "kinds/traces.marker"));
}

TEST(Otf2Names, MpiFunctions) {
  EXPECT_EQ(collective_operation("MPI_Allreduce"), std::uint8_t{11});
  EXPECT_EQ(collective_operation("MPI_Ibarrier"), std::uint8_t{0});
  EXPECT_EQ(collective_operation("mpi_bcast_"), std::uint8_t{1});
  EXPECT_FALSE(collective_operation("MPI_Send"));
  EXPECT_FALSE(collective_operation("reduce"));
  EXPECT_EQ(mpi_role("MPI_Send"), 28);
  EXPECT_EQ(mpi_role("MPI_Barrier"), 15);
  EXPECT_EQ(mpi_role("MPI_Reduce"), 24);
  EXPECT_EQ(mpi_role("MPI_File_write_all"), 27);
  EXPECT_EQ(mpi_role("MPI_Win_fence"), 29);
  EXPECT_EQ(mpi_role("MPI_Comm_rank"), 1);
}

}  // namespace
}  // namespace fathom::otf2
