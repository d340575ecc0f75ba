#include "formats/hpctoolkit/trace_db.hpp"

#include <fmt/format.h>

#include "formats/hpctoolkit/magic.hpp"

namespace fathom::hpctoolkit {

namespace {
constexpr std::uint64_t kXmlRecordSize = 22;
constexpr std::uint64_t kMetaRecordSize = 24;
// An empty line may point this far past the end of the file: its slot was to be aligned.
constexpr std::uint64_t kAlignmentSlack = 8;
}  // namespace

bool TraceDb::looks_like(Bytes bytes) {
  return as_text(bytes).starts_with(kXmlTraceMagic) || as_text(bytes).starts_with(kMetaTraceMagic);
}

Result<TraceDb> TraceDb::read(const Blob& blob, const Work& work) {
  TraceDb db;
  db.blob_ = blob;
  ByteCursor in(blob);
  std::uint64_t count = 0;
  std::uint64_t at = 0;
  std::uint64_t stride = kXmlRecordSize;
  if (blob.starts_with(kXmlTraceMagic)) {
    db.generation_ = Generation::xml;
    in.set_order(Endian::big);
    in.expect(kXmlTraceMagic, "magic");
    in.skip(2, "version");
    count = in.u32("number of trace lines");
    in.u16("number of sections");
    in.u64("size of the trace header section");
    at = in.u64("offset of the trace header section");
  } else if (blob.starts_with(kMetaTraceMagic)) {
    FATHOM_TRY(const std::string version, read_meta_header(in, kMetaTraceMagic));
    in.u64("size of the trace section");
    in.seek(in.u64("pointer to the trace section"), "trace section");
    at = in.u64("pointer to the traces");
    count = in.u32("number of traces");
    stride = in.u8("size of a trace");
    if (in.ok() && stride < kMetaRecordSize) {
      return Error(fmt::format("a trace takes {} bytes, expected at least {}", stride, kMetaRecordSize), in.place());
    }
    constexpr std::uint64_t kPaddingAndTimes = 3 + 2 * sizeof(std::uint64_t);
    if (in.ok() && in.remaining() >= kPaddingAndTimes) {
      in.skip(3, "padding");
      const std::uint64_t first = in.u64("smallest time");
      const std::uint64_t last = in.u64("largest time");
      db.told_span_ = TimeWindow{static_cast<std::int64_t>(first), static_cast<std::int64_t>(last)};
    }
    FATHOM_CHECK(check_footer(blob, kMetaTraceFooter, work));
  } else {
    return Error(blob.size() == 0 ? "is empty: the analysis was interrupted" : "is not a trace.db of any generation",
                 blob.place());
  }
  in.seek(at, "trace headers");
  in.count_that_fits(count, stride, "trace headers");
  FATHOM_CHECK(in.status());
  db.lines_.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    in.seek(at + i * stride, "trace header");
    const std::uint32_t profile = in.u32("profile of a trace");
    std::uint16_t type = 0;
    if (db.generation_ == Generation::xml) {
      type = in.u16("type of a trace");
    } else {
      in.skip(4, "padding");
    }
    const std::uint64_t begin = in.u64("start of a trace");
    const std::uint64_t end = in.u64("end of a trace");
    FATHOM_CHECK(in.status());
    FATHOM_CHECK(db.add_line(profile, type, begin, end, at + i * stride, work));
  }
  return db;
}

Result<void> TraceDb::add_line(std::uint32_t profile, std::uint16_t type, std::uint64_t begin, std::uint64_t end,
                               std::uint64_t record_at, const Work& work) {
  if (begin == end && begin <= blob_.size() + kAlignmentSlack) {
    lines_.push_back({profile, 0, 0, type});
    return {};
  }
  if (begin > end || end > blob_.size() || (end - begin) % kSampleSize != 0) {
    FATHOM_CHECK(work->diagnostics.lost(
        "hpctoolkit.trace_line", blob_.place(record_at),
        fmt::format("the trace of profile {} is said to lie at 0x{:x} to 0x{:x} of {} bytes; what is there is kept",
                    profile, begin, end, blob_.size())));
    if (begin >= end || begin >= blob_.size()) begin = end = 0;
    end = std::min<std::uint64_t>(end, blob_.size());
  }
  lines_.push_back({profile, begin, (end - begin) / kSampleSize, type});
  return {};
}

std::uint64_t TraceDb::sample_count() const {
  std::uint64_t total = 0;
  for (const TraceLine& line : lines_) total += line.count;
  return total;
}

}  // namespace fathom::hpctoolkit
