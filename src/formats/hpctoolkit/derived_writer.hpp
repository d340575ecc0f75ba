// Derived metrics of a profile as formulas of a database.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "formats/hpctoolkit/formula.hpp"
#include "formats/hpctoolkit/scope_values.hpp"

namespace fathom::hpctoolkit {

// One flavour of a derived metric, written down.
struct WrittenFormula {
  MetricId metric;
  std::string inclusive;  // empty: no such values
  std::string exclusive;
  std::string custom;  // exclusive, over lex_aware operands
};

// How a statistic of a plan's metric in a scope is spelled.
using PlanSpeller = std::function<std::string(std::size_t plan, WrittenScope scope, expression::Over over)>;

// Metrics whose expressions the formula language cannot say are reported and left out; the mean, deviation, minimum and
// maximum of a metric that is written are left out since every database has them.
Result<std::vector<WrittenFormula>> written_formulas(const Profile& profile, const std::vector<MetricPlan>& plans,
                                                     FormulaStyle style, const PlanSpeller& spell);

}  // namespace fathom::hpctoolkit
