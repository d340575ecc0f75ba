#include "findings/wait_causes.hpp"

#include <algorithm>

namespace fathom {

using namespace analysis;

namespace {

class Sorter {
 public:
  explicit Sorter(const Analysis& analysis) : analysis_(analysis), run_(analysis.run) {
    find_over();
    judge_serial();
  }

  WaitCauses sort() {
    for (WaitCause& cause : out_.causes) {
      cause.culprits.resize(run_.locations.size());
      cause.victims.resize(run_.locations.size());
      cause.names.resize(run_.names.size());
      cause.roots.resize(run_.names.size());
      if (PathShares::known(run_)) cause.paths.resize(run_.paths.size());
    }
    add_atoms();
    follow_forward();
    find_times();
    return std::move(out_);
  }

 private:
  // Who computes more than others, in sum. Slow steps are another finding, and one long delay would hide the rest.
  void find_over() {
    std::vector<double>& useful = out_.useful;
    useful.resize(run_.locations.size());
    double sum = 0;
    for (std::uint32_t l = 0; l < useful.size(); ++l) {
      if (run_.locations[l].calls.empty()) continue;
      useful[l] = useful_time(run_, l, run_.t0, run_.t1);
      for (const std::uint32_t k : analysis_.iterations.slow) {
        const Step& step = analysis_.iterations.steps[k];
        useful[l] -= useful_time(run_, l, step.from, step.to);
      }
      sum += useful[l];
    }
    out_.useful_mean = sum / static_cast<double>(std::max<std::size_t>(run_.present(), 1));
    constexpr double kOver = 1.02;
    for (const double ns : useful) over_.push_back(ns > 0 && ns > kOver * out_.useful_mean);
  }

  [[nodiscard]] const Wait& wait_at(WaitPlace place) const {
    return analysis_.waits.locations[place.location].waits[place.wait];
  }

  // Ranks one after the other: waits of messages are passed on, nobody works more than others, many are to blame.
  void judge_serial() {
    const Delays& delays = analysis_.delays;
    if (delays.waited_point_to_point > 0) out_.chained = delays.passed_point_to_point / delays.waited_point_to_point;
    std::vector<double> by_culprit(run_.locations.size());
    for (const LocationWaits& waits : analysis_.waits.locations) {
      for (const Wait& wait : waits.waits) {
        if (is_point_to_point(wait.kind)) by_culprit[wait.culprit] += wait.cost * (1 - wait.passed());
      }
    }
    double sum = 0;
    double squares = 0;
    for (const double ns : by_culprit) {
      sum += ns;
      squares += ns * ns;
    }
    const double culprits = squares > 0 ? sum * sum / squares : 0;
    constexpr double kChained = 0.4;
    constexpr double kBalanced = 0.8;
    out_.serial = out_.chained >= kChained && analysis_.efficiencies.load_balance >= kBalanced &&
                  culprits >= std::max(3.0, static_cast<double>(run_.present()) / 4);
  }

  [[nodiscard]] WaitFinding belongs_to(const Wait& wait, Activity activity) const {
    if (activity == Activity::io) return WaitFinding::io_serialisation;
    if (wait.order_matters) return WaitFinding::wrong_order;
    if (!analysis_.iterations.slow.empty() && analysis_.iterations.in_slow_step(wait.until)) {
      return WaitFinding::slow_iteration;
    }
    const LocationCalls& culprit = run_.locations[wait.culprit];
    if (analysis_.pattern.hub != kNone && culprit.process == analysis_.pattern.hub) return WaitFinding::master_worker;
    switch (wait.kind) {
      case WaitKind::early_reduce:
        return WaitFinding::early_reduce;
      case WaitKind::late_broadcast:
        return WaitFinding::late_broadcast;
      case WaitKind::early_scan:
        return WaitFinding::early_scan;
      case WaitKind::wait_fence:
        return WaitFinding::wait_fence;
      case WaitKind::late_post:
        return WaitFinding::late_post;
      case WaitKind::early_wait:
        return WaitFinding::early_wait;
      case WaitKind::lock_contention:
        return WaitFinding::lock_contention;
      case WaitKind::wait_io:
        return WaitFinding::wait_io;
      default:
        break;
    }
    if (out_.serial && is_point_to_point(wait.kind)) return WaitFinding::serialisation;
    if (over_[wait.culprit]) return WaitFinding::load_imbalance;
    if (wait.kind == WaitKind::late_sender) return WaitFinding::late_sender;
    if (wait.kind == WaitKind::late_receiver) return WaitFinding::late_receiver;
    return WaitFinding::alternating_imbalance;
  }

