#include "formats/otf2/mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "formats/otf2/system_mapping.hpp"

namespace fathom::otf2 {

namespace {

constexpr std::uint32_t kNone = IdIndex::kNone;

std::string or_number(std::string_view text, std::string_view what, std::uint64_t id) {
  return text.empty() ? fmt::format("{} {}", what, id) : std::string(text);
}

// 100.5 with exponent 3 and unit W is 100.5 kW; values stay as recorded.
std::string scaled_unit(std::string_view unit, std::uint8_t base, std::int64_t exponent) {
  if (exponent == 0) return std::string(unit);
  if (base == 1) {
    constexpr std::pair<int, std::string_view> kPrefixes[] = {{-12, "p"}, {-9, "n"}, {-6, "u"}, {-3, "m"},
                                                              {3, "k"},   {6, "M"},  {9, "G"},  {12, "T"}};
    for (const auto& [power, prefix] : kPrefixes) {
      if (power == exponent && !unit.empty() && unit != "#") return fmt::format("{}{}", prefix, unit);
    }
    return fmt::format("10^{} {}", exponent, unit);
  }
  return fmt::format("2^{} {}", exponent, unit);
}

std::string mode_text(std::uint8_t mode) {
  constexpr std::string_view kKinds[] = {"accumulated", "absolute", "relative"};
  const unsigned kind = mode & 0x0FU;
  return kind < 3 ? std::string(kKinds[kind]) : fmt::format("mode {}", mode);
}
std::string timing_text(std::uint8_t mode) {
  constexpr std::string_view kTimings[] = {"start", "point", "last", "next"};
  return std::string(kTimings[mode >> 4 & 3]);
}

class Mapper {
 public:
  Mapper(const Archive& archive, LevelDefinitions& level)
      : archive_(archive), native_(archive.definitions), level_(level) {}

  Result<Mapping> run() {
    FATHOM_TRY(system_, map_system(archive_, level_.definitions.system));
    map_.rank_of_location = system_.rank_of_location;
    map_regions();
    FATHOM_CHECK(map_communicators());
    map_metrics();
    map_contexts();
    map_topologies();
    map_handles();
    map_markers();
    map_attributes();
    return std::move(map_);
  }

 private:
  void map_regions() {
    auto& regions = level_.definitions.regions;
    regions.reserve(native_.regions.size());
    for (const RegionDef& def : native_.regions.all) {
      Region region;
      region.name = or_number(native_.text(def.name), "region", def.id);
      const std::string_view canonical = native_.text(def.canonical);
      if (canonical != region.name) region.mangled_name = canonical;
      region.paradigm = def.paradigm == 0 ? std::string() : paradigm_name(def.paradigm);
      region.role = def.role == 0 ? std::string() : role_name(def.role);
      region.file = native_.text(def.file);
      region.description = native_.text(def.description);
      if (def.begin_line != 0 && def.begin_line != kUndefined32) region.begin_line = def.begin_line;
      if (def.end_line != 0 && def.end_line != kUndefined32) region.end_line = def.end_line;
      region.file_id = def.id;
      regions.push_back(std::move(region));
    }
    map_.region_index = native_.regions.index;
  }

