// Rules of the emulator that no reference trace exercises: traces made for one rule each.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "formats/ovni/emulator.hpp"
#include "formats/ovni/tasks.hpp"
#include "formats/paraver/view_writer.hpp"
#include "made_trace.hpp"
#include "ovni_cases.hpp"

namespace fathom::ovni {
namespace {

using I32 = std::int32_t;
using U32 = std::uint32_t;

Metadata all_models(std::int64_t tid = 11) {
  Metadata metadata = made_metadata(tid);
  metadata.require = {{{"ovni", "1.1.0"},
                       {"nosv", "2.7.0"},
                       {"nanos6", "1.1.0"},
                       {"nodes", "1.0.0"},
                       {"mpi", "1.0.0"},
                       {"tampi", "1.0.0"},
                       {"kernel", "1.0.0"},
                       {"openmp", "1.2.1"}}};
  metadata.marks = {{3, "phase", "single", {{1, "first"}}}, {4, "level", "stack", {}}};
  metadata.can_breakdown = true;
  metadata.counters = {{{0, "cycles"}, {1, "instructions"}}};
  return metadata;
}

// A thread's events, one nanosecond apart.
class Script {
 public:
  explicit Script(std::uint64_t start = 1000) : clock_(start) {}
  Script& ev(std::string_view mcv, const Payload& payload = {}) {
    stream_.event(mcv, clock_++, payload);
    return *this;
  }
  Script& at(std::uint64_t clock) {
    clock_ = clock;
    return *this;
  }
  Script& x(I32 cpu = 0) { return ev("OHx", Payload().add(cpu).add(I32{-1}).add(std::uint64_t{0})); }
  Script& e() { return ev("OHe"); }
  Script& type(std::string_view mcv, U32 id, std::string_view label) {
    stream_.jumbo(mcv, clock_++, Payload().add(id).text(label));
    return *this;
  }
  Script& jumbo(std::string_view mcv, const Payload& payload) {
    stream_.jumbo(mcv, clock_++, payload);
    return *this;
  }
  Script& two(std::string_view mcv, U32 a, U32 b) { return ev(mcv, Payload().add(a).add(b)); }
  Script& one(std::string_view mcv, U32 a) { return ev(mcv, Payload().add(a)); }
  Script& mark(std::string_view mcv, std::int64_t value, I32 type) { return ev(mcv, Payload().add(value).add(type)); }
  [[nodiscard]] const std::string& bytes() const { return stream_.bytes(); }

