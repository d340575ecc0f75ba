#ifdef FATHOM_HAS_OTF2

#include "formats/otf2/definition_writer.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "formats/otf2/mapping.hpp"
#include "formats/otf2/mpi_names.hpp"

namespace fathom::otf2 {

namespace {

OTF2_MetricMode mode_of(const Metric& metric) {
  const std::string* const mode = find_attribute(metric.attributes, "mode");
  const std::string* const timing = find_attribute(metric.attributes, "timing");
  unsigned made = mode == nullptr || *mode == "absolute" ? OTF2_METRIC_VALUE_ABSOLUTE
                  : *mode == "relative"                  ? OTF2_METRIC_VALUE_RELATIVE
                                                         : OTF2_METRIC_VALUE_ACCUMULATED;
  if (timing == nullptr || *timing == "point") {
    made |= OTF2_METRIC_TIMING_POINT;
  } else if (*timing == "last") {
    made |= OTF2_METRIC_TIMING_LAST;
  } else if (*timing == "next") {
    made |= OTF2_METRIC_TIMING_NEXT;
  }
  return static_cast<OTF2_MetricMode>(made);
}

std::uint32_t line_of(std::int64_t line) {
  return line > 0 && line < 0xFFFFFFFF ? static_cast<std::uint32_t>(line) : 0;
}

OTF2_SystemTreeDomain domain_of(std::string_view type) {
  const std::string text = to_lower(type);
  if (text == "machine" || text == "cluster") return OTF2_SYSTEM_TREE_DOMAIN_MACHINE;
  if (text == "numa") return OTF2_SYSTEM_TREE_DOMAIN_NUMA;
  if (text == "socket") return OTF2_SYSTEM_TREE_DOMAIN_SOCKET;
  if (text == "core") return OTF2_SYSTEM_TREE_DOMAIN_CORE;
  return OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY;
}

}  // namespace

OTF2_StringRef DefinitionWriter::text(const std::string& value) {
  const auto [found, is_new] = strings_.emplace(value, static_cast<OTF2_StringRef>(strings_.size()));
  // A zero byte would end it.
  if (is_new) check(OTF2_GlobalDefWriter_WriteString(out_, found->second, value.c_str()));
  return found->second;
}

OTF2_ErrorCode DefinitionWriter::write(WrittenSpan span, const std::vector<std::uint64_t>& events) {
  check(OTF2_GlobalDefWriter_WriteClockProperties(out_, 1'000'000'000, span.first_ns, span.last_ns - span.first_ns + 1,
                                                  OTF2_UNDEFINED_TIMESTAMP));
  (void)text("");
  write_system(events);
  write_regions();
  write_communicators();
  write_metrics();
  const auto markers = trace_.markers();
  for (std::uint32_t i = 0; i < markers.size(); ++i) {
    const OTF2_StringRef name = text(markers[i]);
    check(OTF2_GlobalDefWriter_WriteParameter(out_, i, name, OTF2_PARAMETER_TYPE_INT64));
  }
  write_contexts();
  write_handles();
  write_topologies();
  return error_;
}

void DefinitionWriter::write_system(const std::vector<std::uint64_t>& events) {
  for (std::uint32_t i = 0; i < plan_.nodes.size(); ++i) {
    const PlannedNode& node = plan_.nodes[i];
    const OTF2_StringRef name = text(node.name);
    const OTF2_StringRef type = text(node.type);
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(out_, i, name, type, node.parent));
    check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(out_, i, domain_of(node.type)));
  }
  std::uint32_t process = OTF2_UNDEFINED_LOCATION_GROUP;
  for (std::uint32_t i = 0; i < plan_.groups.size(); ++i) {
    const PlannedGroup& group = plan_.groups[i];
    const OTF2_StringRef name = text(group.name);
    if (!group.accelerator) process = i;
    check(OTF2_GlobalDefWriter_WriteLocationGroup(
        out_, i, name, group.accelerator ? OTF2_LOCATION_GROUP_TYPE_ACCELERATOR : OTF2_LOCATION_GROUP_TYPE_PROCESS,
        group.node,
        !group.accelerator              ? OTF2_UNDEFINED_LOCATION_GROUP
        : group.creator != kUndefined32 ? group.creator
                                        : process));
  }
  for (std::size_t i = 0; i < plan_.locations.size(); ++i) {
    const PlannedLocation& location = plan_.locations[i];
    const OTF2_StringRef name = text(location.name);
    check(OTF2_GlobalDefWriter_WriteLocation(out_, location.id, name, location.type, events[i], location.group));
  }
}

