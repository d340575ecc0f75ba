// Simulators pull calls by the hundred million: nothing may be allocated for each.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "fathom/dumpi.hpp"
#include "formats/dumpi/dumpi_trace.hpp"
#include "formats/dumpi/trace_maker.hpp"

#if !FATHOM_SANITIZED
namespace {
std::atomic<std::uint64_t> allocations{0};
}

// All other forms of new come here.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace fathom::dumpi {
namespace {

constexpr int kSteps = 20'000;
constexpr int kWorld = 2;
constexpr int kDouble = 14;

class DumpiAllocations : public DumpiRun {
 protected:
  std::vector<TraceMaker> ring() {
    std::vector<TraceMaker> ranks(2);
    for (int r = 0; r < 2; ++r) {
      auto& rank = ranks[static_cast<std::size_t>(r)];
      rank.call("MPI_Init", {{"argc", 2}, {"argv", texts({"program", "input"})}});
      for (int n = 0; n < kSteps; ++n) {
        rank.irecv(64, kDouble, 1 - r, 5, kWorld, 2);
        rank.send("MPI_Isend", 64, kDouble, 1 - r, 5, kWorld, 3);
        rank.call("MPI_Waitall", {{"count", 2},
                                  {"requests", list({2, 3})},
                                  {"statuses", statuses({Status{512, 1 - r, 5, 0, 0}, Status{}})}});
      }
      rank.call("MPI_Finalize");
    }
    return ranks;
  }
};

TEST_F(DumpiAllocations, NoneForACallWithAllItsArguments) {
  run(ring());
  const TraceSet trace = [&] {
    TraceSet set = TraceSet::open((folder_ / "run.meta").string());
    EXPECT_TRUE(set.resolve()) << set.error();
    return set;
  }();
  CallReader reader = trace.reader(0);
  const Function& waitall = *function("MPI_Waitall");
  const auto requests = static_cast<std::size_t>(waitall.find("requests"));
  const auto entries = static_cast<std::size_t>(waitall.find("statuses"));
  std::int64_t sum = 0;
  int calls = 0;
  const std::uint64_t before = allocations;
  while (const Call* call = reader.next()) {
    ++calls;
    if (call->id == waitall.id) sum += call->values(requests)[0] + call->statuses(entries)[0].bytes;
    if (call->id == ids::kIsend) sum += call->integer(0) * reader.size_of(call->integer(1));
    if (call->id == ids::kIsend) sum += reader.world_rank(call->integer(4), call->integer(2));
  }
  EXPECT_EQ(allocations - before, 0U);
  EXPECT_EQ(calls, 3 * kSteps + 2);
  EXPECT_EQ(sum, std::int64_t{kSteps} * (2 + 512 + 512 + 1));
}

TEST_F(DumpiAllocations, NoneForAnEvent) {
  auto trace = DumpiTrace::make(run(ring()));
  ASSERT_TRUE(trace.ok());
  auto stream = (*trace)->open(LocationId(0), {});
  ASSERT_TRUE(stream.ok());
  EventCursor cursor(*std::move(stream), 64);
  // Buffers and the table of requests find their sizes in the beginning.
  for (int n = 0; n < 4000; ++n) ASSERT_NE(cursor.next(), nullptr);
  const std::uint64_t before = allocations;
  int events = 0;
  while (cursor.next() != nullptr) ++events;
  EXPECT_EQ(allocations - before, 0U);
  // Enter and leave of every call; a send, a receive and the completion of the send in each step.
  EXPECT_EQ(events, 9 * kSteps + 4 - 4000);
}

}  // namespace
}  // namespace fathom::dumpi
#endif
