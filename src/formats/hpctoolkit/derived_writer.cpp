#include "formats/hpctoolkit/derived_writer.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "profile/export/left_out_metrics.hpp"

namespace fathom::hpctoolkit {

namespace {

using expression::MetricReference;
using expression::Tree;
using expression::Wanted;

// "X:Mean" where X is written, with all its statistics.
bool is_written_statistic(const std::string& name, const std::unordered_map<std::string, std::size_t>& plan_of) {
  const auto colon = name.rfind(':');
  if (colon == std::string::npos || !plan_of.contains(name.substr(0, colon))) return false;
  const std::string_view statistic = std::string_view(name).substr(colon + 1);
  return statistic == "Mean" || statistic == "StdDev" || statistic == "CfVar" || statistic == "Min" ||
         statistic == "Max";
}

}  // namespace

Result<std::vector<WrittenFormula>> written_formulas(const Profile& profile, const std::vector<MetricPlan>& plans,
                                                     FormulaStyle style, const PlanSpeller& spell) {
  const Definitions& defs = profile.defs();
  std::unordered_map<std::string, std::size_t> plan_of;
  for (std::size_t i = 0; i < plans.size(); ++i) plan_of.emplace(defs.metric(plans[i].metric).name, i);
  std::vector<WrittenFormula> out;
  LeftOutMetrics left_out;
  for (std::size_t i = 0; i < defs.metrics.size(); ++i) {
    const Metric& metric = defs.metrics[i];
    if (!metric.derived() || is_written_statistic(metric.name, plan_of)) continue;
    const auto program = profile.programs.find(MetricId(i));
    std::string unknown;
    const auto write = [&](const Tree& tree, WrittenScope scope) -> Result<std::string> {
      if (tree.nodes.empty()) return std::string();
      return formula_text(tree, style, [&](const MetricReference& reference) {
        const auto plan = plan_of.find(reference.metric);
        if (plan == plan_of.end()) {
          unknown = reference.metric;
          return std::string();
        }
        return spell(plan->second,
                     reference.flavour == Wanted::inclusive   ? kExecution
                     : reference.flavour == Wanted::exclusive ? kFunction
                                                              : scope,
                     reference.over);
      });
    };
    std::string why = program == profile.programs.end() ? "its expression cannot be evaluated" : "";
    // Pre-derived metrics are evaluated before values are added up, which no formula of a database is.
    if (metric.derivation != Derivation::post) why = "it is evaluated per cell";
    if (metric.switched_off) why = "it is declared void";
    if (why.empty()) {
      const Tree& value = program->second->value;
      auto inclusive = write(program->second->inclusive ? *program->second->inclusive : value, kExecution);
      auto exclusive = write(value, kFunction);
      auto custom = write(value, kLexAware);
      if (!unknown.empty()) {
        why = fmt::format("it needs '{}', which is not stored", unknown);
      } else if (!inclusive || !exclusive || !custom) {
        why = "its expression has parts that a formula cannot say";
      } else {
        out.push_back({MetricId(i), *std::move(inclusive), *std::move(exclusive), *std::move(custom)});
      }
    }
    if (!why.empty()) left_out.add(metric, why);
  }
  FATHOM_CHECK(left_out.tell(profile, "hpctoolkit.formula_left_out"));
  return out;
}

}  // namespace fathom::hpctoolkit
