#include "formats/hpctoolkit/profile_db.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/hpctoolkit/magic.hpp"

namespace fathom::hpctoolkit {

namespace {

constexpr std::uint64_t kXmlRecordSize = 52;
constexpr std::uint64_t kXmlIdentifierSize = 18;
constexpr std::uint64_t kMetaIdentifierSize = 16;
// Strides of a profile: 48 in releases, 40 (no flags word) in the pre-release.
constexpr std::uint64_t kMetaRecordSize = 48;
constexpr std::uint64_t kPrereleaseRecordSize = 40;
constexpr std::uint16_t kLogicalOnly = 3;
constexpr std::uint16_t kKindMask = 0x3FFF;  // the two upper bits say how the ids came about

}  // namespace

bool ProfileDb::looks_like(Bytes bytes) {
  return as_text(bytes).starts_with(kXmlProfileMagic) || as_text(bytes).starts_with(kMetaProfileMagic);
}

Result<ProfileDb> ProfileDb::read(const Blob& blob, const Work& work) {
  ProfileDb db;
  db.blob_ = blob;
  if (blob.starts_with(kXmlProfileMagic)) {
    db.generation_ = Generation::xml;
    FATHOM_CHECK(db.read_xml(work));
  } else if (blob.starts_with(kMetaProfileMagic)) {
    FATHOM_CHECK(db.read_meta(work));
  } else {
    return Error(blob.size() == 0 ? "is empty: the analysis was interrupted" : "is not a profile.db of any generation",
                 blob.place());
  }
  return db;
}

// A block that does not lie inside the file is reported and forgotten.
Result<void> ProfileDb::keep_sound(ProfileRecord& record, std::size_t index, std::uint64_t record_at,
                                   const Work& work) const {
  const BlockPlace place{record.value_count, record.values_at, record.context_count, record.indices_at};
  if (locate_block<ProfileBlockShape>(blob_, generation_, place)) return {};
  record.value_count = record.context_count = 0;
  record.values_at = record.indices_at = 0;
  return work->diagnostics.lost(
      "hpctoolkit.profile_block", blob_.place(record_at),
      fmt::format("profile {}: {} values at 0x{:x} with {} index entries at 0x{:x} do not lie inside the file of {} "
                  "bytes{}; left out",
                  index, place.value_count, place.values_at, place.index_count, place.indices_at, blob_.size(),
                  generation_ == Generation::xml ? ", or do not end with 'end!' and their number" : ""));
}

// u16 length, then per element: in the XML generation u16 kind with the code in its upper bits, u64 physical, u64
// logical; in the meta.db generation, after 6 bytes of padding, u8 kind, padding, u16 flags, u32 logical, u64 physical.
Result<void> ProfileDb::read_tuple(ProfileRecord& record, std::size_t index, std::uint64_t at, const Work& work) const {
  const bool xml = generation_ == Generation::xml;
  ByteCursor in(blob_, order_of(generation_));
  in.seek(at, "identifier tuple");
  const std::uint16_t length = in.u16("length of the identifier tuple");
  if (!xml) in.skip(6, "padding");
  in.count_that_fits(length, xml ? kXmlIdentifierSize : kMetaIdentifierSize, "identifier tuple");
  for (std::uint16_t k = 0; in.ok() && k < length; ++k) {
    Identifier id;
    if (xml) {
      const std::uint16_t kind = in.u16("identifier kind");
      id.kind = kind & kKindMask;
      id.flags = static_cast<std::uint16_t>(kind >> 14);
      id.physical_is_real = id.flags != kLogicalOnly;
      id.physical = in.u64("physical id");
      id.logical = in.u64("logical id");
    } else {
      id.kind = in.u8("identifier kind");
      in.skip(1, "padding");
      id.flags = in.u16("identifier flags");
      id.physical_is_real = (id.flags & 1U) != 0;
      id.logical = in.u32("logical id");
      id.physical = in.u64("physical id");
    }
    record.tuple.push_back(id);
  }
  if (in.ok()) return {};
  record.tuple.clear();
  return work->diagnostics.warn("hpctoolkit.id_tuple", in.status().error().place(),
                                fmt::format("profile {}: {}", index, in.status().error().what()));
}

// 16 bytes magic, version, u32 profiles, u16 sections, then (size, offset) of profile infos and identifier tuples.
Result<void> ProfileDb::read_xml(const Work& work) {
  ByteCursor in(blob_, Endian::big);
  in.expect(kXmlProfileMagic, "magic");
  const unsigned major = in.u8("major version");
  const unsigned minor = in.u8("minor version");
  version_ = fmt::format("{}.{}", major, minor);
  const std::uint32_t count = in.u32("number of profiles");
  in.u16("number of sections");
  in.u64("size of the profile info section");
  const std::uint64_t infos = in.u64("offset of the profile info section");
  in.seek(infos, "profile info section");
  in.count_that_fits(count, kXmlRecordSize, "profile info section");
  FATHOM_CHECK(in.status());
  FATHOM_CHECK(check_footer(blob_, kXmlProfileFooter, work));
  profiles_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t at = infos + i * kXmlRecordSize;
    in.seek(at, "profile info");
    ProfileRecord& record = profiles_[i];
    const std::uint64_t tuple_at = in.u64("pointer to the identifier tuple");
    in.skip(24, "spare pointers");
    record.value_count = in.u64("number of values");
    record.context_count = in.u32("number of contexts");
    record.values_at = in.u64("pointer to the values");
    FATHOM_CHECK(in.status());
    if (record.value_count <= blob_.size()) {
      record.indices_at = record.values_at + record.value_count * ProfileBlock::kEntrySize;
    }
    record.summary = i == 0;
    FATHOM_CHECK(keep_sound(record, i, at, work));
    FATHOM_CHECK(read_tuple(record, i, tuple_at, work));
  }
  return {};
}

