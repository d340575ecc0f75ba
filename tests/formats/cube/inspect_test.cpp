// Reports against what the official tools print for the same profiles.
#include "profile/inspect/inspect.hpp"

#include <gtest/gtest.h>

#include "dump_csv.hpp"
#include "profile/views.hpp"

namespace fathom {
namespace {

class CubeInspect : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(test::shared_cube() / "algebra")) GTEST_SKIP() << "no shared data";
  }
  static ProfilePtr in(const std::string& name) {
    return test::open_profile(test::shared_cube() / "algebra/in" / (name + ".cubex"));
  }
  static std::string out(const std::string& name) {
    return test::read_text(test::shared_cube() / "algebra/out" / (name + ".txt"));
  }
};

double aggregated(const Profile& profile, MetricId metric, const inspect::RoutineLine& line) {
  const auto kind =
      line.part == inspect::RoutineLine::Part::exclusive ? Flavour::Kind::exclusive : Flavour::Kind::inclusive;
  const auto cells = compute(profile, metric, {{kind, {}}, {line.context}, all_locations(profile.defs()), true});
  return cells.ok() ? cells->scalar(0, 0) : -1;
}

// stat.txt: "INCL(func_0),65.25", "EXCL(func_0),...", then the callees, a blank line after each routine.
TEST_F(CubeInspect, RoutinesAsInTheStatReport) {
  const ProfilePtr profile = in("n");
  const auto routines = inspect::routines(profile->defs(), {});
  ASSERT_TRUE(routines.ok());
  std::vector<std::pair<std::string, double>> ours;
  for (const auto& routine : *routines) {
    for (const auto& line : routine.lines) {
      std::string name = profile->defs().region_of(line.context).name;
      if (line.part == inspect::RoutineLine::Part::inclusive) name = "INCL(" + name + ")";
      if (line.part == inspect::RoutineLine::Part::exclusive) name = "EXCL(" + name + ")";
      ours.emplace_back(name, aggregated(*profile, profile->defs().find_metric("time"), line));
    }
  }
  std::istringstream text(out("stat"));
  std::string line;
  std::getline(text, line);
  std::size_t at = 0;
  while (std::getline(text, line)) {
    if (line.empty()) continue;
    ASSERT_LT(at, ours.size());
    const std::size_t comma = line.rfind(',');
    EXPECT_EQ(line.substr(0, comma), ours[at].first);
    EXPECT_TRUE(test::close(std::stod(line.substr(comma + 1)), ours[at].second)) << line;
    ++at;
  }
  EXPECT_EQ(at, ours.size());
}

