#include <fmt/format.h>

#include <cctype>

#include "profile/cubepl/functions.hpp"
#include "profile/cubepl/parser_class.hpp"
#include "profile/cubepl/variables.hpp"

namespace fathom::cubepl {

using expression::Function;
using expression::kMaxNesting;
using expression::MetricReference;
using expression::Op;
using expression::Reach;
using expression::TextFunction;

Result<Parsed> Parser::parse(bool statements) {
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

bool Parser::enter() {
  if (steps_left_ == 0 || ++depth_ > kMaxNesting) {
    fatal_ = true;
    fail_with(steps_left_ == 0 ? "too involved" : "nested too deeply", at());
    return false;
  }
  --steps_left_;
  return true;
}

NodeIndex Parser::expression() {
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

NodeIndex Parser::product() {
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

void Parser::count_link() {
  if (++links_ > kMaxLinks) {
    fatal_ = true;
    fail_with("too long", at());
  }
}

NodeIndex Parser::signed_factor() {
  bool minus = false;
  while (accept("-")) minus = !minus;
  const NodeIndex value = power();
  return minus ? tree().add(Op::negate, {value}) : value;
}

NodeIndex Parser::power() {
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

NodeIndex Parser::primary() {
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

Parser::Target Parser::target() {
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

NodeIndex Parser::variable() {
  Target from = target();
  if (failed()) return 0;
  if (const auto id = find_variable(from.name)) return tree().add(Op::external, std::move(from.position), *id);
  return tree().add(Op::variable, std::move(from.position), mention(from.name));
}

Wanted Parser::flavour() {
  if (accept("*")) return Wanted::running;
  if (accept_word("i")) return Wanted::inclusive;
  if (accept_word("e")) return Wanted::exclusive;
  fail("a flavour: i, e or *");
  return Wanted::running;
}

NodeIndex Parser::metric() {
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
    const bool of_the_system = accept(",");
    if (of_the_system) reference.system = flavour();
    // Where the system's flavour is given as well it is the value of the resource, in every kind of metric.
    if (fixed && !of_the_system) reference.reach = Reach::fixed;
  } else if (fixed) {
    reference.reach = Reach::total;
  }
  expect(")");
  return failed() ? 0 : tree().add_metric(reference, std::move(children));
}

NodeIndex Parser::get_property() {
  MetricReference reference;
  reference.metric = metric_name();
  reference.reach = Reach::call;  // its values are not needed
  expect("(");
  const NodeIndex property = tree().add_text(quoted());
  expect(")");
  return failed() ? 0 : tree().add(Op::get_property, {property}, tree().reference(reference));
}

NodeIndex Parser::call() {
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

NodeIndex Parser::about_name(std::string_view which) {
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

Result<Parsed> parse(std::string_view text, bool statements) { return Parser(text).parse(statements); }

}  // namespace fathom::cubepl
