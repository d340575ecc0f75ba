#include "formats/hpctoolkit/derived_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/text.hpp"
#include "defs/presentation.hpp"
#include "formats/hpctoolkit/derived_sides.hpp"

namespace fathom::hpctoolkit {

namespace {

using expression::MetricReference;
using expression::Over;

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
    for (const bool inclusive : {true, false}) {
      const auto& text = inclusive ? variant.inclusive : variant.exclusive;
      if (!text) continue;
      auto tree = compile_formula(*text, [&](char sign, std::int64_t number) { return find(sign, number, inclusive); });
      if (!tree) return report_formula(work_, Place::at_line(file_, variant.line), name, tree.error());
      (inclusive ? sides.inclusive : sides.exclusive) = std::move(*tree);
    }
    if (!sides.inclusive && !sides.exclusive) return {};
    if (const std::string* alias = sides.alias()) {
      Metric& known = mapping_.definitions->metrics[mapping_.definitions->find_metric(*alias).index()];
      if (known.name == metric.name) {
        if (known.description.empty()) known.description = metric.description;
        present(known, metric, variant);
      }
      return {};
    }
    add_derived_metric(name, metric.description, std::move(sides), mapping_);
    present(mapping_.definitions->metrics.back(), metric, variant);
    return {};
  }

  static void present(Metric& to, const TaxonomyMetric& metric, const TaxonomyVariant& variant) {
    to.hidden = !metric.visible || variant.hidden;
    fathom::present(to, {true, true, variant.percent, variant.format.empty() ? metric.format : variant.format});
  }

  // Which statistic of meta.db: its formula and how it is combined, with or without blanks and parentheses.
  static std::optional<Over> over_of(const TaxonomyInput& input) {
    std::string formula;
    std::copy_if(input.formula.begin(), input.formula.end(), std::back_inserter(formula),
                 [](char c) { return c != ' ' && c != '(' && c != ')'; });
    if (formula == "$$" && input.combine == "sum") return Over::sum;
    if (formula == "$$" && input.combine == "min") return Over::lowest;
    if (formula == "$$" && input.combine == "max") return Over::highest;
    if (formula == "1" && input.combine == "sum") return Over::count;
    if (formula == "$$^2" && input.combine == "sum") return Over::squares;
    return std::nullopt;
  }

  Result<MetricReference> find(char, std::int64_t number, bool in_inclusive) {
    if (number < 0 || static_cast<std::size_t>(number) >= taxonomy_.inputs.size()) return Error("no such input");
    const TaxonomyInput& input = taxonomy_.inputs[static_cast<std::size_t>(number)];
    const auto over = over_of(input);
    if (!over) return Error(fmt::format("the {} of '{}' over profiles is not known", input.combine, input.formula));
    const MetricId id = mapping_.definitions->find_metric(input.metric);
    if (!id.valid() || mapping_.definitions->metric(id).derived()) {
      return Error(fmt::format("meta.db has no metric '{}'{}", input.metric,
                               did_you_mean(input.metric, mapping_.definitions->metric_names())));
    }
    const Metric& metric = mapping_.definitions->metric(id);
    for (const StoredScope& scope : metric.scopes) {
      if (scope.name != input.scope) continue;
      if (scope.scope == Scope::inclusive) return reference_to(metric.name, true, in_inclusive, *over);
      // lex_aware is another way to count exclusive values.
      if (scope.scope != Scope::own) return reference_to(metric.name, false, in_inclusive, *over);
      return Error("values of the scope point alone cannot be told from those of folded instructions");
    }
    return Error(fmt::format("metric '{}' has no scope '{}'", input.metric, input.scope));
  }

  const Taxonomy& taxonomy_;
  std::string file_;
  Mapping& mapping_;
  Work work_;
  std::vector<TaxonomyMetric> metrics_;
};

}  // namespace

Result<void> add_derived(const Taxonomy& taxonomy, const std::string& file, Mapping& mapping, const Work& work) {
  return TaxonomyMapper(taxonomy, file, mapping, work).map();
}

}  // namespace fathom::hpctoolkit
