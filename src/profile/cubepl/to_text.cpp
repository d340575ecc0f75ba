#include <fmt/format.h>

#include "base/number.hpp"
#include "profile/cubepl/cubepl.hpp"
#include "profile/cubepl/functions.hpp"
#include "profile/cubepl/variables.hpp"
#include "profile/expression/program.hpp"

namespace fathom::cubepl {

namespace {

using expression::Function;
using expression::MetricReference;
using expression::Node;
using expression::NodeIndex;
using expression::Op;
using expression::Reach;
using expression::Tree;
using expression::Wanted;

class Printer {
 public:
  explicit Printer(const Tree& tree) : tree_(tree) {}
  Result<std::string> print() {
    std::string out = of(tree_.root);
    if (!problem_.empty()) return Error::usage(problem_);
    return out;
  }

 private:
  std::string binary(const Node& node, std::string_view symbol) {
    return fmt::format("({} {} {})", of(node.children[0]), symbol, of(node.children[1]));
  }
  std::string call(std::string_view name, const Node& node) {
    return fmt::format("{}({})", name, of(node.children[0]));
  }

  // The dialect knows conditions inside if only.
  std::string as_number(NodeIndex condition) {
    const std::size_t v = variables_++;
    return fmt::format("{{ ${{c{0}}}=0; if ({1}) {{ ${{c{0}}}=1; }}; return ${{c{0}}}; }}", v,
                       this->condition(condition));
  }

  static std::string_view comparison(Op op) {
    switch (op) {
      case Op::less:
        return "<";
      case Op::less_equal:
        return "<=";
      case Op::greater:
        return ">";
      case Op::greater_equal:
        return ">=";
      case Op::equal:
        return "==";
      case Op::not_equal:
        return "!=";
      default:
        return "";
    }
  }

  std::string condition(NodeIndex at) {
    const Node& node = tree_.nodes[at];
    if (const std::string_view symbol = comparison(node.op); !symbol.empty()) {
      return fmt::format("({} {} {})", of(node.children[0]), symbol, of(node.children[1]));
    }
    switch (node.op) {
      case Op::logical_and:
        return fmt::format("({} and {})", condition(node.children[0]), condition(node.children[1]));
      case Op::logical_or:
        return fmt::format("({} or {})", condition(node.children[0]), condition(node.children[1]));
      case Op::logical_xor: {
        const std::string a = condition(node.children[0]);
        const std::string b = condition(node.children[1]);
        return fmt::format("(({0} and not({1})) or (not({0}) and {1}))", a, b);
      }
      case Op::logical_not:
        return fmt::format("not({})", condition(node.children[0]));
      default:
        return fmt::format("({} != 0)", of(at));
    }
  }

  static std::string flavour(Wanted wanted) {
    return wanted == Wanted::inclusive ? "i" : wanted == Wanted::exclusive ? "e" : "";
  }

  std::string metric(const Node& node) {
    const MetricReference& reference = tree_.metrics[node.index];
    for (const char c : reference.metric) {
      const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                        c == ':' || c == '=';
      if (!word) problem_ = fmt::format("CubePL cannot name the metric '{}'", reference.metric);
    }
    if (reference.over != expression::Over::sum) problem_ = "CubePL has no statistics over locations";
    if (reference.reach == Reach::fixed) {
      return fmt::format("metric::fixed::{}({})", reference.metric,
                         reference.flavour == Wanted::running ? "*" : flavour(reference.flavour));
    }
    if (reference.reach == Reach::system || reference.reach == Reach::total) {
      if (reference.flavour != Wanted::running) problem_ = "CubePL has no flavours for values of the whole system";
      return fmt::format("metric::fixed::{}()", reference.metric);
    }
    if (reference.reach == Reach::call) problem_ = "values of named contexts cannot be written";
    if (reference.reach == Reach::roots) problem_ = "CubePL has no values of the roots";
    return fmt::format("metric::{}({})", reference.metric, flavour(reference.flavour));
  }

  // No exponents in this dialect.
  static std::string number(double value) {
    std::string text = exact_text(value);
    if (text.find_first_of("en") != std::string::npos) text = fmt::format("{:.20f}", value);
    return value < 0 ? "(" + text + ")" : text;
  }

  std::string function(const Node& node) {
    for (const NamedFunction& known : kFunctions) {
      if (known.written && known.function == node.function) return call(known.name, node);
    }
    const auto fold = [&](std::string_view before, std::string_view between) {
      std::string out = of(node.children[0]);
      for (std::size_t i = 1; i < node.children.size(); ++i) {
        out = fmt::format("{}({}{}{})", before, out, between, of(node.children[i]));
      }
      return out;
    };
    switch (node.function) {
      case Function::minimum:
        return fold("min", ",");
      case Function::maximum:
        return fold("max", ",");
      case Function::sum:
        return fold("", " + ");
      case Function::product:
        return fold("", " * ");
      case Function::mean:
        return fmt::format("({} / {})", fold("", " + "), node.children.size());
      case Function::log2:
        return fmt::format("(log({}) / log(2))", of(node.children[0]));
      case Function::log10:
        return fmt::format("(log({}) / log(10))", of(node.children[0]));
      case Function::round:
        return fmt::format("floor({} + 0.5)", of(node.children[0]));
      case Function::cot:
        return fmt::format("(1 / tan({}))", of(node.children[0]));
      default:
        problem_ = "CubePL lacks a function that the expression uses";
        return "0";
    }
  }

  std::string of(NodeIndex at) {
    const Node& node = tree_.nodes[at];
    switch (node.op) {
      case Op::number:
        return number(node.number);
      case Op::metric:
        return metric(node);
      case Op::add:
        return binary(node, "+");
      case Op::subtract:
        return binary(node, "-");
      case Op::multiply:
        return binary(node, "*");
      case Op::divide:
        return binary(node, "/");
      case Op::power:
        return binary(node, "^");
      case Op::negate:
        return fmt::format("(-{})", of(node.children[0]));
      case Op::function:
        return function(node);
      case Op::choose: {
        const std::size_t v = variables_++;
        return fmt::format(
            "{{ ${{c{0}}}=0; if ({1}) {{ ${{c{0}}}={2}; }} else {{ ${{c{0}}}={3}; }}; return ${{c{0}}}; }}", v,
            condition(node.children[0]), of(node.children[1]), of(node.children[2]));
      }
      case Op::less:
      case Op::less_equal:
      case Op::greater:
      case Op::greater_equal:
      case Op::equal:
      case Op::not_equal:
      case Op::logical_and:
      case Op::logical_or:
      case Op::logical_xor:
      case Op::logical_not:
        return as_number(at);
      default:
        problem_ = "the expression cannot be written as CubePL";
        return "0";
    }
  }

  const Tree& tree_;
  std::size_t variables_ = 0;  // each gets a name of its own
  std::string problem_;
};

}  // namespace

Result<std::string> to_text(const Tree& tree) { return Printer(tree).print(); }

}  // namespace fathom::cubepl
