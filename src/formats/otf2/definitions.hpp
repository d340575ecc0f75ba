// The global definitions of an archive as its file holds them.
#pragma once

#include <array>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/otf2/record_file.hpp"
#include "formats/otf2/records.hpp"

namespace fathom::otf2 {

// Position of a definition by the id the file uses. Ids are small numbers as a rule and anything in bad archives.
class IdIndex {
 public:
  static constexpr std::uint32_t kNone = kUndefined32;

  // False when the id is taken already.
  bool add(std::uint64_t id, std::uint32_t position);
  [[nodiscard]] std::uint32_t find(std::uint64_t id) const {
    if (id < direct_.size()) return direct_[id];
    if (others_.empty()) return kNone;
    const auto found = others_.find(id);
    return found == others_.end() ? kNone : found->second;
  }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  std::vector<std::uint32_t> direct_;
  std::unordered_map<std::uint64_t, std::uint32_t> others_;
  std::size_t count_ = 0;
};

// Definitions of one kind in file order. Of several with the same id the first holds.
template <class T>
struct Table {
  std::vector<T> all;
  IdIndex index;

  [[nodiscard]] const T* find(std::uint64_t id) const {
    const std::uint32_t at = index.find(id);
    return at == IdIndex::kNone ? nullptr : &all[at];
  }
  [[nodiscard]] std::uint32_t position(std::uint64_t id) const { return index.find(id); }
  [[nodiscard]] std::size_t size() const { return all.size(); }
};

struct ClockProperties {
  std::uint64_t resolution = 1'000'000'000;
  std::uint64_t global_offset = 0;
  std::uint64_t length = 0;
  std::uint64_t realtime = kUndefined64;
  bool known = false;
};
struct ParadigmDef {
  std::uint8_t paradigm = 0;
  std::uint32_t name = kUndefined32;
  std::uint32_t comm_template = kUndefined32;  // strings
  std::uint32_t window_template = kUndefined32;
};
struct SystemTreeNodeDef {
  std::uint32_t id, name, class_name, parent;
};
struct LocationGroupDef {
  std::uint32_t id, name;
  std::uint8_t type;
  std::uint32_t parent, creator;
};
struct LocationDef {
  std::uint64_t id;
  std::uint32_t name;
  std::uint8_t type;
  std::uint64_t events;
  std::uint32_t group;
};
// Of a tree node, group or location.
struct PropertyDef {
  std::uint64_t owner;
  std::uint32_t name;
  std::uint8_t type;
  std::uint64_t value;
};
struct RegionDef {
  std::uint32_t id, name, description, file, begin_line, end_line, canonical;
  std::uint8_t role, paradigm;
};
enum GroupType : std::uint8_t { kLocationsGroup = 1, kCommLocations = 4, kCommGroup = 5, kCommSelf = 6 };
struct GroupDef {
  std::uint32_t id, name;
  std::uint8_t type, paradigm;
  std::vector<std::uint64_t> members;
};
struct CommDef {
  std::uint32_t id, name, group, parent;
  bool inter = false;
  std::uint32_t other_group = kUndefined32;
};
struct MetricMemberDef {
  std::uint32_t id, name, description;
  std::uint8_t type, mode, value_type, base;
  std::int64_t exponent;
  std::uint32_t unit;
};
struct MetricClassDef {
  std::uint32_t id;
  std::vector<std::uint32_t> members;
  std::uint8_t occurrence, recorder_kind;
};
struct MetricInstanceDef {
  std::uint32_t id, metric_class;
  std::uint64_t recorder;
  std::uint8_t scope_kind;
  std::uint64_t scope;
};
struct NamedDef {  // attribute, parameter
  std::uint32_t id, name;
  std::uint8_t type;
};
struct RmaWinDef {
  std::uint32_t id, name, comm;
};
struct SourceDef {
  std::uint32_t id, file, line;
};
struct CallingContextDef {
  std::uint32_t id, region, source, parent;
};
struct InterruptGeneratorDef {
  std::uint32_t id, name;
  std::uint8_t mode, base;
  std::int64_t exponent;
  std::uint64_t period;
};
struct IoFileDef {
  std::uint32_t id, name;
};
struct IoHandleDef {
  std::uint32_t id, name, file;
};
struct CartDimensionDef {
  std::uint32_t id, name, size;
  std::uint8_t periodic;
};
struct CartTopologyDef {
  std::uint32_t id, name, comm;
  std::vector<std::uint32_t> dimensions;
};
struct CartCoordinateDef {
  std::uint32_t topology, rank;
  std::vector<std::uint32_t> at;
};

struct GlobalDefinitions {
  ClockProperties clock;
  Table<std::string_view> strings;  // views of the file
  std::vector<ParadigmDef> paradigms;
  Table<SystemTreeNodeDef> nodes;
  std::vector<PropertyDef> node_properties, group_properties, location_properties;
  Table<LocationGroupDef> groups;  // of locations
  Table<LocationDef> locations;
  Table<RegionDef> regions;
  Table<GroupDef> sets;  // Group records
  Table<CommDef> comms;
  Table<MetricMemberDef> members;
  Table<MetricClassDef> classes;
  Table<MetricInstanceDef> instances;
  Table<NamedDef> attributes, parameters;
  Table<RmaWinDef> windows;
  Table<SourceDef> sources;
  Table<CallingContextDef> contexts;
  Table<InterruptGeneratorDef> generators;
  Table<IoFileDef> files;
  Table<IoHandleDef> handles;
  Table<CartDimensionDef> dimensions;
  Table<CartTopologyDef> topologies;
  std::vector<CartCoordinateDef> coordinates;
  std::array<std::uint64_t, 256> counts{};  // by type of record
  std::uint64_t records = 0;
  bool damaged = false;
  Blob blob;  // keeps the strings

  // Empty = not defined.
  [[nodiscard]] std::string_view text(std::uint32_t string) const {
    const std::string_view* const found = strings.find(string);
    return found == nullptr ? std::string_view{} : *found;
  }
};

Result<GlobalDefinitions> read_global_definitions(Blob blob, std::uint64_t chunk_size, const Work& work);

}  // namespace fathom::otf2
