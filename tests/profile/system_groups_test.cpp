#include "profile/system_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "memory_profile.hpp"
#include "profile/views.hpp"

namespace fathom {
namespace {

// Two nodes: ranks 0 and 1 with two threads each on the first, rank 2 with one on the second.
SystemTree small_system() {
  SystemTree system;
  const auto add = [&](SystemNodeId parent, SystemKind kind, const std::string& name) {
    SystemNode node;
    node.parent = parent;
    node.kind = kind;
    node.name = name;
    return system.add(std::move(node));
  };
  const SystemNodeId machine = add({}, SystemKind::node, "m");
  int rank = 0;
  for (const int ranks : {2, 1}) {
    const SystemNodeId node = add(machine, SystemKind::node, ranks == 2 ? "n0" : "n1");
    for (int r = 0; r < ranks; ++r, ++rank) {
      const SystemNodeId process = add(node, SystemKind::group, "rank " + std::to_string(rank));
      for (int t = 0; t < ranks; ++t) {
        SystemNode thread;
        thread.parent = process;
        thread.kind = SystemKind::location;
        thread.name = "thread " + std::to_string(t);
        thread.file_id = system.location_count();
        system.add_location(std::move(thread));
      }
    }
  }
  return system;
}

std::vector<std::pair<std::string, std::size_t>> shapes(const std::vector<SystemGroup>& groups) {
  std::vector<std::pair<std::string, std::size_t>> out;
  for (const SystemGroup& group : groups) out.emplace_back(group.name, group.locations.size());
  return out;
}
using Shapes = std::vector<std::pair<std::string, std::size_t>>;

TEST(SystemGroups, NodesProcessesThreads) {
  const SystemTree system = small_system();
  EXPECT_EQ(shapes(system_groups(system, SystemLevel::node)), (Shapes{{"n0", 4}, {"n1", 1}}));
  EXPECT_EQ(shapes(system_groups(system, SystemLevel::process)), (Shapes{{"rank 0", 2}, {"rank 1", 2}, {"rank 2", 1}}));
  EXPECT_EQ(system_groups(system, SystemLevel::thread).size(), 5U);
  const LocationId some[] = {LocationId(1U), LocationId(4U)};
  EXPECT_EQ(shapes(system_groups(system, SystemLevel::node, some)), (Shapes{{"n0", 1}, {"n1", 1}}));
}

// A node may have parts of its own between itself and its processes.
TEST(SystemGroups, SocketsBelongToTheirNode) {
  SystemTree system = small_system();
  const auto named = [&](const char* name) {
    return SystemNodeId(
        static_cast<std::size_t>(std::find_if(system.nodes.begin(), system.nodes.end(),
                                              [&](const SystemNode& node) { return node.name == name; }) -
                                 system.nodes.begin()));
  };
  for (const char* node : {"n0", "n1"}) system.nodes[named(node).index()].type = "node";
  for (const char* process : {"rank 0", "rank 1"}) {
    SystemNode socket;
    socket.kind = SystemKind::node;
    socket.type = "socket";
    socket.name = std::string("socket of ") + process;
    socket.parent = named("n0");
    const SystemNodeId added = system.add(std::move(socket));
    system.nodes[named(process).index()].parent = added;
  }
  EXPECT_EQ(shapes(system_groups(system, SystemLevel::node)), (Shapes{{"n0", 4}, {"n1", 1}}));
}

TEST(SystemGroups, EqualNamesAreToldApart) {
  SystemTree system = small_system();
  for (SystemNode& node : system.nodes) {
    if (node.kind == SystemKind::group) node.name = "process";
  }
  const Shapes found = shapes(system_groups(system, SystemLevel::process));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].first, "m/n0/process");
  EXPECT_NE(found[0].first, found[1].first);
}

// Values of a process are those of its threads together.
TEST(SystemGroups, FlatProfiles) {
  test::MemoryProfile make({"0", "1"});
  const MetricId time = make.metric("time");
  make.context("main");
  make.context("main/foo");
  make.values<double>(time, "main", {1, 2});
  make.values<double>(time, "main/foo", {4, 8});
  const ProfilePtr profile = make.build();
  for (const auto& [by, rows, first] :
       {std::tuple(GroupBy::location, 2U, 5.0), {GroupBy::process, 1U, 15.0}, {GroupBy::node, 1U, 15.0}}) {
    const auto flat = flat_profile(*profile, {time, {}, {}}, by);
    ASSERT_TRUE(flat.ok());
    ASSERT_EQ(flat->rows.size(), rows);
    EXPECT_EQ(flat->exclusive.scalar(0, 0), first);
    EXPECT_EQ(flat->inclusive.scalar(0, 0), first);
  }
}

}  // namespace
}  // namespace fathom
