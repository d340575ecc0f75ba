// The metrics of a dataset, with an index of their names.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "defs/metric.hpp"

namespace fathom {

// Anything of a metric may change in its place but its name, which the index knows it by. MT: safe (const).
class MetricList {
 public:
  MetricList() = default;
  MetricList(std::vector<Metric> metrics) : metrics_(std::move(metrics)) { rebuild(); }
  MetricList(std::initializer_list<Metric> metrics) : metrics_(metrics) { rebuild(); }

  void push_back(Metric metric);
  void clear();
  // The first one of that name; invalid where there is none.
  [[nodiscard]] MetricId find(std::string_view name) const;

  [[nodiscard]] std::size_t size() const { return metrics_.size(); }
  [[nodiscard]] bool empty() const { return metrics_.empty(); }
  [[nodiscard]] const Metric& operator[](std::size_t index) const { return metrics_[index]; }
  [[nodiscard]] Metric& operator[](std::size_t index) { return metrics_[index]; }
  [[nodiscard]] Metric& back() { return metrics_.back(); }
  [[nodiscard]] auto begin() const { return metrics_.begin(); }
  [[nodiscard]] auto end() const { return metrics_.end(); }
  [[nodiscard]] auto begin() { return metrics_.begin(); }
  [[nodiscard]] auto end() { return metrics_.end(); }

 private:
  void rebuild();
  // Where a name is or would be.
  [[nodiscard]] std::size_t slot_of(std::string_view name) const;

  std::vector<Metric> metrics_;
  std::vector<std::uint32_t> slots_;  // position + 1, 0 = free; a power of two, at most half of them taken
};

}  // namespace fathom
