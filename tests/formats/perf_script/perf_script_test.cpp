#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "formats/perf_script/sample_text.hpp"
#include "formats/slice_traces.hpp"
#include "profile/compute.hpp"
#include "profile/export/stack_export.hpp"
#include "profile/profile.hpp"
#include "profile/selection.hpp"

namespace fathom::perf_script {
namespace {

TEST(PerfScript, HeadsInAllForms) {
  auto head = parse_header("java 19983 cycles:");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->command, "java");
  EXPECT_EQ(head->thread, 19983);
  EXPECT_FALSE(head->time_ns);
  EXPECT_EQ(head->event, "cycles");
  head = parse_header("my prog 2   9/10 [003] 198791.127353:    1001001 cpu-clock:u: ");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->command, "my prog 2");
  EXPECT_EQ(head->process, 9);
  EXPECT_EQ(head->thread, 10);
  EXPECT_EQ(head->time_ns, 198791127353000);
  EXPECT_EQ(head->period, 1001001);
  EXPECT_EQ(head->event, "cpu-clock");
  head = parse_header("swapper     0 [001] 12.000000001: sched:sched_switch: prev_comm=swapper/1 prev_pid=0");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->event, "sched:sched_switch");
  EXPECT_EQ(head->time_ns, 12000000001);
  // A number at the end of the command is none of a process when a time comes later.
  head = parse_header("foo 12 345 1.500000: 7 cycles:");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->command, "foo 12");
  EXPECT_EQ(head->thread, 345);
  EXPECT_EQ(head->period, 7);
  EXPECT_EQ(head->event, "cycles");
  // With the mode (-F +misc).
  head = parse_header("my (thr) 12 16717 U       588.043765:    2004008 cpu-clock: ");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->command, "my (thr) 12");
  EXPECT_EQ(head->thread, 16717);
  EXPECT_EQ(head->period, 2004008);
  // Without the command (-F pid,tid,time,event).
  head = parse_header(" 12/13 1.500000: cycles:");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->command, "");
  EXPECT_EQ(head->thread, 13);
  // Without the event (-F comm,tid,time,period,ip,sym): of two numbers the first is the period.
  head = parse_header("my prog 12  100.123456:        401126 main+0x10");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->command, "my prog");
  EXPECT_EQ(head->thread, 12);
  EXPECT_EQ(head->event, "");
  EXPECT_FALSE(head->period);
  ASSERT_TRUE(frame_of(*head));
  EXPECT_EQ(frame_of(*head)->symbol, "main");
  head = parse_header("prog 12  100.123456:   1001001      401126 operator new(unsigned long)");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->period, 1001001);
  EXPECT_EQ(frame_of(*head)->symbol, "operator new(unsigned long)");
  head = parse_header("prog 12  100.123456:  ffffffff81a0 do_it ([kernel.kallsyms])");
  ASSERT_TRUE(head);
  EXPECT_EQ(frame_of(*head)->module, "[kernel.kallsyms]");
  EXPECT_FALSE(parse_header("prog 12  100.123456:   1001001"));          // a period or an address
  EXPECT_FALSE(parse_header("server 12 100.123456: added a new face"));  // words
  EXPECT_FALSE(parse_header("prog 12   401126 main"));                   // no time, either
  EXPECT_FALSE(parse_header("just some text"));
  EXPECT_FALSE(parse_header("a line 5 that goes on"));
}

