#include "defs/definitions.hpp"

#include "defs/context_name.hpp"

namespace fathom {

std::vector<MetricId> Definitions::metric_children(MetricId id) const {
  std::vector<MetricId> out;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].parent == id) out.emplace_back(i);
  }
  return out;
}

std::vector<std::string> Definitions::metric_names() const {
  std::vector<std::string> names;
  names.reserve(metrics.size());
  for (const Metric& metric : metrics) names.push_back(metric.name);
  return names;
}

std::string Definitions::context_name(ContextId id) const { return context_name_without(*this, id, {}); }

std::string Definitions::path(ContextId id) const {
  std::vector<ContextId> chain;
  for (; id.valid(); id = contexts[id].parent) chain.push_back(id);
  std::string out;
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    if (!out.empty()) out += kPathSeparator;
    out += context_name(*it);
  }
  return out;
}

}  // namespace fathom
