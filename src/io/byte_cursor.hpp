// Reads fields one after another from bytes. The first failure sticks: every later read gives zero and leaves the
// error and its offset alone, so a run of fields needs one check at the end.
#pragma once

#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/blob.hpp"

namespace fathom {

using Endian = std::endian;

template <class T>
T byte_swapped(T value) {
  if constexpr (sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(__builtin_bswap16(std::bit_cast<std::uint16_t>(value)));
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  } else {
    static_assert(sizeof(T) == 8);
    return std::bit_cast<T>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
  }
}

// An unaligned load in the given byte order; for code that has checked its bounds already.
template <class T>
T load_unchecked(const std::byte* at, Endian order = Endian::native) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return order == Endian::native ? value : byte_swapped(value);
}

class ByteCursor {
 public:
  explicit ByteCursor(Blob blob, Endian order = Endian::little) : blob_(std::move(blob)), order_(order) {}

  // `field` names what is read in the error: "row count needs 4 bytes, 1 left".
  std::uint8_t u8(const char* field) { return read<std::uint8_t>(field); }
  std::uint16_t u16(const char* field) { return read<std::uint16_t>(field); }
  std::uint32_t u32(const char* field) { return read<std::uint32_t>(field); }
  std::uint64_t u64(const char* field) { return read<std::uint64_t>(field); }
  std::int8_t i8(const char* field) { return read<std::int8_t>(field); }
  std::int16_t i16(const char* field) { return read<std::int16_t>(field); }
  std::int32_t i32(const char* field) { return read<std::int32_t>(field); }
  std::int64_t i64(const char* field) { return read<std::int64_t>(field); }
  float f32(const char* field) { return read<float>(field); }
  double f64(const char* field) { return read<double>(field); }
  Bytes bytes(std::uint64_t count, const char* field);
  // Text up to a NUL, which is consumed.
  std::string_view c_string(const char* field);
  // Fails unless the next bytes are `magic`.
  void expect(std::string_view magic, const char* field);
  void skip(std::uint64_t count, const char* field) { (void)bytes(count, field); }
  void seek(std::uint64_t offset, const char* field);

  // A count of records of at least `record_size` bytes each that must still fit: checked before anything is reserved.
  std::uint64_t count_that_fits(std::uint64_t count, std::uint64_t record_size, const char* field);

  void set_order(Endian order) { order_ = order; }
  [[nodiscard]] Endian order() const { return order_; }
  [[nodiscard]] std::uint64_t offset() const { return at_; }  // inside this blob
  [[nodiscard]] std::uint64_t remaining() const { return blob_.size() - at_; }
  [[nodiscard]] bool at_end() const { return at_ == blob_.size(); }
  [[nodiscard]] Place place() const { return blob_.place(at_); }
  [[nodiscard]] const Blob& blob() const { return blob_; }

  [[nodiscard]] bool ok() const { return !error_; }
  void fail(std::string what);
  [[nodiscard]] Result<void> status() const {
    if (error_) return *error_;
    return {};
  }

 private:
  template <class T>
  T read(const char* field) {
    if (error_ || blob_.size() - at_ < sizeof(T)) {
      fail_short(sizeof(T), field);
      return T{};
    }
    const T value = load_unchecked<T>(blob_.bytes().data() + at_, order_);
    at_ += sizeof(T);
    return value;
  }
  void fail_short(std::uint64_t needed, const char* field);

  Blob blob_;
  std::uint64_t at_ = 0;
  Endian order_;
  std::optional<Error> error_;
};

}  // namespace fathom
