#include "profile/reduce/wait_metrics.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "base/text.hpp"

namespace fathom::reduction {

using analysis::Activity;
using analysis::CallKind;
using analysis::WaitKind;

namespace {

using enum WaitMetric::Source;

// Names, titles and the tree are those of Scalasca's reports. What it does not have stands where one would look for it.
constexpr WaitMetric kMetrics[] = {
    {"mpi", "time", "MPI", "Time in MPI calls", time},
    {"mpi_management", "mpi", "Management", "Calls that set up or end", time},
    {"mpi_init_exit", "mpi_management", "Init/Finalize", "MPI_Init and MPI_Finalize", time},
    {"mpi_init_wait", "mpi_init_exit", "Wait at Init", "Waiting in MPI_Init until the last rank has come"},
    {"mpi_finalize_wait", "mpi_init_exit", "Wait at Finalize", "Waiting in MPI_Finalize until the last rank has come"},
    {"mpi_mgmt_win", "mpi_management", "Window", "Calls that make and free windows", time},
    {"mpi_rma_wait_at_create", "mpi_mgmt_win", "Wait at Create", "Waiting until the last rank has come"},
    {"mpi_rma_wait_at_free", "mpi_mgmt_win", "Wait at Free", "Waiting until the last rank has come"},
    {"mpi_synchronization", "mpi", "Synchronization", "Barriers and the synchronisation of windows", time},
    {"mpi_sync_collective", "mpi_synchronization", "Collective", "Barriers", time},
    {"mpi_barrier_wait", "mpi_sync_collective", "Wait at Barrier", "Waiting until the last rank has come"},
    {"mpi_barrier_completion", "mpi_sync_collective", "Barrier Completion",
     "Time in a barrier after all have come and the first one has left"},
    {"mpi_rma_synchronization", "mpi_synchronization", "Remote Memory Access", "Synchronisation of windows", time},
    {"mpi_rma_sync_active", "mpi_rma_synchronization", "Active Target", "Fences, post, start, complete, wait", time},
    {"mpi_rma_wait_at_fence", "mpi_rma_sync_active", "Wait at Fence", "Waiting until the last rank has come"},
    {"mpi_rma_sync_late_post", "mpi_rma_sync_active", "Late Post", "Waiting until a target has posted its window"},
    {"mpi_rma_early_wait", "mpi_rma_sync_active", "Early Wait", "A target waits until the origins are done"},
    {"mpi_rma_sync_passive", "mpi_rma_synchronization", "Passive Target", "Locks of windows", time},
    {"mpi_rma_sync_lock_competition", "mpi_rma_sync_passive", "Lock Contention",
     "Waiting for a window that another rank has locked"},
    {"mpi_communication", "mpi", "Communication", "Calls that move data", time},
    {"mpi_point2point", "mpi_communication", "Point-to-point", "Sends, receives and what completes them", time},
    {"mpi_latesender", "mpi_point2point", "Late Sender", "A receive waits until the message is sent"},
    {"mpi_latesender_wo", "mpi_latesender", "Messages in Wrong Order",
     "... while a message that had been sent earlier is taken later"},
    {"mpi_latereceiver", "mpi_point2point", "Late Receiver", "A send waits until the receive is posted"},
    {"mpi_collective", "mpi_communication", "Collective", "Collectives, making communicators among them", time},
    {"mpi_earlyreduce", "mpi_collective", "Early Reduce", "The root waits until the last rank has come"},
    {"mpi_earlyscan", "mpi_collective", "Early Scan", "Waiting until all ranks before it have come"},
    {"mpi_latebroadcast", "mpi_collective", "Late Broadcast", "Waiting until the root has come"},
    {"mpi_wait_nxn", "mpi_collective", "Wait at N x N", "Waiting until the last rank has come"},
    {"mpi_nxn_completion", "mpi_collective", "N x N Completion",
     "Time in a collective after all have come and the first one has left"},
    {"mpi_rma_communication", "mpi_communication", "Remote Memory Access", "Puts, gets and updates", time},
    {"mpi_io", "mpi", "File I/O", "Calls on files", time},
    {"mpi_io_individual", "mpi_io", "Individual", "Calls on files that a rank makes alone", time},
    {"mpi_io_collective", "mpi_io", "Collective", "Calls on files that all make together", time},
    {"mpi_io_wait", "mpi_io_collective", "Wait at Collective I/O", "Waiting until the last rank has come"},
    {"critical_path", "", "Critical Path", "Time on the chain of activities that decides how long the run takes"},
    {"delay", "", "Delay costs", "What the work done here made others wait: sums to all waiting", summed},
    {"delay_p2p", "delay", "Point-to-point", "Waiting for messages and receives", summed},
    {"delay_latesender_aggregate", "delay_p2p", "Late Sender costs", "At once and later", summed},
    {"delay_latesender", "delay_latesender_aggregate", "Short-term", "Waits that were caused directly"},
    {"delay_latesender_longterm", "delay_latesender_aggregate", "Long-term", "Waits that those caused in turn"},
    {"delay_latereceiver_aggregate", "delay_p2p", "Late Receiver costs", "At once and later", summed},
    {"delay_latereceiver", "delay_latereceiver_aggregate", "Short-term", "Waits that were caused directly"},
    {"delay_latereceiver_longterm", "delay_latereceiver_aggregate", "Long-term", "Waits that those caused in turn"},
    {"delay_collective", "delay", "Collective", "Waiting in collectives", summed},
    {"delay_barrier_aggregate", "delay_collective", "Wait at Barrier costs", "Init and Finalize among them", summed},
    {"delay_barrier", "delay_barrier_aggregate", "Short-term", "Waits that were caused directly"},
    {"delay_barrier_longterm", "delay_barrier_aggregate", "Long-term", "Waits that those caused in turn"},
    {"delay_n2n_aggregate", "delay_collective", "Wait at N x N costs", "At once and later", summed},
    {"delay_n2n", "delay_n2n_aggregate", "Short-term", "Waits that were caused directly"},
    {"delay_n2n_longterm", "delay_n2n_aggregate", "Long-term", "Waits that those caused in turn"},
    {"delay_12n_aggregate", "delay_collective", "Late Broadcast costs", "At once and later", summed},
    {"delay_12n", "delay_12n_aggregate", "Short-term", "Waits that were caused directly"},
    {"delay_12n_longterm", "delay_12n_aggregate", "Long-term", "Waits that those caused in turn"},
    {"delay_n21_aggregate", "delay_collective", "Early Reduce costs", "Scans among them", summed},
    {"delay_n21", "delay_n21_aggregate", "Short-term", "Waits that were caused directly"},
    {"delay_n21_longterm", "delay_n21_aggregate", "Long-term", "Waits that those caused in turn"},
    {"delay_rma_aggregate", "delay", "Remote Memory Access", "Waiting for windows", summed},
    {"delay_rma", "delay_rma_aggregate", "Short-term", "Waits that were caused directly"},
    {"delay_rma_longterm", "delay_rma_aggregate", "Long-term", "Waits that those caused in turn"},
    {"delay_io_aggregate", "delay", "File I/O", "Waiting in collective file operations", summed},
    {"delay_io", "delay_io_aggregate", "Short-term", "Waits that were caused directly"},
    {"delay_io_longterm", "delay_io_aggregate", "Long-term", "Waits that those caused in turn"},
};

std::string_view name_of_wait(WaitKind kind, std::string_view call) {
  switch (kind) {
    case WaitKind::late_sender:
      return "mpi_latesender";
    case WaitKind::late_receiver:
      return "mpi_latereceiver";
    case WaitKind::wait_barrier:
      return "mpi_barrier_wait";
    case WaitKind::wait_nxn:
      return "mpi_wait_nxn";
    case WaitKind::wait_finalize:
      return "mpi_finalize_wait";
    case WaitKind::wait_init:
      return "mpi_init_wait";
    case WaitKind::late_broadcast:
      return "mpi_latebroadcast";
    case WaitKind::early_reduce:
      return "mpi_earlyreduce";
    case WaitKind::early_scan:
      return "mpi_earlyscan";
    case WaitKind::wait_fence:
      if (to_lower(call).find("fence") != std::string::npos) return "mpi_rma_wait_at_fence";
      return to_lower(call).find("free") != std::string::npos ? "mpi_rma_wait_at_free" : "mpi_rma_wait_at_create";
    case WaitKind::late_post:
      return "mpi_rma_sync_late_post";
    case WaitKind::early_wait:
      return "mpi_rma_early_wait";
    case WaitKind::lock_contention:
      return "mpi_rma_sync_lock_competition";
    case WaitKind::wait_io:
      return "mpi_io_wait";
  }
  return {};
}

// The short-term one; the long-term one follows it.
std::string_view name_of_delay(WaitKind kind) {
  switch (kind) {
    case WaitKind::late_sender:
      return "delay_latesender";
    case WaitKind::late_receiver:
      return "delay_latereceiver";
    case WaitKind::wait_barrier:
    case WaitKind::wait_finalize:
    case WaitKind::wait_init:
      return "delay_barrier";
    case WaitKind::wait_nxn:
      return "delay_n2n";
    case WaitKind::late_broadcast:
      return "delay_12n";
    case WaitKind::early_reduce:
    case WaitKind::early_scan:
      return "delay_n21";
    case WaitKind::wait_fence:
    case WaitKind::late_post:
    case WaitKind::early_wait:
    case WaitKind::lock_contention:
      return "delay_rma";
    case WaitKind::wait_io:
      return "delay_io";
  }
  return {};
}

bool moves_window_data(std::string_view name) {
  for (const std::string_view part : {"put", "get", "accumulate", "fetch_and_op", "compare_and_swap"}) {
    for (const std::string_view form : {"mpi_", "pmpi_", "mpi_r", "pmpi_r"}) {
      if (name.starts_with(form) && name.substr(form.size()) == part) return true;
    }
  }
  return name.ends_with("get_accumulate");
}

}  // namespace

std::span<const WaitMetric> wait_metrics() { return kMetrics; }

std::uint32_t wait_metric(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kMetrics); ++i) {
    if (kMetrics[i].name == name) return static_cast<std::uint32_t>(i);
  }
  return kNoMetric;
}

