#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/execution.hpp"
#include "formats/pprof/pprof_format.hpp"
#include "formats/registry.hpp"
#include "io/file.hpp"
#include "io/inflate.hpp"
#include "io/protobuf.hpp"
#include "profile/compute.hpp"
#include "profile/selection.hpp"
#include "temporary_directory.hpp"

namespace fathom {
namespace {

using protobuf::put_bytes;
using protobuf::put_integer;
using protobuf::put_varint;

std::string packed(std::initializer_list<std::uint64_t> values) {
  std::string out;
  for (const std::uint64_t value : values) put_varint(out, value);
  return out;
}

// A profile with two sample types: strings 1.. are given, functions f(i) have the name string i.
struct Made {
  std::string text;
  void type(std::uint64_t name, std::uint64_t unit) {
    std::string m;
    put_integer(m, 1, name);
    put_integer(m, 2, unit);
    put_bytes(text, 1, m);
  }
  void sample(std::initializer_list<std::uint64_t> locations, std::initializer_list<std::uint64_t> values,
              std::uint64_t label_key = 0, std::uint64_t label_text = 0) {
    std::string m;
    put_bytes(m, 1, packed(locations));
    for (const std::uint64_t value : values) put_integer(m, 2, value);  // not packed
    if (label_key != 0) {
      std::string label;
      put_integer(label, 1, label_key);
      put_integer(label, 2, label_text);
      put_bytes(m, 3, label);
    }
    put_bytes(text, 2, m);
  }
  void location(std::uint64_t id, std::initializer_list<std::uint64_t> functions, std::uint64_t address = 0) {
    std::string m;
    put_integer(m, 1, id);
    put_integer(m, 3, address);
    for (const std::uint64_t function : functions) {
      std::string line;
      put_integer(line, 1, function);
      put_integer(line, 2, 10 * function);
      put_bytes(m, 4, line);
    }
    put_bytes(text, 4, m);
  }
  void function(std::uint64_t id, std::uint64_t name) {
    std::string m;
    put_integer(m, 1, id);
    put_integer(m, 2, name);
    put_bytes(text, 5, m);
  }
  void strings(std::initializer_list<std::string_view> list) {
    for (const std::string_view one : list) put_bytes(text, 6, one);
  }
};

Made small() {
  Made made;
  made.type(1, 2);
  made.type(3, 4);
  made.sample({30, 20, 10}, {5, 500});
  made.sample({20, 10}, {1, 7});
  made.sample({30, 20, 10}, {2, 300}, 9, 10);
  made.location(10, {100});
  made.location(20, {102, 101});  // 102 is inlined into 101
  made.location(30, {}, 0xABC);
  made.function(100, 5);
  made.function(101, 6);
  made.function(102, 7);
  made.strings({"", "samples", "count", "cpu", "nanoseconds", "main", "solve", "dot", "x", "thread", "worker"});
  return made;
}

Result<ProfilePtr> open_text(const std::string& text, const Work& work) {
  FATHOM_TRY(auto dataset, pprof::format().open(Source::of(Blob::own("small.pb", text)), work));
  return dataset->profile();
}

std::map<std::string, std::string> totals_by_path(const Profile& profile, MetricId metric, bool inclusive) {
  std::map<std::string, std::string> out;
  Selection selection;
  selection.flavour.kind = inclusive ? Flavour::Kind::inclusive : Flavour::Kind::own;
  selection.locations = all_locations(profile.defs());
  selection.aggregate = true;
  const auto cells = compute(profile, metric, selection);
  EXPECT_TRUE(cells.ok());
  for (std::size_t row = 0; row < cells->rows(); ++row) {
    if (!cells->is_zero(row, 0)) out[profile.defs().path(ContextId(row))] = cells->at(row, 0).text();
  }
  return out;
}

TEST(Pprof, StacksInlinedFramesAndLabels) {
  const Work work = make_work();
  const auto profile = open_text(small().text, work);
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  const Definitions& defs = (*profile)->defs();
  ASSERT_EQ(defs.metrics.size(), 2u);
  EXPECT_EQ(defs.metrics[1].name, "cpu");
  EXPECT_EQ(defs.metrics[1].unit, "nanoseconds");
  EXPECT_EQ(defs.contexts.size(), 4u);
  EXPECT_EQ(defs.system.location_count(), 2u);  // with and without a thread label
  EXPECT_EQ(defs.system.location(LocationId(1)).name, "worker");
  EXPECT_EQ(totals_by_path(**profile, MetricId(0), false),
            (std::map<std::string, std::string>{{"main->solve->dot->0xabc", "7"}, {"main->solve->dot", "1"}}));
  EXPECT_EQ(totals_by_path(**profile, MetricId(1), true).at("main"), "807");
  const Context& dot = defs.contexts[ContextId(2)];
  EXPECT_EQ(dot.edge, Edge::inlined_call);
  EXPECT_EQ(dot.line, 1010);  // the line of solve it is inlined at
  EXPECT_EQ(defs.contexts[ContextId(1)].line, 1000);
}

TEST(Pprof, UnaskedIsWhatPprofShows) {
  for (const std::uint64_t named : {0, 1, 8}) {  // nothing, "samples", something that is no type
    Made made = small();
    if (named != 0) put_integer(made.text, 14, named);
    const auto profile = open_text(made.text, make_work());
    ASSERT_TRUE(profile.ok()) << profile.error().text();
    const auto chosen = choose_or_guess_metrics(**profile, {});
    ASSERT_TRUE(chosen.ok());
    EXPECT_EQ((*profile)->defs().metric(chosen->front()).name, named == 1 ? "samples" : "cpu");
  }
}

TEST(Pprof, DropsFramesAsPprofDoes) {
  Made made = small();
  put_integer(made.text, 7, 11);
  put_integer(made.text, 8, 12);
  made.strings({"so.*|d.t|main", "dot"});
  // dot is kept; solve is dropped with what it calls; main is the first frame and stays.
  const auto profile = open_text(made.text, make_work());
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  EXPECT_EQ(totals_by_path(**profile, MetricId(0), false).size(), 2u)
      << "without a frame before them dropped ones stay";
  Made user = small();
  put_integer(user.text, 7, 11);
  user.strings({"sol.*"});
  const Work work = make_work();
  const auto cut = open_text(user.text, work);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(totals_by_path(**cut, MetricId(0), false), (std::map<std::string, std::string>{{"main", "8"}}));
  EXPECT_EQ(work->diagnostics.all().front().id, "pprof.dropped_frames");
}

TEST(Pprof, BrokenReferencesAreShownAndCounted) {
  Made made = small();
  made.sample({77, 10}, {4, 4});
  const Work work = make_work();
  const auto profile = open_text(made.text, work);
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(totals_by_path(**profile, MetricId(0), false).at("main->?"), "4");
  EXPECT_TRUE(work->diagnostics.defective());
}

// Thousands of stacks, many of them again and again, some of locations that are not there: sums by hand.
TEST(Pprof, StacksThatRepeatAddUp) {
  std::mt19937 random(3);
  Made made;
  made.type(1, 2);
  std::map<std::string, std::uint64_t> wanted;
  std::uint64_t unknown = 0;
  std::vector<std::vector<std::uint64_t>> stacks;
  for (std::uint64_t i = 1; i <= 6000; ++i) {
    if (i % 2 == 1) {
      std::vector<std::uint64_t> fresh(1 + random() % 6);
      for (std::uint64_t& id : fresh) id = 1 + random() % 12;  // 11 and 12 are not there
      stacks.push_back(fresh);
    }
    const std::vector<std::uint64_t>& stack = i % 2 == 1 ? stacks.back() : stacks[random() % stacks.size()];
    std::string locations;
    std::string path;
    for (const std::uint64_t id : stack) {
      put_varint(locations, id);
      const std::string name = id > 10 ? "?" : "f" + std::to_string(id);
      path = path.empty() ? name : name + "->" + path;
      unknown += id > 10 ? 1 : 0;
    }
    wanted[path] += i;
    std::string sample;
    put_bytes(sample, 1, locations);
    put_integer(sample, 2, i);
    put_bytes(made.text, 2, sample);
  }
  for (std::uint64_t id = 1; id <= 10; ++id) {
    made.location(id, {id});
    made.function(id, 2 + id);
  }
  made.strings({"", "samples", "count", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10"});
  const Work work = make_work();
  const auto profile = open_text(made.text, work);
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  std::map<std::string, std::string> texts;
  for (const auto& [path, sum] : wanted) texts[path] = std::to_string(sum);
  EXPECT_EQ(totals_by_path(**profile, MetricId(0), false), texts);
  ASSERT_EQ(work->diagnostics.all().size(), 1u);
  EXPECT_EQ(work->diagnostics.all()[0].id, "pprof.reference");
  EXPECT_EQ(work->diagnostics.all()[0].count, unknown);
}

TEST(Pprof, IsRecognisedByItsContent) {
  EXPECT_EQ(pprof::format().recognise(Source::of(Blob::own("x", small().text))).confidence, Confidence::certain);
  EXPECT_EQ(pprof::format().recognise(Source::of(Blob::own("x", std::string("a;b 1\n")))).confidence, Confidence::no);
  // A type whose texts are both empty is written as nothing; with samples and a table of strings it is one.
  Made unnamed;
  put_bytes(unnamed.text, 1, "");
  EXPECT_EQ(pprof::format().recognise(Source::of(Blob::own("x", unnamed.text))).confidence, Confidence::no);
  unnamed.sample({1}, {4});
  unnamed.location(1, {1});
  unnamed.function(1, 1);
  unnamed.strings({"", "f"});
  EXPECT_EQ(pprof::format().recognise(Source::of(Blob::own("x", unnamed.text))).confidence, Confidence::certain);
  std::string perfetto;  // packets with a time stamp
  std::string packet;
  put_integer(packet, 8, 12345);
  put_bytes(perfetto, 1, packet);
  EXPECT_EQ(pprof::format().recognise(Source::of(Blob::own("x", perfetto))).confidence, Confidence::no);
  std::string legacy(40, '\0');
  legacy[8] = 3;
  legacy[24] = 100;
  const auto refused = pprof::format().open(Source::of(Blob::own("x", legacy)), make_work());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("gperftools"), std::string::npos);
}

TEST(Pprof, EveryTruncationAndManyFlipsAreSurvived) {
  const std::string text = small().text;
  for (std::size_t length = 0; length < text.size(); ++length) {
    const Work work = make_work();
    const auto profile = open_text(text.substr(0, length), work);
    EXPECT_TRUE(profile.ok() || !profile.error().place().file.empty());
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string flipped = text;
    for (int k = 0; k < 3; ++k) flipped[random() % flipped.size()] ^= static_cast<char>(1 << random() % 8);
    (void)open_text(flipped, make_work());
  }
}

// What is written and read again has the same stacks, locations and numbers.
TEST(Pprof, WritesAndReadsBack) {
  const TemporaryDirectory folder;
  const auto dataset = open_dataset(FATHOM_SOURCE_DIR "/examples/stencil.cubex", make_work());
  ASSERT_TRUE(dataset.ok());
  const auto target = folder / "out.pb.gz";
  ASSERT_TRUE(pprof::format().write(**dataset, target, {}).ok());
  const auto again = open_dataset(target, make_work());
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ((*again)->format().name, "pprof");
  const auto before = (*dataset)->profile();
  const auto after = (*again)->profile();
  ASSERT_TRUE(after.ok());
  EXPECT_EQ((*after)->defs().system.location_count(), (*before)->defs().system.location_count());
  EXPECT_EQ((*after)->defs().contexts.size(), (*before)->defs().contexts.size());
  const auto visits = [](const Profile& profile) {
    return totals_by_path(profile, profile.defs().find_metric("visits"), true);
  };
  EXPECT_EQ(visits(**after), visits(**before));
  // Rewriting the format gives the same bytes.
  const auto copy = folder / "copy.pb";
  const auto done = (*again)->rewrite(copy, {});
  ASSERT_TRUE(done.ok() && *done);
  const auto bytes = open_file(copy, make_work());
  const auto first = open_file(target, make_work());  // unpacked
  ASSERT_TRUE(bytes.ok() && first.ok());
  EXPECT_EQ(bytes->text(), first->text());
}

// Samples are taken apart many at once: stacks, labels and damage come out the same for any number of threads.
TEST(Pprof, AnyNumberOfThreadsMakesTheSame) {
  Made made;
  made.type(1, 2);
  std::mt19937 random(7);
  std::map<std::string, std::int64_t> expected;  // by thread
  for (int i = 0; i < 40'000; ++i) {
    const std::uint64_t value = 1 + random() % 100;
    const std::uint64_t thread = 4 + random() % 3;
    made.sample({1 + random() % 3, 1 + random() % 3, 1 + random() % 3}, {value}, 3, thread);
    expected[std::to_string(thread)] += static_cast<std::int64_t>(value);
    if (i % 10'000 != 0) continue;
    std::string cut;  // locations that do not end
    put_bytes(cut, 1, "\x01\xff");
    put_integer(cut, 2, 1000);
    put_bytes(made.text, 2, cut);
  }
  for (std::uint64_t i = 1; i <= 3; ++i) made.location(i, {i});
  for (std::uint64_t i = 1; i <= 3; ++i) made.function(i, 6 + i);
  made.strings({"", "samples", "count", "thread", "4", "5", "6", "f", "g", "h"});
  for (const unsigned threads : {1U, 4U}) {
    const Execution execution(threads);
    const ExecutionScope scope(execution);
    const Work work = make_work();
    auto dataset = open_source(Source::of(Blob::own("made.pb", made.text)), work);
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    auto profile = (*dataset)->profile();
    ASSERT_TRUE(profile.ok()) << profile.error().text();
    const Definitions& defs = (*profile)->defs();
    EXPECT_EQ(defs.contexts.size(), 3U + 9U + 27U);
    Selection selection;
    selection.flavour.kind = Flavour::Kind::inclusive;
    selection.locations = all_locations(defs);
    const auto cells = compute(**profile, MetricId(0U), selection);
    ASSERT_TRUE(cells.ok());
    std::map<std::string, std::int64_t> sums;
    for (std::size_t location = 0; location < 3; ++location) {
      const std::string name = defs.system.location(LocationId(location)).name;  // "Thread 4"
      for (std::size_t i = 0; i < defs.contexts.size(); ++i) {
        if (defs.contexts[ContextId(i)].parent.valid()) continue;
        sums[name.substr(7)] += std::stoll("0" + cells->at(i, location).text());
      }
    }
    EXPECT_EQ(sums, expected);
    const auto notes = work->diagnostics.all();
    const auto lost =
        std::find_if(notes.begin(), notes.end(), [](const auto& one) { return one.id == "pprof.sample"; });
    ASSERT_NE(lost, notes.end());
    EXPECT_EQ(lost->count, 4U);
  }
}

}  // namespace
}  // namespace fathom
