// What every member of a collective needs to know of the others.
#pragma once

#include "trace/analysis/calls.hpp"

namespace fathom::analysis {

struct Instance {
  std::int64_t first_exit = 0;
  std::int64_t last_entry = 0;
  std::int64_t root_entry = 0;
  CallPlace last;  // who came last
  CallPlace root;
  CallKind kind = CallKind::none;  // none = members disagree, or nobody is there
  bool symmetric = true;           // whatever it is, nobody leaves before all have come
};

// Of a scan: the latest of those before a member.
struct ScanBefore {
  std::uint32_t member = 0;
  CallPlace latest;
  std::int64_t entry = 0;
};
using ScanPrefix = std::vector<ScanBefore>;  // by member

struct GroupInstances {
  std::vector<Instance> instances;
  std::vector<std::pair<std::uint32_t, ScanPrefix>> scans;  // by instance, ascending

  // Null = it is no scan, or nobody comes before.
  [[nodiscard]] const ScanBefore* before(std::uint32_t instance, std::uint32_t member) const;
};

// By group. Where calls are kept apart: instances with members here, as all members together make them.
Result<std::vector<GroupInstances>> find_instances(const RunCalls& run);

// Puts clocks of different hosts together where they contradict each other, and finds the instances again then; what
// was done is in the diagnostics.
Result<void> correct_clocks(RunCalls& run, std::vector<GroupInstances>& instances, const Work& work);

}  // namespace fathom::analysis