 private:
  StreamBuilder stream_;
  std::uint64_t clock_;
};

struct Made {
  std::vector<std::pair<Metadata, Script>> threads;
  EmulationOptions options;
  std::string offsets;  // clock-offsets.txt
};

// "" when accepted, else the message; `files` get the named views.
std::string emulate_made(const Made& made, std::map<std::string, std::string>* files = nullptr) {
  TemporaryDirectory scratch;
  for (const auto& [metadata, script] : made.threads) {
    const auto directory =
        scratch / ("trace/thread." + metadata.loom.value_or("none").substr(0, 40) + "." +
                   std::to_string(metadata.pid.value_or(0)) + "." + std::to_string(metadata.tid.value_or(0)));
    std::filesystem::create_directories(directory);
    std::ofstream(directory / "stream.json", std::ios::binary) << to_stream_json(metadata);
    std::ofstream(directory / "stream.obs", std::ios::binary) << script.bytes();
  }
  if (!made.offsets.empty()) std::ofstream(scratch / "trace/clock-offsets.txt") << made.offsets;
  const Work work = make_work();
  auto trace = open_native(scratch / "trace", work);
  if (!trace.ok()) return trace.error().text();
  if (files == nullptr) {
    NullSink nowhere;
    const auto status = emulate(*trace, made.options, nowhere, work);
    return status.ok() ? "" : status.error().text();
  }
  paraver::ViewWriter writer(scratch / "out");
  const auto status = emulate(*trace, made.options, writer, work);
  for (auto& [name, text] : *files) text = expected_text(scratch / "out" / name).value_or("(missing)");
  return status.ok() ? "" : status.error().text();
}

std::string run(const Script& script, const Metadata& metadata = all_models(), EmulationOptions options = {}) {
  return emulate_made({{{metadata, script}}, options, ""});
}

#define EXPECT_ACCEPTED(...) EXPECT_EQ(__VA_ARGS__, "")
#define EXPECT_REFUSED(words, ...)                                                   \
  do {                                                                               \
    const std::string said = __VA_ARGS__;                                            \
    EXPECT_NE(said.find(words), std::string::npos) << "'" << words << "': " << said; \
  } while (false)

TEST(OvniRules, ThreadStates) {
  EXPECT_ACCEPTED(run(Script().x().e()));
  EXPECT_ACCEPTED(run(Script().x().e().x().e()));
  EXPECT_ACCEPTED(run(Script().x().ev("OHc").e()));
  EXPECT_ACCEPTED(run(Script().x().ev("OHc").ev("OHp").ev("OHw").ev("OHr").e()));
  EXPECT_REFUSED("is Warming", run(Script().x().ev("OHp").ev("OHw").ev("OHw")));
  EXPECT_REFUSED("has a CPU already", run(Script().x().ev("OHp").x()));
  EXPECT_REFUSED("Warming", run(Script().x().ev("OHp").ev("OHw").e()));
  EXPECT_REFUSED("no CPU with index -2", run(Script().x(-2)));
  EXPECT_ACCEPTED(run(Script().x(-1).e()));
  EXPECT_REFUSED("payload has 2 bytes", run(Script().ev("OHx", Payload().add(std::int16_t{0}))));
}

TEST(OvniRules, Affinity) {
  EXPECT_ACCEPTED(run(Script().x().ev("OAs", Payload().add(I32{1})).e()));
  EXPECT_ACCEPTED(run(Script().x().ev("OAs", Payload().add(I32{0})).e()));
  EXPECT_REFUSED("payload has 8 bytes, expected 4", run(Script().x().two("OAs", 1, 0)));
  EXPECT_REFUSED("not active", run(Script().x().ev("OHp").ev("OAs", Payload().add(I32{1}))));
  EXPECT_REFUSED("payload has 4 bytes, expected 8", run(Script().x().one("OAr", 1)));
  EXPECT_REFUSED("no thread 99", run(Script().x().two("OAr", 1, 99)));
  // Another thread that is paused may be moved, but not to where it is.
  const auto remote = [](U32 cpu) {
    Made made;
    made.threads = {{all_models(11), Script(1000).x(0).ev("OHp").at(1500).ev("OHr").e()},
                    {all_models(12), Script(1100).x(1).two("OAr", cpu, 11).e()}};
    return emulate_made(made);
  };
  EXPECT_ACCEPTED(remote(1));
  EXPECT_REFUSED("on this CPU already", remote(0));
  // A running one cannot come to a CPU where another runs.
  Made busy;
  busy.threads = {{all_models(11), Script(1000).x(0).at(1500).e()},
                  {all_models(12), Script(1100).x(1).two("OAr", 1, 11).e()}};
  EXPECT_REFUSED("2 threads running", emulate_made(busy));
}

// A thread that is paused and moved is found in another process of the loom, too.
TEST(OvniRules, RemoteAffinityAcrossProcesses) {
  Metadata other = all_models(21);
  other.pid = 20;
  Made made;
  made.threads = {{all_models(11), Script(1000).x(0).ev("OHp").at(1500).ev("OHr").e()},
                  {other, Script(1100).x(1).two("OAr", 1, 11).e()}};
  std::map<std::string, std::string> files{{"thread.prv", ""}};
  EXPECT_EQ(emulate_made(made, &files), "");
  EXPECT_NE(files["thread.prv"].find("2:0:1:1:1:101:6:2\n"), std::string::npos) << files["thread.prv"];
}

TEST(OvniRules, StatesThatModelsNeed) {
  for (const char* mcv : {"6W[", "VSh"}) {
    SCOPED_TRACE(mcv);
    EXPECT_ACCEPTED(run(Script().x().ev("OHc").ev(mcv).e()));
    EXPECT_REFUSED("not active", run(Script().x().ev("OHp").ev(mcv)));
    EXPECT_REFUSED("not active", run(Script().ev(mcv)));
  }
  for (const char* mcv : {"DR[", "MS[", "TCi", "PBj"}) {
    SCOPED_TRACE(mcv);
    EXPECT_ACCEPTED(run(Script().x().ev(mcv).e()));
    EXPECT_REFUSED("not running but Cooling", run(Script().x().ev("OHc").ev(mcv)));
  }
}

TEST(OvniRules, OutOfTheCpu) {
  EXPECT_ACCEPTED(run(Script().x().ev("KCO").ev("KCI").ev("OB.").e()));
  EXPECT_ACCEPTED(run(Script().x().ev("KCO").ev("6W[").ev("MS[").ev("KCI").e()));
  EXPECT_REFUSED("out of the CPU", run(Script().x().ev("KCO").ev("OB.")));
  EXPECT_REFUSED("out of the CPU", run(Script().x().ev("KCO").ev("VSh")));
  EXPECT_REFUSED("empty stack", run(Script().x().ev("KCI")));
}

TEST(OvniRules, ObsoleteAndIgnoredEvents) {
  EXPECT_ACCEPTED(run(Script().x().ev("OCn").ev("6TC").ev("VHa").ev("VHA").ev("6t[").ev("6t]").e()));
  EXPECT_ACCEPTED(run(Script().x().ev("PBs").ev("PBS").ev("VSr").ev("VSs").ev("VS@").e()));
  EXPECT_ACCEPTED(run(Script().x().ev("OUj").ev("OU?").e()));
  EXPECT_REFUSED("no such event", run(Script().x().ev("OX?")));
  EXPECT_REFUSED("unknown model", run(Script().x().ev("Z??")));
}

TEST(OvniRules, Marks) {
  EXPECT_ACCEPTED(run(Script().x().mark("OM=", 1, 3).mark("OM=", 1, 3).mark("OM=", -7, 3).e()));
  EXPECT_ACCEPTED(run(Script().x().mark("OM[", 5, 4).mark("OM[", 5, 4).mark("OM]", 5, 4).mark("OM]", 5, 4).e()));
  EXPECT_REFUSED("cannot pop 6", run(Script().x().mark("OM[", 5, 4).mark("OM]", 6, 4)));
  EXPECT_REFUSED("is a stack channel", run(Script().x().mark("OM=", 5, 4)));
  EXPECT_REFUSED("is a single channel", run(Script().x().mark("OM[", 5, 3)));
  EXPECT_REFUSED("value 0", run(Script().x().mark("OM=", 0, 3)));
  EXPECT_REFUSED("not defined", run(Script().x().mark("OM=", 1, 9)));
  EXPECT_REFUSED("expected 12", run(Script().x().ev("OM=", Payload().add(std::int64_t{1}))));
  const auto with = [](const MarkType& second) {
    Metadata other = all_models(12);
    other.marks = {second};
    Made made;
    made.threads = {{all_models(11), Script(1000).x(0).e()}, {other, Script(2000).x(1).e()}};
    return emulate_made(made);
  };
  EXPECT_ACCEPTED(with({3, "phase", "single", {{1, "first"}, {2, "second"}}}));
  EXPECT_REFUSED("differs", with({3, "phase", "stack", {}}));
  EXPECT_REFUSED("differs", with({3, "Phase", "single", {}}));
  EXPECT_REFUSED("two labels", with({3, "phase", "single", {{1, "other"}}}));
  Metadata longest = all_models();
  longest.marks[0].labels[0].second = std::string(511, 'a');
  EXPECT_ACCEPTED(run(Script().x().e(), longest));
  longest.marks[0].labels[0].second += 'a';
  EXPECT_REFUSED("512 bytes", run(Script().x().e(), longest));
}

TEST(OvniRules, Counters) {
  const auto values = [](std::size_t count) {
    Payload payload;
    for (std::size_t i = 0; i < count; ++i) payload.add(std::int64_t{0});
    return payload;
  };
  EXPECT_ACCEPTED(run(Script().x().jumbo("VWC", values(2)).e()));
  EXPECT_REFUSED("expected 16", run(Script().x().jumbo("VWC", values(1))));
  EXPECT_REFUSED("expected 16", run(Script().x().jumbo("VWC", values(3))));
  Metadata metadata = all_models();
  metadata.counters = {{{0, "a"}, {2, "b"}}};
  EXPECT_REFUSED("0 to n-1", run(Script().x().e(), metadata));
  metadata.counters->clear();
  for (int i = 0; i < 100; ++i) metadata.counters->emplace_back(i, "c");
  EXPECT_ACCEPTED(run(Script().x().jumbo("VWC", values(100)).e(), metadata));
  metadata.counters->emplace_back(100, "c");
  EXPECT_REFUSED("at most 100", run(Script().x().e(), metadata));
  Metadata other = all_models(12);
  other.counters = {{{0, "cycles"}, {1, "misses"}}};
  Made made;
  made.threads = {{all_models(11), Script(1000).x(0).e()}, {other, Script(2000).x(1).e()}};
  EXPECT_REFUSED("differ from those of another thread", emulate_made(made));
  made.threads[1].first.counters.reset();
  EXPECT_ACCEPTED(emulate_made(made));
}

TEST(OvniRules, NosvTasks) {
  const auto start = [] { return Script().x().type("VYc", 1, "t").two("VTc", 1, 1).two("VTC", 2, 1).two("VTc", 3, 1); };
  EXPECT_ACCEPTED(run(start().two("VTx", 1, 0).two("VTe", 1, 0).two("VTx", 1, 0).two("VTe", 1, 0).e()));
  EXPECT_ACCEPTED(run(start().two("VTx", 2, 1).two("VTe", 2, 1).two("VTx", 2, 9).two("VTe", 2, 9).e()));
  // A body of a parallel task runs once.
  EXPECT_REFUSED("is dead", run(start().two("VTx", 2, 1).two("VTe", 2, 1).two("VTx", 2, 1)));
  EXPECT_REFUSED("still running", run(start().two("VTx", 1, 0).two("VTx", 3, 0)));
  EXPECT_ACCEPTED(run(start()
                          .two("VTx", 1, 0)
                          .two("VTp", 1, 0)
                          .two("VTx", 3, 0)
                          .two("VTe", 3, 0)
                          .two("VTr", 1, 0)
                          .two("VTe", 1, 0)
                          .e()));
  // Only what is on top of the thread's stack can go on or end.
  EXPECT_REFUSED("not on top",
                 run(start().two("VTx", 1, 0).two("VTp", 1, 0).two("VTx", 3, 0).two("VTp", 3, 0).two("VTr", 1, 0)));
  EXPECT_REFUSED("is paused", run(start().two("VTx", 1, 0).two("VTp", 1, 0).two("VTe", 1, 0)));
  EXPECT_REFUSED("paused and cannot be executed", run(start().two("VTx", 1, 0).two("VTp", 1, 0).two("VTx", 1, 0)));
  EXPECT_REFUSED("does not exist", run(start().two("VTx", 9, 0)));
  EXPECT_REFUSED("cannot run", run(start().two("VTc", 0, 1).two("VTx", 0, 0)));
  EXPECT_REFUSED("payload has 4 bytes", run(start().one("VTx", 1)));
  EXPECT_REFUSED("exists already", run(start().two("VTc", 1, 1)));
  EXPECT_REFUSED("id 0", run(Script().x().type("VYc", 0, "t")));
}

TEST(OvniRules, Nanos6Tasks) {
  const auto start = [] { return Script().x().type("6Yc", 1, "t").two("6Tc", 1, 1).two("6Tc", 2, 1); };
  EXPECT_ACCEPTED(run(start().one("6Tx", 1).one("6Te", 1).e()));
  EXPECT_REFUSED("is dead", run(start().one("6Tx", 1).one("6Te", 1).one("6Tx", 1)));
  // A task over a running one needs another subsystem in between.
  EXPECT_REFUSED("is the value already", run(start().one("6Tx", 1).one("6Tx", 2)));
  std::map<std::string, std::string> files{{"thread.prv", ""}};
  EXPECT_EQ(
      emulate_made(
          {{{all_models(), start().one("6Tx", 1).ev("6U[").one("6Tx", 2).one("6Te", 2).ev("6U]").one("6Te", 1).e()}},
           {},
           ""},
          &files),
      "");
  // Task ids: the first, the second over it, the first again, none.
  std::string ids;
  std::istringstream lines(files["thread.prv"]);
  for (std::string line; std::getline(lines, line);) {
    if (const auto at = line.find(":35:"); at != std::string::npos) ids += line.substr(at + 4) + ' ';
  }
  EXPECT_EQ(ids, "0 1 2 1 0 ");
  EXPECT_REFUSED(
      "payload has 16 bytes, expected 8",
      run(Script().x().type("6Yc", 1, "t").ev("6Tc", Payload().add(U32{1}).add(U32{1}).add(std::uint64_t{0}))));
}

TEST(OvniRules, OpenmpTasks) {
  const auto begin = [] {
    return Script().x().type("POc", 1, "a").type("POc", 2, "b").two("PPc", 1, 1).two("PPc", 2, 2);
  };
  EXPECT_ACCEPTED(run(begin().one("PPx", 1).one("PPx", 2).one("PPe", 2).one("PPe", 1).one("PPx", 1).one("PPe", 1).e()));
  EXPECT_REFUSED("not on top", run(begin().one("PPx", 1).one("PPx", 2).one("PPe", 1)));
  EXPECT_ACCEPTED(run(begin().one("PQx", 1).one("PQx", 1).one("PQe", 1).one("PQe", 1).e()));
  EXPECT_REFUSED("on top", run(begin().one("PQx", 1).one("PQe", 2)));
  EXPECT_REFUSED("type 0", run(begin().one("PQx", 0)));
  EXPECT_REFUSED("cannot run", run(begin().one("PPx", 0)));
  EXPECT_REFUSED("id 0", run(begin().two("PPc", 0, 1)));
  EXPECT_REFUSED("id 0", run(Script().x().type("POc", 0, "a")));
  EXPECT_REFUSED("does not exist", run(begin().one("PQx", 9)));
}

TEST(OvniRules, StackLimit) {
  Script deep;
  deep.x();
  for (int i = 0; i < 512; ++i) deep.mark("OM[", 5, 4);
  Script deeper = deep;
  EXPECT_ACCEPTED(run(deep.e()));
  EXPECT_REFUSED("more than 512", run(deeper.mark("OM[", 5, 4)));
}

// The value shown for a task type comes from its label; two labels with one value cannot both be shown.
TEST(OvniRules, EqualValuesOfTwoLabels) {
  // Found by trying: the first pair of numbers as texts whose hashes are equal in 31 bits.
  std::map<std::uint32_t, std::string> seen;
  std::string first;
  std::string second;
  for (int i = 0; first.empty() && i < 400'000; ++i) {
    const std::string label = "label " + std::to_string(i);
    const auto [found, is_new] = seen.emplace(label_gid(label), label);
    if (is_new) continue;
    first = found->second;
    second = label;
  }
  ASSERT_FALSE(first.empty());
  EXPECT_REFUSED("share the value", run(Script().x().type("VYc", 1, first).type("VYc", 2, second).e()));
  EXPECT_ACCEPTED(run(Script().x().type("VYc", 1, first).type("VYc", 2, first).e()));
  EXPECT_ACCEPTED(run(Script().x().type("VYc", 1, std::string(511, 'x')).e()));
  EXPECT_REFUSED("512 bytes", run(Script().x().type("VYc", 1, std::string(512, 'x')).e()));
}

TEST(OvniRules, Versions) {
  const auto with = [](const std::string& model, const std::string& version) {
    Metadata metadata = all_models();
    for (auto& [name, wanted] : *metadata.require) {
      if (name == model) wanted = version;
    }
    return run(Script().x().e(), metadata);
  };
  EXPECT_ACCEPTED(with("nosv", "2.0.0"));
  EXPECT_ACCEPTED(with("nosv", "2.7.99-rc1"));
  EXPECT_REFUSED("known is 2.7.0", with("nosv", "2.8.0"));
  EXPECT_REFUSED("known is 2.7.0", with("nosv", "1.0.0"));
  EXPECT_REFUSED("not a version", with("nosv", "2.7"));
  EXPECT_REFUSED("not a version", with("nosv", "2.-1.0"));
  EXPECT_REFUSED("not a version", with("nosv", "two"));
  Metadata unknown = all_models();
  unknown.require->emplace_back("something", "99.0.0");
  EXPECT_ACCEPTED(run(Script().x().e(), unknown));
  Metadata few = all_models();
  few.require = {{{"ovni", "1.0.0"}}};
  EXPECT_REFUSED("not enabled", run(Script().x().ev("VSh"), few));
  EmulationOptions all;
  all.all_models = true;
  EXPECT_ACCEPTED(run(Script().x().ev("VSh").e(), few, all));
}

TEST(OvniRules, Metadata) {
  const auto with = [](const std::function<void(Metadata&)>& change) {
    Metadata metadata = all_models();
    change(metadata);
    return run(Script().x().e(), metadata);
  };
  EXPECT_REFUSED("ovni.part", with([](Metadata& m) { m.part.reset(); }));
  EXPECT_REFUSED("ovni.tid", with([](Metadata& m) { m.tid = 0; }));
  EXPECT_REFUSED("ovni.pid", with([](Metadata& m) { m.pid.reset(); }));
  // The library takes them as int.
  EXPECT_REFUSED("ovni.tid is -1", with([](Metadata& m) { m.tid = -1; }));
  EXPECT_REFUSED("ovni.pid is 4294967296", with([](Metadata& m) { m.pid = std::int64_t{1} << 32; }));
  EXPECT_REFUSED("ovni.app_id is 4294967296", with([](Metadata& m) { m.app_id = std::int64_t{1} << 32; }));
  EXPECT_REFUSED("ovni.loom", with([](Metadata& m) { m.loom.reset(); }));
  EXPECT_REFUSED("'/'", with([](Metadata& m) { m.loom = "a/b"; }));
  EXPECT_REFUSED("app_id", with([](Metadata& m) { m.app_id = 0; }));
  EXPECT_REFUSED("app_id", with([](Metadata& m) { m.app_id.reset(); }));
  EXPECT_REFUSED("ovni.require", with([](Metadata& m) { m.require.reset(); }));
  EXPECT_REFUSED("ovni.lib", with([](Metadata& m) { m.lib_commit.reset(); }));
  EXPECT_REFUSED("ovni.finished", with([](Metadata& m) { m.finished = 0; }));
  EXPECT_REFUSED("ovni.finished", with([](Metadata& m) { m.finished.reset(); }));
  EXPECT_REFUSED("ovni.rank is -1", with([](Metadata& m) { m.rank = -1, m.nranks = 4; }));
  EXPECT_REFUSED("ovni.nranks", with([](Metadata& m) { m.rank = 1; }));
  EXPECT_REFUSED("ovni.nranks", with([](Metadata& m) { m.rank = 0, m.nranks = 0; }));
  EXPECT_REFUSED("4 of 4", with([](Metadata& m) { m.rank = 4, m.nranks = 4; }));
  EXPECT_ACCEPTED(with([](Metadata& m) { m.rank = 3, m.nranks = 4; }));
  EXPECT_REFUSED("no CPUs", with([](Metadata& m) { m.cpus.reset(); }));
  EXPECT_REFUSED("empty", with([](Metadata& m) { m.cpus->clear(); }));
  EXPECT_REFUSED("0 to 1", with([](Metadata& m) { m.cpus = {{{0, 4}, {2, 5}}}; }));
  EXPECT_REFUSED("0 to 1", with([](Metadata& m) { m.cpus = {{{0, 4}, {0, 5}}}; }));
  EXPECT_REFUSED("elsewhere", with([](Metadata& m) { m.cpus = {{{0, 4}, {1, 4}}}; }));
  // A stream that is no thread has no place for its events.
  EXPECT_REFUSED("no thread", with([](Metadata& m) { m.part = "device"; }));
}

TEST(OvniRules, ProcessesAgree) {
  const auto with = [](const std::function<void(Metadata&)>& change) {
    Made made;
    made.threads = {{all_models(11), Script(1000).x(0).e()}, {all_models(12), Script(2000).x(1).e()}};
    for (auto& [metadata, script] : made.threads) metadata.rank = 0, metadata.nranks = 2;
    change(made.threads[1].first);
    return emulate_made(made);
  };
  EXPECT_ACCEPTED(with([](Metadata&) {}));
  EXPECT_ACCEPTED(with([](Metadata& m) { m.rank.reset(), m.app_id.reset(), m.cpus.reset(); }));
  EXPECT_REFUSED("another thread", with([](Metadata& m) { m.nranks = 3; }));
  EXPECT_REFUSED("another thread", with([](Metadata& m) { m.rank = 1; }));
  EXPECT_REFUSED("another thread", with([](Metadata& m) { m.app_id = 2; }));
  EXPECT_REFUSED("no rank information", with([](Metadata& m) { m.pid = 20, m.rank.reset(); }));
  EXPECT_REFUSED("there twice", [] {
    const Metadata twin = all_models(11);
    TemporaryDirectory scratch;
    for (const char* name : {"a", "b"}) write_made(scratch / name, Script().x().e().bytes(), twin);
    const Work work = make_work();
    auto trace = open_native(scratch.path(), work);
    NullSink nowhere;
    return emulate(*trace, {}, nowhere, work).error().text();
  }());
}

// Rows follow the ranks where every loom has them, otherwise the names.
TEST(OvniRules, OrderOfRows) {
  const auto rows = [](bool ranks) {
    Made made;
    for (const auto& [loom, pid, rank] :
         {std::tuple("a.1", 10, 3), std::tuple("b.1", 20, 1), std::tuple("b.1", 15, 2)}) {
      Metadata metadata = all_models(pid + 1);
      metadata.loom = loom;
      metadata.pid = pid;
      metadata.app_id = pid;
      if (ranks || loom[0] == 'b') metadata.rank = rank, metadata.nranks = 4;
      made.threads.emplace_back(metadata,
                                Script(static_cast<std::uint64_t>(1000 + 100 * pid)).x(pid == 15 ? 1 : 0).e());
    }
    std::map<std::string, std::string> files{{"thread.row", ""}};
    EXPECT_EQ(emulate_made(made, &files), "");
    return files["thread.row"].substr(files["thread.row"].find("TH "));
  };
  EXPECT_EQ(rows(true), "TH 20.21\nTH 15.16\nTH 10.11\n");
  EXPECT_EQ(rows(false), "TH 10.11\nTH 20.21\nTH 15.16\n");
}

// Several applications have the same ranks: rows are then in the order of the streams' paths, as the reference has
// them.
TEST(OvniRules, OrderOfRowsOfSeveralApplications) {
  Made made;
  for (const auto& [loom, pid] : {std::pair("a", 50), std::pair("a.1", 999), std::pair("a.1", 1000)}) {
    Metadata metadata = all_models(pid);
    metadata.loom = loom;
    metadata.pid = pid;
    metadata.app_id = pid;
    metadata.rank = 0, metadata.nranks = 1;
    made.threads.emplace_back(metadata, Script(static_cast<std::uint64_t>(1000 + 100 * pid)).x(pid == 999 ? 1 : 0).e());
  }
  std::map<std::string, std::string> files{{"thread.row", ""}};
  EXPECT_EQ(emulate_made(made, &files), "");
  EXPECT_EQ(files["thread.row"].substr(files["thread.row"].find("TH ")), "TH 1000.1000\nTH 999.999\nTH 50.50\n");
}

TEST(OvniRules, ClockOffsets) {
  const auto with = [](const std::string& table, std::uint64_t first, std::uint64_t second,
                       std::string* prv = nullptr) {
    Metadata a = all_models(11);
    a.loom = "a.1";
    Metadata a2 = all_models(21);
    a2.loom = "a.2";
    a2.pid = 20;
    Metadata b = all_models(31);
    b.loom = "b";
    b.pid = 30;
    Made made;
    made.threads = {{a, Script(first).x().e()}, {a2, Script(first + 10).x().e()}, {b, Script(second).x().e()}};
    made.offsets = table;
    std::map<std::string, std::string> files{{"thread.prv", ""}};
    const std::string said = emulate_made(made, &files);
    if (prv != nullptr) *prv = files["thread.prv"];
    return said;
  };
  const std::string head = "rank hostname offset_median offset_mean offset_std\n";
  std::string prv;
  // Both looms of host a move by the median without its fraction: the first thread of all is that of loom b.
  EXPECT_ACCEPTED(with(head + "0 a 500.9 0 0\n\n1 b 0 0 0\n", 1000, 1000, &prv));
  EXPECT_NE(prv.find("2:0:1:1:3:0:6:"), std::string::npos) << prv;
  EXPECT_NE(prv.find("2:0:1:1:1:500:6:"), std::string::npos) << prv;
  EXPECT_NE(prv.find("2:0:1:1:2:510:6:"), std::string::npos) << prv;
  EXPECT_REFUSED("host 'c'", with(head + "0 c 0 0 0\n", 1000, 1000));
  EXPECT_REFUSED("an integer", with(head + "0 a x 0 0\n", 1000, 1000));
  // An hour apart is too far, whichever stream is the late one.
  const std::uint64_t hour = 3'600'000'000'000;
  EXPECT_ACCEPTED(with("", 1000, 1000 + hour));
  EXPECT_REFUSED("large clock gap", with("", 1000, 1001 + hour));
  EXPECT_REFUSED("large clock gap", with("", 2001 + hour, 1000));
  EXPECT_ACCEPTED(with(head + "0 b -3600000000000 0 0\n", 1000, 1001 + hour));
}

TEST(OvniRules, EndOfTheRun) {
  EmulationOptions lint;
  lint.lint = true;
  for (const auto& [mcv, words] : std::vector<std::pair<const char*, const char*>>{{"6W[", "Nanos6"},
                                                                                   {"VSh", "nOS-V"},
                                                                                   {"DR[", "NODES"},
                                                                                   {"MS[", "MPI"},
                                                                                   {"TCi", "TAMPI"},
                                                                                   {"PBj", "OpenMP"}}) {
    SCOPED_TRACE(mcv);
    EXPECT_ACCEPTED(run(Script().x().ev(mcv).e()));
    EXPECT_REFUSED(words, run(Script().x().ev(mcv).e(), all_models(), lint));
  }
  EXPECT_ACCEPTED(run(Script().x().ev("KCO").ev("KCI").mark("OM[", 5, 4).e(), all_models(), lint));
  EXPECT_REFUSED("not dead", run(Script().x()));
  EXPECT_REFUSED("not dead", run(Script()));
}

TEST(OvniRules, Breakdown) {
  EmulationOptions breakdown;
  breakdown.breakdown = true;
  Metadata metadata = all_models();
  EXPECT_ACCEPTED(run(Script().x().e(), metadata, breakdown));
  metadata.can_breakdown.reset();
  EXPECT_ACCEPTED(run(Script().x().e(), metadata));
  EXPECT_REFUSED("can_breakdown", run(Script().x().e(), metadata, breakdown));
  metadata.can_breakdown = false;
  std::map<std::string, std::string> files{{"nosv-breakdown.prv", ""}, {"nanos6-breakdown.prv", ""}};
  EXPECT_EQ(emulate_made({{{metadata, Script().x().e()}}, breakdown, ""}, &files), "");
  EXPECT_EQ(files["nosv-breakdown.prv"], "(missing)");
  EXPECT_NE(files["nanos6-breakdown.prv"], "(missing)");
}

TEST(OvniRules, DirectoriesThatAreNoTrace) {
  TemporaryDirectory scratch;
  const Work work = make_work();
  auto empty = open_native(scratch.path(), work);
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty->streams.empty());
  std::ofstream(scratch / "clock-offsets.txt") << "\n";
  EXPECT_TRUE(open_native(scratch.path(), work).ok());
  std::filesystem::create_directories(scratch / "sub");
  std::ofstream(scratch / "sub/results.csv") << "1,2\n";
  auto foreign = open_native(scratch.path(), work);
  ASSERT_FALSE(foreign.ok());
  EXPECT_NE(foreign.error().text().find("sub/results.csv"), std::string::npos);
  EXPECT_FALSE(work->diagnostics.defective());
  // Events that lost their metadata are reported, and the trace is the rest.
  std::ofstream(scratch / "sub/stream.obs") << "ovni";
  EXPECT_TRUE(open_native(scratch.path(), work).ok());
  ASSERT_TRUE(work->diagnostics.defective());
  EXPECT_EQ(work->diagnostics.all()[0].id, "ovni.no_metadata");
}

}  // namespace
}  // namespace fathom::ovni
