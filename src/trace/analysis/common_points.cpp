#include "trace/analysis/common_points.hpp"

#include <algorithm>

namespace fathom::analysis {

CommonPoints::CommonPoints(const RunCalls& run, const std::vector<GroupInstances>& instances, std::uint32_t location)
    : run_(run), instances_(instances), here_(run.locations[location]), location_(location) {
  if (!here_.receives.empty()) from_.resize(run.locations.size());
  if (!here_.sends_done.empty()) to_.resize(run.locations.size());
  if (!here_.parts.empty()) roots_.resize(run.locations.size());
}

void CommonPoints::received(const Receive& half) {
  if (!half.matched()) return;
  std::uint32_t issued = half.issuing;
  // A call that sends and receives waits after it has sent: it belongs to what comes behind, and what was computed
  // before it does not.
  if (half.by_send_receive) {
    if (issued == 0) return;
    --issued;
  }
  from_[half.sender].add({half.call, issued, half.by_send_receive});
}

void CommonPoints::sent(const SendDone& done) {
  const Send& half = run_.locations[done.location].sends[done.send];
  if (half.matched()) to_[half.receiver].add({done.call, half.completed});
}

void CommonPoints::remember(std::vector<Seen>& list, const Part& part) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Seen& seen) { return seen.group == part.group; });
  if (found == list.end()) {
    list.insert(list.begin(), {part.group, part.instance, part.call});
  } else {
    std::rotate(list.begin(), found, found + 1);
    list.front() = {part.group, part.instance, part.call};
  }
}

void CommonPoints::took_part(const Part& part) {
  const Instance& instance = instances_[part.group].instances[part.instance];
  const bool waits = !here_.calls[part.call].has(Call::kNoWait);
  if (keeps_together(instance.kind) && waits) {
    remember(symmetric_, part);
  } else if (instance.kind == CallKind::one_to_n) {
    if (instance.root.call != kNone && instance.root.location != location_) {
      roots_[instance.root.location] = {part.call, instance.root.call};
    }
  } else if (instance.kind == CallKind::n_to_one) {
    if (instance.root.location == location_) remember(to_root_, part);
  } else if (instance.kind == CallKind::scan) {
    remember(scans_, part);
  }
}

// The later one counts; it must lie before both ends.
void CommonPoints::consider(Pair pair, const Wait& wait, Pair& best) const {
  if (pair.own == kNone || pair.own >= wait.call || pair.other >= wait.culprit_call) return;
  if (best.own == kNone || pair.own > best.own) best = pair;
}

void CommonPoints::consider(const std::vector<Seen>& list, const Wait& wait, Pair& best) const {
  const std::uint32_t process = run_.locations[wait.culprit].process;
  for (const Seen& seen : list) {
    if (best.own != kNone && seen.call <= best.own) return;  // all that follow are earlier still
    const Group& group = run_.groups[seen.group];
    const std::uint32_t member = group.position(process);
    if (member == kNone) continue;
    const CallPlace there = group.call(member, seen.instance);
    if (there.call == kNone || there.location != wait.culprit) continue;
    consider(Pair{seen.call, there.call}, wait, best);
  }
}

void CommonPoints::set(Wait& wait) const {
  Pair best;
  consider(symmetric_, wait, best);
  const auto both = [&](const LastTwo& two) {
    consider(two.last, wait, best);
    consider(two.before, wait, best);
  };
  switch (wait.kind) {
    case WaitKind::late_sender:
      if (!from_.empty()) both(from_[wait.culprit]);
      break;
    case WaitKind::late_receiver:
      if (!to_.empty()) both(to_[wait.culprit]);
      break;
    case WaitKind::late_broadcast:
      consider(roots_[wait.culprit], wait, best);
      break;
    case WaitKind::early_reduce:
      consider(to_root_, wait, best);
      break;
    case WaitKind::early_scan: {
      // Only scans in which the culprit comes before the victim.
      std::vector<Seen> before;
      for (const Seen& seen : scans_) {
        const Group& group = run_.groups[seen.group];
        const std::uint32_t own = group.position(here_.process);
        const std::uint32_t other = group.position(run_.locations[wait.culprit].process);
        if (other != kNone && other < own) before.push_back(seen);
      }
      consider(before, wait, best);
      break;
    }
    default:
      break;
  }
  wait.own_begin = best.own == kNone ? 0 : best.own + 1;
  wait.culprit_begin = best.own == kNone ? 0 : best.other + 1;
  wait.from_entry = best.from_entry;
}

}  // namespace fathom::analysis
