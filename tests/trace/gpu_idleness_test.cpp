#include "trace/gpu_idleness.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "trace/samples.hpp"

namespace fathom {
namespace {

// Streams of samples (time, function); functions are roots of the context tree.
class SampledTrace : public Trace {
 public:
  SampledTrace() {
    const char* names[] = {"main", "solve", "work", "kernel", "<no activity>"};
    ContextTreeBuilder builder;
    for (std::uint32_t i = 0; i < 5; ++i) {
      Region region;
      region.name = names[i];
      definitions_.regions.push_back(region);
      builder.add(ContextTreeBuilder::kRoot, RegionId(i), i, -1, Edge::call);
    }
    definitions_.contexts = std::move(builder).build();
  }
  SystemNodeId process() {
    SystemNode node;
    node.kind = SystemKind::group;
    return definitions_.system.add(std::move(node));
  }
  void stream(SystemNodeId process, const char* type, std::vector<std::pair<std::int64_t, std::uint32_t>> samples) {
    SystemNode node;
    node.kind = SystemKind::location;
    node.type = type;
    node.parent = process;
    node.file_id = events_.size();
    const LocationId location = definitions_.system.add_location(std::move(node));
    events_.emplace_back();
    for (const auto& [time, name] : samples) {
      Event event;
      event.kind = EventKind::sample;
      event.time_ns = time;
      event.name = name;
      event.location = location;
      events_.back().push_back(event);
    }
  }
  // Every second event leaves what the one before has entered.
  void make_regions() {
    for (auto& stream : events_) {
      for (std::size_t i = 0; i < stream.size(); ++i) stream[i].kind = i % 2 == 0 ? EventKind::enter : EventKind::leave;
    }
  }
  Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow) const override {
    struct Stream : EventStream {
      const std::vector<Event>* events;
      std::size_t at = 0;
      Result<std::size_t> next(std::span<Event> out) override {
        std::size_t count = 0;
        while (count < out.size() && at < events->size()) out[count++] = (*events)[at++];
        return count;
      }
    };
    auto stream = std::make_unique<Stream>();
    stream->events = &events_[location.index()];
    return std::unique_ptr<EventStream>(std::move(stream));
  }

 private:
  std::vector<std::vector<Event>> events_;
};

constexpr std::uint32_t kMain = 0, kSolve = 1, kWork = 2, kKernel = 3, kIdle = 4;

SampledTrace made_trace() {
  SampledTrace trace;
  const auto first = trace.process();
  trace.stream(first, "thread", {{0, kMain}, {4, kSolve}, {10, kSolve}});
  trace.stream(first, "thread", {{0, kIdle}, {2, kWork}, {6, kIdle}, {10, kIdle}});
  trace.stream(first, "gpu stream", {{3, kKernel}, {5, kIdle}, {7, kKernel}, {9, kIdle}});
  // No GPU: nothing to be blamed for.
  trace.stream(trace.process(), "thread", {{0, kMain}, {10, kMain}});
  // Nobody is busy while the GPU is idle; the second stream keeps it busy from 5 on.
  const auto third = trace.process();
  trace.stream(third, "thread", {{0, Event::kNoName}, {10, Event::kNoName}});
  trace.stream(third, "gpu stream", {{4, kKernel}, {6, kIdle}, {30, kIdle}});
  trace.stream(third, "GPUCONTEXT", {{5, kKernel}, {8, kIdle}});
  return trace;
}

std::map<std::string, double> blame(const StatisticsOptions& options) {
  StatisticsOptions with = options;
  with.by = {"gpu-idle"};
  const auto statistics = sample_statistics(made_trace(), with);
  EXPECT_TRUE(statistics.ok());
  std::map<std::string, double> out;
  if (!statistics.ok()) return out;
  const Table& table = statistics->tables.at(0);
  EXPECT_EQ(table.schema.name, "gpu-idle");
  double shares = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    out[std::string(table.column("call").text(row))] = table.column("wall_s").real(row) * 1e9;
    shares += table.column("share").real(row);
  }
  if (!out.empty()) {
    EXPECT_NEAR(shares, 1, 1e-12);
  }
  return out;
}

// The GPU of the first process is idle in 0..3, 5..7 and 9..10, that of the third in 0..4 and 8..10.
TEST(GpuIdleness, IsSharedAmongTheBusyThreads) {
  const auto all = blame({});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_NEAR(all.at("main"), 2.5, 1e-9);   // alone in 0..2, half of 2..3
  EXPECT_NEAR(all.at("work"), 1, 1e-9);     // half of 2..3 and of 5..6
  EXPECT_NEAR(all.at("solve"), 2.5, 1e-9);  // half of 5..6, alone in 6..7 and 9..10
  EXPECT_NEAR(all.at("<no activity>"), 6, 1e-9);
}

TEST(GpuIdleness, OfAWindowAndOfChosenStreams) {
  StatisticsOptions window;
  window.from_ns = 1;
  window.to_ns = 6;
  const auto part = blame(window);
  ASSERT_EQ(part.size(), 4U);
  EXPECT_NEAR(part.at("main"), 1.5, 1e-9);
  EXPECT_NEAR(part.at("work"), 1, 1e-9);
  EXPECT_NEAR(part.at("solve"), 0.5, 1e-9);
  EXPECT_NEAR(part.at("<no activity>"), 3, 1e-9);
  StatisticsOptions without_gpu;
  without_gpu.locations = {"0", "1"};
  EXPECT_TRUE(blame(without_gpu).empty());
}

// Regions instead of samples: a kernel from 2 to 5 of the 10 that the thread runs, which is in solve from 4 to 9.
TEST(GpuIdleness, OfRegionsCountsOwnCodeOutsideOfThem) {
  SampledTrace trace;
  const auto process = trace.process();
  trace.stream(process, "thread", {{0, kMain}, {0, kMain}, {4, kSolve}, {9, kSolve}, {10, kMain}, {10, kMain}});
  trace.stream(process, "gpu stream", {{2, kKernel}, {5, kKernel}});
  trace.make_regions();
  const std::vector<LocationId> all = {LocationId(0), LocationId(1)};
  const auto found = gpu_idleness(trace, all, {}, std::nullopt);
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_NEAR(found->whole_s * 1e9, 10, 1e-9);
  ASSERT_EQ(found->by_call.size(), 2U);
  EXPECT_EQ(found->by_call[0].first, "solve");
  EXPECT_NEAR(found->by_call[0].second * 1e9, 4, 1e-9);
  EXPECT_EQ(found->by_call[1].first, "compute");
  EXPECT_NEAR(found->by_call[1].second * 1e9, 3, 1e-9);
}

}  // namespace
}  // namespace fathom