void DefinitionWriter::write_region(std::uint32_t id, const Region& region) {
  const std::string& mangled = region.mangled_name.empty() ? region.name : region.mangled_name;
  const OTF2_StringRef name = text(region.name);
  const OTF2_StringRef canonical = text(mangled);
  const OTF2_StringRef description = text(region.description);
  const OTF2_StringRef file = text(region.file);
  std::uint8_t paradigm = paradigm_number(region.paradigm);
  if (region.name.starts_with("MPI_")) paradigm = OTF2_PARADIGM_MPI;
  if (paradigm == OTF2_PARADIGM_UNKNOWN) paradigm = OTF2_PARADIGM_USER;
  std::uint8_t role = role_number(region.role);
  if (paradigm == OTF2_PARADIGM_MPI && role <= OTF2_REGION_ROLE_FUNCTION) role = mpi_role(region.name);
  if (role == OTF2_REGION_ROLE_UNKNOWN) role = OTF2_REGION_ROLE_FUNCTION;
  check(OTF2_GlobalDefWriter_WriteRegion(out_, id, name, canonical, description, role, paradigm, OTF2_REGION_FLAG_NONE,
                                         file, line_of(region.begin_line), line_of(region.end_line)));
}

void DefinitionWriter::write_regions() {
  const auto& regions = trace_.definitions().regions;
  for (std::uint32_t i = 0; i < regions.size(); ++i) write_region(i, regions[i]);
  Region made;
  made.name = "unknown region";
  made.role = "artificial";
  write_region(ids_.unknown_region, made);
  const auto channels = trace_.channels();
  std::uint32_t next = ids_.unknown_region + 1;
  for (const ChannelId channel : activity_channels(trace_)) {
    const Channel& from = channels[channel.index()];
    made.role = "function";
    made.paradigm = "user";
    made.description = from.title.empty() ? from.name : from.title;
    for (const auto& [value, name] : from.values) {
      made.name = name;
      write_region(next++, made);
    }
    made.name = fmt::format("{} (without a name)", from.name);
    write_region(next++, made);
  }
}

bool DefinitionWriter::has_one_sided() const {
  Event event;
  for (std::uint32_t i = 0; i < trace_.markers().size(); ++i) {
    event.name = i;
    switch (trace_.meaning(event)) {
      case MarkerMeaning::put:
      case MarkerMeaning::get:
      case MarkerMeaning::update:
      case MarkerMeaning::lock:
      case MarkerMeaning::unlock:
        return true;
      default:
        break;
    }
  }
  return false;
}

void DefinitionWriter::write_group(OTF2_GroupType type, const std::vector<std::uint64_t>& members) {
  check(OTF2_GlobalDefWriter_WriteGroup(out_, groups_++, text(""), type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                        static_cast<std::uint32_t>(members.size()), members.data()));
}