TEST(PerfScript, Frames) {
  auto frame = parse_frame("\t          414b3b fsnotify+0x1b (/lib/mo dules/(x)/vmlinux)");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->symbol, "fsnotify");
  EXPECT_EQ(frame->module, "/lib/mo dules/(x)/vmlinux");
  frame = parse_frame("ffffffff8103d0ca v8::f(int, char (*)()) ([kernel.kallsyms])");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->symbol, "v8::f(int, char (*)())");
  frame = parse_frame("  1234 [unknown] (/usr/bin/dd)");
  ASSERT_TRUE(frame);
  EXPECT_EQ(name_of(*frame), "[dd]");
  frame = parse_frame("        b3cea6c4\tLock::unlock() (/system/lib/libc.so)");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->symbol, "Lock::unlock()");
  EXPECT_EQ(frame->module, "/system/lib/libc.so");
  // The module is the last bracket that closes at the end, whatever is inside of it.
  frame = parse_frame("    7f3159f51234 void g<int (*)()>(x)+0x4c (/opt/my app (x)/lib.so (deleted))");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->symbol, "void g<int (*)()>(x)");
  EXPECT_EQ(frame->module, "/opt/my app (x)/lib.so (deleted)");
  frame = parse_frame("  1234 f (/a) b (c)");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->module, "c");
  EXPECT_FALSE(parse_frame("java 19983 cycles:"));
  EXPECT_FALSE(parse_frame("dd 29776 666709.771979:   10101010 cpu-clock: "));
}

// perf record without -g: the one frame stands behind the event.
TEST(PerfScript, SamplesOfOneLine) {
  const std::string text =
      "ls 77 1.000000: 250 cycles:  ffffffff81a0 do_it+0x12 ([kernel.kallsyms])\n"
      "ls 77 1.000100: 250 cycles:      7f12aa00 main (/bin/l s)\n"
      "ls 77 1.000200: 250 cycles:      7f12aa00 main (/bin/l s)\n"
      "              dd 77 1.000250: 250 cycles:      7f12aa00 main (/bin/l s)\n"
      "ls 77 1.000300:   1 sched:sched_switch: dad (not a frame)\n";
  const auto dataset = open_source(Source::of(Blob::own("x.txt", text)), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  EXPECT_EQ((*dataset)->format().name, "perf-script");
  const auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok());
  std::vector<std::string> leaves;
  const auto stream = (*trace)->open(LocationId(0), {});
  std::vector<Event> events(64);
  const std::size_t count = (*stream)->next(events).value();
  for (std::size_t i = 0; i < count; ++i) {
    if (events[i].kind != EventKind::sample) continue;
    const Definitions& defs = (*trace)->definitions();
    leaves.push_back(defs.regions[defs.contexts[events[i].context()].region.index()].name);
  }
  EXPECT_EQ(leaves, (std::vector<std::string>{"do_it", "main", "main", "main", "ls"}));
}

// Heads may have as little as the command and the thread; the frames behind them tell that they are some.
TEST(PerfScript, HeadsWithoutTheEvent) {
  const auto read = [](const std::string& text, const Work& work = make_work()) {
    auto dataset = open_source(Source::of(Blob::own("x.txt", text)), work);
    if (!dataset.ok()) return dataset.error().hint();
    auto trace = (*dataset)->trace();
    if (!trace.ok()) return trace.error().hint();
    std::string all = std::string((*dataset)->format().name);
    for (std::size_t i = 0; i < (*trace)->location_count(); ++i) {
      auto stream = (*trace)->open(LocationId(i), {});
      EventCursor cursor(std::move(*stream));
      while (const Event* event = cursor.next()) {
        if (event->kind == EventKind::sample) all += " " + std::string((*trace)->name(*event));
      }
    }
    return all;
  };
  const Work work = make_work();
  EXPECT_EQ(read("p 7  1.000000:  ffffffff81a0 f\np 7  1.000100:  401126 g\n", work), "perf-script f g");
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].id, "perf_script.no_event");
  EXPECT_EQ(read("p q 7 \n\tffffffff81a00000 f\n\t          401126 main\n\np q 7/8 \n\t          401126 g\n\n"),
            "perf-script f g");
  // Without the thread it cannot be said who was where: what to print is told.
  for (const char* text : {"p\n\tffffffff81a00000 f\n\t          401126 main\n\np\n\t          401126 g\n\n",
                           "\tffffffff81a00000 f\n\t          401126 main\n\n\t          401126 g\n\n"}) {
    EXPECT_NE(read(text).find("perf script -F comm,pid,tid,time,period,event,ip,sym,dso"), std::string::npos) << text;
  }
}

