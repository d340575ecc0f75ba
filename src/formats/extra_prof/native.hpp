// What an Extra-Prof file holds: a call tree with durations, visits and bytes, each a number or one per thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/work.hpp"
#include "io/blob.hpp"

namespace fathom::extra_prof {

enum class NodeType : std::uint8_t {
  none,
  kernel_launch,
  kernel,
  memcpy,
  memset,
  synchronize,
  overhead,
  overlap,
  memory_management
};

inline constexpr std::uint64_t kAsync = 1;
inline constexpr std::uint64_t kOverlapFlag = 2;

struct Node {
  std::string name;  // as the file has it
  NodeType type = NodeType::none;
  std::uint64_t flags = 0;
  std::vector<double> duration;  // ns; one per thread
  std::vector<double> visits;
  std::vector<double> bytes;
  std::vector<std::vector<double>> gpu_metrics;
  std::vector<std::vector<double>> additional;
  std::vector<std::uint32_t> children;  // numbers in File::nodes
};

struct File {
  std::string version;
  std::vector<std::string> gpu_metrics;
  std::vector<std::string> additional;
  std::vector<Node> nodes;  // the root is 0; parents before children
};

Result<File> read_file(const Blob& blob, const Work& work);
bool looks_like(const Blob& blob);

}  // namespace fathom::extra_prof
