#include "formats/hpctoolkit/derived_sides.hpp"

#include <fmt/format.h>

#include "profile/expression/derive.hpp"

namespace fathom::hpctoolkit {

using expression::Function;
using expression::MetricReference;
using expression::NodeIndex;
using expression::Op;
using expression::Over;
using expression::Program;
using expression::Reach;
using expression::Tree;
using expression::Wanted;

MetricReference reference_to(std::string name, bool to_inclusive, bool in_inclusive, Over over) {
  const Wanted wanted = to_inclusive == in_inclusive ? Wanted::running
                        : to_inclusive               ? Wanted::inclusive
                                                     : Wanted::exclusive;
  return {std::move(name), Reach::here, wanted, Wanted::running, over};
}

std::optional<Over> over_named(std::string_view statistic) {
  if (statistic == "sum") return Over::sum;
  if (statistic == "count") return Over::count;
  if (statistic == kSumOfSquares) return Over::squares;
  if (statistic == "min") return Over::lowest;
  if (statistic == "max") return Over::highest;
  return std::nullopt;
}

const std::string* Sides::alias() const {
  const std::string* name = nullptr;
  for (const auto* side : {&inclusive, &exclusive}) {
    if (!*side) continue;
    if ((*side)->nodes.size() != 1 || (*side)->nodes[0].op != Op::metric) return nullptr;
    if ((*side)->metrics[0].over != Over::sum) return nullptr;
    const std::string& here = (*side)->metrics[0].metric;
    if (name != nullptr && *name != here) return nullptr;
    name = &here;
  }
  return name;
}

namespace {

// The formula as --derive would have it, for people.
std::string readable_formula(const Tree& tree) {
  constexpr const char* kSpelled[] = {"'{}'", "count('{}')", "squares('{}')", "lowest('{}')", "highest('{}')"};
  const auto spell = [&](const MetricReference& reference) {
    return fmt::format(fmt::runtime(kSpelled[static_cast<std::size_t>(reference.over)]), reference.metric);
  };
  auto text = formula_text(tree, FormulaStyle::infix, spell);
  return text ? *text : std::string();
}

// sqrt(a - b) over statistics is a deviation, which is 0 where the difference is no more than rounding.
void ignore_rounding(Tree& tree, double least_variance) {
  const std::size_t count = tree.nodes.size();
  for (NodeIndex i = 0; i < count; ++i) {
    if (tree.nodes[i].op != Op::function || tree.nodes[i].function != Function::sqrt) continue;
    const NodeIndex variance = tree.nodes[i].children[0];
    if (tree.nodes[variance].op != Op::subtract) continue;
    const NodeIndex square = tree.nodes[variance].children[1];
    const NodeIndex least = tree.add(Op::multiply, {tree.add_number(least_variance), square});
    const NodeIndex small = tree.add(Op::less, {variance, least});
    const NodeIndex root = tree.add_function(Function::sqrt, {variance});
    const NodeIndex nothing = tree.add_number(0);
    tree.nodes[i].op = Op::choose;
    tree.nodes[i].children = {small, nothing, root};
  }
}

}  // namespace

void add_derived_metric(std::string name, const std::string& description, Sides sides, Mapping& mapping) {
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
  // Others are left as they are, so that they can be written again.
  const bool deviation = metric.name.ends_with(":StdDev") || metric.name.ends_with(":CfVar");
  for (auto* side : {&sides.inclusive, &sides.exclusive}) {
    if (deviation && *side) ignore_rounding(**side, sides.least_variance);
  }
  auto program = std::make_shared<Program>();
  program->language = "hpctoolkit";
  if (sides.exclusive) program->value = std::move(*sides.exclusive);
  program->inclusive = sides.inclusive ? std::move(*sides.inclusive) : Tree();
  mapping.programs.emplace(MetricId(defs.metrics.size()), std::move(program));
  defs.metrics.push_back(std::move(metric));
}

Result<void> report_formula(const Work& work, const Place& place, const std::string& metric, const Error& error) {
  return work->diagnostics.warn("hpctoolkit.formula", place,
                                fmt::format("derived metric '{}' is left out: {}", metric, error.text()));
}

}  // namespace fathom::hpctoolkit
