// experiment.xml 4.0 to definitions.
#include <fmt/format.h>

#include <array>
#include <map>
#include <unordered_set>

#include "formats/hpctoolkit/derived_metrics.hpp"
#include "formats/hpctoolkit/xml_tree.hpp"

namespace fathom::hpctoolkit {

namespace {

constexpr int kInternal = 4;         // show="4": an accumulator
constexpr std::int64_t kScopes = 3;  // point, function, execution: how the writer strides its ids
// Accumulators of a metric when all statistics were asked for, in the writer's order.
constexpr std::array<std::string_view, 5> kAllPartials = {"count", "sum", kSumOfSquares, "min", "max"};

class MetricMapper {
 public:
  MetricMapper(const ExperimentXml& xml, Mapping& mapping) : xml_(xml), mapping_(mapping) {}

  void map() {
    for (const XmlMetricDb& column : xml_.metric_dbs) map_column(column);
    map_statistics();
  }

 private:
  void map_column(const XmlMetricDb& column) {
    auto [name, scope] = without_scope(column.name);
    if (scope.empty()) scope = column.scope.empty() ? scope_of_accumulator(column.id) : column.scope;
    const bool exclusive = scope == "exclusive";
    MetricId id = mapping_.definitions->find_metric(name);
    if (!id.valid()) {
      id = MetricId(mapping_.definitions->metrics.size());
      Metric metric;
      metric.name = metric.display_name = name;
      metric.unit = unit_in_name(name);
      metric.file_id = static_cast<std::uint64_t>(column.id);
      mapping_.definitions->metrics.push_back(std::move(metric));
      mapping_.ids.emplace_back();
    }
    Metric& metric = mapping_.definitions->metrics[id.index()];
    const StoredScope stored{exclusive ? Scope::exclusive : Scope::inclusive, exclusive ? "function" : "execution"};
    if (metric.stored_as(stored.scope) >= 0) return;
    metric.scopes.push_back(stored);
    mapping_.ids[id.index()].push_back(static_cast<std::uint16_t>(column.id));
  }

  // A metric with one scope does not say in its name which; its accumulators do.
  [[nodiscard]] std::string scope_of_accumulator(std::int64_t column) const {
    for (const bool old : {false, true}) {
      for (const XmlMetric& metric : xml_.metrics) {
        if (partial_of(metric) && (old ? metric.id >> 8 : metric.id) == column) return metric.scope;
      }
    }
    return {};
  }

  // In the numbering until 2022-01 an accumulator's id is the column's id × 256 + its number.
  [[nodiscard]] bool old_numbering() const {
    std::unordered_set<std::int64_t> columns;
    for (const XmlMetricDb& column : xml_.metric_dbs) columns.insert(column.id);
    bool any = false;
    for (const XmlMetric& metric : xml_.metrics) {
      if (!partial_of(metric)) continue;
      // Every one must fit: in the newer numbering large ids may do so by chance.
      if (metric.id < 256 || !columns.contains(metric.id >> 8)) return false;
      any = true;
    }
    return any;
  }

  void map_statistics() {
    const bool old = old_numbering();
    std::map<std::string, std::size_t> partials;  // per metric and scope
    for (const XmlMetric& metric : xml_.metrics) {
      if (const auto parts = partial_of(metric)) ++partials[parts->base + metric.scope];
    }
    for (const XmlMetric& native : xml_.metrics) {
      const auto part = partial_of(native);
      if (!part) continue;
      const MetricId id = mapping_.definitions->find_metric(part->base);
      if (!id.valid()) continue;
      mapping_.definitions->metrics[id.index()].description = native.description;
      const Scope scope = native.scope == "exclusive" ? Scope::exclusive : Scope::inclusive;
      const int stored = mapping_.definitions->metric(id).stored_as(scope);
      if (stored < 0) continue;
      const std::size_t count = partials[part->base + native.scope];
      // The newer writer lists every accumulator under the id of the first one.
      const std::int64_t file_id =
          old ? native.id : mapping_.ids[id.index()][static_cast<std::size_t>(stored)] + kScopes * part->number;
      mapping_.statistics.push_back({static_cast<std::uint16_t>(file_id),
                                     {id, static_cast<std::uint32_t>(stored)},
                                     name_of(native, static_cast<std::size_t>(part->number), count)});
    }
  }

  struct Partial {
    std::string base;
    std::int64_t number;
  };
  static std::optional<Partial> partial_of(const XmlMetric& metric) {
    const auto at = metric.name.rfind(":PARTIAL:");
    if (metric.show != kInternal || at == std::string::npos) return std::nullopt;
    const auto [digits, scope] = without_scope(metric.name.substr(at + 9));
    const auto number = parse_number(digits);
    if (!number) return std::nullopt;
    return Partial{metric.name.substr(0, at), *number};
  }
  static std::optional<std::int64_t> parse_number(const std::string& text) {
    std::int64_t value = 0;
    for (const char c : text) {
      if (c < '0' || c > '9' || value > 1000) return std::nullopt;
      value = value * 10 + (c - '0');
    }
    return text.empty() ? std::nullopt : std::optional(value);
  }

  static std::string name_of(const XmlMetric& metric, std::size_t number, std::size_t count) {
    if (count == 1) return "sum";
    if (count == kAllPartials.size() && number < count) return std::string(kAllPartials[number]);
    const std::string formula = metric.formulas.empty() ? "" : metric.formulas.front().text;
    const std::string combine = formula.substr(0, formula.find('('));
    return combine == "min" || combine == "max" ? combine : fmt::format("partial {}", number);
  }

  const ExperimentXml& xml_;
  Mapping& mapping_;
};

}  // namespace

Result<Mapping> map_xml(const ExperimentXml& xml, const Work& work) {
  Mapping mapping;
  mapping.definitions->attributes.emplace_back("title", xml.title);
  MetricMapper(xml, mapping).map();
  FATHOM_CHECK(add_derived(xml, mapping, work));
  FATHOM_CHECK(map_xml_tree(xml, mapping, work));
  return mapping;
}

}  // namespace fathom::hpctoolkit
