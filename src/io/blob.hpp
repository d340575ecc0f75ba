// Read-only bytes with their owner (a memory map or a buffer), their name and their offset in the file they came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace fathom {

using Bytes = std::span<const std::byte>;

inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
inline Bytes as_bytes(std::string_view text) { return {reinterpret_cast<const std::byte*>(text.data()), text.size()}; }

// Cheap to copy: all copies share the bytes. MT: safe (const).
class Blob {
 public:
  Blob() = default;
  Blob(std::string name, Bytes bytes, std::shared_ptr<const void> owner, std::uint64_t offset = 0)
      : name_(std::move(name)), bytes_(bytes), owner_(std::move(owner)), offset_(offset) {}

  static Blob own(std::string name, std::vector<std::byte> bytes);
  static Blob own(std::string name, std::string text);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] std::string_view text() const { return as_text(bytes_); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool starts_with(std::string_view magic) const { return text().starts_with(magic); }

  // Where byte `at` of this blob lies, for messages.
  [[nodiscard]] Place place(std::uint64_t at = 0) const { return Place::at_offset(name_, offset_ + at); }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

  // A part of it; begin and length must lie inside. Keeps name and offsets unless given a name, which then
  // counts from 0 (a member of an archive is a file of its own to the user).
  [[nodiscard]] Blob part(std::size_t begin, std::size_t length) const {
    return {name_, bytes_.subspan(begin, length), owner_, offset_ + begin};
  }
  [[nodiscard]] Blob member(std::string name, std::size_t begin, std::size_t length) const {
    return {std::move(name), bytes_.subspan(begin, length), owner_, 0};
  }

 private:
  std::string name_;
  Bytes bytes_;
  std::shared_ptr<const void> owner_;
  std::uint64_t offset_ = 0;
};

}  // namespace fathom
