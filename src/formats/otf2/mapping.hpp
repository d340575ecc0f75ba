// How the numbers in records become those of the trace level: made once from the definitions, used by every stream.
#pragma once

#include "formats/otf2/archive.hpp"
#include "trace/trace.hpp"

namespace fathom::otf2 {

// Ids of one kind as a location uses them, to positions of definitions.
class Translation {
 public:
  Translation(const IdIndex& global, const IdMap* map) : global_(global), map_(map) {
    if (map == nullptr) return;
    std::uint64_t covered = map->dense.size();
    if (!map->sparse.empty() && map->sparse.back().first < 4 * map->sparse.size() + 1024) {
      covered = map->sparse.back().first + 1;
    }
    table_.reserve(covered);
    for (std::uint64_t id = 0; id < covered; ++id) table_.push_back(global.find(map->global(id)));
  }
  std::uint32_t operator()(std::uint32_t id) const {
    if (id < table_.size()) return table_[id];
    if (id == kUndefined32) return IdIndex::kNone;
    return global_.find(map_ == nullptr ? id : map_->global(id));
  }

 private:
  const IdIndex& global_;
  const IdMap* map_;
  std::vector<std::uint32_t> table_;
};

struct Mapping {
  struct MetricUse {
    std::vector<std::uint32_t> metrics;  // of the level, by member
  };
  struct CommRanks {
    bool self = false;  // every location is alone in it
  };
  IdIndex region_index;  // as the archive's, and those that only events name
  // By position of the definition, unless said otherwise.
  std::vector<ContextId> contexts;
  std::vector<std::uint32_t> context_regions;
  IdIndex metric_index;  // classes and instances share their ids
  std::vector<MetricUse> metric_uses;
  std::vector<std::uint8_t> metric_is_double;  // by metric of the level
  std::vector<std::uint32_t> parameter_markers;
  std::vector<std::uint32_t> window_comms;  // IdIndex::kNone = none
  std::vector<CommRanks> comms;
  std::vector<std::uint32_t> set_comms;  // Group records that windows may be used with, as communicators of the level
  std::array<std::uint32_t, 256> marker_of_type{};
  std::uint32_t unknown_marker = 0;
  std::uint32_t measurement_on_marker = 0;
  std::uint32_t read_marker = 0;
  std::uint32_t write_marker = 0;
  std::vector<std::int32_t> rank_of_location;  // of its process in the whole run
  bool has_comms = false;
  Budget::Reservation reserved;
  Budget::Reservation reserved_groups;
};

// Fills the level's definitions from those of the archive.
struct LevelDefinitions {
  Definitions& definitions;
  std::vector<std::string>& markers;
  std::vector<MarkerMeaning>& meanings;
  std::vector<Communicator>& communicators;
  std::vector<Handle>& handles;
};
Result<Mapping> map_definitions(const Archive& archive, LevelDefinitions level);

// Names of numbers, in lower case as the levels spell them: "mpi", "barrier", "accelerator stream".
std::string paradigm_name(std::uint8_t paradigm);
std::string role_name(std::uint8_t role);
std::uint8_t paradigm_number(std::string_view name);  // 0 = unknown
std::uint8_t role_number(std::string_view name);      // 0 = unknown

}  // namespace fathom::otf2
