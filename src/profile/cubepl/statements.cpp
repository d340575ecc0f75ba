#include <fmt/format.h>

#include <algorithm>

#include "profile/cubepl/parser_class.hpp"
#include "profile/cubepl/variables.hpp"

namespace fathom::cubepl {

using expression::MetricReference;
using expression::Op;
using expression::Reach;

namespace {

struct Comparison {
  std::string_view text;
  Op op;
};
constexpr Comparison kComparisons[] = {
    {"==", Op::equal},         {"!=", Op::not_equal}, {"<=", Op::less_equal},
    {">=", Op::greater_equal}, {"<", Op::less},       {">", Op::greater},
};

}  // namespace

NodeIndex Parser::lambda() {
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

NodeIndex Parser::statement_list() {
  std::vector<NodeIndex> steps;
  skip();
  while (!failed() && !at_end()) {
    steps.push_back(statement());
    expect(";");
    skip();
  }
  return failed() ? 0 : tree().add(Op::sequence, std::move(steps));
}

NodeIndex Parser::block() {
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

NodeIndex Parser::statement() {
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

NodeIndex Parser::assignment() {
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

NodeIndex Parser::branch() {
  std::vector<NodeIndex> parts{parenthesised_condition()};
  parts.push_back(block());
  while (accept_word("elseif")) {
    parts.push_back(parenthesised_condition());
    parts.push_back(block());
  }
  if (accept_word("else")) parts.push_back(block());
  return failed() ? 0 : tree().add(Op::branch, std::move(parts));
}

NodeIndex Parser::set_property() {
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

NodeIndex Parser::define(std::string Definition::*what, Derivation derivation) {
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

NodeIndex Parser::parenthesised_condition() {
  expect("(");
  const NodeIndex inner = failed() ? 0 : condition();
  expect(")");
  return inner;
}

NodeIndex Parser::condition() {
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

NodeIndex Parser::simple_condition() {
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

NodeIndex Parser::comparison() {
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

NodeIndex Parser::matches(NodeIndex left) {
  const std::string_view text = pattern();
  if (failed()) return 0;
  const std::size_t begin = at() - 1 - text.size();
  std::size_t fault = 0;
  auto compiled = expression::make_pattern(text, &fault);
  if (!compiled.ok()) {
    fail_with(compiled.error().what(), begin + fault);
    return 0;
  }
  tree().patterns.push_back(std::move(*compiled));
  return tree().add(Op::matches, {left}, static_cast<std::uint32_t>(tree().patterns.size() - 1));
}

}  // namespace fathom::cubepl
