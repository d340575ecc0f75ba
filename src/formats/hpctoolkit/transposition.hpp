// From values by profile to values by context: writes cct.db from a profile.db that is mapped, range by range. Several
// processes write neighbouring ranges each; values go from those who have the profiles to those who write the contexts.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "base/work.hpp"
#include "formats/hpctoolkit/profile_db.hpp"

namespace fathom::hpctoolkit {

// How many values and which metrics every context has. Metrics are numbered by slots without gaps.
class ContextSizes {
 public:
  ContextSizes(std::size_t contexts, std::size_t slots)
      : slots_(slots), words_((slots + 63) / 64), values_(contexts), present_(contexts * words_) {}
  void count(std::uint32_t context, std::size_t slot) {
    ++values_[context];
    present_[context * words_ + slot / 64] |= std::uint64_t{1} << (slot % 64);
  }
  [[nodiscard]] std::size_t contexts() const { return values_.size(); }
  [[nodiscard]] std::size_t slots() const { return slots_; }
  [[nodiscard]] std::uint64_t values(std::size_t context) const { return values_[context]; }
  [[nodiscard]] std::uint64_t metrics(std::size_t context) const;
  // Adds up what all processes of the team have counted; everybody knows the sums.
  Result<void> join();
  [[nodiscard]] std::uint64_t bytes() const { return (values_.size() + present_.size()) * sizeof(std::uint64_t); }

 private:
  std::size_t slots_;
  std::size_t words_;
  std::vector<std::uint64_t> values_;
  std::vector<std::uint64_t> present_;
};

// Statistics of one context and metric over the profiles that have a value: count, sum, squares, minimum, maximum.
struct SummaryCell {
  std::size_t slot = 0;
  std::array<double, 5> partials{};
};

struct Transposition {
  Generation generation;
  // What this process has of profile.db, mapped: these profiles, from that place of the file on.
  const Blob& profiles;
  std::size_t first = 1;
  std::size_t last = 1;
  std::uint64_t mapped_from = 0;
  const std::vector<ProfileRecord>& records;  // of all profiles; index 0 is the summary, which is not read
  const ContextSizes& sizes;
  std::function<std::uint16_t(std::size_t)> id_of_slot;
  std::function<std::size_t(std::uint16_t)> slot_of_id;
  // Called in the first process for every context that has values, in ascending order.
  std::function<void(std::uint32_t, std::span<const SummaryCell>)> summarise;
  Work work;
};

// `target` lies in a folder that appears as a whole (SharedOutput).
Result<void> write_transposed(const Transposition& job, const std::filesystem::path& target);

}  // namespace fathom::hpctoolkit
