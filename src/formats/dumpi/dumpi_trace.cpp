#include "formats/dumpi/dumpi_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/share_out.hpp"
#include "formats/dumpi/argument_text.hpp"
#include "formats/dumpi/event_stream.hpp"
#include "formats/dumpi/senders.hpp"

namespace fathom::dumpi {

namespace {
constexpr std::string_view kAnnotation = "ANNOTATION: ";

// Where the machine is a mesh, the header says where in it the process ran.
void add_mesh(const Header& header, SystemNodeId process, SystemTree& system) {
  if (header.mesh_size.empty() || header.mesh_size.size() != header.mesh_position.size()) return;
  const auto fits = [&](const Topology& topology) {
    return std::equal(topology.dimensions.begin(), topology.dimensions.end(), header.mesh_size.begin(),
                      header.mesh_size.end(),
                      [](const TopologyDimension& d, std::int32_t size) { return std::cmp_equal(d.size, size); });
  };
  auto found = std::find_if(system.topologies.begin(), system.topologies.end(), fits);
  if (found == system.topologies.end()) {
    Topology topology;
    topology.name = "mesh";
    for (const std::int32_t size : header.mesh_size) {
      if (size < 0) return;
      topology.dimensions.push_back({"", static_cast<std::uint64_t>(size), false});
    }
    found = system.topologies.insert(system.topologies.end(), std::move(topology));
  }
  Topology::Coordinate at{process, {}};
  for (const std::int32_t position : header.mesh_position) {
    if (position < 0) return;
    at.at.push_back(static_cast<std::uint64_t>(position));
  }
  found->coordinates.push_back(std::move(at));
}

// The files that were asked for last, each with the call that was read last: there may be more than can be open at a
// time.
class HeldFiles {
 public:
  struct Held {
    std::size_t file = 0;
    std::shared_ptr<const Blob> blob;
    std::uint64_t record = Event::kNoRecord;  // of the call
    Call call;
  };
  Held& of(const std::vector<RankFile>& files, std::size_t file) {
    Held& held = held_[file % held_.size()];
    if (held.blob == nullptr || held.file != file) {
      held.file = file;
      held.blob = files[file].file.hold();
      held.record = Event::kNoRecord;
    }
    return held;
  }

