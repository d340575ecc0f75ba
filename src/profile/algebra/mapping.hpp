// Which part of an input becomes which part of a result.
#pragma once

#include <vector>

#include "profile/profile.hpp"

namespace fathom::algebra {

struct Mapping {
  std::vector<MetricId> metrics;      // by input metric; invalid: left out
  std::vector<ContextId> contexts;    // by input context; invalid: left out
  std::vector<ContextId> absorbed;    // by input context: who takes its exclusive value though it is left out
  std::vector<LocationId> locations;  // by input location; invalid: left out

  // Everything stays what and where it is.
  static Mapping identity(const Definitions& defs);
};

struct Part {
  ProfilePtr profile;
  Mapping mapping;
};

// What happens where several parts have a value for a cell.
enum class Rule : std::uint8_t { last, difference, mean };

// A profile over `definitions` whose values come from the parts when they are asked for. Metrics of the result say in
// which type and flavour (Metric::scopes) they want them.
ProfilePtr combine(Definitions definitions, std::vector<Part> parts, Rule rule);

// The tree once more with the ids numbered depth first from 0.
ContextTree renumbered(const ContextTree& tree);

}  // namespace fathom::algebra
