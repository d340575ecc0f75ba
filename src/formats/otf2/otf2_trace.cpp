#include "formats/otf2/otf2_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/share_out.hpp"
#include "formats/otf2/clock.hpp"
#include "formats/otf2/event_file.hpp"
#include "formats/otf2/event_stream.hpp"
#include "formats/otf2/event_text.hpp"
#include "formats/otf2/notes.hpp"

namespace fathom::otf2 {

template <class Pack>
static void pack_fields(Pack& pack, IdMap& map) {
  pack(map.dense, map.sparse);
}
static void pack_fields(Packer& pack, LocalDefinitions& local) {
  pack(local.offsets);
  for (const auto& map : local.maps) {
    pack(map != nullptr);
    if (map != nullptr) pack(*map);
  }
}
static void pack_fields(Unpacker& unpack, LocalDefinitions& local) {
  unpack(local.offsets);
  for (auto& map : local.maps) {
    bool there = false;
    unpack(there);
    if (!there || !unpack.ok()) continue;
    auto made = std::make_unique<IdMap>();
    unpack(*made);
    map = std::move(made);
  }
}

// What is read of the files of a location before anything is asked.
struct Otf2Trace::Read {
  LocalDefinitions local;
  Ends ends;

  template <class Pack>
  friend void pack_fields(Pack& pack, Read& read) {
    pack(read.local, read.ends);
  }
};

Result<std::shared_ptr<const Otf2Trace>> Otf2Trace::make(std::shared_ptr<const Archive> archive) {
  auto trace = std::make_shared<Otf2Trace>();
  trace->archive_ = std::move(archive);
  trace->work_ = trace->archive_->work;
  FATHOM_TRY(trace->mapping_, map_definitions(*trace->archive_, {trace->definitions_, trace->markers_, trace->meanings_,
                                                                 trace->communicators_, trace->handles_}));
  const std::size_t count = trace->location_count();
  trace->reported_ = std::make_unique<std::atomic<std::uint64_t>[]>(count);
  trace->finished_ = std::make_unique<std::atomic<bool>[]>(count);
  trace->windows_ = std::make_unique<WindowIndex[]>(count);
  FATHOM_CHECK(trace->read_locals());
  if (trace->archive_->definitions.damaged) FATHOM_CHECK(trace->find_lost_regions());
  FATHOM_CHECK(trace->read_notes());
  return std::shared_ptr<const Otf2Trace>(std::move(trace));
}

// Each file is opened by one process of the team, most likely by the one that reads the location.
Result<void> Otf2Trace::read_locals() {
  locals_.resize(location_count());
  const auto& locations = archive_->definitions.locations.all;
  const auto events = [&](std::size_t i) { return locations[i].events; };
  FATHOM_TRY(Share share, Share::of("reading definitions", locals_.size(), events));
  std::vector<Read> read(locals_.size());
  FATHOM_CHECK(share.each([&](std::size_t i) -> Result<void> {
    FATHOM_TRY(read[i].local, archive_->local(i));
    if (share.alone()) return {};
    FATHOM_TRY(const Blob blob, archive_->events(i));
    read[i].ends = {blob.size(), claimed_events(blob, archive_->anchor.event_chunk), read_span(i, read[i].local)};
    return {};
  }));
  if (!share.alone()) {
    FATHOM_CHECK(bring_together(share, read, Holder::all));
    ends_.resize(read.size());
  }
  for (std::size_t i = 0; i < read.size(); ++i) {
    locals_[i] = std::move(read[i].local);
    if (!ends_.empty()) ends_[i] = read[i].ends;
  }
  return {};
}

// Where definitions are lost, the regions that events name are called by their numbers.
Result<void> Otf2Trace::find_lost_regions() {
  std::mutex mutex;
  std::set<std::uint32_t> lost;
  FATHOM_CHECK(parallel_for(locals_.size(), [&](std::size_t i) -> Result<void> {
    FATHOM_TRY(Blob blob, archive_->events(i));
    std::set<std::uint32_t> found;
    EventFile file(std::move(blob), archive_->anchor.event_chunk);
    EventRecord record;
    while (file.next(record, [](const Defect&) {})) {
      if (record.type != event::enter && record.type != event::leave) continue;
      const std::uint64_t id = locals_[i].global(IdKind::region, record.fields().c32(kUndefined32));
      if (id < kUndefined32 && mapping_.region_index.find(id) == IdIndex::kNone) {
        found.insert(static_cast<std::uint32_t>(id));
      }
    }
    const std::scoped_lock lock(mutex);
    lost.merge(found);
    return {};
  }));
  for (const std::uint32_t id : lost) {
    Region region;
    region.name = fmt::format("region {}", id);
    region.file_id = id;
    (void)mapping_.region_index.add(id, static_cast<std::uint32_t>(definitions_.regions.size()));
    definitions_.regions.push_back(std::move(region));
  }
  if (lost.empty()) return {};
  return work_->diagnostics.add("otf2.lost_region", Severity::data_loss, archive_->definitions.blob.place(),
                                "regions whose definitions are lost are named by their numbers", lost.size());
}

Result<void> Otf2Trace::read_notes() {
  FATHOM_TRY(const auto blob, archive_->files->of_archive("marker"));
  notes_.resize(location_count());
  if (!blob || location_count() == 0) return {};
  FATHOM_TRY(std::vector<Note> notes, otf2::read_notes(*blob, archive_->anchor.definition_chunk, work_));
  std::map<std::string, std::uint32_t, std::less<>> names;
  const ClockProperties& properties = archive_->definitions.clock;
  TickClock clock(properties.resolution, properties.global_offset);
  for (const Note& note : notes) {
    // What is not about one location is shown on the first of those it is about.
    std::size_t at = 0;
    const auto& locations = archive_->definitions.locations;
    if (note.scope == NoteScope::location) {
      const std::uint32_t position = locations.position(note.scope_id);
      if (position != IdIndex::kNone) at = position;
    } else if (note.scope == NoteScope::location_group) {
      for (std::size_t i = locations.size(); i-- > 0;) {
        if (locations.all[i].group == note.scope_id) at = i;
      }
    }
    const auto [name, is_new] = names.try_emplace(std::string(note.text), static_cast<std::uint32_t>(markers_.size()));
    if (is_new) markers_.emplace_back(note.text);
    Event event;
    event.location = LocationId(at);
    event.time_ns = clock(note.time);
    event.name = name->second;
    event.value = clock(note.time + note.duration) - event.time_ns;
    notes_[at].push_back(event);
  }
  for (auto& list : notes_) {
    std::stable_sort(list.begin(), list.end(), [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; });
  }
  return {};
}

Result<void> Otf2Trace::report(LocationId location, const Blob& blob, std::uint64_t offset, Severity severity,
                               std::string_view id, std::string text) const {
  std::atomic<std::uint64_t>& told = reported_[location.index()];
  std::uint64_t until = told.load();
  do {
    if (offset < until) return {};
  } while (!told.compare_exchange_weak(until, offset + 1));
  return work_->diagnostics.add(id, severity, blob.place(offset), std::move(text));
}

Result<std::unique_ptr<EventStream>> Otf2Trace::open(LocationId location, TimeWindow window) const {
  FATHOM_TRY(const Blob blob, archive_->events(location.index()));
  const std::span<const Event> notes = notes_[location.index()];
  const auto whole = [&]() -> std::unique_ptr<CopyableStream> {
    auto stream = std::make_unique<Otf2Stream>(*this, location, blob);
    if (notes.empty()) return stream;
    return std::make_unique<NotedStream>(std::move(stream), notes);
  };
  if (window.everything()) return std::unique_ptr<EventStream>(whole());
  return windows_[location.index()].open(window, whole, work_, meanings_);
}

std::optional<TimeWindow> Otf2Trace::span_of(std::size_t location) const {
  return ends_.empty() ? read_span(location, locals_[location]) : ends_[location].span;
}

std::uint64_t Otf2Trace::event_bytes(LocationId location) const {
  if (!ends_.empty()) return ends_[location.index()].bytes;
  const auto blob = archive_->events(location.index());
  return blob.ok() ? blob->size() : 0;
}

std::optional<TimeWindow> Otf2Trace::read_span(std::size_t location, const LocalDefinitions& local) const {
  const auto blob = archive_->events(location);
  if (!blob || blob->size() == 0) return std::nullopt;
  const auto ignore = [](const Defect&) {};
  EventFile file(*blob, archive_->anchor.event_chunk);
  EventRecord record;
  if (!file.next(record, ignore)) return std::nullopt;
  const std::uint64_t first = record.time;
  std::uint64_t last = first;
  file.to_last_chunk();
  bool any = false;
  while (file.next(record, ignore)) {
    last = std::max(last, record.time);
    any = true;
  }
  if (!any) return std::nullopt;  // it is damaged: only a pass over everything tells
  ClockCorrection correction(local.offsets);
  TickClock clock(archive_->definitions.clock.resolution, archive_->definitions.clock.global_offset);
  const auto ns = [&](std::uint64_t ticks) { return clock(correction.identity() ? ticks : correction(ticks)); };
  const std::int64_t from = ns(first);
  return TimeWindow{from, ns(last)};
}

std::optional<TimeWindow> Otf2Trace::known_span() const {
  std::call_once(span_once_, [&] {
    std::vector<std::optional<TimeWindow>> spans(location_count());
    (void)parallel_for(spans.size(), [&](std::size_t i) -> Result<void> {
      spans[i] = span_of(i);
      return {};
    });
    for (const auto& span : spans) {
      if (!span) continue;
      if (!span_) span_ = span;
      span_->from_ns = std::min(span_->from_ns, span->from_ns);
      span_->to_ns = std::max(span_->to_ns, span->to_ns);
    }
  });
  return span_;
}

std::optional<TimeWindow> Otf2Trace::location_span(LocationId location) const {
  auto span = span_of(location.index());
  // Notes are events, too.
  const std::vector<Event>& notes = notes_[location.index()];
  if (!span || notes.empty()) return span;
  span->from_ns = std::min(span->from_ns, notes.front().time_ns);
  span->to_ns = std::max(span->to_ns, notes.back().time_ns);
  return span;
}

std::optional<std::uint64_t> Otf2Trace::known_records(LocationId location) const {
  if (!ends_.empty()) return ends_[location.index()].records;
  const auto blob = archive_->events(location.index());
  if (!blob) return std::nullopt;
  return claimed_events(*blob, archive_->anchor.event_chunk);
}

Result<Blob> Otf2Trace::kept_events(std::size_t location) const {
  constexpr std::size_t kMost = 16384;  // a process may have about four times as many mapped files
  const std::scoped_lock lock(blobs_mutex_);
  if (const auto found = blobs_.find(location); found != blobs_.end()) return found->second;
  FATHOM_TRY(Blob blob, archive_->events(location));
  if (blobs_.size() == kMost) blobs_.clear();
  blobs_.emplace(location, blob);
  return blob;
}

Result<void> Otf2Trace::detail(const Event& event, std::string& out) const {
  FATHOM_CHECK(Trace::detail(event, out));
  if (event.record == Event::kNoRecord) return {};
  FATHOM_TRY(Blob blob, kept_events(event.location.index()));
  const EventFile file(std::move(blob), archive_->anchor.event_chunk);
  EventRecord record;
  if (!file.at(event.record, record)) return {};
  const EventText text(archive_->definitions, &locals_[event.location.index()]);
  if (event.kind == EventKind::marker) {
    out.clear();
    text.append_fields(record, out);
  }
  text.append_attributes(record, out);
  return {};
}

}  // namespace fathom::otf2
