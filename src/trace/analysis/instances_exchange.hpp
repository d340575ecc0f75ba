// Collectives whose members several processes of a team have read: each instance is put together by one of them, from
// what those with members know of it, and told to them.
#pragma once

#include "trace/analysis/instances.hpp"

namespace fathom::analysis {

// What the members that are here know of an instance.
struct KnownOfInstance {
  Instance instance;  // the root where it is here
  std::uint32_t first_member = kNone;
  std::uint32_t root_process = kNone;  // as the first member names it
};
KnownOfInstance known_here(const RunCalls& run, const Group& group, std::size_t k);
// Whether the first of two comes later.
bool later(const RunCalls& run, const ScanBefore& a, const ScanBefore& b);

// Every process of the team must come here.
Result<std::vector<GroupInstances>> find_instances_together(const RunCalls& run);

}  // namespace fathom::analysis
