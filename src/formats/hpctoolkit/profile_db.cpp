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
  const auto forget = [&](std::string text) {
    record.value_count = record.context_count = 0;
    record.values_at = record.indices_at = 0;
    return work->diagnostics.lost("hpctoolkit.profile_block", blob_.place(record_at), std::move(text));
  };
  if (!fits(record.values_at, record.value_count, ProfileBlock::kEntrySize, blob_.size()) ||
      !fits(record.indices_at, record.context_count, ProfileBlock::kIndexSize, blob_.size())) {
    return forget(fmt::format(
        "profile {}: {} values at 0x{:x} with {} index entries do not lie inside the file of {} bytes; left out", index,
        record.value_count, record.values_at, record.context_count, blob_.size()));
  }
  if (generation_ == Generation::xml) {
    const std::uint64_t at = record.indices_at + record.context_count * ProfileBlock::kIndexSize;
    const bool there = fits(at, 1, ProfileBlock::kIndexSize, blob_.size());
    const std::byte* end = blob_.bytes().data() + at;
    if (!there || load_unchecked<std::uint32_t>(end, Endian::big) != ProfileBlockShape::kTerminator ||
        load_unchecked<std::uint64_t>(end + 4, Endian::big) != record.value_count) {
      return forget(
          fmt::format("profile {}: its block does not end with the terminator 'end!' and {} at 0x{:x}; left out", index,
                      record.value_count, at));
    }
  }
  return {};
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
    ByteCursor tuple(blob_, Endian::big);
    tuple.seek(tuple_at, "identifier tuple");
    const std::uint16_t length = tuple.u16("length of the identifier tuple");
    tuple.count_that_fits(length, kXmlIdentifierSize, "identifier tuple");
    for (std::uint16_t k = 0; tuple.ok() && k < length; ++k) {
      Identifier id;
      const std::uint16_t kind = tuple.u16("identifier kind");
      id.kind = kind & kKindMask;
      id.flags = static_cast<std::uint16_t>(kind >> 14);
      id.physical_is_real = id.flags != kLogicalOnly;
      id.physical = tuple.u64("physical id");
      id.logical = tuple.u64("logical id");
      record.tuple.push_back(id);
    }
    if (!tuple.ok()) {
      record.tuple.clear();
      FATHOM_CHECK(work->diagnostics.warn("hpctoolkit.id_tuple", tuple.status().error().place(),
                                          fmt::format("profile {}: {}", i, tuple.status().error().what())));
    }
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
    if (tuple_at == 0) continue;
    ByteCursor tuple(blob_);
    tuple.seek(tuple_at, "identifier tuple");
    const std::uint16_t length = tuple.u16("length of the identifier tuple");
    tuple.skip(6, "padding");
    tuple.count_that_fits(length, kMetaIdentifierSize, "identifier tuple");
    for (std::uint16_t k = 0; tuple.ok() && k < length; ++k) {
      Identifier id;
      id.kind = tuple.u8("identifier kind");
      tuple.skip(1, "padding");
      id.flags = tuple.u16("identifier flags");
      id.physical_is_real = (id.flags & 1U) != 0;
      id.logical = tuple.u32("logical id");
      id.physical = tuple.u64("physical id");
      record.tuple.push_back(id);
    }
    if (!tuple.ok()) {
      record.tuple.clear();
      FATHOM_CHECK(work->diagnostics.warn("hpctoolkit.id_tuple", tuple.status().error().place(),
                                          fmt::format("profile {}: {}", i, tuple.status().error().what())));
    }
  }
  return {};
}

ProfileBlock ProfileDb::block(std::size_t profile) const {
  const ProfileRecord& record = profiles_[profile];
  const std::byte* base = blob_.bytes().data();
  return {generation_, base + record.values_at, record.value_count, base + record.indices_at, record.context_count};
}

Result<void> ProfileDb::check(std::size_t profile, const Work& work) const {
  const ProfileBlock values = block(profile);
  const std::uint64_t at = profiles_[profile].indices_at;
  for (std::uint64_t slot = 0; slot < values.index_count(); ++slot) {
    const auto place = blob_.place(at + slot * ProfileBlock::kIndexSize);
    if (slot > 0 && values.key(slot) <= values.key(slot - 1)) {
      FATHOM_CHECK(
          work->diagnostics.lost("hpctoolkit.index_order", place,
                                 fmt::format("profile {}: context {} follows context {}, expected ascending ids",
                                             profile, values.key(slot), values.key(slot - 1))));
    }
    const std::uint64_t stop = slot + 1 < values.index_count() ? values.start(slot + 1) : values.value_count();
    if (values.start(slot) > stop || stop > values.value_count()) {
      FATHOM_CHECK(work->diagnostics.lost(
          "hpctoolkit.index_range", place,
          fmt::format("profile {}: the values of context {} are said to be {} to {} of {}", profile, values.key(slot),
                      values.start(slot), stop, values.value_count())));
    }
  }
  return {};
}

}  // namespace fathom::hpctoolkit
