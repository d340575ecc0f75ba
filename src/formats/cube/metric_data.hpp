// The values of one metric: its index member, which says what rows there are, and its data member, which holds them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "defs/value_type.hpp"
#include "io/blob.hpp"
#include "io/byte_cursor.hpp"

namespace fathom::cube {

// CUBEX.INDEX. Entries are enumeration numbers of cnodes, not their ids.
struct MetricIndex {
  Endian order = Endian::little;
  std::uint16_t version = 0;
  bool dense = false;
  std::vector<std::uint32_t> rows;  // of a sparse index, in file order
};

Result<MetricIndex> read_index(const Blob& blob, std::size_t cnodes, const Work& work);

// MT: safe (const).
class MetricData {
 public:
  struct Shape {
    ValueType type;
    std::uint32_t locations = 0;
    std::size_t cnodes = 0;
  };

  // A metric without members: no rows.
  MetricData() = default;
  static Result<MetricData> read(const Blob& index, const Blob& data, const Shape& shape, const Work& work);

  [[nodiscard]] const MetricIndex& index() const { return index_; }
  [[nodiscard]] bool compressed() const { return compressed_; }
  // Sub-headers of a compressed member with 4-byte fields, as the published description has them.
  [[nodiscard]] bool short_headers() const { return short_headers_; }
  [[nodiscard]] std::size_t row_bytes() const { return row_bytes_; }
  [[nodiscard]] std::size_t row_count() const { return row_count_; }
  // Enumeration number of a stored row.
  [[nodiscard]] std::uint32_t number(std::size_t row) const {
    return index_.dense ? static_cast<std::uint32_t>(row) : index_.rows[row];
  }

  // The values of a row in native byte order: in the file itself where that is possible, otherwise in `scratch`.
  // Null when the row is not there, which counts as zeros.
  Result<const std::byte*> row(std::size_t row, std::vector<std::byte>& scratch) const;

 private:
  struct Stream {
    std::uint64_t at = 0;  // in the member
    std::uint64_t size = 0;
  };
  Result<void> read_plain(const Work& work, std::size_t cnodes);
  Result<void> read_compressed(const Work& work);
  template <class Word>
  Result<std::vector<Stream>> read_streams(bool in_order) const;
  [[nodiscard]] Place place_of(std::size_t row) const;

  MetricIndex index_;
  Blob data_;
  ValueType type_;
  std::size_t row_bytes_ = 0;
  std::size_t row_count_ = 0;
  bool compressed_ = false;
  bool short_headers_ = false;
  std::vector<Stream> streams_;  // by row, when compressed
};

}  // namespace fathom::cube
