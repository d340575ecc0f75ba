#include "formats/dumpi/dumpi_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.hpp"
#include "formats/dumpi/argument_text.hpp"
#include "formats/dumpi/event_stream.hpp"

namespace fathom::dumpi {

namespace {
constexpr std::string_view kAnnotation = "ANNOTATION: ";
}

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
    const std::string host = sections.has(Section::header) ? sections.header.host : "unknown host";
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
  trace->cancelled_.resize(set->files().size());
  FATHOM_CHECK(parallel_for(set->files().size(), [&](std::size_t i) -> Result<void> {
    const RankFile& rank = set->files()[i];
    trace->cancelled_[i] =
        cancelled_sends(rank.file, (*trace->scans_)[i], Tables(rank.file, trace->resolution_, i, rank.rank));
    return {};
  }));
  trace->positions_ = std::make_unique<Position[]>(set->files().size());
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
  return std::unique_ptr<EventStream>(
      std::make_unique<DumpiStream>(*this, set_->files()[at.file].file, (*scans_)[at.file], location, window));
}

std::optional<TimeWindow> DumpiTrace::known_span() const {
  std::optional<TimeWindow> all;
  for (std::size_t i = 0; i < scans_->size(); ++i) {
    all = joined(all, exact_span(set_->files()[i].file, (*scans_)[i]));
  }
  return all;
}

std::optional<std::uint64_t> DumpiTrace::known_records(LocationId location) const {
  const Where at = where(location);
  if ((*scans_)[at.file].threads.size() > 1) return std::nullopt;
  return (*scans_)[at.file].records;
}

Result<Call> DumpiTrace::call_at(std::size_t index, std::uint64_t number) const {
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
  const std::byte* p = file.at(position.offset);
  const std::byte* const end = file.at(scan.end);
  for (; position.number < number; ++position.number) {
    if (file.decoder().skip(p, end) != Decoder::Outcome::ok) break;
  }
  position.offset = static_cast<std::uint64_t>(p - file.at(0));
  Call call;
  if (file.decoder().decode(p, end, call) != Decoder::Outcome::ok) {
    return Error("a record cannot be read", file.place(position.offset));
  }
  call.number = number;
  call.offset = position.offset;
  return call;
}

// Resolved facts for what was resolved; otherwise the arguments as recorded, those taken after the call at its leave.
Result<void> DumpiTrace::detail(const Event& event, std::string& out) const {
  if (event.kind != EventKind::enter && event.kind != EventKind::leave) return Trace::detail(event, out);
  if (event.record == Event::kNoRecord) return {};
  FATHOM_TRY(const Call call, call_at(where(event.location).file, event.record));
  append_arguments(call, event.kind == EventKind::leave, out);
  return {};
}

}  // namespace fathom::dumpi
