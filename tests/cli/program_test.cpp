#include "cli/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/commands.hpp"

namespace fathom::cli {
namespace {

struct Ran {
  int status;
  std::string out;
  std::string err;
};

Ran run(std::vector<std::string> arguments) {
  Output out;
  Output err;
  const int status = run_program(arguments, out, err);
  return {status, out.text(), err.text()};
}

TEST(Program, KnowsItsVersionAndHelp) {
  EXPECT_EQ(run({"--version"}).out.rfind("fathom ", 0), 0U);
  const Ran help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_LE(std::count(help.out.begin(), help.out.end(), '\n'), 40);
  const Ran all = run({"help", "commands"});
  for (const std::string& name : command_names()) {
    EXPECT_NE(help.out.find(name), std::string::npos) << name;
    EXPECT_NE(all.out.find("  " + name + " "), std::string::npos) << name;
  }
  EXPECT_NE(run({"help", "algebra"}).out.find("  merge "), std::string::npos);
  EXPECT_EQ(run({"help", "algebra"}).out.find("  events "), std::string::npos);
}

TEST(Program, EveryCommandHasHelpWithAnExample) {
  for (const std::string& name : command_names()) {
    const Ran help = run({name, "--help"});
    EXPECT_EQ(help.status, 0) << name;
    EXPECT_NE(help.out.find("Examples"), std::string::npos) << name;
    EXPECT_EQ(run({"help", name}).out, help.out);
  }
}

TEST(Program, SaysWhatIsWrongWithTheRequest) {
  EXPECT_EQ(run({}).status, 2);
  const Ran typo = run({"fromats"});
  EXPECT_EQ(typo.status, 2);
  EXPECT_NE(typo.err.find("did you mean 'formats'"), std::string::npos);
  EXPECT_NE(run({"info"}).err.find("info needs PATH"), std::string::npos);
  EXPECT_EQ(run({"info", "/no/such/file"}).status, 2);
  EXPECT_NE(run({"info", "--csv", "x"}).err.find("no CSV form"), std::string::npos);
  EXPECT_EQ(run({"formats", "--json", "--csv"}).status, 2);
}

TEST(Program, TakesGlobalOptionsBeforeTheCommand) {
  EXPECT_EQ(run({"--threads", "1", "formats", "--csv"}).out.rfind("name,title,", 0), 0U);
}

}  // namespace
}  // namespace fathom::cli
