#include "trace/analysis/critical_path.hpp"

#include <algorithm>

namespace fathom::analysis {

namespace {

class Walk {
 public:
  Walk(const RunCalls& run, const RunWaits& waits, CriticalPath& out) : run_(run), waits_(waits), out_(out) {
    out.locations.resize(run.locations.size());
    out.steps = LargeArray<CriticalPath::Step>(*run.pool);
  }

  void walk() {
    if (!start()) return;
    while (now_ > run_.t0) {
      const auto& calls = run_.locations[location_].calls;
      if (call_ == kNone) {
        add(run_.t0, Activity::compute);
        break;
      }
      const Call& call = calls[call_];
      if (now_ > call.exit) {
        add(call.exit, Activity::compute);
        continue;
      }
      const Activity activity = is_io(call.kind) ? Activity::io : Activity::mpi;
      const Wait* wait = wait_of(call);
      if (wait != nullptr && wait->until < now_) {
        add(std::max(wait->until, call.entry), activity);
        // A lock is given back where the call ends, everything else happens where it begins.
        go(wait->culprit, wait->culprit_call + (wait->kind == WaitKind::lock_contention ? 1 : 0));
        continue;
      }
      add(call.entry, activity);
      go(location_, call_);
    }
  }

 private:
  // At the last exit, of the lowest rank among equals.
  bool start() {
    bool found = false;
    for (std::uint32_t l = 0; l < run_.locations.size(); ++l) {
      const auto& calls = run_.locations[l].calls;
      std::uint32_t last = static_cast<std::uint32_t>(calls.size());
      // Behind the end of the picture there may be more calls.
      while (last > 0 && calls[last - 1].exit > run_.t1) --last;
      if (last == 0 || calls[last - 1].exit != run_.t1) continue;
      if (found) continue;
      found = true;
      location_ = l;
      call_ = last - 1;
    }
    now_ = run_.t1;
    return found;
  }
  void go(std::uint32_t location, std::uint32_t before) {
    location_ = location;
    call_ = before == 0 ? kNone : before - 1;
  }
  [[nodiscard]] const Wait* wait_of(const Call& call) const {
    const auto& list = waits_.locations[location_].waits;
    if (call.first_wait >= list.size()) return nullptr;
    const Wait& wait = list[call.first_wait];
    return wait.call == call_ ? &wait : nullptr;
  }
  void add(std::int64_t from, Activity activity) {
    from = std::clamp(from, run_.t0, now_);
    const std::int64_t length = now_ - from;
    if (length > 0) {
      out_.locations[location_][static_cast<std::size_t>(activity)] += length;
      out_.length += length;
      const bool inside = activity != Activity::compute;
      // What lies behind a call belongs to the next one.
      out_.steps.push_back({length, location_, inside ? call_ : call_ + 1, inside});
      auto& pieces = out_.pieces;
      if (!pieces.empty() && pieces.back().location == location_ && pieces.back().activity == activity &&
          pieces.back().from == now_) {
        pieces.back().from = from;
      } else if (pieces.size() < CriticalPath::kMostPieces) {
        pieces.push_back({from, now_, location_, activity});
      }
    }
    now_ = from;
  }

  const RunCalls& run_;
  const RunWaits& waits_;
  CriticalPath& out_;
  std::uint32_t location_ = 0;
  std::uint32_t call_ = kNone;  // the one that is left next, going back
  std::int64_t now_ = 0;
};

}  // namespace

CriticalPath find_critical_path(const RunCalls& run, const RunWaits& waits) {
  CriticalPath out;
  Walk(run, waits, out).walk();
  return out;
}

}  // namespace fathom::analysis
