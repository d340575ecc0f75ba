#include "findings/trace_findings.hpp"

#include <algorithm>

#include "findings/call_costs.hpp"
#include "findings/trace_report.hpp"
#include "findings/trace_texts.hpp"
#include "findings/wait_causes.hpp"

namespace fathom {

using namespace analysis;

std::string_view to_string(WaitFinding kind) {
  static constexpr std::array<std::string_view, kWaitFindings> kNames = {
      "io_serialisation", "wrong_order",  "slow_iteration", "master_worker",  "early_reduce",
      "late_broadcast",   "early_scan",   "wait_fence",     "late_post",      "early_wait",
      "lock_contention",  "wait_io",      "serialisation",  "load_imbalance", "alternating_imbalance",
      "late_sender",      "late_receiver"};
  return kNames[static_cast<std::size_t>(kind)];
}

namespace {

constexpr double kSecond = 1e-9;
constexpr double kCulprit = 0.05;  // of what is lost, to be named

class Writer {
 public:
  explicit Writer(const Analysis& analysis)
      : analysis_(analysis), run_(analysis.run), causes_(find_wait_causes(analysis)) {
    numbers_.runtime_s = static_cast<double>(run_.runtime()) * kSecond;
    numbers_.ranks = run_.present();
    if (analysis.efficiencies.runtime > 0) {
      numbers_.concurrency = analysis.efficiencies.parallel * static_cast<double>(run_.present());
    }
  }

  std::vector<Finding> write() {
    for (std::size_t k = 0; k < kWaitFindings; ++k) add_waiting(static_cast<WaitFinding>(k));
    add_costs();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::vector<NamedSeconds> named(const std::vector<double>& by_name) const {
    std::vector<NamedSeconds> list;
    for (std::size_t i = 0; i < by_name.size(); ++i) {
      if (by_name[i] > 0) list.push_back({run_.names[i].name, by_name[i] * kSecond});
    }
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.s > b.s; });
    return list;
  }
  void set_lost(Finding& finding, double ns) const {
    finding.lost_s = ns * kSecond;
    finding.severity = analysis_.location_time() > 0 ? ns / analysis_.location_time() : 0;
    finding.level = level_of(finding.severity);
  }
  void set_regions(Finding& finding, const std::vector<double>& by_name) const {
    finding.where.regions = named(by_name);
    if (!finding.where.regions.empty()) finding.where.region = finding.where.regions[0].name;
  }
  [[nodiscard]] double seconds_from_start(std::int64_t time) const {
    return static_cast<double>(time - run_.t0) * kSecond;
  }

  // The call that follows most of the computation of a location between two moments.
  [[nodiscard]] std::string computed_before(std::uint32_t location, std::int64_t from, std::int64_t to) const {
    std::vector<std::int64_t> gaps(run_.names.size());
    const auto& calls = run_.locations[location].calls;
    for (std::size_t i = 1; i < calls.size(); ++i) {
      if (calls[i].entry < from || calls[i - 1].exit > to) continue;
      gaps[calls[i].name] += calls[i].entry - calls[i - 1].exit;
    }
    const auto largest = std::max_element(gaps.begin(), gaps.end());
    return largest == gaps.end() || *largest <= 0 ? std::string()
                                                  : run_.names[static_cast<std::size_t>(largest - gaps.begin())].name;
  }

  // Where regions are known: the call paths in which culprits compute what makes others wait.
  void set_callpaths(Finding& finding, const WaitCause& cause, TextNumbers& numbers) const {
    std::vector<std::uint32_t> order;
    double all = 0;
    for (std::uint32_t path = 0; path < cause.paths.size(); ++path) {
      if (cause.paths[path] > 0) order.push_back(path);
      all += cause.paths[path];
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return cause.paths[a] > cause.paths[b]; });
    for (const std::uint32_t path : order) {
      if (finding.where.callpaths.size() == LocationShares::kMost) {
        ++finding.where.callpaths_more;
        continue;
      }
      finding.where.callpaths.push_back({run_.path_name(path), cause.paths[path] * kSecond});
    }
    if (order.empty() || order[0] == 0) return;  // most of it is outside of all regions
    finding.where.callpath = finding.where.callpaths[0].name;
    numbers.callpath_share = cause.paths[order[0]] / all;
  }

