#include "formats/hpctoolkit/formula.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "base/number.hpp"
#include "base/text.hpp"
#include "profile/expression/infix.hpp"

namespace fathom::hpctoolkit {

namespace {

using expression::Function;
using expression::kAnyNumber;
using expression::NamedFunction;
using expression::NodeIndex;
using expression::Op;

constexpr NamedFunction kFunctions[] = {
    {"sum", Function::sum, 1, kAnyNumber},
    {"avg", Function::mean, 1, kAnyNumber},
    {"min", Function::minimum, 1, kAnyNumber},
    {"max", Function::maximum, 1, kAnyNumber},
    {"prod", Function::product, 1, kAnyNumber},
    {"stdev", Function::deviation, 1, kAnyNumber},
    {"mod", Function::modulo, 2, 2},
    {"log", Function::log10, 1, 1},
    {"log", Function::logarithm, 2, 2},
    {"ln", Function::log, 1, 1},
    {"lg", Function::log2, 1, 1},
    {"sqrt", Function::sqrt, 1, 1},
    {"abs", Function::abs, 1, 1},
    {"sign", Function::sign, 1, 1},
    {"round", Function::round, 1, 1},
    {"floor", Function::floor, 1, 1},
    {"ceil", Function::ceil, 1, 1},
    {"exp", Function::exp, 1, 1},
    {"fact", Function::factorial, 1, 1},
    {"combin", Function::combinations, 2, 2},
    {"sin", Function::sin, 1, 1},
    {"cos", Function::cos, 1, 1},
    {"tan", Function::tan, 1, 1},
    {"asin", Function::asin, 1, 1},
    {"acos", Function::acos, 1, 1},
    {"atan", Function::atan, 1, 1},
    {"sinh", Function::sinh, 1, 1},
    {"cosh", Function::cosh, 1, 1},
    {"tanh", Function::tanh, 1, 1},
    {"asinh", Function::asinh, 1, 1},
    {"acosh", Function::acosh, 1, 1},
    {"atanh", Function::atanh, 1, 1},
};

class Parser final : public expression::InfixParser {
 public:
  Parser(std::string_view text, const VariableLookup& variables) : InfixParser(text), variables_(variables) {}

 private:
  NodeIndex divide(NodeIndex a, NodeIndex b) override {
    const NodeIndex out = tree_.add(Op::divide, {a, b});
    tree_.nodes[out].detail = 1;
    return out;
  }

  NodeIndex operand() override {
    const char c = text_[at_];
    if (c == '$' || c == '@' || c == '#') return variable(c);
    if (word_start(c)) return word();
    fail("a number, a variable or '('");
    return 0;
  }

  NodeIndex variable(char sign) {
    const std::size_t begin = at_++;
    const std::size_t digits = at_;
    if (!at_end() && text_[at_] == '-') ++at_;
    while (!at_end() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    const auto number = parse_integer<std::int64_t>(text_.substr(digits, at_ - digits));
    if (!number) {
      at_ = digits;
      fail("the number of a metric");
      return 0;
    }
    auto found = variables_(sign, *number);
    if (!found) {
      fail_with(found.error().what(), begin);
      return 0;
    }
    return tree_.add_metric(*found);
  }

  NodeIndex word() {
    const std::size_t begin = at_;
    const std::string name = to_lower(take_word());
    const bool called = accept("(");
    std::vector<NodeIndex> operands;
    if (called) operands = arguments();
    if (failed_) return 0;
    if (operands.empty() && name == "pi") return tree_.add_number(std::numbers::pi);
    if (operands.empty() && name == "e") return tree_.add_number(std::numbers::e);
    if (called && operands.empty() && name == "rand") {
      return tree_.add_function(Function::random, {tree_.add_number(1)});
    }
    if (!called) {
      fail_with(fmt::format("'{}' is no variable: those are $n, @n and #n", name), begin);
      return 0;
    }
    if (name == "if" && operands.size() == 3) return tree_.add(Op::choose, std::move(operands));
    if (name == "pow" && operands.size() == 2) return tree_.add(Op::power, std::move(operands));
    return call(kFunctions, name, std::move(operands), begin);
  }

  const VariableLookup& variables_;
};

class Printer {
 public:
  Printer(const expression::Tree& tree, FormulaStyle style, const MetricSpeller& spell)
      : tree_(tree), style_(style), spell_(spell) {}

  Result<std::string> print() {
    std::string out = node(tree_.root, 0);
    if (failed_) return Error("has parts that the formula language cannot say");
    return out;
  }

 private:
  // Trees of every language are at most this deep, chains of sums included.
  static constexpr std::size_t kMostLevels = 1000;

  std::string node(NodeIndex index, std::size_t level) {
    if (level > kMostLevels || index >= tree_.nodes.size()) failed_ = true;
    if (failed_) return {};
    const expression::Node& at = tree_.nodes[index];
    switch (at.op) {
      case Op::number:
        return number(at.number);
      case Op::metric:
        if (tree_.metrics[at.index].reach != expression::Reach::here) break;
        return spell_(tree_.metrics[at.index]);
      case Op::add:
        return infix("+", at, level);
      case Op::subtract:
        return infix("-", at, level);
      case Op::multiply:
        return infix("*", at, level);
      case Op::divide:
        return infix("/", at, level);
      case Op::power:
        return infix("^", at, level);
      case Op::negate:
        return style_ == FormulaStyle::infix ? fmt::format("(-{})", node(at.children[0], level + 1))
                                             : fmt::format("{{\"-\": [0, {}]}}", node(at.children[0], level + 1));
      case Op::function:
        for (const NamedFunction& known : kFunctions) {
          if (known.function == at.function) return function(known.name, at, level);
        }
        break;
      default:
        break;
    }
    failed_ = true;
    return {};
  }

  std::string number(double value) {
    if (!std::isfinite(value)) failed_ = true;
    return exact_text(value);
  }

  std::string infix(const char* symbol, const expression::Node& at, std::size_t level) {
    const std::string left = node(at.children[0], level + 1);
    const std::string right = node(at.children[1], level + 1);
    // A blank ends the name of an alias.
    return style_ == FormulaStyle::infix ? fmt::format("({}{}{})", left, symbol, right)
                                         : fmt::format("{{\"{}\": [{} , {} ]}}", symbol, left, right);
  }

  std::string function(std::string_view name, const expression::Node& at, std::size_t level) {
    std::string operands;
    for (const NodeIndex child : at.children) {
      if (!operands.empty()) operands += style_ == FormulaStyle::infix ? "," : " , ";
      operands += node(child, level + 1);
    }
    return style_ == FormulaStyle::infix ? fmt::format("{}({})", name, operands)
                                         : fmt::format("{{{}: [{} ]}}", name, operands);
  }

  const expression::Tree& tree_;
  FormulaStyle style_;
  const MetricSpeller& spell_;
  bool failed_ = false;
};

}  // namespace

Result<expression::Tree> compile_formula(std::string_view text, const VariableLookup& variables) {
  auto tree = Parser(text, variables).parse();
  if (!tree) return std::move(tree).error().as(ErrorKind::unusable).with(fmt::format("formula '{}'", text));
  return tree;
}

Result<std::string> formula_text(const expression::Tree& tree, FormulaStyle style, const MetricSpeller& spell) {
  return Printer(tree, style, spell).print();
}

}  // namespace fathom::hpctoolkit
