#include "formats/dumpi/resolve.hpp"

#include <algorithm>
#include <numeric>

#include "base/share_out.hpp"
#include "formats/dumpi/communicators.hpp"
#include "formats/dumpi/world.hpp"

namespace fathom::dumpi {

namespace {

constexpr std::size_t kCommWorld = 2;
constexpr std::size_t kCommSelf = 3;

// What the metafile says; without one the program may have asked. Nothing is allocated for a claim that does not fit.
Result<void> add_world(const RankSet& set, const std::vector<CommunicatorCalls>& calls, Resolution& out) {
  std::uint64_t size = set.world_size();
  Budget& budget = set.work()->budget;
  FATHOM_TRY(auto reserved, budget.reserve(size * sizeof(std::int32_t), "ranks of the world"));
  if (!set.metafile()) {
    std::int64_t told = 0;
    for (const CommunicatorCalls& rank : calls) told = std::max(told, rank.world_size);
    if (!plausible_world(static_cast<std::uint64_t>(told), set.files().size())) told = 0;
    if (static_cast<std::uint64_t>(told) > size) {
      auto more =
          budget.reserve((static_cast<std::uint64_t>(told) - size) * sizeof(std::int32_t), "ranks of the world");
      if (more) {
        size = static_cast<std::uint64_t>(told);
        out.reserved.push_back(*std::move(more));
      }
    }
  }
  out.reserved.push_back(std::move(reserved));
  out.communicators.resize(2);
  out.communicators[Resolution::kWorld].name = "MPI_COMM_WORLD";
  out.communicators[Resolution::kSelf].name = "MPI_COMM_SELF";
  out.communicators[Resolution::kWorld].ranks.resize(size);
  std::iota(out.communicators[Resolution::kWorld].ranks.begin(), out.communicators[Resolution::kWorld].ranks.end(), 0);
  return {};
}

// What later records need of one file.
struct Notable {
  std::vector<Change> sizes;
  CommunicatorCalls communicators;
};
template <class Pack>
void pack_fields(Pack& pack, Notable& notable) {
  pack(notable.sizes, notable.communicators);
}

}  // namespace

template <class Pack>
static void pack_fields(Pack& pack, CommunicatorCall& call) {
  pack(call.id, call.number, call.object, call.a, call.b, call.c, call.result, call.list, call.told_rank,
       call.told_size);
}
template <class Pack>
static void pack_fields(Pack& pack, CommunicatorCalls& calls) {
  pack(calls.calls, calls.world_size);
}

Result<Resolution> resolve(const RankSet& set, const std::vector<ScanResult>& scans) {
  Resolution out;
  out.work = set.work();
  out.ranks.resize(set.files().size());
  const auto bytes = [&](std::size_t i) { return set.files()[i].file.size(); };
  const auto read = [&](std::size_t i, Notable& one) -> Result<void> {
    const File& file = set.files()[i].file;
    one.sizes = size_changes(file, scans[i]);
    one.communicators = communicator_calls(file, scans[i]);
    return {};
  };
  FATHOM_TRY(std::vector<Notable> notable,
             share_out<Notable>("reading communicators", set.files().size(), bytes, Holder::all, read));
  std::vector<CommunicatorCalls> calls(set.files().size());
  for (std::size_t i = 0; i < notable.size(); ++i) {
    out.ranks[i].sizes = std::move(notable[i].sizes);
    calls[i] = std::move(notable[i].communicators);
  }
  FATHOM_CHECK(add_world(set, calls, out));
  FATHOM_CHECK(resolve_communicators(set, std::move(calls), out));
  return out;
}

Tables::Tables(const File& file, const Resolution& resolution, std::size_t file_index, std::uint32_t rank)
    : resolution_(&resolution), changes_(&resolution.ranks[file_index]), rank_(rank) {
  const std::size_t count = std::max(kPredefinedTypes, file.sections().sizes.size());
  sizes_.resize(count);
  for (std::size_t id = 0; id < count; ++id) sizes_[id] = file.datatype_size(static_cast<std::int64_t>(id));
  communicators_.resize(4);
  communicators_[kCommWorld] = view_of(Resolution::kWorld);
  communicators_[kCommSelf] = view_of(Resolution::kSelf);
  find_next();
}

CommunicatorView Tables::view_of(std::int64_t global) const {
  CommunicatorView view;
  if (global < 0) return view;
  view.global = static_cast<std::int32_t>(global);
  if (global == Resolution::kSelf) {
    view.self = true;
    view.own = 0;
    view.size = 1;
    return view;
  }
  const Communicator& communicator = resolution_->communicators[static_cast<std::size_t>(global)];
  const auto self = static_cast<std::int32_t>(rank_);
  // In the world everyone stands at the own rank; elsewhere it has to be looked for.
  const auto place = [&](const std::vector<std::int32_t>& ranks) -> std::int32_t {
    if (rank_ < ranks.size() && ranks[rank_] == self) return self;
    const auto it = std::find(ranks.begin(), ranks.end(), self);
    return it == ranks.end() ? -1 : static_cast<std::int32_t>(it - ranks.begin());
  };
  view.inter = !communicator.remote_ranks.empty();
  view.own = place(communicator.ranks);
  const bool first = view.own >= 0;
  if (view.inter && !first) view.own = place(communicator.remote_ranks);
  const auto& own_group = view.inter && !first ? communicator.remote_ranks : communicator.ranks;
  view.size = static_cast<std::int32_t>(own_group.size());
  view.peers = view.inter && first ? &communicator.remote_ranks : &communicator.ranks;
  if (std::binary_search(resolution_->unordered.begin(), resolution_->unordered.end(), global)) {
    view.own = -1;
    view.size = 0;
    view.peers = nullptr;
  }
  return view;
}

void Tables::find_next() {
  next_change_ = std::numeric_limits<std::uint64_t>::max();
  const auto look = [&](const std::vector<Change>& changes, std::size_t at) {
    if (at < changes.size()) next_change_ = std::min(next_change_, changes[at].number);
  };
  look(changes_->communicators, next_communicator_);
  look(changes_->sizes, next_size_);
  look(changes_->windows, next_window_);
  look(changes_->files, next_file_);
  look(changes_->window_numbers, next_window_number_);
  look(changes_->groups, next_group_);
}

void Tables::apply(std::uint64_t number) {
  const auto each = [&](const std::vector<Change>& changes, std::size_t& at, auto&& body) {
    for (; at < changes.size() && changes[at].number < number; ++at) {
      if (changes[at].id >= 0) body(changes[at], static_cast<std::size_t>(changes[at].id));
    }
  };
  // Ids are 16 bits wide: tables stay small whatever the file says.
  const auto set = [](auto& table, std::size_t index, auto value) {
    if (index >= table.size()) table.resize(index + 1);
    table[index] = value;
  };
  each(changes_->communicators, next_communicator_,
       [&](const Change& change, std::size_t id) { set(communicators_, id, view_of(change.value)); });
  each(changes_->sizes, next_size_, [&](const Change& change, std::size_t id) { set(sizes_, id, change.value); });
  each(changes_->windows, next_window_,
       [&](const Change& change, std::size_t id) { set(windows_, id, view_of(change.value)); });
  each(changes_->files, next_file_,
       [&](const Change& change, std::size_t id) { set(files_, id, view_of(change.value)); });
  each(changes_->window_numbers, next_window_number_, [&](const Change& change, std::size_t id) {
    set(window_numbers_, id, static_cast<std::int32_t>(change.value));
  });
  each(changes_->groups, next_group_, [&](const Change& change, std::size_t id) { set(groups_, id, change.value); });
  find_next();
}

}  // namespace fathom::dumpi
