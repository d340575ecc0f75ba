#include "formats/cube/cubepl/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "formats/cube/cubepl/scanner.hpp"
#include "formats/cube/cubepl/variables.hpp"

namespace fathom::cube::cubepl {

namespace {

using expression::Function;
using expression::kMaxNesting;
using expression::MetricReference;
using expression::NodeIndex;
using expression::Op;
using expression::Reach;
using expression::TextFunction;
using expression::Tree;
using expression::Wanted;

struct NamedFunction {
  std::string_view name;
  Function function;
};
constexpr NamedFunction kFunctions[] = {
    {"sqrt", Function::sqrt},
    {"sin", Function::sin},
    {"cos", Function::cos},
    {"tan", Function::tan},
    {"asin", Function::asin},
    {"acos", Function::acos},
    {"atan", Function::atan},
    {"exp", Function::exp},
    {"log", Function::log},
    {"abs", Function::abs},
    {"floor", Function::floor},
    {"ceil", Function::ceil},
    {"sgn", Function::sign},
    {"pos", Function::positive},
    {"neg", Function::negative},
    {"random", Function::random},
    // Documented, though the reference refuses them:
    {"ln", Function::log},
    {"cot", Function::cot},
    {"acot", Function::acot},
};

struct Comparison {
  std::string_view text;
  Op op;
};
constexpr Comparison kComparisons[] = {
    {"==", Op::equal},         {"!=", Op::not_equal}, {"<=", Op::less_equal},
    {">=", Op::greater_equal}, {"<", Op::less},       {">", Op::greater},
};

class Parser : private Scanner {
 public:
  explicit Parser(std::string_view text) : Scanner(text), steps_left_(text.size() * 64 + 10000) {}

  Result<Parsed> parse(bool statements) {
    skip();
    if (statements && !peek("{")) {
      out_.tree.root = statement_list();
    } else {
      out_.tree.root = expression();
    }
    skip();
    if (!failed() && !at_end()) fail("the end of the expression");
    if (failed()) return Error(fmt::format("CubePL, character {}: {}", error_at() + 1, error()));
    // defined(x) is true wherever the text uses ${x} or declares it, be it further down.
    for (expression::Node& node : tree().nodes) {
      if (node.op == Op::defined && mentioned_.contains(tree().variables[node.index])) node.detail = 1;
    }
    return std::move(out_);
  }

 private:
  Tree& tree() { return out_.tree; }
  std::uint32_t mention(std::string_view variable) {
    mentioned_.emplace(variable);
    return tree().variable(variable);
  }

  bool enter() {
    if (steps_left_ == 0 || ++depth_ > kMaxNesting) {
      fatal_ = true;
      fail_with(steps_left_ == 0 ? "too involved" : "nested too deeply", at());
      return false;
    }
    --steps_left_;
    return true;
  }

  // ---- expressions

  NodeIndex expression() {
    if (!enter()) return 0;
    NodeIndex left = product();
    while (!failed()) {
      if (accept("+")) {
        left = tree().add(Op::add, {left, product()});
      } else if (accept("-")) {
        left = tree().add(Op::subtract, {left, product()});
      } else {
        break;
      }
      count_link();
    }
    --depth_;
    return left;
  }

  NodeIndex product() {
    NodeIndex left = signed_factor();
    while (!failed()) {
      if (accept("*")) {
        left = tree().add(Op::multiply, {left, signed_factor()});
      } else if (accept("/")) {
        left = tree().add(Op::divide, {left, signed_factor()});
      } else {
        break;
      }
      count_link();
    }
    return left;
  }

  // A long chain makes a tree as deep as it is long.
  void count_link() {
    if (++links_ > kMaxLinks) {
      fatal_ = true;
      fail_with("too long", at());
    }
  }

  NodeIndex signed_factor() {
    bool minus = false;
    while (accept("-")) minus = !minus;
    const NodeIndex value = power();
    return minus ? tree().add(Op::negate, {value}) : value;
  }

  NodeIndex power() {
    NodeIndex left = primary();
    while (!failed() && accept("^")) {
      const bool minus = accept("-");
      NodeIndex right = primary();
      if (minus) right = tree().add(Op::negate, {right});
      left = tree().add(Op::power, {left, right});
      count_link();
    }
    return left;
  }

