#include "formats/hpctoolkit/derived_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/text.hpp"
#include "formats/hpctoolkit/formula.hpp"
#include "profile/expression/derive.hpp"

namespace fathom::hpctoolkit {

namespace {

using expression::MetricReference;
using expression::Op;
using expression::Program;
using expression::Reach;
using expression::Tree;
using expression::Wanted;

// A metric of a formula for inclusive, or exclusive, values. The same flavour is left to what is asked for.
MetricReference reference_to(std::string name, bool to_inclusive, bool in_inclusive) {
  const Wanted wanted = to_inclusive == in_inclusive ? Wanted::running
                        : to_inclusive               ? Wanted::inclusive
                                                     : Wanted::exclusive;
  return {std::move(name), Reach::here, wanted, Wanted::running};
}

// The formula as --derive would have it, for people.
std::string readable_formula(const Tree& tree) {
  const auto spell = [](const MetricReference& reference) { return fmt::format("'{}'", reference.metric); };
  auto text = formula_text(tree, FormulaStyle::infix, spell);
  return text ? *text : std::string();
}

struct Sides {
  std::optional<Tree> inclusive;
  std::optional<Tree> exclusive;

  // The only metric that it is made of, when it is nothing but that metric.
  [[nodiscard]] const std::string* alias() const {
    const std::string* name = nullptr;
    for (const auto* side : {&inclusive, &exclusive}) {
      if (!*side) continue;
      if ((*side)->nodes.size() != 1 || (*side)->nodes[0].op != Op::metric) return nullptr;
      const std::string& here = (*side)->metrics[0].metric;
      if (name != nullptr && *name != here) return nullptr;
      name = &here;
    }
    return name;
  }
};

void add_metric(std::string name, const std::string& description, Sides sides, Mapping& mapping) {
  Definitions& defs = *mapping.definitions;
  Metric metric;
  metric.display_name = name;
  metric.unit = unit_in_name(name);
  while (defs.find_metric(name).valid()) name += '\'';
  metric.name = std::move(name);
  metric.description = description;
  metric.type = {ValueKind::f64, 0};
  metric.derivation = Derivation::post;
  metric.expression = readable_formula(sides.exclusive ? *sides.exclusive : *sides.inclusive);
  metric.attributes.emplace_back(kShown, kWhenNamed);
  auto program = std::make_shared<Program>();
  program->language = "hpctoolkit";
  if (sides.exclusive) program->value = std::move(*sides.exclusive);
  program->inclusive = sides.inclusive ? std::move(*sides.inclusive) : Tree();
  mapping.programs.emplace(MetricId(defs.metrics.size()), std::move(program));
  defs.metrics.push_back(std::move(metric));
}

Result<void> report(const Work& work, const Place& place, const std::string& metric, const Error& error) {
  return work->diagnostics.warn("hpctoolkit.formula", place,
                                fmt::format("derived metric '{}' is left out: {}", metric, error.text()));
}

// ---- metrics/*.yaml

class TaxonomyMapper {
 public:
  TaxonomyMapper(const Taxonomy& taxonomy, std::string file, Mapping& mapping, const Work& work)
      : taxonomy_(taxonomy), file_(std::move(file)), mapping_(mapping), work_(work), metrics_(taxonomy.metrics) {}

  Result<void> map() {
    fill_from_children();
    for (const TaxonomyMetric& metric : metrics_) {
      for (const TaxonomyVariant& variant : metric.variants) FATHOM_CHECK(map_variant(metric, variant));
    }
    return {};
  }

 private:
  static constexpr std::size_t kMostText = std::size_t{1} << 16;

  // Children come after their parents, so that backwards their formulas are complete.
  void fill_from_children() {
    std::vector<std::vector<std::size_t>> children(metrics_.size());
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      if (metrics_[i].parent != TaxonomyMetric::kNoParent) children[metrics_[i].parent].push_back(i);
    }
    for (std::size_t i = metrics_.size(); i-- > 0;) {
      for (TaxonomyVariant& variant : metrics_[i].variants) {
        if (variant.from == TaxonomyVariant::From::formulas) continue;
        std::span<const std::size_t> used = children[i];
        if (variant.from == TaxonomyVariant::From::first_child && !used.empty()) used = used.first(1);
        variant.inclusive = sum_of(used, variant.name, &TaxonomyVariant::inclusive);
        variant.exclusive = sum_of(used, variant.name, &TaxonomyVariant::exclusive);
      }
    }
  }