// Lines that come again are not read again: far more of them than are remembered at a time, unnamed ones among them.
TEST(PerfScript, StacksOfManyLines) {
  std::mt19937 random(9);
  std::string text;
  std::vector<std::string> expected;
  for (int sample = 0; sample < 4000; ++sample) {
    text += fmt::format("a 1 {}.000000: 1 cycles:\n", sample);
    std::string path;
    for (std::size_t depth = 1 + random() % 6; depth-- > 0;) {
      const std::uint64_t i = random() % 20'000;
      const bool unnamed = i % 5 == 0;
      text += unnamed ? fmt::format("\t{:16x} (/lib/module_{})\n", i, i % 40)
                      : fmt::format("\t{:16x} function_{}+0x{:x} (/bin/program)\n", i, i % 700, i % 90);
      path = (unnamed ? fmt::format("[module_{}]", i % 40) : fmt::format("function_{}", i % 700)) +
             (path.empty() ? "" : "->" + path);
    }
    text += '\n';
    expected.push_back("a->" + path);
  }
  const auto dataset = open_source(Source::of(Blob::own("x.txt", text)), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto trace = (*dataset)->trace();
  ASSERT_TRUE(trace.ok());
  std::vector<std::string> found;
  const auto stream = (*trace)->open(LocationId(0), {});
  std::vector<Event> events(256);
  for (std::size_t count = 1; count > 0;) {
    count = (*stream)->next(events).value();
    for (std::size_t i = 0; i < count; ++i) {
      if (events[i].kind == EventKind::sample) found.push_back((*trace)->definitions().path(events[i].context()));
    }
  }
  EXPECT_EQ(found, expected);
}

// A thread that sleeps is not sampled: what its last sample before that gets is a pause.
TEST(PerfScript, PausesAreTold) {
  for (const char* later : {"1.002000", "9.000000"}) {
    const Work work = make_work();
    DatasetPtr dataset;
    const auto trace = test::read_text(
        fmt::format(
            "a 1 1.000000: 1000000 cpu-clock:u:\n\t4011 f (/a)\n\na 1 {}: 1000000 cpu-clock:u:\n\t4012 g (/a)\n\n",
            later),
        "perf-script", dataset, work);
    ASSERT_NE(trace, nullptr);
    if (later[0] == '1') {
      EXPECT_TRUE(work->diagnostics.all().empty());
      continue;
    }
    ASSERT_EQ(work->diagnostics.all().size(), 1U);
    EXPECT_EQ(work->diagnostics.all()[0].text,
              "the samples of cpu-clock stand for 0.002 s, but from sample to sample of a thread it is 8 s, pauses "
              "included: '--metric time' shows that, unasked it is what was sampled");
  }
}

// What people expect of perf: shares of what was sampled, not of the time between samples. Here f has most of the
// weight and g the pause.
TEST(PerfScript, UnaskedIsWhatWasSampled) {
  const std::string text =
      "a 1 1.000000: 900 cycles:\n\t11 f (/a)\n\na 1 1.000001: 100 cycles:\n\t12 g (/a)\n\n"
      "a 1 9.000000: 7 instructions:\n\t12 g (/a)\n\n";
  const auto dataset = open_source(Source::of(Blob::own("x.txt", text)), make_work());
  ASSERT_TRUE(dataset.ok()) << dataset.error().text();
  const auto profile = (*dataset)->profile();
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  const auto chosen = choose_or_guess_metrics(**profile, {});
  ASSERT_TRUE(chosen.ok());
  ASSERT_EQ(chosen->size(), 1U);
  EXPECT_EQ((*profile)->defs().metric(chosen->front()).name, "cycles");
  EXPECT_EQ(test::own_by_region(**profile, chosen->front())["f"], 900);
  EXPECT_TRUE((*profile)->defs().find_metric("time").valid());
  // So it is in what others show first.
  const auto exported = StackExport::plan(**profile, {.one_metric = true});
  ASSERT_TRUE(exported.ok());
  ASSERT_EQ(exported->metrics().size(), 1U);
  EXPECT_EQ(exported->metrics()[0].name, "cycles");
}

// --show-mmap-events and --show-task-events print what happened between the samples.
TEST(PerfScript, RecordsAreNoSamples) {
  const Work work = make_work();
  DatasetPtr dataset;
  const auto trace = test::read_text(
      "swapper 0 0.000000: PERF_RECORD_MMAP -1/0: [0xffff(0x12) @ 0xffff]: x [kernel.kallsyms]_text\n"
      "a-exec 0 0.000000: PERF_RECORD_COMM: a-exec:5/5\n"
      "a 5 1.000000: PERF_RECORD_MMAP2 5/5: [0x7f(0x2) @ 0 00:00 0 0]: r-xp [vdso]\n"
      "a 5 1.000100: PERF_RECORD_FORK(5:6):(5:5)\n"
      "a 5 1.000200: 9 cycles:\n\t4011 f (/a)\n"
      "a 6 1.000300: PERF_RECORD_EXIT(5:6):(5:5)\n"
      "a 5 1.000400: 8 cycles:\n\t4012 g (/a)\n\n",
      "perf-script", dataset, work);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->location_count(), 1U);
  ASSERT_EQ(trace->definitions().metrics.size(), 1U);
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].text, "5 records of mappings, names and forks are no samples; left out");
  const auto profile = dataset->profile();
  ASSERT_TRUE(profile.ok());
  const auto own = test::own_by_region(**profile, (*profile)->defs().find_metric("cycles"));
  EXPECT_EQ(own.at("f"), 9);
  EXPECT_EQ(own.at("g"), 8);
}

