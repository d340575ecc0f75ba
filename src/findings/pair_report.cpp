#include "findings/pair_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/median.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/time_unit.hpp"
#include "findings/profile_rules.hpp"
#include "profile/compute.hpp"
#include "profile/other_unit.hpp"
#include "profile/selection.hpp"

namespace fathom {

namespace {

constexpr double kOfTotal = 0.01;   // least change, of all time
constexpr double kOfRegion = 0.05;  // of the region, where nothing is known about noise
constexpr double kSigma = 3;

struct RegionRuns {
  std::vector<double> times;
  std::vector<double> visits;
};

// The runs of one side: values by region, zero where a run does not have it.
struct Side {
  std::size_t runs = 0;
  std::map<std::string, RegionRuns> regions;
  std::vector<double> totals;
};

// No values: nothing was measured there.
double median(std::vector<double> values) { return values.empty() ? 0 : median_in_place(values); }

// Deviation of one run, by the median of distances from the median; with the factors that make it right for few runs of
// normal noise (Croux and Rousseeuw 1992).
double deviation(const std::vector<double>& values) {
  static constexpr std::array<double, 10> kFew = {0, 0, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};
  const double middle = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  const auto n = static_cast<double>(values.size());
  const double factor = values.size() < kFew.size() ? kFew[values.size()] : n / (n - 0.8);
  return 1.4826 * factor * median(std::move(distances));
}

// Times become those of `unit`.
Result<void> add_run(const Profile& profile, MetricId time, std::string_view unit, Side& side) {
  const std::string& own_unit = profile.defs().metric(time).unit;
  const auto add = [&](MetricId metric, std::vector<double> RegionRuns::*list) -> Result<void> {
    ViewInput view;
    view.metric = metric;
    FATHOM_TRY(const FlatProfile flat, flat_profile(profile, view, GroupBy::region));
    for (std::size_t row = 0; row < flat.rows.size(); ++row) {
      auto& values = side.regions[flat.rows[row].name].*list;
      values.resize(side.runs + 1);
      const double value = flat.exclusive.scalar(row, 0);
      values.back() += metric == time ? in_time_unit(value, own_unit, unit) : value;
    }
    return {};
  };
  FATHOM_CHECK(add(time, &RegionRuns::times));
  const MetricId visits = profile.defs().find_metric("visits");
  if (visits.valid() && why_unavailable(profile, visits).empty()) FATHOM_CHECK(add(visits, &RegionRuns::visits));
  FATHOM_TRY(const Value total, metric_total(profile, time, {}));
  if (!std::isfinite(total.scalar())) return no_total(profile, time, total.scalar());
  side.totals.push_back(in_time_unit(total.scalar(), own_unit, unit));
  ++side.runs;
  return {};
}

Result<Side> read_side(const std::vector<ProfilePtr>& runs, const Metric& metric) {
  Side side;
  for (const ProfilePtr& run : runs) {
    const MetricId time = run->defs().find_metric(metric.name);
    if (!time.valid()) return Error::usage(fmt::format("{} has no metric '{}'", run->name, metric.name));
    FATHOM_CHECK(tell_other_unit(*run, time, metric.unit));
    FATHOM_CHECK(add_run(*run, time, metric.unit, side));
  }
  for (auto& [name, region] : side.regions) {
    region.times.resize(side.runs);
    if (!region.visits.empty()) region.visits.resize(side.runs);
  }
  return side;
}

// What repetitions of a region differ by, as a share of it; 0 = not known.
double relative_noise(const RegionRuns& region) {
  const double middle = median(region.times);
  return region.times.size() < 2 || middle <= 0 ? 0 : deviation(region.times) / middle;
}

const RegionRuns& find(const Side& side, const std::string& name) {
  static const RegionRuns kNothing;
  const auto found = side.regions.find(name);
  return found == side.regions.end() ? kNothing : found->second;
}

// A few repetitions may agree by chance: no region is taken to be quieter than half of them are, on the noisier side.
double typical_noise(const Side& a, const Side& b, double total) {
  std::vector<double> all;
  for (const auto& [name, region] : a.regions) {
    const RegionRuns& other = find(b, name);
    if (median(region.times) < kOfTotal * total) continue;
    all.push_back(std::max(relative_noise(region), relative_noise(other)));
  }
  return median(std::move(all));
}

class Pair {
 public:
  Pair(Side before, Side after, std::string unit)
      : before_(std::move(before)), after_(std::move(after)), unit_(std::move(unit)), all_(median(before_.totals)) {
    noise_ = typical_noise(before_, after_, all_);
  }