std::uint32_t parent_of(std::uint32_t metric) {
  static const auto kParents = [] {
    std::array<std::uint32_t, std::size(kMetrics)> parents{};
    for (std::size_t i = 0; i < parents.size(); ++i) parents[i] = wait_metric(kMetrics[i].parent);
    return parents;
  }();
  return kParents[metric];
}

bool is_part_of(std::uint32_t metric, std::uint32_t whole) {
  while (metric != kNoMetric && metric != whole) metric = parent_of(metric);
  return metric == whole;
}

std::uint32_t time_metric(const Region& region) {
  const CallKind kind = analysis::call_facts(region).kind;
  switch (kind) {
    case CallKind::none:
      return kNoMetric;
    case CallKind::other:
      return wait_metric(moves_window_data(to_lower(region.name)) ? "mpi_rma_communication" : "mpi");
    case CallKind::init:
    case CallKind::finalize:
      return wait_metric("mpi_init_exit");
    case CallKind::make_window:
      return wait_metric("mpi_mgmt_win");
    case CallKind::barrier:
      return wait_metric("mpi_sync_collective");
    case CallKind::n_to_n:
    case CallKind::one_to_n:
    case CallKind::n_to_one:
    case CallKind::scan:
    case CallKind::make_communicator:
      return wait_metric("mpi_collective");
    case CallKind::io:
      return wait_metric("mpi_io_individual");
    case CallKind::io_collective:
      return wait_metric("mpi_io_collective");
    case CallKind::window_lock:
    case CallKind::window_unlock:
      return wait_metric("mpi_rma_sync_passive");
    case CallKind::fence:
    case CallKind::window_post:
    case CallKind::window_start:
    case CallKind::window_complete:
    case CallKind::window_wait:
      return wait_metric("mpi_rma_sync_active");
    default:
      return wait_metric("mpi_point2point");
  }
}

