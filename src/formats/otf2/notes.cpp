#include "formats/otf2/notes.hpp"

#include <algorithm>

namespace fathom::otf2 {

namespace {
enum : std::uint8_t { kDefMarker = 5, kMarker = 6 };
constexpr std::size_t kBatch = 256;
}  // namespace

Result<std::vector<Note>> read_notes(const Blob& blob, std::uint64_t chunk_size, const Work& work) {
  std::vector<Note> notes;
  RecordFile file(blob, chunk_size, work);
  Record record;
  for (;;) {
    FATHOM_TRY(const bool more, file.next(record));
    if (!more) break;
    if (record.type != kMarker) continue;  // definitions name the severity of notes, which has no place here
    Fields in = record.fields();
    Note note;
    note.time = in.c64();
    note.duration = in.c64();
    (void)in.c32();
    note.scope = static_cast<NoteScope>(in.u8());
    note.scope_id = in.c64();
    note.text = in.text();
    if (in.bad()) {
      FATHOM_CHECK(work->diagnostics.lost("otf2.bad_marker", blob.place(record.offset),
                                          "fields of a marker cannot be right; left out"));
      continue;
    }
    notes.push_back(std::move(note));
  }
  return notes;
}

Result<std::size_t> NotedStream::next(std::span<Event> out) {
  if (taken_ == waiting_.size()) {
    waiting_.clear();
    taken_ = 0;
    std::vector<Event> events(kBatch);
    FATHOM_TRY(const std::size_t count, stream_->next(events));
    for (std::size_t i = 0; i < count; ++i) {
      while (!notes_.empty() && notes_.front().time_ns < events[i].time_ns) {
        waiting_.push_back(notes_.front());
        notes_ = notes_.subspan(1);
      }
      waiting_.push_back(events[i]);
    }
    if (count == 0) {
      waiting_.assign(notes_.begin(), notes_.end());
      notes_ = {};
    }
  }
  const std::size_t count = std::min(out.size(), waiting_.size() - taken_);
  std::copy_n(waiting_.begin() + static_cast<std::ptrdiff_t>(taken_), count, out.begin());
  taken_ += count;
  return count;
}

}  // namespace fathom::otf2