  void add_waiting(WaitFinding kind) {
    const WaitCause& cause = causes_.causes[static_cast<std::size_t>(kind)];
    const Iterations& iterations = analysis_.iterations;
    const bool slow = kind == WaitFinding::slow_iteration;
    double lost = cause.lost;
    if (slow) {
      if (iterations.slow.empty()) return;
      lost = 0;
      for (const std::uint32_t k : iterations.slow) {
        lost += static_cast<double>(iterations.steps[k].length()) - iterations.median;
      }
      lost *= static_cast<double>(run_.present());
    }
    if (lost <= 0) return;
    constexpr double kNamed = 0.3;
    // Steps that are slow because somebody reads a file are told as that.
    if (slow && cause.lost <= kNamed * lost && causes_.slow_elsewhere > kNamed * lost) return;
    Finding finding;
    finding.kind = to_string(kind);
    set_lost(finding, lost);
    if (!slow || cause.lost > kNamed * lost) {
      finding.culprits = largest_locations(run_, cause.culprits, cause.lost, kCulprit);
    }
    finding.victims = largest_locations(run_, cause.victims, cause.victims_total);
    set_regions(finding, cause.names);
    const auto activity = static_cast<std::size_t>(std::max_element(cause.activities.begin(), cause.activities.end()) -
                                                   cause.activities.begin());
    if (cause.lost > 0) {
      finding.where.activity = to_string(static_cast<Activity>(activity));
      finding.where.from_s = seconds_from_start(cause.from);
      finding.where.to_s = seconds_from_start(cause.to);
    }
    std::int64_t from = cause.from;
    std::int64_t to = cause.to;
    if (slow) {
      from = iterations.steps[iterations.slow.front()].from;
      to = iterations.steps[iterations.slow.back()].to;
      finding.where.from_s = seconds_from_start(from);
      finding.where.to_s = seconds_from_start(to);
      finding.where.iterations.assign(iterations.slow.begin(), iterations.slow.end());
    }
    const auto first = std::max_element(cause.culprits.begin(), cause.culprits.end());
    const auto culprit = static_cast<std::uint32_t>(first - cause.culprits.begin());
    TextNumbers numbers = numbers_;
    if (activity == 0 && cause.lost > 0) {
      finding.where.before = computed_before(culprit, slow ? from : run_.t0, to);
      set_callpaths(finding, cause, numbers);
    }
    add_common_evidence(finding, cause);
    if (cause.lost > 0) add_own_evidence(kind, culprit, finding, numbers);
    if (slow) {
      numbers.median_s = iterations.median * kSecond;
      for (const std::uint32_t k : iterations.slow) {
        numbers.slow_s = std::max(numbers.slow_s, static_cast<double>(iterations.steps[k].length()) * kSecond);
      }
      finding.add_evidence("median_s", numbers.median_s);
      finding.add_evidence("slow_s", numbers.slow_s);
    }
    numbers.node = shared_node(finding.culprits);
    const auto root = std::max_element(cause.roots.begin(), cause.roots.end());
    if (root != cause.roots.end() && *root > 0) {
      numbers.region = run_.names[static_cast<std::size_t>(root - cause.roots.begin())].name;
    }
    write_trace_texts(finding, numbers);
    out_.push_back(std::move(finding));
  }

  void add_common_evidence(Finding& finding, const WaitCause& cause) const {
    finding.add_evidence("waits", cause.waits);
    std::vector<NamedSeconds> kinds;
    for (std::size_t k = 0; k < kWaitKinds; ++k) {
      if (cause.kinds[k] > 0)
        kinds.push_back({std::string(to_string(static_cast<WaitKind>(k))), cause.kinds[k] * kSecond});
    }
    finding.add_evidence("wait_kinds", std::move(kinds));
    finding.add_evidence("propagated_s", cause.propagated * kSecond);
    finding.add_evidence("share_of_waiting", causes_.waited > 0 ? cause.lost / causes_.waited : 0.0);
  }

  void add_own_evidence(WaitFinding kind, std::uint32_t culprit, Finding& finding, TextNumbers& numbers) const {
    if (kind == WaitFinding::load_imbalance) {
      const double mean = causes_.useful_mean;
      const double useful = causes_.useful[culprit];
      numbers.excess_s = (useful - mean) * kSecond;
      numbers.excess = mean > 0 ? useful / mean - 1 : 0;
      finding.add_evidence("load_balance", analysis_.efficiencies.load_balance);
      const double all_mean = analysis_.efficiencies.useful_mean;
      finding.add_evidence("max_over_mean", all_mean > 0 ? analysis_.efficiencies.useful_max / all_mean : 1.0);
      finding.add_evidence("excess_s", numbers.excess_s);
    } else if (kind == WaitFinding::serialisation) {
      finding.add_evidence("concurrency", numbers.concurrency);
      finding.add_evidence("chained", causes_.chained);
    } else if (kind == WaitFinding::master_worker) {
      // Computation of the master for each message that it takes.
      std::uint64_t requests = 0;
      for (const Receive& half : run_.locations[culprit].receives) requests += half.matched() ? 1 : 0;
      const double useful = useful_time(run_, culprit, run_.t0, run_.t1);
      numbers.service_s = requests > 0 ? useful / static_cast<double>(requests) * kSecond : 0;
      finding.add_evidence("service_s", numbers.service_s);
      finding.add_evidence("requests", requests);
    }
  }

