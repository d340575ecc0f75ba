// The records of a file of events, one after another: for surveys, checks and dumps. The mapping has a decoder of its
// own (event_stream.hpp), made for speed.
#pragma once

#include <functional>
#include <optional>

#include "formats/otf2/fields.hpp"
#include "formats/otf2/records.hpp"
#include "io/blob.hpp"

namespace fathom::otf2 {

struct EventRecord {
  std::uint8_t type = 0;
  std::uint64_t time = 0;  // ticks as recorded
  std::uint64_t offset = 0;
  const std::byte* begin = nullptr;  // of the fields
  const std::byte* end = nullptr;
  bool little = true;
  // Fields of the attribute list before it; none when begin is null.
  const std::byte* attributes = nullptr;
  const std::byte* attributes_end = nullptr;

  [[nodiscard]] Fields fields() const { return {begin, end, little}; }
};

// One record at `at` in bytes up to `end`: where its fields are and where the next begins; false = it cannot be right.
struct Extent {
  const std::byte* fields = nullptr;
  const std::byte* end = nullptr;
};
bool extent_of(const std::byte* at, const std::byte* end, bool little, Extent& extent);

struct Defect {
  std::uint64_t offset = 0;
  std::string what;
};

class EventFile {
 public:
  EventFile(Blob blob, std::uint64_t chunk_size) : blob_(std::move(blob)), chunk_size_(chunk_size) {}

  // False at the end. Damage ends a chunk; `defect` is called for each.
  bool next(EventRecord& record, const std::function<void(const Defect&)>& defect);
  // Of the event whose record (or attribute list) is at an offset, e.g. of a level's event; false = there is none.
  bool at(std::uint64_t offset, EventRecord& record) const;
  [[nodiscard]] const Blob& blob() const { return blob_; }
  // Goes on with the last chunk.
  void to_last_chunk() {
    if (blob_.size() > 0) chunk_ = chunk_end_ = at_ = (blob_.size() - 1) / chunk_size_ * chunk_size_;
  }

 private:
  bool next_chunk(const std::function<void(const Defect&)>& defect);

  Blob blob_;
  std::uint64_t chunk_size_;
  std::uint64_t chunk_ = 0;
  std::uint64_t at_ = 0;
  std::uint64_t chunk_end_ = 0;
  std::uint64_t time_ = 0;
  bool little_ = true;
  bool done_ = false;
};

// Number of events by the chunk headers, where the file ends as it should; nothing = not known without a pass.
std::optional<std::uint64_t> claimed_events(const Blob& blob, std::uint64_t chunk_size);

}  // namespace fathom::otf2