Result<std::shared_ptr<const WaitCharges>> WaitCharges::find(const Trace& trace, const Work& work) {
  auto out = std::make_shared<WaitCharges>();
  FATHOM_TRY(out->analysis_, analysis::analyse(trace, work, analysis::Depth::causes));
  FATHOM_CHECK(out->collect());
  return std::shared_ptr<const WaitCharges>(std::move(out));
}

// The wait states of a location, and what collectives take beside them.
void WaitCharges::take_waits(std::uint32_t location, LocationCharges& out) const {
  const analysis::RunCalls& run = analysis_->run;
  const auto& calls = run.locations[location].calls;
  const auto wrong_order = static_cast<std::uint16_t>(wait_metric("mpi_latesender_wo"));
  // By name of the call and kind of the wait.
  std::vector<std::uint16_t> metrics;
  for (const analysis::CallName& name : run.names) {
    for (std::size_t kind = 0; kind < analysis::kWaitKinds; ++kind) {
      metrics.push_back(static_cast<std::uint16_t>(wait_metric(name_of_wait(static_cast<WaitKind>(kind), name.name))));
    }
  }
  for (const analysis::Wait& wait : analysis_->waits.locations[location].waits) {
    const std::uint16_t metric =
        metrics[calls[wait.call].name * analysis::kWaitKinds + static_cast<std::size_t>(wait.kind)];
    out.charges.push_back({static_cast<double>(wait.length), wait.call, metric, false});
    if (wait.wrong_order) out.charges.push_back({static_cast<double>(wait.length), wait.call, wrong_order, false});
  }
  const auto barrier = static_cast<std::uint16_t>(wait_metric("mpi_barrier_completion"));
  const auto nxn = static_cast<std::uint16_t>(wait_metric("mpi_nxn_completion"));
  for (const analysis::Part& part : run.locations[location].parts) {
    const std::int64_t ns = analysis::completion(run, analysis_->instances, calls[part.call], part);
    if (ns <= 0) continue;
    const bool is_barrier = calls[part.call].kind == CallKind::barrier;
    out.charges.push_back({static_cast<double>(ns), part.call, is_barrier ? barrier : nxn, false});
  }
}

