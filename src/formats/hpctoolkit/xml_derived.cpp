// Formulas of experiment.xml, both generations.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "formats/hpctoolkit/derived_metrics.hpp"
#include "formats/hpctoolkit/derived_sides.hpp"

namespace fathom::hpctoolkit {

namespace {

using expression::MetricReference;
using expression::Over;
using expression::Reach;
using expression::Wanted;

// After the name of a column that is stored and shown through a formula, where its own name does not tell which is
// meant.
constexpr std::string_view kAsShown = " (shown)";

// What a formula means by a column of the XML.
class Columns {
 public:
  virtual ~Columns() = default;
  [[nodiscard]] virtual Result<MetricReference> by_id(std::int64_t id, const XmlMetric& in,
                                                      bool in_inclusive) const = 0;
  // The formula of a column that says what is shown.
  [[nodiscard]] virtual bool says_what_is_shown(const XmlFormula& formula) const { return formula.type == "view"; }
  [[nodiscard]] virtual double least_variance() const { return Sides().least_variance; }
};

class XmlMapper {
 public:
  XmlMapper(const ExperimentXml& xml, const Columns& columns, Mapping& mapping, const Work& work)
      : xml_(xml), columns_(columns), mapping_(mapping), work_(work) {}

  Result<void> map() {
    // Both flavours of a metric, one after the other in the order of the first.
    std::vector<std::pair<std::string, std::vector<const XmlMetric*>>> pairs;
    std::unordered_map<std::string, std::size_t> by_name;
    for (const XmlMetric& metric : xml_.metrics) {
      if (formula_of(metric) == nullptr) continue;
      std::string name = without_scope(metric.name).first;
      const auto [found, fresh] = by_name.try_emplace(name, pairs.size());
      if (fresh) pairs.emplace_back(std::move(name), std::vector<const XmlMetric*>());
      pairs[found->second].second.push_back(&metric);
    }
    for (const auto& [name, flavours] : pairs) FATHOM_CHECK(map_pair(name, flavours));
    return {};
  }

 private:
  [[nodiscard]] const XmlFormula* formula_of(const XmlMetric& metric) const {
    const XmlFormula* found = nullptr;
    for (const XmlFormula& formula : metric.formulas) {
      if (formula.type == "view") return &formula;
      if (columns_.says_what_is_shown(formula)) found = &formula;
    }
    return found;
  }

  Result<void> map_pair(const std::string& name, const std::vector<const XmlMetric*>& flavours) {
    Sides sides;
    sides.least_variance = columns_.least_variance();
    for (const XmlMetric* metric : flavours) {
      const XmlFormula& formula = *formula_of(*metric);
      const bool inclusive = metric->scope != "exclusive";
      auto tree = compile_formula(
          formula.text, [&](char sign, std::int64_t number) { return find(sign, number, *metric, inclusive); });
      if (!tree) return report_formula(work_, Place::at_line(xml_.file_name, formula.line), metric->name, tree.error());
      (inclusive ? sides.inclusive : sides.exclusive) = std::move(*tree);
    }
    if (const std::string* alias = sides.alias()) {
      // What is shown of a stored metric is its sum.
      const MetricId stored = mapping_.definitions->find_metric(*alias);
      if (stored.valid()) present(mapping_.definitions->metrics[stored.index()], flavours);
      return {};
    }
    const bool taken = mapping_.definitions->find_metric(name).valid();
    add_derived_metric(taken ? name + std::string(kAsShown) : name, flavours.front()->description, std::move(sides),
                       mapping_);
    present(mapping_.definitions->metrics.back(), flavours);
    return {};
  }

  [[nodiscard]] Result<MetricReference> find(char sign, std::int64_t number, const XmlMetric& in,
                                             bool in_inclusive) const {
    std::int64_t id = number;
    if (sign == '#') {
      const auto found = std::find_if(xml_.metrics.begin(), xml_.metrics.end(),
                                      [&](const XmlMetric& metric) { return metric.order == number; });
      if (found == xml_.metrics.end()) return Error(fmt::format("no metric has the order number {}", number));
      id = found->id;
    }
    FATHOM_TRY(MetricReference out, columns_.by_id(id, in, in_inclusive));
    if (sign == '#') out.flavour = Wanted::running;
    if (sign == '@') out.reach = Reach::roots;
    return out;
  }

  const ExperimentXml& xml_;
  const Columns& columns_;
  Mapping& mapping_;
  Work work_;
};

const XmlMetric* find_metric(const ExperimentXml& xml, std::int64_t id) {
  const auto found =
      std::find_if(xml.metrics.begin(), xml.metrics.end(), [&](const XmlMetric& metric) { return metric.id == id; });
  return found == xml.metrics.end() ? nullptr : &*found;
}

// 4.0: ids of the summary profile, whose statistics are worked out from the profiles, or of other metrics.
class SummaryColumns final : public Columns {
 public:
  SummaryColumns(const ExperimentXml& xml, const Mapping& mapping) : xml_(xml), mapping_(mapping) {}

