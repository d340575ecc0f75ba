// Whether an input is still the one that something was made from: names, sizes, times and inodes of its files, not
// their content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace fathom {

class Fingerprint {
 public:
  void add(std::string_view text);
  void add(std::uint64_t number);
  // A file with all beside it whose names begin with its stem (streams, definitions, rank files), or everything below
  // a directory. Names that end with `except` are passed by.
  void add_files(const std::filesystem::path& path, std::string_view except);
  // 32 digits.
  [[nodiscard]] std::string text() const;

 private:
  void byte(unsigned char value);
  void add_file(const std::filesystem::path& path);
  std::uint64_t low_ = 0xCBF29CE484222325U;
  std::uint64_t high_ = 0x9AE16A3B2F90404FU;
};

}  // namespace fathom
