// Values of a profile in memory: per location and metric the contexts that have one.
#pragma once

#include <vector>

#include "base/budget.hpp"
#include "profile/source.hpp"

namespace fathom::reduction {

// One location: the values of metric m are [begin[m], begin[m + 1]), by ascending context. Every value takes 8 bytes.
struct LocationValues {
  std::vector<std::uint32_t> begin;
  std::vector<std::uint32_t> contexts;
  std::vector<std::uint64_t> values;

  [[nodiscard]] std::uint64_t bytes() const {
    return (begin.capacity() + contexts.capacity()) * sizeof(std::uint32_t) + values.capacity() * sizeof(std::uint64_t);
  }
};

class ReducedSource : public ValueSource {
 public:
  ReducedSource(std::vector<LocationValues> locations, std::vector<Budget::Reservation> reserved)
      : locations_(std::move(locations)), reserved_(std::move(reserved)) {}

  [[nodiscard]] Axis cheap_axis() const override { return Axis::location; }
  Result<void> scan(const Box& box, const RunVisitor& visit) const override;

 private:
  std::vector<LocationValues> locations_;
  std::vector<Budget::Reservation> reserved_;
};

}  // namespace fathom::reduction