  // A child without a value leaves the sum without one.
  std::optional<std::string> sum_of(std::span<const std::size_t> children, const std::string& name,
                                    std::optional<std::string> TaxonomyVariant::*side) const {
    std::string out;
    for (const std::size_t child : children) {
      const auto& variants = metrics_[child].variants;
      const auto found = std::find_if(variants.begin(), variants.end(), [&](const auto& v) { return v.name == name; });
      if (found == variants.end() || !((*found).*side)) return std::nullopt;
      out += (out.empty() ? "" : "+") + *((*found).*side);
      if (out.size() > kMostText) return std::nullopt;
    }
    if (out.empty()) return std::nullopt;
    return children.size() == 1 ? out : fmt::format("({})", out);
  }

  Result<void> map_variant(const TaxonomyMetric& metric, const TaxonomyVariant& variant) {
    const bool plain = variant.name.empty() || variant.name == "Sum";
    const bool taken = mapping_.definitions->find_metric(metric.name).valid();
    const std::string name = plain && !taken ? metric.name : fmt::format("{}:{}", metric.name, variant.name);
    Sides sides;
    statistic_ = false;
    for (const bool inclusive : {true, false}) {
      const auto& text = inclusive ? variant.inclusive : variant.exclusive;
      if (!text) continue;
      auto tree = compile_formula(*text, [&](char sign, std::int64_t number) { return find(sign, number, inclusive); });
      if (!tree && statistic_) return {};  // shown among the statistics
      if (!tree) return report(work_, Place::at_line(file_, variant.line), name, tree.error());
      (inclusive ? sides.inclusive : sides.exclusive) = std::move(*tree);
    }
    if (!sides.inclusive && !sides.exclusive) return {};
    if (const std::string* alias = sides.alias()) {
      Metric& known = mapping_.definitions->metrics[mapping_.definitions->find_metric(*alias).index()];
      if (known.description.empty() && known.name == metric.name) known.description = metric.description;
      return {};
    }
    add_metric(name, metric.description, std::move(sides), mapping_);
    return {};
  }

  Result<MetricReference> find(char, std::int64_t number, bool in_inclusive) {
    if (number < 0 || static_cast<std::size_t>(number) >= taxonomy_.inputs.size()) return Error("no such input");
    const TaxonomyInput& input = taxonomy_.inputs[static_cast<std::size_t>(number)];
    // Statistics other than the sum are over all profiles and have no value per profile.
    if (input.formula != "$$" || input.combine != "sum") {
      statistic_ = true;
      return Error(fmt::format("the {} of {} over profiles has no value per profile", input.combine, input.formula));
    }
    const MetricId id = mapping_.definitions->find_metric(input.metric);
    if (!id.valid() || mapping_.definitions->metric(id).derived()) {
      return Error(fmt::format("meta.db has no metric '{}'{}", input.metric,
                               did_you_mean(input.metric, mapping_.definitions->metric_names())));
    }
    const Metric& metric = mapping_.definitions->metric(id);
    for (const StoredScope& scope : metric.scopes) {
      if (scope.name != input.scope) continue;
      if (scope.scope == Scope::inclusive) return reference_to(metric.name, true, in_inclusive);
      // lex_aware is another way to count exclusive values.
      if (scope.scope != Scope::own) return reference_to(metric.name, false, in_inclusive);
      return Error("values of the scope point alone cannot be told from those of folded instructions");
    }
    return Error(fmt::format("metric '{}' has no scope '{}'", input.metric, input.scope));
  }

  const Taxonomy& taxonomy_;
  std::string file_;
  Mapping& mapping_;
  Work work_;
  std::vector<TaxonomyMetric> metrics_;
  bool statistic_ = false;
};

// ---- experiment.xml

class XmlMapper {
 public:
  XmlMapper(const ExperimentXml& xml, Mapping& mapping, const Work& work) : xml_(xml), mapping_(mapping), work_(work) {}

  Result<void> map() {
    for (std::size_t i = 0; i < xml_.metrics.size(); ++i) {
      const XmlMetric& metric = xml_.metrics[i];
      const XmlFormula* view = view_of(metric);
      if (view == nullptr || is_statistic(metric)) continue;
      const std::string name = without_scope(metric.name).first;
      if (std::find(done_.begin(), done_.end(), name) != done_.end()) continue;
      done_.push_back(name);
      FATHOM_CHECK(map_pair(name, i));
    }
    return {};
  }

