// Communicators of every making, on traces built here; what they must hold follows from the rules of MPI.
#include <gtest/gtest.h>

#include <algorithm>

#include "formats/dumpi/trace_maker.hpp"
#include "formats/dumpi/transfer.hpp"

namespace fathom::dumpi {
namespace {

constexpr int kWorld = 2;
constexpr int kSelf = 3;
constexpr int kNull = 1;
constexpr int kUndefined = -32766;
using Members = std::vector<std::int32_t>;

class DumpiCommunicators : public DumpiRun {
 protected:
  void resolve_run(const std::vector<TraceMaker>& ranks) {
    set_ = run(ranks);
    resolve_set();
  }
  void resolve_set() {
    ASSERT_NE(set_, nullptr);
    auto scans = set_->scans();
    ASSERT_TRUE(scans.ok());
    auto resolution = resolve(*set_, **scans);
    ASSERT_TRUE(resolution.ok()) << resolution.error().text();
    resolution_ = std::make_unique<Resolution>(*std::move(resolution));
  }
  // The communicator that a rank's local id means at the end of its stream.
  CommunicatorView view(std::size_t file, int id) {
    Tables tables(set_->files()[file].file, *resolution_, file, set_->files()[file].rank);
    tables.advance(1'000'000);
    return tables.communicator(id);
  }
  // Whom rank `i` of it is, for all i: own group, or the other one of an inter-communicator.
  Members peers(std::size_t file, int id) {
    const CommunicatorView found = view(file, id);
    return found.peers == nullptr ? Members{} : *found.peers;
  }
  std::shared_ptr<RankSet> set_;
  std::unique_ptr<Resolution> resolution_;
};

TEST_F(DumpiCommunicators, SplitByColourKeyAndUndefined) {
  std::vector<TraceMaker> ranks(5);
  const int colours[] = {1, 0, 1, kUndefined, 1};
  const int keys[] = {5, 0, 5, 0, -1};
  for (std::size_t r = 0; r < 5; ++r) {
    // Local ids differ between ranks on purpose.
    ranks[r].call("MPI_Comm_split", {{"oldcomm", kWorld},
                                     {"color", colours[r]},
                                     {"key", keys[r]},
                                     {"newcomm", r == 3 ? kNull : 4 + static_cast<int>(r)}});
  }
  resolve_run(ranks);
  // Keys order, equal keys keep the order of the parent.
  EXPECT_EQ(peers(0, 4), (Members{4, 0, 2}));
  EXPECT_EQ(peers(2, 6), (Members{4, 0, 2}));
  EXPECT_EQ(peers(1, 5), (Members{1}));
  EXPECT_EQ(view(2, 6).own, 2);
  EXPECT_EQ(view(0, 4).global, view(4, 8).global);
  EXPECT_EQ(view(3, 4).global, -1);
  EXPECT_TRUE(noticed().empty());
}

TEST_F(DumpiCommunicators, DupCreateAndGroups) {
  std::vector<TraceMaker> ranks(6);
  for (TraceMaker& rank : ranks) {
    rank.call("MPI_Comm_group", {{"comm", kWorld}, {"group", 3}});
    rank.call("MPI_Group_range_incl", {{"group", 3}, {"ranges", list({4, 0, -2})}, {"newgroup", 4}});  // 4 2 0
    rank.call("MPI_Group_excl", {{"group", 3}, {"ranks", list({0, 5})}, {"newgroup", 5}});             // 1 2 3 4
    rank.call("MPI_Group_union", {{"group1", 4}, {"group2", 5}, {"newgroup", 6}});                     // 4 2 0 1 3
    rank.call("MPI_Group_intersection", {{"group1", 4}, {"group2", 5}, {"newgroup", 7}});              // 4 2
    rank.call("MPI_Group_difference", {{"group1", 5}, {"group2", 4}, {"newgroup", 8}});                // 1 3
    rank.call("MPI_Group_incl", {{"group", 6}, {"ranks", list({3, 0})}, {"newgroup", 9}});             // 1 4
    rank.call("MPI_Group_range_excl", {{"group", 3}, {"ranges", list({0, 2, 1})}, {"newgroup", 10}});  // 3 4 5
  }
  const auto create = [&](int group, int made, const Members& members) {
    for (std::int32_t r = 0; r < 6; ++r) {
      const bool in = std::find(members.begin(), members.end(), r) != members.end();
      ranks[static_cast<std::size_t>(r)].call("MPI_Comm_create",
                                              {{"oldcomm", kWorld}, {"group", group}, {"newcomm", in ? made : kNull}});
    }
  };
  create(6, 4, {4, 2, 0, 1, 3});
  create(7, 5, {4, 2});
  create(8, 6, {1, 3});
  create(9, 7, {1, 4});
  create(10, 8, {3, 4, 5});
  for (TraceMaker& rank : ranks) rank.call("MPI_Comm_dup", {{"oldcomm", kWorld}, {"newcomm", 9}});
  resolve_run(ranks);
  EXPECT_EQ(peers(0, 4), (Members{4, 2, 0, 1, 3}));
  EXPECT_EQ(peers(4, 5), (Members{4, 2}));
  EXPECT_EQ(peers(1, 6), (Members{1, 3}));
  EXPECT_EQ(peers(4, 7), (Members{1, 4}));
  EXPECT_EQ(peers(5, 8), (Members{3, 4, 5}));
  EXPECT_EQ(peers(5, 9), (Members{0, 1, 2, 3, 4, 5}));
  EXPECT_NE(view(0, 9).global, view(0, kWorld).global);
  EXPECT_TRUE(noticed().empty());
}

TEST_F(DumpiCommunicators, CartesianAndItsSlices) {
  // 2 x 3 grid of 7 ranks; rank 6 is left out. Rows keep the second dimension, columns the first.
  std::vector<TraceMaker> ranks(7);
  for (std::size_t r = 0; r < 7; ++r) {
    const bool in = r < 6;
    ranks[r].call(
        "MPI_Cart_create",
        {{"oldcomm", kWorld}, {"dims", list({2, 3})}, {"periods", list({0, 1})}, {"newcomm", in ? 4 : kNull}});
    if (!in) continue;
    ranks[r].call("MPI_Cart_sub", {{"oldcomm", 4}, {"remain_dims", list({0, 1})}, {"newcomm", 5}});
    ranks[r].call("MPI_Cart_sub", {{"oldcomm", 4}, {"remain_dims", list({1, 0})}, {"newcomm", 6}});
    ranks[r].call("MPI_Comm_dup", {{"oldcomm", 4}, {"newcomm", 7}});
    ranks[r].call("MPI_Cart_sub", {{"oldcomm", 7}, {"remain_dims", list({0, 1})}, {"newcomm", 8}});
  }
  resolve_run(ranks);
  EXPECT_EQ(peers(0, 4), (Members{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(peers(4, 5), (Members{3, 4, 5}));
  EXPECT_EQ(peers(4, 6), (Members{1, 4}));
  EXPECT_EQ(peers(2, 8), (Members{0, 1, 2}));
  EXPECT_TRUE(noticed().empty());
}

TEST_F(DumpiCommunicators, RenumberedTopologiesFollowWhatTheProgramWasTold) {
  std::vector<TraceMaker> ranks(4);
  for (int r = 0; r < 4; ++r) {
    auto& rank = ranks[static_cast<std::size_t>(r)];
    rank.call("MPI_Cart_create",
              {{"oldcomm", kWorld}, {"dims", list({2, 2})}, {"periods", list({0, 0})}, {"reorder", 1}, {"newcomm", 4}});
    const int mine = 3 - r;
    if (r % 2 == 0) {
      rank.call("MPI_Comm_rank", {{"comm", 4}, {"rank", mine}});
    } else {
      // Coordinates tell as well.
      rank.call(
          "MPI_Cart_get",
          {{"comm", 4}, {"dims", list({2, 2})}, {"periods", list({0, 0})}, {"coords", list({mine / 2, mine % 2})}});
    }
    rank.call("MPI_Graph_create", {{"oldcomm", kWorld},
                                   {"nodes", 3},
                                   {"index", list({1, 2, 2})},
                                   {"edges", list({1, 0})},
                                   {"newcomm", r < 3 ? 5 : kNull}});
  }
  resolve_run(ranks);
  EXPECT_EQ(peers(0, 4), (Members{3, 2, 1, 0}));
  EXPECT_EQ(peers(1, 5), (Members{0, 1, 2}));
}

// World ranks 0 1 2 on one side, 3 4 on the other.
std::vector<TraceMaker> two_sides(int comm) {
  std::vector<TraceMaker> ranks(5);
  for (int r = 0; r < 5; ++r) {
    auto& rank = ranks[static_cast<std::size_t>(r)];
    const bool low = r < 3;
    rank.call("MPI_Comm_split", {{"oldcomm", kWorld}, {"color", low ? 0 : 1}, {"key", 0}, {"newcomm", 4}});
    // Only the leaders (rank 1 and 0 of their sides: 1 and 3) name the peer communicator and the remote leader.
    const bool leader = r == 1 || r == 3;
    rank.call("MPI_Intercomm_create", {{"localcomm", 4},
                                       {"localleader", low ? 1 : 0},
                                       {"remotecomm", leader ? kWorld : kNull},
                                       {"remoteleader", leader ? (low ? 3 : 1) : 77},
                                       {"tag", 9},
                                       {"newcomm", comm}});
  }
  return ranks;
}

TEST_F(DumpiCommunicators, InterCommunicators) {
  auto ranks = two_sides(5);
  for (int r = 0; r < 5; ++r) {
    auto& rank = ranks[static_cast<std::size_t>(r)];
    const bool low = r < 3;
    rank.call("MPI_Intercomm_merge", {{"comm", 5}, {"high", low ? 1 : 0}, {"newcomm", 6}});
    rank.call("MPI_Comm_dup", {{"oldcomm", 5}, {"newcomm", 7}});
    // Colours 0 (0, 2 with 4) and 1 (1 with 3), keys turn the order of the first side around.
    rank.call("MPI_Comm_split", {{"oldcomm", 5}, {"color", r == 1 || r == 3 ? 1 : 0}, {"key", -r}, {"newcomm", 8}});
    rank.call("MPI_Comm_group", {{"comm", 5}, {"group", 3}});
    rank.call("MPI_Comm_remote_group", {{"comm", 5}, {"group", 4}});
    // The last of each side.
    rank.call("MPI_Group_incl", {{"group", 3}, {"ranks", list({low ? 2 : 1})}, {"newgroup", 5}});
    const bool in = r == 2 || r == 4;
    rank.call("MPI_Comm_create", {{"oldcomm", 5}, {"group", 5}, {"newcomm", in ? 9 : kNull}});
    // The other side's group, over the world.
    rank.call("MPI_Comm_create", {{"oldcomm", kWorld}, {"group", 4}, {"newcomm", kNull}});
  }
  resolve_run(ranks);
  EXPECT_TRUE(view(0, 5).inter);
  EXPECT_EQ(peers(0, 5), (Members{3, 4}));
  EXPECT_EQ(peers(4, 5), (Members{0, 1, 2}));
  EXPECT_EQ(view(2, 5).own, 2);
  EXPECT_EQ(view(4, 5).own, 1);
  EXPECT_EQ(view(0, 5).size, 3);
  EXPECT_EQ(view(0, 5).partners(), 2);
  EXPECT_EQ(peers(0, 6), (Members{3, 4, 0, 1, 2}));
  EXPECT_EQ(peers(1, 7), (Members{3, 4}));
  EXPECT_EQ(peers(4, 8), (Members{2, 0}));
  EXPECT_EQ(peers(0, 8), (Members{4}));
  EXPECT_EQ(view(0, 8).own, 1);
  EXPECT_EQ(peers(1, 8), (Members{3}));
  EXPECT_EQ(peers(2, 9), (Members{4}));
  EXPECT_EQ(peers(4, 9), (Members{2}));
  EXPECT_TRUE(noticed().empty());
}

TEST_F(DumpiCommunicators, InterCommunicatorOfSelfAndMergeOfEqualSides) {
  std::vector<TraceMaker> ranks(2);
  for (int r = 0; r < 2; ++r) {
    auto& rank = ranks[static_cast<std::size_t>(r)];
    rank.call("MPI_Intercomm_create", {{"localcomm", kSelf},
                                       {"localleader", 0},
                                       {"remotecomm", kWorld},
                                       {"remoteleader", 1 - r},
                                       {"tag", 1},
                                       {"newcomm", 4}});
    // Both say the same: the library chose, and told them.
    rank.call("MPI_Intercomm_merge", {{"comm", 4}, {"high", 0}, {"newcomm", 5}});
    rank.call("MPI_Comm_rank", {{"comm", 5}, {"rank", 1 - r}});
    rank.call("MPI_Comm_dup", {{"oldcomm", kSelf}, {"newcomm", 6}});
    rank.call("MPI_Cart_create", {{"oldcomm", kSelf}, {"dims", list({1})}, {"periods", list({1})}, {"newcomm", 7}});
    rank.call("MPI_Cart_sub", {{"oldcomm", 7}, {"remain_dims", list({1})}, {"newcomm", 8}});
  }
  resolve_run(ranks);
  EXPECT_EQ(peers(0, 4), (Members{1}));
  EXPECT_EQ(peers(0, 5), (Members{1, 0}));
  EXPECT_EQ(peers(1, 6), (Members{1}));
  EXPECT_EQ(peers(1, 8), (Members{1}));
  EXPECT_TRUE(noticed().empty());
}

TEST_F(DumpiCommunicators, ProcessesOutsideOfTheRunStayUnknown) {
  std::vector<TraceMaker> ranks(2);
  for (int r = 0; r < 2; ++r) {
    auto& rank = ranks[static_cast<std::size_t>(r)];
    Arguments spawn = {{"oldcommrank", r}, {"root", 1}, {"oldcomm", kWorld}, {"newcomm", 4}};
    if (r == 1) {
      spawn.insert(spawn.end(), {{"command", text("worker")}, {"maxprocs", 3}, {"errcodes", list({0, 0, 0})}});
    }
    rank.call("MPI_Comm_spawn", spawn);
    rank.call("MPI_Intercomm_merge", {{"comm", 4}, {"high", 1}, {"newcomm", 5}});
    rank.call("MPI_Comm_rank", {{"comm", 5}, {"rank", 3 + r}});
    rank.call("MPI_Comm_accept", {{"portname", text("p")}, {"oldcomm", kWorld}, {"newcomm", 6}});
    rank.call("MPI_Comm_get_parent", {{"parent", kNull}});
  }
  resolve_run(ranks);
  EXPECT_TRUE(view(0, 4).inter);
  EXPECT_EQ(view(0, 4).partners(), 3);
  EXPECT_EQ(view(1, 4).own, 1);
  EXPECT_EQ(peers(0, 5), (Members{kUnknownPeer, kUnknownPeer, kUnknownPeer, 0, 1}));
  EXPECT_TRUE(view(1, 6).inter);
  EXPECT_TRUE(noticed().empty());
}

// What a program asks again and again is kept once.
TEST_F(DumpiCommunicators, RepeatedQuestionsTakeNoMemory) {
  std::vector<TraceMaker> ranks(1);
  const auto ask = [&](int times) {
    for (int n = 0; n < times; ++n) {
      ranks[0].call("MPI_Comm_rank", {{"comm", kWorld}, {"rank", 0}});
      ranks[0].call("MPI_Type_size", {{"datatype", 9}, {"size", 4}});
      ranks[0].call("MPI_Comm_size", {{"comm", kWorld}, {"size", n % 2 == 0 ? 1 : 2}});
    }
  };
  ask(1000);
  ranks[0].call("MPI_Comm_dup", {{"oldcomm", kWorld}, {"newcomm", 4}});
  ask(1000);
  const auto set = run(ranks);
  auto scans = set->scans();
  ASSERT_TRUE(scans.ok());
  EXPECT_EQ((**scans)[0].records, 6001U);
  // Four different answers, the dup, and the four again.
  EXPECT_EQ((**scans)[0].notable.size(), 9U);
}

TEST_F(DumpiCommunicators, IdsComeBackAndAreForgottenWhenFreed) {
  std::vector<TraceMaker> ranks(2);
  for (int r = 0; r < 2; ++r) {
    auto& rank = ranks[static_cast<std::size_t>(r)];
    rank.call("MPI_Comm_split", {{"oldcomm", kWorld}, {"color", 0}, {"key", -r}, {"newcomm", 4}});  // record 0
    rank.call("MPI_Comm_free", {{"comm", 4}});                                                      // 1
    rank.call("MPI_Barrier", {{"comm", 4}});                           // 2: made by a call that is not traced
    rank.call("MPI_Comm_dup", {{"oldcomm", kWorld}, {"newcomm", 4}});  // 3
  }
  resolve_run(ranks);
  Tables tables(set_->files()[0].file, *resolution_, 0, 0);
  tables.advance(1);
  EXPECT_EQ(*tables.communicator(4).peers, (Members{1, 0}));
  tables.advance(2);
  EXPECT_EQ(tables.communicator(4).global, -1);
  tables.advance(4);
  EXPECT_EQ(*tables.communicator(4).peers, (Members{0, 1}));
}

TEST_F(DumpiCommunicators, MissingAndCutRanks) {
  const auto maker = [](int r, bool ask) {
    TraceMaker rank;
    rank.call("MPI_Comm_dup", {{"oldcomm", kWorld}, {"newcomm", 4}});
    rank.call("MPI_Comm_split", {{"oldcomm", 4}, {"color", 0}, {"key", -r}, {"newcomm", 5}});
    if (ask) {
      rank.call("MPI_Comm_size", {{"comm", 5}, {"size", 3}});
      rank.call("MPI_Comm_rank", {{"comm", 5}, {"rank", 2 - r}});
    }
    rank.call("MPI_Comm_dup", {{"oldcomm", kWorld}, {"newcomm", 6}});
    return rank;
  };
  // No file of rank 1; the file of rank 2 ends before it makes anything.
  write("run.meta", "numprocs=3\nfileprefix=run\n");
  write("run-0000.bin", maker(0, false).finish());
  write("run-0002.bin", TraceMaker().cut());
  auto set = open("run.meta");
  ASSERT_TRUE(set.ok());
  set_ = *set;
  resolve_set();
  EXPECT_EQ(peers(0, 4), (Members{0, 1, 2}));
  // Members that are there are known, not which ranks they have in it.
  EXPECT_GE(view(0, 5).global, 0);
  EXPECT_EQ(view(0, 5).peers, nullptr);
  EXPECT_EQ(peers(0, 6), (Members{0, 1, 2}));
  EXPECT_EQ(noticed_times("dumpi.unresolved_communicators"), 1);

  // Where the program asked, its own place is known, and that is all.
  write("run-0000.bin", maker(0, true).finish());
  set = open("run.meta");
  ASSERT_TRUE(set.ok());
  set_ = *set;
  resolve_set();
  EXPECT_EQ(peers(0, 5), (Members{kUnknownPeer, kUnknownPeer, 0}));
  EXPECT_EQ(noticed_times("dumpi.unresolved_communicators"), 0);
}

TEST_F(DumpiCommunicators, ASideThatNeverComesDoesNotHoldUpTheOthers) {
  auto ranks = two_sides(5);
  for (auto& rank : ranks) rank.call("MPI_Comm_dup", {{"oldcomm", kWorld}, {"newcomm", 6}});
  write("run.meta", "numprocs=5\nfileprefix=run\n");
  for (std::size_t r = 0; r < 3; ++r) write("run-000" + std::to_string(r) + ".bin", ranks[r].finish());
  // The other side stopped after its split.
  for (int r = 3; r < 5; ++r) {
    TraceMaker rank;
    rank.call("MPI_Comm_split", {{"oldcomm", kWorld}, {"color", 1}, {"key", 0}, {"newcomm", 4}});
    write("run-000" + std::to_string(r) + ".bin", rank.cut());
  }
  auto set = open("run.meta");
  ASSERT_TRUE(set.ok());
  set_ = *set;
  resolve_set();
  EXPECT_EQ(view(0, 5).global, -1);
  EXPECT_EQ(peers(0, 6), (Members{0, 1, 2, 3, 4}));
}

TEST_F(DumpiCommunicators, OneFileAloneKnowsTheWorldWhenTheProgramAsked) {
  TraceMaker rank;
  rank.call("MPI_Comm_size", {{"comm", kWorld}, {"size", 64}});
  write("run-0003.bin", rank.finish());
  auto set = open("run-0003.bin");
  ASSERT_TRUE(set.ok());
  set_ = *set;
  resolve_set();
  EXPECT_EQ(view(0, kWorld).size, 64);
  EXPECT_EQ(view(0, kWorld).own, 3);
}

// Bytes of collectives over an inter-communicator: the root is on one side, the data of the others on the other.
TEST_F(DumpiCommunicators, CollectivesOverInterCommunicators) {
  constexpr int kInt = 9;
  constexpr int kMpichRoot = -3;
  constexpr int kMpichProcNull = -1;
  auto ranks = two_sides(5);
  for (int r = 0; r < 5; ++r) {
    auto& rank = ranks[static_cast<std::size_t>(r)];
    // Rank 1 of the run (1 on its side) is the root.
    const int root = r == 1 ? kMpichRoot : r < 3 ? kMpichProcNull : 1;
    rank.call("MPI_Bcast", {{"count", 10}, {"datatype", kInt}, {"root", root}, {"comm", 5}});
    rank.call("MPI_Reduce", {{"count", 10}, {"datatype", kInt}, {"op", 3}, {"root", root}, {"comm", 5}});
    rank.call("MPI_Gather", {{"commrank", r < 3 ? r : r - 3},
                             {"sendcount", 10},
                             {"sendtype", kInt},
                             {"root", root},
                             {"comm", 5},
                             {"recvcount", 99},
                             {"recvtype", kInt}});
    rank.call("MPI_Alltoall",
              {{"sendcount", 1}, {"sendtype", kInt}, {"recvcount", 2}, {"recvtype", kInt}, {"comm", 5}});
  }
  resolve_run(ranks);
  auto scans = set_->scans();
  const auto of = [&](std::size_t r) {
    std::vector<Transfer> found;
    std::vector<std::int32_t> roots;
    Tables tables(set_->files()[r].file, *resolution_, r, static_cast<std::uint32_t>(r));
    for_each_call(set_->files()[r].file, (**scans)[r].chunks[0], [&](const Call& call) {
      tables.advance(call.number);
      if (role_of(call.id) == Role::collective) {
        found.push_back(transfer_of(call, tables, ByteRules::community));
        roots.push_back(collective_facts(call, tables).root);
      }
      return true;
    });
    return std::pair(found, roots);
  };
  const auto [root, root_roots] = of(1);
  EXPECT_EQ(root[0].sent, 40);
  EXPECT_EQ(root[0].received, 0);
  EXPECT_EQ(root[1].sent, 0);
  EXPECT_EQ(root[1].received, 80);
  EXPECT_EQ(root[2].sent, 0);
  EXPECT_EQ(root[3].sent, 4 * 2);
  EXPECT_EQ(root[3].received, 8 * 2);
  EXPECT_EQ(root_roots[0], 1);
  const auto [bystander, bystander_roots] = of(0);
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(bystander[n].sent, 0) << n;
    EXPECT_EQ(bystander[n].received, 0) << n;
  }
  EXPECT_EQ(bystander_roots[0], kNoPeer);
  const auto [other, other_roots] = of(4);
  EXPECT_EQ(other[0].received, 40);
  EXPECT_EQ(other[1].sent, 40);
  EXPECT_EQ(other[1].received, 0);
  EXPECT_EQ(other[2].sent, 40);
  EXPECT_EQ(other[2].received, 0);
  EXPECT_EQ(other[3].sent, 4 * 3);
  EXPECT_EQ(other_roots[0], 1);
}

}  // namespace
}  // namespace fathom::dumpi