  // Ranks of the whole run that a group stands for.
  std::vector<std::int32_t> ranks_of(const GroupDef& group) const {
    std::vector<std::int32_t> ranks;
    ranks.reserve(group.members.size());
    const GroupDef* places = nullptr;
    if (group.type == kCommGroup && group.paradigm != kMpiParadigm) {
      places = find_comm_locations(native_, group.paradigm);
    }
    for (const std::uint64_t member : group.members) {
      if (group.type == kCommGroup && group.paradigm == kMpiParadigm) {
        ranks.push_back(member <= 0x7FFFFFFF ? static_cast<std::int32_t>(member) : kUnknownPeer);
        continue;
      }
      const std::uint64_t place = group.type != kCommGroup                               ? member
                                  : places != nullptr && member < places->members.size() ? places->members[member]
                                                                                         : kUndefined64;
      const std::uint32_t location = native_.locations.position(place);
      ranks.push_back(location == kNone ? kUnknownPeer : map_.rank_of_location[location]);
    }
    return ranks;
  }
  std::string communicator_name(const CommDef& def, const GroupDef* group) const {
    const std::string_view name = native_.text(def.name);
    if (!name.empty()) return std::string(name);
    std::string text = "Comm ${id}";
    for (const ParadigmDef& paradigm : native_.paradigms) {
      if (group == nullptr || paradigm.paradigm != group->paradigm) continue;
      const std::string_view pattern = native_.text(paradigm.comm_template);
      if (!pattern.empty()) text = pattern;
    }
    const auto at = text.find("${id}");
    return at == std::string::npos ? text : text.replace(at, 5, std::to_string(def.id));
  }
  Result<void> map_communicators() {
    std::uint64_t members = 0;
    for (const CommDef& def : native_.comms.all) {
      const GroupDef* const group = native_.sets.find(def.group);
      const GroupDef* const other = def.inter ? native_.sets.find(def.other_group) : nullptr;
      members += (group != nullptr ? group->members.size() : 0) + (other != nullptr ? other->members.size() : 0);
    }
    // Many communicators may share one group, so that this is no matter of the file's size.
    FATHOM_TRY(map_.reserved, archive_.work->budget.reserve(members * sizeof(std::int32_t), "ranks of communicators"));
    map_.has_comms = native_.comms.size() > 0;
    for (const CommDef& def : native_.comms.all) {
      const GroupDef* const group = native_.sets.find(def.group);
      const GroupDef* const other = def.inter ? native_.sets.find(def.other_group) : nullptr;
      Communicator made;
      made.name = communicator_name(def, group);
      if (group != nullptr && group->type != kCommSelf) made.ranks = ranks_of(*group);
      if (other != nullptr) made.remote_ranks = ranks_of(*other);
      map_.comms.push_back({group != nullptr && group->type == kCommSelf});
      level_.communicators.push_back(std::move(made));
    }
    for (const RmaWinDef& def : native_.windows.all) map_.window_comms.push_back(native_.comms.position(def.comm));
    return map_window_groups();
  }
  // With whom a window is opened is said by a group: that of a communicator, or one that is listed behind them.
  Result<void> map_window_groups() {
    map_.set_comms.assign(native_.sets.size(), kNone);
    if (native_.windows.size() == 0) return {};
    for (std::uint32_t i = 0; i < native_.comms.size(); ++i) {
      const CommDef& def = native_.comms.all[i];
      const std::uint32_t set = native_.sets.position(def.group);
      if (!def.inter && set != kNone && map_.set_comms[set] == kNone) map_.set_comms[set] = i;
    }
    std::uint64_t members = 0;
    for (const GroupDef& group : native_.sets.all) members += group.members.size();
    FATHOM_TRY(map_.reserved_groups, archive_.work->budget.reserve(members * sizeof(std::int32_t), "ranks of groups"));
    for (std::uint32_t i = 0; i < native_.sets.size(); ++i) {
      const GroupDef& group = native_.sets.all[i];
      if (map_.set_comms[i] != kNone || group.type != kCommGroup) continue;
      Communicator made;
      made.name = native_.text(group.name);
      if (made.name.empty()) made.name = "group " + std::to_string(group.id);
      made.ranks = ranks_of(group);
      map_.set_comms[i] = static_cast<std::uint32_t>(level_.communicators.size());
      level_.communicators.push_back(std::move(made));
    }
    return {};
  }

