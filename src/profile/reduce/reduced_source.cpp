#include "profile/reduce/reduced_source.hpp"

#include <algorithm>

namespace fathom::reduction {

Result<void> ReducedSource::scan(const Box& box, const RunVisitor& visit) const {
  for (std::uint32_t at = box.locations.begin; at < box.locations.end; ++at) {
    const LocationValues& location = locations_[at];
    for (const StoredMetric& metric : box.metrics) {
      const std::size_t metric_index = metric.metric.index();
      const std::size_t place = (first_place_.empty() ? metric_index : first_place_[metric_index]) + metric.scope;
      const auto first = location.contexts.begin() + location.begin[place];
      const auto last = location.contexts.begin() + location.begin[place + 1];
      const auto begin = std::lower_bound(first, last, box.contexts.begin);
      const auto end = std::lower_bound(begin, last, box.contexts.end);
      if (begin == end) continue;
      Run run;
      run.metric = metric;
      run.along = Axis::context;
      run.location = LocationId(at);
      run.positions = {begin, end};
      run.count = run.positions.size();
      run.values = std::as_bytes(std::span(location.values)).data() +
                   static_cast<std::size_t>(begin - location.contexts.begin()) * sizeof(std::uint64_t);
      FATHOM_CHECK(visit(run));
    }
  }
  return {};
}

}  // namespace fathom::reduction
