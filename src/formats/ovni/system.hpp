// Looms, processes, threads and CPUs of a trace, put together from the metadata of its streams.
#pragma once

#include <array>
#include <limits>

#include "base/work.hpp"
#include "formats/ovni/models.hpp"
#include "formats/ovni/native_trace.hpp"

namespace fathom::ovni {

inline constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

struct ThreadInfo {
  std::int64_t tid = 0;
  std::uint32_t process = 0;
  std::uint32_t stream = 0;
};

struct ProcessInfo {
  std::int64_t pid = 0;
  std::int64_t app_id = 0;
  std::int64_t rank = -1;
  std::int64_t nranks = -1;
  std::uint32_t loom = 0;
  std::uint32_t first_thread = 0;
  std::uint32_t thread_count = 0;
};

struct CpuInfo {
  std::int64_t index = -1;  // -1: the virtual CPU
  std::int64_t phyid = -1;
  std::uint32_t loom = 0;
  [[nodiscard]] bool is_virtual() const { return index < 0; }
};

struct LoomInfo {
  std::string name;
  std::uint32_t first_process = 0;
  std::uint32_t process_count = 0;
  std::uint32_t virtual_cpu = 0;
  std::vector<std::uint32_t> cpu_of_index;  // logical index -> CPU
};

struct MarkChannel {
  std::int64_t type = 0;
  std::string title;
  bool stack = false;
  std::vector<std::pair<std::int64_t, std::string>> labels;
};

// All in output order: the position is the row.
struct System {
  std::vector<LoomInfo> looms;
  std::vector<ProcessInfo> processes;
  std::vector<ThreadInfo> threads;
  std::vector<CpuInfo> cpus;
  std::vector<std::uint32_t> thread_of_stream;  // kNobody: a stream that is no thread
  std::array<bool, kModelCount> enabled{};
  std::vector<MarkChannel> marks;
  std::vector<std::string> counters;
  bool sorted_by_rank = false;
  // nOS-V: every thread says so, none is missing.
  bool can_breakdown = true;
  bool breakdown_missing = false;
  // The rules of this layout for short nOS-V payloads and unknown categories.
  bool version_1 = false;

  [[nodiscard]] const ProcessInfo& process_of(std::uint32_t thread) const { return processes[threads[thread].process]; }
  // A CPU of the thread's loom by its index, -1 for the virtual one; kNobody when there is none.
  [[nodiscard]] std::uint32_t find_cpu(std::uint32_t thread, std::int32_t index) const;
  // A thread by its number: of the same process, otherwise of the same loom; kNobody when there is none.
  [[nodiscard]] std::uint32_t find_thread(std::uint32_t near, std::int32_t tid) const;
};

// What the metadata lack or contradict goes to `defects`; the system is as complete as they allow.
System build_system(const NativeTrace& trace, bool all_models, std::vector<Error>& defects, const Work& work);

std::optional<Version> parse_version(std::string_view text);

}  // namespace fathom::ovni