  void map_metrics() {
    std::set<std::string> taken;
    std::vector<std::uint8_t> occurrences(native_.members.size(), 0xFF);
    for (const MetricClassDef& one : native_.classes.all) {
      for (const std::uint32_t id : one.members) {
        const std::uint32_t member = native_.members.position(id);
        if (member != kNone) occurrences[member] = one.occurrence;
      }
    }
    for (std::size_t i = 0; i < native_.members.size(); ++i) {
      const MetricMemberDef& def = native_.members.all[i];
      Metric metric;
      metric.display_name = or_number(native_.text(def.name), "metric", def.id);
      metric.name = metric.display_name;
      for (int copy = 2; !taken.insert(metric.name).second; ++copy) {
        metric.name = fmt::format("{} ({})", metric.display_name, copy);
      }
      metric.unit = scaled_unit(native_.text(def.unit), def.base, def.exponent);
      metric.description = native_.text(def.description);
      metric.type.kind = def.value_type == kTypeDouble || def.value_type == kTypeFloat ? ValueKind::f64
                         : def.value_type == kTypeInt64                                ? ValueKind::i64
                                                                                       : ValueKind::u64;
      metric.file_id = def.id;
      metric.attributes.emplace_back("mode", mode_text(def.mode));
      metric.attributes.emplace_back("timing", timing_text(def.mode));
      if (occurrences[i] != 0xFF) {
        metric.attributes.emplace_back("occurrence", occurrences[i] == 2 ? "asynchronous" : "synchronous");
      }
      map_.metric_is_double.push_back(metric.type.is_double() ? 1 : 0);
      level_.definitions.metrics.push_back(std::move(metric));
    }
    const auto use_of = [&](const MetricClassDef& one) {
      Mapping::MetricUse use;
      for (const std::uint32_t id : one.members) use.metrics.push_back(native_.members.position(id));
      return use;
    };
    const auto add = [&](std::uint32_t id, Mapping::MetricUse use) {
      if (!map_.metric_index.add(id, static_cast<std::uint32_t>(map_.metric_uses.size()))) return;
      map_.metric_uses.push_back(std::move(use));
    };
    for (const MetricClassDef& one : native_.classes.all) add(one.id, use_of(one));
    for (const MetricInstanceDef& one : native_.instances.all) {
      const MetricClassDef* const of = native_.classes.find(one.metric_class);
      add(one.id, of != nullptr ? use_of(*of) : Mapping::MetricUse{});
    }
  }

  // Of a context that has none.
  RegionId undefined_region() {
    if (!undefined_.valid()) {
      Region region;
      region.name = "undefined region";
      region.file_id = kUndefined32;
      undefined_ = RegionId(level_.definitions.regions.size());
      level_.definitions.regions.push_back(std::move(region));
    }
    return undefined_;
  }
  // Parents come first as a rule; where they do not they are added on the way, and a cycle is cut.
  void map_contexts() {
    const auto& all = native_.contexts.all;
    if (all.empty()) return;
    ContextTreeBuilder builder;
    std::vector<ContextTreeBuilder::Handle> handles(all.size(), kNone);
    std::vector<std::uint8_t> visited(all.size(), 0);
    std::vector<std::uint32_t> chain;
    for (std::uint32_t start = 0; start < all.size(); ++start) {
      std::uint32_t at = start;
      while (at != kNone && visited[at] == 0) {
        visited[at] = 1;
        chain.push_back(at);
        at = native_.contexts.position(all[at].parent);
      }
      while (!chain.empty()) {
        const std::uint32_t one = chain.back();
        chain.pop_back();
        const CallingContextDef& def = all[one];
        const std::uint32_t parent = native_.contexts.position(def.parent);
        const ContextTreeBuilder::Handle above =
            parent == kNone || handles[parent] == kNone ? ContextTreeBuilder::kRoot : handles[parent];
        const std::uint32_t region = native_.regions.position(def.region);
        const SourceDef* const source = native_.sources.find(def.source);
        handles[one] = builder.add(above, region == kNone ? undefined_region() : RegionId(region), def.id,
                                   source != nullptr ? std::int64_t{source->line} : -1);
        if (source != nullptr) builder.details(handles[one]).file = native_.text(source->file);
      }
    }
    std::vector<ContextId> numbers;
    level_.definitions.contexts = std::move(builder).build(&numbers);
    for (std::size_t i = 0; i < all.size(); ++i) {
      map_.contexts.push_back(numbers[handles[i]]);
      map_.context_regions.push_back(level_.definitions.contexts[map_.contexts.back()].region.value);
    }
  }

