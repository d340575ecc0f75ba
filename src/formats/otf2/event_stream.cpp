#include "formats/otf2/event_stream.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/otf2/event_file.hpp"
#include "formats/otf2/fast_fields.hpp"

namespace fathom::otf2 {

namespace {

// Where times go back, that many events wait for late ones.
constexpr std::size_t kSortWindow = 32768;
// How far down a stack a leave looks for its region.
constexpr std::size_t kSearchDepth = 256;
// Records without a length: one compact integer and nothing else.
constexpr std::array<bool, 256> kSingle = [] {
  std::array<bool, 256> single{};
  for (const std::uint8_t type : {event::enter, event::leave, event::mpi_isend_complete, event::mpi_irecv_request,
                                  event::mpi_request_test, event::mpi_request_cancelled, event::omp_fork,
                                  event::omp_task_create, event::omp_task_switch, event::omp_task_complete}) {
    single[type] = true;
  }
  return single;
}();

}  // namespace

Otf2Stream::Otf2Stream(const Otf2Trace& trace, LocationId location, Blob blob)
    : trace_(trace),
      map_(trace.mapping()),
      local_(trace.local(location)),
      location_(location),
      blob_(std::move(blob)),
      chunk_size_(trace.archive().anchor.event_chunk),
      regions_(map_.region_index, local_.maps[static_cast<std::size_t>(IdKind::region)].get()),
      comms_(trace.archive().definitions.comms.index, local_.maps[static_cast<std::size_t>(IdKind::comm)].get()),
      metrics_(map_.metric_index, local_.maps[static_cast<std::size_t>(IdKind::metric)].get()),
      contexts_(trace.archive().definitions.contexts.index,
                local_.maps[static_cast<std::size_t>(IdKind::calling_context)].get()),
      correction_(local_.offsets),
      clock_(trace.archive().definitions.clock.resolution, trace.archive().definitions.clock.global_offset),
      rank_(map_.rank_of_location[location.index()]),
      bytes_(blob_.bytes().data()),
      at_(bytes_),
      chunk_end_(bytes_),
      limit_(bytes_ + blob_.size()) {}

Result<void> Otf2Stream::damage(std::uint64_t offset, std::string what) {
  broken_ = true;
  return trace_.report(location_, blob_, offset, Severity::data_loss, "otf2.damaged_events", std::move(what));
}

void Otf2Stream::set_time(std::uint64_t ticks) {
  time_ns_ = clock_(correction_.identity() ? ticks : correction_(ticks));
}

std::uint64_t Otf2Stream::bytes() const {
  std::uint64_t frames = stack_.size();
  for (const auto& [task, stack] : suspended_) frames += stack.size();
  return sizeof *this + frames * sizeof(Frame) + suspended_.size() * sizeof(*suspended_.begin()) + requests_.bytes() +
         operations_.bytes() + (further_.size() + waiting_.size()) * sizeof(Event);
}

Otf2Stream::Survey Otf2Stream::survey(std::uint64_t chunk) const {
  Survey made;
  const std::byte* const end = bytes_ + std::min<std::uint64_t>(chunk + chunk_size_, blob_.size());
  Extent extent;
  for (const std::byte* at = bytes_ + chunk + kChunkHeaderSize; at < end;) {
    const std::uint8_t type = byte_at(at);
    if (type == kTimestamp) {
      if (end - at < 9) break;
      const auto ticks = load_unchecked<std::uint64_t>(at + 1, little_ ? Endian::little : Endian::big);
      at += 9;
      if (made.any && ticks < made.last) {
        made.ordered = false;
        return made;
      }
      made.any = true;
      made.last = ticks;
      continue;
    }
    if (type < kTimestamp || end - at < 2) break;
    const std::uint8_t size = byte_at(at + 1);
    if (size != 0xFF) {
      at += 2 + size;  // of a length or of the one integer that there is
      continue;
    }
    if (!extent_of(at, end, little_, extent)) break;
    at = extent.end;
  }
  return made;
}

std::optional<std::uint64_t> Otf2Stream::first_time(std::uint64_t chunk) const {
  if (blob_.size() < chunk + kChunkHeaderSize + 9) return std::nullopt;
  const std::byte* const at = bytes_ + chunk;
  if (byte_at(at) != kChunkHeader || byte_at(at + kChunkHeaderSize) != kTimestamp) return std::nullopt;
  const bool little = byte_at(at + 1) == kLittle;
  return load_unchecked<std::uint64_t>(at + kChunkHeaderSize + 1, little ? Endian::little : Endian::big);
}

Result<bool> Otf2Stream::next_chunk() {
  while (chunk_ < blob_.size()) {
    const std::uint64_t begin = chunk_;
    const std::uint64_t size = std::min<std::uint64_t>(chunk_size_, blob_.size() - begin);
    chunk_ += size;
    broken_ = false;
    attributes_ = Event::kNoRecord;
    const std::byte* const at = bytes_ + begin;
    if (size < kChunkHeaderSize || byte_at(at) != kChunkHeader ||
        (byte_at(at + 1) != kLittle && byte_at(at + 1) != kBig)) {
      FATHOM_CHECK(damage(begin, "no chunk of events begins where one should"));
      continue;
    }
    little_ = byte_at(at + 1) == kLittle;
    at_ = at + kChunkHeaderSize;
    chunk_end_ = at + size;
    if (!sorting_) {
      const Survey found = survey(begin);
      const auto next = first_time(chunk_);
      sorting_ = !found.ordered || (found.any && next && *next < found.last);
      if (sorting_) {
        FATHOM_CHECK(
            trace_.report(location_, blob_, begin, Severity::warning, "otf2.unsorted",
                          fmt::format("times go back in this chunk; sorted in a window of {} events", kSortWindow)));
      }
    }
    return true;
  }
  at_ = chunk_end_ = limit_;
  done_ = true;
  // A location without events need not have a file.
  if (blob_.size() == 0 && trace_.archive().definitions.locations.all[location_.index()].events == 0) return false;
  // The end of a file is a record of its own, which damage before it may have taken away.
  if (broken_) return false;
  FATHOM_CHECK(damage(blob_.size(), blob_.size() == 0 ? "there are no events: the file is missing or empty"
                                                      : "the file ends without an end: it was cut off"));
  return false;
}

void Otf2Stream::leave(std::uint32_t region) {
  if (!stack_.empty() && stack_.back().region == region) {
    stack_.pop_back();
    return;
  }
  const std::size_t depth = std::min(stack_.size(), kSearchDepth);
  for (std::size_t i = 1; i <= depth; ++i) {
    if (stack_[stack_.size() - i].region != region) continue;
    stack_.resize(stack_.size() - i);
    return;
  }
}

void Otf2Stream::switch_task(std::int64_t task) {
  if (task == task_) return;
  suspended_[task_] = std::move(stack_);
  task_ = task;
  stack_.clear();
  if (const auto found = suspended_.find(task); found != suspended_.end()) {
    stack_ = std::move(found->second);
    suspended_.erase(found);
  }
}

void Otf2Stream::end_task(std::int64_t task) {
  if (task == 0) return;
  if (task != task_) {
    suspended_.erase(task);
    return;
  }
  switch_task(0);
  suspended_.erase(task);
}

template <bool little>
Result<std::size_t> Otf2Stream::decode(std::span<Event> out) {
  Event prototype;
  prototype.location = location_;
  Event* to = out.data();
  Event* const stop = to + out.size();
  const std::byte* at = at_;
  const std::byte* const end = chunk_end_;
  while (to != stop && at < end) {
    const std::uint8_t type = byte_at(at);
    if (type == kTimestamp) {
      if (end - at < 9) {
        FATHOM_CHECK(damage(static_cast<std::uint64_t>(at - bytes_), "a time runs over the end of the chunk"));
        at = end;
        break;
      }
      set_time(load_unchecked<std::uint64_t>(at + 1, little ? Endian::little : Endian::big));
      at += 9;
      continue;
    }
    const auto offset = static_cast<std::uint64_t>(at - bytes_);
    if (type < kTimestamp) {
      if (type == kEndOfFile) {
        done_ = true;
        chunk_ = blob_.size();
      } else if (type != kEndOfChunk) {
        FATHOM_CHECK(damage(offset, fmt::format("{} is no type of a record", type)));
      }
      at = end;
      break;
    }
    if (type == kAttributeList) {
      Extent extent;
      if (!extent_of(at, end, little, extent)) {
        FATHOM_CHECK(damage(offset, "an attribute list has an impossible size"));
        at = end;
        break;
      }
      attributes_ = offset;
      at = extent.end;
      continue;
    }
    Event& event = *to;
    event = prototype;
    event.time_ns = time_ns_;
    event.record = attributes_ == Event::kNoRecord ? offset : std::exchange(attributes_, Event::kNoRecord);
    Outcome outcome = Outcome::event;
    if (type == event::enter || type == event::leave) {
      std::uint64_t id = 0;
      ++at;
      if (compact<little>(at, end, limit_, 4, id)) [[likely]] {
        event.name = regions_(static_cast<std::uint32_t>(id));
        if (event.name == IdIndex::kNone) {
          event.name = Event::kNoName;
          if (undefined_regions_++ == 0) undefined_region_ = static_cast<std::uint32_t>(id);
        }
        if (type == event::enter) {
          event.kind = EventKind::enter;
          stack_.push_back({event.name, time_ns_});
        } else {
          event.kind = EventKind::leave;
          leave(event.name);
        }
        ++to;
        continue;
      }
      outcome = Outcome::bad;
    } else {
      Extent extent;
      // Nearly all records are short.
      if (!kSingle[type] && end - at >= 2 && byte_at(at + 1) != 0xFF) {
        extent = {at + 2, at + 2 + byte_at(at + 1)};
        if (extent.end > end) outcome = Outcome::bad;
      } else if (!extent_of(at, end, little, extent)) {
        outcome = Outcome::bad;
      }
      if (outcome == Outcome::bad) {
        // told below
      } else if (type == event::metric) {
        Event made = event;
        outcome = decode_metric<little>(extent.fields, extent.end, to, stop, made) ? Outcome::nothing : Outcome::bad;
      } else if (kSingle[type]) {
        // One integer: requests and the tasks and forks of old.
        const std::byte* field = extent.fields;
        std::uint64_t number = 0;
        if (!compact<little>(field, extent.end, limit_, 8, number)) outcome = Outcome::bad;
        event.name = map_.marker_of_type[type];
        event.value = static_cast<std::int64_t>(number);
        if (outcome == Outcome::bad) {
          // told below
        } else if (type == event::mpi_irecv_request) {
          requests_.put(number, {event.record, time_ns_});
          outcome = Outcome::nothing;
        } else if (type == event::mpi_isend_complete || type == event::mpi_request_cancelled) {
          event.value = 0;
          outcome = complete(requests_, number, event);
        } else if (type == event::omp_task_switch) {
          switch_task(event.value);
        } else if (type == event::omp_task_complete) {
          end_task(event.value);
        }
      } else {
        outcome = decode_record<little>(type, extent.fields, extent.end, event);
      }
      if (outcome != Outcome::bad) at = extent.end;
      if (outcome == Outcome::nothing && type != event::metric) {
        silent_ = prototype;
        silent_->time_ns = time_ns_;
        silent_->record = event.record;
        silent_->name = map_.marker_of_type[type];
        silent_->has_value = false;
      }
    }
    if (outcome == Outcome::bad) {
      FATHOM_CHECK(damage(offset, fmt::format("a record of type {} ({}) cannot be right: the rest of its chunk is left "
                                              "out",
                                              type, find_event_kind(type) ? find_event_kind(type)->name : "unknown")));
      at = end;
      break;
    }
    if (outcome == Outcome::event) ++to;
  }
  at_ = at;
  if (to != out.data()) last_record_ = (to - 1)->record;
  return static_cast<std::size_t>(to - out.data());
}

// What begins as the last thing of all is over for nobody, and no event tells of it: so that it is seen what a program
// was about to do when it ended.
std::size_t Otf2Stream::last_words(std::span<Event> out) {
  if (!silent_ || (last_record_ != Event::kNoRecord && last_record_ > silent_->record)) return 0;
  out.front() = *silent_;
  silent_.reset();
  return 1;
}

// Events up to the end of a chunk; none at the end of all and where the order begins to matter.
Result<std::size_t> Otf2Stream::pull(std::span<Event> out) {
  if (further_taken_ < further_.size()) {
    const std::size_t count = std::min(out.size(), further_.size() - further_taken_);
    std::copy_n(further_.begin() + static_cast<std::ptrdiff_t>(further_taken_), count, out.begin());
    further_taken_ += count;
    if (further_taken_ == further_.size()) {
      further_.clear();
      further_taken_ = 0;
    }
    return count;
  }
  for (;;) {
    if (at_ == chunk_end_) {
      if (done_) return last_words(out);
      const bool before = sorting_;
      FATHOM_TRY(const bool more, next_chunk());
      if (!more) return last_words(out);
      if (sorting_ != before) return std::size_t{0};
    }
    FATHOM_TRY(const std::size_t count, little_ ? decode<true>(out) : decode<false>(out));
    if (count > 0) return count;
  }
}

Result<std::size_t> Otf2Stream::next_sorted(std::span<Event> out) {
  if (waiting_taken_ == waiting_ready_) {
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(waiting_taken_));
    waiting_taken_ = waiting_ready_ = 0;
    bool ended = false;
    while (waiting_.size() < 2 * kSortWindow) {
      const std::size_t old = waiting_.size();
      waiting_.resize(old + 1024);
      auto pulled = pull(std::span(waiting_).subspan(old));
      if (!pulled) return std::move(pulled).error();
      waiting_.resize(old + *pulled);
      if (*pulled > 0) continue;
      ended = done_;
      if (ended) break;
    }
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; });
    waiting_ready_ = ended ? waiting_.size() : waiting_.size() - kSortWindow;
    for (std::size_t i = 0; i < waiting_ready_ && waiting_[i].time_ns < released_ns_; ++i) ++late_;
    if (waiting_ready_ > 0) released_ns_ = std::max(released_ns_, waiting_[waiting_ready_ - 1].time_ns);
  }
  const std::size_t count = std::min(out.size(), waiting_ready_ - waiting_taken_);
  std::copy_n(waiting_.begin() + static_cast<std::ptrdiff_t>(waiting_taken_), count, out.begin());
  waiting_taken_ += count;
  return count;
}

