// Rows of the trace: threads, streams of GPUs and ranges that float, with what the tables call them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/stored_trace.hpp"

namespace fathom::nsight {

// Numbers of threads and processes as the tables pack them.
inline std::int64_t process_of(std::int64_t global) { return global >> 24 & 0xFFFFFF; }
inline std::int64_t thread_of(std::int64_t global) { return global & 0xFFFFFF; }

class TraceRows {
 public:
  std::uint32_t thread(std::int64_t global) { return row({process_of(global), Kind::thread, thread_of(global)}); }
  std::uint32_t stream(std::int64_t global_process, std::int64_t device, std::int64_t context, std::int64_t stream) {
    return row({process_of(global_process), Kind::stream, 0, device, context, stream});
  }
  // Of ranges that may overlap.
  std::uint32_t ranges(std::int64_t global) { return row({process_of(global), Kind::ranges}); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(rows_.size()); }

  // Names may come before or after what they name.
  void name_thread(std::int64_t global, std::string name) { thread_names_[global & kWithoutMachine] = std::move(name); }
  void name_process(std::int64_t global, std::string name) { process_names_[process_of(global)] = std::move(name); }
  void name_gpu(std::int64_t device, std::string name) { gpu_names_[device] = std::move(name); }
  void rank_of_process(std::int64_t global, std::int64_t rank) { ranks_[process_of(global)] = rank; }

  // Puts the processes into the tree; rows in the order of locations.
  std::vector<StoredTrace::RowNode> places(SystemTree& system);

 private:
  enum class Kind : std::uint8_t { thread, stream, ranges };
  struct Key {
    std::int64_t process = 0;
    Kind kind = Kind::thread;
    std::int64_t thread = 0, device = 0, context = 0, stream = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static constexpr std::int64_t kWithoutMachine = 0xFFFFFFFFFFFF;

  std::uint32_t row(const Key& key) {
    if (last_ == nullptr || last_->first != key) last_ = &*rows_.emplace(key, count()).first;
    return last_->second;
  }
  SystemNode group(std::int64_t process, std::int64_t number) const;
  SystemNode location(const Key& key) const;

  std::map<Key, std::uint32_t> rows_;
  const std::pair<const Key, std::uint32_t>* last_ = nullptr;  // of them, that was asked for
  std::map<std::int64_t, std::string> thread_names_;           // by globalTid without the bits of the machine
  std::map<std::int64_t, std::string> process_names_, gpu_names_;
  std::map<std::int64_t, std::int64_t> ranks_;  // by process
};

}  // namespace fathom::nsight
