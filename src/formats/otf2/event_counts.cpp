#include "formats/otf2/event_counts.hpp"

#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "formats/otf2/event_file.hpp"

namespace fathom::otf2 {

void EventCounts::add(const EventCounts& other) {
  for (std::size_t i = 0; i < by_type.size(); ++i) by_type[i] += other.by_type[i];
  events += other.events;
}

Result<std::vector<EventCounts>> count_events(const Archive& archive) {
  std::vector<EventCounts> counts(archive.definitions.locations.size());
  Progress progress("counting events", counts.size());
  FATHOM_CHECK(parallel_for(counts.size(), [&](std::size_t i) -> Result<void> {
    FATHOM_TRY(Blob blob, archive.events(i));
    EventFile file(std::move(blob), archive.anchor.event_chunk);
    EventRecord record;
    EventCounts& made = counts[i];
    while (file.next(record, [](const Defect&) {})) {
      ++made.by_type[record.type];
      if (made.events++ == 0) made.first = made.last = record.time;
      made.first = std::min(made.first, record.time);
      made.last = std::max(made.last, record.time);
    }
    progress.advance();
    return {};
  }));
  return counts;
}

}  // namespace fathom::otf2
