// Writing traces: whole ones again, and new ones stream by stream.
#pragma once

#include "formats/ovni/native_trace.hpp"

namespace fathom::ovni {

// Events as bytes, in the order of this machine's readers (little-endian).
class StreamBuilder {
 public:
  // `header` as in every layout but v1-a.
  explicit StreamBuilder(bool header = true);
  // A payload of one byte or of more than 16 does not exist; use jumbo().
  StreamBuilder& event(std::string_view mcv, std::uint64_t clock, Bytes payload = {});
  StreamBuilder& jumbo(std::string_view mcv, std::uint64_t clock, Bytes data);
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void head(unsigned flags, std::string_view mcv, std::uint64_t clock);
  std::string bytes_;
};

// Adds integers, packed as arguments are.
class Payload {
 public:
  template <class T>
  Payload& add(T value) {
    static_assert(std::is_integral_v<T>);
    if (Endian::native != Endian::little) value = byte_swapped(value);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Payload& text(std::string_view value) {
    bytes_.append(value);
    bytes_ += '\0';
    return *this;
  }
  operator Bytes() const { return as_bytes(bytes_); }

 private:
  std::string bytes_;
};

// Writes all streams and their metadata below `target`, which must not exist or be empty; it appears whole or not at
// all. The same layout is copied byte for byte; v3 can be made from every other.
Result<void> write_trace(const NativeTrace& trace, const std::filesystem::path& target, Layout layout);

}  // namespace fathom::ovni
