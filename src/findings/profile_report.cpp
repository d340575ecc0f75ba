#include "findings/profile_report.hpp"

#include "findings/profile_rules.hpp"

namespace fathom {

Result<Report> profile_report(ProfilePtr profile, MetricId time) {
  FATHOM_TRY(ProfileRules rules, ProfileRules::over(std::move(profile), time));
  Report report;
  report.locations = rules.defs.system.location_count();
  report.location_time_s = rules.total;
  if (rules.total > 0) {
    FATHOM_CHECK(take_stored_waits(rules));
    FATHOM_CHECK(find_imbalances(rules));
    find_hot_spots(rules);
    find_shares(rules);
    FATHOM_CHECK(find_serial_sections(rules));
    FATHOM_CHECK(find_idle_gpus(rules));
    FATHOM_CHECK(find_measurement_overhead(rules));
  }
  report.findings = std::move(rules.findings);
  report.finish();
  report.count_in(rules.defs.metric(time).name, rules.defs.metric(time).unit);
  return report;
}

}  // namespace fathom
