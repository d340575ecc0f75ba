#include "formats/otf2/anchor.hpp"

#include <fmt/format.h>

#include "formats/otf2/records.hpp"
#include "io/byte_cursor.hpp"

namespace fathom::otf2 {

namespace {

constexpr std::uint8_t kPosix = 1;
constexpr std::uint8_t kSion = 2;
constexpr std::uint8_t kZlib = 2;
constexpr std::uint8_t kNewestAnchor = 3;

// A chunk holds its header and a record.
constexpr std::uint64_t kSmallestChunk = kChunkHeaderSize + 2;

}  // namespace

bool is_anchor(std::string_view head) {
  return head.size() >= 7 && head[0] == kChunkHeader &&
         (static_cast<std::uint8_t>(head[1]) == kLittle || static_cast<std::uint8_t>(head[1]) == kBig) &&
         head.substr(2, 5) == std::string_view("OTF2\0", 5);
}

Result<Anchor> read_anchor(const Blob& blob, const Work& work) {
  if (!is_anchor(blob.text())) {
    return Error("is no OTF2 anchor: it does not begin with a byte order and 'OTF2'", blob.place());
  }
  const bool little = static_cast<std::uint8_t>(blob.text()[1]) == kLittle;
  ByteCursor in(blob, little ? Endian::little : Endian::big);
  in.seek(7, "anchor");
  Anchor anchor;
  anchor.anchor_format = in.u8("format of the anchor");
  anchor.trace_format = in.u8("format of the trace");
  const auto major = in.u8("version");
  const auto minor = in.u8("version");
  const auto patch = in.u8("version");
  anchor.version = fmt::format("{}.{}.{}", major, minor, patch);
  anchor.event_chunk = in.u64("chunk size of events");
  anchor.definition_chunk = in.u64("chunk size of definitions");
  const auto substrate = in.u8("file substrate");
  const auto compression = in.u8("compression");
  anchor.locations = in.u64("number of locations");
  anchor.global_definitions = in.u64("number of definitions");
  FATHOM_CHECK(in.status());
  if (substrate == kSion) {
    return Error("is an archive in SION containers, which are not read", blob.place())
        .hint("unpack it with the OTF2 tools of the machine it was made on");
  }
  if (substrate != kPosix) return Error(fmt::format("has the unknown file substrate {}", substrate), blob.place());
  if (compression == kZlib) {
    return Error("is compressed with zlib, which OTF2 itself gave up in version 3", blob.place())
        .hint("rewrite it with an OTF2 library of version 1 or 2");
  }
  if (anchor.event_chunk < kSmallestChunk || anchor.definition_chunk < kSmallestChunk) {
    return Error(fmt::format("says that chunks have {} and {} bytes: too small for any record", anchor.event_chunk,
                             anchor.definition_chunk),
                 blob.place());
  }
  if (anchor.anchor_format == 0 || anchor.anchor_format > kNewestAnchor) {
    FATHOM_CHECK(work->diagnostics.warn(
        "otf2.new_anchor", blob.place(),
        fmt::format("anchor of format {}: read as far as format {} goes", anchor.anchor_format, kNewestAnchor)));
  }
  // From here on nothing is needed for reading.
  anchor.machine = in.c_string("machine");
  anchor.creator = in.c_string("creator");
  anchor.description = in.c_string("description");
  if (anchor.anchor_format >= 2) {
    std::uint64_t properties = in.u32("number of properties");
    for (; properties > 0 && in.ok(); --properties) {
      std::string name(in.c_string("name of a property"));
      std::string value(in.c_string("value of a property"));
      if (in.ok()) anchor.properties.emplace_back(std::move(name), std::move(value));
    }
    anchor.trace_id = in.u64("trace id");
  }
  if (anchor.anchor_format >= 3) {
    anchor.snapshots = in.u32("number of snapshots");
    anchor.thumbnails = in.u32("number of thumbnails");
  }
  if (auto status = in.status(); !status) {
    FATHOM_CHECK(work->diagnostics.warn("otf2.cut_anchor", status.error().place(), status.error().what()));
  }
  return anchor;
}

}  // namespace fathom::otf2