Result<std::size_t> Otf2Stream::next(std::span<Event> out) {
  if (out.empty()) return std::size_t{0};
  if (!sorting_) {
    FATHOM_TRY(const std::size_t count, pull(out));
    if (count > 0) return count;
  }
  if (sorting_) {
    FATHOM_TRY(const std::size_t count, next_sorted(out));
    if (count > 0) return count;
  }
  FATHOM_CHECK(finish());
  return std::size_t{0};
}

Result<void> Otf2Stream::finish() {
  if (std::exchange(finished_, true) || !trace_.first_to_finish(location_)) return {};
  Diagnostics& diagnostics = trace_.archive().work->diagnostics;
  const auto note = [&](std::string_view id, Severity severity, std::uint64_t count, std::string text) -> Result<void> {
    if (count == 0) return {};
    return diagnostics.add(id, severity, Place::in(blob_.name()), std::move(text), count);
  };
  FATHOM_CHECK(note("otf2.late", Severity::warning, late_,
                    "events are out of order by more than can be sorted while reading; they come late"));
  FATHOM_CHECK(note("otf2.undefined_region", Severity::warning, undefined_regions_,
                    fmt::format("events name regions that are not defined, first {}", undefined_region_)));
  FATHOM_CHECK(note("otf2.bad_rank", Severity::warning, bad_ranks_,
                    "messages name ranks that their communicator does not have; their peer is unknown"));
  FATHOM_CHECK(
      note("otf2.bad_length", Severity::warning, bad_lengths_, "messages of an impossible length count as 0 bytes"));
  FATHOM_CHECK(note("otf2.unknown_event", Severity::warning, unknown_,
                    fmt::format("events of unknown types, first {}: shown as markers", unknown_type_)));
  return note("otf2.open_requests", Severity::info, requests_.size() + operations_.size(),
              "requests and operations that never complete");
}

}  // namespace fathom::otf2