// As of files that were put together, or with --deltatime: each sample keeps its weight.
TEST(PerfScript, SamplesInAnyOrderOfTime) {
  const Work work = make_work();
  DatasetPtr dataset;
  const auto trace = test::read_text(
      "a 1 3.000000: 100 cycles:\n\t4011 f (/a)\n\n"
      "a 2 2.000000: 7 cycles:\n\t4011 f (/a)\n\n"
      "a 1 1.000000: 20 cycles:\n\t4012 g (/a)\n\n"
      "a 1 2.000000: 3 cycles:\n\t4013 h (/a)\n\n"
      "a 1 1.000000: 1 instructions:\n\t4013 h (/a)\n\n",
      "perf-script", dataset, work);
  ASSERT_NE(trace, nullptr);
  ASSERT_EQ(work->diagnostics.all().size(), 1U);
  EXPECT_EQ(work->diagnostics.all()[0].text,
            "2 samples are earlier than the one before them in their thread; they are sorted");
  const auto profile = dataset->profile();
  ASSERT_TRUE(profile.ok());
  const auto own = test::own_by_region(**profile, (*profile)->defs().find_metric("cycles"));
  EXPECT_EQ(own, (std::map<std::string, double>{{"f", 107}, {"g", 20}, {"h", 3}}));
}

// Periods that no counter has are cut and told, never wrapped around.
TEST(PerfScript, PeriodsBeyondAllNumbers) {
  const Work work = make_work();
  DatasetPtr dataset;
  const auto trace = test::read_text(
      "a 1 1.000000: 9223372036854775807 cycles:\n\t4011 f (/a)\n\n"
      "a 1 1.000100: 7 cycles:\n\t4012 g (/a)\n\n"
      "a 1 1.000200: -3 cycles:\n\t4012 g (/a)\n\n",
      "perf-script", dataset, work);
  ASSERT_NE(trace, nullptr);
  std::map<std::string, std::uint64_t> said;
  for (const Diagnostic& one : work->diagnostics.all()) said[std::string(one.id)] += one.count;
  EXPECT_EQ(said["perf_script.overflow"], 1U);
  EXPECT_EQ(said["perf_script.stray_line"], 2U);
  const auto profile = dataset->profile();
  ASSERT_TRUE(profile.ok());
  const auto own = test::own_by_region(**profile, (*profile)->defs().find_metric("cycles"));
  EXPECT_EQ(own.at("f"), 9223372036854775807.0);
  EXPECT_EQ(own.count("g"), 0U);
}

