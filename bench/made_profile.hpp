// The Cube profile that benchmarks work on: 5,000 contexts × 4,096 locations × 3 metrics, 410 MB.
#pragma once

#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "made_system.hpp"
#include "profile/profile.hpp"

namespace fathom::bench {

struct Size {
  std::uint32_t contexts = 5000;
  std::uint32_t locations = 4096;
  bool operator==(const Size&) const = default;
};

// What the benchmarks that work on it are called with: [directory for the generated files] [contexts] [locations]
struct Arguments {
  std::filesystem::path folder = std::filesystem::temp_directory_path();
  Size size;

  Arguments(int argc, char** argv) {
    if (argc > 1) folder = argv[1];
    if (argc > 2) size.contexts = static_cast<std::uint32_t>(std::atoi(argv[2]));
    if (argc > 3) size.locations = static_cast<std::uint32_t>(std::atoi(argv[3]));
  }
  [[nodiscard]] std::filesystem::path file(const char* name) const {
    return folder / ("fathom_bench_" + std::to_string(getpid()) + "_" + name);
  }
};

// What a run of a parallel program leaves: a tree with a fan-out of four, one process per location; time and bytes with
// noise in the low digits, visits as small numbers.
inline std::shared_ptr<Definitions> make_definitions(Size size) {
  auto defs = std::make_shared<Definitions>();
  const auto metric = [&](const char* name, const char* unit, ValueKind kind) {
    Metric m;
    m.name = m.display_name = name;
    m.unit = unit;
    m.type = {kind, 0};
    m.scopes.push_back({Scope::exclusive, {}});
    defs->metrics.push_back(std::move(m));
  };
  metric("visits", "occ", ValueKind::u32);
  metric("time", "sec", ValueKind::f64);
  metric("bytes", "bytes", ValueKind::u64);
  for (int i = 0; i < 200; ++i) {
    Region region;
    region.name = "function_" + std::to_string(i);
    region.file = "solver.c";
    defs->regions.push_back(std::move(region));
  }
  ContextTreeBuilder builder;
  for (std::uint32_t i = 0; i < size.contexts; ++i) {
    builder.add(i == 0 ? ContextTreeBuilder::kRoot : (i - 1) / 4, RegionId(i % 200), i);
  }
  defs->contexts = std::move(builder).build();
  SystemNode machine;
  machine.type = machine.name = "machine";
  const SystemNodeId root = defs->system.add(machine);
  SystemNodeId node;
  for (std::uint32_t i = 0; i < size.locations; ++i) {
    if (i % 128 == 0) {
      SystemNode n;
      n.parent = root;
      n.type = "node";
      n.name = "node " + std::to_string(i / 128);
      node = defs->system.add(n);
    }
    add_process(defs->system, node, i, "MPI Rank " + std::to_string(i), "Master thread");
  }
  return defs;
}

class MadeValues : public ValueSource {
 public:
  explicit MadeValues(Size size) : size_(size) {}
  [[nodiscard]] Axis cheap_axis() const override { return Axis::context; }
  Result<void> scan(const Box& box, const RunVisitor& visit) const override {
    std::vector<std::byte> row(size_.locations * sizeof(std::uint64_t));
    for (const StoredMetric& metric : box.metrics) {
      const std::size_t width = metric.metric.index() == 0 ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
      for (std::uint32_t c = box.contexts.begin; c < box.contexts.end; ++c) {
        std::uint64_t state = (std::uint64_t{c} * 3 + metric.metric.index()) * 0x9E3779B97F4A7C15 + 1;
        for (std::size_t l = 0; l < size_.locations; ++l) {
          state = state * 6364136223846793005 + 1442695040888963407;
          const std::uint64_t noise = state >> 33;
          // Little-endian, so that the first `width` bytes are the value.
          std::uint64_t value = metric.metric.index() == 0 ? c % 1000 + noise % 4 : 8 * ((c % 500) * 512 + noise % 256);
          if (metric.metric.index() == 1) {
            value = std::bit_cast<std::uint64_t>(1e-3 * (c % 97 + 1) + 1e-9 * static_cast<double>(noise % 20000));
          }
          std::memcpy(row.data() + l * width, &value, width);
        }
        Run run;
        run.metric = metric;
        run.context = ContextId(c);
        run.first = box.locations.begin;
        run.count = box.locations.size();
        run.values = row.data() + box.locations.begin * width;
        FATHOM_CHECK(visit(run));
      }
    }
    return {};
  }

 private:
  Size size_;
};

inline Profile make_profile(Size size) {
  Profile profile;
  profile.definitions = make_definitions(size);
  profile.values = std::make_shared<MadeValues>(size);
  profile.name = "made";
  profile.work = make_work();
  return profile;
}

}  // namespace fathom::bench
