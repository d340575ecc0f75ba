// Choosing metrics, contexts and locations by what people write: names, patterns, ids, ranges.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace fathom {

// Metrics whose unique or display name fits one of the patterns, in the order of the patterns; none = an empty list.
// A pattern that fits nothing is an error with a suggestion.
Result<std::vector<MetricId>> choose_metrics(const Definitions& defs, const std::vector<std::string>& patterns);
// The same; without patterns the one metric that a person most likely wants: the weight of samples, time, or else the
// first usable one.
Result<std::vector<MetricId>> choose_or_guess_metrics(const Profile& profile, const std::vector<std::string>& patterns);
// What a report is about: the same of metrics whose values add up, so that parts of them are shares.
Result<MetricId> guess_cost(const Profile& profile);
// Contexts by the ids the file uses, ranges of them, or what they are (roots, leaves, level<N); ascending.
Result<std::vector<ContextId>> choose_contexts(const Definitions& defs, const std::vector<std::string>& wishes);
// Locations by label or pattern, ascending; without patterns all.
Result<std::vector<LocationId>> choose_locations(const Definitions& defs, const std::vector<std::string>& patterns);
// Neighbouring locations as ranges.
std::vector<IndexRange> as_ranges(const std::vector<LocationId>& locations);
// Checks that every region pattern fits at least one region.
Result<void> check_region_patterns(const Definitions& defs, const std::vector<std::string>& patterns);

}  // namespace fathom
