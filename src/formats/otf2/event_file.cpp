#include "formats/otf2/event_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::otf2 {

namespace {

std::uint8_t byte_at(const std::byte* at) { return static_cast<std::uint8_t>(*at); }

bool is_chunk(const std::byte* at, std::uint64_t size, bool& little) {
  if (size < kChunkHeaderSize || byte_at(at) != kChunkHeader) return false;
  little = byte_at(at + 1) == kLittle;
  return little || byte_at(at + 1) == kBig;
}

}  // namespace

bool extent_of(const std::byte* at, const std::byte* end, bool little, Extent& extent) {
  const RecordKind* const kind = find_event_kind(byte_at(at));
  if (kind != nullptr && !kind->has_length) {
    if (end - at < 2) return false;
    const std::uint8_t size = byte_at(at + 1);
    extent = {at + 1, at + 2 + (size == 0xFF ? 0 : size)};
    return (size <= 8 || size == 0xFF) && extent.end <= end;
  }
  Fields in(at + 1, end, little);
  if (!in.more()) return false;
  std::uint64_t size = in.u8();
  if (size == 0xFF) size = in.u64();
  if (in.bad() || size > in.left()) return false;
  extent = {in.at(), in.at() + size};
  return true;
}

bool EventFile::next_chunk(const std::function<void(const Defect&)>& defect) {
  while (chunk_ < blob_.size()) {
    const std::uint64_t begin = chunk_;
    const std::uint64_t size = std::min<std::uint64_t>(chunk_size_, blob_.size() - begin);
    chunk_ = chunk_end_ = begin + size;
    at_ = begin + kChunkHeaderSize;
    if (is_chunk(blob_.bytes().data() + begin, size, little_)) return true;
    defect({begin, "no chunk of events begins where one should"});
  }
  at_ = chunk_end_;
  return false;
}

bool EventFile::next(EventRecord& record, const std::function<void(const Defect&)>& defect) {
  record.attributes = record.attributes_end = nullptr;
  while (!done_) {
    const std::byte* const bytes = blob_.bytes().data();
    if (at_ >= chunk_end_) {
      record.attributes = nullptr;
      if (!next_chunk(defect)) {
        done_ = true;
        defect(
            {blob_.size(), blob_.size() == 0 ? "the file is empty" : "the file ends without an end: it was cut off"});
      }
      continue;
    }
    const std::uint8_t type = byte_at(bytes + at_);
    if (type == kEndOfFile) {
      done_ = true;
      continue;
    }
    if (type == kEndOfChunk) {
      at_ = chunk_end_;
      continue;
    }
    if (type == kTimestamp && chunk_end_ - at_ >= 9) {
      time_ = load_bytes(bytes + at_ + 1, 8, little_);
      at_ += 9;
      continue;
    }
    Extent extent;
    if (type == kTimestamp || !extent_of(bytes + at_, bytes + chunk_end_, little_, extent)) {
      defect({at_, fmt::format("a record of type {} has an impossible size", type)});
      at_ = chunk_end_;
      continue;
    }
    const std::uint64_t offset = at_;
    at_ = static_cast<std::uint64_t>(extent.end - bytes);
    if (type == kAttributeList) {
      record.attributes = extent.fields;
      record.attributes_end = extent.end;
      continue;
    }
    record.type = type;
    record.time = time_;
    record.offset = offset;
    record.begin = extent.fields;
    record.end = extent.end;
    record.little = little_;
    return true;
  }
  return false;
}

bool EventFile::at(std::uint64_t offset, EventRecord& record) const {
  if (offset >= blob_.size()) return false;
  const std::byte* const bytes = blob_.bytes().data();
  const std::uint64_t chunk = offset / chunk_size_ * chunk_size_;
  const std::uint64_t end = std::min<std::uint64_t>(chunk_size_, blob_.size() - chunk) + chunk;
  if (!is_chunk(bytes + chunk, end - chunk, record.little)) return false;
  record.attributes = record.attributes_end = nullptr;
  Extent extent;
  for (const std::byte* at = bytes + offset; at < bytes + end; at = extent.end) {
    // Between an attribute list and its event a time may stand.
    if (byte_at(at) == kTimestamp) {
      if (bytes + end - at < 9) return false;
      extent.end = at + 9;
      continue;
    }
    if (byte_at(at) < kAttributeList || !extent_of(at, bytes + end, record.little, extent)) return false;
    if (byte_at(at) != kAttributeList) {
      record.type = byte_at(at);
      record.offset = offset;
      record.begin = extent.fields;
      record.end = extent.end;
      return true;
    }
    record.attributes = extent.fields;
    record.attributes_end = extent.end;
  }
  return false;
}

std::optional<std::uint64_t> claimed_events(const Blob& blob, std::uint64_t chunk_size) {
  if (blob.size() == 0) return std::uint64_t{0};
  const std::uint64_t last = (blob.size() - 1) / chunk_size * chunk_size;
  const std::byte* const at = blob.bytes().data() + last;
  bool little = true;
  if (!is_chunk(at, blob.size() - last, little)) return std::nullopt;
  // The end of the file, then the end of the buffer.
  const std::byte* const end = blob.bytes().data() + blob.size();
  if (blob.size() - last < kChunkHeaderSize + 2 || byte_at(end - 1) != kEndOfBuffer || byte_at(end - 2) != kEndOfFile) {
    return std::nullopt;
  }
  const std::uint64_t number = load_bytes(at + 10, 8, little);
  // A record takes two bytes at the least.
  if (number > blob.size() / 2) return std::nullopt;
  return number;
}

}  // namespace fathom::otf2
