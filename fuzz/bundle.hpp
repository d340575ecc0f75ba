// Several files as one input: u8 length of the name, name, u32 length, bytes, and again. The mutator changes the bytes
// of one of the files, or leaves one out, so that names and lengths stay sound.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace fathom {

struct BundledFile {
  std::string name;
  std::string bytes;
};

inline bool usable_name(std::string_view name) {
  if (name.empty() || name[0] == '/' || name.back() == '/' || name.find("..") != std::string_view::npos) return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") ==
         std::string_view::npos;
}

inline std::vector<BundledFile> unbundle(std::string_view input) {
  constexpr std::size_t kMostFiles = 64;
  std::vector<BundledFile> files;
  while (!input.empty() && files.size() < kMostFiles) {
    const std::size_t name = static_cast<unsigned char>(input[0]);
    std::uint32_t size = 0;
    if (input.size() < 1 + name + sizeof size) break;
    std::memcpy(&size, input.data() + 1 + name, sizeof size);
    BundledFile file{std::string(input.substr(1, name)), {}};
    input.remove_prefix(1 + name + sizeof size);
    file.bytes = std::string(input.substr(0, size));
    input.remove_prefix(file.bytes.size());
    if (usable_name(file.name)) files.push_back(std::move(file));
  }
  return files;
}

inline std::string bundle(const std::vector<BundledFile>& files) {
  std::string out;
  for (const BundledFile& file : files) {
    const auto size = static_cast<std::uint32_t>(file.bytes.size());
    out += static_cast<char>(file.name.size());
    out += file.name;
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
    out += file.bytes;
  }
  return out;
}

inline std::size_t mutate_bundle(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  std::vector<BundledFile> files = unbundle({reinterpret_cast<const char*>(data), size});
  if (files.empty()) return LLVMFuzzerMutate(data, size, most);
  BundledFile& chosen = files[seed / 64 % files.size()];
  if (seed % 64 == 0 && files.size() > 1) {
    files.erase(files.begin() + static_cast<std::ptrdiff_t>(seed / 64 % files.size()));
  } else {
    const std::size_t rest = size - chosen.bytes.size();
    if (most <= rest) return LLVMFuzzerMutate(data, size, most);
    std::string bytes = chosen.bytes;
    const std::size_t room = std::min(most - rest, bytes.size() + 4096);
    bytes.resize(std::max(room, bytes.size()));
    const std::size_t now = LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), chosen.bytes.size(), room);
    bytes.resize(now);
    chosen.bytes = std::move(bytes);
  }
  const std::string out = bundle(files);
  if (out.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, out.data(), out.size());
  return out.size();
}

}  // namespace fathom
