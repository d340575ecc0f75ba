#include "findings/profile_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/number.hpp"
#include "base/text.hpp"
#include "profile/inspect/inspect.hpp"
#include "profile/views.hpp"
#include "trace/analysis/call_kinds.hpp"

namespace fathom {

namespace {

constexpr double kHot = 0.10;
constexpr double kImbalance = 0.02;
constexpr double kCovered = 0.80;
constexpr double kManyShare = 0.20;
constexpr double kTooManyShare = 0.40;

std::string share(double part) { return fmt::format("{:.3g} %", part * 100); }

LocationShares largest(const SystemTree& system, const std::vector<double>& values, double total) {
  std::vector<std::size_t> order;
  for (std::size_t l = 0; l < values.size(); ++l) {
    if (values[l] > 0) order.push_back(l);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  LocationShares out;
  for (const std::size_t l : order) {
    if (out.list.size() == LocationShares::kMost) {
      ++out.more;
      continue;
    }
    const SystemNodeId group = system.group_of(LocationId(l));
    const auto rank = group.valid() ? system.nodes[group.index()].rank : std::nullopt;
    out.list.push_back({static_cast<std::int32_t>(rank.value_or(-1)), system.location_label(LocationId(l)), values[l],
                        total > 0 ? values[l] / total : 0});
  }
  return out;
}

class ProfileFindings {
 public:
  ProfileFindings(const Profile& profile, MetricId time)
      : profile_(profile), defs_(profile.defs()), time_(time), unit_(defs_.metric(time).unit) {}

  Result<Report> make() {
    FATHOM_TRY(const Value total, metric_total(profile_, time_, {}));
    total_ = total.scalar();
    report_.locations = defs_.system.location_count();
    report_.location_time_s = total_;
    if (!(total_ > 0)) return std::move(report_);
    ViewInput input;
    input.metric = time_;
    FATHOM_TRY(flat_, flat_profile(profile_, input, GroupBy::region));
    FATHOM_CHECK(add_imbalances());
    add_hot_spots();
    add_shares();
    FATHOM_CHECK(add_stored_waits());
    FATHOM_CHECK(add_measurement());
    report_.finish();
    return std::move(report_);
  }

 private:
  [[nodiscard]] std::string amount(double value) const { return readable(value, unit_); }

  Finding& add(std::string kind, double lost) {
    Finding& finding = report_.findings.emplace_back();
    finding.kind = std::move(kind);
    finding.lost_s = lost;
    finding.severity = lost / total_;
    finding.level = level_of(finding.severity);
    return finding;
  }

  [[nodiscard]] bool is_library(RegionId region) const {
    const std::string& group = group_of_[region.index()];
    return group == "MPI" || group == "OMP";
  }

  // Times of contexts with all they call, but for the library, at the locations of a range: rows of contexts.
  Result<std::vector<double>> own_work(IndexRange locations) const {
    Selection selection;
    selection.flavour.kind = Flavour::Kind::own;
    selection.locations = locations;
    FATHOM_TRY(const Cells cells, compute(profile_, time_, selection));
    const std::size_t width = cells.columns();
    std::vector<double> out(defs_.contexts.size() * width);
    for (std::size_t c = defs_.contexts.size(); c-- > 0;) {
      const Context& context = defs_.contexts[ContextId(c)];
      if (context.region.valid() && is_library(context.region)) continue;
      for (std::size_t l = 0; l < width; ++l) {
        out[c * width + l] += cells.scalar(c, l);
        if (context.parent.valid()) out[context.parent.index() * width + l] += out[c * width + l];
      }
    }
    return out;
  }

  // Contexts in which locations spend different times. Waiting in calls is the consequence of it and not counted.
  Result<void> add_imbalances() {
    group_of_ = inspect::region_groups(defs_);
    const auto locations = static_cast<std::uint32_t>(defs_.system.location_count());
    const std::size_t contexts = defs_.contexts.size();
    if (locations < 2 || contexts == 0) return {};
    struct Spread {
      double highest = 0;
      double sum = 0;
      std::size_t executing = 0;
      [[nodiscard]] double lost() const { return highest * static_cast<double>(executing) - sum; }
      [[nodiscard]] double mean() const { return sum / static_cast<double>(executing); }
    };
    std::vector<Spread> spread(contexts);
    constexpr std::size_t kCells = std::size_t{1} << 22;
    const auto width = static_cast<std::uint32_t>(std::clamp<std::size_t>(kCells / contexts, 1, locations));
    const auto each_part = [&](const auto& body) -> Result<void> {
      for (std::uint32_t begin = 0; begin < locations; begin += width) {
        const std::uint32_t end = std::min(locations, begin + width);
        FATHOM_TRY(const std::vector<double> values, own_work({begin, end}));
        body(begin, end - begin, values);
      }
      return {};
    };
    FATHOM_CHECK(each_part([&](std::uint32_t, std::size_t count, const std::vector<double>& values) {
      for (std::size_t c = 0; c < contexts; ++c) {
        for (std::size_t l = 0; l < count; ++l) {
          const double value = values[c * count + l];
          if (!(value > 0)) continue;
          ++spread[c].executing;
          spread[c].sum += value;
          spread[c].highest = std::max(spread[c].highest, value);
        }
      }
    }));
    // The innermost context that has most of it is named: parents come before their children.
    std::vector<std::size_t> found;
    for (std::size_t c = 0; c < contexts; ++c) {
      if (spread[c].executing < 2 || spread[c].lost() < kImbalance * total_) continue;
      bool below_has_it = false;
      for (std::size_t d = c + 1; d < defs_.contexts[ContextId(c)].end && !below_has_it; ++d) {
        below_has_it = spread[d].executing >= 2 && spread[d].lost() >= kCovered * spread[c].lost();
      }
      if (!below_has_it) found.push_back(c);
    }
    std::vector<std::vector<double>> excess(found.size(), std::vector<double>(locations));
    if (!found.empty()) {
      FATHOM_CHECK(each_part([&](std::uint32_t begin, std::size_t count, const std::vector<double>& values) {
        for (std::size_t i = 0; i < found.size(); ++i) {
          for (std::size_t l = 0; l < count; ++l) {
            excess[i][begin + l] = std::max(0.0, values[found[i] * count + l] - 1.02 * spread[found[i]].mean());
          }
        }
      }));
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      const ContextId context(found[i]);
      const Spread& one = spread[found[i]];
      Finding& finding = add("imbalance", one.lost());
      const std::string& name = defs_.region_of(context).name;
      finding.where.region = name;
      finding.where.callpath = defs_.path(context);
      finding.where.activity = "compute";
      double all = 0;
      for (const double value : excess[i]) all += value;
      finding.culprits = largest(defs_.system, excess[i], all);
      const double over = one.highest / one.mean();
      finding.add_evidence("max_over_mean", over);
      finding.add_evidence("locations", std::uint64_t{one.executing});
      finding.text = fmt::format(
          "{} takes {} longer than on average on the slowest of {} locations: as far as others wait for "
          "it, {} ({} of all time) is lost.",
          shorten_name(name, 60), share(over - 1), one.executing, amount(one.lost()), share(finding.severity));
      finding.advice = fmt::format("Give {} less to do here, the others more.", ranks_text(finding.culprits));
      imbalanced_.push_back(name);
    }
    return {};
  }

  void add_hot_spots() {
    for (const std::size_t row : flat_.ranking(false)) {
      const double value = flat_.exclusive.scalar(row, 0);
      if (value < kHot * total_) break;
      const FlatProfile::Row& of = flat_.rows[row];
      if (!of.region.valid()) continue;
      Finding& finding = add("hot_spot", value);
      // A hot spot is not a loss: that it is uneven or waits is another finding.
      finding.level = FindingLevel::note;
      finding.where.region = of.name;
      finding.where.activity = is_library(of.region) ? "mpi" : "compute";
      const Region& region = defs_.region(of.region);
      if (!region.file.empty()) finding.add_evidence("file", region.file);
      finding.add_evidence("share", value / total_);
      const bool uneven = std::find(imbalanced_.begin(), imbalanced_.end(), of.name) != imbalanced_.end();
      finding.text = fmt::format("{} itself takes {} ({} of all time){}.", shorten_name(of.name, 60), amount(value),
                                 share(finding.severity), uneven ? ", and unevenly" : "");
      finding.advice = is_library(of.region) ? "See which code calls it: fathom tree PATH --view bottomup."
                                             : "This is where faster code pays most.";
    }
  }

  void add_shares() {
    struct Sum {
      double all = 0;
      double synchronisation = 0, collective = 0, point_to_point = 0;
      std::string largest;
      double largest_value = 0;
    };
    std::map<std::string, Sum> sums;
    for (std::size_t row = 0; row < flat_.rows.size(); ++row) {
      const FlatProfile::Row& of = flat_.rows[row];
      if (!of.region.valid()) continue;
      const double value = flat_.exclusive.scalar(row, 0);
      if (!(value > 0)) continue;
      const Region& region = defs_.region(of.region);
      using analysis::CallKind;
      const CallKind kind = analysis::call_facts(region).kind;
      const std::string& group = group_of_[of.region.index()];
      std::string name;
      if (analysis::is_io(kind) || to_lower(region.paradigm) == "io" || to_lower(region.role) == "file_io") {
        name = "io_share";
      } else if (group == "MPI" || kind != CallKind::none) {
        name = "mpi_share";
      } else if (group == "OMP") {
        name = "openmp_share";
      } else {
        continue;
      }
      Sum& sum = sums[name];
      sum.all += value;
      if (kind == CallKind::barrier || kind == CallKind::init || kind == CallKind::finalize) {
        sum.synchronisation += value;
      } else if (analysis::is_collective(kind)) {
        sum.collective += value;
      } else if (analysis::is_point_to_point(kind)) {
        sum.point_to_point += value;
      }
      if (value > sum.largest_value) {
        sum.largest_value = value;
        sum.largest = of.name;
      }
    }
    for (const auto& [name, sum] : sums) {
      Finding& finding = add(name, sum.all);
      finding.level = finding.severity >= kTooManyShare ? FindingLevel::problem
                      : finding.severity >= kManyShare  ? FindingLevel::warning
                                                        : FindingLevel::note;
      finding.where.region = sum.largest;
      finding.where.activity = name == "io_share" ? "io" : name == "mpi_share" ? "mpi" : "openmp";
      finding.where.regions = {{sum.largest, sum.largest_value}};
      const std::string what = name == "io_share"    ? "File operations take"
                               : name == "mpi_share" ? "MPI takes"
                                                     : "OpenMP takes";
      finding.text = fmt::format("{} {} ({} of all time), most of it in {}.", what, amount(sum.all),
                                 share(finding.severity), shorten_name(sum.largest, 60));
      if (name == "mpi_share") {
        finding.add_evidence("synchronisation_s", sum.synchronisation);
        finding.add_evidence("collective_s", sum.collective);
        finding.add_evidence("point_to_point_s", sum.point_to_point);
        finding.advice =
            "A profile does not tell waiting from transfer: record a trace of a short run and ask for its report.";
      } else if (name == "openmp_share") {
        finding.advice =
            "Look for barriers at the end of loops with uneven work, and for parallel regions that are very short.";
      } else {
        finding.advice = "Write less often, in larger pieces, and with all ranks together (MPI-IO, HDF5 collective).";
      }
    }
  }

  // What Scalasca has found is taken as it is.
  Result<void> add_stored_waits() {
    static const std::pair<const char*, const char*> kStored[] = {
        {"mpi_latesender", "late_sender"},
        {"mpi_latereceiver", "late_receiver"},
        {"mpi_barrier_wait", "wait_barrier"},
        {"mpi_wait_nxn", "wait_nxn"},
        {"mpi_latebroadcast", "late_broadcast"},
        {"mpi_earlyreduce", "early_reduce"},
        {"mpi_earlyscan", "early_scan"},
        {"mpi_rma_wait_at_fence", "wait_fence"},
        {"late_sender", "late_sender"},
        {"late_receiver", "late_receiver"},
        {"wait_barrier", "wait_barrier"},
        {"wait_nxn", "wait_nxn"},
        {"late_broadcast", "late_broadcast"},
        {"early_reduce", "early_reduce"},
        {"early_scan", "early_scan"},
    };
    for (const auto& [stored, kind] : kStored) {
      const MetricId metric = defs_.find_metric(stored);
      if (!metric.valid() || !why_unavailable(profile_, metric).empty()) continue;
      FATHOM_TRY(const Value value, metric_total(profile_, metric, {}));
      if (!(value.scalar() > 0)) continue;
      Finding& finding = add(kind, value.scalar());
      finding.where.activity = "mpi";
      finding.add_evidence("metric", std::string(stored));
      finding.text = fmt::format("The file's own analysis found {} ({} of all time) of waiting: {}.",
                                 amount(finding.lost_s), share(finding.severity), defs_.metric(metric).display_name);
      finding.advice = fmt::format("See where: fathom tree PATH -m {} --hot.", stored);
    }
    return {};
  }

  // Functions that are called so often that measuring them is what takes the time.
  Result<void> add_measurement() {
    const MetricId visits = defs_.find_metric("visits");
    if (!visits.valid() || !why_unavailable(profile_, visits).empty()) return {};
    FATHOM_TRY(const auto regions, inspect::suggest_filter(profile_, time_, visits));
    if (regions.empty()) return {};
    ViewInput input;
    input.metric = visits;
    FATHOM_TRY(const FlatProfile counts, flat_profile(profile_, input, GroupBy::region));
    double count = 0;
    for (std::size_t row = 0; row < counts.rows.size(); ++row) {
      if (std::find(regions.begin(), regions.end(), counts.rows[row].region) != regions.end()) {
        count += counts.exclusive.scalar(row, 0);
      }
    }
    constexpr double kPerVisit = 1e-6;  // s, about what measuring a visit costs
    Finding& finding = add("measurement_overhead", std::min(total_, count * kPerVisit));
    finding.level = finding.severity >= kHot ? FindingLevel::warning : FindingLevel::note;
    const std::string& name = defs_.region(regions.front()).name;
    finding.where.region = name;
    finding.add_evidence("visits", count);
    finding.add_evidence("functions", std::uint64_t{regions.size()});
    finding.text = fmt::format(
        "{} functions are called {} times and do almost nothing each time, {} most of all: measuring "
        "them may have taken {} of the time.",
        regions.size(), readable(count, "occ"), shorten_name(name, 60), share(finding.severity));
    finding.advice = "Leave them out of the next measurement: fathom groups PATH --filter writes the file for it.";
    return {};
  }

  const Profile& profile_;
  const Definitions& defs_;
  MetricId time_;
  std::string unit_;
  double total_ = 0;
  FlatProfile flat_;
  std::vector<std::string> group_of_;  // by region
  std::vector<std::string> imbalanced_;
  Report report_;
};

struct RegionNumbers {
  double time = 0;
  double visits = 0;
  bool present = false;
};

Result<std::map<std::string, RegionNumbers>> by_region(const PairInput& input) {
  std::map<std::string, RegionNumbers> out;
  ViewInput view;
  view.metric = input.time;
  FATHOM_TRY(const FlatProfile times, flat_profile(*input.profile, view, GroupBy::region));
  for (std::size_t row = 0; row < times.rows.size(); ++row) {
    RegionNumbers& numbers = out[times.rows[row].name];
    numbers.time += times.exclusive.scalar(row, 0);
    numbers.present = true;
  }
  const MetricId visits = input.profile->defs().find_metric("visits");
  if (!visits.valid() || !why_unavailable(*input.profile, visits).empty()) return out;
  view.metric = visits;
  FATHOM_TRY(const FlatProfile counts, flat_profile(*input.profile, view, GroupBy::region));
  for (std::size_t row = 0; row < counts.rows.size(); ++row) {
    out[counts.rows[row].name].visits += counts.exclusive.scalar(row, 0);
  }
  return out;
}

}  // namespace

Result<Report> profile_report(const Profile& profile, MetricId time) { return ProfileFindings(profile, time).make(); }

Result<Report> pair_report(const PairInput& before, const PairInput& after) {
  FATHOM_TRY(const auto a, by_region(before));
  FATHOM_TRY(auto b, by_region(after));
  FATHOM_TRY(const Value total, metric_total(*before.profile, before.time, {}));
  const double all = total.scalar();
  Report report;
  report.locations = after.profile->defs().system.location_count();
  report.location_time_s = all;
  if (!(all > 0)) return report;
  const std::string& unit = before.profile->defs().metric(before.time).unit;
  constexpr double kOfTotal = 0.01;
  constexpr double kOfRegion = 0.05;
  auto names = a;
  names.insert(b.begin(), b.end());
  for (const auto& [name, ignored] : names) {
    const auto found_a = a.find(name);
    const RegionNumbers from = found_a == a.end() ? RegionNumbers{} : found_a->second;
    const RegionNumbers to = b[name];
    const double by = to.time - from.time;
    if (std::abs(by) < kOfTotal * all || std::abs(by) < kOfRegion * from.time) continue;
    Finding finding;
    finding.kind = by > 0 ? "regression" : "improvement";
    finding.lost_s = std::abs(by);
    finding.severity = std::abs(by) / all;
    finding.level = by > 0 ? level_of(finding.severity) : FindingLevel::note;
    finding.where.region = name;
    finding.add_evidence("before_s", from.time);
    finding.add_evidence("after_s", to.time);
    std::string why;
    if (from.visits > 0 && to.visits > 0) {
      const double calls = to.visits / from.visits;
      const double each = from.time > 0 ? to.time / to.visits / (from.time / from.visits) : 1;
      finding.add_evidence("calls_ratio", calls);
      finding.add_evidence("time_per_call_ratio", each);
      why = std::abs(calls - 1) > std::abs(each - 1)
                ? fmt::format(", because it is called {:.3g} times as often", calls)
                : fmt::format(", because each call takes {:.3g} times as long", each);
    }
    finding.text = fmt::format("{} took {} and takes {} now{}.", shorten_name(name, 60), readable(from.time, unit),
                               readable(to.time, unit), why);
    finding.advice =
        by > 0 ? "Look at what changed in it or in what it is given to do; fathom diff A B --by context shows where."
               : "";
    report.findings.push_back(std::move(finding));
  }
  report.finish();
  return report;
}

}  // namespace fathom
