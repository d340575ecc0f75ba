// Archives of a few files, made in memory: sound, so that what is inside is reached.
#pragma once

#include <zlib.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bundle.hpp"

namespace fathom {

inline std::string tar_of(const std::vector<BundledFile>& files) {
  constexpr std::size_t kBlock = 512;
  constexpr std::size_t kSizeAt = 124;
  constexpr std::size_t kSumAt = 148;
  std::string out;
  for (const BundledFile& file : files) {
    std::string header(kBlock, '\0');
    file.name.copy(header.data(), 99);
    std::snprintf(header.data() + 100, 8, "%07o", 0644U);
    std::snprintf(header.data() + kSizeAt, 12, "%011zo", file.bytes.size());
    header[156] = '0';
    header.replace(257, 8, "ustar\00000", 8);
    header.replace(kSumAt, 8, 8, ' ');
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    std::snprintf(header.data() + kSumAt, 8, "%06o", sum);
    out += header;
    out += file.bytes;
    // One block more than needed behind multiples of it, as the archives of Cube have.
    out.append(kBlock - file.bytes.size() % kBlock, '\0');
  }
  return out.append(2 * kBlock, '\0');
}

inline std::string zip_of(const std::vector<BundledFile>& files) {
  const auto number = [](std::size_t value, int size) {
    std::string out;
    for (int i = 0; i < size; ++i, value >>= 8) out += static_cast<char>(value & 0xFF);
    return out;
  };
  std::string out;
  std::string directory;
  for (const BundledFile& file : files) {
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(file.bytes.data()), static_cast<uInt>(file.bytes.size()));
    // Needs version 2.0, no flags, stored, no time, sizes, no extra field.
    const std::string common = number(20, 2) + number(0, 8) + number(sum, 4) + number(file.bytes.size(), 4) +
                               number(file.bytes.size(), 4) + number(file.name.size(), 2) + number(0, 2);
    directory += "PK\x01\x02" + number(20, 2) + common + number(0, 10) + number(out.size(), 4) + file.name;
    out += "PK\x03\x04" + common + file.name + file.bytes;
  }
  const std::string end = number(0, 4) + number(files.size(), 2) + number(files.size(), 2) +
                          number(directory.size(), 4) + number(out.size(), 4) + number(0, 2);
  return out + directory + "PK\x05\x06" + end;
}

}  // namespace fathom