// What a wait costs, over what its culprit did meanwhile: to the call paths in which it computed more than the victim,
// within them and within calls in proportion to time.
void WaitCharges::take_delays() {
  const analysis::RunCalls& run = analysis_->run;
  const bool has_paths = analysis::PathShares::known(run);
  analysis::PathShares shares(*analysis_->intervals);
  std::array<std::uint16_t, analysis::kWaitKinds> metrics{};
  for (std::size_t kind = 0; kind < analysis::kWaitKinds; ++kind) {
    metrics[kind] = static_cast<std::uint16_t>(wait_metric(name_of_delay(static_cast<WaitKind>(kind))));
  }
  for (std::uint32_t l = 0; l < run.locations.size(); ++l) {
    for (const analysis::Wait& wait : analysis_->waits.locations[l].waits) {
      LocationCharges& to = locations_[run.locations[wait.culprit].id.index()];
      const auto spent =
          analysis_->intervals->between(wait.culprit, wait.culprit_begin, wait.culprit_call, wait.from_entry);
      // Of computation, the first call before which it counts.
      const std::uint32_t computed = std::max<std::uint32_t>(wait.culprit_begin + (wait.from_entry ? 1 : 0), 1);
      const std::uint16_t metric = metrics[static_cast<std::size_t>(wait.kind)];
      const double parts[] = {static_cast<double>(wait.length), wait.cost - static_cast<double>(wait.length)};
      for (std::size_t a = 0; a < analysis::kActivities; ++a) {
        for (std::uint16_t term = 0; term < 2; ++term) {
          const double ns = parts[term] * wait.direct[a];
          if (ns <= 0) continue;
          const auto of = static_cast<std::uint16_t>(metric + term);
          const auto activity = static_cast<Activity>(a);
          const std::uint32_t begin = a == 0 ? computed : wait.culprit_begin;
          const std::uint32_t end = wait.culprit_call + (a == 0 ? 1 : 0);
          const auto share_out = [&](double amount, std::int64_t over, std::uint32_t path) {
            if (over <= 0 || begin >= end) {
              to.charges.push_back({amount, wait.culprit_call, of, true});
              return;
            }
            const double rate = amount / static_cast<double>(over);
            to.changes.push_back({rate, begin, of, activity, 1, path});
            to.changes.push_back({-rate, end, of, activity, -1, path});
          };
          if (a == 0 && has_paths) {
            for (const analysis::PathShare& share : shares.of(l, wait)) {
              share_out(ns * share.share, share.ns, share.path);
            }
          } else {
            share_out(ns, spent.activity[a], analysis::PathTable::kNoPath);
          }
        }
      }
    }
  }
}

