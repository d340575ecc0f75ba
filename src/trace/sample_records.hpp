// Samples that can be read from any record on: an index need not hold them, it says where to read again. A trace that
// offers this derives from it beside Trace.
#pragma once

#include <cstdint>
#include <span>

#include "defs/context_tree.hpp"
#include "defs/system_tree.hpp"

namespace fathom {

struct PlacedSample {
  std::int64_t time_ns = 0;
  ContextId context;  // invalid: the location did nothing
};

// MT: safe (const).
class SampleRecords {
 public:
  virtual ~SampleRecords() = default;
  // Whether all that a location has are samples, stored in the order of time. Looks at each of them, once.
  [[nodiscard]] virtual bool in_time_order(LocationId location) const = 0;
  // An index of the same files has found that they are: nobody has to look again.
  virtual void believe_in_time_order(LocationId location) const = 0;
  // For locations whose samples are in time order: fills the front of `out` from this record on and says how many;
  // 0 = the end.
  virtual std::size_t read_samples(LocationId location, std::uint64_t record, std::span<PlacedSample> out) const = 0;
};

}  // namespace fathom
