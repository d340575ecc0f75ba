#include "formats/hpctoolkit/cct_db.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/hpctoolkit/magic.hpp"

namespace fathom::hpctoolkit {

namespace {
constexpr std::uint64_t kXmlRecordSize = 22;
constexpr std::uint64_t kMetaRecordSize = 32;
}  // namespace

bool CctDb::looks_like(Bytes bytes) {
  return as_text(bytes).starts_with(kXmlCctMagic) || as_text(bytes).starts_with(kMetaCctMagic);
}

Result<CctDb> CctDb::read(const Blob& blob, const Work& work) {
  CctDb db;
  db.blob_ = blob;
  ByteCursor in(blob);
  if (blob.starts_with(kXmlCctMagic)) {
    db.generation_ = Generation::xml;
    in.set_order(Endian::big);
    in.expect(kXmlCctMagic, "magic");
    in.skip(2, "version");
    db.count_ = in.u32("number of contexts");
    in.u16("number of sections");
    in.u64("size of the context info section");
    db.records_at_ = in.u64("offset of the context info section");
    db.stride_ = kXmlRecordSize;
  } else if (blob.starts_with(kMetaCctMagic)) {
    FATHOM_TRY(const std::string version, read_meta_header(in, kMetaCctMagic));
    in.u64("size of the context info section");
    in.seek(in.u64("pointer to the context info section"), "context info section");
    db.records_at_ = in.u64("pointer to the contexts");
    db.count_ = in.u32("number of contexts");
    db.stride_ = in.u8("size of a context");
    if (in.ok() && db.stride_ < kMetaRecordSize) {
      return Error(fmt::format("a context takes {} bytes, expected at least {}", db.stride_, kMetaRecordSize),
                   in.place());
    }
  } else {
    return Error(blob.size() == 0 ? "is empty: the analysis was interrupted" : "is not a cct.db of any generation",
                 blob.place());
  }
  in.seek(db.records_at_, "contexts");
  in.count_that_fits(db.count_, db.stride_, "contexts");
  FATHOM_CHECK(in.status());
  FATHOM_CHECK(check_footer(blob, db.generation_ == Generation::xml ? kXmlCctFooter : kMetaCctFooter, work));
  return db;
}

ContextRecord CctDb::record(std::uint64_t id) const {
  const std::byte* at = blob_.bytes().data() + records_at_ + id * stride_;
  ContextRecord record;
  if (generation_ == Generation::xml) {
    record.value_count = load_unchecked<std::uint64_t>(at + 4, Endian::big);
    record.metric_count = load_unchecked<std::uint16_t>(at + 12, Endian::big);
    record.values_at = load_unchecked<std::uint64_t>(at + 14, Endian::big);
    record.indices_at = record.values_at + record.value_count * ContextBlock::kEntrySize;
  } else {
    record.value_count = load_unchecked<std::uint64_t>(at, Endian::little);
    record.values_at = load_unchecked<std::uint64_t>(at + 8, Endian::little);
    record.metric_count = load_unchecked<std::uint16_t>(at + 16, Endian::little);
    record.indices_at = load_unchecked<std::uint64_t>(at + 24, Endian::little);
  }
  return record;
}

std::optional<ContextBlock> CctDb::block(std::uint64_t id) const {
  const ContextRecord record = this->record(id);
  if (record.value_count == 0) return ContextBlock();
  return locate_block<ContextBlockShape>(
      blob_, generation_, {record.value_count, record.values_at, record.metric_count, record.indices_at});
}

bool CctDb::looks_damaged() const {
  constexpr std::uint64_t kSamples = 64;
  const std::uint64_t step = std::max<std::uint64_t>(1, count_ / kSamples);
  for (std::uint64_t id = 0; id < count_; id += step) {
    if (!block(id)) return true;
  }
  return false;
}

Result<void> CctDb::check(std::uint64_t id, const Work& work) const {
  const auto values = block(id);
  if (!values) {
    return work->diagnostics.lost(
        "hpctoolkit.context_block", place(id),
        fmt::format("context {}: its {} values do not lie inside the file or their block is not "
                    "terminated",
                    id, record(id).value_count));
  }
  FATHOM_CHECK(check_index(*values, blob_, record(id).indices_at, fmt::format("context {}", id), "metric", work));
  for (std::uint64_t slot = 0; slot < values->index_count(); ++slot) {
    for (std::uint64_t i = values->begin(slot) + 1; i < values->end(slot); ++i) {
      if (values->id(i) > values->id(i - 1)) continue;
      FATHOM_CHECK(work->diagnostics.lost(
          "hpctoolkit.entry_order", blob_.place(record(id).values_at + i * ContextBlock::kEntrySize),
          fmt::format("context {}: profile {} follows profile {}, expected ascending ones", id, values->id(i),
                      values->id(i - 1))));
    }
  }
  return {};
}

}  // namespace fathom::hpctoolkit
