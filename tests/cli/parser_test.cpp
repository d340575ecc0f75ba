#include "cli/parser.hpp"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

struct Sample {
  std::string path;
  std::vector<std::string> metrics;
  std::uint64_t number = 10;
  std::optional<double> minimum;
  std::optional<std::uint64_t> memory;
  std::string view = "topdown";
  bool hot = false;
  bool strict = false;

  Result<std::vector<std::string>> parse(std::vector<std::string> arguments) {
    Options command;
    command.positional("PATH", path, "the file")
        .values("-m,--metric", "M", metrics, "metrics")
        .value("-n,--number", "N", &number, "how many")
        .value("--min", "%", &minimum, "least share")
        .choice("--view", view, {"topdown", "bottomup"}, "which way")
        .flag("--hot", hot, "hot path")
        .was("-x");
    Options everywhere;
    everywhere.flag("--strict", strict, "strict").size("--max-memory", "SIZE", memory, "memory").was("--memory,-x");
    return parse_arguments(arguments, command, everywhere, "sample");
  }
};

TEST(Parser, TakesOptionsBeforeAndAfterThePath) {
  Sample sample;
  ASSERT_TRUE(sample.parse(
      {"--strict", "-m", "time", "file.x", "--metric=visits", "-n5", "--min", "2.5%", "--hot", "--max-memory", "64M"}));
  EXPECT_EQ(sample.path, "file.x");
  EXPECT_EQ(sample.metrics, (std::vector<std::string>{"time", "visits"}));
  EXPECT_EQ(sample.number, 5U);
  EXPECT_EQ(sample.minimum, 2.5);
  EXPECT_EQ(sample.memory, 64U << 20);
  EXPECT_TRUE(sample.hot);
  EXPECT_TRUE(sample.strict);
}

TEST(Parser, TakesOldNamesWithOneHintEach) {
  Sample sample;
  // -x is an old name of the command's own option, which counts before that of the option known everywhere.
  const auto hints = sample.parse({"--memory", "1K", "--memory=2K", "file.x", "-x"});
  ASSERT_TRUE(hints.ok()) << hints.error().text();
  EXPECT_EQ(sample.memory, 2048U);
  EXPECT_TRUE(sample.hot);
  EXPECT_EQ(*hints,
            (std::vector<std::string>{"-x is called --hot now; the old name works for one more release",
                                      "--memory is called --max-memory now; the old name works for one more release"}));
  EXPECT_TRUE(Sample().parse({"--max-memory", "1K", "file.x", "--hot"})->empty());
}

TEST(Parser, SuggestsForMistypedOptions) {
  Sample sample;
  const auto result = sample.parse({"--metirc", "time", "file.x"});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind(), ErrorKind::usage);
  EXPECT_EQ(result.error().what(), "sample has no option '--metirc' (did you mean '--metric'?)");
}

TEST(Parser, RefusesWrongValues) {
  Sample sample;
  EXPECT_EQ(sample.parse({"f", "-n", "many"}).error().what(), "--number: expected a number of 0 or more, got 'many'");
  EXPECT_EQ(sample.parse({"f", "--view", "topdwn"}).error().what(),
            "--view: 'topdwn' is none of topdown, bottomup (did you mean 'topdown'?)");
  EXPECT_EQ(sample.parse({"f", "g"}).error().what(), "unexpected argument 'g'");
  EXPECT_FALSE(sample.parse({"f", "--metric"}).ok());
}

TEST(Parser, TakesAnythingAsPathAfterTwoDashes) {
  Sample sample;
  ASSERT_TRUE(sample.parse({"--", "--odd-name"}));
  EXPECT_EQ(sample.path, "--odd-name");
}

}  // namespace
}  // namespace fathom::cli
