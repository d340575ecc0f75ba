// The file of markers: notes that people or tools put to moments of a trace.
#pragma once

#include "formats/otf2/record_file.hpp"
#include "trace/window_index.hpp"

namespace fathom::otf2 {

enum class NoteScope : std::uint8_t { global, location, location_group, system_tree_node };

struct Note {
  std::uint64_t time = 0;  // ticks of the global clock
  std::uint64_t duration = 0;
  NoteScope scope = NoteScope::global;
  std::uint64_t scope_id = 0;
  std::string text;
};

Result<std::vector<Note>> read_notes(const Blob& blob, std::uint64_t chunk_size, const Work& work);

// A stream with notes put in where they belong.
class NotedStream final : public CopyableStream {
 public:
  NotedStream(std::unique_ptr<CopyableStream> stream, std::span<const Event> notes)
      : stream_(std::move(stream)), notes_(notes) {}
  NotedStream(const NotedStream& other)
      : stream_(other.stream_->copy()), notes_(other.notes_), waiting_(other.waiting_), taken_(other.taken_) {}
  NotedStream& operator=(const NotedStream&) = delete;
  Result<std::size_t> next(std::span<Event> out) override;
  [[nodiscard]] std::unique_ptr<CopyableStream> copy() const override { return std::make_unique<NotedStream>(*this); }
  [[nodiscard]] std::uint64_t bytes() const override {
    return sizeof *this + stream_->bytes() + waiting_.size() * sizeof(Event);
  }

 private:
  std::unique_ptr<CopyableStream> stream_;
  std::span<const Event> notes_;
  std::vector<Event> waiting_;
  std::size_t taken_ = 0;
};

}  // namespace fathom::otf2
