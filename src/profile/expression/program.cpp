#include "profile/expression/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace fathom::expression {

StepLimit StepLimit::of(const WorkContext& work) {
  StepLimit out;
  if (const auto wanted = work.options.get(kMaxSteps)) out.one_run = *wanted;
  return out;
}

NodeIndex Tree::add(Op op, std::vector<NodeIndex> children, std::uint32_t index) {
  Node node;
  node.op = op;
  node.index = index;
  node.children = std::move(children);
  nodes.push_back(std::move(node));
  if (op == Op::declare_global || op == Op::set_property) changes_globals = true;
  return static_cast<NodeIndex>(nodes.size() - 1);
}

NodeIndex Tree::add_number(double value) {
  const NodeIndex at = add(Op::number);
  nodes[at].number = value;
  return at;
}

NodeIndex Tree::add_text(std::string text) {
  texts.push_back(std::move(text));
  return add(Op::text, {}, static_cast<std::uint32_t>(texts.size() - 1));
}

NodeIndex Tree::add_metric(const MetricReference& wanted, std::vector<NodeIndex> children) {
  return add(Op::metric, std::move(children), reference(wanted));
}

NodeIndex Tree::add_function(Function function, std::vector<NodeIndex> operands) {
  const NodeIndex at = add(Op::function, std::move(operands));
  nodes[at].function = function;
  return at;
}

std::uint32_t Tree::variable(std::string_view name) {
  const auto found = std::find(variables.begin(), variables.end(), name);
  if (found != variables.end()) return static_cast<std::uint32_t>(found - variables.begin());
  variables.emplace_back(name);
  return static_cast<std::uint32_t>(variables.size() - 1);
}

std::uint32_t Tree::reference(const MetricReference& wanted) {
  const auto found = std::find(metrics.begin(), metrics.end(), wanted);
  if (found != metrics.end()) return static_cast<std::uint32_t>(found - metrics.begin());
  metrics.push_back(wanted);
  return static_cast<std::uint32_t>(metrics.size() - 1);
}

double leading_number(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n\r\f\v");
  if (begin == std::string_view::npos) return 0;
  text.remove_prefix(begin);
  const bool minus = text[0] == '-';
  if (minus || text[0] == '+') text.remove_prefix(1);
  // Words such as "inf" are no numbers here.
  if (text.empty() || !(text[0] == '.' || (text[0] >= '0' && text[0] <= '9'))) return 0;
  double value = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return minus ? -value : value;
}

std::string number_text(double number) { return fmt::format("{:.14g}", number); }

double Datum::as_number() const {
  switch (kind) {
    case Kind::number:
      return number;
    case Kind::text:
      return literal ? 0 : leading_number(text);
    case Kind::row:
      break;
  }
  return row.empty() ? 0 : row.front();
}

std::string Datum::as_text() const { return kind == Kind::text ? text : number_text(as_number()); }

bool names_call_paths(const Program& program) {
  const auto names_one = [](const Tree& tree) {
    return std::any_of(tree.nodes.begin(), tree.nodes.end(), [&](const Node& node) {
      return node.op == Op::metric && tree.metrics[node.index].reach == Reach::call;
    });
  };
  return names_one(program.value) || (program.inclusive && names_one(*program.inclusive)) ||
         std::any_of(program.init.begin(), program.init.end(), names_one);
}

}  // namespace fathom::expression
