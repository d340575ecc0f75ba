// Findings of traces: every second of waiting belongs to one of them, as do the costs of communication itself.
#pragma once

#include "findings/finding.hpp"
#include "trace/analysis/analysis.hpp"

namespace fathom {

// Kinds to which waiting can belong, in the order in which they are tried.
enum class WaitFinding : std::uint8_t {
  io_serialisation,
  wrong_order,
  slow_iteration,
  master_worker,
  early_reduce,
  late_broadcast,
  early_scan,
  wait_fence,
  late_post,
  early_wait,
  lock_contention,
  wait_io,
  serialisation,
  load_imbalance,
  alternating_imbalance,
  late_sender,
  late_receiver,
};
inline constexpr std::size_t kWaitFindings = 17;
std::string_view to_string(WaitFinding kind);

std::vector<Finding> trace_findings(const analysis::Analysis& analysis);

}  // namespace fathom