  NodeIndex primary() {
    skip();
    if (failed()) return 0;
    if (at_end()) {
      fail("an expression");
      return 0;
    }
    const char c = next();
    if (accept("(")) {
      const NodeIndex inner = expression();
      expect(")");
      return inner;
    }
    if (accept("|")) {
      const NodeIndex inner = expression();
      expect("|");
      return tree().add_function(Function::abs, {inner});
    }
    if (c == '{') return lambda();
    if (c == '$') return variable();
    if (c == '"') return tree().add_text(quoted());
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return tree().add_number(number());
    if (accept("metric::")) return metric();
    if (accept("cube::metric::get::")) return get_property();
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) return call();
    fail("an expression");
    return 0;
  }

  // ${name} or ${name}[position]
  struct Target {
    std::string_view name;
    std::vector<NodeIndex> position;
    std::size_t at = 0;
  };
  Target target() {
    Target out;
    expect("${");
    out.at = at();
    out.name = variable_name();
    expect("}");
    if (accept("[")) {
      out.position.push_back(expression());
      expect("]");
    }
    return out;
  }

  NodeIndex variable() {
    Target from = target();
    if (failed()) return 0;
    if (const auto id = find_variable(from.name)) return tree().add(Op::external, std::move(from.position), *id);
    return tree().add(Op::variable, std::move(from.position), mention(from.name));
  }

  Wanted flavour() {
    if (accept("*")) return Wanted::running;
    if (accept_word("i")) return Wanted::inclusive;
    if (accept_word("e")) return Wanted::exclusive;
    fail("a flavour: i, e or *");
    return Wanted::running;
  }

  NodeIndex metric() {
    std::string_view full = metric_name();
    MetricReference reference;
    bool fixed = false;
    if (full.starts_with("context::")) {
      full.remove_prefix(9);
    } else if (full.starts_with("fixed::")) {
      full.remove_prefix(7);
      fixed = true;
    } else if (full.starts_with("call::")) {
      full.remove_prefix(6);
      reference.reach = Reach::call;
    }
    reference.metric = full;
    expect("(");
    std::vector<NodeIndex> children;
    if (reference.reach == Reach::call) {
      children.push_back(expression());
      expect(",");
      reference.flavour = flavour();
      if (accept(",")) {
        children.push_back(expression());
        expect(",");
        reference.system = flavour();
      }
    } else if (!peek(")")) {
      reference.flavour = flavour();
      if (accept(",")) reference.system = flavour();
    } else if (fixed) {
      reference.reach = Reach::system;
    }
    expect(")");
    return failed() ? 0 : tree().add_metric(reference, std::move(children));
  }

  NodeIndex get_property() {
    MetricReference reference;
    reference.metric = metric_name();
    reference.reach = Reach::call;  // its values are not needed
    expect("(");
    const NodeIndex property = tree().add_text(quoted());
    expect(")");
    return failed() ? 0 : tree().add(Op::get_property, {property}, tree().reference(reference));
  }

  NodeIndex call() {
    const std::size_t begin = at();
    const std::string_view which = word();
    if (which == "arg1" || which == "arg2") return tree().add(Op::argument, {}, which == "arg2" ? 1 : 0);
    if (which == "sizeof" || which == "defined") return about_name(which);
    if (which == "min" || which == "max") {
      expect("(");
      const NodeIndex a = expression();
      expect(",");
      const NodeIndex b = expression();
      expect(")");
      return failed() ? 0 : tree().add_function(which == "min" ? Function::minimum : Function::maximum, {a, b});
    }
    const auto one_operand = [&] {
      expect("(");
      const NodeIndex a = expression();
      expect(")");
      return a;
    };
    const auto text_function = [&](TextFunction function) {
      const NodeIndex a = one_operand();
      return failed() ? 0 : tree().add(Op::text_function, {a}, static_cast<std::uint32_t>(function));
    };
    if (which == "lowercase") return text_function(TextFunction::lowercase);
    if (which == "uppercase") return text_function(TextFunction::uppercase);
    if (which == "env") return text_function(TextFunction::environment);
    for (const NamedFunction& known : kFunctions) {
      if (known.name != which) continue;
      const NodeIndex a = one_operand();
      return failed() ? 0 : tree().add_function(known.function, {a});
    }
    fail_with(fmt::format("unknown word '{}'", which), begin);
    return 0;
  }

