#include "formats/cube/metric_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "formats/cube/byte_order.hpp"
#include "io/inflate.hpp"

namespace fathom::cube {

namespace {

constexpr std::string_view kIndexMark = "CUBEX.INDEX";
constexpr std::string_view kPlainMark = "CUBEX.DATA";
constexpr std::string_view kPackedMark = "ZCUBEX.DATA";
constexpr std::uint8_t kSparse = 1;
constexpr std::uint8_t kDense = 3;
// No deflate stream unpacks to more than this many times its size.
constexpr std::uint64_t kMaxDeflateRatio = 1032;

bool all_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

// u32 1 in the writer's byte order; u16 version; u8 format; for a sparse one u32 count and the row numbers.
Result<MetricIndex> read_index(const Blob& blob, std::size_t cnodes, const Work& work) {
  MetricIndex index;
  ByteCursor cursor(blob);
  cursor.expect(kIndexMark, "index mark");
  const std::uint32_t order = cursor.u32("byte order word");
  if (cursor.ok() && order != 1 && order != 0x01000000) {
    return Error(fmt::format("byte order word: expected 1 or 0x01000000, found {:#x}", order),
                 blob.place(kIndexMark.size()));
  }
  index.order = order == 1 ? Endian::little : Endian::big;
  cursor.set_order(index.order);
  index.version = cursor.u16("index version");
  const Place format_place = cursor.place();
  const std::uint8_t format = cursor.u8("index format");
  FATHOM_CHECK(cursor.status());
  if (index.version != 0) {
    FATHOM_CHECK(work->diagnostics.warn("cube.index_version", blob.place(15),
                                        fmt::format("index version {}; only 0 is known", index.version)));
  }
  if (format != kSparse && format != kDense) {
    return Error(fmt::format("index format: expected 1 (sparse) or 3 (dense), found {}", format), format_place);
  }
  index.dense = format == kDense;
  // A sparse index that ends here has no rows.
  if (!index.dense && !cursor.at_end()) {
    const std::uint32_t count = cursor.u32("row count");
    const std::uint64_t rows = cursor.count_that_fits(count, sizeof(std::uint32_t), "row count");
    FATHOM_CHECK(cursor.status());
    if (rows > cnodes) {
      return Error(fmt::format("row count {} exceeds the {} cnodes", rows, cnodes), blob.place(18));
    }
    const std::uint64_t list_at = cursor.offset();
    index.rows.resize(rows);
    for (std::uint32_t& row : index.rows) row = cursor.u32("row number");
    bool ascending = true;
    std::vector<bool> seen(cnodes);
    for (std::size_t i = 0; i < rows; ++i) {
      const std::uint32_t row = index.rows[i];
      const Place place = blob.place(list_at + i * sizeof(std::uint32_t));
      if (row >= cnodes) return Error(fmt::format("row number {}: expected less than {} cnodes", row, cnodes), place);
      if (seen[row]) return Error(fmt::format("row number {} occurs twice", row), place);
      seen[row] = true;
      if (i > 0 && row < index.rows[i - 1] && std::exchange(ascending, false)) {
        FATHOM_CHECK(
            work->diagnostics.warn("cube.index_order", place,
                                   fmt::format("row numbers are not ascending: {} after {}", row, index.rows[i - 1])));
      }
    }
  }
  FATHOM_CHECK(cursor.status());
  if (!cursor.at_end()) {
    return Error(fmt::format("{} bytes behind the end of the index", cursor.remaining()), cursor.place());
  }
  return index;
}

Result<MetricData> MetricData::read(const Blob& index, const Blob& data, const Shape& shape, const Work& work) {
  MetricData out;
  FATHOM_TRY(out.index_, read_index(index, shape.cnodes, work));
  out.data_ = data;
  out.type_ = shape.type;
  out.row_bytes_ = shape.type.size() * shape.locations;
  out.row_count_ = out.index_.dense ? shape.cnodes : out.index_.rows.size();
  if (data.starts_with(kPackedMark)) {
    out.compressed_ = true;
    FATHOM_CHECK(out.read_compressed(work));
  } else {
    FATHOM_CHECK(out.read_plain(work, shape.cnodes));
  }
  return out;
}

Result<void> MetricData::read_plain(const Work& work, std::size_t cnodes) {
  ByteCursor cursor(data_);
  cursor.expect(kPlainMark, "data mark");
  FATHOM_CHECK(cursor.status());
  const std::uint64_t found = cursor.remaining();
  const auto rows_found = found / row_bytes_;
  if (rows_found < row_count_) {
    return Error(
        fmt::format("data are truncated: {} rows of {} bytes expected, {} bytes found", row_count_, row_bytes_, found),
        data_.place(data_.size()));
  }
  const std::uint64_t expected = row_count_ * row_bytes_;
  if (found == expected) return {};
  // The writer of some 4.0 files left whole rows of zeros that no index entry belongs to.
  const Bytes surplus = data_.bytes().subspan(kPlainMark.size() + expected);
  const Place place = data_.place(kPlainMark.size() + expected);
  if (surplus.size() % row_bytes_ != 0 || rows_found > cnodes || !all_zero(surplus)) {
    return Error(fmt::format("{} bytes behind the last row: {} rows of {} bytes expected", surplus.size(), row_count_,
                             row_bytes_),
                 place);
  }
  return work->diagnostics.warn(
      "cube.surplus_rows", place,
      fmt::format("{} rows of zeros that the index does not name are ignored", surplus.size() / row_bytes_));
}

// count, then count × (start in the plain data, start in the packed data, packed size), then the packed rows.
// Some readers of 4-byte fields take no notice of the starts and go by the sizes alone: `in_order` does so too, when
// the sizes fill the member exactly.
template <class Word>
Result<std::vector<MetricData::Stream>> MetricData::read_streams(bool in_order) const {
  ByteCursor cursor(data_, index_.order);
  cursor.expect(kPackedMark, "data mark");
  const auto word = [&](const char* field) -> std::uint64_t {
    if constexpr (sizeof(Word) == 8) return cursor.u64(field);
    return cursor.u32(field);
  };
  const Place count_place = cursor.place();
  const std::uint64_t count =
      cursor.count_that_fits(word("number of packed rows"), 3 * sizeof(Word), "number of packed rows");
  FATHOM_CHECK(cursor.status());
  // Rows may be missing, but the description of 4-byte fields wants them all.
  if (count > row_count_ || (sizeof(Word) == 4 && count != row_count_)) {
    return Error(fmt::format("{} packed rows, but the index names {}", count, row_count_), count_place);
  }
  const std::uint64_t base = cursor.offset() + count * 3 * sizeof(Word);
  const std::uint64_t room = data_.size() - base;
  std::uint64_t filled = 0;
  std::vector<Stream> streams(row_count_);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Place place = cursor.place();
    std::uint64_t plain = word("start of the row");
    std::uint64_t packed = word("start of the packed row");
    if (in_order) {
      plain = i * row_bytes_;
      packed = filled;
    }
    const std::uint64_t size = word("size of the packed row");
    if (plain % row_bytes_ != 0 || plain / row_bytes_ >= row_count_) {
      return Error(
          fmt::format("packed row {}: starts at byte {} of the plain data, which is not one of {} rows of {} bytes", i,
                      plain, row_count_, row_bytes_),
          place);
    }
    if (packed > room || size > room - packed) {
      return Error(fmt::format("packed row {}: bytes {} to {}+{} lie outside the member ({} bytes of packed data)", i,
                               packed, packed, size, room),
                   place);
    }
    Stream& stream = streams[plain / row_bytes_];
    if (stream.size != 0) return Error(fmt::format("packed row {}: its row occurs twice", i), place);
    if (size == 0 || row_bytes_ / kMaxDeflateRatio > size) {
      return Error(fmt::format("packed row {}: {} bytes cannot unpack to a row of {} bytes", i, size, row_bytes_),
                   place);
    }
    stream = {base + packed, size};
    filled += size;
  }
  if (in_order && filled != room) return Error("packed rows do not fill the member", count_place);
  return streams;
}

Result<void> MetricData::read_compressed(const Work& work) {
  auto wide = read_streams<std::uint64_t>(false);
  if (wide) {
    streams_ = std::move(wide).value();
    return {};
  }
  // The published description of the format has 4-byte fields; sizes and offsets show whether this is such a file.
  auto narrow = read_streams<std::uint32_t>(false);
  if (!narrow) narrow = read_streams<std::uint32_t>(true);
  if (!narrow) return std::move(wide).error();
  short_headers_ = true;
  streams_ = std::move(narrow).value();
  work->diagnostics.info("cube.short_headers", data_.place(kPackedMark.size()),
                         "packed rows are described by 4-byte fields");
  return {};
}

Place MetricData::place_of(std::size_t row) const {
  return data_.place(compressed_ ? streams_[row].at : kPlainMark.size() + row * row_bytes_);
}

Result<const std::byte*> MetricData::row(std::size_t row, std::vector<std::byte>& scratch) const {
  const bool swap = index_.order != Endian::native;
  if (!compressed_) {
    const std::byte* at = data_.bytes().data() + kPlainMark.size() + row * row_bytes_;
    if (!swap) return at;
    scratch.resize(row_bytes_);
    std::memcpy(scratch.data(), at, row_bytes_);
  } else {
    const Stream& stream = streams_[row];
    if (stream.size == 0) return static_cast<const std::byte*>(nullptr);
    scratch.resize(row_bytes_);
    auto status = inflate_exact(data_.bytes().subspan(stream.at, stream.size), scratch);
    if (!status) return std::move(status).error().with(fmt::format("packed row {}", row)).where(place_of(row));
  }
  if (swap) swap_values(type_, scratch.data(), row_bytes_ / type_.size(), false);
  return static_cast<const std::byte*>(scratch.data());
}

}  // namespace fathom::cube