Result<void> ProfileDb::read_meta(const Work& work) {
  ByteCursor in(blob_);
  FATHOM_TRY(version_, read_meta_header(in, kMetaProfileMagic));
  in.u64("size of the profile info section");
  in.seek(in.u64("pointer to the profile info section"), "profile info section");
  const std::uint64_t infos = in.u64("pointer to the profiles");
  const std::uint32_t count = in.u32("number of profiles");
  const std::uint64_t stride = in.u8("size of a profile");
  FATHOM_CHECK(in.status());
  if (stride < kPrereleaseRecordSize) {
    return Error(fmt::format("a profile takes {} bytes, expected at least {}", stride, kPrereleaseRecordSize),
                 in.place());
  }
  in.seek(infos, "profiles");
  in.count_that_fits(count, stride, "profiles");
  FATHOM_CHECK(in.status());
  FATHOM_CHECK(check_footer(blob_, kMetaProfileFooter, work));
  profiles_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t at = infos + i * stride;
    in.seek(at, "profile");
    ProfileRecord& record = profiles_[i];
    record.value_count = in.u64("number of values");
    record.values_at = in.u64("pointer to the values");
    record.context_count = in.u32("number of contexts");
    in.skip(4, "padding");
    record.indices_at = in.u64("pointer to the indices");
    const std::uint64_t tuple_at = in.u64("pointer to the identifier tuple");
    record.summary = stride < kMetaRecordSize ? i == 0 : (in.u32("flags") & 1U) != 0;
    FATHOM_CHECK(in.status());
    FATHOM_CHECK(keep_sound(record, i, at, work));
    if (tuple_at != 0) FATHOM_CHECK(read_tuple(record, i, tuple_at, work));
  }
  return {};
}

ProfileBlock ProfileDb::block(std::size_t profile) const {
  const ProfileRecord& record = profiles_[profile];
  const std::byte* base = blob_.bytes().data();
  return {generation_, base + record.values_at, record.value_count, base + record.indices_at, record.context_count};
}

Result<void> ProfileDb::check(std::size_t profile, const Work& work) const {
  return check_index(block(profile), blob_, profiles_[profile].indices_at, fmt::format("profile {}", profile),
                     "context", work);
}

}  // namespace fathom::hpctoolkit
