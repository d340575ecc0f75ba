#include "formats/otf2/writer_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace fathom::otf2 {

namespace {

constexpr std::uint32_t kUndefined = 0xFFFFFFFF;
constexpr std::uint8_t kCpuThread = 1;
constexpr std::uint8_t kAcceleratorStream = 2;
constexpr std::uint8_t kMetric = 3;
constexpr std::int64_t kMostRanks = std::int64_t{1} << 24;

bool is_accelerator(std::string_view type) {
  const std::string text = to_lower(type);
  return text.find("accelerator") != std::string::npos || text.find("gpu") != std::string::npos;
}

class Planner {
 public:
  Planner(const Trace& trace, const Work& work) : trace_(trace), system_(trace.definitions().system), work_(work) {}

  Result<WriterPlan> run() {
    plan_nodes();
    plan_locations();
    choose_ids();
    FATHOM_CHECK(plan_ranks());
    FATHOM_CHECK(plan_comms());
    return std::move(plan_);
  }

 private:
  void plan_nodes() {
    node_of_.assign(system_.nodes.size(), kUndefined);
    for (std::size_t i = 0; i < system_.nodes.size(); ++i) {
      const SystemNode& node = system_.nodes[i];
      if (node.kind != SystemKind::node) continue;
      node_of_[i] = static_cast<std::uint32_t>(plan_.nodes.size());
      plan_.nodes.push_back({node.name.empty() ? "node" : node.name, node.type.empty() ? "node" : node.type,
                             node.parent.valid() ? node_of_[node.parent.index()] : kUndefined});
    }
    if (plan_.nodes.empty()) plan_.nodes.push_back({"machine", "machine", kUndefined});
  }

  std::uint32_t node_above(SystemNodeId at) const {
    while (at.valid() && system_.nodes[at.index()].kind != SystemKind::node) at = system_.nodes[at.index()].parent;
    return at.valid() ? node_of_[at.index()] : 0;
  }

  std::uint32_t add_group(std::string name, bool accelerator, std::uint32_t node) {
    plan_.groups.push_back({std::move(name), accelerator, node});
    return static_cast<std::uint32_t>(plan_.groups.size() - 1);
  }

  void plan_locations() {
    std::map<std::size_t, std::uint32_t> groups;
    for (std::size_t i = 0; i < system_.location_count(); ++i) {
      const SystemNode& node = system_.location(LocationId(i));
      const SystemNodeId above = system_.group_of(LocationId(i));
      std::uint32_t group = kUndefined;
      std::int32_t rank = kUnknownPeer;
      if (above.valid()) {
        const SystemNode& process = system_.nodes[above.index()];
        const auto [found, is_new] = groups.emplace(above.index(), static_cast<std::uint32_t>(plan_.groups.size()));
        if (is_new) {
          add_group(process.name.empty() ? fmt::format("process {}", plan_.groups.size()) : process.name,
                    is_accelerator(process.type), node_above(above));
        }
        group = found->second;
        if (process.rank && *process.rank >= 0 && *process.rank < kMostRanks) {
          rank = static_cast<std::int32_t>(*process.rank);
        }
      } else {
        group = add_group(node.name.empty() ? fmt::format("process {}", i) : node.name, false,
                          node_above(system_.locations[i]));
      }
      // Streams of a GPU are no threads of the process: they get a group of their own, which the process made.
      if (is_accelerator(node.type) && !plan_.groups[group].accelerator) {
        const auto [found, is_new] = streams_of_.emplace(group, static_cast<std::uint32_t>(plan_.groups.size()));
        if (is_new) {
          add_group(plan_.groups[group].name + " accelerator", true, plan_.groups[group].node);
          plan_.groups.back().creator = group;
        }
        group = found->second;
      }
      PlannedLocation made;
      made.name = node.name.empty() ? fmt::format("location {}", i) : node.name;
      made.type = node.type == "metric" ? kMetric : is_accelerator(node.type) ? kAcceleratorStream : kCpuThread;
      made.group = group;
      plan_.locations.push_back(std::move(made));
      plan_.rank_of_location.push_back(rank);
    }
  }

  // The ids that the trace has, where they tell locations apart; else rank and thread as Score-P joins them; else a
  // count.
  void choose_ids() {
    std::set<std::uint64_t> taken;
    const auto assign = [&](const auto& id_of) {
      taken.clear();
      for (std::size_t i = 0; i < plan_.locations.size(); ++i) {
        const std::uint64_t id = id_of(i);
        if (id >= ~std::uint64_t{0} - 1 || !taken.insert(id).second) return false;
        plan_.locations[i].id = id;
      }
      return true;
    };
    if (assign([&](std::size_t i) {
          const SystemNode& node = system_.location(LocationId(i));
          return node.label.empty() || node.label == std::to_string(node.file_id) ? node.file_id : ~std::uint64_t{0};
        })) {
      return;
    }
    std::map<std::int32_t, std::uint64_t> threads;
    if (assign([&](std::size_t i) {
          const std::int32_t rank = plan_.rank_of_location[i];
          return rank < 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(rank) | threads[rank]++ << 32;
        })) {
      return;
    }
    (void)assign([](std::size_t i) { return std::uint64_t{i}; });
  }

