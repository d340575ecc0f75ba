#include "formats/otf2/definitions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::otf2 {

namespace {

// Types of definition records.
enum : std::uint8_t {
  kClockProperties = 5,
  kParadigm,
  kParadigmProperty,
  kString = 10,
  kAttribute,
  kSystemTreeNode,
  kLocationGroup,
  kLocation,
  kRegion,
  kGroup = 18,
  kMetricMember,
  kMetricClass,
  kMetricInstance,
  kComm,
  kParameter,
  kRmaWin,
  kNodeProperty = 26,
  kGroupProperty = 28,
  kLocationProperty,
  kCartDimension,
  kCartTopology,
  kCartCoordinate,
  kSourceCodeLocation,
  kCallingContext,
  kInterruptGenerator = 36,
  kIoRegularFile = 38,
  kIoDirectory,
  kIoHandle,
  kInterComm = 43,
};

constexpr std::uint8_t kMpi = 4;

// Numbers of the Group record before 1.2, which said the paradigm as well.
void convert_old_group(std::uint8_t old, GroupDef& group) {
  group.paradigm = old >= 4 ? kMpi : std::uint8_t{0};
  switch (old) {
    case 4:
      group.type = kCommGroup;
      return;
    case 5:
      group.type = kCommSelf;
      return;
    case 6:
      group.type = kCommLocations;
      return;
    default:
      group.type = old;
  }
}

class Reader {
 public:
  Reader(GlobalDefinitions& made, const Work& work) : made_(made), work_(work) {}

  Result<void> take(const Record& record) {
    ++made_.records;
    ++made_.counts[record.type];
    Fields in = record.fields();
    duplicate_ = false;
    read(record.type, in);
    const auto kind = [&] {
      const RecordKind* const known = find_definition_kind(record.type);
      return known != nullptr ? known->name : std::string_view("definition");
    };
    if (in.bad()) {
      made_.damaged = true;
      FATHOM_CHECK(work_->diagnostics.lost("otf2.bad_definition", made_.blob.place(record.offset),
                                           fmt::format("fields of a {} cannot be right", kind())));
    }
    if (duplicate_) {
      FATHOM_CHECK(
          work_->diagnostics.warn("otf2.duplicate_id", made_.blob.place(record.offset),
                                  fmt::format("a {} has an id that was given before; the first holds", kind())));
    }
    if (find_definition_kind(record.type) == nullptr) {
      work_->diagnostics.info("otf2.unknown_definition", made_.blob.place(record.offset),
                              fmt::format("definitions of the unknown type {} are left out", record.type));
    }
    return {};
  }

 private:
  template <class T>
  void add(Table<T>& table, std::uint64_t id, T definition) {
    if (!table.index.add(id, static_cast<std::uint32_t>(table.all.size()))) {
      duplicate_ = true;
      return;
    }
    table.all.push_back(std::move(definition));
  }
  // A member takes a byte at the least, so that a count beyond the record is no reason to allocate.
  template <class T>
  static std::vector<T> list(Fields& in, std::uint64_t count) {
    std::vector<T> values;
    values.reserve(std::min<std::uint64_t>(count, in.left()));
    for (; count > 0 && in.more(); --count) {
      if constexpr (sizeof(T) == 4) {
        values.push_back(in.c32());
      } else {
        values.push_back(in.c64());
      }
    }
    return values;
  }
  ParadigmDef& paradigm(std::uint8_t number) {
    for (ParadigmDef& known : made_.paradigms) {
      if (known.paradigm == number) return known;
    }
    ParadigmDef& added = made_.paradigms.emplace_back();
    added.paradigm = number;
    return added;
  }
  static PropertyDef property(std::uint64_t owner, Fields& in) {
    PropertyDef made{owner, in.c32(), kTypeString, in.c32(kUndefined32)};
    if (!in.more()) return made;  // before 2.0 all of them were strings
    made.type = in.u8();
    made.value = in.value(made.type);
    return made;
  }

  void read(std::uint8_t type, Fields& in);
  void read_group(Fields& in);
  void read_metric(std::uint8_t type, Fields& in);
  void read_further(std::uint8_t type, Fields& in);

