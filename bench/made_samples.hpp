// An HPCToolkit database with a trace, made for benchmarks.
#pragma once

#include <string>

#include "formats/hpctoolkit/database_writer.hpp"
#include "made_system.hpp"
#include "measure.hpp"
#include "trace/trace.hpp"

namespace fathom::bench {

// Samples about every 10 us in a call tree of 400 functions, in phases that stay in a part of it for a while.
class MadeSampleTrace final : public Trace {
 public:
  MadeSampleTrace(const Definitions& definitions, std::uint64_t samples) : samples_(samples) {
    definitions_ = definitions;
  }
  [[nodiscard]] Result<std::unique_ptr<EventStream>> open(LocationId location, TimeWindow) const override {
    class Stream final : public EventStream {
     public:
      Stream(LocationId location, std::uint64_t count, std::uint64_t contexts)
          : location_(location),
            count_(count),
            contexts_(contexts),
            state_(location.index() * 0x9E3779B97F4A7C15 + 1) {}
      Result<std::size_t> next(std::span<Event> out) override {
        std::size_t made = 0;
        for (; made < out.size() && at_ < count_; ++made, ++at_) {
          state_ = state_ * 6364136223846793005 + 1442695040888963407;
          time_ += 8000 + static_cast<std::int64_t>(state_ >> 52);
          const std::uint64_t phase = at_ / 5000 * 37 % contexts_;
          Event& event = out[made];
          event = Event{};
          event.kind = EventKind::sample;
          event.time_ns = time_;
          event.record = at_;
          event.location = location_;
          event.name = static_cast<std::uint32_t>((phase + (state_ >> 40) % 24) % contexts_);
        }
        return made;
      }

     private:
      LocationId location_;
      std::uint64_t count_;
      std::uint64_t contexts_;
      std::uint64_t state_;
      std::uint64_t at_ = 0;
      std::int64_t time_ = 1'700'000'000'000'000'000;
    };
    return std::unique_ptr<EventStream>(
        std::make_unique<Stream>(location, samples_, std::uint64_t{definitions_.contexts.size()}));
  }
  [[nodiscard]] std::optional<std::uint64_t> known_records(LocationId) const override { return samples_; }

 private:
  std::uint64_t samples_;
};

class OneValue final : public ValueSource {
 public:
  [[nodiscard]] Axis cheap_axis() const override { return Axis::location; }
  Result<void> scan(const Box& box, const RunVisitor& visit) const override {
    for (const StoredMetric& metric : box.metrics) {
      for (std::uint32_t location = box.locations.begin; location < box.locations.end; ++location) {
        std::vector<std::uint32_t> positions;
        for (std::uint32_t c = box.contexts.begin; c < box.contexts.end; ++c) positions.push_back(c);
        const std::vector<double> values(positions.size(), 1);
        Run run;
        run.metric = metric;
        run.along = Axis::context;
        run.location = LocationId(location);
        run.positions = positions;
        run.count = positions.size();
        run.values = reinterpret_cast<const std::byte*>(values.data());
        if (run.count > 0) FATHOM_CHECK(visit(run));
      }
    }
    return {};
  }
};

inline void make_sample_database(const std::filesystem::path& path, std::size_t locations, std::uint64_t samples) {
  auto defs = std::make_shared<Definitions>();
  Metric time;
  time.name = time.display_name = "CPUTIME (sec)";
  time.unit = "sec";
  time.scopes.push_back({Scope::own, {}});
  defs->metrics.push_back(std::move(time));
  ContextTreeBuilder builder;
  for (std::uint32_t i = 0; i < 400; ++i) {
    Region region;
    region.name = "function_" + std::to_string(i);
    region.role = "function";
    defs->regions.push_back(std::move(region));
    builder.add(i == 0 ? ContextTreeBuilder::kRoot : (i - 1) / 3, RegionId(i), i, -1, Edge::call);
  }
  defs->contexts = std::move(builder).build();
  SystemNode machine;
  machine.type = machine.name = "node";
  machine.kind = SystemKind::node;
  const SystemNodeId root = defs->system.add(machine);
  for (std::size_t i = 0; i < locations; ++i) {
    add_process(defs->system, root, static_cast<std::uint32_t>(i), "RANK " + std::to_string(i), "THREAD 0");
  }
  Profile profile;
  profile.definitions = defs;
  profile.values = std::make_shared<OneValue>();
  profile.name = "made";
  profile.work = make_work();
  const MadeSampleTrace trace(*defs, samples);
  must(hpctoolkit::write_database(profile, &trace, {}, hpctoolkit::Generation::meta, path));
}

}  // namespace fathom::bench
