#include <gtest/gtest.h>

#include "profile/compute.hpp"
#include "profile/reduce/reduce.hpp"
#include "trace/made_ranks.hpp"

namespace fathom {
namespace {

using test::kSecond;
using test::MadeRanks;

std::map<std::string, double> values(const Profile& profile, std::string_view metric, std::size_t location) {
  std::map<std::string, double> out;
  const MetricId id = profile.defs().find_metric(metric);
  if (!id.valid()) return {{"no metric " + std::string(metric), 0}};
  Selection selection;
  selection.flavour.kind = Flavour::Kind::exclusive;
  selection.locations = all_locations(profile.defs());
  const auto cells = compute(profile, id, selection);
  if (!cells.ok()) return {{cells.error().text(), 0}};
  for (std::size_t i = 0; i < profile.defs().contexts.size(); ++i) {
    if (!cells->is_zero(i, location)) out[profile.defs().path(ContextId(i))] = cells->at(i, location).scalar();
  }
  return out;
}

void expect(const std::map<std::string, double>& found, const std::map<std::string, double>& wanted) {
  EXPECT_EQ(found.size(), wanted.size()) << (found.empty() ? "nothing" : found.begin()->first);
  for (const auto& [path, value] : wanted) {
    const auto at = found.find(path);
    if (at == found.end()) {
      ADD_FAILURE() << path << " has no value";
    } else {
      EXPECT_NEAR(at->second, value, 1e-9) << path;
    }
  }
}

// Rank 1 works until 50 where rank 0 comes to the barrier at 10.
void late_to_a_barrier(MadeRanks& trace) {
  const auto main = trace.region("main");
  const auto assemble = trace.region("assemble");
  const auto rank = trace.region("MPI_Comm_rank", "mpi");
  const auto barrier = trace.region("MPI_Barrier", "mpi");
  for (std::size_t r = 0; r < 2; ++r) {
    trace.add(EventKind::enter, 0, main, r);
    trace.call(r, rank, 0, 1);
    if (r == 1) trace.call(r, assemble, 20, 50);
    trace.call(r, barrier, r == 0 ? 10 : 50, 60, true);
    trace.add(EventKind::leave, 60 * kSecond, main, r);
  }
}

TEST(ReduceWaits, AreChargedToTheContextsInWhichTheyHappen) {
  MadeRanks trace(2);
  late_to_a_barrier(trace);
  ReduceOptions options;
  options.waits = true;
  const auto reduced = reduce(trace, options, make_work());
  ASSERT_TRUE(reduced.ok()) << reduced.error().text();
  const Profile& profile = **reduced;
  expect(values(profile, "mpi_barrier_wait", 0), {{"main->MPI_Barrier", 40}});
  expect(values(profile, "mpi_barrier_wait", 1), {});
  expect(values(profile, "mpi_sync_collective", 0), {{"main->MPI_Barrier", 50}});
  expect(values(profile, "mpi", 1), {{"main->MPI_Comm_rank", 1}, {"main->MPI_Barrier", 10}});
  // Back from the end: the barrier of rank 0 since the last one came, then all that rank 1 did.
  expect(values(profile, "critical_path", 0), {{"main->MPI_Barrier", 10}});
  expect(values(profile, "critical_path", 1), {{"main", 19}, {"main->assemble", 30}, {"main->MPI_Comm_rank", 1}});
  // 40 s of waiting, over what rank 1 did meanwhile: 10 s more than rank 0 in main, 30 s more in assemble.
  expect(values(profile, "delay", 0), {});
  expect(values(profile, "delay_barrier", 1), {{"main", 10}, {"main->assemble", 30}});
  expect(values(profile, "delay", 1), {{"main", 10}, {"main->assemble", 30}});
  // A part stands below its whole, and what does not occur is not there.
  const Definitions& defs = profile.defs();
  const auto parent = [&](std::string_view name) {
    return defs.metric(defs.metric(defs.find_metric(name)).parent).name;
  };
  EXPECT_EQ(parent("mpi_barrier_wait"), "mpi_sync_collective");
  EXPECT_EQ(parent("mpi"), "time");
  EXPECT_EQ(defs.metric(defs.find_metric("mpi_barrier_wait")).display_name, "Wait at Barrier");
  EXPECT_FALSE(defs.find_metric("mpi_latesender").valid());
  expect(values(profile, "time", 0), {{"main", 9}, {"main->MPI_Comm_rank", 1}, {"main->MPI_Barrier", 50}});
}

TEST(ReduceWaits, GoToThePartInWhichTheCallBegins) {
  MadeRanks trace(2);
  late_to_a_barrier(trace);
  ReduceOptions options;
  options.waits = true;
  options.parts = 2;
  const auto reduced = reduce(trace, options, make_work());
  ASSERT_TRUE(reduced.ok()) << reduced.error().text();
  expect(values(**reduced, "mpi_barrier_wait", 0), {{"main->MPI_Barrier", 40}});
  expect(values(**reduced, "mpi_barrier_wait", 1), {});
  expect(values(**reduced, "critical_path", 2), {{"main", 19}, {"main->assemble", 10}, {"main->MPI_Comm_rank", 1}});
  expect(values(**reduced, "critical_path", 3), {{"main->assemble", 20}});
}

TEST(ReduceWaits, NeedTheWholeOfATraceWithCalls) {
  MadeRanks trace(2);
  late_to_a_barrier(trace);
  ReduceOptions options;
  options.waits = true;
  options.window.to_ns = 30 * kSecond;
  const auto part = reduce(trace, options, make_work());
  ASSERT_FALSE(part.ok());
  EXPECT_NE(part.error().text().find("the whole of a trace"), std::string::npos);
  MadeRanks silent(2);
  const auto work = silent.region("work");
  silent.call(0, work, 0, 1);
  options.window = {};
  EXPECT_FALSE(reduce(silent, options, make_work()).ok());
}

}  // namespace
}  // namespace fathom