  [[nodiscard]] Result<MetricReference> by_id(std::int64_t id, const XmlMetric&, bool in_inclusive) const override {
    const Definitions& defs = *mapping_.definitions;
    for (const StatisticColumn& column : mapping_.statistics) {
      if (column.id != id) continue;
      const Metric& metric = defs.metric(column.metric.metric);
      const auto over = over_named(column.statistic);
      if (!over) return Error(fmt::format("the {} of '{}' over profiles is not known", column.statistic, metric.name));
      return reference_to(metric.name, metric.scopes[column.metric.scope].scope == Scope::inclusive, in_inclusive,
                          *over);
    }
    if (const XmlMetric* metric = find_metric(xml_, id)) {
      std::string name = without_scope(metric->name).first;
      if (name.ends_with(":Sum") && defs.find_metric(name.substr(0, name.size() - 4)).valid()) {
        name.resize(name.size() - 4);
      }
      if (defs.find_metric(name).valid()) return reference_to(name, metric->scope != "exclusive", in_inclusive);
    }
    return Error(fmt::format("there is no metric {}", id));
  }

 private:
  const ExperimentXml& xml_;
  const Mapping& mapping_;
};

// Classic: accumulators. Where there are files per thread they are worked out from those, which are not rounded.
class ClassicColumns final : public Columns {
 public:
  ClassicColumns(const ExperimentXml& xml, const Mapping& mapping, bool per_thread)
      : xml_(xml), mapping_(mapping), per_thread_(per_thread) {}

  [[nodiscard]] bool says_what_is_shown(const XmlFormula& formula) const override {
    return formula.type == "view" || formula.type == "finalize";
  }

  [[nodiscard]] Result<MetricReference> by_id(std::int64_t id, const XmlMetric& in, bool in_inclusive) const override {
    const Definitions& defs = *mapping_.definitions;
    const XmlMetric* metric = find_metric(xml_, id);
    if (metric == nullptr) return Error(fmt::format("there is no metric {}", id));
    const std::string name = without_scope(metric->name).first;
    const bool inclusive = metric->scope != "exclusive";
    // A column that is shown by a formula of its own, seen from another one. Its own id is what is stored.
    const bool finalizing = std::none_of(in.formulas.begin(), in.formulas.end(),
                                         [](const XmlFormula& formula) { return formula.type == "view"; });
    for (const std::string& shown : {name + std::string(kAsShown), name}) {
      const MetricId id_of = defs.find_metric(shown);
      if (!finalizing && metric->id != in.id && id_of.valid() && mapping_.programs.contains(id_of)) {
        return reference_to(shown, inclusive, in_inclusive);
      }
    }
    if (!per_thread_) {
      const std::string stored = name + std::string(kAllThreads);
      if (!defs.find_metric(stored).valid()) return Error(fmt::format("there are no values of '{}'", metric->name));
      return reference_to(stored, inclusive, in_inclusive);
    }
    for (std::string base = name;; base.resize(base.rfind(':'))) {
      const MetricId stored = defs.find_metric(base);
      if (stored.valid() && !defs.metric(stored).scopes.empty()) {
        return reference_to(base, inclusive, in_inclusive, accumulated(*metric, name.substr(base.size())));
      }
      if (base.rfind(':') == std::string::npos) break;
    }
    return Error(fmt::format("the files per thread have no values of '{}'", name));
  }

  // Stored numbers have six digits: a variance below what those can tell is none.
  [[nodiscard]] double least_variance() const override { return per_thread_ ? Columns::least_variance() : 2e-5; }

 private:
  // What a column gathers: by how one more thread is combined, else by its name.
  static Over accumulated(const XmlMetric& metric, std::string_view suffix) {
    for (const XmlFormula& formula : metric.formulas) {
      if (formula.type != "combine") continue;
      if (formula.text.starts_with("min")) return Over::lowest;
      if (formula.text.starts_with("max")) return Over::highest;
    }
    if (suffix.ends_with(":num-src")) return Over::count;
    if (suffix.ends_with(":accum2")) return Over::squares;
    if (suffix == ":Min") return Over::lowest;
    if (suffix == ":Max") return Over::highest;
    return Over::sum;
  }

  const ExperimentXml& xml_;
  const Mapping& mapping_;
  bool per_thread_;
};

}  // namespace

Result<void> add_derived(const ExperimentXml& xml, Mapping& mapping, const Work& work) {
  return XmlMapper(xml, SummaryColumns(xml, mapping), mapping, work).map();
}

Result<void> add_classic_derived(const ExperimentXml& xml, bool per_thread, Mapping& mapping, const Work& work) {
  return XmlMapper(xml, ClassicColumns(xml, mapping, per_thread), mapping, work).map();
}

}  // namespace fathom::hpctoolkit
