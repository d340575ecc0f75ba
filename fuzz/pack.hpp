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

// Rows of a metric as Cube packs them, each with its checksum, where a member says so: "ZCUBEX.ROWS", u16 length of a
// row, rows. Other members stay what they are.
inline std::string with_packed_rows(const std::string& member) {
  constexpr std::string_view kMark = "ZCUBEX.ROWS";
  std::uint16_t length = 0;
  if (!member.starts_with(kMark) || member.size() < kMark.size() + sizeof length) return member;
  std::memcpy(&length, member.data() + kMark.size(), sizeof length);
  const std::string_view rows = std::string_view(member).substr(kMark.size() + sizeof length);
  if (length == 0) return member;
  std::string entries;
  std::string packed;
  const auto put = [](std::string& to, std::uint64_t value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  put(entries, (rows.size() + length - 1) / length);
  for (std::size_t at = 0; at < rows.size(); at += length) {
    const std::string_view row = rows.substr(at, length);
    std::string one(compressBound(row.size()), '\0');
    uLongf size = one.size();
    compress2(reinterpret_cast<Bytef*>(one.data()), &size, reinterpret_cast<const Bytef*>(row.data()), row.size(), 1);
    put(entries, at);
    put(entries, packed.size());
    put(entries, size);
    packed.append(one, 0, size);
  }
  return "ZCUBEX.DATA" + entries + packed;
}

inline std::string tar_of(const std::vector<BundledFile>& files) {
  constexpr std::size_t kBlock = 512;
  constexpr std::size_t kSizeAt = 124;
  constexpr std::size_t kSumAt = 148;
  std::string out;
  for (const BundledFile& file : files) {
    const std::string bytes = with_packed_rows(file.bytes);
    std::string header(kBlock, '\0');
    file.name.copy(header.data(), 99);
    std::snprintf(header.data() + 100, 8, "%07o", 0644U);
    std::snprintf(header.data() + kSizeAt, 12, "%011zo", bytes.size());
    header[156] = '0';
    header.replace(257, 8, "ustar\00000", 8);
    header.replace(kSumAt, 8, 8, ' ');
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    std::snprintf(header.data() + kSumAt, 8, "%06o", sum);
    out += header;
    out += bytes;
    // One block more than needed behind multiples of it, as the archives of Cube have.
    out.append(kBlock - bytes.size() % kBlock, '\0');
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