  NodeIndex about_name(std::string_view which) {
    expect("(");
    const std::string_view of = variable_name();
    expect(")");
    if (failed()) return 0;
    const auto known = find_variable(of);
    const Op op = which == "sizeof" ? Op::size_of : Op::defined;
    const NodeIndex node = tree().add(op, {}, known && op == Op::size_of ? *known : tree().variable(of));
    tree().nodes[node].detail = known ? 1 : 0;
    return node;
  }

  // ---- statements

  NodeIndex lambda() {
    if (!enter()) return 0;
    expect("{");
    std::vector<NodeIndex> steps;
    while (!failed() && !peek_word("return") && !peek("}")) {
      steps.push_back(statement());
      expect(";");
    }
    if (!failed() && !accept_word("return")) fail("a statement or 'return'");
    if (!failed()) steps.push_back(expression());
    expect(";");
    expect("}");
    --depth_;
    return failed() ? 0 : tree().add(Op::sequence, std::move(steps));
  }

  NodeIndex statement_list() {
    std::vector<NodeIndex> steps;
    skip();
    while (!failed() && !at_end()) {
      steps.push_back(statement());
      expect(";");
      skip();
    }
    return failed() ? 0 : tree().add(Op::sequence, std::move(steps));
  }

  NodeIndex block() {
    if (!enter()) return 0;
    expect("{");
    std::vector<NodeIndex> steps;
    while (!failed() && !peek("}")) {
      steps.push_back(statement());
      expect(";");
    }
    expect("}");
    --depth_;
    return failed() ? 0 : tree().add(Op::sequence, std::move(steps));
  }

  NodeIndex statement() {
    skip();
    if (peek("${")) return assignment();
    if (accept_word("if")) return branch();
    if (accept_word("while")) {
      const NodeIndex when = parenthesised_condition();
      const NodeIndex what = block();
      return failed() ? 0 : tree().add(Op::loop, {when, what});
    }
    if (peek_word("local") || peek_word("global")) {
      const bool global = accept_word("global");
      if (!global) (void)accept_word("local");
      expect("(");
      const std::string_view which = variable_name();
      expect(")");
      return failed() ? 0 : tree().add(global ? Op::declare_global : Op::declare_local, {}, mention(which));
    }
    if (accept("cube::metric::set::")) return set_property();
    if (accept("cube::metric::postderived::")) return define(&Definition::value, Derivation::post);
    if (accept("cube::metric::prederived::")) return define(&Definition::value, Derivation::pre_exclusive);
    if (accept("cube::init::metric::")) return define(&Definition::init, Derivation::none);
    if (accept("cube::metric::plus::")) return define(&Definition::plus, Derivation::none);
    if (accept("cube::metric::minus::")) return define(&Definition::minus, Derivation::none);
    if (accept("cube::metric::aggr::")) return define(&Definition::aggregate, Derivation::none);
    fail("a statement");
    return 0;
  }

  NodeIndex assignment() {
    Target to = target();
    expect("=");
    if (!failed() && find_variable(to.name)) {
      fail_with(fmt::format("'{}' cannot be changed", to.name), to.at);
      return 0;
    }
    const NodeIndex value = expression();
    if (failed()) return 0;
    if (to.position.empty()) to.position.push_back(tree().add_number(0));
    return tree().add(Op::assign, {to.position[0], value}, mention(to.name));
  }

  NodeIndex branch() {
    std::vector<NodeIndex> parts{parenthesised_condition()};
    parts.push_back(block());
    while (accept_word("elseif")) {
      parts.push_back(parenthesised_condition());
      parts.push_back(block());
    }
    if (accept_word("else")) parts.push_back(block());
    return failed() ? 0 : tree().add(Op::branch, std::move(parts));
  }