  GlobalDefinitions& made_;
  const Work& work_;
  bool duplicate_ = false;
};

void Reader::read(std::uint8_t type, Fields& in) {
  switch (type) {
    case kClockProperties: {
      if (made_.clock.known) {
        duplicate_ = true;
        return;
      }
      made_.clock = {in.c64(), in.c64(), in.c64(), in.c64(kUndefined64), true};
      return;
    }
    case kParadigm: {
      const std::uint8_t number = in.u8();
      paradigm(number).name = in.c32();
      return;
    }
    case kParadigmProperty: {
      ParadigmDef& owner = paradigm(in.u8());
      const std::uint8_t which = in.u8();
      const std::uint8_t value_type = in.u8();
      const auto value = static_cast<std::uint32_t>(in.value(value_type));
      if (value_type == kTypeString && which == 0) owner.comm_template = value;
      if (value_type == kTypeString && which == 1) owner.window_template = value;
      return;
    }
    case kString: {
      const std::uint32_t id = in.c32();
      return add(made_.strings, id, in.text());
    }
    case kSystemTreeNode: {
      SystemTreeNodeDef made{in.c32(), in.c32(), in.c32(), in.c32(kUndefined32)};
      return add(made_.nodes, made.id, made);
    }
    case kLocationGroup: {
      LocationGroupDef made{in.c32(), in.c32(), in.u8(), in.c32(kUndefined32), in.c32(kUndefined32)};
      return add(made_.groups, made.id, made);
    }
    case kLocation: {
      LocationDef made{in.c64(), in.c32(), in.u8(), in.c64(), in.c32(kUndefined32)};
      return add(made_.locations, made.id, made);
    }
    case kRegion: {
      RegionDef made{in.c32(), in.c32(), in.c32(), 0, 0, 0, kUndefined32, 0, 0};
      (void)in.u8();  // the old type
      made.file = in.c32();
      made.begin_line = in.c32();
      made.end_line = in.c32();
      made.canonical = in.c32(kUndefined32);
      made.role = in.u8();
      made.paradigm = in.u8();
      return add(made_.regions, made.id, made);
    }
    case kGroup:
      return read_group(in);
    case kComm: {
      CommDef made{in.c32(), in.c32(), in.c32(), in.c32(kUndefined32)};
      return add(made_.comms, made.id, made);
    }
    case kInterComm: {
      CommDef made{in.c32(), in.c32(), in.c32(), kUndefined32, true, in.c32(kUndefined32)};
      return add(made_.comms, made.id, made);
    }
    case kNodeProperty:
      return made_.node_properties.push_back(property(in.c32(), in));
    case kGroupProperty:
      return made_.group_properties.push_back(property(in.c32(), in));
    case kLocationProperty:
      return made_.location_properties.push_back(property(in.c64(), in));
    case kMetricMember:
    case kMetricClass:
    case kMetricInstance:
      return read_metric(type, in);
    default:
      return read_further(type, in);
  }
}

void Reader::read_group(Fields& in) {
  GroupDef made{in.c32(), in.c32(), 0, 0, {}};
  const std::uint8_t old = in.u8();
  const std::uint32_t count = in.c32();
  made.members = list<std::uint64_t>(in, count);
  if (in.more()) {
    made.type = in.u8();
    made.paradigm = in.u8();
  } else {
    convert_old_group(old, made);
  }
  const std::uint32_t id = made.id;
  add(made_.sets, id, std::move(made));
}

void Reader::read_metric(std::uint8_t type, Fields& in) {
  if (type == kMetricMember) {
    MetricMemberDef made{in.c32(), in.c32(), in.c32(), in.u8(), in.u8(), in.u8(), in.u8(), in.s64(), in.c32()};
    return add(made_.members, made.id, made);
  }
  if (type == kMetricInstance) {
    MetricInstanceDef made{in.c32(), in.c32(), in.c64(), in.u8(), in.c64()};
    return add(made_.instances, made.id, made);
  }
  MetricClassDef made{in.c32(), {}, 0, 0};
  const std::uint8_t count = in.u8();
  made.members = list<std::uint32_t>(in, count);
  made.occurrence = in.u8();
  made.recorder_kind = in.u8();
  const std::uint32_t id = made.id;
  add(made_.classes, id, std::move(made));
}

void Reader::read_further(std::uint8_t type, Fields& in) {
  switch (type) {
    case kAttribute: {
      NamedDef made{in.c32(), in.c32(), in.u8()};
      return add(made_.attributes, made.id, made);
    }
    case kParameter: {
      NamedDef made{in.c32(), in.c32(), in.u8()};
      return add(made_.parameters, made.id, made);
    }
    case kRmaWin: {
      RmaWinDef made{in.c32(), in.c32(), in.c32()};
      return add(made_.windows, made.id, made);
    }
    case kSourceCodeLocation: {
      SourceDef made{in.c32(), in.c32(), in.c32()};
      return add(made_.sources, made.id, made);
    }
    case kCallingContext: {
      CallingContextDef made{in.c32(), in.c32(), in.c32(kUndefined32), in.c32(kUndefined32)};
      return add(made_.contexts, made.id, made);
    }
    case kInterruptGenerator: {
      InterruptGeneratorDef made{in.c32(), in.c32(), in.u8(), in.u8(), in.s64(), in.c64()};
      return add(made_.generators, made.id, made);
    }
    case kIoRegularFile:
    case kIoDirectory: {
      IoFileDef made{in.c32(), in.c32()};
      return add(made_.files, made.id, made);
    }
    case kIoHandle: {
      IoHandleDef made{in.c32(), in.c32(), in.c32(kUndefined32)};
      return add(made_.handles, made.id, made);
    }
    case kCartDimension: {
      CartDimensionDef made{in.c32(), in.c32(), in.c32(), in.u8()};
      return add(made_.dimensions, made.id, made);
    }
    case kCartTopology: {
      CartTopologyDef made{in.c32(), in.c32(), in.c32(), {}};
      const std::uint8_t count = in.u8();
      made.dimensions = list<std::uint32_t>(in, count);
      const std::uint32_t id = made.id;
      return add(made_.topologies, id, std::move(made));
    }
    case kCartCoordinate: {
      CartCoordinateDef made{in.c32(), in.c32(), {}};
      const std::uint8_t count = in.u8();
      made.at = list<std::uint32_t>(in, count);
      made_.coordinates.push_back(std::move(made));
      return;
    }
    default:
      return;  // counted; nothing here needs them
  }
}

}  // namespace