  void add_atoms() {
    PathShares shares(*analysis_.intervals);
    for (std::uint32_t l = 0; l < run_.locations.size(); ++l) {
      for (const Wait& wait : analysis_.waits.locations[l].waits) {
        out_.waited += static_cast<double>(wait.length);
        for (std::size_t a = 0; a < kActivities; ++a) {
          if (wait.direct[a] <= 0) continue;
          const WaitFinding kind = belongs_to(wait, static_cast<Activity>(a));
          WaitCause& cause = out_.causes[static_cast<std::size_t>(kind)];
          const double ns = wait.cost * wait.direct[a];
          const bool elsewhere = kind == WaitFinding::io_serialisation || kind == WaitFinding::wrong_order;
          if (elsewhere && analysis_.iterations.in_slow_step(wait.until)) out_.slow_elsewhere += ns;
          cause.lost += ns;
          cause.propagated += (wait.cost - static_cast<double>(wait.length)) * wait.direct[a];
          cause.culprits[kind == WaitFinding::wrong_order ? l : wait.culprit] += ns;
          cause.activities[a] += ns;
          cause.roots[run_.locations[l].calls[wait.call].name] += ns;
          if (cause.paths.empty() || static_cast<Activity>(a) != Activity::compute) continue;
          for (const PathShare& share : shares.of(l, wait)) cause.paths[share.path] += ns * share.share;
        }
      }
    }
    for (std::size_t k = 0; k < kWaitFindings; ++k) {
      column_[k] = out_.causes[k].lost > 0 ? columns_++ : kNone;
    }
  }

  // A wait belongs where its direct shares do, and for what was passed where the waits do to which it was passed.
  void follow_forward() {
    std::vector<std::uint64_t> first(run_.locations.size() + 1, 0);
    for (std::size_t l = 0; l < run_.locations.size(); ++l) {
      first[l + 1] = first[l] + analysis_.waits.locations[l].waits.size();
    }
    first_ = std::move(first);
    shares_ = LargeArray<float>(*run_.pool);
    shares_.resize(first_.back() * columns_);
    if (shares_.size() < first_.back() * columns_ || columns_ == 0) return;
    std::vector<std::uint32_t> done(run_.locations.size(), 0);
    const auto& order = analysis_.delays.order;
    for (std::size_t n = order.size(); n-- > 0;) {
      const WaitPlace place = order[n];
      const Wait& wait = wait_at(place);
      float* own = shares_of(place.location, place.wait);
      for (std::size_t a = 0; a < kActivities; ++a) {
        if (wait.direct[a] <= 0) continue;
        own[column_[static_cast<std::size_t>(belongs_to(wait, static_cast<Activity>(a)))]] +=
            static_cast<float>(wait.direct[a]);
      }
      if (wait.passed() > 0) inherit(place, wait, done[wait.culprit], own);
      done[place.location] = place.wait + 1;
      add_victim(place, wait, own);
    }
  }

