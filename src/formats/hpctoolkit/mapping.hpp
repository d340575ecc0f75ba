// From native records to definitions of the profile level, with what is needed to find values again.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/work.hpp"
#include "defs/definitions.hpp"
#include "formats/hpctoolkit/experiment_xml.hpp"
#include "formats/hpctoolkit/meta_db.hpp"
#include "formats/hpctoolkit/profile_db.hpp"
#include "profile/profile.hpp"

namespace fathom::hpctoolkit {

// From ids that the file uses to contexts of the tree. Ids that are not in the tree exist (instructions that the
// writer folded into their line); they lead nowhere.
class ContextIndex {
 public:
  // The first context of an id has it.
  void add(std::uint32_t file_id, ContextId context) { list_.emplace_back(file_id, context); }
  // To be called once, before anything is looked for.
  void finish();
  [[nodiscard]] ContextId find(std::uint32_t file_id) const {
    if (list_.empty()) return file_id < table_.size() ? table_[file_id] : ContextId();
    const auto found = std::lower_bound(list_.begin(), list_.end(), file_id,
                                        [](const auto& one, std::uint32_t id) { return one.first < id; });
    return found != list_.end() && found->first == file_id ? found->second : ContextId();
  }

 private:
  std::vector<std::pair<std::uint32_t, ContextId>> list_;  // while it grows, and where ids are far apart
  std::vector<ContextId> table_;
};

// A column of the summary profile.
struct StatisticColumn {
  std::uint16_t id = 0;
  StoredMetric metric;
  std::string statistic;  // "sum", "count", "sum of squares", "min", "max", or the formula as the file has it
};

struct Mapping {
  std::shared_ptr<Definitions> definitions = std::make_shared<Definitions>();
  std::vector<std::vector<std::uint16_t>> ids;  // of metric and scope, as in ordinary profiles and cct.db
  // Where several metrics share one id: which of the values under it, in file order, is whose. Empty: none do.
  std::vector<std::vector<std::uint16_t>> turns;
  ContextIndex contexts;  // of ids of values
  ContextIndex samples;   // of ids of trace samples
  std::vector<StatisticColumn> statistics;
  std::vector<std::uint32_t> profile_of_location;
  // Of derived metrics, which come after the stored ones.
  std::map<MetricId, std::shared_ptr<const expression::Program>> programs;
};

inline constexpr std::string_view kSumOfSquares = "sum of squares";

// The names of identifier kinds where a file has no table.
const std::vector<std::string>& default_id_names();
// What experiment.xml says about showing a metric whose columns these are.
void present(Metric& metric, const std::vector<const XmlMetric*>& columns);
// Finds metrics that share an id and says so.
Result<void> note_shared_ids(Mapping& mapping, const std::string& file, const Work& work);
// Locations from identifier tuples: nodes, ranks, and one location per profile that is not a summary.
void map_system(const std::vector<ProfileRecord>& profiles, const std::vector<std::string>& id_names, Mapping& mapping);
// Splits "NAME (I)" of experiment.xml into NAME and the scope, "" where there is no suffix.
std::pair<std::string, std::string> without_scope(const std::string& name);
// "sec" of "CPUTIME (sec)" and of "CPUTIME (sec):Mean", a statistic in the same unit.
std::string unit_in_name(std::string_view name);

Result<Mapping> map_meta(const MetaDb& meta, const Work& work);
Result<Mapping> map_xml(const ExperimentXml& xml, const Work& work);

// Makes regions once each. Keys tell apart what has the same name.
class RegionTable {
 public:
  explicit RegionTable(std::vector<Region>& regions) : regions_(regions) {}
  // The region under this key, made by `make` when it is new.
  template <class Make>
  RegionId get(std::uint8_t kind, std::uint64_t a, std::uint64_t b, Make&& make) {
    auto [found, fresh] = by_key_.try_emplace(Key{kind, a, b}, RegionId(regions_.size()));
    if (fresh) {
      regions_.push_back(make());
      regions_.back().file_id = regions_.size() - 1;
    }
    return found->second;
  }

 private:
  struct Key {
    std::uint8_t kind;
    std::uint64_t a;
    std::uint64_t b;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t h = key.a * 0x9E3779B97F4A7C15ULL + key.b;
      h ^= h >> 29;
      h = h * 0xBF58476D1CE4E5B9ULL + key.kind;
      return static_cast<std::size_t>(h ^ (h >> 32));
    }
  };
  std::vector<Region>& regions_;
  std::unordered_map<Key, RegionId, Hash> by_key_;
};

// "solve.c:12" for reading.
std::string line_name(std::string_view file, std::int64_t line);

}  // namespace fathom::hpctoolkit
