#include "profile/algebra/topology.hpp"

#include <gtest/gtest.h>

#include "memory_profile.hpp"

namespace fathom {
namespace {

ProfilePtr sample() {
  test::MemoryProfile make({"0", "1", "2", "3"});
  make.metric("time");
  make.context("main");
  return make.build();
}

using At = std::vector<std::uint64_t>;

TEST(Topology, FillsPlacesInOrderWithTheLastDimensionFastest) {
  const auto made = algebra::add_topology(sample(), {"grid", {{"x", 2, false}, {"y", 3, true}}, {}, ""});
  ASSERT_TRUE(made.ok()) << made.error().text();
  const SystemTree& system = (*made)->defs().system;
  ASSERT_EQ(system.topologies.size(), 1u);
  const Topology& grid = system.topologies[0];
  EXPECT_EQ(grid.name, "grid");
  EXPECT_TRUE(grid.dimensions[1].periodic);
  ASSERT_EQ(grid.coordinates.size(), 4u);
  EXPECT_EQ(grid.coordinates[2].at, (At{0, 2}));
  EXPECT_EQ(grid.coordinates[3].at, (At{1, 0}));
  EXPECT_EQ(grid.coordinates[3].node, system.locations[3]);
}

TEST(Topology, TakesListedCoordinates) {
  const auto made =
      algebra::add_topology(sample(), {"t", {{"", 2, false}, {"", 2, false}}, {}, "# id x y\n3, 0, 1\n\n0 1 1\r\n"});
  ASSERT_TRUE(made.ok()) << made.error().text();
  const auto& points = (*made)->defs().system.topologies[0].coordinates;
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].node, (*made)->defs().system.locations[3]);
  EXPECT_EQ(points[0].at, (At{0, 1}));
  EXPECT_EQ(points[1].at, (At{1, 1}));
}

TEST(Topology, RefusesWhatDoesNotFit) {
  const auto error = [](const algebra::NewTopology& wanted) {
    const auto made = algebra::add_topology(sample(), wanted);
    return made.ok() ? std::string() : made.error().text();
  };
  EXPECT_NE(error({"t", {}, {}, ""}).find("at least one dimension"), std::string::npos);
  EXPECT_NE(error({"t", {{"x", 3, false}}, {}, ""}).find("3 places, too few for 4"), std::string::npos);
  EXPECT_NE(error({"t", {{"x", 4, false}, {"", 1, false}}, {}, ""}).find("all dimensions have a name"),
            std::string::npos);
  EXPECT_NE(error({"t", {{"x", 4, false}}, {}, "0 1\n1 4\n"}).find("line 2: 4 is outside dimension 0"),
            std::string::npos);
  EXPECT_NE(error({"t", {{"x", 4, false}}, {}, "9 1\n"}).find("nothing has the id 9"), std::string::npos);
  EXPECT_NE(error({"t", {{"x", 4, false}}, {}, "0 1 2\n"}).find("expected an id and 1 numbers"), std::string::npos);
}

TEST(Topology, GivesNames) {
  auto profile = algebra::add_topology(sample(), {"", {{"", 2, false}, {"", 2, false}}, {}, ""});
  ASSERT_TRUE(profile.ok());
  profile = algebra::rename_topology(*profile, 0, "torus");
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(*algebra::find_topology((*profile)->defs(), "torus"), 0u);
  EXPECT_FALSE(algebra::find_topology((*profile)->defs(), "1").ok());
  EXPECT_FALSE(algebra::name_dimensions(*profile, 0, {"x"}).ok());
  profile = algebra::name_dimensions(*profile, 0, {"x", "y"});
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ((*profile)->defs().system.topologies[0].dimensions[1].name, "y");
}

}  // namespace
}  // namespace fathom
