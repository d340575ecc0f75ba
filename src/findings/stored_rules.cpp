// What a profile says of itself: wait states that another tool found, and how much measuring it may have cost.
#include <fmt/format.h>

#include <algorithm>

#include "base/number.hpp"
#include "base/text.hpp"
#include "findings/profile_rules.hpp"
#include "profile/compute.hpp"
#include "profile/inspect/inspect.hpp"

namespace fathom {

namespace {

constexpr double kMuch = 0.10;  // of all time, to warn about the measurement

// Names of Scalasca, and of the reduced profiles that are made with --waits.
constexpr std::pair<const char*, const char*> kStored[] = {
    {"mpi_latesender", "late_sender"},
    {"mpi_latereceiver", "late_receiver"},
    {"mpi_barrier_wait", "wait_barrier"},
    {"mpi_wait_nxn", "wait_nxn"},
    {"mpi_latebroadcast", "late_broadcast"},
    {"mpi_earlyreduce", "early_reduce"},
    {"mpi_earlyscan", "early_scan"},
    {"mpi_rma_wait_at_fence", "wait_fence"},
    {"mpi_rma_sync_late_post", "late_post"},
    {"mpi_rma_early_wait", "early_wait"},
    {"mpi_rma_sync_lock_competition", "lock_contention"},
    {"mpi_io_wait", "wait_io"},
    {"mpi_init_wait", "wait_init"},
    {"mpi_finalize_wait", "wait_finalize"},
};

}  // namespace

// What Scalasca has found is taken as it is.
Result<void> take_stored_waits(ProfileRules& rules) {
  for (const auto& [stored, kind] : kStored) {
    const MetricId metric = rules.defs.find_metric(stored);
    if (!metric.valid() || !why_unavailable(*rules.profile, metric).empty()) continue;
    FATHOM_TRY(const Value value, metric_total(*rules.profile, metric, {}));
    if (!(value.scalar() > 0)) continue;
    Finding& finding = rules.add(kind, value.scalar());
    finding.where.activity = "mpi";
    finding.add_evidence("metric", std::string(stored));
    finding.text =
        fmt::format("Waiting of the kind \"{}\" takes {}: an analysis has found it, which is stored in the file.",
                    rules.defs.metric(metric).display_name, rules.lost_text(finding));
    rules.knows_waits = true;
    finding.advice = fmt::format("See where: fathom tree PATH -m {} --hot.", stored);
  }
  return {};
}

// Functions that are called so often that measuring them is what takes the time.
Result<void> find_measurement_overhead(ProfileRules& rules) {
  const MetricId visits = rules.defs.find_metric("visits");
  if (!visits.valid() || !why_unavailable(*rules.profile, visits).empty()) return {};
  FATHOM_TRY(const auto regions, inspect::suggest_filter(*rules.profile, rules.time, visits));
  if (regions.empty()) return {};
  ViewInput input;
  input.metric = visits;
  FATHOM_TRY(const FlatProfile counts, flat_profile(*rules.profile, input, GroupBy::region));
  double count = 0;
  for (std::size_t row = 0; row < counts.rows.size(); ++row) {
    if (std::find(regions.begin(), regions.end(), counts.rows[row].region) != regions.end()) {
      count += counts.exclusive.scalar(row, 0);
    }
  }
  constexpr double kPerVisit = 1e-6;  // s, about what measuring a visit costs
  Finding& finding = rules.add("measurement_overhead", std::min(rules.total, count * kPerVisit));
  finding.level = finding.severity >= kMuch ? FindingLevel::warning : FindingLevel::note;
  const std::string& name = rules.defs.region(regions.front()).name;
  finding.where.region = name;
  finding.add_evidence("visits", count);
  finding.add_evidence("functions", std::uint64_t{regions.size()});
  finding.text =
      regions.size() == 1
          ? fmt::format(
                "{} is called {} times and does almost nothing each time: measuring it may have taken {} of the "
                "time.",
                shorten_name(name, 60), readable(count, "occ"), percent_text(finding.severity))
          : fmt::format(
                "{} functions are called {} times and do almost nothing each time, {} most of all: measuring "
                "them may have taken {} of the time.",
                regions.size(), readable(count, "occ"), shorten_name(name, 60), percent_text(finding.severity));
  finding.advice = fmt::format(
      "Leave {} out of the next measurement: fathom groups PATH --filter FILE writes what Score-P needs for it.",
      regions.size() == 1 ? "it" : "them");
  return {};
}

}  // namespace fathom
