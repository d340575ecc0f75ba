// Statistics of traces built here; the numbers are added up by hand from the calls.
#include "formats/dumpi/statistics.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "base/parallel.hpp"
#include "formats/dumpi/call_selection.hpp"
#include "formats/dumpi/trace_maker.hpp"
#include "table_rows.hpp"

namespace fathom::dumpi {
namespace {

constexpr int kWorld = 2;
constexpr int kChar = 2;
constexpr int kInt = 9;
constexpr int kDouble = 14;
constexpr std::int64_t kSecond = 1'000'000'000;
using Rows = std::vector<std::vector<std::string>>;

// Two ranks, calls at full seconds, each takes a tenth of one.
class DumpiStatistics : public DumpiRun {
 protected:
  static void annotate(TraceMaker& rank, std::int64_t at, int key) {
    rank.at(at, 10).call("Function_enter", {{"fn", key}});
    rank.at(at, 10).call("Function_exit", {{"fn", key}});
  }
  static std::vector<TraceMaker> two_ranks() {
    std::vector<TraceMaker> ranks(2);
    constexpr std::int64_t kTenth = kSecond / 10;
    for (int r = 0; r < 2; ++r) {
      auto& rank = ranks[static_cast<std::size_t>(r)];
      rank.sections.addresses = {{4096, "ANNOTATION: step begin"}, {4097, "ANNOTATION: step end"}};
      rank.at(1 * kSecond, kTenth).call("MPI_Init");
      annotate(rank, 2 * kSecond, 4096);
      rank.at(3 * kSecond, kTenth);
      if (r == 0) {
        rank.send("MPI_Send", 100, kChar, 1, 5, kWorld);
      } else {
        rank.recv(200, kChar, 0, 5, kWorld, got(100, 0, 5));
      }
      annotate(rank, 4 * kSecond, 4097);
      rank.at(5 * kSecond, kTenth)
          .call("MPI_Allreduce", {{"count", 3}, {"datatype", kDouble}, {"op", 3}, {"comm", kWorld}});
      annotate(rank, 6 * kSecond, 4096);
      rank.at(7 * kSecond, kTenth);
      if (r == 0) {
        rank.send("MPI_Isend", 1, kInt, 1, 5, kWorld, 2);
      } else {
        rank.irecv(1, kInt, 0, 5, kWorld, 2);
      }
      rank.at(8 * kSecond, kTenth).call("MPI_Wait", {{"request", 2}});
      annotate(rank, 9 * kSecond, 4097);
      rank.at(10 * kSecond, kTenth).call("MPI_Finalize");
    }
    return ranks;
  }
  TraceStatistics ask(const std::shared_ptr<RankSet>& set, StatisticsOptions options) {
    auto statistics = fathom::dumpi::statistics(*set, options);
    EXPECT_TRUE(statistics.ok()) << (statistics.ok() ? "" : statistics.error().text());
    return statistics.ok() ? *std::move(statistics) : TraceStatistics{};
  }
  // One table, these columns of it.
  Rows table(const std::shared_ptr<RankSet>& set, const std::string& by, const std::vector<std::string>& columns,
             std::vector<std::pair<std::string, std::string>> given = {}) {
    StatisticsOptions options;
    options.by = {by};
    options.options = std::move(given);
    const TraceStatistics statistics = ask(set, options);
    EXPECT_EQ(statistics.tables.size(), 1U);
    if (statistics.tables.size() != 1) return {};
    const Table& found = statistics.tables[0];
    Rows rows(found.rows());
    for (const std::string& column : columns) {
      EXPECT_TRUE(found.schema.find(column)) << column;
      if (!found.schema.find(column)) return {};
      for (std::size_t n = 0; n < rows.size(); ++n) rows[n].push_back(exact_cell(found.column(column), n));
    }
    return rows;
  }
  static std::vector<std::string> names(const TraceStatistics& statistics) {
    std::vector<std::string> found;
    for (const CallStatistics& call : statistics.calls) found.push_back(call.name);
    return found;
  }
};

TEST_F(DumpiStatistics, CallsAndMatrix) {
  const auto set = run(two_ranks());
  const TraceStatistics all = ask(set, {});
  std::map<std::string, CallStatistics> calls;
  for (const CallStatistics& call : all.calls) calls[call.name] = call;
  EXPECT_EQ(calls["MPI_Send"].count, 1U);
  EXPECT_EQ(calls["MPI_Send"].sent, 100);
  EXPECT_EQ(calls["MPI_Send"].wall_s, 0.1);
  EXPECT_EQ(calls["MPI_Recv"].received, 200);  // as posted
  EXPECT_EQ(calls["MPI_Allreduce"].bytes, 2 * (24 + 24));
  EXPECT_EQ(calls["MPI_Wait"].count, 2U);
  EXPECT_FALSE(calls["MPI_Wait"].bytes.has_value());
  EXPECT_EQ(calls["Function_enter"].count, 8U);
  ASSERT_EQ(all.matrix.size(), 1U);
  EXPECT_EQ(all.matrix[0].messages, 2U);
  EXPECT_EQ(all.matrix[0].bytes, 104);
}

TEST_F(DumpiStatistics, GroupsAndExpressionsOfCalls) {
  const auto set = run(two_ranks());
  const auto of = [&](const std::string& calls) {
    StatisticsOptions options;
    options.options = {{"calls", calls}};
    return names(ask(set, options));
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(of("sends"), (Names{"MPI_Send", "MPI_Isend"}));
  EXPECT_EQ(of("RECVS"), (Names{"MPI_Recv", "MPI_Irecv"}));
  EXPECT_EQ(of("coll"), (Names{"MPI_Allreduce", "MPI_Init", "MPI_Finalize"}));
  EXPECT_EQ(of("wait"), (Names{"MPI_Wait"}));
  EXPECT_EQ(of("io"), Names{});
  EXPECT_EQ(of("non-mpi"), (Names{"Function_enter", "Function_exit"}));
  EXPECT_EQ(of("mpi").size(), 8U);
  EXPECT_EQ(of("all").size(), 10U);
  // What all of a communicator make together is in the community's list, too; what one process does alone is not.
  const auto collective = select_calls("coll");
  ASSERT_TRUE(collective.ok());
  std::set<std::string_view> in;
  for (const Function& function : functions()) {
    if ((*collective)[function.id]) in.insert(function.name);
  }
  for (const std::string_view name :
       {"MPI_Intercomm_create", "MPI_Comm_spawn", "MPI_Init_thread", "MPI_File_open", "MPI_File_close",
        "MPI_File_set_view", "MPI_File_write_at_all", "MPI_File_read_ordered_end", "MPI_File_sync"}) {
    EXPECT_TRUE(in.contains(name)) << name;
  }
  for (const std::string_view name : {"MPI_File_write_at", "MPI_File_read_shared", "MPI_File_seek", "MPI_Comm_group",
                                      "MPI_Cart_create", "MPI_Win_fence"}) {
    EXPECT_FALSE(in.contains(name)) << name;
  }
  // Whole names, in any case.
  EXPECT_EQ(of("mpi_(i?send|init)"), (Names{"MPI_Send", "MPI_Isend", "MPI_Init"}));
  EXPECT_EQ(of("Send"), Names{});
  StatisticsOptions bad;
  bad.options = {{"calls", "("}};
  EXPECT_FALSE(statistics(*set, bad).ok());
}

TEST_F(DumpiStatistics, WindowAndRanks) {
  const auto set = run(two_ranks());
  StatisticsOptions options;
  options.from_ns = (kWallBias + 3) * kSecond;
  options.to_ns = (kWallBias + 7) * kSecond;  // calls that begin there are outside
  options.locations = {"1"};
  const TraceStatistics part = ask(set, options);
  EXPECT_EQ(names(part), (std::vector<std::string>{"MPI_Recv", "MPI_Allreduce", "Function_enter", "Function_exit"}));
  EXPECT_TRUE(part.matrix.empty());
  options.locations = {"7"};
  EXPECT_FALSE(statistics(*set, options).ok());
}

TEST_F(DumpiStatistics, PerRankWithTimesBetweenCalls) {
  const auto set = run(two_ranks());
  // Six MPI calls from 1 s to 10.1 s, six tenths inside.
  EXPECT_EQ(
      table(set, "rank",
            {"rank", "calls", "first_s", "last_s", "active_s", "wall_s", "wall_outside_s", "cpu_s", "sent", "received"},
            {{"calls", "mpi"}}),
      (Rows{{"0", "6", "1001.000000000", "1010.100000000", "9.100000000", "0.600000000", "8.500000000", "0.600000000",
             "128", "24"},
            {"1", "6", "1001.000000000", "1010.100000000", "9.100000000", "0.600000000", "8.500000000", "0.600000000",
             "24", "228"}}));
  EXPECT_EQ(table(set, "rank-call", {"rank", "call", "count", "wall_s", "bytes"}, {{"calls", "mpi_.*send|mpi_.*recv"}}),
            (Rows{{"0", "MPI_Send", "1", "0.100000000", "100"},
                  {"0", "MPI_Isend", "1", "0.100000000", "4"},
                  {"1", "MPI_Recv", "1", "0.100000000", "200"},
                  {"1", "MPI_Irecv", "1", "0.100000000", "4"}}));
  EXPECT_EQ(table(set, "kind", {"kind", "calls", "sent", "received"}, {{"calls", "mpi"}}),
            (Rows{{"point-to-point", "4", "104", "204"}, {"collective", "2", "48", "48"}, {"other", "6", "0", "0"}}));
}

TEST_F(DumpiStatistics, SizesInPowersOfTwo) {
  const auto set = run(two_ranks());
  EXPECT_EQ(table(set, "size", {"from_bytes", "to_bytes", "sends", "receives"}),
            (Rows{{"4", "7", "1", "1"}, {"64", "127", "1", "0"}, {"128", "255", "0", "1"}}));
  EXPECT_EQ(table(set, "rank-size", {"rank", "from_bytes", "sends", "receives"}),
            (Rows{{"0", "4", "1", "0"}, {"0", "64", "1", "0"}, {"1", "4", "0", "1"}, {"1", "128", "0", "1"}}));
}

TEST_F(DumpiStatistics, Bins) {
  const auto set = run(two_ranks());
  const std::vector<std::string> columns = {"bin", "from_s", "to_s", "rank", "calls", "sent"};
  // A call belongs to the bin in which it begins; the last bin ends with the last call.
  EXPECT_EQ(table(set, "bin", columns, {{"bins", "start+1 to end by 4"}, {"calls", "mpi"}}),
            (Rows{{"0", "1002.000000000", "1006.000000000", "0", "2", "124"},
                  {"0", "1002.000000000", "1006.000000000", "1", "2", "24"},
                  {"1", "1006.000000000", "1010.000000000", "0", "2", "4"},
                  {"1", "1006.000000000", "1010.000000000", "1", "2", "0"},
                  {"2", "1010.000000000", "1010.100000001", "0", "1", "0"},
                  {"2", "1010.000000000", "1010.100000001", "1", "1", "0"}}));
  // Equal bins, and times of day.
  EXPECT_EQ(table(set, "bin", {"bin", "rank", "calls"}, {{"bins", "2"}, {"calls", "mpi"}}),
            (Rows{{"0", "0", "3"}, {"0", "1", "3"}, {"1", "0", "3"}, {"1", "1", "3"}}));
  EXPECT_EQ(table(set, "bin", {"from_s", "calls"}, {{"bins", "16:43 to finalize - 2.5"}, {"calls", "mpi"}}),
            (Rows{{"1003.000000000", "3"}, {"1003.000000000", "3"}}));
  EXPECT_EQ(table(set, "bin", {"from_s", "to_s"}, {{"bins", "mpi"}, {"calls", "coll"}})[0],
            (std::vector<std::string>{"1001.000000000", "1010.100000001"}));
  // What a bin can be taken apart into.
  const std::pair<std::string, std::string> all = {"bins", "all"};
  EXPECT_EQ(table(set, "bin-peer", {"rank", "dst", "messages", "bytes"}, {all}), (Rows{{"0", "1", "2", "104"}}));
  EXPECT_EQ(table(set, "bin-call", {"rank", "call", "bytes"}, {all, {"calls", "sends"}}),
            (Rows{{"0", "MPI_Send", "100"}, {"0", "MPI_Isend", "4"}}));
  EXPECT_EQ(table(set, "bin-size", {"rank", "from_bytes", "sends", "receives"}, {all, {"calls", "recvs"}}),
            (Rows{{"1", "4", "0", "1"}, {"1", "128", "0", "1"}}));
  // Two cuts at once.
  EXPECT_EQ(table(set, "bin", {"bins", "bin", "rank", "calls"}, {all, {"bins", "1005 to 1006"}, {"calls", "coll"}}),
            (Rows{{"0", "0", "0", "3"}, {"0", "0", "1", "3"}, {"1", "0", "0", "1"}, {"1", "0", "1", "1"}}));
}

TEST_F(DumpiStatistics, RangesThatAreNone) {
  const auto set = run(two_ranks());
  for (const char* range : {"", "0", "x to y", "1 to", "5 to 4", "all by 0", "all by 0.000001", "start * 2 to end"}) {
    StatisticsOptions options;
    options.options = {{"bins", range}};
    EXPECT_FALSE(statistics(*set, options).ok()) << range;
  }
}

TEST_F(DumpiStatistics, AnnotatedIntervals) {
  const auto set = run(two_ranks());
  const std::vector<std::string> columns = {"bin", "rank", "intervals", "from_s", "to_s", "calls", "wall_s"};
  const auto mark = table(set, "bin", columns, {{"mark", "/^step begin/^step end/"}, {"calls", "mpi"}});
  // The Allreduce lies between the two.
  ASSERT_EQ(mark.size(), 4U);
  EXPECT_EQ(mark[0], (std::vector<std::string>{"0", "0", "1", "1002.000000000", "1004.000000000", "1", "0.100000000"}));
  EXPECT_EQ(mark[2], (std::vector<std::string>{"1", "0", "1", "1006.000000000", "1009.000000000", "2", "0.200000000"}));
  EXPECT_EQ(table(set, "bin", {"bin", "rank", "intervals", "calls", "wall_s", "wall_outside_s", "active_s"},
                  {{"gather", "/begin/end/"}, {"calls", "mpi"}}),
            (Rows{{"0", "0", "2", "3", "0.300000000", "0.900000000", "1.200000000"},
                  {"0", "1", "2", "3", "0.300000000", "0.900000000", "1.200000000"}}));
  StatisticsOptions options;
  options.options = {{"mark", "/nothing/like it/"}};
  EXPECT_FALSE(statistics(*set, options).ok());
}

TEST_F(DumpiStatistics, CountersInsideAndOutside) {
  std::vector<TraceMaker> ranks(1);
  ranks[0].sections.counters = {"CYCLES", "MISSES"};
  ranks[0].counters({{100, 110}, {7, 7}}).at(1 * kSecond).call("MPI_Barrier", {{"comm", kWorld}});
  ranks[0].counters({{150, 175}, {9, 12}}).at(2 * kSecond).call("MPI_Barrier", {{"comm", kWorld}});
  ranks[0].counters({{200, 201}, {20, 20}}).at(3 * kSecond).call("MPI_Barrier", {{"comm", kWorld}});
  const auto set = run(ranks);
  EXPECT_EQ(table(set, "counter", {"rank", "counter", "inside", "outside"}),
            (Rows{{"0", "CYCLES", "36", "65"}, {"0", "MISSES", "3", "10"}}));
  EXPECT_EQ(table(set, "bin-counter", {"bin", "counter", "inside", "outside"}, {{"bins", "start to end by 2"}}),
            (Rows{{"0", "CYCLES", "35", "40"},
                  {"0", "MISSES", "3", "2"},
                  {"1", "CYCLES", "1", "0"},
                  {"1", "MISSES", "0", "0"}}));
  StatisticsOptions options;
  options.options = {{"perfctr", "mpi"}};
  const TraceStatistics columns = ask(set, options);
  ASSERT_EQ(columns.tables.size(), 1U);
  const std::vector<std::string> titles = column_names(columns.tables[0]);
  EXPECT_EQ(std::vector<std::string>(titles.begin() + 4, titles.end()),
            (std::vector<std::string>{"CYCLES(mpi)", "CYCLES_outside(mpi)", "MISSES(mpi)", "MISSES_outside(mpi)"}));
  const std::vector<std::string> cells = table_rows(columns.tables[0]).at(0);
  EXPECT_EQ(std::vector<std::string>(cells.begin() + 4, cells.end()),
            (std::vector<std::string>{"36", "65", "3", "10"}));
}

// Each column counts calls of its own, over everything or per bin.
TEST_F(DumpiStatistics, ColumnsChooseTheirCalls) {
  const auto set = run(two_ranks());
  StatisticsOptions options;
  options.options = {{"count", "all"},  {"count", "coll"},      {"time", "mpi_(send|recv)"},
                     {"sent", "sends"}, {"recvd", "MPI_All.*"}, {"exchange", "sends"},
                     {"lump", "recvs"}};
  const TraceStatistics whole = ask(set, options);
  ASSERT_EQ(whole.tables.size(), 1U);
  EXPECT_EQ(whole.tables[0].schema.name, "columns");
  EXPECT_EQ(column_names(whole.tables[0]),
            (std::vector<std::string>{
                "rank", "first_s", "last_s", "active_s", "calls(all)", "calls(coll)", "cpu_s(mpi_(send|recv))",
                "cpu_outside_s(mpi_(send|recv))", "wall_s(mpi_(send|recv))", "wall_outside_s(mpi_(send|recv))",
                "sent(sends)", "received(MPI_All.*)", "sent_to_1(sends)", "sends_up_to_4_bytes(recvs)",
                "sends_up_to_256_bytes(recvs)", "receives_up_to_4_bytes(recvs)", "receives_up_to_256_bytes(recvs)"}));
  // Init, Send, Allreduce, Isend, Wait, Finalize and eight annotations; rank 1 posts receives of 200 and of 4 bytes.
  const std::string cpu = table_rows(whole.tables[0]).at(0).at(6);
  EXPECT_EQ(table_rows(whole.tables[0]),
            (Rows{{"0", "1001.000000000", "1010.100000000", "9.100000000", "14", "3", cpu, "9.000000000", "0.100000000",
                   "9.000000000", "104", "24", "104", "0", "0", "0", "0"},
                  {"1", "1001.000000000", "1010.100000000", "9.100000000", "14", "3", cpu, "9.000000000", "0.100000000",
                   "9.000000000", "0", "24", "0", "0", "0", "1", "1"}}));

  options.options = {{"count", "mpi"}, {"sent", "sends"}, {"gather", "/begin/end/"}};
  const TraceStatistics gathered = ask(set, options);
  ASSERT_EQ(gathered.tables.size(), 1U);
  EXPECT_EQ(column_names(gathered.tables[0]),
            (std::vector<std::string>{"bin", "from_s", "to_s", "rank", "intervals", "first_s", "last_s", "active_s",
                                      "calls(mpi)", "sent(sends)"}));
  ASSERT_EQ(gathered.tables[0].rows(), 2U);
  const Rows of_bins = table_rows(gathered.tables[0]);
  EXPECT_EQ(of_bins[0][4], "2");
  EXPECT_EQ(of_bins[0][8], "3");
  EXPECT_EQ(of_bins[0][9], "104");

  options.options = {{"count", "("}};
  EXPECT_FALSE(statistics(*set, options).ok());
  options.options = {{"counts", "all"}};
  EXPECT_FALSE(statistics(*set, options).ok());
}

// Classes of sizes as the community's tool labels them; collectives count where they move anything.
TEST_F(DumpiStatistics, LumpsEndAtPowersOfTwo) {
  std::vector<TraceMaker> ranks(2);
  for (const int bytes : {0, 1, 2, 3, 4, 5, 8, 9}) ranks[0].send("MPI_Send", bytes, kChar, 1, 0, kWorld);
  ranks[0].call("MPI_Bcast", {{"count", 16}, {"datatype", kChar}, {"root", 0}, {"comm", kWorld}});
  ranks[1].call("MPI_Bcast", {{"count", 16}, {"datatype", kChar}, {"root", 0}, {"comm", kWorld}});
  StatisticsOptions options;
  options.options = {{"lump", "all"}};
  const TraceStatistics found = ask(run(ranks), options);
  ASSERT_EQ(found.tables.size(), 1U);
  std::map<std::string, std::string> first;
  std::map<std::string, std::string> second;
  const auto names = column_names(found.tables[0]);
  const auto rows = table_rows(found.tables[0]);
  for (std::size_t i = 0; i < names.size(); ++i) {
    first[names[i]] = rows.at(0).at(i);
    second[names[i]] = rows.at(1).at(i);
  }
  EXPECT_EQ(first["sends_up_to_0_bytes(all)"], "1");
  EXPECT_EQ(first["sends_up_to_1_bytes(all)"], "1");
  EXPECT_EQ(first["sends_up_to_2_bytes(all)"], "1");
  EXPECT_EQ(first["sends_up_to_4_bytes(all)"], "2");
  EXPECT_EQ(first["sends_up_to_8_bytes(all)"], "2");
  EXPECT_EQ(first["sends_up_to_16_bytes(all)"], "2");  // 9, and what the root broadcasts
  EXPECT_EQ(first["receives_up_to_16_bytes(all)"], "0");
  EXPECT_EQ(second["receives_up_to_16_bytes(all)"], "1");
}

// Data move at each start of a persistent request; when it is made they do not.
TEST_F(DumpiStatistics, PersistentSendsCountAtEachStart) {
  std::vector<TraceMaker> ranks(2);
  ranks[0].send("MPI_Send_init", 10, kChar, 1, 7, kWorld, 3);
  for (int n = 0; n < 4; ++n) {
    ranks[0].call("MPI_Start", {{"request", 3}});
    ranks[0].call("MPI_Wait", {{"request", 3}});
  }
  ranks[0].call("MPI_Startall", {{"requests", list({3})}});
  const auto set = run(ranks);
  const TraceStatistics started = ask(set, {});
  ASSERT_EQ(started.matrix.size(), 1U);
  EXPECT_EQ(started.matrix[0].messages, 5U);
  EXPECT_EQ(started.matrix[0].bytes, 50);
  StatisticsOptions options;
  options.options = {{"persistent", "made"}};
  const TraceStatistics made = ask(set, options);
  ASSERT_EQ(made.matrix.size(), 1U);
  EXPECT_EQ(made.matrix[0].messages, 1U);
  EXPECT_EQ(made.matrix[0].bytes, 10);
}

// One-sided calls: a Put sends, a Get brings data from its target.
TEST_F(DumpiStatistics, OneSidedCallsHavePeers) {
  std::vector<TraceMaker> ranks(2);
  for (TraceMaker& rank : ranks) {
    rank.call("MPI_Win_create", {{"size", 64}, {"dispunit", 1}, {"info", 0}, {"comm", kWorld}, {"win", 3}});
  }
  ranks[0].call("MPI_Put", {{"origincount", 3}, {"origintype", kInt}, {"targetrank", 1}, {"win", 3}});
  ranks[0].call("MPI_Get", {{"origincount", 5}, {"origintype", kInt}, {"targetrank", 1}, {"win", 3}});
  const TraceStatistics found = ask(run(ranks), {});
  ASSERT_EQ(found.matrix.size(), 2U);
  EXPECT_EQ(std::tie(found.matrix[0].src, found.matrix[0].dst), std::make_tuple(0, 1));
  EXPECT_EQ(found.matrix[0].bytes, 12);
  EXPECT_EQ(std::tie(found.matrix[1].src, found.matrix[1].dst), std::make_tuple(1, 0));
  EXPECT_EQ(found.matrix[1].bytes, 20);
}

// The matrix taken apart by time is the matrix again: persistent sends where they start, one-sided calls too.
TEST_F(DumpiStatistics, MatricesOfBinsAddUpToTheMatrix) {
  std::vector<TraceMaker> ranks(2);
  for (TraceMaker& rank : ranks) {
    rank.call("MPI_Win_create", {{"size", 64}, {"dispunit", 1}, {"info", 0}, {"comm", kWorld}, {"win", 3}});
  }
  ranks[0].send("MPI_Send_init", 10, kChar, 1, 7, kWorld, 3);
  for (int n = 1; n <= 3; ++n) {
    ranks[0].at(n * 1'000'000'000LL).call("MPI_Start", {{"request", 3}});
    ranks[0].call("MPI_Wait", {{"request", 3}});
  }
  ranks[0].call("MPI_Put", {{"origincount", 3}, {"origintype", kInt}, {"targetrank", 1}, {"win", 3}});
  ranks[0].call("MPI_Get", {{"origincount", 5}, {"origintype", kInt}, {"targetrank", 1}, {"win", 3}});
  // Of the same pair, told by the other rank: one row for both.
  ranks[1]
      .at(3'000'000'000LL)
      .call("MPI_Get", {{"origincount", 2}, {"origintype", kInt}, {"targetrank", 0}, {"win", 3}});
  const auto set = run(ranks);
  const std::vector<std::string> columns = {"rank", "dst", "messages", "bytes"};
  EXPECT_EQ(table(set, "bin-peer", columns, {{"bins", "all"}}), (Rows{{"0", "1", "5", "50"}, {"1", "0", "1", "20"}}));
  // One start in each of the first two pieces, the rest in the third.
  EXPECT_EQ(table(set, "bin-peer", columns, {{"bins", "1000.5 to 1004 by 1"}}),
            (Rows{{"0", "1", "1", "10"}, {"0", "1", "1", "10"}, {"0", "1", "3", "30"}, {"1", "0", "1", "20"}}));
  EXPECT_EQ(table(set, "bin-peer", columns, {{"bins", "all"}, {"persistent", "made"}}),
            (Rows{{"0", "1", "3", "30"}, {"1", "0", "1", "20"}}));
  // The group of sends holds the call that makes a persistent one, not the one that starts it.
  StatisticsOptions options;
  options.options = {{"calls", "sends"}};
  const TraceStatistics sends = ask(set, options);
  ASSERT_EQ(sends.matrix.size(), 1U);
  EXPECT_EQ(sends.matrix[0].messages, 3U);
}

// Many chunks: whoever counts what, the sums are the same.
TEST_F(DumpiStatistics, NumbersDoNotDependOnThreads) {
  std::vector<TraceMaker> ranks(2);
  for (int n = 0; n < 200'000; ++n) {
    ranks[0].send("MPI_Send", n % 7, kInt, 1, 0, kWorld);
    if (n % 3 == 0) ranks[1].call("MPI_Bcast", {{"count", 5}, {"datatype", kChar}, {"root", 0}, {"comm", kWorld}});
  }
  const auto set = run(ranks);
  std::vector<Rows> results;
  for (const unsigned threads : {1U, 2U, 8U}) {
    const Execution execution(threads);
    const ExecutionScope scope(execution);
    results.push_back(table(set, "bin", {"bin", "rank", "calls", "wall_s", "wall_outside_s", "sent", "received"}));
  }
  EXPECT_EQ(results[0].size(), 14U);  // rank 1 is done after a third of the time
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

}  // namespace
}  // namespace fathom::dumpi
