// An ovni trace made for benchmarks.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "formats/ovni/trace_writer.hpp"

namespace fathom::bench {

inline constexpr int kOvniThreads = 4;

// A worker of a tasking runtime: tasks that run, create others, allocate memory and ask the scheduler.
inline std::string make_ovni_stream(int thread, std::uint64_t events) {
  using namespace fathom::ovni;
  StreamBuilder stream;
  std::uint64_t clock = 1'000'000'000 + static_cast<std::uint64_t>(thread);
  std::uint64_t count = 0;
  const auto plain = [&](std::string_view mcv) {
    clock += 40 + (clock * 2654435761U >> 7) % 50;
    stream.event(mcv, clock);
    ++count;
  };
  const auto loaded = [&](std::string_view mcv, const Payload& payload) {
    clock += 55;
    stream.event(mcv, clock, payload);
    ++count;
  };
  loaded("OHx", Payload().add(std::int32_t{thread}).add(std::int32_t{-1}).add(std::uint64_t{0}));
  if (thread == 0) stream.jumbo("VYc", clock, Payload().add(std::uint32_t{1}).text("a task of the benchmark"));
  plain("VHw");
  const auto first = static_cast<std::uint32_t>(thread) * 0x10000000U + 1;
  std::uint32_t task = first;
  clock += 1000;
  while (count + 3 < events) {
    if (task - first < 1000) loaded("VTc", Payload().add(task).add(std::uint32_t{1}));
    const std::uint32_t run = first + (task - first) % 1000;
    loaded("VTx", Payload().add(run).add(std::uint32_t{0}));
    for (int i = 0; i < 6; ++i) {
      plain("VAs");
      plain("VU[");
      plain("VU]");
      plain("VAS");
      plain("VMa");
      plain("VMA");
    }
    loaded("VTe", Payload().add(run).add(std::uint32_t{0}));
    plain("VSh");
    plain("VSf");
    plain("VS[");
    plain("VS]");
    ++task;
  }
  plain("VHW");
  plain("OHe");
  return stream.bytes();
}

inline void make_ovni_trace(const std::filesystem::path& root, std::uint64_t events) {
  using namespace fathom::ovni;
  for (int thread = 0; thread < kOvniThreads; ++thread) {
    const auto directory = root / fmt::format("loom.node/proc.1/thread.{}", 10 + thread);
    std::filesystem::create_directories(directory);
    Metadata metadata;
    metadata.version = 3;
    metadata.part = "thread";
    metadata.loom = "node";
    metadata.pid = 1;
    metadata.tid = 10 + thread;
    metadata.app_id = 1;
    metadata.lib_version = metadata.lib_commit = "bench";
    metadata.require = {{{"ovni", "1.1.0"}, {"nosv", "2.7.0"}}};
    metadata.cpus.emplace();
    for (int cpu = 0; cpu < kOvniThreads; ++cpu) metadata.cpus->push_back({cpu, cpu});
    metadata.finished = 1;
    std::ofstream(directory / "stream.json") << to_stream_json(metadata);
    std::ofstream(directory / "stream.obs", std::ios::binary) << make_ovni_stream(thread, events / kOvniThreads);
  }
}

}  // namespace fathom::bench