 private:
  static const XmlFormula* view_of(const XmlMetric& metric) {
    for (const XmlFormula& formula : metric.formulas) {
      if (formula.type == "view") return &formula;
    }
    return nullptr;
  }

  // "NAME:Mean (I)" of a metric that has values: found among its statistics.
  [[nodiscard]] bool is_statistic(const XmlMetric& metric) const {
    const std::string name = without_scope(metric.name).first;
    const auto colon = name.rfind(':');
    if (colon == std::string::npos) return false;
    constexpr std::string_view kStatistics[] = {"Sum", "Mean", "StdDev", "CfVar", "Min", "Max"};
    return mapping_.definitions->find_metric(name.substr(0, colon)).valid() &&
           std::find(std::begin(kStatistics), std::end(kStatistics), name.substr(colon + 1)) != std::end(kStatistics);
  }

  // Both flavours of one metric: the one at `first` and the one of the same name.
  Result<void> map_pair(const std::string& name, std::size_t first) {
    Sides sides;
    for (std::size_t i = first; i < xml_.metrics.size(); ++i) {
      const XmlMetric& metric = xml_.metrics[i];
      const XmlFormula* view = view_of(metric);
      if (view == nullptr || without_scope(metric.name).first != name) continue;
      const bool inclusive = metric.scope != "exclusive";
      auto tree =
          compile_formula(view->text, [&](char sign, std::int64_t number) { return find(sign, number, inclusive); });
      if (!tree) return report(work_, Place::at_line(xml_.file_name, view->line), metric.name, tree.error());
      (inclusive ? sides.inclusive : sides.exclusive) = std::move(*tree);
    }
    if (sides.alias() != nullptr) return {};
    add_metric(name, xml_.metrics[first].description, std::move(sides), mapping_);
    return {};
  }

  Result<MetricReference> find(char sign, std::int64_t number, bool in_inclusive) const {
    std::int64_t id = number;
    if (sign == '#') {
      const auto found = std::find_if(xml_.metrics.begin(), xml_.metrics.end(),
                                      [&](const XmlMetric& metric) { return metric.order == number; });
      if (found == xml_.metrics.end()) return Error(fmt::format("no metric has the order number {}", number));
      id = found->id;
    }
    FATHOM_TRY(MetricReference out, by_id(id, in_inclusive));
    if (sign == '#') out.flavour = Wanted::running;
    if (sign == '@') out.reach = Reach::roots;
    return out;
  }

  [[nodiscard]] Result<MetricReference> by_id(std::int64_t id, bool in_inclusive) const {
    const Definitions& defs = *mapping_.definitions;
    for (const StatisticColumn& column : mapping_.statistics) {
      if (column.id != id) continue;
      const Metric& metric = defs.metric(column.metric.metric);
      if (column.statistic != "sum") {
        return Error(
            fmt::format("the {} of '{}' over profiles has no value per profile", column.statistic, metric.name));
      }
      return reference_to(metric.name, metric.scopes[column.metric.scope].scope == Scope::inclusive, in_inclusive);
    }
    for (const XmlMetric& metric : xml_.metrics) {
      if (metric.id != id) continue;
      std::string name = without_scope(metric.name).first;
      if (name.ends_with(":Sum") && defs.find_metric(name.substr(0, name.size() - 4)).valid()) {
        name.resize(name.size() - 4);
      }
      if (!defs.find_metric(name).valid()) break;
      return reference_to(name, metric.scope != "exclusive", in_inclusive);
    }
    return Error(fmt::format("there is no metric {}", id));
  }

  const ExperimentXml& xml_;
  Mapping& mapping_;
  Work work_;
  std::vector<std::string> done_;
};

}  // namespace

Result<void> add_derived(const Taxonomy& taxonomy, const std::string& file, Mapping& mapping, const Work& work) {
  return TaxonomyMapper(taxonomy, file, mapping, work).map();
}

Result<void> add_derived(const ExperimentXml& xml, Mapping& mapping, const Work& work) {
  return XmlMapper(xml, mapping, work).map();
}

}  // namespace fathom::hpctoolkit
