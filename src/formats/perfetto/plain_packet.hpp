// Packets are taken apart in two steps. What can be told of a packet without those before it is told first, for many at
// once; the mapping then takes them in order. The begin or end of a slice with an interned name, which is what most
// packets are, needs no further reading there.
#pragma once

#include <cstdint>
#include <string_view>

namespace fathom::perfetto {

struct PlainPacket {
  std::string_view bytes;  // of the packet
  std::size_t at = 0;      // in the file, where its field begins
  // Of a plain one: the begin or end of a slice on the default clock, with an interned name or none.
  bool plain = false;
  bool begins = false;
  bool has_track = false;
  std::uint32_t sequence = 0;
  std::int64_t time = 0;
  std::uint64_t track = 0;
  std::uint64_t name_iid = 0;  // 0 = none

  // Reads the bytes; a packet that is anything else, or not sound, stays as it is.
  void read();
};

}  // namespace fathom::perfetto
