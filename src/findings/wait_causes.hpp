// To which finding the waiting of a run belongs, from its causes forward to its victims.
#pragma once

#include "findings/trace_findings.hpp"

namespace fathom {

// What one finding is made of, in ns.
struct WaitCause {
  double lost = 0;
  double propagated = 0;
  std::vector<double> culprits;  // by location
  std::vector<double> victims;
  std::vector<double> names;  // of the waiting calls
  std::vector<double> roots;  // of those that wait for the culprits themselves, with what that costs others
  std::vector<double> paths;  // of what culprits compute, as RunCalls::paths; empty where no regions are known
  std::array<double, analysis::kActivities> activities{};
  std::array<double, analysis::kWaitKinds> kinds{};
  double victims_total = 0;
  std::uint64_t waits = 0;
  std::int64_t from = 0;  // between these lie all but the first and the last hundredth of it
  std::int64_t to = 0;
};

struct WaitCauses {
  std::array<WaitCause, kWaitFindings> causes;
  double waited = 0;          // ns, all of it
  double slow_elsewhere = 0;  // ns, of waits in slow steps that belong to other findings
  double chained = 0;         // share of point-to-point waiting whose culprits had waited themselves
  bool serial = false;
  std::vector<double> useful;  // ns by location, without slow steps: those are another finding
  double useful_mean = 0;
};

WaitCauses find_wait_causes(const analysis::Analysis& analysis);

}  // namespace fathom
