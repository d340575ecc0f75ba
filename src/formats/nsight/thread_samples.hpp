// Samples of threads: where they were found, as contexts.
#pragma once

#include <functional>
#include <unordered_map>

#include "defs/context_tree.hpp"
#include "formats/nsight/database.hpp"

namespace fathom::nsight {

class ThreadSamples {
 public:
  // The number of a region by its name and module, as texts of the table.
  using RegionOf = std::function<std::uint32_t(const Row& row, int name, int module)>;
  struct Sample {
    std::int64_t time_ns = 0;
    std::int64_t global_thread = 0;
    std::uint32_t context = 0;  // of the builder; kNone = its call chain is not there
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Chains before samples: a chain belongs to the sample with its number.
  Result<void> read_chains(const Database& database, const RegionOf& region);
  Result<void> read(const Database& database, const std::function<void(const Sample&)>& take) const;

  // What contexts are called in the end, by the numbers that samples were given.
  ContextTree build(std::vector<ContextId>& numbers) && { return std::move(builder_).build(&numbers); }
  [[nodiscard]] bool empty() const { return chains_.empty(); }

 private:
  ContextTreeBuilder builder_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and region
  std::unordered_map<std::int64_t, std::uint32_t> chains_;     // contexts by sample
};

}  // namespace fathom::nsight
