#include "io/byte_cursor.hpp"

#include <fmt/format.h>

namespace fathom {

void ByteCursor::fail(std::string what) {
  if (!error_) error_ = Error(std::move(what), place());
}

void ByteCursor::fail_short(std::uint64_t needed, const char* field) {
  fail(fmt::format("{} needs {} byte{}, {} left", field, needed, needed == 1 ? "" : "s", remaining()));
}

Bytes ByteCursor::bytes(std::uint64_t count, const char* field) {
  if (error_ || remaining() < count) {
    fail_short(count, field);
    return {};
  }
  const Bytes out = blob_.bytes().subspan(at_, count);
  at_ += count;
  return out;
}

std::string_view ByteCursor::c_string(const char* field) {
  if (error_) return {};
  const std::string_view rest = blob_.text().substr(at_);
  const auto end = rest.find('\0');
  if (end == std::string_view::npos) {
    fail(fmt::format("{} has no terminating NUL byte", field));
    return {};
  }
  at_ += end + 1;
  return rest.substr(0, end);
}

void ByteCursor::expect(std::string_view magic, const char* field) {
  if (error_) return;
  const std::string_view found = blob_.text().substr(at_, magic.size());
  if (found != magic) {
    std::string shown;
    for (const char c : found) {
      const auto byte = static_cast<unsigned char>(c);
      shown += byte >= 0x20 && byte < 0x7F ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
    }
    return fail(fmt::format("{}: expected '{}', found '{}'", field, magic, shown));
  }
  at_ += magic.size();
}

void ByteCursor::seek(std::uint64_t offset, const char* field) {
  if (error_) return;
  if (offset > blob_.size()) {
    return fail(fmt::format("{} points to byte {} of {}", field, offset, blob_.size()));
  }
  at_ = offset;
}

std::uint64_t ByteCursor::count_that_fits(std::uint64_t count, std::uint64_t record_size, const char* field) {
  if (error_) return 0;
  if (count > remaining() / record_size) {
    fail(fmt::format("{} says {}, but only {} records of {} byte{} fit in the {} bytes left", field, count,
                     remaining() / record_size, record_size, record_size == 1 ? "" : "s", remaining()));
    return 0;
  }
  return count;
}

}  // namespace fathom
