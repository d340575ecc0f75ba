#include <gtest/gtest.h>

#include "formats/folded/folded_format.hpp"
#include "formats/profile_dataset.hpp"
#include "formats/registry.hpp"
#include "io/file.hpp"
#include "profile/compute.hpp"
#include "profile/memory_profile.hpp"
#include "temporary_directory.hpp"

namespace fathom {
namespace {

Result<ProfilePtr> open_text(const std::string& text, const Work& work = make_work()) {
  FATHOM_TRY(auto dataset, folded::format().open(Source::of(Blob::own("x.folded", text)), work));
  return dataset->profile();
}

std::map<std::string, std::string> own(const Profile& profile, std::size_t metric = 0) {
  std::map<std::string, std::string> out;
  Selection selection;
  selection.flavour.kind = Flavour::Kind::own;
  selection.locations = all_locations(profile.defs());
  const auto cells = compute(profile, MetricId(metric), selection);
  EXPECT_TRUE(cells.ok());
  for (std::size_t row = 0; row < cells->rows(); ++row) {
    if (!cells->is_zero(row, 0)) out[profile.defs().path(ContextId(row))] = cells->at(row, 0).text();
  }
  return out;
}

using Values = std::map<std::string, std::string>;

TEST(Folded, EqualStacksAddUpAndBlanksBelongToNames) {
  const auto profile = open_text("a;b c;d 1\na;b c;d 2\na;b 4\r\n a x 7\na;b c 1 \nab;b 3\n");
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(own(**profile),
            (Values{{"a->b c->d", "3"}, {"a->b", "4"}, {" a x", "7"}, {"a->b c", "1"}, {"ab->b", "3"}}));
}

// Deep stacks make long lines: the first may be longer than what is looked at as a rule.
TEST(Folded, IsRecognisedHoweverLongItsFirstLineIs) {
  std::string stack;
  for (int i = 0; i < 20'000; ++i) stack += "frame" + std::to_string(i) + ";";
  ASSERT_GT(stack.size(), std::size_t{1} << 17);
  for (const std::string& text : {stack + "leaf 7\nmain;leaf 3\n", stack + "leaf 7\n", stack + "leaf 7"}) {
    EXPECT_EQ(folded::format().recognise(Source::of(Blob::own("stacks.txt", text))).confidence, Confidence::likely);
  }
  std::string wide("\xFF\xFE");  // in characters of two bytes
  for (const char c : stack + "leaf 7\nmain;leaf 3\n") (wide += c) += '\0';
  EXPECT_EQ(folded::format().recognise(Source::of(Blob::own("stacks.txt", wide))).confidence, Confidence::likely);
  for (const std::string& other : {stack, std::string(200'000, 'x') + "\nmain;leaf 3\n"}) {
    EXPECT_EQ(folded::format().recognise(Source::of(Blob::own("stacks.txt", other))).confidence, Confidence::no);
  }
}

TEST(Folded, LinesWithoutACountAreCounted) {
  const Work work = make_work();
  const auto profile = open_text("# note\na;b\na 1\n12\n", work);
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(own(**profile), (Values{{"a", "1"}}));
  ASSERT_EQ(work->diagnostics.all().size(), 1u);
  EXPECT_EQ(work->diagnostics.all()[0].count, 3u);
  EXPECT_EQ(work->diagnostics.all()[0].place.line, 1u);
}

// Austin says of a run what it measured; "100" is no count of samples.
TEST(Folded, CommentsAreAboutTheRun) {
  const Work work = make_work();
  const auto profile = open_text("# austin: 3.4.0\n# interval: 100\nP1;T1;f:g:3 7\n# a;b 2\n#!sh;c 1\n", work);
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(own(**profile), (Values{{"P1->T1->f:g:3", "7"}, {"# a->b", "2"}, {"#!sh->c", "1"}}));
  EXPECT_EQ((*profile)->defs().attributes, (Attributes{{"austin", "3.4.0"}, {"interval", "100"}}));
  EXPECT_TRUE(work->diagnostics.all().empty());
}

TEST(Folded, DecimalAndNegativeCounts) {
  const auto profile = open_text("a 1\na -0.25\nb 1e3\n");
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(own(**profile), (Values{{"a", "0.75"}, {"b", "1000"}}));
  EXPECT_EQ(own(**open_text("a;b -3\n")), (Values{{"a->b", "-3"}}));
}

TEST(Folded, TwoCountsAreBeforeAndAfter) {
  const auto profile = open_text("a;b 1 5\na 2 0\n");
  ASSERT_TRUE(profile.ok());
  ASSERT_EQ((*profile)->defs().metrics.size(), 2u);
  EXPECT_EQ(own(**profile, 0), (Values{{"a->b", "1"}, {"a", "2"}}));
  EXPECT_EQ(own(**profile, 1), (Values{{"a->b", "5"}}));
  // One line without a second count: the number belongs to the name.
  EXPECT_EQ(own(**open_text("a;b 1 5\na 2\n")), (Values{{"a->b 1", "5"}, {"a", "2"}}));
}

TEST(Folded, MarksOfFrames) {
  const auto profile = open_text("a;f_[i];k_[k] 1\n");
  ASSERT_TRUE(profile.ok());
  const Definitions& defs = (*profile)->defs();
  EXPECT_EQ(defs.contexts[ContextId(1)].edge, Edge::inlined_call);
  EXPECT_EQ(defs.region_of(ContextId(2)).paradigm, "kernel");
}

TEST(Folded, HugeCountsAreCutAndReported) {
  const Work work = make_work();
  const auto profile = open_text("a 9223372036854775807\na 5\n", work);
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(own(**profile), (Values{{"a", "9223372036854775807"}}));
  EXPECT_EQ(work->diagnostics.all().at(0).id, "profile.overflow");
}

TEST(Folded, NamesThatAreWrittenDifferentlyAreTold) {
  const TemporaryDirectory folder;
  test::MemoryProfile make({"0"});
  const MetricId visits = make.metric("visits");
  for (const char* path : {"main", "main/a;b", "main/a;b/size 10", "main/size 10", "main/plain name"}) {
    make.context(path);
    make.values<double>(visits, path, {1});
  }
  const ProfilePtr profile = make.build();
  ASSERT_TRUE(folded::format().write(*make_profile_dataset(profile), folder / "x.folded", {}).ok());
  const auto written = open_file(folder / "x.folded", make_work());
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(std::string(written->text()),
            "main 1\nmain;a:b 1\nmain;a:b;size_10 1\nmain;size_10 1\nmain;plain name 1\n");
  const auto told = profile->work->diagnostics.all();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].id, "convert.altered_names");
  EXPECT_EQ(told[0].count, 2U);  // a;b and size 10
}

TEST(Folded, WritesOneMetricAndSaysWhatIsLeftOut) {
  const TemporaryDirectory folder;
  const Work work = make_work();
  const auto dataset = open_dataset(FATHOM_SOURCE_DIR "/examples/stencil.cubex", work);
  ASSERT_TRUE(dataset.ok());
  ASSERT_TRUE(folded::format().write(**dataset, folder / "t.folded", {}).ok());
  std::set<std::string> ids;
  for (const Diagnostic& one : work->diagnostics.all()) ids.insert(one.id);
  EXPECT_EQ(ids, (std::set<std::string>{"convert.locations_summed", "convert.metric_left_out", "convert.rounded"}));
  ASSERT_TRUE(folded::format().write(**dataset, folder / "v.folded", {.options = {{"metric", "visits"}}}).ok());
  const auto again = open_dataset(folder / "v.folded", make_work());
  ASSERT_TRUE(again.ok());
  const auto profile = (*again)->profile();
  ASSERT_TRUE(profile.ok());
  const auto sum = compute(**profile, MetricId(0), {{Flavour::Kind::inclusive, {}}, {ContextId(0)}, {0, 1}, true});
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(sum->at(0, 0).text(), "70304");  // visits of the example, as `fathom table --total` has them
  EXPECT_FALSE(folded::format().write(**dataset, folder / "x", {.options = {{"locations", "perhaps"}}}).ok());
}

}  // namespace
}  // namespace fathom
