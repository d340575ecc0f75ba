#include "formats/otf2/system_mapping.hpp"

#include <fmt/format.h>

#include "trace/event.hpp"

namespace fathom::otf2 {

namespace {

constexpr std::uint32_t kNone = IdIndex::kNone;
constexpr std::uint8_t kAccelerator = 2;
constexpr std::uint8_t kAcceleratorStream = 2;
constexpr std::uint8_t kMetricLocation = 3;

std::string property_text(const GlobalDefinitions& native, const PropertyDef& property) {
  switch (property.type) {
    case kTypeString:
      return std::string(native.text(static_cast<std::uint32_t>(property.value)));
    case kTypeDouble:
      return fmt::format("{}", std::bit_cast<double>(property.value));
    case kTypeFloat:
      return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(property.value)));
    case kTypeInt8:
      return fmt::format("{}", static_cast<std::int8_t>(property.value));
    case kTypeInt16:
      return fmt::format("{}", static_cast<std::int16_t>(property.value));
    case kTypeInt32:
      return fmt::format("{}", static_cast<std::int32_t>(property.value));
    case kTypeInt64:
      return fmt::format("{}", static_cast<std::int64_t>(property.value));
    default:
      return fmt::format("{}", property.value);
  }
}

class SystemMapper {
 public:
  SystemMapper(const Archive& archive, SystemTree& tree)
      : archive_(archive),
        native_(archive.definitions),
        tree_(tree),
        nodes_(native_.nodes.size()),
        groups_(native_.groups.size()),
        visited_(native_.nodes.size(), 0) {}

  Result<SystemMapping> run() {
    for (std::uint32_t i = 0; i < native_.nodes.size(); ++i) (void)node(i);
    for (std::uint32_t i = 0; i < native_.groups.size(); ++i) add_group(i);
    add_locations();
    give_ranks();
    add_properties();
    if (lost_groups_ > 0 && native_.groups.size() > 0) {
      FATHOM_CHECK(archive_.work->diagnostics.add(
          "otf2.undefined_group", Severity::warning, native_.blob.place(),
          "locations belong to groups that are not defined; each counts as a process of its own", lost_groups_));
    }
    return std::move(made_);
  }

 private:
  // Parents first; a cycle is cut where it is met.
  SystemNodeId node(std::uint32_t position) {
    std::vector<std::uint32_t> chain;
    std::uint32_t at = position;
    while (at != kNone && visited_[at] == 0) {
      visited_[at] = 1;
      chain.push_back(at);
      at = native_.nodes.position(native_.nodes.all[at].parent);
    }
    while (!chain.empty()) {
      const SystemTreeNodeDef& def = native_.nodes.all[chain.back()];
      const std::uint32_t parent = native_.nodes.position(def.parent);
      SystemNode made;
      if (parent != kNone) made.parent = nodes_[parent];
      made.type = native_.text(def.class_name);
      made.name = native_.text(def.name);
      made.file_id = def.id;
      nodes_[chain.back()] = tree_.add(std::move(made));
      chain.pop_back();
    }
    return nodes_[position];
  }

  void add_group(std::uint32_t position) {
    const LocationGroupDef& def = native_.groups.all[position];
    SystemNode made;
    const std::uint32_t parent = native_.nodes.position(def.parent);
    if (parent != kNone) made.parent = nodes_[parent];
    made.kind = SystemKind::group;
    made.type = def.type == kAccelerator ? "accelerator" : "process";
    made.name = native_.text(def.name);
    if (made.name.empty()) made.name = fmt::format("process {}", def.id);
    made.file_id = def.id;
    if (const LocationGroupDef* const creator = native_.groups.find(def.creator)) {
      made.attributes.emplace_back("creator", std::string(native_.text(creator->name)));
    }
    groups_[position] = tree_.add(std::move(made));
  }