  NodeIndex set_property() {
    MetricReference reference;
    reference.metric = metric_name();
    reference.reach = Reach::call;
    expect("(");
    const NodeIndex property = tree().add_text(quoted());
    expect(",");
    const NodeIndex value = tree().add_text(quoted());
    expect(")");
    return failed() ? 0 : tree().add(Op::set_property, {property, value}, tree().reference(reference));
  }

  // name [(i|e)] << text >>
  NodeIndex define(std::string Definition::*what, Derivation derivation) {
    Definition fresh;
    fresh.name = metric_name();
    fresh.derivation = derivation;
    if (derivation == Derivation::pre_exclusive) {
      expect("(");
      if (flavour() == Wanted::inclusive) fresh.derivation = Derivation::pre_inclusive;
      expect(")");
    }
    const std::string_view text = definition();
    if (failed()) return 0;
    fresh.*what = text;
    const auto known = std::find_if(out_.definitions.begin(), out_.definitions.end(),
                                    [&](const Definition& d) { return d.name == fresh.name; });
    if (known == out_.definitions.end()) {
      out_.definitions.push_back(std::move(fresh));
    } else {
      (*known).*what = fresh.*what;
      if (fresh.derivation != Derivation::none) known->derivation = fresh.derivation;
    }
    return tree().add(Op::sequence);
  }

  // ---- conditions

  NodeIndex parenthesised_condition() {
    expect("(");
    const NodeIndex inner = failed() ? 0 : condition();
    expect(")");
    return inner;
  }

  NodeIndex condition() {
    if (!enter()) return 0;
    NodeIndex left = simple_condition();
    while (!failed()) {
      const Op op = accept_word("and")   ? Op::logical_and
                    : accept_word("or")  ? Op::logical_or
                    : accept_word("xor") ? Op::logical_xor
                                         : Op::number;
      if (op == Op::number) break;
      left = tree().add(op, {left, simple_condition()});
      count_link();
    }
    --depth_;
    return left;
  }

  NodeIndex simple_condition() {
    if (failed()) return 0;
    if (accept_word("true")) return tree().add_number(1);
    if (accept_word("false")) return tree().add_number(0);
    if (accept_word("not")) {
      const NodeIndex inner = parenthesised_condition();
      return failed() ? 0 : tree().add(Op::logical_not, {inner});
    }
    const bool parenthesis = peek("(");
    const std::size_t begin = at();
    const std::size_t depth = depth_;
    const std::size_t nodes = tree().nodes.size();
    const NodeIndex compared = comparison();
    if (!failed() || !parenthesis || fatal_) return compared;
    // What looked like an expression in parentheses is a condition.
    forget_failure();
    go_back(begin);
    depth_ = depth;
    tree().nodes.resize(nodes);
    return parenthesised_condition();
  }

  NodeIndex comparison() {
    const NodeIndex left = expression();
    if (failed()) return 0;
    if (accept("=~")) return matches(left);
    if (accept_word("eq")) return tree().add(Op::text_equal, {left, expression()});
    if (accept_word("seq")) return tree().add(Op::text_equal_ignoring_case, {left, expression()});
    for (const Comparison& known : kComparisons) {
      if (accept(known.text)) return tree().add(known.op, {left, expression()});
    }
    return left;  // a bare expression: not zero is true
  }

  NodeIndex matches(NodeIndex left) {
    skip();
    const std::size_t begin = at();
    const std::string text = pattern();
    if (failed()) return 0;
    auto compiled = expression::make_pattern(text);
    if (!compiled.ok()) {
      fail_with(compiled.error().what(), begin);
      return 0;
    }
    tree().patterns.push_back(std::move(*compiled));
    return tree().add(Op::matches, {left}, static_cast<std::uint32_t>(tree().patterns.size() - 1));
  }

  static constexpr std::size_t kMaxLinks = 400;

  std::size_t steps_left_;
  std::size_t depth_ = 0;
  std::size_t links_ = 0;
  bool fatal_ = false;  // a limit was hit: no other reading is tried
  std::set<std::string, std::less<>> mentioned_;
  Parsed out_;
};

}  // namespace

Result<Parsed> parse(std::string_view text, bool statements) { return Parser(text).parse(statements); }

}  // namespace fathom::cube::cubepl
