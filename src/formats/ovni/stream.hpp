// A thread's file of events, and a cursor over it.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "formats/ovni/event.hpp"
#include "formats/ovni/metadata.hpp"
#include "io/file_on_demand.hpp"

namespace fathom::ovni {

// The bytes of a stream: opened by whoever reads them first, and there from then on. Cheap to copy: all copies are the
// same file. MT: safe.
class StreamBytes {
 public:
  StreamBytes() = default;
  explicit StreamBytes(FileOnDemand file) : state_(std::make_shared<State>()) { state_->file = std::move(file); }
  explicit StreamBytes(Blob blob) : StreamBytes(FileOnDemand(std::move(blob))) {}

  [[nodiscard]] std::uint64_t size() const { return state_ == nullptr ? 0 : state_->file.size(); }
  [[nodiscard]] Place place(std::uint64_t at = 0) const { return state_ == nullptr ? Place{} : state_->file.place(at); }
  [[nodiscard]] Bytes bytes() const {
    if (state_ == nullptr) return {};
    std::call_once(state_->opened, [&] { state_->held = state_->file.hold(); });
    return state_->held->bytes();
  }
  [[nodiscard]] std::string_view text() const { return as_text(bytes()); }
  [[nodiscard]] bool starts_with(std::string_view magic) const { return text().starts_with(magic); }

 private:
  struct State {
    FileOnDemand file;
    std::once_flag opened;
    std::shared_ptr<const Blob> held;
  };
  std::shared_ptr<State> state_;
};

struct Stream {
  std::string path;            // relative to the trace, as dumps print it: "loom.L/proc.P/thread.T"
  std::filesystem::path file;  // of the events
  std::filesystem::path metadata_file;
  StreamBytes blob;
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