// stat_pct.txt: metric, routine, count, sum, mean, variance, minimum, median (four locations: no quartiles), maximum.
TEST_F(CubeInspect, SpreadAsInTheStatReport) {
  const ProfilePtr profile = in("n");
  const auto routines = inspect::routines(profile->defs(), {});
  ASSERT_TRUE(routines.ok());
  std::istringstream text(out("stat_pct"));
  std::string line;
  std::getline(text, line);
  std::size_t compared = 0;
  for (const char* metric : {"time", "mpi", "visits"}) {
    for (const auto& routine : *routines) {
      for (const auto& part : routine.lines) {
        do {
          ASSERT_TRUE(std::getline(text, line));
        } while (line.empty());
        std::istringstream words(line);
        std::string name, label;
        double count = 0, sum = 0, mean = 0, variance = 0, minimum = 0, median = 0, maximum = 0;
        words >> name >> label >> count >> sum >> mean >> variance >> minimum >> median >> maximum;
        EXPECT_EQ(name, metric);
        const auto kind =
            part.part == inspect::RoutineLine::Part::exclusive ? Flavour::Kind::exclusive : Flavour::Kind::inclusive;
        const auto rows = location_statistics(*profile, profile->defs().find_metric(metric), {kind, {}}, {part.context},
                                              all_locations(profile->defs()));
        ASSERT_TRUE(rows.ok());
        const Statistics& s = rows->front();
        EXPECT_EQ(static_cast<double>(s.count), count) << line;
        EXPECT_TRUE(test::close(s.sum, sum)) << line;
        EXPECT_TRUE(test::close(s.mean, mean)) << line;
        EXPECT_NEAR(s.variance, variance, 2e-6) << line;
        EXPECT_TRUE(test::close(s.minimum, minimum)) << line;
        EXPECT_TRUE(test::close(s.median, median)) << line;
        EXPECT_TRUE(test::close(s.maximum, maximum)) << line;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 24u);
}

// stat_t.txt: the five regions with the most exclusive time; calls, exclusive, inclusive.
TEST_F(CubeInspect, TopRegionsAsInTheStatReport) {
  const ProfilePtr profile = in("n");
  const auto time = flat_profile(*profile, {profile->defs().find_metric("time"), {}, {}}, GroupBy::region);
  const auto visits = flat_profile(*profile, {profile->defs().find_metric("visits"), {}, {}}, GroupBy::region);
  ASSERT_TRUE(time.ok() && visits.ok());
  const auto order = time->ranking(false);
  std::istringstream text(out("stat_t"));
  std::string line;
  std::getline(text, line);
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(std::getline(text, line));
    const auto fields = split(line, ',');
    const std::size_t row = order[i];
    EXPECT_EQ(fields[0], "\"" + time->rows[row].name + "\"");
    EXPECT_EQ(std::stod(std::string(fields[1])), visits->exclusive.scalar(row, 0));
    EXPECT_TRUE(test::close(std::stod(std::string(fields[2])), time->exclusive.scalar(row, 0)));
    EXPECT_TRUE(test::close(std::stod(std::string(fields[3])), time->inclusive_sum.scalar(row, 0)));
  }
}

TEST_F(CubeInspect, GroupsNodesAndFilter) {
  const ProfilePtr profile = in("t");
  const auto groups = inspect::region_groups(profile->defs());
  std::size_t used = 0;
  for (const Context& context : profile->defs().contexts.all()) {
    const std::string& name = profile->defs().region(context.region).name;
    const std::string& group = groups[context.region.index()];
    if (name.starts_with("MPI_")) {
      EXPECT_EQ(group, "MPI");
      ++used;
    }
    if (name == "main") {
      EXPECT_EQ(group, "COM");
    }
  }
  EXPECT_GT(used, 0u);
  const auto filter =
      inspect::suggest_filter(*profile, profile->defs().find_metric("time"), profile->defs().find_metric("visits"));
  ASSERT_TRUE(filter.ok());
  ASSERT_FALSE(filter->empty());
  EXPECT_EQ(groups[filter->front().index()], "USR");
  EXPECT_NE(inspect::filter_text(profile->defs(), *filter).find("EXCLUDE"), std::string::npos);
  // nv.txt: one node, four threads, 93.72 on it.
  const ProfilePtr n = in("n");
  const auto nodes = inspect::node_view(*n, n->defs().find_metric("time"));
  ASSERT_TRUE(nodes.ok());
  EXPECT_EQ(nodes->nodes, 1u);
  EXPECT_EQ(nodes->locations, 4u);
  EXPECT_NEAR(nodes->over_nodes.maximum, 93.72, 0.005);
}

// sanity.txt: 7 / 7 five times, 10 / 10, 400 / 400 twice.
TEST_F(CubeInspect, SanityCounts) {
  const auto checks = inspect::sanity(*in("n"));
  ASSERT_TRUE(checks.ok());
  const std::vector<std::uint64_t> expected{7, 7, 7, 7, 7, 10, 400, 400};
  ASSERT_EQ(checks->size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(checks->at(i).total, expected[i]);
    EXPECT_EQ(checks->at(i).good, expected[i]);
  }
}

TEST_F(CubeInspect, CompareAsTheReference) {
  const auto same = inspect::compare(*in("n"), *in("n"));
  ASSERT_TRUE(same.ok());
  EXPECT_TRUE(same->equal());
  EXPECT_EQ(same->values, 400u);
  const auto other = inspect::compare(*in("a"), *in("b"));
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->equal());
  EXPECT_TRUE(other->contexts_equal);
  EXPECT_NE(other->first_difference.find("1.8079e-05 and 4.5026e-05"), std::string::npos) << other->first_difference;
  const auto shape = inspect::compare(*in("n"), *in("r2"));
  ASSERT_TRUE(shape.ok());
  EXPECT_FALSE(shape->equal());
}

}  // namespace
}  // namespace fathom