  Report compare() {
    Report report;
    report.location_time_s = all_;
    if (!(all_ > 0)) return report;
    std::set<std::string> names;
    for (const Side* side : {&before_, &after_}) {
      for (const auto& [name, region] : side->regions) names.insert(name);
    }
    for (const std::string& name : names) add(name, report);
    report.finish();
    return report;
  }

 private:
  // The least change that is no noise; nothing = single runs, which do not tell.
  [[nodiscard]] std::optional<double> threshold(const RegionRuns& a, const RegionRuns& b) const {
    if (before_.runs < 2 && after_.runs < 2) return std::nullopt;
    const double other = std::max(relative_noise(a), relative_noise(b));
    double square = 0;
    for (const auto& [region, runs] : {std::pair{&a, before_.runs}, {&b, after_.runs}}) {
      const double own = runs < 2 ? other : relative_noise(*region);
      const double s = std::max(own, noise_) * median(region->times);
      square += s * s / static_cast<double>(runs);
    }
    return kSigma * std::sqrt(square);
  }

  void add(const std::string& name, Report& report) const {
    const RegionRuns& a = find(before_, name);
    const RegionRuns& b = find(after_, name);
    const double from = median(a.times);
    const double to = median(b.times);
    const double by = to - from;
    const auto noise = threshold(a, b);
    if (std::abs(by) < kOfTotal * all_ || std::abs(by) < noise.value_or(kOfRegion * from)) return;
    Finding finding;
    finding.kind = by > 0 ? "regression" : "improvement";
    finding.lost_s = std::abs(by);
    finding.severity = std::abs(by) / all_;
    finding.level = by > 0 ? level_of(finding.severity) : FindingLevel::note;
    finding.where.region = name;
    finding.add_evidence("before_s", from);
    finding.add_evidence("after_s", to);
    if (noise) {
      finding.add_evidence("runs_before", std::uint64_t{before_.runs});
      finding.add_evidence("runs_after", std::uint64_t{after_.runs});
      finding.add_evidence("noise_s", *noise / kSigma);
    }
    finding.text =
        fmt::format("{} took {} and takes {} now{}{}.", shorten_name(name, 60), readable(from, unit_),
                    readable(to, unit_), why(finding, a, b),
                    noise ? fmt::format("; repetitions leave an uncertainty of {}", readable(*noise / kSigma, unit_))
                          : std::string());
    if (by > 0) {
      finding.advice =
          "Look at what changed in it or in what it is given to do; fathom diff A B --by context shows where.";
    }
    report.findings.push_back(std::move(finding));
  }

  // More calls or slower ones.
  static std::string why(Finding& finding, const RegionRuns& a, const RegionRuns& b) {
    const double visits_a = median(a.visits);
    const double visits_b = median(b.visits);
    const double from = median(a.times);
    if (visits_a <= 0 && visits_b > 0 && a.times.empty()) return ": it was not called before";
    if (visits_b <= 0 && visits_a > 0 && b.times.empty()) return ": it is not called any more";
    if (visits_a <= 0 || visits_b <= 0 || from <= 0) return {};
    const double calls = visits_b / visits_a;
    const double each = median(b.times) / visits_b / (from / visits_a);
    finding.add_evidence("calls_ratio", calls);
    finding.add_evidence("time_per_call_ratio", each);
    // Of two changes that go against each other only one explains what came of them.
    const bool slower = median(b.times) > from;
    const double by_calls = slower ? calls : 1 / calls;
    const double by_each = slower ? each : 1 / each;
    return by_calls > by_each ? fmt::format(", because it is called {:.3g} times as often", calls)
                              : fmt::format(", because each call takes {:.3g} times as long", each);
  }

  Side before_;
  Side after_;
  std::string unit_;
  double all_;
  double noise_ = 0;
};

}  // namespace

Result<Report> pair_report(const std::vector<ProfilePtr>& before, const std::vector<ProfilePtr>& after) {
  FATHOM_TRY(const MetricId cost, guess_cost(*before.front()));
  const Metric metric = before.front()->defs().metric(cost);
  FATHOM_TRY(Side a, read_side(before, metric));
  FATHOM_TRY(Side b, read_side(after, metric));
  Report report = Pair(std::move(a), std::move(b), metric.unit).compare();
  report.locations = after.front()->defs().system.location_count();
  report.count_in(metric.name, metric.unit);
  return report;
}

}  // namespace fathom
