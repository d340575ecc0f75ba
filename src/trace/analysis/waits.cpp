#include "trace/analysis/waits.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/parallel.hpp"
#include "io/spare_arrays.hpp"
#include "trace/analysis/common_points.hpp"
#include "trace/analysis/instances.hpp"

namespace fathom::analysis {

std::string_view to_string(WaitKind kind) {
  static constexpr std::array<std::string_view, kWaitKinds> kNames = {
      "late_sender", "late_receiver",  "wait_barrier",    "wait_nxn",   "wait_finalize",
      "wait_init",   "late_broadcast", "early_reduce",    "early_scan", "wait_fence",
      "late_post",   "early_wait",     "lock_contention", "wait_io"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(Activity activity) {
  return activity == Activity::compute ? "compute" : activity == Activity::mpi ? "mpi" : "io";
}

std::int64_t LocationWaits::total() const { return std::accumulate(ns.begin(), ns.end(), std::int64_t{0}); }

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();

WaitKind kind_of_symmetric(CallKind kind) {
  switch (kind) {
    case CallKind::barrier:
      return WaitKind::wait_barrier;
    case CallKind::finalize:
      return WaitKind::wait_finalize;
    case CallKind::init:
      return WaitKind::wait_init;
    case CallKind::io_collective:
      return WaitKind::wait_io;
    case CallKind::fence:
    case CallKind::make_window:
      return WaitKind::wait_fence;
    default:
      return WaitKind::wait_nxn;
  }
}

}  // namespace

std::int64_t completion(const RunCalls& run, const std::vector<GroupInstances>& instances, const Call& call,
                        const Part& part) {
  const Instance& instance = instances[part.group].instances[part.instance];
  if ((instance.kind != CallKind::barrier && instance.kind != CallKind::n_to_n) || !run.counts(call)) return 0;
  return std::max<std::int64_t>(0, call.exit - std::max(instance.last_entry, instance.first_exit));
}

namespace {

// The wait states of one location, call by call.
class LocationSearch {
 public:
  LocationSearch(RunCalls& run, const std::vector<GroupInstances>& instances, std::uint32_t location,
                 LocationWaits& out, std::vector<std::int64_t>& no_overlap_by_name, bool causes)
      : run_(run),
        instances_(instances),
        here_(run.locations[location]),
        location_(location),
        out_(out),
        no_overlap_by_name_(no_overlap_by_name) {
    if (causes) common_.emplace(run, instances, location);
  }

  void search() {
    const auto count = static_cast<std::uint32_t>(here_.calls.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      // Calls before that have nothing to wait for.
      const std::uint32_t stop = next_stop();
      for (; i < stop; ++i) here_.calls[i].first_wait = static_cast<std::uint32_t>(out_.waits.size());
      if (i == count) break;
      look_at(i);
    }
  }

 private:
  // The first call from here on in which something is over or found, or the end.
  [[nodiscard]] std::uint32_t next_stop() const {
    auto stop = static_cast<std::uint32_t>(here_.calls.size());
    if (receive_ < here_.receives.size()) stop = std::min(stop, here_.receives[receive_].call);
    if (done_ < here_.sends_done.size()) stop = std::min(stop, here_.sends_done[done_].call);
    if (part_ < here_.parts.size()) stop = std::min(stop, here_.parts[part_].call);
    if (probe_ < here_.probed.size()) stop = std::min(stop, here_.probed[probe_].call);
    if (need_ < here_.window_needs.size()) stop = std::min(stop, here_.window_needs[need_].call);
    return stop;
  }

  void look_at(std::uint32_t i) {
    Call& call = here_.calls[i];
    call.first_wait = static_cast<std::uint32_t>(out_.waits.size());
    until_ = kNever;
    wrong_order_ = order_matters_ = false;
    const auto end_of = [&](const auto& list, std::size_t from) {
      while (from < list.size() && list[from].call == i) ++from;
      return from;
    };
    const std::size_t receives_end = end_of(here_.receives, receive_);
    const std::size_t done_end = end_of(here_.sends_done, done_);
    const std::size_t parts_end = end_of(here_.parts, part_);
    const std::size_t probed_end = end_of(here_.probed, probe_);
    const std::size_t needs_end = end_of(here_.window_needs, need_);
    if (run_.counts(call)) {
      if (receives_end > receive_) by_receives(call, receives_end);
      if (done_end > done_) by_sends(call, done_end);
      if (parts_end > part_) by_collective(call, here_.parts[part_]);
      if (probed_end > probe_) by_probe(call, here_.probed[probe_]);
      if (needs_end > need_) by_window(call, needs_end);
      add(call, i);
      if (is_wait(call.kind)) find_no_overlap(call, receives_end, done_end);
    }
    if (common_) remember(receives_end, done_end, parts_end);
    receive_ = receives_end;
    done_ = done_end;
    part_ = parts_end;
    probe_ = probed_end;
    need_ = needs_end;
  }

  void remember(std::size_t receives_end, std::size_t done_end, std::size_t parts_end) {
    for (std::size_t i = receive_; i < receives_end; ++i) common_->received(here_.receives[i]);
    for (std::size_t i = done_; i < done_end; ++i) common_->sent(here_.sends_done[i]);
    for (std::size_t i = part_; i < parts_end; ++i) common_->took_part(here_.parts[i]);
  }

  void consider(std::int64_t until, WaitKind kind, CallPlace culprit) {
    if (until_ != kNever && until <= until_) return;
    until_ = until;
    kind_ = kind;
    culprit_ = culprit;
  }

  // The earliest send among the messages that the calls behind this one complete, up to the first call that sends
  // something itself or is a collective. Looked up for all calls up to there at once.
  std::int64_t earliest_behind(std::size_t receives_end) {
    if (receives_end > segment_end_) find_segment();
    return receives_end == segment_end_ ? kAlways : earliest_[receives_end - segment_begin_];
  }
  void find_segment() {
    segment_begin_ = receive_;
    segment_end_ = receive_;
    const std::uint32_t call = here_.receives[receive_].call;
    std::uint32_t break_at = call;
    while (segment_end_ < here_.receives.size()) {
      const std::uint32_t next = here_.receives[segment_end_].call;
      while (break_at < next) {
        const Call& between = here_.calls[++break_at];
        if (between.has(Call::kSends) || is_collective(between.kind)) break;
      }
      const Call& last = here_.calls[break_at];
      if (break_at > call && (last.has(Call::kSends) || is_collective(last.kind))) break;
      ++segment_end_;
    }
    earliest_.resize(segment_end_ - segment_begin_);
    std::int64_t earliest = kAlways;
    for (std::size_t i = segment_end_; i-- > segment_begin_;) {
      const Receive& half = here_.receives[i];
      if (half.matched()) earliest = std::min(earliest, half.sent);
      earliest_[i - segment_begin_] = earliest;
    }
  }

  // Computation between a call that waited in the wrong order and the last one that takes a message sent earlier: who
  // takes one after the other and works then has nothing from another order.
  [[nodiscard]] double computed_until_taken(const Call& call, std::uint32_t number) const {
    const auto later = std::partition_point(earliest_.begin(), earliest_.end(),
                                            [&](std::int64_t earliest) { return earliest < until_; });
    const auto last = segment_begin_ + static_cast<std::size_t>(later - earliest_.begin()) - 1;
    const std::uint32_t taken = here_.receives[last].call;
    return static_cast<double>(here_.calls[taken].entry - call.exit - here_.inside_between(number + 1, taken));
  }
  static constexpr double kMatters = 0.01;  // of the wait

  void by_receives(const Call& call, std::size_t end) {
    const bool waits = call.kind == CallKind::receive || call.kind == CallKind::send_receive || is_wait(call.kind);
    if (!waits) return;
    const bool earliest = call.kind == CallKind::wait_some;
    const Receive* chosen = nullptr;
    for (std::size_t i = receive_; i < end; ++i) {
      const Receive& half = here_.receives[i];
      if (!half.matched()) continue;
      const bool better = chosen == nullptr ||
                          (earliest ? half.sent < chosen->sent
                                    : half.sent > chosen->sent ||
                                          (half.sent == chosen->sent &&
                                           run_.locations[half.sender].rank < run_.locations[chosen->sender].rank));
      if (better) chosen = &half;
    }
    if (chosen == nullptr) return;
    consider(chosen->sent, WaitKind::late_sender, {chosen->sender, chosen->issuing});
    const bool named = call.kind != CallKind::wait_any && call.kind != CallKind::wait_some && !chosen->any_source;
    wrong_order_ = named && until_ > call.entry && earliest_behind(end) < until_;
    order_matters_ = wrong_order_ && computed_until_taken(call, here_.receives[receive_].call) >
                                         kMatters * static_cast<double>(std::min(until_, call.exit) - call.entry);
  }

  void by_sends(const Call& call, std::size_t end) {
    if (call.kind == CallKind::test) return;
    for (std::size_t i = done_; i < end; ++i) {
      const Send& half = run_.locations[here_.sends_done[i].location].sends[here_.sends_done[i].send];
      if (!half.matched() || !run_.synchronises(half)) continue;
      const std::int64_t posted = half.posted;
      if (posted >= call.exit || (until_ != kNever && posted <= until_)) continue;
      if (posted <= call.entry) continue;
      const CallPlace poster = run_.posting_call(half);
      if (poster.call != kNone) consider(posted, WaitKind::late_receiver, poster);
    }
  }

  void by_collective(const Call& call, const Part& part) {
    const Instance& instance = instances_[part.group].instances[part.instance];
    const auto until_entry = [&](CallPlace culprit, std::int64_t entry, WaitKind kind) {
      if (culprit.call != kNone && culprit.location != location_) consider(entry, kind, culprit);
    };
    const bool is_root = instance.root.call != kNone && instance.root.location == location_;
    switch (instance.kind) {
      case CallKind::none:
        break;
      case CallKind::one_to_n:
        if (!is_root) until_entry(instance.root, instance.root_entry, WaitKind::late_broadcast);
        break;
      case CallKind::n_to_one:
        if (is_root) until_entry(instance.last, instance.last_entry, WaitKind::early_reduce);
        break;
      case CallKind::scan: {
        const std::uint32_t own = run_.groups[part.group].position(here_.process);
        const ScanBefore* before = instances_[part.group].before(part.instance, own);
        if (before != nullptr) until_entry(before->latest, before->entry, WaitKind::early_scan);
        break;
      }
      default: {
        if (instance.kind == CallKind::init && call.exit == call.entry) break;
        if (!call.has(Call::kNoWait)) {
          until_entry(instance.last, instance.last_entry, kind_of_symmetric(instance.kind));
        }
        const std::int64_t over = completion(run_, instances_, call, part);
        (instance.kind == CallKind::barrier ? out_.barrier_completion_ns : out_.nxn_completion_ns) += over;
      }
    }
  }

  void by_window(const Call& call, std::size_t end) {
    for (std::size_t i = need_; i < end; ++i) {
      const WindowNeed& need = here_.window_needs[i];
      if (need.kind == WindowNeed::Kind::unlock) {
        consider(need.time, WaitKind::lock_contention, need.partner);
      } else if (need.kind == WindowNeed::Kind::complete) {
        consider(need.time, WaitKind::early_wait, need.partner);
      } else if (need.holds_up(call)) {
        consider(need.time, WaitKind::late_post, need.partner);
      }
    }
  }

  // It waits for the first message of that kind whose receive is posted later.
  void by_probe(const Call& call, const Probed& probed) {
    const Receive* found = nullptr;
    constexpr std::size_t kMostLooked = 4096;
    for (std::size_t i = receive_; i < here_.receives.size() && i < receive_ + kMostLooked; ++i) {
      const Receive& half = here_.receives[i];
      const Channel& channel = here_.channels[half.channel];
      if (!half.matched() || channel.peer != probed.from || channel.tag != probed.tag) continue;
      if (half.posted < call.exit) continue;
      if (found == nullptr || half.posted < found->posted) found = &half;
    }
    if (found != nullptr) consider(found->sent, WaitKind::late_sender, {found->sender, found->issuing});
  }

  void add(const Call& call, std::uint32_t number) {
    const std::int64_t length = until_ == kNever ? 0 : std::min(until_, call.exit) - call.entry;
    if (length <= 0) return;
    Wait wait;
    wait.until = until_;
    wait.length = length;
    wait.call = number;
    wait.culprit = culprit_.location;
    wait.culprit_call = culprit_.call;
    wait.kind = kind_;
    wait.wrong_order = wrong_order_ && kind_ == WaitKind::late_sender;
    wait.order_matters = wait.wrong_order && order_matters_;
    if (common_) common_->set(wait);
    out_.waits.push_back(wait);
    const auto kind = static_cast<std::size_t>(kind_);
    out_.ns[kind] += length;
    ++out_.count[kind];
    if (wait.wrong_order) {
      out_.wrong_order_ns += length;
      ++out_.wrong_order;
    }
  }

  void find_no_overlap(const Call& call, std::size_t receives_end, std::size_t done_end) {
    std::int64_t both = kNever;
    for (std::size_t i = receive_; i < receives_end; ++i) {
      const Receive& half = here_.receives[i];
      if (!half.matched() || !run_.synchronises(half)) continue;
      both = std::max({both, half.sent, half.posted});
    }
    for (std::size_t i = done_; i < done_end; ++i) {
      const LocationCalls& issuer = run_.locations[here_.sends_done[i].location];
      const Send& half = issuer.sends[here_.sends_done[i].send];
      if (!half.matched() || !run_.synchronises(half)) continue;
      both = std::max({both, issuer.calls[half.call].entry, half.posted});
    }
    if (both == kNever || both >= call.entry) return;
    const std::int64_t waited_until = until_ == kNever ? call.entry : std::max(call.entry, until_);
    const std::int64_t lost = std::min(call.exit - waited_until, call.entry - both);
    if (lost <= 0) return;
    out_.no_overlap_ns += lost;
    ++out_.no_overlap;
    no_overlap_by_name_[call.name] += lost;
  }

  RunCalls& run_;
  const std::vector<GroupInstances>& instances_;
  LocationCalls& here_;
  std::uint32_t location_;
  LocationWaits& out_;
  std::vector<std::int64_t>& no_overlap_by_name_;
  std::optional<CommonPoints> common_;
  // Receives between two calls that send or are collectives: the earliest send from each of them on.
  std::vector<std::int64_t> earliest_;
  std::size_t segment_begin_ = 0;
  std::size_t segment_end_ = 0;
  std::size_t receive_ = 0;
  std::size_t done_ = 0;
  std::size_t part_ = 0;
  std::size_t probe_ = 0;
  std::size_t need_ = 0;
  // What the call being looked at waits for.
  std::int64_t until_ = kNever;
  WaitKind kind_ = WaitKind::late_sender;
  CallPlace culprit_;
  bool wrong_order_ = false;
  bool order_matters_ = false;
};

}  // namespace

Result<RunWaits> find_waits(RunCalls& run, const std::vector<GroupInstances>& instances, bool causes) {
  RunWaits out;
  out.locations.resize(run.locations.size());
  SpareArrays<Wait> spare(*run.pool);
  std::vector<std::vector<std::int64_t>> no_overlap(run.locations.size(), std::vector<std::int64_t>(run.names.size()));
  FATHOM_CHECK(parallel_for(run.locations.size(), [&](std::size_t i) -> Result<void> {
    auto& waits = out.locations[i].waits;
    waits = spare.take();
    LocationSearch(run, instances, static_cast<std::uint32_t>(i), out.locations[i], no_overlap[i], causes).search();
    waits = spare.settled(std::move(waits));
    return {};
  }));
  FATHOM_CHECK(run.pool->status());
  out.no_overlap_by_name.assign(run.names.size(), 0);
  for (const auto& of_location : no_overlap) {
    for (std::size_t n = 0; n < of_location.size(); ++n) out.no_overlap_by_name[n] += of_location[n];
  }
  return out;
}

}  // namespace fathom::analysis
