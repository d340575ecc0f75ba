// Threads without work: serial sections of profiles, and the same from the efficiencies of traces.
#include "findings/thread_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/number.hpp"
#include "base/text.hpp"
#include "findings/profile_rules.hpp"
#include "profile/algebra/idle_threads.hpp"

namespace fathom {

namespace {

constexpr const char* kSerialAdvice =
    "Let threads share that work, too, or give the process fewer threads and run more processes.";

// What the workers of a team idle in a context is what its master spends there more than they do: a sum over locations
// with these factors, so that parts of the locations can be read one after the other.
std::vector<double> idle_factors(const SystemTree& system) {
  std::vector<double> out(system.location_count(), 0.0);
  for (const algebra::ThreadTeam& team : algebra::thread_teams(system)) {
    out[team.master.index()] = static_cast<double>(team.workers.size());
    for (const LocationId worker : team.workers) out[worker.index()] = -1;
  }
  return out;
}

}  // namespace

Result<void> find_serial_sections(ProfileRules& rules) {
  const Definitions& defs = rules.defs;
  const std::vector<algebra::Parallelism> where = algebra::parallelism(defs);
  const std::vector<double> factors = idle_factors(defs.system);
  const bool any_team = std::any_of(factors.begin(), factors.end(), [](double factor) { return factor > 0; });
  if (where.empty() || !any_team) return {};
  const std::size_t contexts = defs.contexts.size();
  std::vector<double> idle(contexts);
  FATHOM_CHECK(each_part(*rules.profile, rules.time, [&](std::uint32_t first, const Cells& cells) {
    for (std::size_t c = 0; c < contexts; ++c) {
      if (where[c] != algebra::Parallelism::serial) continue;
      for (std::size_t l = 0; l < cells.columns(); ++l) idle[c] += factors[first + l] * cells.scalar(c, l);
    }
  }));
  // While the master is in MPI its threads wait for MPI: that is another finding.
  double lost = 0;
  double all_idle = 0;
  std::map<std::string, double> by_region;
  for (std::size_t c = 0; c < contexts; ++c) {
    if (!(idle[c] > 0)) continue;
    all_idle += idle[c];
    const RegionId region = defs.contexts[ContextId(c)].region;
    if (region.valid() && rules.is_library(region)) continue;
    lost += idle[c];
    if (region.valid()) by_region[defs.region(region).name] += idle[c];
  }
  if (!(lost > 0) || by_region.empty()) return {};
  Finding& finding = rules.add("serial_section", lost);
  // Threads without work are not part of the time that the file has.
  finding.severity = lost / (rules.total + all_idle);
  finding.level = level_of(finding.severity);
  const auto most = std::max_element(by_region.begin(), by_region.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  finding.where.region = most->first;
  finding.where.regions = {{most->first, most->second}};
  finding.where.activity = "compute";
  finding.text = fmt::format(
      "Outside of parallel regions one thread of each process works alone and the others have nothing to do: {} lost, "
      "most of it during {}.",
      rules.lost_text(finding), shorten_name(most->first, 60));
  finding.advice = kSerialAdvice;
  return {};
}

std::vector<Finding> thread_findings(const analysis::ThreadEfficiencies& threads) {
  std::vector<Finding> out;
  const double all = threads.threads * threads.runtime * 1e-9;
  const auto add = [&](const char* kind, double share) {
    Finding finding;
    finding.kind = kind;
    finding.severity = share;
    finding.lost_s = share * all;
    finding.level = level_of(share);
    finding.add_evidence("threads", threads.threads);
    out.push_back(std::move(finding));
    return fmt::format("{} ({} of all time)", readable(share * all, "sec"), percent_text(share));
  };
  if (threads.threads <= 1 || !threads.teams_known) return out;
  if (threads.serial_region < 1) {
    const std::string lost = add("serial_section", 1 - threads.serial_region);
    out.back().where.activity = "compute";
    out.back().add_evidence("serial_region", threads.serial_region);
    out.back().text = fmt::format(
        "While one thread of a process works alone, outside of parallel regions and tasks, the others have nothing to "
        "do: {} lost.",
        lost);
    out.back().advice = kSerialAdvice;
  }
  if (threads.parallel_region < 1) {
    const std::string lost = add("idle_threads", 1 - threads.parallel_region);
    struct Cause {
      const char* name;
      double efficiency;
      const char* what;
      const char* advice;
    };
    const Cause causes[] = {
        {"omp_load_balance", threads.omp_load_balance, "wait at barriers for others that have more to do",
         "Even out the work of threads: schedule(dynamic) or smaller pieces of loops, fewer barriers (nowait)."},
        {"omp_scheduling", threads.omp_scheduling, "are in the runtime system, which hands out work",
         "Make tasks and pieces of loops larger, so that handing them out costs less than doing them."},
        {"omp_serialisation", threads.omp_serialisation, "find nothing to do",
         "Make more work available at a time: more tasks, fewer dependences between them, fewer waits for them."}};
    const Cause* worst = &causes[0];
    for (const Cause& cause : causes) {
      out.back().add_evidence(cause.name, cause.efficiency);
      if (cause.efficiency < worst->efficiency) worst = &cause;
    }
    out.back().where.activity = "idle";
    out.back().text = fmt::format(
        "Inside of parallel regions and tasks threads do not work all the time, most of all "
        "because they {}: {} lost.",
        worst->what, lost);
    out.back().advice = worst->advice;
  }
  return out;
}

}  // namespace fathom
