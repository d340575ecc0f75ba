// What every member of a collective needs to know of the others.
#pragma once

#include "trace/analysis/calls.hpp"

namespace fathom::analysis {

struct Instance {
  std::int64_t first_exit = 0;
  CallPlace last;  // who came last
  CallPlace root;
  CallKind kind = CallKind::none;  // none = members disagree, or nobody is there
};

// Of a scan: for each member the latest of those before it.
using ScanPrefix = std::vector<CallPlace>;

struct GroupInstances {
  std::vector<Instance> instances;
  std::vector<std::pair<std::uint32_t, ScanPrefix>> scans;  // by instance, ascending
  std::vector<std::uint32_t> symmetric_before;              // the last symmetric one at or before an instance; kNone

  [[nodiscard]] const ScanPrefix* scan(std::uint32_t instance) const;
};

// By group.
Result<std::vector<GroupInstances>> find_instances(const RunCalls& run);

}  // namespace fathom::analysis
