// Small traces made in the test, so that the code is tested where the reference traces are missing.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>

#include "formats/ovni/trace_writer.hpp"
#include "trace/views.hpp"

namespace fathom::ovni {

inline Metadata made_metadata(std::int64_t tid = 11) {
  Metadata metadata;
  metadata.version = 3;
  metadata.part = "thread";
  metadata.loom = "node.1";
  metadata.pid = 10;
  metadata.tid = tid;
  metadata.app_id = 1;
  metadata.lib_version = "1.14.0";
  metadata.lib_commit = "none/here";
  metadata.require = {{{"ovni", "1.1.0"}, {"nosv", "2.7.0"}, {"mpi", "1.0.0"}}};
  metadata.cpus = {{{0, 4}, {1, 5}}};
  metadata.marks = {{3, "phase", "single", {{1, "first"}, {2, "second"}}}};
  metadata.finished = 1;
  return metadata;
}

// One thread that runs a task with an MPI call inside, with a mark and a jumbo event.
inline std::string made_stream(std::int32_t cpu = 0, std::uint64_t start = 1000) {
  StreamBuilder stream;
  stream.event("OHx", start, Payload().add(cpu).add(std::int32_t{-1}).add(std::uint64_t{0}));
  stream.jumbo("VYc", start + 1, Payload().add(std::uint32_t{1}).text("solve"));
  stream.event("VTc", start + 2, Payload().add(std::uint32_t{7}).add(std::uint32_t{1}));
  stream.event("VTx", start + 10, Payload().add(std::uint32_t{7}).add(std::uint32_t{0}));
  stream.event("MS[", start + 20);
  stream.event("OM=", start + 25, Payload().add(std::int64_t{2}).add(std::int32_t{3}));
  stream.event("MS]", start + 30);
  stream.event("VTe", start + 40, Payload().add(std::uint32_t{7}).add(std::uint32_t{0}));
  stream.event("OHe", start + 50);
  return stream.bytes();
}

inline std::filesystem::path write_made(const std::filesystem::path& root, const std::string& stream = made_stream(),
                                        const Metadata& metadata = made_metadata()) {
  const auto directory = root / "loom.node.1/proc.10" / ("thread." + std::to_string(metadata.tid.value_or(0)));
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "stream.json", std::ios::binary) << to_stream_json(metadata);
  std::ofstream(directory / "stream.obs", std::ios::binary) << stream;
  return root;
}

// Takes views without writing them anywhere.
struct NullSink : ViewSink {
  Result<void> begin(std::span<const View>) override { return {}; }
  void encode(std::span<const ViewRecord> records, std::vector<std::string>&) const override {
    count += records.size();
  }
  Result<void> write(const std::vector<std::string>&) override { return {}; }
  Result<void> end(std::span<const View>, std::int64_t) override { return {}; }
  mutable std::atomic<std::size_t> count{0};
};

}  // namespace fathom::ovni
