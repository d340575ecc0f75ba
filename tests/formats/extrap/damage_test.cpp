// Cut off and flipped files of every format: an error or an experiment, never a crash.
#include <gtest/gtest.h>

#include <random>

#include "formats/extrap/extra_p_writer.hpp"
#include "formats/extrap/text_reader.hpp"
#include "formats/registry.hpp"
#include "io/file.hpp"

namespace fathom::extrap {
namespace {

const char* const kText = "PARAMETER p n\nPOINTS (1 2) (3 4)\nMETRIC time\nREGION main->f\nDATA 1 2 3\nDATA 4 5\n";
const char* const kJson =
    R"({"parameters":["p"],"measurements":{"a->b":{"t":[{"point":[1],"values":[1,2]},{"point":[2],"values":[[1,2],[3]]}]}}})";
const char* const kLegacy =
    R"({"parameters":[{"id":1,"name":"p"}],"callpaths":[{"id":1,"name":"a"}],"metrics":[{"id":1,"name":"t"}],)"
    R"("coordinates":[{"id":1,"parameter_value_pairs":[{"parameter_id":1,"parameter_value":"2"}]}],)"
    R"("measurements":[{"id":1,"coordinate_id":1,"callpath_id":1,"metric_id":1,"value":1.5}]})";
const char* const kLines =
    "{\"params\":{\"p\":1},\"callpath\":\"a\",\"metric\":\"t\",\"value\":1.5}\n{\"params\":{\"p\":2},\"callpath\":"
    "\"a\","
    "\"metric\":\"t\",\"value\":[2,3]}\n";
const char* const kTalpas = "{\"parameters\":{\"p\":1};\"callpath\":\"a\";\"metric\":\"t\";\"value\":1.5}\n";

void damage(const std::string& whole, const char* format) {
  SCOPED_TRACE(format);
  auto good = open_source(Source::of(Blob::own("x", whole)), make_work(), format);
  ASSERT_TRUE(good.ok()) << good.error().text();
  ASSERT_TRUE((*good)->experiment().ok()) << (*good)->experiment().error().text();
  const auto attempt = [&](std::string bytes) {
    auto dataset = open_source(Source::of(Blob::own("x", std::move(bytes))), make_work(), format);
    if (!dataset) {
      EXPECT_FALSE(dataset.error().what().empty());
      EXPECT_FALSE(dataset.error().place().file.empty()) << dataset.error().text();
      return;
    }
    (void)(*dataset)->experiment();
    (void)(*dataset)->check();
  };
  for (std::size_t n = 0; n < whole.size(); ++n) attempt(whole.substr(0, n));
  std::mt19937 random(7);
  for (int i = 0; i < 1000; ++i) {
    std::string bad = whole;
    bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
    attempt(std::move(bad));
  }
}

TEST(ExtrapDamage, EveryFormat) {
  damage(kText, "extrap-text");
  damage(kJson, "extrap-json");
  damage(kLegacy, "extrap-json");
  damage(kLines, "extrap-jsonl");
  damage(kTalpas, "talpas");
  const auto path = std::filesystem::path(::testing::TempDir()) / "damage.extra-p";
  auto dataset = open_source(Source::of(Blob::own("x", std::string(kJson))), make_work());
  ASSERT_TRUE(dataset.ok());
  ASSERT_TRUE(write_extra_p(**(*dataset)->experiment(), {}, path, true).ok());
  const auto archive = map_file(path);
  ASSERT_TRUE(archive.ok());
  damage(std::string(archive->text()), "extra-p");
}

// What one format writes the others read: values, nesting and order survive.
// Texts that end inside of the word that they are recognised by: nothing behind them is looked at (the sanitized build
// checks every index).
TEST(ExtrapDamage, BeginningsOfFieldsAreNoFields) {
  constexpr std::string_view kWord = "PARAMETER";
  for (std::size_t size = 0; size < kWord.size(); ++size) {
    EXPECT_EQ(recognise_text(kWord.substr(0, size)).confidence, Confidence::no) << size;
  }
  EXPECT_EQ(recognise_text(kWord).confidence, Confidence::certain);
}

TEST(ExtrapWriters, RoundTrips) {
  auto dataset = open_source(Source::of(Blob::own("x", std::string(kJson))), make_work());
  ASSERT_TRUE(dataset.ok());
  const auto before = *(*dataset)->experiment();
  for (const char* name : {"extrap-json", "extrap-jsonl", "extra-p"}) {
    SCOPED_TRACE(name);
    const auto path = std::filesystem::path(::testing::TempDir()) / (std::string("round.") + name);
    WriteOptions options;
    if (std::string_view(name) == "extra-p") options.options.emplace_back("keep_values", "true");
    ASSERT_TRUE((*find_format(name))->write(**dataset, path, options).ok());
    auto again = open_dataset(path, make_work());
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ((*again)->format().name, name);
    const auto after = *(*again)->experiment();
    ASSERT_EQ(after->measurement_count(), before->measurement_count());
    for (std::size_t m = 0; m < before->measurement_count(); ++m) {
      EXPECT_EQ(after->means()[m], before->means()[m]);
      EXPECT_EQ(after->repetitions()[m], before->repetitions()[m]);
    }
    EXPECT_EQ(after->repetition_means(0), before->repetition_means(0));
  }
  // The text format holds plain lists.
  const auto path = std::filesystem::path(::testing::TempDir()) / "round.txt";
  ASSERT_TRUE((*find_format("extrap-text"))->write(**dataset, path, {}).ok());
  auto text = open_dataset(path, make_work());
  ASSERT_TRUE(text.ok()) << text.error().text();
  EXPECT_EQ((*(*text)->experiment())->means()[1], before->means()[1]);
}

}  // namespace
}  // namespace fathom::extrap
