#include "formats/otf2/otf2_dataset.hpp"

#include <fmt/format.h>

#include "formats/otf2/check.hpp"
#include "formats/otf2/dump.hpp"
#include "formats/otf2/event_counts.hpp"
#include "formats/otf2/event_file.hpp"
#include "formats/otf2/rewrite.hpp"
#include "io/output_set.hpp"
#include "trace/call_statistics.hpp"
#include "trace/samples.hpp"

namespace fathom::otf2 {

Result<std::shared_ptr<const Otf2Trace>> Otf2Dataset::own_trace() {
  if (!trace_) {
    FATHOM_TRY(trace_, Otf2Trace::make(archive_));
  }
  return trace_;
}

Result<std::shared_ptr<const Trace>> Otf2Dataset::trace() {
  FATHOM_TRY(std::shared_ptr<const Trace> made, own_trace());
  return made;
}

Result<std::vector<InfoEntry>> Otf2Dataset::describe(bool count) {
  const GlobalDefinitions& definitions = archive_->definitions;
  std::vector<InfoEntry> entries;
  const auto number = [&](std::string key, std::uint64_t value, bool always = false) {
    if (value > 0 || always) entries.push_back({std::move(key), value});
  };
  const auto text = [&](std::string key, const std::string& value) {
    if (!value.empty()) entries.push_back({std::move(key), value});
  };
  number("locations", definitions.locations.size(), true);
  number("regions", definitions.regions.size(), true);
  number("metrics", definitions.members.size(), true);
  number("contexts", definitions.contexts.size());
  number("communicators", definitions.comms.size());
  number("processes", definitions.groups.size());
  number("topologies", definitions.topologies.size());
  EventCounts total;
  if (count) {
    FATHOM_TRY(const auto counts, count_events(*archive_));
    for (const EventCounts& one : counts) total.add(one);
    entries.push_back({"events", total.events});
  } else {
    std::optional<std::uint64_t> events = 0;
    for (std::size_t i = 0; i < definitions.locations.size() && events; ++i) {
      FATHOM_TRY(const Blob blob, archive_->events(i));
      const auto known = claimed_events(blob, archive_->anchor.event_chunk);
      events = known ? std::optional(*events + *known) : std::nullopt;
    }
    entries.push_back({"events", events ? InfoValue(*events) : InfoValue(nullptr)});
  }
  FATHOM_TRY(const auto made, own_trace());
  if (const auto span = made->known_span()) describe_span(span->from_ns, span->to_ns, entries);
  entries.push_back({"ticks per second", definitions.clock.resolution});
  entries.push_back({"definitions", definitions.records});
  number("snapshots", archive_->anchor.snapshots);
  text("creator", archive_->anchor.creator);
  text("machine", archive_->anchor.machine);
  text("description", archive_->anchor.description);
  std::vector<std::string> list;
  for (const auto& [key, value] : archive_->anchor.properties) list.push_back(fmt::format("{}={}", key, value));
  if (!list.empty()) entries.push_back({"properties", std::move(list)});
  if (count) {
    std::vector<std::string> records;
    for (std::size_t type = 0; type < total.by_type.size(); ++type) {
      if (total.by_type[type] == 0) continue;
      const RecordKind* const kind = find_event_kind(static_cast<std::uint8_t>(type));
      records.push_back(kind != nullptr ? fmt::format("{} {}", kind->name, total.by_type[type])
                                        : fmt::format("unknown type {} {}", type, total.by_type[type]));
    }
    entries.push_back({"records", std::move(records)});
  }
  return entries;
}

Result<void> Otf2Dataset::dump(const DumpOptions& options, const TextSink& sink) {
  return otf2::dump(*archive_, options, sink);
}

Result<TraceStatistics> Otf2Dataset::statistics(const StatisticsOptions& options) {
  FATHOM_TRY(const auto made, own_trace());
  // Where there are samples and no regions are entered, samples are all there is to count.
  if (made->definitions().contexts.size() > 0) {
    FATHOM_TRY(auto calls, call_statistics(*made, options));
    if (!calls.calls.empty()) return calls;
    return sample_statistics(*made, options);
  }
  return call_statistics(*made, options);
}

Result<void> Otf2Dataset::check() {
  FATHOM_TRY(const auto made, own_trace());
  return check_archive(*made);
}

Result<bool> Otf2Dataset::rewrite(const std::filesystem::path& target, const WriteOptions&) {
  FATHOM_CHECK(copy_archive(anchor_, target, work()->options.flag(kForce)));
  return true;
}

}  // namespace fathom::otf2
