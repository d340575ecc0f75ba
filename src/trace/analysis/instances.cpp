#include "trace/analysis/instances.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace fathom::analysis {

namespace {

// Of equal entries the lowest rank's counts.
bool later(const RunCalls& run, CallPlace a, CallPlace b) {
  const std::int64_t x = run.at(a).entry;
  const std::int64_t y = run.at(b).entry;
  return x != y ? x > y : run.locations[a.location].rank < run.locations[b.location].rank;
}

// Roots as the members' parts name them; one that is there is enough.
std::int32_t root_of(const RunCalls& run, CallPlace place) {
  const auto& parts = run.locations[place.location].parts;
  const auto* found = std::lower_bound(parts.begin(), parts.end(), place.call,
                                       [](const Part& part, std::uint32_t call) { return part.call < call; });
  return found != parts.end() && found->call == place.call ? found->root : kNoPeer;
}

Instance instance_of(const RunCalls& run, const Group& group, std::size_t k, ScanPrefix* prefix) {
  Instance out;
  bool first = true;
  for (std::size_t m = 0; m < group.calls.size(); ++m) {
    if (prefix != nullptr) prefix->push_back(out.last);
    if (k >= group.calls[m].size()) continue;
    const CallPlace place = group.calls[m][k];
    const Call& call = run.at(place);
    if (first) {
      out.kind = call.kind;
      out.first_exit = call.exit;
      out.last = place;
      first = false;
      if (call.kind == CallKind::one_to_n || call.kind == CallKind::n_to_one) {
        const std::uint32_t root = group.position(run.process_of_rank(root_of(run, place)));
        if (root != kNone) out.root = group.call(root, static_cast<std::uint32_t>(k));
      }
      continue;
    }
    if (call.kind != out.kind) out.kind = CallKind::none;
    out.first_exit = std::min(out.first_exit, call.exit);
    if (later(run, place, out.last)) out.last = place;
  }
  return out;
}

}  // namespace

const ScanPrefix* GroupInstances::scan(std::uint32_t instance) const {
  const auto found = std::lower_bound(scans.begin(), scans.end(), instance,
                                      [](const auto& entry, std::uint32_t wanted) { return entry.first < wanted; });
  return found == scans.end() || found->first != instance ? nullptr : &found->second;
}

Result<std::vector<GroupInstances>> find_instances(const RunCalls& run) {
  std::vector<GroupInstances> out(run.groups.size());
  for (std::size_t g = 0; g < run.groups.size(); ++g) {
    const Group& group = run.groups[g];
    GroupInstances& found = out[g];
    found.instances.resize(group.instances);
    constexpr std::size_t kGrain = 256;
    FATHOM_CHECK(parallel_blocks(group.instances, kGrain, [&](std::size_t begin, std::size_t end) -> Result<void> {
      for (std::size_t k = begin; k < end; ++k) found.instances[k] = instance_of(run, group, k, nullptr);
      return {};
    }));
    std::uint32_t last = kNone;
    found.symmetric_before.reserve(group.instances);
    for (std::uint32_t k = 0; k < group.instances; ++k) {
      if (is_symmetric(found.instances[k].kind)) last = k;
      found.symmetric_before.push_back(last);
      if (found.instances[k].kind != CallKind::scan) continue;
      ScanPrefix prefix;
      prefix.reserve(group.calls.size());
      (void)instance_of(run, group, k, &prefix);
      found.scans.emplace_back(k, std::move(prefix));
    }
  }
  return out;
}

}  // namespace fathom::analysis