  // The node that all culprits run on, where they are several and the run has more nodes than one.
  [[nodiscard]] std::string shared_node(const LocationShares& culprits) const {
    if (culprits.list.size() < 2 || culprits.more > 0 || run_.domains.size() < 2) return {};
    std::uint32_t domain = kNone;
    for (const LocationShare& share : culprits.list) {
      const std::uint32_t process = run_.process_of_rank(share.rank);
      if (process == kNone) return {};
      const std::uint32_t own = run_.locations[run_.processes[process][0]].domain;
      if (domain != kNone && own != domain) return {};
      domain = own;
    }
    return run_.domains[domain];
  }

  void add_costs() {
    auto found = find_call_costs(analysis_);
    if (!found) return;
    const CallCosts& costs = *found;
    double claimed = 0;
    const auto add = [&](std::string kind, double ns, const std::vector<double>& locations,
                         const std::vector<double>& names, const auto& more) {
      if (ns <= 0) return;
      Finding finding;
      finding.kind = std::move(kind);
      set_lost(finding, ns);
      double total = 0;
      for (const double value : locations) total += value;
      finding.victims = largest_locations(run_, locations, total);
      set_regions(finding, names);
      finding.where.activity = "mpi";
      finding.where.from_s = 0;
      finding.where.to_s = numbers_.runtime_s;
      add_common_evidence(finding, WaitCause{});
      TextNumbers numbers = numbers_;
      more(finding, numbers);
      write_trace_texts(finding, numbers);
      out_.push_back(std::move(finding));
    };
    if (costs.tiny.ns > 0) {
      claimed += costs.tiny.ns;
      add("tiny_messages", costs.tiny.ns, costs.tiny.locations, costs.tiny.names,
          [&](Finding& finding, TextNumbers& numbers) {
            numbers.messages = costs.tiny_messages;
            numbers.mean_bytes = costs.tiny_bytes / static_cast<double>(costs.tiny_messages);
            const double steps = static_cast<double>(analysis_.iterations.steps.size() * run_.present());
            numbers.per_step = steps > 0 ? static_cast<double>(costs.tiny_messages) / steps : 0;
            finding.add_evidence("messages", numbers.messages);
            finding.add_evidence("mean_bytes", numbers.mean_bytes);
            if (numbers.per_step > 0) finding.add_evidence("per_rank_and_step", numbers.per_step);
          });
    }
    std::vector<double> no_overlap;
    double no_overlap_ns = 0;
    for (const LocationWaits& waits : analysis_.waits.locations) {
      no_overlap.push_back(static_cast<double>(waits.no_overlap_ns));
      no_overlap_ns += no_overlap.back();
    }
    claimed += no_overlap_ns;
    add("no_overlap", no_overlap_ns, no_overlap,
        std::vector<double>(analysis_.waits.no_overlap_by_name.begin(), analysis_.waits.no_overlap_by_name.end()),
        [](Finding&, TextNumbers&) {});
    constexpr double kSparse = 0.5;
    if (costs.zero_share >= kSparse) {
      const double lost = costs.counts.ns * costs.zero_share;
      claimed += lost;
      add("sparse_alltoall", lost, costs.counts.locations, costs.counts.names,
          [&](Finding& finding, TextNumbers& numbers) {
            numbers.zero_share = costs.zero_share;
            finding.add_evidence("zero_share", costs.zero_share);
          });
    }
    constexpr double kMuch = 0.10;
    const double rest = costs.all.ns - claimed;
    if (rest > kMuch * analysis_.location_time()) {
      add("communication", rest, costs.all.locations, costs.all.names, [](Finding&, TextNumbers&) {});
    }
  }

  const Analysis& analysis_;
  const RunCalls& run_;
  WaitCauses causes_;
  TextNumbers numbers_;
  std::vector<Finding> out_;
};

}  // namespace

std::vector<Finding> trace_findings(const Analysis& analysis) { return Writer(analysis).write(); }

}  // namespace fathom
