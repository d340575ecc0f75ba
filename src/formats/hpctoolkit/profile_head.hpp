// What stands before the values in profile.db: the head, a record per profile, the identifier tuples.
#pragma once

#include "formats/hpctoolkit/byte_buffer.hpp"
#include "formats/hpctoolkit/profile_db.hpp"

namespace fathom::hpctoolkit {

class ProfileHead {
 public:
  // A tuple per location; the summary, which comes first, has none of its own.
  ProfileHead(Generation generation, const std::vector<std::vector<Identifier>>& tuples);

  // Records are empty: they are known when everything behind is written.
  [[nodiscard]] Bytes bytes() const { return out_.bytes(); }
  [[nodiscard]] std::uint64_t records_at() const { return records_at_; }
  [[nodiscard]] ByteBuffer records(const std::vector<ProfileRecord>& records) const;

 private:
  Generation generation_;
  ByteBuffer out_;
  std::uint64_t records_at_ = 0;
  std::vector<std::uint64_t> tuple_at_;
};

}  // namespace fathom::hpctoolkit
