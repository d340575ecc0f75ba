// Writes profile.db and its transposition cct.db, with the summary profile, in either generation. Memory is bounded:
// profiles are worked out in batches, the transposition goes over ranges of contexts.
#pragma once

#include <filesystem>
#include <vector>

#include "formats/hpctoolkit/profile_db.hpp"
#include "formats/hpctoolkit/scope_values.hpp"

namespace fathom::hpctoolkit {

// Statistics over the profiles, in the order in which they are numbered.
enum Partial : std::uint8_t { kCount, kSum, kSquares, kMinimum, kMaximum, kPartials };

// How metrics and scopes are numbered: consecutive ranges per metric, statistics in strides of the scopes.
struct MetricNumbers {
  Generation generation = Generation::meta;
  [[nodiscard]] unsigned scopes() const { return generation == Generation::meta ? 4 : 3; }
  // The scope's number in the file, or -1 when the generation does not store it.
  [[nodiscard]] int scope(std::uint8_t written) const {
    if (generation == Generation::meta) return written;
    return written == kFunction ? 1 : written == kExecution ? 2 : -1;
  }
  [[nodiscard]] unsigned base(std::size_t plan) const { return static_cast<unsigned>(plan) * scopes() * kPartials; }
  [[nodiscard]] unsigned value_id(std::size_t plan, unsigned scope_number) const { return base(plan) + scope_number; }
  [[nodiscard]] unsigned statistic_id(std::size_t plan, unsigned scope_number, Partial partial) const {
    return base(plan) + scopes() * partial + scope_number;
  }
  [[nodiscard]] std::size_t most_metrics() const { return 0xFFFF / (scopes() * kPartials); }
};

// Identifier tuples of all locations, from what the system tree knows.
std::vector<std::vector<Identifier>> identifier_tuples(const Definitions& defs,
                                                       const std::vector<std::string>& id_names, Generation generation);

Result<void> write_values(const Profile& profile, const std::vector<MetricPlan>& plans, Generation generation,
                          const std::filesystem::path& directory);

}  // namespace fathom::hpctoolkit
