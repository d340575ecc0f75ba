#include <gtest/gtest.h>

#include "formats/extrap/expected.hpp"
#include "formats/registry.hpp"
#include "formats/runs/run_names.hpp"

namespace fathom::runs {
namespace {

using extrap::testing::data;
using extrap::testing::have_data;
using extrap::testing::Json;

std::string shown(std::string_view name) {
  const auto point = parse_run_name(name);
  if (!point) return "refused";
  std::string out;
  for (std::size_t i = 0; i < point->names.size(); ++i) {
    out += (i > 0 ? " " : "") + point->names[i] + "=" + python_number(point->values[i]);
  }
  return out;
}

TEST(RunNames, Forms) {
  for (const char* name : {"mm.x10y1z1.r1", "mm.x10y1z1", "x10y1z1", "mm.x10.y1.z1.r12", "mm.x10,y1,z1.r1"}) {
    EXPECT_EQ(shown(name), "x=10.0 y=1.0 z=1.0") << name;
  }
  EXPECT_EQ(shown("mm.x20,5.y20,5.z1,5.r1"), "x=20.5 y=20.5 z=1.5");
  EXPECT_EQ(shown("mm.x21.5,y21,5,z1.15.r1"), "x=21.5 y=21.5 z=1.15");
  EXPECT_EQ(shown("mm.x1.1y1.1z1.1"), "x=1.1 y=1.1 z=1.1");
  EXPECT_EQ(shown("app.ranks4.r1"), "ranks=4.0");
  EXPECT_EQ(shown("app.ranks4"), "ranks=4.0");
  EXPECT_EQ(shown("app.ranks4.r2"), "ranks=4.0");
  EXPECT_EQ(shown("app.n10.ranks4"), "n=10.0 ranks=4.0");
  EXPECT_EQ(shown("app.n10.ranks4.rep2"), "n=10.0 ranks=4.0");
  EXPECT_EQ(shown("app.run4"), "run=4.0");
  EXPECT_EQ(shown("app.p4.r1.n5"), "p=4.0");  // nothing counts after a repetition
  EXPECT_EQ(shown("mm.x10y1.run3"), "x=10.0 y=1.0");
  EXPECT_EQ(shown("mm.x10y1.r1_again"), "x=10.0 y=1.0");
  EXPECT_EQ(shown("x10y1z1.r1"), "x=10.0 y=1.0 z=1.0");
  EXPECT_EQ(shown("x10.y5"), "y=5.0");  // what stands before the first dot is the prefix
  EXPECT_EQ(shown("app.x22.5.y22.5.z1.25"), "x=22.5 y=22.5 z=1.25");
  EXPECT_EQ(shown("app.p-8"), "p-=8.0");  // there are no negative numbers
  EXPECT_EQ(shown("app.8.r1"), "refused");
  EXPECT_EQ(shown("app.x1e5"), "x=1.0 e=5.0");
  EXPECT_EQ(shown("mm.x1.000,5.r1"), "refused");
  EXPECT_EQ(shown("nothing"), "refused");
  EXPECT_EQ(shown(""), "refused");
}

TEST(Runs, CubeDirectoriesOfTheReference) {
  if (!have_data()) GTEST_SKIP() << "no reference data";
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data("expected"))) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with("cubeset")) continue;
    const Json expected = extrap::testing::load_json(entry.path());
    const auto path = data("inputs") / expected["input"].get<std::string>();
    if (!std::filesystem::exists(path)) continue;
    SCOPED_TRACE(file);
    const Work work = make_work();
    for (const char* scaling : {"weak_threaded", "strong", "weak"}) {
      if (file.find(std::string(".") + scaling + ".") != std::string::npos) work->options["scaling"] = scaling;
    }
    if (file.find("use_inclusive") != std::string::npos) work->options["use-inclusive-measurements"] = "true";
    auto dataset = open_dataset(path, work);
    if (expected.contains("error")) {
      ASSERT_FALSE(dataset.ok());
      // Directories are listed in another order there, so the two lists may be exchanged.
      EXPECT_NE(dataset.error().what().find("Parameters must be the same and in the same order"), std::string::npos)
          << dataset.error().text();
      ++compared;
      continue;
    }
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ((*dataset)->format().name, "runs");
    auto experiment = (*dataset)->experiment();
    ASSERT_TRUE(experiment.ok()) << experiment.error().text();
    extrap::testing::check_experiment(**experiment, expected["experiment"]);
    ++compared;
    if (HasFailure()) break;
  }
  EXPECT_GE(compared, 15u);
}

}  // namespace
}  // namespace fathom::runs
