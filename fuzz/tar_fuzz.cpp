// Any bytes as a tar archive, and as gzip around one.
#include <cstddef>
#include <cstdint>
#include <string>

#include "io/inflate.hpp"
#include "io/tar.hpp"

using namespace fathom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Work work = make_work(false, std::uint64_t{64} << 20);
  Blob blob = Blob::own("fuzz.tar", std::string(reinterpret_cast<const char*>(data), size));
  if (is_gzip(blob.bytes())) {
    auto unpacked = gunzip(blob, work, std::uint64_t{16} << 20);
    if (!unpacked.ok()) return 0;
    blob = std::move(unpacked).value();
  }
  auto archive = TarArchive::read(blob, work);
  if (!archive.ok()) return 0;
  // Members lie inside the archive.
  std::size_t sum = 0;
  for (const TarMember& member : archive->members()) {
    for (const std::byte b : member.content.bytes()) sum += static_cast<std::size_t>(b);
    if (archive->find(member.name) == nullptr) __builtin_trap();
  }
  volatile std::size_t sink = sum;
  (void)sink;
  return 0;
}
