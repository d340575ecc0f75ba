// Readings of the counters of a trace, per location and metric in time order.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "io/large_array.hpp"
#include "trace/trace.hpp"

namespace fathom::summary {

struct Reading {
  std::int64_t time_ns = 0;
  double value = 0;
};

// Of one pixel; a value holds until the next reading.
struct CounterBin {
  double least = 0;
  double most = 0;
  double mean = 0;  // over the time for which there is a value
  double last = 0;
  bool any = false;
};

// MT: safe (const).
class CounterStore {
 public:
  static Result<std::shared_ptr<const CounterStore>> build(const Trace& trace, const Work& work);

  // Metrics that have readings, in order.
  [[nodiscard]] std::vector<std::uint32_t> metrics() const;
  [[nodiscard]] bool has(std::uint32_t metric, std::uint32_t location) const {
    return lines_.contains({metric, location});
  }
  [[nodiscard]] std::size_t readings(std::uint32_t metric) const;
  [[nodiscard]] std::vector<CounterBin> bins(std::uint32_t metric, std::uint32_t location, std::int64_t from_ns,
                                             std::int64_t to_ns, std::size_t count) const;

 private:
  std::unique_ptr<ArrayPool> pool_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, LargeArray<Reading>> lines_;  // metric, location
  Budget::Reservation reserved_;
};

}  // namespace fathom::summary
