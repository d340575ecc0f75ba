// Writing .bin files: the sections, and streams copied or filtered from other files.
#pragma once

#include <filesystem>

#include "formats/dumpi/filter.hpp"
#include "formats/dumpi/rank_set.hpp"
#include "io/output_file.hpp"

namespace fathom::dumpi {

// Big-endian fields appended to a text of bytes.
class ByteText {
 public:
  template <class T>
  void number(T value) {
    for (std::size_t shift = sizeof(T) * 8; shift > 0; shift -= 8) {
      text_ += static_cast<char>(static_cast<std::uint64_t>(value) >> (shift - 8));
    }
  }
  void bytes(std::string_view bytes) { text_ += bytes; }
  void str16(std::string_view text);
  // A value of an argument's type.
  void value(Type type, std::int64_t value);
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::size_t size() const { return text_.size(); }
  void clear() { text_.clear(); }

 private:
  std::string text_;
};

// Everything behind the stream; `offset` is where it will stand in the file.
std::string encode_sections(const Sections& sections, const Layout& layout, std::uint64_t offset);

// Writes one rank again; byte for byte as it was when nothing is filtered and the file is laid out as writers do.
Result<void> rewrite_file(const File& file, const ScanResult& scan, const Filter& filter,
                          const std::filesystem::path& target);

// Writes a whole run: one file for a single .bin, otherwise PREFIX.meta and PREFIX-0000.bin, ... where PREFIX is the
// target without its ending, or the old name in a target that is a directory. `force`: ranks of an older run of that
// name that this one does not have are removed.
Result<void> rewrite_set(const RankSet& set, const Filter& filter, const std::filesystem::path& target,
                         bool force = false);

}  // namespace fathom::dumpi