// The locations of all ranks, every rank alone, all ranks; then a group for each other communicator.
void DefinitionWriter::write_communicators() {
  if (plan_.rank_locations.empty()) return;
  const OTF2_StringRef mpi = text("MPI");
  check(OTF2_GlobalDefWriter_WriteParadigm(out_, OTF2_PARADIGM_MPI, mpi, OTF2_PARADIGM_CLASS_PROCESS));
  constexpr std::uint32_t kSelf = 1;
  constexpr std::uint32_t kWorld = 2;
  write_group(OTF2_GROUP_TYPE_COMM_LOCATIONS, plan_.rank_locations);
  write_group(OTF2_GROUP_TYPE_COMM_SELF, {});
  std::vector<std::uint64_t> members(plan_.rank_locations.size());
  for (std::size_t i = 0; i < members.size(); ++i) members[i] = i;
  write_group(OTF2_GROUP_TYPE_COMM_GROUP, members);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> groups;
  const auto own_group = [&](const std::vector<std::int32_t>& ranks) {
    members.assign(ranks.begin(), ranks.end());
    write_group(OTF2_GROUP_TYPE_COMM_GROUP, members);
    return groups_ - 1;
  };
  for (const PlannedComm& comm : plan_.comms) {
    const std::uint32_t first = comm.self() ? kSelf : comm.world() ? kWorld : own_group(comm.ranks());
    groups.emplace_back(first, comm.remote().empty() ? OTF2_UNDEFINED_GROUP : own_group(comm.remote()));
  }
  for (std::uint32_t i = 0; i < plan_.comms.size(); ++i) {
    const OTF2_StringRef name = text(plan_.comms[i].name());
    if (groups[i].second == OTF2_UNDEFINED_GROUP) {
      check(OTF2_GlobalDefWriter_WriteComm(out_, i, name, groups[i].first, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    } else {
      check(OTF2_GlobalDefWriter_WriteInterComm(out_, i, name, groups[i].first, groups[i].second, OTF2_UNDEFINED_COMM,
                                                OTF2_COMM_FLAG_NONE));
    }
  }
  if (!has_one_sided()) return;
  for (std::uint32_t i = 0; i < plan_.comms.size(); ++i) {
    const OTF2_StringRef name = text(fmt::format("window of {}", plan_.comms[i].name()));
    check(OTF2_GlobalDefWriter_WriteRmaWin(out_, i, name, i, OTF2_RMA_WIN_FLAG_NONE));
  }
}

void DefinitionWriter::write_metric(std::uint32_t id, const std::string& name, const std::string& description,
                                    OTF2_Type type, OTF2_MetricMode mode, const std::string& unit) {
  const OTF2_StringRef name_text = text(name);
  const OTF2_StringRef description_text = text(description);
  const OTF2_StringRef unit_text = text(unit);
  check(OTF2_GlobalDefWriter_WriteMetricMember(out_, id, name_text, description_text, OTF2_METRIC_TYPE_OTHER, mode,
                                               type, OTF2_BASE_DECIMAL, 0, unit_text));
}

// A class of one member each, under the same number.
void DefinitionWriter::write_metrics() {
  const auto& metrics = trace_.definitions().metrics;
  const auto channels = trace_.channels();
  const auto count = static_cast<std::uint32_t>(metrics.size() + channels.size());
  for (std::uint32_t i = 0; i < metrics.size(); ++i) {
    const Metric& metric = metrics[i];
    const OTF2_Type type = metric.type.is_double()     ? OTF2_TYPE_DOUBLE
                           : metric.type.is_unsigned() ? OTF2_TYPE_UINT64
                                                       : OTF2_TYPE_INT64;
    write_metric(i, metric.name, metric.description, type, mode_of(metric), metric.unit);
  }
  for (std::uint32_t i = 0; i < channels.size(); ++i) {
    std::string description = channels[i].title;
    fmt::format_to(std::back_inserter(description), "; {} = none", ids_.no_value[i]);
    for (const auto& [value, name] : channels[i].values) {
      fmt::format_to(std::back_inserter(description), ", {} = {}", value, name);
    }
    write_metric(ids_.first_channel_metric + i, channels[i].name, description, OTF2_TYPE_INT64,
                 OTF2_METRIC_ABSOLUTE_NEXT, "#");
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    check(OTF2_GlobalDefWriter_WriteMetricClass(out_, i, 1, &i, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT));
  }
}

void DefinitionWriter::write_contexts() {
  const ContextTree& contexts = trace_.definitions().contexts;
  if (contexts.size() == 0) return;
  std::map<std::pair<OTF2_StringRef, std::uint32_t>, std::uint32_t> places;
  std::vector<std::uint32_t> place_of(contexts.size(), OTF2_UNDEFINED_SOURCE_CODE_LOCATION);
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    const Context& context = contexts[ContextId(i)];
    if (context.line < 0) continue;
    const OTF2_StringRef file = text(contexts.details(ContextId(i)).file);
    const auto [found, is_new] = places.emplace(std::pair(file, line_of(context.line)), places.size());
    if (is_new) {
      check(OTF2_GlobalDefWriter_WriteSourceCodeLocation(out_, found->second, file, line_of(context.line)));
    }
    place_of[i] = found->second;
  }
  for (std::uint32_t i = 0; i < contexts.size(); ++i) {
    const Context& context = contexts[ContextId(i)];
    const std::uint32_t region = context.region.valid() ? context.region.value : ids_.unknown_region;
    check(OTF2_GlobalDefWriter_WriteCallingContext(
        out_, i, region, place_of[i], context.parent.valid() ? context.parent.value : OTF2_UNDEFINED_CALLING_CONTEXT));
  }
  const OTF2_StringRef name = text("samples");
  check(OTF2_GlobalDefWriter_WriteInterruptGenerator(out_, 0, name, OTF2_INTERRUPT_GENERATOR_MODE_TIME,
                                                     OTF2_BASE_DECIMAL, 0, 0));
}

void DefinitionWriter::write_handles() {
  const auto handles = trace_.handles();
  if (handles.empty()) return;
  const OTF2_StringRef name = text("I/O");
  const OTF2_StringRef identification = text("POSIX");
  check(OTF2_GlobalDefWriter_WriteIoParadigm(out_, 0, identification, name, OTF2_IO_PARADIGM_CLASS_SERIAL,
                                             OTF2_IO_PARADIGM_FLAG_OS, 0, nullptr, nullptr, nullptr));
  for (std::uint32_t i = 0; i < handles.size(); ++i) {
    const OTF2_StringRef file = text(handles[i].file.empty() ? handles[i].name : handles[i].file);
    check(OTF2_GlobalDefWriter_WriteIoRegularFile(out_, i, file, 0));
  }
  for (std::uint32_t i = 0; i < handles.size(); ++i) {
    const OTF2_StringRef handle = text(handles[i].name);
    check(OTF2_GlobalDefWriter_WriteIoHandle(out_, i, handle, i, 0, OTF2_IO_HANDLE_FLAG_NONE, OTF2_UNDEFINED_COMM,
                                             OTF2_UNDEFINED_IO_HANDLE));
  }
}

// Those that arrange processes by their ranks.
void DefinitionWriter::write_topologies() {
  if (plan_.rank_locations.empty()) return;
  const SystemTree& system = trace_.definitions().system;
  std::uint32_t dimensions = 0;
  std::uint32_t topologies = 0;
  for (const Topology& topology : system.topologies) {
    std::vector<OTF2_CartDimensionRef> own;
    if (topology.dimensions.size() > 255) continue;
    for (const TopologyDimension& dimension : topology.dimensions) {
      const OTF2_StringRef name = text(dimension.name);
      check(OTF2_GlobalDefWriter_WriteCartDimension(
          out_, dimensions, name, static_cast<std::uint32_t>(dimension.size),
          dimension.periodic ? OTF2_CART_PERIODIC_TRUE : OTF2_CART_PERIODIC_FALSE));
      own.push_back(dimensions++);
    }
    const OTF2_StringRef name = text(topology.name);
    check(OTF2_GlobalDefWriter_WriteCartTopology(out_, topologies, name, plan_.world,
                                                 static_cast<std::uint8_t>(own.size()), own.data()));
    for (const Topology::Coordinate& coordinate : topology.coordinates) {
      const auto& rank = system.nodes[coordinate.node.index()].rank;
      if (!rank || *rank < 0 || static_cast<std::size_t>(*rank) >= plan_.rank_locations.size()) continue;
      if (coordinate.at.size() != own.size()) continue;
      const std::vector<std::uint32_t> at(coordinate.at.begin(), coordinate.at.end());
      check(OTF2_GlobalDefWriter_WriteCartCoordinate(out_, topologies, static_cast<std::uint32_t>(*rank),
                                                     static_cast<std::uint8_t>(at.size()), at.data()));
    }
    ++topologies;
  }
}

}  // namespace fathom::otf2

#endif
