// Bytes to be written, in one byte order.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "io/byte_cursor.hpp"

namespace fathom::hpctoolkit {

class ByteBuffer {
 public:
  explicit ByteBuffer(Endian order) : order_(order) {}

  template <class T>
  void put(T value) {
    if (order_ != Endian::native) value = byte_swapped(value);
    const auto* at = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), at, at + sizeof(T));
  }
  void put_text(std::string_view text) { append(as_bytes(text)); }
  void append(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void zeros(std::size_t count) { bytes_.resize(bytes_.size() + count); }
  void align(std::size_t to) { bytes_.resize((bytes_.size() + to - 1) / to * to); }
  // Grows to `size`, with zeros.
  void pad_to(std::size_t size) { bytes_.resize(std::max(size, bytes_.size())); }

  template <class T>
  void replace(std::size_t at, T value) {
    store(bytes_.data() + at, value, order_);
  }
  template <class T>
  static void store(std::byte* at, T value, Endian order) {
    if (order != Endian::native) value = byte_swapped(value);
    std::memcpy(at, &value, sizeof(T));
  }

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] std::byte* data() { return bytes_.data(); }
  void clear() { bytes_.clear(); }

 private:
  Endian order_;
  std::vector<std::byte> bytes_;
};

}  // namespace fathom::hpctoolkit
