#include "defs/metric_list.hpp"

#include <algorithm>
#include <bit>

namespace fathom {

std::size_t MetricList::slot_of(std::string_view name) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = std::hash<std::string_view>()(name) & mask;
  while (slots_[at] != 0 && metrics_[slots_[at] - 1].name != name) at = (at + 1) & mask;
  return at;
}

MetricId MetricList::find(std::string_view name) const {
  if (slots_.empty()) return {};
  const std::uint32_t found = slots_[slot_of(name)];
  return found == 0 ? MetricId() : MetricId(found - 1);
}

void MetricList::push_back(Metric metric) {
  metrics_.push_back(std::move(metric));
  if (2 * metrics_.size() > slots_.size()) {
    rebuild();
    return;
  }
  std::uint32_t& slot = slots_[slot_of(metrics_.back().name)];
  if (slot == 0) slot = static_cast<std::uint32_t>(metrics_.size());
}

void MetricList::clear() {
  metrics_.clear();
  slots_.clear();
}

void MetricList::rebuild() {
  if (metrics_.empty()) return;
  slots_.assign(std::max<std::size_t>(16, std::bit_ceil(4 * metrics_.size())), 0);
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    std::uint32_t& slot = slots_[slot_of(metrics_[i].name)];
    if (slot == 0) slot = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace fathom