  void map_topologies() {
    auto& topologies = level_.definitions.system.topologies;
    for (const CartTopologyDef& def : native_.topologies.all) {
      Topology made;
      made.name = native_.text(def.name);
      for (const std::uint32_t id : def.dimensions) {
        const CartDimensionDef* const dimension = native_.dimensions.find(id);
        if (dimension == nullptr) continue;
        made.dimensions.push_back(
            {std::string(native_.text(dimension->name)), dimension->size, dimension->periodic != 0});
      }
      topologies.push_back(std::move(made));
    }
    for (const CartCoordinateDef& def : native_.coordinates) {
      const std::uint32_t topology = native_.topologies.position(def.topology);
      if (topology == kNone) continue;
      const std::uint32_t comm = native_.comms.position(native_.topologies.all[topology].comm);
      const auto& ranks = comm == kNone ? std::vector<std::int32_t>() : level_.communicators[comm].ranks;
      const std::int64_t rank = comm == kNone             ? std::int64_t{def.rank}
                                : def.rank < ranks.size() ? std::int64_t{ranks[def.rank]}
                                                          : -1;
      const auto at = system_.node_of_rank.find(rank);
      if (at == system_.node_of_rank.end()) continue;
      topologies[topology].coordinates.push_back({at->second, {def.at.begin(), def.at.end()}});
    }
  }

  void map_handles() {
    for (const IoHandleDef& def : native_.handles.all) {
      const IoFileDef* const file = native_.files.find(def.file);
      level_.handles.push_back({or_number(native_.text(def.name), "handle", def.id),
                                file != nullptr ? std::string(native_.text(file->name)) : std::string()});
    }
  }

  std::uint32_t marker(std::string name, MarkerMeaning meaning = MarkerMeaning::none) {
    level_.markers.push_back(std::move(name));
    level_.meanings.push_back(meaning);
    return static_cast<std::uint32_t>(level_.markers.size() - 1);
  }
  void map_markers() {
    map_.unknown_marker = marker("unknown record");
    map_.marker_of_type.fill(map_.unknown_marker);
    for (const RecordKind& kind : event_kinds()) {
      map_.marker_of_type[kind.type] = marker(std::string(kind.name), meaning_of(kind.type));
    }
    map_.measurement_on_marker = marker("MeasurementOnOff", MarkerMeaning::gap_end);
    map_.read_marker = marker("IoOperationBegin", MarkerMeaning::read);
    map_.write_marker = marker("IoOperationBegin", MarkerMeaning::write);
    for (const NamedDef& def : native_.parameters.all) {
      map_.parameter_markers.push_back(marker(or_number(native_.text(def.name), "parameter", def.id)));
    }
  }
  static MarkerMeaning meaning_of(std::uint8_t type) {
    switch (type) {
      case event::buffer_flush:
      case event::measurement_on_off:
        return MarkerMeaning::gap_begin;
      case event::rma_put:
        return MarkerMeaning::put;
      case event::rma_get:
        return MarkerMeaning::get;
      case event::rma_atomic:
        return MarkerMeaning::update;
      case event::io_create_handle:
        return MarkerMeaning::open;
      case event::io_destroy_handle:
        return MarkerMeaning::close;
      case event::thread_acquire_lock:
      case event::omp_acquire_lock:
      case event::rma_acquire_lock:
        return MarkerMeaning::lock;
      case event::thread_release_lock:
      case event::omp_release_lock:
      case event::rma_release_lock:
        return MarkerMeaning::unlock;
      case event::thread_task_create:
      case event::omp_task_create:
        return MarkerMeaning::task_create;
      case event::thread_task_switch:
      case event::omp_task_switch:
        return MarkerMeaning::task_switch;
      case event::thread_task_complete:
      case event::omp_task_complete:
        return MarkerMeaning::task_end;
      case event::thread_fork:
      case event::omp_fork:
        return MarkerMeaning::fork;
      case event::thread_join:
      case event::omp_join:
        return MarkerMeaning::join;
      default:
        return MarkerMeaning::none;
    }
  }

  void map_attributes() {
    Attributes& attributes = level_.definitions.attributes;
    const auto add = [&](std::string_view key, const std::string& value) {
      if (!value.empty()) attributes.emplace_back(key, value);
    };
    add("creator", archive_.anchor.creator);
    add("machine", archive_.anchor.machine);
    add("description", archive_.anchor.description);
    for (const auto& [key, value] : archive_.anchor.properties) add(key, value);
  }

  const Archive& archive_;
  const GlobalDefinitions& native_;
  LevelDefinitions& level_;
  Mapping map_;
  SystemMapping system_;
  RegionId undefined_;
};

}  // namespace

Result<Mapping> map_definitions(const Archive& archive, LevelDefinitions level) { return Mapper(archive, level).run(); }

}  // namespace fathom::otf2