// Samples of a clock are nanoseconds where they say how many they stand for.
TEST(PerfScript, SamplesWithoutPeriodsAreCounted) {
  for (const char* period : {"", "2004008 "}) {
    DatasetPtr dataset;
    const auto trace = test::read_text(
        fmt::format("a 1 1.000000: {0}cpu-clock:\n\t4011 f (/a)\n\na 1 1.002004: {0}cpu-clock:\n\t4011 f (/a)\n\n",
                    period),
        "perf-script", dataset, make_work());
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(trace->definitions().metrics[0].unit, *period == 0 ? "occ" : "ns");
  }
}

TEST(PerfScript, AgreesWithTheReferenceReader) {
  const auto folder = std::filesystem::path(FATHOM_SHARED_DATA) / "elsewhere";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no shared data";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "perf-script")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".txt.gz")) continue;
    SCOPED_TRACE(name);
    std::ifstream in(folder / "expected" / ("perf-script_" + name + ".json"));
    const auto expected = nlohmann::json::parse(in);
    auto dataset = open_dataset(entry.path(), make_work());
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ((*dataset)->format().name, "perf-script");
    auto trace = (*dataset)->trace();
    ASSERT_TRUE(trace.ok()) << trace.error().text();
    const Definitions& definitions = (*trace)->definitions();
    std::uint64_t samples = 0;
    std::uint64_t frames = 0;
    std::map<std::string, std::uint64_t> commands;
    for (std::size_t i = 0; i < (*trace)->location_count(); ++i) {
      auto stream = (*trace)->open(LocationId(i), {});
      EventCursor cursor(std::move(*stream));
      while (const Event* event = cursor.next()) {
        if (event->kind != EventKind::sample) continue;
        ++samples;
        const Context* context = &definitions.contexts[event->context()];
        frames += context->depth;
        while (context->parent.valid()) context = &definitions.contexts[context->parent];
        ++commands[definitions.region(context->region).name];
      }
    }
    EXPECT_EQ(samples, expected["samples"].get<std::uint64_t>());
    EXPECT_EQ(frames, expected["frames"].get<std::uint64_t>());
    for (const auto& [command, count] : expected["commands"].items()) {
      EXPECT_EQ(commands[command], count.get<std::uint64_t>()) << command;
    }
    // Reduced to a profile the weights are all there, each with the context that was found.
    auto profile = (*dataset)->profile();
    ASSERT_TRUE(profile.ok()) << profile.error().text();
    double weight = 0;
    for (const Metric& metric : definitions.metrics) {
      const MetricId id = (*profile)->defs().find_metric(metric.name);
      ASSERT_TRUE(id.valid()) << metric.name;
      for (const auto& [region, value] : test::own_by_region(**profile, id)) weight += value;
    }
    EXPECT_EQ(weight, expected["weight_period_or_1"].get<double>());
    ++files;
  }
  EXPECT_EQ(files, 12);
}

TEST(PerfScript, DamageNeverCrashes) {
  const std::string good =
      "# perf version : 6\nprog 5 1.000001: 10 cycles:\n\t12 a (m)\n\t13 b (m)\n\nprog 5 1.000002: 10 cycles:\n\t12 a "
      "(m)\n";
  std::mt19937 random(3);
  for (int i = 0; i < 400; ++i) {
    std::string text = good.substr(0, random() % (good.size() + 1));
    if (!text.empty()) text[random() % text.size()] ^= static_cast<char>(1 << random() % 8);
    auto dataset = open_source(Source::of(Blob::own("damaged", text)), make_work(), "perf-script");
    ASSERT_TRUE(dataset.ok());
    auto trace = (*dataset)->trace();
    if (trace.ok()) continue;
    EXPECT_FALSE(trace.error().what().empty());
  }
}

}  // namespace
}  // namespace fathom::perf_script
