// Values of metrics in the flavour that is asked for: stored ones as they are, the others worked out from them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profile/profile.hpp"
#include "profile/value.hpp"

namespace fathom {

struct Flavour {
  enum class Kind : std::uint8_t { stored, own, exclusive, inclusive, named } kind = Kind::stored;
  std::string name;  // of Kind::named
};

// What a table of values covers.
struct Selection {
  Flavour flavour;
  // Rows: these contexts, in this order. Empty = all contexts.
  std::vector<ContextId> contexts;
  // Columns: these locations.
  IndexRange locations;
  // One column with all of them combined instead of one each.
  bool aggregate = false;
  // The raw view: void metrics with the values that are stored for them instead of zeros.
  bool void_values = false;
};

inline IndexRange all_locations(const Definitions& defs) {
  return {0, static_cast<std::uint32_t>(defs.system.location_count())};
}

// The values of one metric. Void metrics are zero. An error when they cannot be had: a derived metric that has no
// program, a damaged member, a scope that is neither stored nor computable.
Result<Cells> compute(const Profile& profile, MetricId metric, const Selection& selection);

// The same in several flavours, in the order asked for; `selection.flavour` does not matter. What is stored is read
// once where all of them are made from the same values.
Result<std::vector<Cells>> compute_flavours(const Profile& profile, MetricId metric, std::span<const Flavour> flavours,
                                            const Selection& selection);

// Why compute() would refuse this metric, or "".
std::string why_unavailable(const Profile& profile, MetricId metric);

// Row of a context in a table over all contexts is its id; this is the same for a table over `contexts`.
std::size_t row_count(const Profile& profile, const Selection& selection);

}  // namespace fathom
