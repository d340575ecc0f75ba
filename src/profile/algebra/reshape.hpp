// One profile in another shape: tidied names, other stored flavours, part of the ranks, the call paths it shares.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/algebra/algebra.hpp"

namespace fathom::algebra {

// A copy without regions that no context calls.
Result<ProfilePtr> clean(const ProfilePtr& profile);

// All stored metrics as exclusive or inclusive ones.
Result<ProfilePtr> store_as(const ProfilePtr& profile, Scope scope);

struct CanonizeOptions {
  bool plain_names = false;               // cut at '(' and drop the return type
  std::optional<std::size_t> max_length;  // cut names
  bool lower_case = false;
  bool drop_files = false;  // of regions
  bool drop_lines = false;  // both become 0
};
// Region names made comparable. Context ids stay.
Result<ProfilePtr> canonize(const ProfilePtr& profile, const CanonizeOptions& options);

// Each input with only the call paths that all of them have, numbered in the order of their old ids. Inclusive metrics
// keep their stored values, so that a lost subtree's share becomes exclusive; exclusive metrics lose it, unless
// `keep_lost` adds it to the parent.
Result<std::vector<ProfilePtr>> common_call_tree(const Inputs& inputs, bool keep_lost = false);

// "0-3,7,13-": ranges of ranks; the last may be open.
struct RankRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
Result<std::vector<RankRange>> parse_ranks(std::string_view text);
// Values of the ranks in the list (or, inverted, of all others) only; the other processes stay, marked " <VOID>".
Result<ProfilePtr> partition(const ProfilePtr& profile, const std::vector<RankRange>& ranks, bool invert = false);

// Derived metrics that can be evaluated become stored ones. Empty = all.
Result<ProfilePtr> materialise(const ProfilePtr& profile, const std::vector<MetricId>& metrics = {});

}  // namespace fathom::algebra