  // Every rank needs a location, also one whose file is missing.
  Result<void> plan_ranks() {
    std::int32_t last = -1;
    for (const std::int32_t rank : plan_.rank_of_location) last = std::max(last, rank);
    if (last < 0) return {};
    const auto present = static_cast<std::size_t>(plan_.locations.size());
    for (const Communicator& comm : trace_.communicators()) {
      for (const auto* ranks : {&comm.ranks, &comm.remote_ranks}) {
        for (const std::int32_t rank : *ranks) last = std::max(last, rank);
      }
    }
    // A number in a file is no reason to make up millions of processes.
    if (static_cast<std::size_t>(last) > std::max<std::size_t>(65536, 64 * present)) {
      FATHOM_CHECK(work_->diagnostics.warn(
          "otf2.sparse_ranks", Place{},
          fmt::format("ranks up to {} in a trace of {} locations: messages are written without ranks", last, present)));
      return {};
    }
    constexpr std::uint64_t kNobody = ~std::uint64_t{0};
    plan_.rank_locations.assign(static_cast<std::size_t>(last) + 1, kNobody);
    std::set<std::uint64_t> taken;
    for (std::size_t i = 0; i < present; ++i) {
      taken.insert(plan_.locations[i].id);
      const std::int32_t rank = plan_.rank_of_location[i];
      if (rank < 0 || plan_.locations[i].type != kCpuThread) continue;
      std::uint64_t& place = plan_.rank_locations[static_cast<std::size_t>(rank)];
      if (place == kNobody) place = plan_.locations[i].id;
    }
    std::uint64_t missing = 0;
    for (std::size_t rank = 0; rank < plan_.rank_locations.size(); ++rank) {
      if (plan_.rank_locations[rank] != kNobody) continue;
      ++missing;
      std::uint64_t id = rank;
      while (!taken.insert(id).second) id += std::uint64_t{1} << 32;
      const std::uint32_t group = add_group(fmt::format("rank {} (not recorded)", rank), false, 0);
      plan_.locations.push_back({id, "not recorded", kCpuThread, group});
      plan_.rank_locations[rank] = id;
    }
    if (missing == 0) return {};
    return work_->diagnostics.add("otf2.missing_ranks", Severity::info, Place{},
                                  "ranks that are named and not recorded become empty locations", missing);
  }

  Result<void> plan_comms() {
    std::vector<std::int32_t> all(plan_.rank_locations.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
    const auto usable = [&](const std::vector<std::int32_t>& ranks) {
      return std::all_of(ranks.begin(), ranks.end(),
                         [&](std::int32_t rank) { return rank >= 0 && static_cast<std::size_t>(rank) < all.size(); });
    };
    std::uint64_t unknown = 0;
    bool has_world = false;
    for (const Communicator& comm : trace_.communicators()) {
      const bool self = comm.ranks.empty() && comm.name == "MPI_COMM_SELF";
      const bool known = !comm.ranks.empty() && usable(comm.ranks) && usable(comm.remote_ranks);
      unknown += known || self ? 0 : 1;
      const bool world = !self && (!known || (comm.ranks == all && comm.remote_ranks.empty()));
      if (world && known && !has_world) {
        has_world = true;
        plan_.world = static_cast<std::uint32_t>(plan_.comms.size());
      }
      const bool keep = known && !world;
      plan_.comms.emplace_back(comm.name, keep ? comm.ranks : std::vector<std::int32_t>(),
                               keep ? comm.remote_ranks : std::vector<std::int32_t>(), self, world);
    }
    if (!has_world) {
      plan_.world = static_cast<std::uint32_t>(plan_.comms.size());
      plan_.comms.emplace_back("MPI_COMM_WORLD", std::vector<std::int32_t>(), std::vector<std::int32_t>(), false, true);
    }
    if (unknown == 0 || plan_.rank_locations.empty()) return {};
    return work_->diagnostics.add("otf2.unknown_members", Severity::info, Place{},
                                  "communicators whose members are not known are written over all ranks", unknown);
  }

  const Trace& trace_;
  const SystemTree& system_;
  const Work& work_;
  std::vector<std::uint32_t> node_of_;
  std::map<std::uint32_t, std::uint32_t> streams_of_;  // groups of accelerators by process
  WriterPlan plan_;
};

}  // namespace

void PlannedComm::index(const std::vector<std::int32_t>& ranks, Index& made) {
  made.reserve(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) made.emplace_back(ranks[i], static_cast<std::uint32_t>(i));
  std::sort(made.begin(), made.end());
}

std::uint32_t PlannedComm::find(const Index& index, std::int32_t rank) {
  const auto at = std::lower_bound(index.begin(), index.end(), std::pair(rank, std::uint32_t{0}));
  return at != index.end() && at->first == rank ? at->second : kUndefined;
}

std::uint32_t PlannedComm::rank_in(std::int32_t rank, std::int32_t own) const {
  if (rank < 0) return kUndefined;
  if (self_) return 0;
  if (world_) return static_cast<std::uint32_t>(rank);
  if (remote_.empty()) return find(by_rank_, rank);
  return find(by_rank_, own) != kUndefined ? find(by_remote_, rank) : find(by_rank_, rank);
}

Result<WriterPlan> WriterPlan::of(const Trace& trace, const Work& work) { return Planner(trace, work).run(); }

}  // namespace fathom::otf2