  void inherit(WaitPlace place, const Wait& wait, std::uint32_t done, float* own) {
    const std::uint32_t first = wait.passed_begin;
    const std::uint32_t last = std::min(wait.passed_end, done);
    if (first >= last) return;
    // Mostly there is one, and it takes all.
    if (last == first + 1 && last == wait.passed_end) {
      const float* theirs = shares_of(wait.culprit, first);
      const auto length = static_cast<double>(analysis_.waits.locations[wait.culprit].waits[first].length);
      const auto weight = static_cast<float>(wait.passed() * length / length);
      for (std::size_t c = 0; c < columns_; ++c) own[c] += weight * theirs[c];
      return;
    }
    const Blame blame = analysis_.intervals->blame(place.location, wait);
    const auto& list = analysis_.waits.locations[wait.culprit].waits;
    // Of very many a part is looked at, evenly spread.
    constexpr std::uint32_t kMost = 4096;
    const std::uint32_t step = (last - first) / kMost + 1;
    std::array<double, kWaitKinds> length{};
    for (std::uint32_t i = first; i < last; i += step) {
      length[static_cast<std::size_t>(list[i].kind)] += static_cast<double>(list[i].length);
    }
    double reachable = 0;
    for (std::size_t k = 0; k < kWaitKinds; ++k) reachable += length[k] > 0 ? blame.kinds[k] : 0;
    if (reachable <= 0) return;
    for (std::uint32_t i = first; i < last; i += step) {
      const auto k = static_cast<std::size_t>(list[i].kind);
      if (blame.kinds[k] <= 0) continue;
      const double weight =
          wait.passed() * blame.kinds[k] / reachable * static_cast<double>(list[i].length) / length[k];
      const float* theirs = shares_of(wait.culprit, i);
      for (std::size_t c = 0; c < columns_; ++c) own[c] += static_cast<float>(weight) * theirs[c];
    }
  }

  void add_victim(WaitPlace place, const Wait& wait, const float* own) {
    for (std::size_t k = 0; k < kWaitFindings; ++k) {
      if (column_[k] == kNone || own[column_[k]] <= 0) continue;
      WaitCause& cause = out_.causes[k];
      const double ns = static_cast<double>(wait.length) * double{own[column_[k]]};
      cause.victims[place.location] += ns;
      cause.victims_total += ns;
      cause.names[run_.locations[place.location].calls[wait.call].name] += ns;
      cause.kinds[static_cast<std::size_t>(wait.kind)] += ns;
      cause.waits += own[column_[k]] > 0.5F ? 1 : 0;
    }
  }

  void find_times() {
    if (columns_ == 0 || shares_.size() < first_.back() * columns_) return;
    std::array<double, kWaitFindings> reached{};
    std::array<bool, kWaitFindings> begun{};
    constexpr double kEdge = 0.01;
    const auto& order = analysis_.delays.order;
    for (std::size_t n = order.size(); n-- > 0;) {
      const WaitPlace place = order[n];
      const Wait& wait = wait_at(place);
      const float* own = shares_of(place.location, place.wait);
      for (std::size_t k = 0; k < kWaitFindings; ++k) {
        if (column_[k] == kNone) continue;
        WaitCause& cause = out_.causes[k];
        const double before = reached[k];
        reached[k] += static_cast<double>(wait.length) * double{own[column_[k]]};
        if (!begun[k] && reached[k] >= kEdge * cause.victims_total) {
          begun[k] = true;
          cause.from = place.end;
        }
        if (before < (1 - kEdge) * cause.victims_total) cause.to = place.end;
      }
    }
  }

  float* shares_of(std::uint32_t location, std::uint32_t wait) {
    return shares_.data() + (first_[location] + wait) * columns_;
  }

  const Analysis& analysis_;
  const RunCalls& run_;
  WaitCauses out_;
  std::vector<bool> over_;
  std::array<std::uint32_t, kWaitFindings> column_{};
  std::uint32_t columns_ = 0;
  std::vector<std::uint64_t> first_;
  LargeArray<float> shares_;  // by wait state, then by finding that occurs
};

}  // namespace

WaitCauses find_wait_causes(const Analysis& analysis) { return Sorter(analysis).sort(); }

}  // namespace fathom
