// Values of a profile in memory: per location and metric the contexts that have one.
#pragma once

#include <vector>

#include "base/budget.hpp"
#include "profile/source.hpp"

namespace fathom::reduction {

// One location: the values of metric m are [begin[m], begin[m + 1]), by ascending context. Every value takes 8 bytes. A
// metric that is stored in several scopes has as many places, one after the other.
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
  // `first_place` by metric; empty: every metric has one.
  ReducedSource(std::vector<LocationValues> locations, std::vector<Budget::Reservation> reserved,
                std::vector<std::uint32_t> first_place = {})
      : locations_(std::move(locations)), reserved_(std::move(reserved)), first_place_(std::move(first_place)) {}

  [[nodiscard]] Axis cheap_axis() const override { return Axis::location; }
  Result<void> scan(const Box& box, const RunVisitor& visit) const override;

 private:
  std::vector<LocationValues> locations_;
  std::vector<Budget::Reservation> reserved_;
  std::vector<std::uint32_t> first_place_;
};

}  // namespace fathom::reduction
