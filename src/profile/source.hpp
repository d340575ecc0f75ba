// Where a profile's values come from. A source hands over any box of metrics × contexts × locations as sparse runs, in
// the order that is cheap for it; nothing ever needs the dense cube.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "defs/definitions.hpp"

namespace fathom {

// Which of a metric's stored flavours: an index into Metric::scopes.
struct StoredMetric {
  MetricId metric;
  std::uint32_t scope = 0;
};

struct IndexRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
  [[nodiscard]] bool contains(std::uint32_t i) const { return i >= begin && i < end; }
};

struct Box {
  std::span<const StoredMetric> metrics;
  IndexRange contexts;
  IndexRange locations;
};

enum class Axis : std::uint8_t { metric, context, location };

// Values along the location axis, or along the context axis; the other two coordinates are fixed.
struct Run {
  StoredMetric metric;
  Axis along = Axis::location;
  ContextId context;    // when along == location
  LocationId location;  // when along == context
  // Positions on the axis, ascending; empty: `count` positions from `first` on, without gaps.
  std::span<const std::uint32_t> positions;
  std::uint32_t first = 0;
  std::size_t count = 0;
  const std::byte* values = nullptr;  // packed, native byte order, maybe unaligned; valid during the visit only
};

using RunVisitor = std::function<Result<void>(const Run&)>;

// MT: safe (const): scan() may run on several threads at once.
class ValueSource {
 public:
  virtual ~ValueSource() = default;
  // The axis along which work is best cut into pieces: each piece of it can be read on its own.
  [[nodiscard]] virtual Axis cheap_axis() const = 0;
  // True when pieces of this axis can be read on their own without going over the rest: some sources have several such.
  [[nodiscard]] virtual bool reads_well_by(Axis axis) const { return axis == cheap_axis(); }
  // Visits every stored value inside the box once, on the calling thread. Values that are absent count as zero.
  virtual Result<void> scan(const Box& box, const RunVisitor& visit) const = 0;
};

}  // namespace fathom
