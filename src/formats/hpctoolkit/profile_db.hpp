// profile.db: the values of every profile, in both generations.
#pragma once

#include <string>
#include <vector>

#include "base/work.hpp"
#include "formats/hpctoolkit/sparse.hpp"

namespace fathom::hpctoolkit {

// One element of an identifier tuple: which node, rank, thread, ... a profile belongs to.
struct Identifier {
  std::uint16_t kind = 0;
  // XML generation: how the ids came about (0 both valid, 3 logical only). meta.db: bit 0 = the physical id is real.
  std::uint16_t flags = 0;
  bool physical_is_real = false;  // what the flags of either generation come down to
  std::uint64_t logical = 0;
  std::uint64_t physical = 0;
  friend bool operator==(const Identifier&, const Identifier&) = default;
};

struct ProfileRecord {
  std::vector<Identifier> tuple;
  bool summary = false;
  std::uint64_t value_count = 0;
  std::uint64_t values_at = 0;
  std::uint64_t context_count = 0;
  std::uint64_t indices_at = 0;
};

// MT: safe (const).
class ProfileDb {
 public:
  static bool looks_like(Bytes bytes);
  // Profiles whose blocks lie outside the file are reported and count as empty.
  static Result<ProfileDb> read(const Blob& blob, const Work& work);

  [[nodiscard]] Generation generation() const { return generation_; }
  [[nodiscard]] const Blob& blob() const { return blob_; }
  [[nodiscard]] std::string version() const { return version_; }
  [[nodiscard]] const std::vector<ProfileRecord>& profiles() const { return profiles_; }
  [[nodiscard]] ProfileBlock block(std::size_t profile) const;
  // Every defect of one profile's block goes to the diagnostics.
  Result<void> check(std::size_t profile, const Work& work) const;

 private:
  Result<void> read_xml(const Work& work);
  Result<void> read_meta(const Work& work);
  Result<void> read_tuple(ProfileRecord& record, std::size_t index, std::uint64_t at, const Work& work) const;
  Result<void> keep_sound(ProfileRecord& record, std::size_t index, std::uint64_t record_at, const Work& work) const;

  Blob blob_;
  Generation generation_ = Generation::meta;
  std::string version_;
  std::vector<ProfileRecord> profiles_;
};

}  // namespace fathom::hpctoolkit