  void add_locations() {
    std::vector<std::int64_t> threads(native_.groups.size(), 0);
    for (const LocationDef& def : native_.locations.all) {
      const std::uint32_t group = native_.groups.position(def.group);
      SystemNode made;
      made.kind = SystemKind::location;
      made.type = def.type == kAcceleratorStream ? "accelerator stream"
                  : def.type == kMetricLocation  ? "metric"
                                                 : "thread";
      made.name = native_.text(def.name);
      if (made.name.empty()) made.name = fmt::format("location {}", def.id);
      made.file_id = def.id;
      if (group != kNone) {
        made.parent = groups_[group];
        made.rank = threads[group]++;
        parents_.push_back(groups_[group]);
      } else {
        ++lost_groups_;
        SystemNode process;
        process.kind = SystemKind::group;
        process.type = "process";
        process.name = made.name;
        process.file_id = def.id;
        made.parent = tree_.add(std::move(process));
        made.rank = 0;
        parents_.push_back(made.parent);
      }
      tree_.add_location(std::move(made));
    }
  }

  void set_rank(SystemNodeId group, std::int64_t rank) {
    SystemNode& process = tree_.nodes[group.index()];
    if (process.rank) return;
    process.rank = rank;
    made_.node_of_rank.emplace(rank, group);
  }
  // The place in the MPI paradigm's list of locations; without one the order of processes; without processes the
  // locations' own numbers.
  void give_ranks() {
    if (const GroupDef* const ranks = find_comm_locations(native_, kMpiParadigm)) {
      for (std::size_t i = 0; i < ranks->members.size(); ++i) {
        const std::uint32_t location = native_.locations.position(ranks->members[i]);
        if (location != kNone) set_rank(parents_[location], static_cast<std::int64_t>(i));
      }
    } else if (native_.groups.size() == 0) {
      for (std::size_t i = 0; i < native_.locations.size(); ++i) {
        const std::uint64_t id = native_.locations.all[i].id;
        if (id <= 0x7FFFFFFF) set_rank(parents_[i], static_cast<std::int64_t>(id));
      }
    } else {
      std::int64_t rank = 0;
      for (std::size_t i = 0; i < native_.groups.size(); ++i) {
        if (native_.groups.all[i].type != kAccelerator) set_rank(groups_[i], rank++);
      }
    }
    for (const SystemNodeId parent : parents_) {
      const auto& rank = tree_.nodes[parent.index()].rank;
      made_.rank_of_location.push_back(rank ? static_cast<std::int32_t>(*rank) : kUnknownPeer);
    }
  }

  void add_properties() {
    const auto add = [&](SystemNodeId at, const PropertyDef& property) {
      tree_.nodes[at.index()].attributes.emplace_back(std::string(native_.text(property.name)),
                                                      property_text(native_, property));
    };
    for (const PropertyDef& property : native_.node_properties) {
      const std::uint32_t at = native_.nodes.position(property.owner);
      if (at != kNone) add(nodes_[at], property);
    }
    for (const PropertyDef& property : native_.group_properties) {
      const std::uint32_t at = native_.groups.position(property.owner);
      if (at != kNone) add(groups_[at], property);
    }
    for (const PropertyDef& property : native_.location_properties) {
      const std::uint32_t at = native_.locations.position(property.owner);
      if (at != kNone) add(tree_.locations[at], property);
    }
  }

  const Archive& archive_;
  const GlobalDefinitions& native_;
  SystemTree& tree_;
  std::vector<SystemNodeId> nodes_;
  std::vector<SystemNodeId> groups_;
  std::vector<SystemNodeId> parents_;  // by location
  std::vector<std::uint8_t> visited_;
  std::uint64_t lost_groups_ = 0;
  SystemMapping made_;
};

}  // namespace

const GroupDef* find_comm_locations(const GlobalDefinitions& definitions, std::uint8_t paradigm) {
  for (const GroupDef& group : definitions.sets.all) {
    if (group.type == kCommLocations && group.paradigm == paradigm) return &group;
  }
  return nullptr;
}

Result<SystemMapping> map_system(const Archive& archive, SystemTree& tree) { return SystemMapper(archive, tree).run(); }

}  // namespace fathom::otf2
