// trace.db: per profile the samples of where it was, in both generations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/work.hpp"
#include "formats/hpctoolkit/sparse.hpp"
#include "trace/event.hpp"

namespace fathom::hpctoolkit {

struct Sample {
  std::uint64_t time_ns = 0;
  std::uint32_t context = 0;  // the id the file uses; 0 = not running (meta.db generation)
};

struct TraceLine {
  std::uint32_t profile = 0;
  std::uint64_t begin = 0;  // bytes in the file
  std::uint64_t count = 0;  // samples
  std::uint16_t type = 0;   // 0 = call paths, otherwise the id of a metric
};

// MT: safe (const).
class TraceDb {
 public:
  static constexpr std::uint64_t kSampleSize = 12;

  static bool looks_like(Bytes bytes);
  // Lines that do not lie inside the file are reported and cut.
  static Result<TraceDb> read(const Blob& blob, const Work& work);

  [[nodiscard]] const Blob& blob() const { return blob_; }
  [[nodiscard]] Generation generation() const { return generation_; }
  [[nodiscard]] const std::vector<TraceLine>& lines() const { return lines_; }
  [[nodiscard]] std::uint64_t sample_count() const;
  // First and last time, where the file says them (meta.db generation).
  [[nodiscard]] const std::optional<TimeWindow>& told_span() const { return told_span_; }
  [[nodiscard]] Sample sample(const TraceLine& line, std::uint64_t index) const {
    const std::byte* at = blob_.bytes().data() + line.begin + index * kSampleSize;
    const Endian order = order_of(generation_);
    return {load_unchecked<std::uint64_t>(at, order), load_unchecked<std::uint32_t>(at + 8, order)};
  }

 private:
  Result<void> add_line(std::uint32_t profile, std::uint16_t type, std::uint64_t begin, std::uint64_t end,
                        std::uint64_t record_at, const Work& work);

  Blob blob_;
  Generation generation_ = Generation::meta;
  std::vector<TraceLine> lines_;
  std::optional<TimeWindow> told_span_;
};

}  // namespace fathom::hpctoolkit
