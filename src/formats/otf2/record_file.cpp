#include "formats/otf2/record_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/otf2/records.hpp"

namespace fathom::otf2 {

Result<void> RecordFile::damage(std::uint64_t offset, std::string what) {
  damaged_ = true;
  at_ = chunk_end_;
  return work_->diagnostics.lost("otf2.damaged_records", blob_.place(offset), std::move(what));
}

Result<bool> RecordFile::next_chunk() {
  while (chunk_ < blob_.size()) {
    const std::uint64_t begin = chunk_;
    const std::uint64_t size = std::min<std::uint64_t>(chunk_size_, blob_.size() - begin);
    const std::byte* const bytes = blob_.bytes().data() + begin;
    chunk_ = begin + size;
    chunk_end_ = chunk_;
    const auto order = size >= 2 ? static_cast<std::uint8_t>(bytes[1]) : std::uint8_t{0};
    if (size < kChunkHeaderSize || static_cast<std::uint8_t>(bytes[0]) != kChunkHeader ||
        (order != kLittle && order != kBig)) {
      FATHOM_CHECK(damage(begin, "no chunk of records begins where one should"));
      continue;
    }
    little_ = order == kLittle;
    at_ = begin + kChunkHeaderSize;
    return true;
  }
  return false;
}

Result<bool> RecordFile::next(Record& record) {
  while (!done_) {
    if (at_ >= chunk_end_) {
      if (chunk_ >= blob_.size()) {
        // A sound file says that it ends.
        done_ = true;
        FATHOM_CHECK(damage(blob_.size(), "the file ends without an end: it was cut off"));
        return false;
      }
      FATHOM_TRY(const bool more, next_chunk());
      if (!more) continue;
    }
    const std::byte* const bytes = blob_.bytes().data();
    const std::uint64_t offset = at_;
    const auto type = static_cast<std::uint8_t>(bytes[at_++]);
    if (type == kEndOfFile) {
      done_ = true;
      return false;
    }
    if (type == kEndOfChunk) {
      at_ = chunk_end_;
      continue;
    }
    Fields length(bytes + at_, bytes + chunk_end_, little_);
    std::uint64_t size = length.u8(0xFF);
    if (size == 0xFF) size = length.u64();
    const auto begin = static_cast<std::uint64_t>(length.at() - bytes);
    if (length.bad() || size > chunk_end_ - begin) {
      FATHOM_CHECK(damage(offset, fmt::format("a record of type {} is longer than its chunk", type)));
      continue;
    }
    at_ = begin + size;
    record = {type, bytes + begin, bytes + at_, offset, little_};
    return true;
  }
  return false;
}

}  // namespace fathom::otf2
