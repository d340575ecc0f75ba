// A file of records in chunks (definitions, markers): one record after another, past damage to the next chunk.
#pragma once

#include "base/work.hpp"
#include "formats/otf2/fields.hpp"

namespace fathom::otf2 {

struct Record {
  std::uint8_t type = 0;
  const std::byte* begin = nullptr;  // of the fields
  const std::byte* end = nullptr;
  std::uint64_t offset = 0;  // of the record in its file
  bool little = true;

  [[nodiscard]] Fields fields() const { return {begin, end, little}; }
};

class RecordFile {
 public:
  RecordFile(Blob blob, std::uint64_t chunk_size, Work work)
      : blob_(std::move(blob)), chunk_size_(chunk_size), work_(std::move(work)) {}

  // False at the end. Damage is noted and what follows in the same chunk left out; an error under --strict.
  Result<bool> next(Record& record);
  [[nodiscard]] bool damaged() const { return damaged_; }
  [[nodiscard]] const Blob& blob() const { return blob_; }

 private:
  Result<bool> next_chunk();
  Result<void> damage(std::uint64_t offset, std::string what);

  Blob blob_;
  std::uint64_t chunk_size_;
  Work work_;
  std::uint64_t chunk_ = 0;      // where the next chunk begins
  std::uint64_t at_ = 0;         // in the current one
  std::uint64_t chunk_end_ = 0;  // of the current one
  bool little_ = true;
  bool done_ = false;
  bool damaged_ = false;
};

}  // namespace fathom::otf2