 private:
  std::array<Held, 32> held_;
};

}  // namespace

Result<std::shared_ptr<const DumpiTrace>> DumpiTrace::make(std::shared_ptr<const RankSet> set) {
  auto trace = std::make_shared<DumpiTrace>();
  FATHOM_TRY(trace->scans_, set->scans());
  FATHOM_TRY(trace->resolution_, resolve(*set, *trace->scans_));
  trace->set_ = set;
  trace->work_ = set->work();
  trace->communicators_ = trace->resolution_.communicators;
  Definitions& definitions = trace->definitions_;

  std::array<bool, kIds> used{};
  for (const ScanResult& scan : *trace->scans_) {
    for (std::size_t id = 0; id < kIds; ++id) used[id] = used[id] || scan.per_function[id] > 0;
    trace->has_cpu_time_ = trace->has_cpu_time_ || (scan.any_cpu && scan.any_wall);
  }
  for (const Function& function : functions()) {
    if (!used[function.id] || function.id >= kFunctions) continue;
    Region region;
    region.name = function.name;
    region.paradigm = "mpi";
    region.role = "function";
    region.file_id = function.id;
    trace->regions_[function.id] = RegionId(definitions.regions.size());
    definitions.regions.push_back(std::move(region));
  }

  SystemNode machine;
  machine.type = "machine";
  machine.name = "machine";
  const SystemNodeId root = definitions.system.add(std::move(machine));
  std::map<std::string, SystemNodeId> hosts;
  std::map<std::string, std::uint32_t> region_by_label;
  std::map<std::string, std::uint32_t> marker_by_label;
  std::map<std::string, std::uint32_t> metric_by_name;
  for (std::size_t i = 0; i < set->files().size(); ++i) {
    const RankFile& rank = set->files()[i];
    const Sections& sections = rank.file.sections();
    const std::string host = sections.header.host.empty() ? "unknown host" : sections.header.host;
    auto [at, is_new] = hosts.try_emplace(host);
    if (is_new) {
      SystemNode node;
      node.parent = root;
      node.type = "node";
      node.name = host;
      at->second = definitions.system.add(std::move(node));
    }
    SystemNode process;
    process.parent = at->second;
    process.kind = SystemKind::group;
    process.type = "process";
    process.name = fmt::format("rank {}", rank.rank);
    process.rank = rank.rank;
    process.file_id = rank.rank;
    const SystemNodeId group = definitions.system.add(std::move(process));
    add_mesh(sections.header, group, definitions.system);
    const auto& threads = (*trace->scans_)[i].threads;
    for (const std::uint16_t thread : threads) {
      SystemNode node;
      node.parent = group;
      node.kind = SystemKind::location;
      node.type = "thread";
      node.name = fmt::format("thread {}", thread);
      node.rank = thread;
      node.file_id = rank.rank;
      // Without threads to tell apart a rank is its own name.
      node.label = threads.size() == 1 ? fmt::format("{}", rank.rank) : fmt::format("{}.{}", rank.rank, thread);
      const ScanResult& scan = (*trace->scans_)[i];
      if (scan.damage || (rank.file.cut_off() && scan.per_function[ids::kFinalize] == 0)) {
        node.attributes.emplace_back("truncated", "true");
      }
      definitions.system.add_location(std::move(node));
      trace->where_.push_back({i, thread});
    }

    auto& regions = trace->address_regions_.emplace_back();
    auto& markers = trace->address_markers_.emplace_back();
    for (const FunctionAddress& entry : sections.addresses) {
      if (entry.label.starts_with(kAnnotation)) {
        const std::string label = entry.label.substr(kAnnotation.size());
        const auto [it, added] = marker_by_label.try_emplace(label, static_cast<std::uint32_t>(trace->markers_.size()));
        if (added) trace->markers_.push_back(label);
        markers.emplace(entry.address, it->second);
        continue;
      }
      const std::string label = entry.label == "<none>" ? fmt::format("{:#x}", entry.address) : entry.label;
      const auto [it, added] =
          region_by_label.try_emplace(label, static_cast<std::uint32_t>(definitions.regions.size()));
      if (added) {
        Region region;
        region.name = label;
        region.paradigm = "user";
        region.file_id = entry.address;
        definitions.regions.push_back(std::move(region));
      }
      regions.emplace(entry.address, it->second);
    }
    auto& counters = trace->counters_.emplace_back();
    for (const std::string& name : sections.counters) {
      const auto [it, added] = metric_by_name.try_emplace(name, static_cast<std::uint32_t>(definitions.metrics.size()));
      if (added) {
        Metric metric;
        metric.name = name;
        metric.display_name = name;
        metric.unit = "occ";
        metric.type.kind = ValueKind::i64;
        definitions.metrics.push_back(std::move(metric));
      }
      counters.push_back(it->second);
    }
  }
  const auto bytes = [&](std::size_t i) { return set->files()[i].file.size(); };
  const auto read = [&](std::size_t i, std::vector<std::uint64_t>& cancelled) -> Result<void> {
    const RankFile& rank = set->files()[i];
    cancelled = cancelled_sends(rank.file, (*trace->scans_)[i], Tables(rank.file, trace->resolution_, i, rank.rank));
    return {};
  };
  FATHOM_TRY(trace->cancelled_, share_out<std::vector<std::uint64_t>>("looking for cancelled sends",
                                                                      set->files().size(), bytes, Holder::all, read));
  trace->positions_ = std::make_unique<Position[]>(set->files().size());
  trace->windows_ = std::make_unique<WindowIndex[]>(trace->where_.size());
  FATHOM_TRY(trace->senders_, senders_of_strangers(*trace, *trace->scans_));
  return std::shared_ptr<const DumpiTrace>(std::move(trace));
}

RegionId DumpiTrace::region_of_address(std::size_t file, std::uint64_t address) const {
  const auto it = address_regions_[file].find(address);
  return it == address_regions_[file].end() ? RegionId{} : RegionId(it->second);
}

std::uint32_t DumpiTrace::marker_of(std::size_t file, std::uint64_t address) const {
  const auto it = address_markers_[file].find(address);
  return it == address_markers_[file].end() ? Event::kNoName : it->second;
}

Result<std::unique_ptr<EventStream>> DumpiTrace::open(LocationId location, TimeWindow window) const {
  const Where at = where(location);
  const auto whole = [&] {
    return std::make_unique<DumpiStream>(*this, set_->files()[at.file].file, (*scans_)[at.file], location);
  };
  if (window.everything()) return std::unique_ptr<EventStream>(whole());
  return windows_[location.index()].open(window, whole, work_);
}

std::optional<TimeWindow> DumpiTrace::known_span() const {
  std::optional<TimeWindow> all;
  for (std::size_t i = 0; i < scans_->size(); ++i) {
    all = joined(all, exact_span(set_->files()[i].file, (*scans_)[i]));
  }
  return all;
}

std::optional<TimeWindow> DumpiTrace::location_span(LocationId location) const {
  const Where at = where(location);
  if ((*scans_)[at.file].threads.size() > 1) return std::nullopt;
  return exact_span(set_->files()[at.file].file, (*scans_)[at.file]);
}

std::optional<std::uint64_t> DumpiTrace::known_records(LocationId location) const {
  const Where at = where(location);
  if ((*scans_)[at.file].threads.size() > 1) return std::nullopt;
  return (*scans_)[at.file].records;
}

Result<Call> DumpiTrace::call_at(std::size_t index, std::uint64_t number, Bytes bytes) const {
  const File& file = set_->files()[index].file;
  const ScanResult& scan = (*scans_)[index];
  Position& position = positions_[index];
  const std::scoped_lock lock(position.mutex);
  if (number >= scan.records) return Error::usage(fmt::format("there is no record {}", number));
  const auto chunk = std::upper_bound(scan.chunks.begin(), scan.chunks.end(), number,
                                      [](std::uint64_t wanted, const Chunk& one) { return wanted < one.first; }) -
                     1;
  if (position.offset == 0 || number < position.number || chunk->first > position.number) {
    position.number = chunk->first;
    position.offset = chunk->offset;
  }
  const std::byte* p = bytes.data() + position.offset;
  const std::byte* const end = bytes.data() + scan.end;
  for (; position.number < number; ++position.number) {
    if (file.decoder().skip(p, end) != Decoder::Outcome::ok) break;
  }
  position.offset = static_cast<std::uint64_t>(p - bytes.data());
  Call call;
  if (file.decoder().decode(p, end, call) != Decoder::Outcome::ok) {
    return Error("a record cannot be read", file.place(position.offset));
  }
  call.number = number;
  call.offset = position.offset;
  return call;
}

Result<void> DumpiTrace::read_call(const Event& event, Bytes bytes, Call& call) const {
  const std::size_t index = where(event.location).file;
  const std::uint64_t end = (*scans_)[index].end;
  // Our own streams leave the offset of the record; events that somebody else made are looked for.
  const auto offset = static_cast<std::uint64_t>(event.bytes);
  const bool known = offset > 0 && offset < end;
  const Decoder& decoder = set_->files()[index].file.decoder();
  if (known && decoder.decode(bytes.data() + offset, bytes.data() + end, call) == Decoder::Outcome::ok) return {};
  FATHOM_TRY(call, call_at(index, event.record, bytes));
  return {};
}

Result<void> DumpiTrace::detail(const Event& event, std::string& out) const {
  std::vector<std::int64_t> ends;
  return details({&event, 1}, out, ends);
}

// Resolved facts for what was resolved; otherwise the arguments as recorded, those taken after the call at its leave.
Result<void> DumpiTrace::details(std::span<const Event> events, std::string& out,
                                 std::vector<std::int64_t>& ends) const {
  constexpr std::size_t kExpected = 256;
  TextTail tail(out, std::max(out.capacity() - out.size(), kExpected));
  std::string other;
  HeldFiles held;
  for (const Event& event : events) {
    if (event.kind != EventKind::enter && event.kind != EventKind::leave) {
      if (!put_own_detail(*this, event, tail)) {
        other.clear();
        FATHOM_CHECK(Trace::detail(event, other));
        tail.append(other);
      }
    } else if (event.record != Event::kNoRecord) {
      HeldFiles::Held& of = held.of(set_->files(), where(event.location).file);
      // The leave of a call comes soon after its enter.
      if (of.record != event.record) FATHOM_CHECK(read_call(event, of.blob->bytes(), of.call));
      of.record = event.record;
      append_arguments(of.call, event.kind == EventKind::leave, tail);
    }
    ends.push_back(static_cast<std::int64_t>(tail.size()));
  }
  return {};
}

}  // namespace fathom::dumpi
