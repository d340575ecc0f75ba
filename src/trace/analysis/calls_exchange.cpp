// Calls that several processes of a team have read: at the first one, or each where it was read.
#include "trace/analysis/calls_parts.hpp"

namespace fathom::analysis {

namespace {

template <class T>
void pack_array(Packer& pack, const LargeArray<T>& array) {
  pack(std::uint64_t{array.size()});
  for (const T& item : array) pack(item);
}
template <class T>
void unpack_array(Unpacker& unpack, LargeArray<T>& array) {
  std::uint64_t size = 0;
  unpack(size);
  for (std::uint64_t i = 0; i < size && unpack.ok(); ++i) {
    T item{};
    unpack(item);
    array.push_back(item);
  }
}

}  // namespace

Result<void> bring_to_first(Share& share, RunCalls& run, std::vector<PartsByGroup>& parts,
                            std::vector<PathTable>& paths) {
  std::size_t next_item = 0;
  const auto next = [&](Parcel& parcel) -> Result<bool> {
    if (team().first() || next_item == share.mine().size()) return false;
    const std::size_t i = share.mine()[next_item++];
    Packer pack;
    pack(std::uint64_t{i}, parts[i], paths[i]);
    for (const std::uint32_t location : run.processes[i]) {
      LocationCalls& here = run.locations[location];
      pack_array(pack, here.calls);
      pack_array(pack, here.channels);
      pack_array(pack, here.sends);
      pack_array(pack, here.receives);
      pack_array(pack, here.sends_done);
      pack_array(pack, here.parts);
      pack_array(pack, here.probed);
      pack_array(pack, here.path_times);
      pack(here.first_path, here.cut, here.loop.period, here.loop.collective_anchors, here.loop.completion_anchors,
           here.counts, here.zero_counts, here.untimed, here.markers, here.window_calls, here.instructions,
           here.cycles);
      here = {};
    }
    parcel = std::move(pack).take();
    return true;
  };
  Result<void> status;
  const auto take = [&](const Parcel& parcel) {
    Unpacker unpack(parcel);
    std::uint64_t i = 0;
    unpack(i);
    if (!unpack.ok() || i >= run.processes.size()) return false;
    unpack(parts[i], paths[i]);
    for (const std::uint32_t location : run.processes[i]) {
      LocationCalls& here = run.locations[location];
      unpack_array(unpack, here.calls);
      here.sum_up();
      unpack_array(unpack, here.channels);
      unpack_array(unpack, here.sends);
      unpack_array(unpack, here.receives);
      unpack_array(unpack, here.sends_done);
      unpack_array(unpack, here.parts);
      unpack_array(unpack, here.probed);
      unpack_array(unpack, here.path_times);
      unpack(here.first_path, here.cut, here.loop.period, here.loop.collective_anchors, here.loop.completion_anchors,
             here.counts, here.zero_counts, here.untimed, here.markers, here.window_calls, here.instructions,
             here.cycles);
    }
    status = unpack.status();
    if (status.ok()) status = run.pool->status();
    return status.ok();
  };
  FATHOM_CHECK(team().relay(next, take));
  FATHOM_CHECK(std::move(status));
  FATHOM_CHECK(share.join_diagnostics(Holder::first));
  return first_goes_on();
}

Result<void> keep_apart(Share& share, std::vector<unsigned> owner, RunCalls& run) {
  run.owners = std::move(owner);
  FATHOM_CHECK(share.join_diagnostics(Holder::first));
  const auto here = static_cast<std::int64_t>(run.present());
  FATHOM_TRY(const auto all, team().sum({here}));
  run.present_elsewhere = static_cast<std::size_t>(all[0] - here);
  return {};
}

}  // namespace fathom::analysis