bool IdIndex::add(std::uint64_t id, std::uint32_t position) {
  if (find(id) != kNone) return false;
  // A table of positions as long as it stays within a few times what is defined.
  const std::uint64_t most = 4 * count_ + 1024;
  if (id >= direct_.size() && id < most) {
    direct_.resize(std::min<std::uint64_t>(most, std::max<std::uint64_t>(id + 1, 2 * direct_.size())), kNone);
    for (auto at = others_.begin(); at != others_.end();) {
      if (at->first >= direct_.size()) {
        ++at;
        continue;
      }
      direct_[at->first] = at->second;
      at = others_.erase(at);
    }
  }
  if (id < direct_.size()) {
    direct_[id] = position;
  } else {
    others_.emplace(id, position);
  }
  ++count_;
  return true;
}

Result<GlobalDefinitions> read_global_definitions(Blob blob, std::uint64_t chunk_size, const Work& work) {
  GlobalDefinitions made;
  made.blob = blob;
  RecordFile file(std::move(blob), chunk_size, work);
  Reader reader(made, work);
  Record record;
  for (;;) {
    FATHOM_TRY(const bool more, file.next(record));
    if (!more) break;
    FATHOM_CHECK(reader.take(record));
  }
  made.damaged = made.damaged || file.damaged();
  if (made.clock.resolution == 0) {
    FATHOM_CHECK(work->diagnostics.warn("otf2.clock", made.blob.place(),
                                        "the clock has 0 ticks per second; 1,000,000,000 are assumed"));
    made.clock.resolution = 1'000'000'000;
  }
  return made;
}

}  // namespace fathom::otf2
