// Writing traces: whole ones again, and new ones stream by stream.
#pragma once

#include <functional>

#include "formats/ovni/native_trace.hpp"

namespace fathom::ovni {

// Events as bytes.
class StreamBuilder {
 public:
  // `header` as in every layout but v1-a.
  explicit StreamBuilder(bool header = true, Endian order = Endian::little);
  // A payload of one byte or of more than 16 does not exist; use jumbo().
  StreamBuilder& event(std::string_view mcv, std::uint64_t clock, Bytes payload = {});
  StreamBuilder& jumbo(std::string_view mcv, std::uint64_t clock, Bytes data);
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void head(unsigned flags, std::string_view mcv, std::uint64_t clock);
  Endian order_;
  std::string bytes_;
};

// Adds integers, packed as arguments are.
class Payload {
 public:
  Payload() = default;
  explicit Payload(Endian order) : order_(order) {}
  template <class T>
  Payload& add(T value) {
    static_assert(std::is_integral_v<T>);
    if (Endian::native != order_) value = byte_swapped(value);
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
  Endian order_ = Endian::little;
  std::string bytes_;
};

// By its path in a trace of any layout: loom.L/proc.P/thread.T. Other folders are not a trace's, whatever is in them.
bool is_trace_file(const std::filesystem::path& relative);

// Writes all streams and their metadata below `target`; it appears whole or not at all. In a directory that exists the
// files of an older trace are replaced, others stay as they are, and without `force` there may be none. The same layout
// is copied byte for byte. To another one events are copied as they are, and metadata are told in its words: what it
// has no words for is left out with a warning. `write` writes the events where they are not copied (same layout alone).
using WriteStream = std::function<Result<void>(const Stream&, const std::filesystem::path& target)>;
Result<void> write_trace(const NativeTrace& trace, const std::filesystem::path& target, Layout layout, const Work& work,
                         bool force = false, const WriteStream& write = nullptr);

}  // namespace fathom::ovni
