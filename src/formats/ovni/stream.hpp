// A thread's file of events, and a cursor over it.
#pragma once

#include <filesystem>
#include <string>

#include "formats/ovni/event.hpp"
#include "formats/ovni/metadata.hpp"

namespace fathom::ovni {

struct Stream {
  std::string path;            // relative to the trace, as dumps print it: "loom.L/proc.P/thread.T"
  std::filesystem::path file;  // of the events
  std::filesystem::path metadata_file;
  Blob blob;
  Endian order = Endian::little;
  std::uint32_t begin = 0;  // first event: 8 behind a header, 0 without one
  Metadata metadata;
  std::string metadata_text;  // as it was read, for rewriting
};

class StreamCursor {
 public:
  explicit StreamCursor(const Stream& stream)
      : at_(stream.blob.bytes().data() + stream.begin),
        end_(stream.blob.bytes().data() + stream.blob.size()),
        order_(stream.order) {}

  // The next whole event, or false at the end or where the rest is too short for one.
  bool next(Event& event) {
    const std::uint64_t size = event_size(at_, static_cast<std::uint64_t>(end_ - at_), order_);
    if (size == 0) return false;
    event = {at_, static_cast<std::uint32_t>(size - kEventHeader), order_};
    at_ += size;
    return true;
  }
  // Bytes behind the last whole event: not 0 means that the stream is cut off.
  [[nodiscard]] std::uint64_t left() const { return static_cast<std::uint64_t>(end_ - at_); }
  [[nodiscard]] const std::byte* position() const { return at_; }

 private:
  const std::byte* at_;
  const std::byte* end_;
  Endian order_;
};

inline std::uint64_t offset_in(const Stream& stream, const std::byte* at) {
  return static_cast<std::uint64_t>(at - stream.blob.bytes().data());
}
inline Place place_in(const Stream& stream, const std::byte* at) { return stream.blob.place(offset_in(stream, at)); }

// "stream S, clock C, event MCV: why", refused, with the place of the event.
Error refuse_event(const Stream& stream, const Event& event, std::int64_t clock, std::string_view why);

}  // namespace fathom::ovni
