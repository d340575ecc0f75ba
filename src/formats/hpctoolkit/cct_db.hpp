// cct.db: the values of every context over the profiles, in both generations.
#pragma once

#include <optional>
#include <string>

#include "base/work.hpp"
#include "formats/hpctoolkit/sparse.hpp"

namespace fathom::hpctoolkit {

struct ContextRecord {
  std::uint64_t value_count = 0;
  std::uint64_t values_at = 0;
  std::uint64_t metric_count = 0;
  std::uint64_t indices_at = 0;
};

// Records are decoded when asked for: opening touches the header only. MT: safe (const).
class CctDb {
 public:
  static bool looks_like(Bytes bytes);
  static Result<CctDb> read(const Blob& blob, const Work& work);

  [[nodiscard]] Generation generation() const { return generation_; }
  [[nodiscard]] const Blob& blob() const { return blob_; }
  // Context ids run from 0 to size() - 1.
  [[nodiscard]] std::uint64_t size() const { return count_; }
  [[nodiscard]] ContextRecord record(std::uint64_t id) const;
  // The values of a context; nothing when its block does not lie inside the file or is not terminated.
  [[nodiscard]] std::optional<ContextBlock> block(std::uint64_t id) const;
  // Where the record of a context lies.
  [[nodiscard]] Place place(std::uint64_t id) const { return blob_.place(records_at_ + id * stride_); }
  // A few blocks from all over the file are unsound: the known defect of a data region full of zeros.
  [[nodiscard]] bool looks_damaged() const;
  Result<void> check(std::uint64_t id, const Work& work) const;

 private:
  Blob blob_;
  Generation generation_ = Generation::meta;
  std::uint64_t count_ = 0;
  std::uint64_t records_at_ = 0;
  std::uint64_t stride_ = 1;
};

}  // namespace fathom::hpctoolkit