void WaitCharges::take_path() {
  const analysis::RunCalls& run = analysis_->run;
  const auto metric = static_cast<std::uint16_t>(wait_metric("critical_path"));
  for (const analysis::CriticalPath::Step& step : analysis_->path.steps) {
    LocationCharges& to = locations_[run.locations[step.location].id.index()];
    const auto& calls = run.locations[step.location].calls;
    const std::uint32_t call = std::min(step.call, static_cast<std::uint32_t>(calls.size() - 1));
    const bool whole =
        !step.inside && call == step.call && call > 0 && calls[call].entry - calls[call - 1].exit == step.length;
    if (whole) {
      to.changes.push_back({1, call, metric, Activity::compute, 1});
      to.changes.push_back({-1, call + 1, metric, Activity::compute, -1});
    } else {
      to.charges.push_back({static_cast<double>(step.length), call, metric, !step.inside});
    }
  }
}

Result<void> WaitCharges::collect() {
  const analysis::RunCalls& run = analysis_->run;
  locations_.resize(run.trace->location_count());
  for (LocationCharges& charges : locations_) {
    charges.charges = LargeArray<LocationCharges::Charge>(*run.pool);
    charges.changes = LargeArray<LocationCharges::Change>(*run.pool);
  }
  for (std::uint32_t l = 0; l < run.locations.size(); ++l) locations_[run.locations[l].id.index()].location = l;
  take_delays();
  take_path();
  FATHOM_CHECK(parallel_for(run.locations.size(), [&](std::size_t l) -> Result<void> {
    LocationCharges& to = locations_[run.locations[l].id.index()];
    take_waits(static_cast<std::uint32_t>(l), to);
    const auto by_call = [](const auto& a, const auto& b) { return a.call < b.call; };
    std::stable_sort(to.charges.begin(), to.charges.end(), by_call);
    std::stable_sort(to.changes.begin(), to.changes.end(), by_call);
    return {};
  }));
  return run.pool->status();
}

ChargeCursor::ChargeCursor(const WaitCharges& all, LocationId location) : all_(&all), charges_(&all.of(location)) {
  begin_gap(0);
}

void ChargeCursor::begin_gap(std::uint32_t next) {
  const auto& changes = charges_->changes;
  for (; change_ < changes.size() && changes[change_].call <= next; ++change_) {
    const LocationCharges::Change& change = changes[change_];
    const bool any_path = change.path == analysis::PathTable::kNoPath;
    if (!any_path && change.path >= path_rates_.size()) path_rates_.resize(change.path + std::size_t{1});
    std::vector<Rate>& rates = any_path ? rates_ : path_rates_[change.path];
    const auto found = std::find_if(rates.begin(), rates.end(), [&](const Rate& rate) {
      return rate.metric == change.metric && rate.activity == change.activity;
    });
    if (found == rates.end()) {
      rates.push_back({change.rate, 1, change.metric, change.activity});
      continue;
    }
    found->rate += change.rate;
    found->ranges = change.begins > 0 ? found->ranges + 1 : found->ranges - 1;
    // Nothing is left of rounding when nothing is under way.
    if (found->ranges == 0) rates.erase(found);
  }
}

void ChargeCursor::enter(std::uint32_t region) {
  const analysis::PathTable& paths = all_->analysis().run.paths;
  const std::uint32_t path = paths.find(open_.top(), region);
  if (path != analysis::PathTable::kNoPath) open_.enter(paths, path);
}

void ChargeCursor::leave(std::uint32_t region) { open_.leave(all_->analysis().run.paths, region); }

std::pair<Activity, double> ChargeCursor::work_of(std::uint32_t call) const {
  const analysis::Analysis& analysis = all_->analysis();
  if (charges_->location == analysis::kNone) return {Activity::mpi, 0};
  const auto& calls = analysis.run.locations[charges_->location].calls;
  if (call >= calls.size()) return {Activity::mpi, 0};
  const auto& waits = analysis.waits.locations[charges_->location].waits;
  const analysis::Call& at = calls[call];
  std::int64_t ns = at.exit - at.entry;
  if (at.first_wait < waits.size() && waits[at.first_wait].call == call) ns -= waits[at.first_wait].length;
  return {analysis::is_io(at.kind) ? Activity::io : Activity::mpi, static_cast<double>(ns)};
}

}  // namespace fathom::reduction
