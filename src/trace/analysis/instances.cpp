#include "trace/analysis/instances.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "trace/analysis/instances_exchange.hpp"

namespace fathom::analysis {

namespace {

// Roots as the members' parts name them; one that is there is enough.
std::int32_t root_of(const RunCalls& run, CallPlace place) {
  const auto& parts = run.locations[place.location].parts;
  const auto* found = std::lower_bound(parts.begin(), parts.end(), place.call,
                                       [](const Part& part, std::uint32_t call) { return part.call < call; });
  return found != parts.end() && found->call == place.call ? found->root : kNoPeer;
}

void set_root(const RunCalls& run, CallPlace root, Instance& instance) {
  if (root.call == kNone) return;
  instance.root = root;
  instance.root_entry = run.at(root).entry;
}

}  // namespace

// Of equal entries the lowest rank's counts.
bool later(const RunCalls& run, const ScanBefore& a, const ScanBefore& b) {
  if (b.latest.call == kNone) return true;
  return a.entry != b.entry ? a.entry > b.entry
                            : run.locations[a.latest.location].rank < run.locations[b.latest.location].rank;
}

KnownOfInstance known_here(const RunCalls& run, const Group& group, std::size_t k) {
  KnownOfInstance out;
  ScanBefore last;
  Instance& found = out.instance;
  for (std::uint32_t m = 0; m < group.calls.size(); ++m) {
    if (k >= group.calls[m].size()) continue;
    const CallPlace place = group.calls[m][k];
    const Call& call = run.at(place);
    found.symmetric = found.symmetric && is_symmetric(call.kind);
    if (out.first_member == kNone) {
      out.first_member = m;
      found.kind = call.kind;
      found.first_exit = call.exit;
      if (call.kind == CallKind::one_to_n || call.kind == CallKind::n_to_one) {
        const std::uint32_t root = group.position(run.process_of_rank(root_of(run, place)));
        if (root != kNone) {
          out.root_process = group.members[root];
          set_root(run, group.call(root, static_cast<std::uint32_t>(k)), found);
        }
      }
    }
    if (call.kind != found.kind) found.kind = CallKind::none;
    found.first_exit = std::min(found.first_exit, call.exit);
    if (const ScanBefore here{m, place, call.entry}; later(run, here, last)) last = here;
  }
  found.last = last.latest;
  found.last_entry = last.entry;
  return out;
}

namespace {

ScanPrefix prefix_of(const RunCalls& run, const Group& group, std::size_t k) {
  ScanPrefix out;
  ScanBefore last;
  for (std::uint32_t m = 0; m < group.calls.size(); ++m) {
    if (k >= group.calls[m].size()) continue;
    const ScanBefore here{m, group.calls[m][k], run.at(group.calls[m][k]).entry};
    if (last.latest.call != kNone) out.push_back({m, last.latest, last.entry});
    if (later(run, here, last)) last = here;
  }
  return out;
}

}  // namespace

const ScanBefore* GroupInstances::before(std::uint32_t instance, std::uint32_t member) const {
  const auto found = std::lower_bound(scans.begin(), scans.end(), instance,
                                      [](const auto& entry, std::uint32_t wanted) { return entry.first < wanted; });
  if (found == scans.end() || found->first != instance) return nullptr;
  const auto at = std::lower_bound(found->second.begin(), found->second.end(), member,
                                   [](const ScanBefore& entry, std::uint32_t wanted) { return entry.member < wanted; });
  return at == found->second.end() || at->member != member ? nullptr : &*at;
}

Result<std::vector<GroupInstances>> find_instances(const RunCalls& run) {
  if (run.apart()) return find_instances_together(run);
  std::vector<GroupInstances> out(run.groups.size());
  for (std::size_t g = 0; g < run.groups.size(); ++g) {
    const Group& group = run.groups[g];
    GroupInstances& found = out[g];
    found.instances.resize(group.instances);
    constexpr std::size_t kGrain = 256;
    FATHOM_CHECK(parallel_blocks(group.instances, kGrain, [&](std::size_t begin, std::size_t end) -> Result<void> {
      for (std::size_t k = begin; k < end; ++k) found.instances[k] = known_here(run, group, k).instance;
      return {};
    }));
    for (std::uint32_t k = 0; k < group.instances; ++k) {
      if (found.instances[k].kind == CallKind::scan) found.scans.emplace_back(k, prefix_of(run, group, k));
    }
  }
  return out;
}

}  // namespace fathom::analysis
