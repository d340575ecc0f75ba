#include "findings/gpu_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/number.hpp"
#include "base/text.hpp"
#include "findings/profile_rules.hpp"
#include "profile/compute.hpp"
#include "trace/gpu_idleness.hpp"
#include "trace/samples.hpp"

namespace fathom {

namespace {

void set_idle(Finding& finding, double idle, double whole) {
  finding.kind = "gpu_idle";
  finding.lost_s = idle;
  finding.severity = idle / whole;
  finding.level = level_of(finding.severity);
  finding.where.activity = "gpu";
  finding.add_evidence("gpu_time_s", whole);
  finding.advice =
      "Give the GPU its work earlier and in larger pieces: launch several kernels ahead, copy data while others are "
      "computed, move what the processor does meanwhile to the GPU.";
}

}  // namespace

Result<std::optional<Finding>> idle_gpus(const Trace& trace) {
  std::vector<LocationId> locations;
  for (std::size_t l = 0; l < trace.location_count(); ++l) locations.emplace_back(l);
  FATHOM_TRY(const GpuIdleness found, gpu_idleness(trace, locations, {}, std::nullopt));
  if (!(found.whole_s > 0)) return std::optional<Finding>();
  Finding finding;
  double idle = 0;
  for (const auto& [name, seconds] : found.by_call) {
    idle += seconds;
    finding.where.regions.push_back({name, seconds});
  }
  set_idle(finding, idle, found.whole_s);
  const auto code = std::find_if(found.by_call.begin(), found.by_call.end(),
                                 [](const auto& entry) { return entry.first != kNoActivity; });
  std::string meanwhile;
  if (code != found.by_call.end()) {
    finding.where.region = code->first;
    meanwhile = fmt::format("; processors are in {} for {} of that", shorten_name(code->first, 60),
                            percent_text(code->second / idle));
  }
  finding.text = fmt::format("The GPU has nothing to do for {} ({} of its time){}.", readable(idle, "sec"),
                             percent_text(finding.severity), meanwhile);
  return std::optional<Finding>(std::move(finding));
}

// A profile has no order in time: as long as the threads of the process run, less what its streams run, is idle at
// least, however the streams overlap.
Result<void> find_idle_gpus(ProfileRules& rules) {
  const SystemTree& system = rules.defs.system;
  struct Process {
    double wall = 0;
    double busy = 0;
  };
  std::map<SystemNodeId, Process> processes;
  for (std::size_t l = 0; l < system.location_count(); ++l) {
    if (is_gpu(system, LocationId(l))) processes.try_emplace(system.group_of(LocationId(l)));
  }
  if (processes.empty()) return {};
  ViewInput input;
  input.metric = rules.time;
  FATHOM_TRY(const FlatProfile flat, flat_profile(*rules.profile, input, GroupBy::location));
  for (std::size_t row = 0; row < flat.rows.size(); ++row) {
    const LocationId location = flat.rows[row].location;
    const auto found = processes.find(system.group_of(location));
    if (found == processes.end()) continue;
    const double time = flat.exclusive.scalar(row, 0);
    if (is_gpu(system, location)) {
      found->second.busy += time;
    } else {
      found->second.wall = std::max(found->second.wall, time);
    }
  }
  double idle = 0;
  double whole = 0;
  for (const auto& [group, process] : processes) {
    if (!(process.busy > 0)) continue;  // this metric was not taken there
    idle += std::max(0.0, process.wall - process.busy);
    whole += process.wall;
  }
  if (!(whole > 0) || !(idle > 0)) return {};
  Finding& finding = rules.add("gpu_idle", idle);
  set_idle(finding, idle, whole);
  finding.text = fmt::format(
      "GPUs have nothing to do for at least {} ({} of their time); what processors did meanwhile only a trace tells.",
      rules.amount(idle), percent_text(finding.severity));
  return {};
}

}  // namespace fathom
